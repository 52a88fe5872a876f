"""PHE and ReBoot with cheap indices: the same laws from one normal variable an arm, and a few exponential ones.

The loop, and why the law stays the same, is that of :mod:`~dirichlet_bandits.policies.drawn_index`; PHE's coins come
from a normal variable by rejection (:func:`~dirichlet_bandits.numerics.draws.coins_or_nan`, with its proof).
"""

import numpy as np

from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, shortcut
from dirichlet_bandits.numerics.draws import coins_frame, coins_or_nan, settled_coins
from dirichlet_bandits.policies.bounded import pseudo_rewards
from dirichlet_bandits.policies.drawn_index import index_or_nan, learn_law, play_drawn_indices, settled_index
from dirichlet_bandits.policies.perturbed.rule import PHEParams, ReBootParams, Spread, residual_deviation
from dirichlet_bandits.types import Floats


@implements(learn_law, PHEParams)
def learn_coins(policy: PHEParams, state: Tally, arm: int, laws: Floats) -> None:
    """Coins, their frame, the rewards' sum, and the number of both."""
    n = state.pulls[arm]
    m = pseudo_rewards(policy.a, n)
    laws[arm, 0] = m
    laws[arm, 1], laws[arm, 2] = coins_frame(m)
    laws[arm, 3], laws[arm, 4] = state.sums[arm] + state.carry[arm], n + m


@implements(index_or_nan, PHEParams)
def perturbed_or_nan(policy: PHEParams, laws: Floats, arm: int, x: float, e: float) -> tuple[float, float]:
    """The mean of rewards and coins."""
    heads, left = coins_or_nan(laws[arm, 0], laws[arm, 1], laws[arm, 2], x, e)
    return (laws[arm, 3] + heads) / laws[arm, 4], left


@implements(settled_index, PHEParams)
def settled_mean(policy: PHEParams, laws: Floats, arm: int, x: float, rng: np.random.Generator) -> float:
    """The same where the coins were left open."""
    return (laws[arm, 3] + settled_coins(laws[arm, 0], laws[arm, 1], laws[arm, 2], x, rng)) / laws[arm, 4]


@implements(learn_law, ReBootParams)
def learn_residuals(policy: ReBootParams, state: Spread, arm: int, laws: Floats) -> None:
    """Mean and deviation."""
    laws[arm, 0], laws[arm, 1] = state.means[arm], residual_deviation(policy, state, arm)


@implements(index_or_nan, ReBootParams)
def residuals_or_nan(policy: ReBootParams, laws: Floats, arm: int, x: float, e: float) -> tuple[float, float]:
    """Never refused, and all of e is left."""
    return laws[arm, 0] + laws[arm, 1] * x, e


shortcut(PHEParams, ReBootParams)(play_drawn_indices)
