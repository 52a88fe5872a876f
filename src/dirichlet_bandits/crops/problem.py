"""The paper's headline problem: when to plant maize."""

from typing import Literal

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.arms.laws import Empirical
from dirichlet_bandits.arms.objective import Objective
from dirichlet_bandits.crops.samples import yields


def maize_planting(dates: Literal["all", "spring"] = "all", *, objective: Objective | None = None) -> Bandit:
    """Planting dates as arms, rewards in kg/ha of dry grain, drawn from 20 000 simulated seasons a date.

    ``"all"`` gives the seven dates; ``"spring"`` the four early ones, of which the third is best by a small gap.

    ``objective`` says what makes a date good, the mean unless told otherwise.

    >>> maize_planting("spring").best
    '28 Mar'
    >>> from dirichlet_bandits import CVaR
    >>> maize_planting("spring", objective=CVaR(0.2)).best
    '12 Apr'

    Reference: Baudry, Saux and Maillard, NeurIPS 2021, section 5; the seasons are our own (see ``docs/crops.md``).
    """
    samples = yields(dates)
    return Bandit([Empirical(values) for values in samples.values()], names=list(samples), objective=objective)
