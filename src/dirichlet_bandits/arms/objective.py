"""What makes an arm good: the number by which distributions are compared, whose loss is the regret."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from dirichlet_bandits.arms.tails import lower_tail_mean
from dirichlet_bandits.numerics.cvar import level_of


@runtime_checkable
class Objective(Protocol):
    """The value of a distribution; the best arm has the largest one.

    ``name`` is written to results, and ``label`` names the regret in plots and tables.
    """

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    def value(self, law: Any) -> float:
        """Return how good the distribution is."""


@dataclass(frozen=True)
class Mean:
    """The expectation.

    >>> from dirichlet_bandits.arms.laws import Bernoulli
    >>> Mean().value(Bernoulli(0.3))
    0.3
    """

    name: str = "mean"
    label: str = "regret"

    def value(self, law: Any) -> float:
        return float(law.mean())


@dataclass(frozen=True)
class CVaR:
    """The average over the worst rewards, the share ``level`` of all: what you get in bad years.

    CVaR_a(F) = 1/a * integral over (0, a) of F^{-1}(u) du; a = 1 is the mean.

    >>> from dirichlet_bandits.arms.laws import Empirical
    >>> CVaR(0.5).value(Empirical([4, 1, 3, 2]))
    1.5
    >>> CVaR(0.2).label
    'CVaR regret at 20 %'

    Reference: Rockafellar and Uryasev (2000), Optimization of conditional value-at-risk.
    """

    level: float

    def __post_init__(self) -> None:
        level_of("level", self.level)

    @property
    def name(self) -> str:
        return f"CVaR at {100 * self.level:.12g} %"

    @property
    def label(self) -> str:
        return f"CVaR regret at {100 * self.level:.12g} %"

    def value(self, law: Any) -> float:
        return lower_tail_mean(law, float(self.level))
