"""Upper confidence bounds by ceilings: the index of an arm that is not pulled never falls with the clock.

The index of an arm that is not pulled never falls with time, so the index that it will have at a later time is a
ceiling until then. While the arm pulled last is surely above the ceilings of all other arms, it is pulled again without
computing their indices. Otherwise, only the arms whose ceilings reach the best index found so far are evaluated. Where
two indices are closer than their rounding errors, the policy's own ``select`` decides. For example, if the ceilings at
t = 1100 are 0.61 and 0.58 and the index of the arm pulled last is 0.66 at t = 1000, then this arm is pulled as long as
its index stays above 0.61, at most until t = 1100.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.history import History
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, shortcut, verb
from dirichlet_bandits.numerics.arrays import sum_of
from dirichlet_bandits.numerics.compensated import raised
from dirichlet_bandits.numerics.costs import CEILING_SHARE
from dirichlet_bandits.numerics.divergences import divergence
from dirichlet_bandits.numerics.kinf_series import make_expansions
from dirichlet_bandits.policies.index import incremental_index
from dirichlet_bandits.policies.ucb.minimax import KLUCBPlusPlusParams, phi
from dirichlet_bandits.policies.ucb.rule import EmpiricalKLUCBParams, KLUCBParams, RUCBLTParams, UCB1Params
from dirichlet_bandits.types import Floats, Records


@verb
def index_near(policy: Any, state: Any, arm: int, total: int, expansions: Records, rng: Any) -> Any:
    """Return the arm's index up to rounding, from stored power sums where the index depends on all rewards."""


@implements(index_near, UCB1Params, RUCBLTParams, KLUCBParams, KLUCBPlusPlusParams)
def index_itself(
    policy: Any, state: Tally, arm: int, total: int, expansions: Records, rng: np.random.Generator
) -> float:
    """Return the index itself, which is a formula or takes one solve without the rewards."""
    return verbs.index(policy, state, arm, total, math.nan, rng)


@implements(index_near, EmpiricalKLUCBParams)
def index_expanded(
    policy: EmpiricalKLUCBParams, state: History, arm: int, total: int, expansions: Records, rng: np.random.Generator
) -> float:
    """Return the index from the arm's power sums."""
    return incremental_index(policy, state, arm, total, math.nan, expansions)


@verb
def surely_above(policy: Any, state: Any, arm: int, total: int, level: float, expansions: Records, rng: Any) -> Any:
    """Whether the arm's index is above a level beyond doubt."""


@implements(surely_above, UCB1Params, RUCBLTParams, EmpiricalKLUCBParams)
def index_above(
    policy: Any, state: Any, arm: int, total: int, level: float, expansions: Records, rng: np.random.Generator
) -> bool:
    """Whether the index, up to rounding, is above the level."""
    return index_near(policy, state, arm, total, expansions, rng) > raised(level)


@implements(surely_above, KLUCBParams)
def divergence_below(
    policy: KLUCBParams, state: Tally, arm: int, total: int, level: float, expansions: Records, rng: np.random.Generator
) -> bool:
    """Whether N_k d(mu_k, level) < log t, which takes one divergence instead of a solve."""
    mean, level = state.means[arm], raised(level)
    if mean > level:
        return True
    return state.pulls[arm] * divergence(policy.family, policy.sigma, mean, level) < math.log(total)


@implements(surely_above, KLUCBPlusPlusParams)
def divergence_below_phi(
    policy: KLUCBPlusPlusParams,
    state: Tally,
    arm: int,
    total: int,
    level: float,
    expansions: Records,
    rng: np.random.Generator,
) -> bool:
    """Whether N_k d(mu_k, level) < g(N_k), which takes one divergence instead of a solve."""
    mean, level, n = state.means[arm], raised(level), state.pulls[arm]
    if mean > level:
        return True
    return n * divergence(policy.family, policy.sigma, mean, level) < phi(policy.horizon / (state.pulls.size * n))


@jit
def make_ceilings(
    policy: Any, state: Any, expiry: int, ceilings: Floats, expansions: Records, rng: np.random.Generator
) -> None:
    """Write the index that every arm will have when the ceilings expire."""
    for arm in range(ceilings.size):
        ceilings[arm] = raised(index_near(policy, state, arm, expiry, expansions, rng))


@jit
def highest_but(ceilings: Floats, last: int) -> float:
    """Return the highest ceiling of the other arms."""
    level = -math.inf
    for arm in range(ceilings.size):
        if arm != last and ceilings[arm] > level:
            level = ceilings[arm]
    return level


@jit
def largest_index(
    policy: Any, state: Any, last: int, total: int, ceilings: Floats, expansions: Records, rng: np.random.Generator
) -> int:
    """Return the arm with the largest index, evaluating only arms whose ceilings are high enough."""
    best, largest, second = last, index_near(policy, state, last, total, expansions, rng), -math.inf
    for arm in range(ceilings.size):
        if arm != last and raised(ceilings[arm]) >= largest:
            value = index_near(policy, state, arm, total, expansions, rng)
            if value > largest:
                best, largest, second = arm, value, largest
            else:
                second = max(second, value)
    return verbs.select(policy, state, rng) if raised(second) >= largest else best


@shortcut(UCB1Params, RUCBLTParams, KLUCBParams, KLUCBPlusPlusParams, EmpiricalKLUCBParams)
def play_optimism(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Pull the arm with the largest index until the run is over."""
    n_arms = run.pulls.size
    ceilings, expansions = np.empty(n_arms), make_expansions(n_arms)
    total, last, expiry, level = int(sum_of(run.pulls)), 0, 0, math.inf
    while not ended(run.progress):
        if total > expiry:
            expiry = total + total // CEILING_SHARE
            make_ceilings(policy, state, expiry, ceilings, expansions, rng)
            level = highest_but(ceilings, last)
        if not surely_above(policy, state, last, total, level, expansions, rng):
            arm = largest_index(policy, state, last, total, ceilings, expansions, rng)
            if arm != last:
                ceilings[last] = raised(index_near(policy, state, last, expiry, expansions, rng))
                last, level = arm, highest_but(ceilings, arm)
        reward = pull(run, last)
        state = verbs.update(policy, state, last, reward, rng)
        total += 1
