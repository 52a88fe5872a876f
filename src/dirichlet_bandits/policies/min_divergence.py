"""The minimum empirical divergence: from an arm's rewards to the nearest distribution whose mean reaches a target.

IMED, MED and DMED compare this divergence, times the arm's number of rewards, between arms. A policy registers its
assumption once: with a family (:func:`use_family_divergence`), the divergence is d(mu_k, m); with a bound
(:func:`use_kinf`), it is Kinf(F_k, m; upper), which depends on all rewards.
"""

import math
from typing import Any

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, verb
from dirichlet_bandits.numerics.divergences import Family, divergence, divergence_slope
from dirichlet_bandits.numerics.kinf import kinf_dual
from dirichlet_bandits.numerics.kinf_series import kinf_incremental
from dirichlet_bandits.types import Records


@verb
def min_divergence(policy: Any, state: Any, arm: int, target: float) -> Any:
    """Return the least divergence to a distribution with mean at least ``target``, and its slope in the target.

    It depends only on the rewards and the target, so arms with the same rewards tie exactly.
    """


@verb
def approx_min_divergence(policy: Any, state: Any, expansions: Records, arm: int, m: float) -> Any:
    """Return the divergence and its slope up to rounding."""


@verb
def coordinate(policy: Any, m: float) -> Any:
    """Return the function of a mean in which the divergence is convex."""


@verb
def mean_at(policy: Any, c: float) -> Any:
    """Return the mean with this coordinate."""


@verb
def slope_in_coordinate(policy: Any, slope: float, m: float) -> Any:
    """Convert a slope in the mean to a slope in the coordinate."""


def use_family_divergence(*policy_types: type) -> None:
    """Use the family's divergence for these policies, whose parameters are ``family`` and ``sigma``."""
    implements(min_divergence, *policy_types)(family_divergence)
    implements(approx_min_divergence, *policy_types)(exact_min_divergence)
    implements(coordinate, *policy_types)(_logarithm_if_exponential)
    implements(mean_at, *policy_types)(_power_if_exponential)
    implements(slope_in_coordinate, *policy_types)(_times_mean_if_exponential)


def use_kinf(*policy_types: type) -> None:
    """Use Kinf as the divergence of these policies, which store rewards and have an ``upper`` bound."""
    implements(min_divergence, *policy_types)(kinf_from_rewards)
    implements(approx_min_divergence, *policy_types)(kinf_from_power_sums)
    implements(coordinate, *policy_types)(_mean_itself)
    implements(mean_at, *policy_types)(_itself)
    implements(slope_in_coordinate, *policy_types)(_slope_itself)


@jit
def family_divergence(policy: Any, state: Tally, arm: int, target: float) -> tuple[float, float]:
    """Return d(mu_k, target) and its slope (target - mu_k) / V(target), where V is the family's variance."""
    mean = state.means[arm]
    return (
        divergence(policy.family, policy.sigma, mean, target),
        divergence_slope(policy.family, policy.sigma, mean, target),
    )


@jit
def kinf_from_rewards(policy: Any, state: History, arm: int, target: float) -> tuple[float, float]:
    """Return Kinf(F_k, target; upper) and its slope, the optimal multiplier."""
    if state.means[arm] >= target:
        return 0.0, 0.0
    value, multiplier, _, _ = kinf_dual(rewards(state, arm), target, policy.upper, math.nan)
    return value, multiplier


@jit
def exact_min_divergence(policy: Any, state: Any, expansions: Records, arm: int, m: float) -> tuple[float, float]:
    """Return the exact divergence, because that of a family is a formula of the mean."""
    return min_divergence(policy, state, arm, m)


@jit
def kinf_from_power_sums(policy: Any, state: History, expansions: Records, arm: int, m: float) -> tuple[float, float]:
    """Return Kinf(F_k, m; upper) and its slope up to rounding, from the arm's power sums."""
    return kinf_incremental(expansions[arm], rewards(state, arm), state.means[arm], m, policy.upper)


@jit
def _mean_itself(policy: Any, m: float) -> float:
    return m


@jit
def _itself(policy: Any, c: float) -> float:
    return c


@jit
def _slope_itself(policy: Any, slope: float, m: float) -> float:
    return slope


@jit
def _logarithm_if_exponential(policy: Any, m: float) -> float:
    return math.log(m) if policy.family == Family.EXPONENTIAL else m


@jit
def _power_if_exponential(policy: Any, c: float) -> float:
    return math.exp(c) if policy.family == Family.EXPONENTIAL else c


@jit
def _times_mean_if_exponential(policy: Any, slope: float, m: float) -> float:
    return slope * m if policy.family == Family.EXPONENTIAL else slope
