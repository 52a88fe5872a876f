"""The evidence against an arm: N times the divergence of its rewards from a law whose mean reaches the best one.

IMED, MED and DMED are three ways to weigh it. A policy says once what it assumes: a family (:func:`judge_by_family`),
then the divergence is d(mu_k, m); or a bound (:func:`judge_by_rewards`), then it is Kinf(F_k, m; upper), which needs
all rewards.
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
from dirichlet_bandits.types import Floats


@verb
def evidence(policy: Any, state: Any, arm: int, target: float) -> Any:
    """Evidence a reward against a mean of at least ``target``, and its slope there.

    It depends on the rewards and the target alone, so that arms with the same rewards tie exactly.
    """


@verb
def evidence_near(policy: Any, state: Any, expansions: Floats, arm: int, m: float) -> Any:
    """The evidence and its slope, up to rounding."""


@verb
def coordinate(policy: Any, m: float) -> Any:
    """The function of a mean in which the evidence is convex."""


@verb
def mean_at(policy: Any, c: float) -> Any:
    """The mean with this coordinate."""


@verb
def stretched(policy: Any, slope: float, m: float) -> Any:
    """A slope in the mean, turned into a slope in the coordinate."""


def judge_by_family(*policy_types: type) -> None:
    """Let the evidence of these policies, whose parameters are ``family`` and ``sigma``, be that of a family."""
    implements(evidence, *policy_types)(family_evidence)
    implements(evidence_near, *policy_types)(evidence_itself)
    implements(coordinate, *policy_types)(_logarithm_if_exponential)
    implements(mean_at, *policy_types)(_power_if_exponential)
    implements(stretched, *policy_types)(_times_mean_if_exponential)


def judge_by_rewards(*policy_types: type) -> None:
    """Let the evidence of these policies, which keep rewards and have an ``upper``, be Kinf."""
    implements(evidence, *policy_types)(empirical_evidence)
    implements(evidence_near, *policy_types)(incremental_evidence)
    implements(coordinate, *policy_types)(_mean_itself)
    implements(mean_at, *policy_types)(_itself)
    implements(stretched, *policy_types)(_slope_itself)


@jit
def family_evidence(policy: Any, state: Tally, arm: int, target: float) -> tuple[float, float]:
    """d(mu_k, target), and (target - mu_k) / V(target) with the family's variance V."""
    mean = state.means[arm]
    return (
        divergence(policy.family, policy.sigma, mean, target),
        divergence_slope(policy.family, policy.sigma, mean, target),
    )


@jit
def empirical_evidence(policy: Any, state: History, arm: int, target: float) -> tuple[float, float]:
    """Kinf(F_k, target; upper), whose slope is the optimal multiplier."""
    if state.means[arm] >= target:
        return 0.0, 0.0
    value, multiplier, _, _ = kinf_dual(rewards(state, arm), target, policy.upper, math.nan)
    return value, multiplier


@jit
def evidence_itself(policy: Any, state: Any, expansions: Floats, arm: int, m: float) -> tuple[float, float]:
    """The evidence itself: a formula of the mean."""
    return evidence(policy, state, arm, m)


@jit
def incremental_evidence(policy: Any, state: History, expansions: Floats, arm: int, m: float) -> tuple[float, float]:
    """Kinf(F_k, m; upper) and its slope up to rounding, from the arm's power sums."""
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
