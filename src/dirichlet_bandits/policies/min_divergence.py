"""The minimum empirical divergence: from an arm's rewards to the nearest distribution whose mean reaches a target.

IMED, MED and DMED compare this divergence, times the arm's number of rewards, between arms. A policy registers its
assumption once: with a family (:func:`use_family_divergence`), the divergence is d(mu_k, m), a formula; with a bound
(:func:`use_kinf`), it is Kinf(F_k, m; upper), which depends on all rewards. Then, and for EmpiricalKLUCB, the state has
one number per arm, its divergence or its index. All of them are computed again with each reward, from power sums, so a
decision takes no pass over the rewards.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit, jit_inline
from dirichlet_bandits.engine.history import History, append, new_history, rewards
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, index, init, inlined_verb, update, verb
from dirichlet_bandits.numerics.arrays import min_of
from dirichlet_bandits.numerics.compensated import raised
from dirichlet_bandits.numerics.divergences import divergence
from dirichlet_bandits.numerics.kinf import kinf_dual
from dirichlet_bandits.numerics.kinf_series import kinf_incremental, make_expansions
from dirichlet_bandits.policies.index import overview
from dirichlet_bandits.types import Floats, Ints, Records


class KinfState(NamedTuple):
    """All rewards, and a number per arm that follows from Kinf: a divergence or an index.

    ``values`` are these numbers once every arm has a reward; ``expansions`` are the power sums that give them
    (``numerics/kinf_series.py``).
    """

    pulls: Ints
    means: Floats
    history: History
    expansions: Records
    values: Floats


@verb
def min_divergence(policy: Any, state: Any, arm: int, target: float) -> Any:
    """Return the least divergence to a distribution with mean at least ``target``.

    It depends only on the rewards and the target, so arms with the same rewards tie exactly.
    """


@inlined_verb
def current_divergence(policy: Any, state: Any, arm: int, best_mean: float) -> Any:
    """Return the divergence for the largest mean as the target, up to rounding."""


@inlined_verb
def value_of(policy: Any, history: History, arm: int, total: int, best_mean: float, expansions: Records) -> Any:
    """Return the arm's number in a :class:`KinfState` up to rounding, from its power sums."""


@verb
def exact_value(policy: Any, history: History, arm: int, total: int, best_mean: float) -> Any:
    """Return an index in a :class:`KinfState` from all rewards, so that arms with the same rewards tie exactly."""


def use_family_divergence(*policy_types: type) -> None:
    """Use the family's divergence for these policies, whose parameters are ``family`` and ``sigma``."""
    implements(min_divergence, *policy_types)(_family_divergence)
    implements(current_divergence, *policy_types)(_family_divergence)


def use_kinf(*policy_types: type) -> None:
    """Use Kinf as the divergence of these policies, which have an ``upper`` bound and keep it in a ``KinfState``."""
    implements(init, *policy_types)(no_values)
    implements(update, *policy_types, random=False)(renew_values)
    implements(value_of, *policy_types)(kinf_from_power_sums)
    implements(min_divergence, *policy_types)(_kinf_from_rewards)
    implements(current_divergence, *policy_types)(_stored_divergence)


def keeps_indices(*policy_types: type) -> None:
    """Make these policies keep their indices in a ``KinfState``."""
    implements(init, *policy_types)(no_values)
    implements(update, *policy_types, random=False)(_renew_indices)
    implements(index, *policy_types, random=False)(_stored_index)


@jit
def no_values(policy: Any, n_arms: int) -> KinfState:
    """Return a state without rewards."""
    history = new_history(n_arms)
    return KinfState(history.pulls, history.means, history, make_expansions(n_arms), np.zeros(n_arms))


@jit_inline
def renew_values(policy: Any, state: KinfState, arm: int, reward: float, rng: np.random.Generator) -> KinfState:
    """Store the reward and renew the number of every arm, because those of all arms depend on the largest mean."""
    history = append(state.history, arm, reward, reward)
    state = KinfState(history.pulls, history.means, history, state.expansions, state.values)
    _renew(policy, state)
    return state


@jit
def _renew(policy: Any, state: KinfState) -> None:
    """Renew the numbers if every arm has a reward."""
    history, expansions, values = borrowed(state.history), borrowed(state.expansions), borrowed(state.values)
    if min_of(history.pulls) > 0:
        total, best_mean = overview(history)
        for arm in range(values.size):
            values[arm] = value_of(policy, history, arm, total, best_mean, expansions)


@jit_inline
def _renew_indices(policy: Any, state: KinfState, arm: int, reward: float, rng: np.random.Generator) -> KinfState:
    """Do the same for indices; where rounding could decide which is the largest, compute them exactly."""
    state = renew_values(policy, state, arm, reward, rng)
    _settle(policy, state)
    return state


@jit
def _settle(policy: Any, state: KinfState) -> None:
    """Compute the indices exactly if two may tie for the largest."""
    history, values = borrowed(state.history), borrowed(state.values)
    largest, contenders = -math.inf, 0
    for arm in range(values.size):
        if values[arm] > largest:
            largest = values[arm]
    for arm in range(values.size):
        contenders += not raised(values[arm]) < largest  # or NaN
    if contenders > 1 and min_of(history.pulls) > 0:
        total, best_mean = overview(history)
        for arm in range(values.size):
            values[arm] = exact_value(policy, history, arm, total, best_mean)


@jit
def _stored_index(
    policy: Any, state: KinfState, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    return state.values[arm]


@jit
def _stored_divergence(policy: Any, state: KinfState, arm: int, best_mean: float) -> float:
    return state.values[arm]


@jit
def _family_divergence(policy: Any, state: Tally, arm: int, target: float) -> float:
    """Return d(mu_k, target)."""
    return divergence(policy.family, policy.sigma, state.means[arm], target)


@jit
def kinf_of(policy: Any, history: History, arm: int, target: float) -> float:
    """Return Kinf(F_k, target; upper) from all rewards."""
    if history.means[arm] >= target:
        return 0.0
    return kinf_dual(rewards(history, arm), target, policy.upper, math.nan)[0]


@jit
def _kinf_from_rewards(policy: Any, state: KinfState, arm: int, target: float) -> float:
    return kinf_of(policy, state.history, arm, target)


@jit
def kinf_from_power_sums(
    policy: Any, history: History, arm: int, total: int, best_mean: float, expansions: Records
) -> float:
    """Return Kinf(F_k, max mu; upper) up to rounding."""
    return kinf_incremental(expansions[arm], rewards(history, arm), history.means[arm], best_mean, policy.upper)[0]
