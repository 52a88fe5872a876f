"""Forgetting around another policy: a sliding window, or discounted rewards."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.loop import as_round
from dirichlet_bandits.engine.tally import Tally, count_while, new_tally, unpulled
from dirichlet_bandits.engine.verbs import has_own, implements, init, note, select, update, verb
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.forgetting.ring import LONGEST, Ring, decisions_made, expect, new_ring, remember
from dirichlet_bandits.policies.wrapping import AroundListed
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import finite_number, whole_number

LEAST_WEIGHT: Final = 1e-6
"""Discounted rewards with a smaller weight are dropped: at most 1e-6 / (1 - gamma) of all weight."""


class SlidingWindowParams(NamedTuple):
    """Parameters of the inner policy, and the number of decisions that it sees."""

    inner: Any
    window: int


class SlidingTallyParams(NamedTuple):
    """The same for an inner policy that remembers only counts and means."""

    inner: Any
    window: int


class DiscountedParams(NamedTuple):
    """Parameters of the inner policy, the discount per decision, and the number of decisions that have a weight."""

    inner: Any
    gamma: float
    window: int


class DiscountedNPTSParams(NamedTuple):
    """Parameters of discounted NPTS."""

    inner: Any
    gamma: float
    window: int


class DiscountedRDSParams(NamedTuple):
    """Parameters of discounted RDS."""

    inner: Any
    gamma: float
    window: int


@dataclass(frozen=True)
class SlidingWindow(AroundListed):
    """A wrapper that shows another policy only the rewards of the last ``window`` decisions, over all arms.

    Where the inner policy counts all pulls, it counts those in the window: SW-UCB and SW-klUCB explore at the level log
    min(t, window). An arm without a reward in the window is pulled before the inner policy decides, and at each
    decision until one of its rewards arrives, so the window should be much longer than the delay of rewards. With G
    changes in T decisions, a common choice is ``window = 2 sqrt(T log T / G)``.

    The inner policy is UCB1, KLUCB, ThompsonSampling, NPTS or RDS. NPTS and RDS in a window are experimental: nothing
    is published about them.

    >>> from dirichlet_bandits import KLUCB
    >>> SlidingWindow(KLUCB("bernoulli"), window=400)
    SlidingWindow(policy=KLUCB(family='bernoulli', sigma=None), window=400)

    Reference: Garivier and Moulines, ALT 2011; for Thompson Sampling, Trovò, Paladino, Restelli and Gatti, JAIR 68,
    2020.
    """

    window: int
    assumes: ClassVar[str] = "what the inner policy assumes, within each window; experimental with NPTS and RDS"
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Garivier and Moulines (2011); Trovò et al. (2020)"
    wraps: ClassVar[tuple[str, ...]] = ("UCB1", "KLUCB", "ThompsonSampling", "NPTS", "RDS")

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("window", self.window, 1, LONGEST)

    @property
    def params(self) -> SlidingWindowParams | SlidingTallyParams:
        inner = self.policy.params
        tally = not has_own(init, type(inner)) and not has_own(update, type(inner))
        return (SlidingTallyParams if tally else SlidingWindowParams)(inner, int(self.window))


@dataclass(frozen=True)
class Discounted(AroundListed):
    """A wrapper around another policy in which the weight of a reward falls by the factor gamma with each decision.

    The inner policy uses

        N_k = sum_s gamma^(t - s),    mu_k = (1 / N_k) sum_s gamma^(t - s) X_s,

    summed over the decisions s for arm k, where t is the last decision. Where the inner policy counts all pulls, it
    counts sum_k N_k, but at least 1 in a logarithm. Rewards with a weight below 1e-6 are dropped; an arm without any
    other reward is pulled before the inner policy decides. A decision takes a pass over the last 14 / (1 - gamma)
    rewards. With G changes in T decisions, a common choice is ``gamma = 1 - sqrt(G / T) / 4``.

    The inner policy is UCB1, KLUCB, ThompsonSampling, NPTS or RDS without a level. For NPTS and RDS, the weights of the
    rewards are Dirichlet parameters, while the bound or bonus keeps a parameter of 1; RDS leads with the largest N_k,
    and N_k takes the place of n in its bonus. Discounted NPTS and RDS are experimental: nothing is published about
    them.

    >>> from dirichlet_bandits import ThompsonSampling
    >>> Discounted(ThompsonSampling("bernoulli"), gamma=0.99)
    Discounted(policy=ThompsonSampling(family='bernoulli', sigma=None), gamma=0.99)

    Reference: Garivier and Moulines, ALT 2011; for Thompson Sampling, Raj and Kalyani, arXiv:1707.09727, 2017.
    """

    gamma: float
    assumes: ClassVar[str] = (
        "what the inner policy assumes, over the last 1 / (1 - gamma) decisions or so; experimental with NPTS and RDS"
    )
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Garivier and Moulines (2011); Raj and Kalyani (2017)"
    wraps: ClassVar[tuple[str, ...]] = ("UCB1", "KLUCB", "ThompsonSampling", "NPTS", "RDS")

    def __post_init__(self) -> None:
        super().__post_init__()
        if getattr(self.policy, "level", None) is not None:
            raise ArgumentError("policy", "an RDS without a level, or another policy", self.policy)
        if not 0 < finite_number("gamma", self.gamma) < 1 or _memory(self.gamma) > LONGEST:
            raise ArgumentError("gamma", f"above 0 and at most 1 - {_FINEST:.1e}", self.gamma)

    @property
    def params(self) -> DiscountedParams | DiscountedNPTSParams | DiscountedRDSParams:
        kind = _DISCOUNTED.get(type(self.policy).__name__, DiscountedParams)
        return kind(self.policy.params, float(self.gamma), _memory(self.gamma))


_DISCOUNTED: Final[dict[str, Any]] = {"NPTS": DiscountedNPTSParams, "RDS": DiscountedRDSParams}


def _memory(gamma: float) -> int:
    """Return how many of the last decisions have a weight of at least 1e-6.

    >>> _memory(0.5), 0.5**19 > LEAST_WEIGHT > 0.5**20
    (20, True)
    """
    return 1 + math.floor(math.log(LEAST_WEIGHT) / math.log(gamma))


_FINEST: Final = -math.log(LEAST_WEIGHT) / LONGEST


_PARAMS: Final = (SlidingWindowParams, SlidingTallyParams, DiscountedParams, DiscountedNPTSParams, DiscountedRDSParams)


@implements(init, *_PARAMS)
def nothing_yet(policy: Any, n_arms: int) -> Ring:
    """Return a state without rewards."""
    return new_ring(n_arms, policy.window)


@implements(note, *_PARAMS)
def expect_reward(policy: Any, state: Ring, decision: int, now: int) -> None:
    """Advance the time, and assign the next reward to this decision."""
    expect(state, decision, now)


@implements(update, *_PARAMS)
def remember_reward(policy: Any, state: Ring, arm: int, reward: float, rng: np.random.Generator) -> Ring:
    """Store the reward of its decision."""
    remember(state, arm, reward)
    return state


@verb
def state_in_window(policy: Any, state: Ring, rng: np.random.Generator) -> Any:
    """Return the state of an inner policy that has seen only the window, in the order of the decisions."""


@implements(state_in_window, SlidingWindowParams)
def replayed(policy: SlidingWindowParams, state: Ring, rng: np.random.Generator) -> Any:
    """Show the inner policy all rewards of the window."""
    inner = verbs.init(policy.inner, state.pulls.size)
    size, oldest = state.arms.size, decisions_made(state) % state.arms.size
    for i in range(size):
        place = oldest + i if oldest + i < size else oldest + i - size
        if state.arms[place] >= 0:
            inner = verbs.update(policy.inner, inner, state.arms[place], state.rewards[place], rng)
    return inner


@implements(state_in_window, SlidingTallyParams)
def counted(policy: SlidingTallyParams, state: Ring, rng: np.random.Generator) -> Tally:
    """Count the rewards of one arm after the other, which gives the same sums in a quarter of the time."""
    n_arms, size, oldest = state.pulls.size, state.arms.size, decisions_made(state) % state.arms.size
    first = np.zeros(n_arms + 1, np.int64)
    for arm in range(n_arms):
        first[arm + 1] = first[arm] + state.pulls[arm]
    values, used = np.empty(first[n_arms]), first.copy()
    for i in range(size):
        place = oldest + i if oldest + i < size else oldest + i - size
        arm = state.arms[place]
        if arm >= 0:
            values[used[arm]] = state.rewards[place]
            used[arm] += 1
    tally = new_tally(n_arms)
    for arm in range(n_arms):
        count_while(tally, arm, values[first[arm] : first[arm + 1]], -math.inf, math.inf)
    return tally


class Weighted(NamedTuple):
    """Counts and means of the arms, where the counts are sums of weights."""

    pulls: Floats
    means: Floats


@jit
def discounted_state(policy: Any, state: Ring) -> Weighted:
    """Return the state of an inner policy in which each reward counts with its weight."""
    n_arms = state.pulls.size
    counts, means = np.zeros(n_arms), np.zeros(n_arms)
    origins, lows, highs = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    size, now, weight = state.arms.size, decisions_made(state), 1.0
    place = (now - 1) % size  # of the newest decision
    for _ in range(min(now, size)):
        arm, reward = state.arms[place], state.rewards[place]
        if arm >= 0:
            if counts[arm] == 0.0:
                origins[arm] = lows[arm] = highs[arm] = reward
            counts[arm] += weight
            means[arm] += weight * (reward - origins[arm])  # a distance: far from 0, digits would be lost
            lows[arm], highs[arm] = min(lows[arm], reward), max(highs[arm], reward)
        weight *= policy.gamma
        place = place - 1 if place > 0 else size - 1
    for arm in range(n_arms):
        if counts[arm] > 0.0:  # between the extremes, so that arms with equal rewards tie
            means[arm] = min(max(origins[arm] + means[arm] / counts[arm], lows[arm]), highs[arm])
    return Weighted(counts, means)


@implements(select, SlidingWindowParams, SlidingTallyParams)
def select_in_window(policy: Any, state: Ring, rng: np.random.Generator) -> Ints:
    """Return all arms without a reward in the window; if there are none, the inner policy's selection."""
    absent = unpulled(state.pulls, rng)
    if absent.size > 0:
        return absent
    return as_round(verbs.select(policy.inner, state_in_window(policy, state, rng), rng), np.empty(1, np.int64))


@implements(select, DiscountedParams)
def select_discounted(policy: DiscountedParams, state: Ring, rng: np.random.Generator) -> Ints:
    """Return all arms without a weighted reward; if there are none, the inner policy's selection."""
    absent = unpulled(state.pulls, rng)
    if absent.size > 0:
        return absent
    return as_round(verbs.select(policy.inner, discounted_state(policy, state), rng), np.empty(1, np.int64))
