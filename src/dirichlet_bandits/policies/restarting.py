"""Restarts: a policy that forgets when a detector raises an alarm, and explores to supply the detector with rewards."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.history import History, append, new_history
from dirichlet_bandits.engine.loop import as_round
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.verbs import follows_time, has_own, implements, specialized
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.detectors import GLR, MEMORY, Detector, alarm, published_threshold
from dirichlet_bandits.policies.index import index_propensities, larger, overview
from dirichlet_bandits.policies.interface import choice
from dirichlet_bandits.policies.registry import ORDER_MATTERS, AroundAny, register, rule_of
from dirichlet_bandits.types import Floats, Ints, Records
from dirichlet_bandits.validation import finite_number, true_or_false

SCOPES: Final = {"global": 0, "local": 1}
CONSTANT, DIMINISHING, EPISODES, HORIZON = 0, 1, 2, 3  # on what the probability of exploration depends
AT_RANDOM, SINCE_START, SINCE_ALARM = 0, 1, 2  # when decisions explore; a schedule counts from the start or an alarm
DIMINISHING_SCALE: Final = 0.2
"""The scale of the default exploration, 0.2 sqrt(K / n): of n decisions, about 0.4 sqrt(K n) explore."""

_GLR: Final = GLR()
COUNTS: Final = np.dtype(
    [
        ("rewards", np.int64),
        ("last_alarm", np.int64),  # rewards before the last alarm
        ("alarms", np.int64),
    ]
)


class Rate(NamedTuple):
    """On what the probability of exploration depends, its scale, and the window and the horizon of M-UCB."""

    law: int
    scale: float
    window: int = 0
    horizon: float = 0.0


class RestartingParams(NamedTuple):
    """The policy, its detector and its exploration.

    ``local`` is true if only the arm of an alarm restarts, ``scheduled`` determines when decisions explore, and
    ``first`` is the number of pulls that come first after a restart.
    """

    policy: Any
    detector: Any
    rate: Any
    local: bool
    scheduled: int
    first: int


class ClockedRestartingParams(RestartingParams):
    """The same parameters for an index policy whose arms restart separately, each with its own clock."""


class Restarted(NamedTuple):
    """All pulls of each arm, and what is remembered since the last restart.

    ``recent`` holds the rewards since then, ``memory`` the detector's numbers, ``restarts`` the number of rewards
    before each arm's last restart, and ``counts`` is one record of ``COUNTS``.
    """

    pulls: Ints
    inner: Any
    recent: History
    memory: Records
    restarts: Ints
    counts: Records


@jit
def exploration_rate(rate: Rate, n_arms: int, since: int, alarms: int) -> float:
    """Return the probability that the next decision explores, ``since`` rewards after the last alarm.

    It is constant, scale sqrt(K / n), growing with each alarm, or that of M-UCB (Cao et al., section 6.1), gamma =
    sqrt((M - 1) K (2 b + 3 sqrt(w)) / (2 T)) with scale M - 1. Before the first reward after an alarm, n is 1.
    """
    value = rate.scale
    if rate.law == DIMINISHING:
        value *= math.sqrt(n_arms / max(since, 1))
    elif rate.law == EPISODES:
        value *= math.sqrt(1.0 + alarms)
    elif rate.law == HORIZON:
        cost = 2.0 * published_threshold(rate.window, n_arms, rate.horizon) + 3.0 * math.sqrt(rate.window)
        value = math.sqrt(rate.scale * n_arms * cost / (2.0 * rate.horizon))
    return min(value, 1.0)


@dataclass(frozen=True)
class Restarting(AroundAny):
    """A wrapper that restarts another policy when a detector finds that an arm has changed.

    With probability ``exploration``, a decision explores: it pulls an arm uniformly at random, so that changes of arms
    that look bad are noticed. Otherwise, ``policy`` decides, using only its rewards since the last restart; arms
    without a reward since then are pulled first. The probability of arm k is therefore (1 - omega) p_k + omega / K. If
    you give no number, omega = min(1, 0.2 sqrt(K / n)), where n is the number of rewards since the last alarm, or 1
    before the first of them; this does not depend on a horizon.

    An alarm restarts all arms (``scope="global"``), or only the arm that has changed (``scope="local"``). With a local
    restart, the index of an arm uses the time since its own restart.

    Two options reproduce published settings. ``growing=True`` multiplies the exploration by the square root of 1 + the
    number of alarms. ``scheduled=True`` pulls the arms in turn at fixed times, at the same rate; such decisions are
    certain, so their propensities are 0 or 1.

    >>> from dirichlet_bandits import KLUCB, NPTS
    >>> Restarting(NPTS(upper=1.0))  # doctest: +ELLIPSIS
    Restarting(policy=NPTS(upper=1.0), detector=GLR(delta=0.01, threshold='recommended', every=10), exploration=None...
    >>> Restarting(KLUCB("bernoulli"), GLR(delta=0.001), exploration=0.02, scope="local").params.local
    True

    Reference: Besson, Kaufmann, Maillard and Seznec, JMLR 23, 2022, for KL-UCB; Gerogiannis, Huang, Bose and
    Veeravalli, arXiv:2501.19401, for any policy; Li, Hsieh and Huang, arXiv:2410.05734, for diminishing exploration.
    """

    detector: Detector = _GLR
    exploration: float | None = None
    scope: Literal["global", "local"] = "global"
    scheduled: bool = False
    growing: bool = False
    assumes: ClassVar[str] = "rewards in [0, 1] that change from time to time; what the restarted policy assumes"
    guarantee: ClassVar[str] = "none known"
    reference: ClassVar[str] = "Besson et al. (2022); Gerogiannis et al. (2025)"
    wraps: ClassVar[tuple[str, ...]] = ("KLUCB", "UCB1", "ThompsonSampling", "NPTS")

    def __post_init__(self) -> None:
        super().__post_init__()
        if follows_time(self.policy.params):
            raise ArgumentError("policy", "one that neither forgets nor counts outstanding rewards", self.policy)
        if not isinstance(self.detector, Detector):
            raise ArgumentError("detector", "a detector such as GLR(delta=0.01)", self.detector)
        check_exploration(self.exploration)
        choice("scope", self.scope, SCOPES)
        if true_or_false("scheduled", self.scheduled) and not self.exploration:
            raise ArgumentError("exploration", "a positive number if scheduled", self.exploration)
        if true_or_false("growing", self.growing) and self.exploration is None:
            raise ArgumentError("exploration", "a number if growing", self.exploration)
        low, high = self.reward_bounds
        if not low < high:
            raise ArgumentError("policy", "one for rewards in [0, 1]", self.policy)

    @property
    def params(self) -> RestartingParams | ClockedRestartingParams:
        inner = self.policy.params
        clocked = self.scope == "local" and has_own(verbs.index, inner) and not has_own(verbs.select, inner)
        kind = ClockedRestartingParams if clocked else RestartingParams
        local, detector = self.scope == "local", self.detector.params
        scheduled = SINCE_START if self.scheduled else AT_RANDOM
        return kind(inner, detector, _rate(self.exploration, self.growing), local, scheduled, 1)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        bounds = self.policy.reward_bounds, self.detector.reward_bounds
        return max(low for low, _ in bounds), min(high for _, high in bounds)


def check_exploration(exploration: object) -> None:
    """Refuse a value that is neither None nor a probability below 1."""
    if exploration is not None and not 0.0 <= finite_number("exploration", exploration) < 1.0:
        raise ArgumentError("exploration", "None, or a number of at least 0 and below 1", exploration)


def _rate(exploration: float | None, growing: bool) -> Rate:
    if exploration is None:
        return Rate(DIMINISHING, DIMINISHING_SCALE)
    return Rate(EPISODES if growing else CONSTANT, float(exploration))


@implements(verbs.init, RestartingParams, ClockedRestartingParams)
def start(policy: Any, n_arms: int) -> Restarted:
    """Return a state without rewards or restarts."""
    return Restarted(
        np.zeros(n_arms, np.int64),
        verbs.init(policy.policy, n_arms),
        new_history(n_arms),
        np.zeros(n_arms, MEMORY),
        np.zeros(n_arms, np.int64),
        np.zeros(1, COUNTS),
    )


@jit
def forget(state: Restarted, arm: int) -> None:
    """Restart an arm, except for the policy's own state."""
    recent = state.recent
    recent.pulls[arm], recent.means[arm], recent.sums[arm], recent.carry[arm] = 0, 0.0, 0.0, 0.0
    recent.lows[arm], recent.highs[arm] = np.inf, -np.inf
    memory = state.memory[arm]
    memory.mean, memory.risen, memory.fallen = 0.0, 0.0, 0.0
    state.restarts[arm] = state.counts[0].rewards


@implements(verbs.update, RestartingParams, ClockedRestartingParams)
def observe(policy: Any, state: Restarted, arm: int, reward: float, rng: np.random.Generator) -> Restarted:
    """Count the reward and test the arm; after an alarm, rebuild the policy's state from the remaining rewards."""
    state.pulls[arm] += 1
    state.counts[0].rewards += 1
    recent = append(state.recent, arm, reward, reward)
    inner, n_arms = state.inner, state.pulls.size
    first, last, begin = arm, arm + 1, recent.pulls[arm] - 1
    state = Restarted(state.pulls, inner, recent, state.memory, state.restarts, state.counts)
    if alarm(policy.detector, recent, state.memory, arm):
        state.counts[0].last_alarm = state.counts[0].rewards
        state.counts[0].alarms += 1
        for k in range(n_arms):
            if k == arm or not policy.local:
                forget(state, k)
        inner, first, last, begin = verbs.init(policy.policy, n_arms), 0, n_arms, 0
    for k in range(first, last):  # one call of the inlined verb: the new reward, or all that are kept
        for i in range(begin, recent.pulls[k]):
            inner = verbs.update(policy.policy, inner, k, recent.pool[recent.start[k] + i], rng)
    return Restarted(state.pulls, inner, recent, state.memory, state.restarts, state.counts)


@jit
def forced_arm(policy: Any, state: Restarted) -> int:
    """Return the arm due by the schedule, which covers K of every floor(K / omega) decisions, or -1 if none is."""
    if policy.scheduled == AT_RANDOM:
        return -1
    n_arms, clock = state.pulls.size, state.counts[0].rewards
    if policy.scheduled == SINCE_ALARM:
        clock -= state.counts[0].last_alarm
    place = clock % max(n_arms, int(n_arms / omega(policy, state)))
    return place if place < n_arms else -1


@jit
def omega(policy: Any, state: Restarted) -> float:
    """Return the probability that the next decision explores."""
    since = state.counts[0].rewards - state.counts[0].last_alarm
    return exploration_rate(policy.rate, state.pulls.size, since, state.counts[0].alarms)


@jit
def explored(policy: Any, state: Restarted, rng: np.random.Generator) -> Ints:
    """Return the arms to pull before the policy decides: one to explore, those without enough rewards, or none.

    If there is more than one first pull, first pulls come before exploration.
    """
    n_arms = state.pulls.size
    arms, n = np.empty(n_arms, np.int64), 0
    for arm in range(n_arms):
        if state.recent.pulls[arm] < policy.first:
            arms[n] = arm
            n += 1
    if n == 0 or policy.first == 1:
        explorer = -1
        if policy.scheduled != AT_RANDOM:
            explorer = forced_arm(policy, state)
        elif rng.random() < omega(policy, state):
            explorer = int(rng.random() * n_arms)
        if explorer >= 0:
            arms[0] = explorer
            return arms[:1]
    shuffle(arms[:n], rng)
    return arms[:n]


@jit
def clocked_indices(policy: Any, state: Restarted, rng: Any) -> Floats:
    """Return the index of every arm, each with its own clock; also an entry point, where ``rng`` may be None."""
    _, best_mean = overview(state.inner)
    values = np.empty(state.pulls.size)
    for arm in range(state.pulls.size):
        clock = state.counts[0].rewards - state.restarts[arm]
        values[arm] = verbs.index(policy.policy, state.inner, arm, clock, best_mean, rng)
    return values


@implements(verbs.select, RestartingParams)
def explore_or_ask(policy: RestartingParams, state: Restarted, rng: np.random.Generator) -> Ints:
    """Explore, or let the policy decide from what it remembers."""
    arms = explored(policy, state, rng)
    if arms.size == 0:
        arms = as_round(verbs.select(policy.policy, state.inner, rng), np.empty(1, np.int64))
    return arms


@implements(verbs.select, ClockedRestartingParams)
def explore_or_compare(policy: ClockedRestartingParams, state: Restarted, rng: np.random.Generator) -> Ints:
    """Explore, or pull the arm with the largest index, where each arm has its own clock."""
    arms = explored(policy, state, rng)
    if arms.size == 0:
        best, largest, ties = 0, -np.inf, 0
        for arm, value in enumerate(clocked_indices(policy, state, rng)):
            best, largest, ties = larger(best, largest, ties, arm, value, rng)
        arms = np.full(1, best)
    return arms


def next_exploration(policy: Any, state: Restarted) -> tuple[float, int]:
    """Return the probability that the next decision explores, and the arm due by the schedule; an entry point."""
    return omega(policy, state), forced_arm(policy, state)


def restarting_propensities(policy: Any, state: Restarted) -> Floats:
    """Return (1 - omega) p + omega / K with the restarted policy's propensities p, or 0 and 1 by the schedule.

    Arms without enough rewards since the last restart are pulled together in one round.
    """
    params, n_arms = policy.params, len(state.pulls)
    rate, forced = specialized(next_exploration, params)(params, state)
    fresh = np.asarray(state.recent.pulls < params.first, np.float64)
    if fresh.any() and params.first > 1:
        return fresh
    if forced >= 0:
        return np.asarray(np.arange(n_arms) == forced, np.float64)
    own = fresh if fresh.any() else _own_propensities(policy, params, state)
    return own if params.scheduled != AT_RANDOM else (1.0 - rate) * own + rate / n_arms


def _own_propensities(policy: Any, params: Any, state: Restarted) -> Floats:
    """Return the propensities of the restarted policy, if all arms have a reward since their last restart."""
    rule = rule_of(policy.policy)
    if rule is index_propensities and isinstance(params, ClockedRestartingParams):
        values = specialized(clocked_indices, params)(params, state, None)
        largest = values == values.max()
        return np.asarray(largest / largest.sum())
    return rule(policy.policy, state.inner)


register(Restarting, probability=restarting_propensities, from_histories=ORDER_MATTERS)
