"""Policies for arms that change, which forget old rewards: SlidingWindow, Discounted and SW-LB-SDA.

Their state is the ring of the last decisions (``policies/ring.py``).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.loop import as_round
from dirichlet_bandits.engine.tally import count, new_tally, shuffle, unpulled
from dirichlet_bandits.engine.verbs import implements, init, note, select, specialized, update
from dirichlet_bandits.environments.objective import Mean
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.growth import Growth, slow_growth
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import ORDER_MATTERS, AroundListed, register, registration, rule_of
from dirichlet_bandits.policies.ring import (
    LONGEST,
    Ring,
    decisions_made,
    discounted_state,
    expect,
    new_ring,
    remember,
    select_discounted,
)
from dirichlet_bandits.types import Flags, Floats, Ints, Records
from dirichlet_bandits.validation import finite_number, whole_number

LEAST_WEIGHT: Final = 1e-6
"""Discounted rewards with a smaller weight are dropped: at most 1e-6 / (1 - gamma) of all weight."""

_NOBODY: Final = -1
LEAD: Final = np.dtype(
    [
        ("leader", np.int64),
        ("since", np.int64),  # the number of decisions when it took the lead
    ]
)


class SlidingWindowParams(NamedTuple):
    """Parameters of the inner policy, and the number of decisions that it sees."""

    inner: Any
    window: int


class DiscountedParams(NamedTuple):
    """Parameters of the inner policy, the discount per decision, and the number of decisions that have a weight."""

    inner: Any
    gamma: float
    window: int


class SWLBSDAParams(NamedTuple):
    """The number of decisions that are remembered."""

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
    example_parameters: ClassVar = {"window": 100}

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("window", self.window, 1, LONGEST)

    @property
    def params(self) -> SlidingWindowParams:
        return SlidingWindowParams(self.policy.params, int(self.window))


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
    example_parameters: ClassVar = {"gamma": 0.9}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.policy.objective, Mean):
            raise ArgumentError("policy", "an RDS without a level, or another policy", self.policy)
        if not 0 < finite_number("gamma", self.gamma) < 1 or _memory(self.gamma) > LONGEST:
            raise ArgumentError("gamma", f"above 0 and at most 1 - {_FINEST:.1e}", self.gamma)

    @property
    def params(self) -> DiscountedParams:
        return DiscountedParams(self.policy.params, float(self.gamma), _memory(self.gamma))


@dataclass(frozen=True)
class SWLBSDA(Policy):
    """Last-block sub-sampling duels in a window: only the rewards of the last ``window`` decisions count.

    With N_k rewards of arm k in the window, n = sum_k N_k and K arms:

    * The leader keeps the lead while N_leader >= n / (2K); without a leader, the arm with the most rewards leads. An
      arm whose reward has just arrived takes the lead if it has more rewards than the leader, and at least n / K.
    * A challenger wins if N_k < (log window)^(1/3), or if its mean reaches that of the last min(N_k, N_leader) rewards
      of the leader.
    * If the leader has led for D = (K - 1) (log window)^2 decisions and was not pulled in the last D decisions, then
      every other arm that was not pulled in the last D decisions and has at most (log window)^2 rewards also wins.

    All winners are pulled; if there are none, the leader is pulled. Arms without a reward in the window come first.
    With G changes in T decisions, the paper uses ``window = 2 sqrt(T log T / G)``.

    >>> SWLBSDA(window=400)
    SWLBSDA(window=400)

    Reference: Baudry, Russac and Cappé, On limited-memory subsampling strategies for bandits, ICML 2021.
    """

    window: int
    assumes: ClassVar[str] = "all arms in one exponential family; their parameters may change over time"
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Baudry, Russac and Cappé (2021)"
    example_parameters: ClassVar = {"window": 100}

    def __post_init__(self) -> None:
        whole_number("window", self.window, 1, LONGEST)

    @property
    def params(self) -> SWLBSDAParams:
        return SWLBSDAParams(int(self.window))


def _memory(gamma: float) -> int:
    """Return how many of the last decisions have a weight of at least 1e-6.

    >>> _memory(0.5), 0.5**19 > LEAST_WEIGHT > 0.5**20
    (20, True)
    """
    return 1 + math.floor(math.log(LEAST_WEIGHT) / math.log(gamma))


_FINEST: Final = -math.log(LEAST_WEIGHT) / LONGEST


@implements(init, SlidingWindowParams, DiscountedParams)
def nothing_yet(policy: Any, n_arms: int) -> Ring:
    """Return a state without rewards."""
    return new_ring(n_arms, policy.window)


@implements(note, SlidingWindowParams, DiscountedParams, SWLBSDAParams)
def expect_reward(policy: Any, state: Any, decision: int, now: int) -> None:
    """Advance the time, and assign the next reward to this decision."""
    expect(state, decision, now)


@implements(update, SlidingWindowParams, DiscountedParams, random=False)
def remember_reward(policy: Any, state: Ring, arm: int, reward: float, rng: np.random.Generator) -> Ring:
    """Store the reward of its decision."""
    remember(state, arm, reward)
    return state


@jit
def state_in_window(policy: SlidingWindowParams, state: Ring) -> Any:
    """Return the state of an inner policy that has seen only the window; also an entry point.

    Its rewards are shown arm by arm, because the order of the arms does not matter to the policies that it may be.
    """
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
    inner = verbs.init(policy.inner, n_arms)
    for arm in range(n_arms):
        for i in range(first[arm], first[arm + 1]):
            inner = verbs.update(policy.inner, inner, arm, values[i], None)
    return inner


@implements(select, SlidingWindowParams)
def select_in_window(policy: SlidingWindowParams, state: Ring, rng: np.random.Generator) -> Ints:
    """Return all arms without a reward in the window; if there are none, the inner policy's selection."""
    absent = unpulled(state.pulls, rng)
    if absent.size > 0:
        return absent
    return as_round(verbs.select(policy.inner, state_in_window(policy, state), rng), np.empty(1, np.int64))


