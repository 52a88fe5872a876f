"""What a paper says about an experiment, as data: the place, the printed numbers, claims to be tested, and figures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from typing import Annotated, Any, Final, NamedTuple

from dirichlet_bandits.declared import Check, Declared, check_that, choice, declared, number
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.specs import name_list, under

TEXT: Final = check_that("a text", lambda x: isinstance(x, str))
NAMES: Final = Check("a list of names", name_list)
FLAG: Final = check_that("true or false", lambda x: isinstance(x, bool))


def _as_written(words: str, above: float) -> Check:
    """Return a check that keeps a number as the file has it: its digits say how far the paper rounded it."""

    def accept(name: str, value: Any) -> Any:
        if not number().accept(name, value) > above:
            raise ArgumentError(name, words, value)
        return value

    return Check(words, accept)


FINITE: Final = _as_written("a finite number", -math.inf)
_POSITIVE: Final = _as_written("a positive number", 0.0)


def _printed_values(name: str, table: object) -> Mapping[str, float]:
    if not isinstance(table, Mapping):
        raise ArgumentError(name, "a table, the printed value of each arm by its name", table)
    for arm, value in table.items():
        under(name, FINITE.accept, arm, value)
    return table


@declared
class Claim(Declared):
    """Each policy in ``lower`` has less than ``times`` the regret of each policy in ``than``.

    ``statistic`` is what is compared: the "mean", "std" or 95% quantile "q95" of the regret at the horizon; the
    "growth" of its mean over the second half of the run, as the exponent of a power of time (1 is linear); or the
    "spread" of a group of policies, largest mean divided by smallest, where ``lower`` and ``than`` are the two groups.
    ``reading`` explains how words such as "similar" were turned into numbers.

    >>> Claim("RDS beats UCB1.", lower=["RDS"], than=["UCB1"]).times
    1.0
    """

    says: Annotated[str, TEXT]
    lower: Annotated[Sequence[str], NAMES]
    than: Annotated[Sequence[str], NAMES]
    times: Annotated[float, _POSITIVE] = 1.0
    statistic: Annotated[str, choice("mean", "std", "q95", "growth", "spread")] = "mean"
    reading: Annotated[str, TEXT] = ""


@declared
class Panel(Declared):
    """A plot of some of the policies; policies at the same place in two panels have the same color."""

    name: Annotated[str, TEXT]
    title: Annotated[str, TEXT]
    policies: Annotated[Sequence[str], NAMES]


@declared
class PlotSettings(Declared):
    """How to plot an experiment: the options of :meth:`Result.plot` that belong in a file."""

    log_time: Annotated[bool, FLAG] = False
    log_regret: Annotated[bool, FLAG] = False
    lower_bound: Annotated[float | None, FINITE] = None
    reward_unit: Annotated[str, TEXT] = ""

    @property
    def in_unit(self) -> str:
        """The unit of the rewards in parentheses, after a space; empty if there is none."""
        return f" ({self.reward_unit})" if self.reward_unit else ""


@declared
class Printed(Declared):
    """A row of a printed table: regret at the horizon, with quantiles and standard deviation if they are printed."""

    mean: Annotated[float, FINITE]
    std: Annotated[float | None, FINITE] = None
    q05: Annotated[float | None, FINITE] = None
    q95: Annotated[float | None, FINITE] = None

    def z(self, mean: float, std: float, runs: int, printed_runs: int) -> float:
        """Return the difference between our mean and the printed one, beyond its rounding, in standard errors.

        Ours is a mean over ``runs`` runs, the paper's over ``printed_runs``. NaN if the paper printed no deviation.

        >>> round(Printed(mean=11.2, std=10.0).z(11.4, 10.0, runs=5000, printed_runs=5000), 9)
        0.75
        """
        if self.std is None:
            return math.nan
        error = math.hypot(max(std, self.std) / math.sqrt(runs), self.std / math.sqrt(printed_runs))
        exponent = Decimal(repr(self.mean)).as_tuple().exponent
        rounded = 0.5 * 10.0 ** float(exponent)
        return math.copysign(max(abs(mean - self.mean) - rounded, 0.0), mean - self.mean) / error


@declared
class Published(Declared):
    """A published experiment: where it is in the paper, what it is about, how ours differs, and the printed numbers.

    These are regrets by policy, and the values of arms (``values``, by arm).

    ``of`` names the experiment that this one reads in another way, if any.
    """

    place: Annotated[str, TEXT]
    about: Annotated[str, TEXT]
    differs: Annotated[str, TEXT] = ""
    printed: Annotated[Mapping[str, Printed], check_that("a table", lambda x: isinstance(x, Mapping))] = field(
        default_factory=dict
    )
    of: Annotated[str, TEXT] = ""
    values: Annotated[Mapping[str, float], Check("a table", _printed_values)] = field(default_factory=dict)


NOWHERE: Final = Published(place="", about="")


class Paper(NamedTuple):
    """A paper whose experiments come with the package.

    The fields are the folder and the names of the experiments, the title of the report, the reference, a note on
    how claims were read, the option of ``dirichlet-bandits paper`` that selects the paper, the experiments that are
    not simulations of one bandit, the policies that it proposes (the first word of their names), the experiments
    for other readings of ambiguous statements, the option that selects only those, the number of replications in
    the paper, in words, and the number in a quick run.
    """

    folder: str
    names: Sequence[str]
    title: str
    reference: str
    readings: str
    option: str = ""
    studies: Sequence[str] = ()
    own: Sequence[str] = ()
    others: Sequence[str] = ()
    others_option: str = ""
    runs: str = "5000"
    quick: int = 200
