"""Draw reweighted means of an arm's rewards from their distribution, without drawing one weight per reward.

Split a sample with Dirichlet weights into two groups. Each group's own reweighted mean is independent of its weight,
which is a gamma variable of the group's size. So all old rewards enter by two draws: their mean, whose distribution is
kept, and their weight. New rewards are drawn one by one, and join the old ones when that has become cheaper.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_sum, shared
from dirichlet_bandits.numerics.arrays import sum_of
from dirichlet_bandits.numerics.characteristic import learn, make_laws
from dirichlet_bandits.numerics.costs import LAW_COST, LAW_LEAST, LAW_PATIENCE
from dirichlet_bandits.numerics.envelope import draw, fit, make_envelopes
from dirichlet_bandits.types import Floats, Ints, Records


class Groups(NamedTuple):
    """The old rewards of each arm, summarized by the distribution of their reweighted mean.

    ``old`` is their number (0 where no distribution is known), and ``paid`` is the number of exponentials that new
    rewards have cost since. ``bonus`` is counted among the old rewards, if there is one.
    """

    bonus: Floats
    laws: Records
    envelopes: Records
    old: Ints
    paid: Ints


@shared
def make_groups(n_arms: int, bonus: Floats) -> Groups:
    """Return groups without old rewards."""
    old, paid = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return Groups(bonus, make_laws(n_arms), make_envelopes(n_arms), old, paid)


@jit_sum
def squares_about(x: Floats, center: float) -> float:
    """Return the sum of squared distances to the center."""
    total = 0.0
    for i in range(x.size):
        total += (x[i] - center) * (x[i] - center)
    return total


@jit
def learn_law(groups: Groups, arm: int, x: Floats, mean: float, deviation: float) -> Any:
    """Return the distribution of the reweighted mean of all rewards x; an envelope fitted to fewer is discarded."""
    if groups.old[arm] != x.size:
        groups.old[arm], groups.paid[arm] = 0, LAW_COST
        learn(groups.laws[arm], x, groups.bonus, mean, deviation)
    return groups.laws[arm]


@jit
def is_due(groups: Groups, arm: int, size: int) -> bool:
    """Whether the next draw counts all rewards, of this number, as old."""
    return groups.paid[arm] >= LAW_COST and size >= LAW_LEAST


@shared
def regroup(groups: Groups, arm: int, x: Floats, mean: float) -> None:
    """Count all rewards as old from now on."""
    deviation = math.sqrt(squares_about(x, mean) / x.size)
    law = learn_law(groups, arm, x, mean, deviation)
    size = x.size + groups.bonus.size
    center = mean + (sum_of(groups.bonus) - groups.bonus.size * mean) / size
    fits = fit(groups.envelopes[arm], law, center, deviation / math.sqrt(size))
    groups.old[arm], groups.paid[arm] = (x.size, 0) if fits else (0, -LAW_PATIENCE * LAW_COST)


@jit
def forget_group(groups: Groups, arm: int) -> None:
    """Count no rewards of the arm as old, for example because they have moved."""
    groups.old[arm], groups.paid[arm] = 0, 0
    groups.laws[arm].limit = 0.0


@jit
def weighted_sum(
    groups: Groups, arm: int, x: Floats, mean: float, origin: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Draw sum_i E_i (x_i - origin) and sum_i E_i for exponential E_i, with the right joint distribution.

    The bonus is among the x_i.
    """
    if is_due(groups, arm, x.size):
        regroup(groups, arm, x, mean)
    old, total, weights = groups.old[arm], 0.0, 0.0
    if old > 0:
        weights = rng.standard_gamma(float(old + groups.bonus.size))
        total = weights * (draw(groups.envelopes[arm], groups.laws[arm], rng) - origin)
    else:
        for value in groups.bonus:
            weight = rng.standard_exponential()
            total += weight * (value - origin)
            weights += weight
    for i in range(old, x.size):
        weight = rng.standard_exponential()
        total += weight * (x[i] - origin)
        weights += weight
    groups.paid[arm] += x.size - old
    return total, weights
