"""Indices built on Kinf, from kept sums: which arm has the largest, at a cost that does not grow with the rewards.

With l(c) the mean of log(c - x_i), both are extremes over the dual point c >= upper:

    EmpiricalIMED    Kinf(F, q) = max over c of  l(c) - log(c - q)
    EmpiricalKLUCB   sup{q : Kinf(F, q) <= level} = min over c of  c - exp(l(c) - level)

``numerics/logsums.py`` gives l near the c of the last solve, where Newton's method finds the next one. An extreme
hardly feels an error of c, so these indices differ from the plain ones by rounding only; where rounding could matter,
arms being tied or nearly so, the plain ones decide.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dirichlet_bandits.numerics import logsums
from dirichlet_bandits.numerics.checks import Floats
from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.numerics.kinf import kinf_dual, kl_ucb_index
from dirichlet_bandits.numerics.logsums import LogSums
from dirichlet_bandits.numerics.tolerances import INDEX_SLACK, NEWTON_STEP
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.base import Policy, keeper
from dirichlet_bandits.policies.history import History, rewards
from dirichlet_bandits.policies.imed import EmpiricalIMEDParams
from dirichlet_bandits.policies.index import overview
from dirichlet_bandits.policies.propensity import state_propensities
from dirichlet_bandits.policies.ucb import EmpiricalKLUCBParams
from dirichlet_bandits.policies.verbs import implements, verb

_STEPS: Final = 8  # Newton's method near its goal needs two or three


class KeptIndices:
    """Propensities of a deterministic index policy: 1 for the largest index."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        self._policy = policy
        self._points = np.full(n_arms, math.nan)
        self._sums = logsums.make.py_func(n_arms)  # type: ignore[attr-defined]

    def indices(self, state: Any) -> Floats:
        """Of all arms, up to rounding."""
        return _door(type(self._policy.params))(self._policy.params, state, self._sums, self._points)

    def propensities(self, state: Any) -> Floats:
        """From the kept indices if one of them is the largest beyond doubt."""
        indices = self.indices(state)
        best = indices.argmax()
        slack = INDEX_SLACK * (1.0 + abs(indices[best]))
        if np.count_nonzero(indices >= indices[best] - slack) != 1:  # ties, or NaN
            return state_propensities(self._policy, state)
        return np.asarray(np.arange(indices.size) == best, np.float64)


@verb
def kept_index(policy: Any, state: Any, arm: int, total: int, top: float, sums: LogSums, points: Floats) -> Any:
    """The arm's index up to rounding; ``points`` holds the c of each arm."""


@implements(kept_index, EmpiricalIMEDParams)
def kept_imed(
    policy: EmpiricalIMEDParams, state: History, arm: int, total: int, top: float, sums: LogSums, points: Floats
) -> float:
    """N_k Kinf(F_k, top) + log N_k, with its sign turned."""
    n = state.pulls[arm]
    evidence = 0.0 if state.means[arm] >= top else extreme(policy, rewards(state, arm), top, arm, sums, points)
    return -(n * evidence + math.log(n))


@implements(kept_index, EmpiricalKLUCBParams)
def kept_klucb(
    policy: EmpiricalKLUCBParams, state: History, arm: int, total: int, top: float, sums: LogSums, points: Floats
) -> float:
    """sup{q : N_k Kinf(F_k, q) <= log t}"""
    return extreme(policy, rewards(state, arm), math.log(total) / state.pulls[arm], arm, sums, points)


@jit
def extreme(policy: Any, x: Floats, goal: float, arm: int, sums: LogSums, points: Floats) -> float:
    """The extreme over c, from the kept sums if they are near it; ``goal`` is the target q or the level."""
    if logsums.follow(sums, arm, x):
        c, unit = points[arm], sums.scalars[arm, logsums.UNIT]
        for _ in range(_STEPS):
            log, first, second = logsums.expand(sums, arm, c)
            fall, slope = condition(policy, goal, c, unit, log, first, second)
            step = -fall / slope
            if abs(step) <= NEWTON_STEP or (c == policy.upper and fall <= 0.0):
                points[arm] = c
                return extreme_at(policy, goal, c, unit, log)
            c = max(c + step * unit, policy.upper)
    value, c = extreme_anew(policy, x, goal)
    points[arm] = max(c, policy.upper)
    logsums.build(sums, arm, x, points[arm])
    return value


@verb
def condition(policy: Any, goal: float, c: float, unit: float, log: float, first: float, second: float) -> Any:
    """A function of c that falls through 0 at the extreme, and its slope in c/unit, from l(c) and its derivatives."""


@verb
def extreme_at(policy: Any, goal: float, c: float, unit: float, log: float) -> Any:
    """The value of the extreme at its c."""


@verb
def extreme_anew(policy: Any, x: Floats, goal: float) -> Any:
    """The extreme and its c from the rewards."""


@implements(condition, EmpiricalIMEDParams)
def kinf_condition(
    policy: EmpiricalIMEDParams, q: float, c: float, unit: float, log: float, first: float, second: float
) -> tuple[float, float]:
    """(c - q) l'(c) - 1"""
    distance = (c - q) / unit
    return distance * first - 1.0, first + distance * second


@implements(extreme_at, EmpiricalIMEDParams)
def kinf_at(policy: EmpiricalIMEDParams, q: float, c: float, unit: float, log: float) -> float:
    """l(c) - log(c - q)"""
    return log - math.log((c - q) / unit)


@implements(extreme_anew, EmpiricalIMEDParams)
def kinf_anew(policy: EmpiricalIMEDParams, x: Floats, q: float) -> tuple[float, float]:
    """c = q + 1/multiplier"""
    value, multiplier, _, _ = kinf_dual(x, q, policy.upper, math.nan)
    return value, q + 1.0 / multiplier


@implements(condition, EmpiricalKLUCBParams)
def bound_condition(
    policy: EmpiricalKLUCBParams, level: float, c: float, unit: float, log: float, first: float, second: float
) -> tuple[float, float]:
    """l(c) + log l'(c) - level"""
    return log + math.log(first) - level, first + second / first


@implements(extreme_at, EmpiricalKLUCBParams)
def bound_at(policy: EmpiricalKLUCBParams, level: float, c: float, unit: float, log: float) -> float:
    """c - exp(l(c) - level)"""
    return c - unit * math.exp(log - level)


@implements(extreme_anew, EmpiricalKLUCBParams)
def bound_anew(policy: EmpiricalKLUCBParams, x: Floats, level: float) -> tuple[float, float]:
    """By the solver of ``numerics/kinf.py``."""
    value, c, _, _ = kl_ucb_index(x, level, policy.upper, math.nan)
    return value, c


@functools.cache
def _door(policy_type: type) -> Callable[..., Floats]:
    """The indices of all arms, compiled for calls from Python."""
    stamp = verbs.stamp(policy_type)

    @keeper(policy_type)
    def kept_indices(policy: Any, state: Any, sums: LogSums, points: Floats) -> Floats:
        stamp  # noqa: B018 - the closure ties the cached code to the sources
        total, top = overview(state)
        indices = np.empty(state.pulls.size)
        for arm in range(state.pulls.size):
            indices[arm] = kept_index(policy, state, arm, total, top, sums, points)
        return indices

    return kept_indices