@implements(select, DiscountedParams)
def select_by_weights(policy: DiscountedParams, state: Ring, rng: np.random.Generator) -> Ints:
    """Return all arms without a weighted reward; if there are none, the inner policy's selection."""
    absent = unpulled(state.pulls, rng)
    if absent.size > 0:
        return absent
    return as_round(select_discounted(policy.inner, policy, state, rng), np.empty(1, np.int64))


def window_propensities(policy: SlidingWindow, state: Ring) -> Floats:
    """Return the inner policy's propensities in the window."""
    return rule_of(policy.policy)(policy.policy, specialized(state_in_window, policy.params)(policy.params, state))


def discounted_propensities(policy: Discounted, state: Ring) -> Floats:
    """Return the inner policy's propensities for the discounted rewards."""
    own = registration(policy.policy).discounted
    if own is not None:
        return own(policy, state)
    return rule_of(policy.policy)(policy.policy, specialized(discounted_state, policy.params)(policy.params, state))


def within_the_window(policy: SlidingWindow, histories: list[Floats]) -> Floats:
    """Return the inner policy's propensities for histories that fit in the window."""
    n = sum(x.size for x in histories)
    if n > policy.window:
        expected = f"at most {policy.window} rewards, the window, because the order of more is not known"
        raise ArgumentError("histories", expected, n)
    state = policy.init(len(histories))
    rng = np.random.default_rng(0)  # nothing is drawn from it
    for arm, x in enumerate(histories):
        for reward in x:
            state = policy.update(state, arm, float(reward), rng)
    return window_propensities(policy, state)


# SW-LB-SDA. The paper counts rounds, and chooses a leader once per round. In a live study, rewards come late and rounds
# overlap, so here the leader is chosen whenever a reward arrives, and decisions are counted in place of rounds.


class Contest(NamedTuple):
    """The fields of a ``Ring``, and ``lead``, one record of ``LEAD``."""

    pulls: Ints
    arms: Ints
    rewards: Floats
    clock: Records
    lead: Records


@implements(init, SWLBSDAParams)
def no_leader_yet(policy: SWLBSDAParams, n_arms: int) -> Contest:
    """Return a state without rewards."""
    pulls, arms, rewards, clock = new_ring(n_arms, policy.window)
    lead = np.zeros(1, LEAD)
    lead[0].leader = _NOBODY
    return Contest(pulls, arms, rewards, clock, lead)


@jit
def sum_in_window(state: Contest, arm: int) -> float:
    """Return the sum of the arm's rewards."""
    total = 0.0
    for place in range(state.arms.size):
        if state.arms[place] == arm:
            total += state.rewards[place]
    return total


