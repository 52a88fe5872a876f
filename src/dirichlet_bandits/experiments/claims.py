"""What a paper says of an experiment, as data: where, what, which numbers it printed, and claims to be tested."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments.fields import name_list, text
from dirichlet_bandits.validation import finite_number, positive_number

STATISTICS = ("mean", "std", "q95", "growth", "spread")


@dataclass(frozen=True)
class Claim:
    """Each policy in ``lower`` has less than ``times`` the regret of each policy in ``than``.

    ``statistic`` says what of the regret is compared: its "mean", "std" or 95 % quantile "q95" at the horizon; the
    "growth" of its mean over the second half of the run, as the exponent of a power of time (1 is linear); or the
    "spread" of a group of policies, largest mean by smallest, where ``lower`` and ``than`` are the two groups.
    ``reading`` tells how the words were made numbers.

    >>> Claim("RDS beats UCB1.", lower=["RDS"], than=["UCB1"]).times
    1.0
    """

    says: str
    lower: Sequence[str]
    than: Sequence[str]
    times: float = 1.0
    statistic: Literal["mean", "std", "q95", "growth", "spread"] = "mean"
    reading: str = ""

    def __post_init__(self) -> None:
        text("says", self.says)
        text("reading", self.reading)
        positive_number("times", self.times)
        if self.statistic not in STATISTICS:
            raise ArgumentError("statistic", one_of(STATISTICS), self.statistic)
        name_list("lower", self.lower)
        name_list("than", self.than)


@dataclass(frozen=True)
class Panel:
    """A picture of some of the policies; those at one place of two panels have one colour."""

    name: str
    title: str
    policies: Sequence[str]

    def __post_init__(self) -> None:
        text("name", self.name)
        text("title", self.title)
        name_list("policies", self.policies)


@dataclass(frozen=True)
class Printed:
    """A row of a printed table: regret at the horizon; papers do not always print quantiles, nor deviations of runs."""

    mean: float
    std: float | None = None
    q05: float | None = None
    q95: float | None = None

    def __post_init__(self) -> None:
        for name in ("mean", "std", "q05", "q95"):
            if name == "mean" or getattr(self, name) is not None:
                finite_number(name, getattr(self, name))

    def z(self, mean: float, std: float, runs: int, printed_runs: int) -> float:
        """Standard errors of the difference between a mean of ours and the printed one, beyond the latter's rounding.

        Both are means over runs, of ours ``runs``, of the paper's ``printed_runs``. NaN if it printed no deviation.

        >>> round(Printed(mean=11.2, std=10.0).z(11.4, 10.0, runs=5000, printed_runs=5000), 9)
        0.75
        """
        if self.std is None:
            return math.nan
        error = math.hypot(max(std, self.std) / math.sqrt(runs), self.std / math.sqrt(printed_runs))
        rounded = 0.5 * 10.0 ** float(Decimal(repr(self.mean)).as_tuple().exponent)
        return math.copysign(max(abs(mean - self.mean) - rounded, 0.0), mean - self.mean) / error


@dataclass(frozen=True)
class Published:
    """Where a paper has the experiment, what it is about, how ours differs, and what it printed: regrets by policy, and
    what arms are worth (``values``, by arm).

    ``of`` names the experiment that this one reads otherwise, if it does.
    """

    place: str
    about: str
    differs: str = ""
    printed: Mapping[str, Printed] = field(default_factory=dict)
    of: str = ""
    values: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("place", "about", "differs", "of"):
            text(name, getattr(self, name))
        if not isinstance(self.values, Mapping):
            raise ArgumentError("values", "a table, the printed value of each arm by its name", self.values)
        for name, value in self.values.items():
            finite_number(f"values.{name}", value)
