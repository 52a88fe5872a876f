"""What makes an arm good: the number by which laws are compared, of which regret is the loss."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Objective(Protocol):
    """The value of a law; the best arm has the largest one.

    ``name`` is written to results, ``label`` is what they call the regret in pictures and tables.
    """

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    def value(self, law: Any) -> float:
        """How good the law is."""


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
