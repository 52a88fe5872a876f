"""The paper's headline problem: when to plant maize."""

from collections.abc import Sequence
from typing import Literal

from dirichlet_bandits.crops.samples import yields
from dirichlet_bandits.environments.bandit import Bandit
from dirichlet_bandits.environments.laws import Empirical
from dirichlet_bandits.environments.objective import Objective
from dirichlet_bandits.errors import ArgumentError, one_of


def maize_planting(
    dates: Literal["all", "spring"] | Sequence[str] = "all", *, objective: Objective | None = None
) -> Bandit:
    """Return a bandit with planting dates as arms; rewards, in kg/ha, are drawn from 20,000 simulated seasons per date.

    ``"all"`` gives the seven dates, and ``"spring"`` the four early ones, of which the third is best by a small gap. A
    list of dates gives those dates; a date that occurs twice becomes two arms.

    ``objective`` decides what makes a date good, by default the mean. Rewards are yields of dry grain.

    >>> maize_planting("spring").best
    '28 Mar'
    >>> from dirichlet_bandits import CVaR
    >>> maize_planting("spring", objective=CVaR(0.2)).best
    '12 Apr'

    >>> maize_planting(["28 Mar", "12 Apr", "12 Apr"]).names
    ('28 Mar', '12 Apr', '12 Apr (2)')

    Reference: Baudry, Saux and Maillard, NeurIPS 2021, section 5; the seasons are our own (see ``docs/crops.md``).
    """
    if not isinstance(dates, list | tuple):
        samples = yields(dates)  # type: ignore[arg-type]
        return Bandit([Empirical(values) for values in samples.values()], names=list(samples), objective=objective)
    samples = yields()
    if not dates or not all(isinstance(date, str) and date in samples for date in dates):
        raise ArgumentError("dates", f"'all', 'spring' or a list of dates, each {one_of(samples)}", dates)
    seen = [dates[: k + 1].count(date) for k, date in enumerate(dates)]
    names = [date if n == 1 else f"{date} ({n})" for date, n in zip(dates, seen, strict=True)]
    return Bandit([Empirical(samples[date]) for date in dates], names=names, objective=objective)
