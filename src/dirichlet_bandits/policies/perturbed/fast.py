"""PHE and ReBoot with cheap indices: the same distributions from one normal variable per arm and a few exponentials.

The index of PHE is the mean of the rewards and of m coins. Tossing m coins would make each step slower as the number of
rewards grows, and a general binomial routine computes its constants at every draw. Instead, a normal variable proposes
the number of heads, and an exponential one accepts or rejects it. The loop, and the proof that the distribution stays
the same, are in :mod:`~dirichlet_bandits.policies.drawn_index`; PHE's coins come from a normal variable by rejection
(:func:`~dirichlet_bandits.numerics.draws.coins_or_nan`, with its proof). For example, with m = 400 coins, the proposal
is about 200 + 10 x for a normal x. ReBoot's index is normal, so it is never rejected.
"""

from typing import Any

import numpy as np

from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, shortcut
from dirichlet_bandits.numerics.draws import coins_frame, coins_or_nan, settled_coins
from dirichlet_bandits.policies.bounded import pseudo_rewards
from dirichlet_bandits.policies.drawn_index import index_or_nan, learn_law, new_laws, play_drawn_indices, settled_index
from dirichlet_bandits.policies.perturbed.rule import PHEParams, ReBootParams, Spread, residual_deviation

PERTURBED = np.dtype([(name, np.float64) for name in ("coins", "deviation", "unit", "sum", "total")])
"""Constants of PHE's index: the number of ``coins``, ``deviation`` and ``unit`` of their draw, the ``sum`` of the
rewards, and the ``total`` number of rewards and coins.
"""

RESIDUALS = np.dtype([("mean", np.float64), ("deviation", np.float64)])
"""Mean and standard deviation of ReBoot's index."""


@implements(new_laws, PHEParams)
def new_perturbed(policy: PHEParams, n_arms: int) -> Any:
    """Return a record per arm for the constants of its index."""
    return np.zeros(n_arms, PERTURBED)


@implements(learn_law, PHEParams)
def learn_coins(policy: PHEParams, state: Tally, arm: int, law: Any) -> None:
    """Write the constants of the index."""
    n = state.pulls[arm]
    m = pseudo_rewards(policy.a, n)
    law.coins, law.sum, law.total = m, state.sums[arm] + state.carry[arm], n + m
    law.deviation, law.unit = coins_frame(m)


@implements(index_or_nan, PHEParams)
def perturbed_or_nan(policy: PHEParams, law: Any, x: float, e: float) -> tuple[float, float]:
    """Return the mean of rewards and coins, or NaN."""
    heads, left = coins_or_nan(law.coins, law.deviation, law.unit, x, e)
    return (law.sum + heads) / law.total, left


@implements(settled_index, PHEParams)
def settled_mean(policy: PHEParams, law: Any, x: float, rng: np.random.Generator) -> float:
    """Return the mean of rewards and coins where ``perturbed_or_nan`` left the coins open."""
    return (law.sum + settled_coins(law.coins, law.deviation, law.unit, x, rng)) / law.total


@implements(new_laws, ReBootParams)
def new_residuals(policy: ReBootParams, n_arms: int) -> Any:
    """Return a record per arm for the mean and the deviation of its index."""
    return np.zeros(n_arms, RESIDUALS)


@implements(learn_law, ReBootParams)
def learn_residuals(policy: ReBootParams, state: Spread, arm: int, law: Any) -> None:
    """Write the mean and the deviation of the index."""
    law.mean, law.deviation = state.means[arm], residual_deviation(policy, state, arm)


@implements(index_or_nan, ReBootParams)
def residuals_or_nan(policy: ReBootParams, law: Any, x: float, e: float) -> tuple[float, float]:
    """Return the index; it is never rejected and uses no part of e."""
    return law.mean + law.deviation * x, e


shortcut(PHEParams, ReBootParams)(play_drawn_indices)
