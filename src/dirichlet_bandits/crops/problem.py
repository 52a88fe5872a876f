"""The paper's headline problem: when to plant maize."""

from typing import Literal

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.arms.laws import Empirical
from dirichlet_bandits.crops.samples import yields


def maize_planting(dates: Literal["all", "spring"] = "all") -> Bandit:
    """Planting dates as arms, rewards in kg/ha of dry grain, drawn from 20 000 simulated seasons a date.

    ``"all"`` gives the seven dates; ``"spring"`` the four early ones, of which the third is best by a small gap.

    >>> maize_planting("spring").best
    '28 Mar'

    Reference: Baudry, Saux and Maillard, NeurIPS 2021, section 5; the seasons are our own (see ``docs/crops.md``).
    """
    samples = yields(dates)
    return Bandit([Empirical(values) for values in samples.values()], names=list(samples))