@jit
def ahead(state: Contest, arm: int, other: int) -> int:
    """Return 1 if the arm has more rewards than the other, or as many and a larger sum; 0 if both tie, else -1."""
    if state.pulls[arm] != state.pulls[other]:
        return 1 if state.pulls[arm] > state.pulls[other] else -1
    first, second = sum_in_window(state, arm), sum_in_window(state, other)
    return 0 if first == second else 1 if first > second else -1


@jit
def leads(state: Contest) -> bool:
    """Whether the last leader still has enough rewards."""
    leader = state.lead[0].leader
    return leader != _NOBODY and 2 * state.pulls.size * state.pulls[leader] >= max(state.pulls.sum(), 1)


@jit
def leaders(policy: SWLBSDAParams, state: Contest) -> Ints:
    """Return the leader, or all arms that tie for the lead; also an entry point."""
    if leads(state):
        return np.full(1, state.lead[0].leader)
    found, n = np.zeros(state.pulls.size, np.int64), 1
    for arm in range(1, state.pulls.size):
        order = ahead(state, arm, found[0])
        if order > 0:
            n = 0
        if order >= 0:
            found[n] = arm
            n += 1
    return found[:n]


@jit
def one_of(arms: Ints, rng: np.random.Generator) -> int:
    """Return one of these arms at random."""
    return arms[0] if arms.size == 1 else arms[int(rng.random() * arms.size)]


@implements(update, SWLBSDAParams)
def learn(policy: SWLBSDAParams, state: Contest, arm: int, reward: float, rng: np.random.Generator) -> Contest:
    """Store the reward and update the leader."""
    known = remember(state, arm, reward)
    leader = one_of(leaders(policy, state), rng)
    enough = state.pulls.size * state.pulls[arm] >= state.pulls.sum()
    if known and arm != leader and enough and ahead(state, arm, leader) > 0:
        leader = arm
    if leader != state.lead[0].leader:
        state.lead[0].leader, state.lead[0].since = leader, decisions_made(state)
    return state


@jit
def winners_against(policy: SWLBSDAParams, state: Contest, leader: int) -> Flags:
    """Mark the arms to pull next if this arm leads and every arm has a reward; also an entry point."""
    n_arms, size, now = state.pulls.size, state.arms.size, decisions_made(state)
    tally, age = new_tally(n_arms), np.zeros(n_arms, np.int64)
    blocks = np.empty(state.pulls[leader] + 1)  # means of the leader's last rewards
    place = (now - 1) % size  # of the newest decision
    for i in range(min(now, size)):
        arm = state.arms[place]
        if arm >= 0:
            if tally.pulls[arm] == 0:
                age[arm] = i
            count(tally, arm, state.rewards[place])
            if arm == leader:
                blocks[tally.pulls[arm]] = tally.means[arm]
        place = place - 1 if place > 0 else size - 1
    few, many = slow_growth(Growth.CBRT_LOG, float(size)), slow_growth(Growth.LOG2, float(size))
    wait = int((n_arms - 1) * many)
    stuck = leader == state.lead[0].leader and now - state.lead[0].since >= wait and age[leader] >= wait
    wins, nobody = np.zeros(n_arms, np.bool_), True
    for arm in range(n_arms):
        n = tally.pulls[arm]
        wins[arm] = arm != leader and (n < few or tally.means[arm] >= blocks[min(n, tally.pulls[leader])])
        wins[arm] |= arm != leader and stuck and age[arm] >= wait and n <= many
        nobody &= not wins[arm]
    wins[leader] = nobody
    return wins


@implements(select, SWLBSDAParams)
def duel_in_window(policy: SWLBSDAParams, state: Contest, rng: np.random.Generator) -> Ints:
    """Return all arms without a reward in the window; if there are none, the winners, in random order."""
    absent = unpulled(state.pulls, rng)
    if absent.size > 0:
        return absent
    winners = np.flatnonzero(winners_against(policy, state, one_of(leaders(policy, state), rng)))
    shuffle(winners, rng)
    return winners


def duel_propensities(policy: SWLBSDA, state: Contest) -> Floats:
    """Return 1 for the winners, averaged over the arms that may be the leader; nothing else is random."""
    possible = specialized(leaders, policy.params)(policy.params, state)
    wins = specialized(winners_against, policy.params)
    return np.mean([wins(policy.params, state, leader) for leader in possible], axis=0)


register(SlidingWindow, probability=window_propensities, from_histories=within_the_window)
register(Discounted, probability=discounted_propensities, from_histories=ORDER_MATTERS)
register(SWLBSDA, probability=duel_propensities, from_histories=ORDER_MATTERS)
