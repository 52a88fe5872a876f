"""IMED by tangents: an arm is looked at again only when it may be the one to pull.

The evidence against an arm, N_k d(mu_k, m) or N_k Kinf(F_k, m), is a convex function of the largest mean m (of its
logarithm in the exponential family). Its tangent at the m of the last look lies below it, at every m and whoever
leads, until the arm is pulled. While all tangents lie above the leader's log N, the leader is pulled without asking
anybody.

Kinf is convex in its target because it is the least divergence under a linear constraint, and its slope is the
optimal multiplier (Honda and Takemura, 2010). d(x, y) is y - x log y + const in the Poisson family, a sum of
-log y and -log(1 - y) in the Bernoulli one, a parabola in the Gaussian one: convex; x/y + log y + const in the
exponential one: convex in log y only.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.arms.assumptions import Assumption
from dirichlet_bandits.compilation import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.run import BLOCK, Run, over, pull
from dirichlet_bandits.engine.stretch import stretch, with_room
from dirichlet_bandits.engine.verbs import implements, shortcut, verb
from dirichlet_bandits.numerics.compensated import raised
from dirichlet_bandits.numerics.divergences import Family
from dirichlet_bandits.numerics.kinf_series import make_expansions
from dirichlet_bandits.numerics.tolerances import INDEX_SLACK
from dirichlet_bandits.policies.imed.probability import incremental_evidence
from dirichlet_bandits.policies.imed.rule import EmpiricalIMEDParams, IMEDParams, evidence
from dirichlet_bandits.types import Floats


class Tangents(NamedTuple):
    """For each arm where the tangent touches, its value and its slope there; NaN where none is known.

    Places are coordinates of means, see :func:`coordinate`.
    """

    at: Floats
    value: Floats
    slope: Floats


@verb
def coordinate(policy: Any, m: float) -> Any:
    """The function of a mean in which the evidence is convex."""


@verb
def mean_at(policy: Any, c: float) -> Any:
    """The mean with this coordinate."""


@verb
def stretched(policy: Any, slope: float, m: float) -> Any:
    """A slope in the mean, turned into a slope in the coordinate."""


@implements(coordinate, EmpiricalIMEDParams)
def _mean_itself(policy: EmpiricalIMEDParams, m: float) -> float:
    return m


@implements(mean_at, EmpiricalIMEDParams)
def _itself(policy: EmpiricalIMEDParams, c: float) -> float:
    return c


@implements(stretched, EmpiricalIMEDParams)
def _slope_itself(policy: EmpiricalIMEDParams, slope: float, m: float) -> float:
    return slope


@implements(coordinate, IMEDParams)
def _logarithm_if_exponential(policy: IMEDParams, m: float) -> float:
    return math.log(m) if policy.family == Family.EXPONENTIAL else m


@implements(mean_at, IMEDParams)
def _power_if_exponential(policy: IMEDParams, c: float) -> float:
    return math.exp(c) if policy.family == Family.EXPONENTIAL else c


@implements(stretched, IMEDParams)
def _times_mean_if_exponential(policy: IMEDParams, slope: float, m: float) -> float:
    return slope * m if policy.family == Family.EXPONENTIAL else slope


@verb
def evidence_near(policy: Any, state: Any, expansions: Floats, arm: int, m: float) -> Any:
    """The evidence and its slope, up to rounding."""


@implements(evidence_near, IMEDParams)
def evidence_itself(policy: IMEDParams, state: Any, expansions: Floats, arm: int, m: float) -> tuple[float, float]:
    """The evidence itself: a formula of the mean."""
    return evidence(policy, state, arm, m)


implements(evidence_near, EmpiricalIMEDParams)(incremental_evidence)


@jit
def below(tangents: Tangents, arm: int, n: int, c: float) -> float:
    """A number that the arm's index N d + log N cannot be below; minus infinity if nothing is known."""
    bound = n * (tangents.value[arm] + tangents.slope[arm] * (c - tangents.at[arm])) + math.log(n)
    return -math.inf if math.isnan(bound) else bound


@jit
def look(policy: Any, state: Any, tangents: Tangents, expansions: Floats, arm: int, m: float) -> float:
    """The arm's index at m, up to rounding; its tangent is drawn anew."""
    n = state.pulls[arm]
    value, slope = evidence_near(policy, state, expansions, arm, m)
    tangents.at[arm], tangents.value[arm] = coordinate(policy, m), value
    tangents.slope[arm] = stretched(policy, slope, m)
    return n * value + math.log(n)


@jit
def safe_mean(policy: Any, tangents: Tangents, state: Any, leader: int, more: int) -> float:
    """A mean of the leader above which no other arm can be pulled for so many pulls; infinite if there is none."""
    pulls, means = state.pulls, state.means
    level = math.log(pulls[leader] + more) * (1.0 + INDEX_SLACK) + INDEX_SLACK
    safe = -math.inf
    for arm in range(pulls.size):
        if arm != leader:
            slope = tangents.slope[arm]
            if not 0.0 < slope < math.inf:  # unknown, flat, or vertical: nothing to hold on to
                return math.inf
            lift = (level - math.log(pulls[arm])) / pulls[arm] - tangents.value[arm]
            least = mean_at(policy, tangents.at[arm] + lift / slope)
            safe = max(safe, least, np.nextafter(means[arm], math.inf))
    return safe


@shortcut(IMEDParams, EmpiricalIMEDParams, assumes=Assumption.REWARDS)
def play_imed(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Pull the arm with the least index until the run is over."""
    n_arms = state.pulls.size
    tangents = Tangents(np.full(n_arms, np.nan), np.full(n_arms, np.nan), np.full(n_arms, np.nan))
    expansions = make_expansions(n_arms)
    pulls, means = state.pulls, state.means
    while not over(run):
        leader = means.argmax()
        m = means[leader]
        c = coordinate(policy, m)
        chosen, least, second = leader, math.inf, math.inf
        for i in range(n_arms):
            arm = (leader + i) % n_arms  # the leader first: its index costs nothing and spares most of the others'
            if below(tangents, arm, pulls[arm], c) > raised(least):
                continue
            found = look(policy, state, tangents, expansions, arm, m)
            if found < least:
                chosen, least, second = arm, found, least
            else:
                second = min(second, found)
        if second <= raised(least):  # too close for rounding, or tied
            chosen = verbs.select(policy, state, rng)
        if means[chosen] == m:
            state = with_room(state, chosen)
            more = BLOCK
            while more > 1 and not safe_mean(policy, tangents, state, chosen, more) <= m:
                more //= 16
            low = safe_mean(policy, tangents, state, chosen, more) if more > 1 else m
            stretch(run, state, chosen, low, math.inf if more > 1 else m, more)
        else:
            reward = pull(run, chosen)
            if not over(run):
                state = verbs.update(policy, state, chosen, reward, rng)
        tangents.slope[chosen] = math.nan
