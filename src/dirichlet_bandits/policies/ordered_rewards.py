"""Rewards in ascending order and the CVaR of each arm: the state of policies that compare arms by their CVaR."""

from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, insert, no_rewards, rewards
from dirichlet_bandits.engine.verbs import implements, init, update
from dirichlet_bandits.numerics.cvar import ordered_cvar


def keeps_cvars(*policy_types: type) -> None:
    """Make these policies keep all rewards in ascending order, and the CVaR at their ``level`` in place of the means.

    So the CVaR is computed only when an arm is pulled, and leaders and their ties are found as usual.
    """
    implements(init, *policy_types)(no_rewards)
    implements(update, *policy_types)(_insert_and_judge)


@jit
def _insert_and_judge(policy: Any, state: History, arm: int, reward: float, rng: np.random.Generator) -> History:
    state = insert(state, arm, reward)
    state.means[arm] = ordered_cvar(rewards(state, arm), policy.level)
    return state
