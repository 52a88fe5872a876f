"""PHE and ReBoot with cheap indices: the same distributions from one normal variable per arm and a few exponentials.

The index of PHE is the mean of the rewards and of m coins. Tossing m coins would make each step slower as the number of
rewards grows, and a general binomial routine computes its constants at every draw. Instead, a normal variable proposes
the number of heads, and an exponential one accepts or rejects it. The loop, and the proof that the distribution stays
the same, are in :mod:`~dirichlet_bandits.policies.drawn_index`; PHE's coins come from a normal variable by rejection
(:func:`~dirichlet_bandits.numerics.draws.coins_or_nan`, with its proof). For example, with m = 400 coins, the proposal
is about 200 + 10 x for a normal x. ReBoot's index is normal, so it is never rejected.
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
    """Write the number of coins, the constants of their draw, the rewards' sum, and the total number of both."""
    n = state.pulls[arm]
    m = pseudo_rewards(policy.a, n)
    laws[arm, 0] = m
    laws[arm, 1], laws[arm, 2] = coins_frame(m)
    laws[arm, 3], laws[arm, 4] = state.sums[arm] + state.carry[arm], n + m


@implements(index_or_nan, PHEParams)
def perturbed_or_nan(policy: PHEParams, laws: Floats, arm: int, x: float, e: float) -> tuple[float, float]:
    """Return the mean of rewards and coins, or NaN."""
    heads, left = coins_or_nan(laws[arm, 0], laws[arm, 1], laws[arm, 2], x, e)
    return (laws[arm, 3] + heads) / laws[arm, 4], left


@implements(settled_index, PHEParams)
def settled_mean(policy: PHEParams, laws: Floats, arm: int, x: float, rng: np.random.Generator) -> float:
    """Return the mean of rewards and coins where ``perturbed_or_nan`` left the coins open."""
    return (laws[arm, 3] + settled_coins(laws[arm, 0], laws[arm, 1], laws[arm, 2], x, rng)) / laws[arm, 4]


@implements(learn_law, ReBootParams)
def learn_residuals(policy: ReBootParams, state: Spread, arm: int, laws: Floats) -> None:
    """Write the mean and the deviation of the index."""
    laws[arm, 0], laws[arm, 1] = state.means[arm], residual_deviation(policy, state, arm)


@implements(index_or_nan, ReBootParams)
def residuals_or_nan(policy: ReBootParams, laws: Floats, arm: int, x: float, e: float) -> tuple[float, float]:
    """Return the index; it is never rejected and uses no part of e."""
    return laws[arm, 0] + laws[arm, 1] * x, e


shortcut(PHEParams, ReBootParams)(play_drawn_indices)
