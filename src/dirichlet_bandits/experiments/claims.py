"""What a paper says about an experiment, as data: the place, the printed numbers, and claims to be tested."""

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

    ``statistic`` is what is compared: the "mean", "std" or 95% quantile "q95" of the regret at the horizon; the
    "growth" of its mean over the second half of the run, as the exponent of a power of time (1 is linear); or the
    "spread" of a group of policies, largest mean divided by smallest, where ``lower`` and ``than`` are the two groups.
    ``reading`` explains how words such as "similar" were turned into numbers.

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
    """A plot of some of the policies; policies at the same place in two panels have the same color."""

    name: str
    title: str
    policies: Sequence[str]

    def __post_init__(self) -> None:
        text("name", self.name)
        text("title", self.title)
        name_list("policies", self.policies)


@dataclass(frozen=True)
class Printed:
    """A row of a printed table: regret at the horizon, with quantiles and standard deviation if they are printed."""

    mean: float
    std: float | None = None
    q05: float | None = None
    q95: float | None = None

    def __post_init__(self) -> None:
        for name in ("mean", "std", "q05", "q95"):
            if name == "mean" or getattr(self, name) is not None:
                finite_number(name, getattr(self, name))

    def z(self, mean: float, std: float, runs: int, printed_runs: int) -> float:
        """Return the difference between our mean and the printed one, beyond its rounding, in standard errors.

        Ours is a mean over ``runs`` runs, the paper's over ``printed_runs``. NaN if the paper printed no deviation.

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
    """A published experiment: where it is in the paper, what it is about, how ours differs, and the printed numbers.

    These are regrets by policy, and the values of arms (``values``, by arm).

    ``of`` names the experiment that this one reads in another way, if any.
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
