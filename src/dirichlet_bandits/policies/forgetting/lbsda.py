"""SW-LB-SDA: duels on the leader's most recent rewards, in a sliding window (Baudry, Russac and Cappé, ICML 2021).

The paper counts rounds, and chooses a leader once per round. In a live study, rewards come late and rounds overlap, so
here the leader is chosen whenever a reward arrives, and decisions are counted in place of rounds.
"""

from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.tally import count, new_tally, shuffle, unpulled
from dirichlet_bandits.engine.verbs import implements, init, note, select, update
from dirichlet_bandits.policies.forgetting.ring import LONGEST, decisions_made, expect, new_ring, remember
from dirichlet_bandits.policies.growth import Growth, slow_growth
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.types import Flags, Floats, Ints, Records
from dirichlet_bandits.validation import whole_number

LEAD: Final = np.dtype(
    [
        ("leader", np.int64),
        ("since", np.int64),  # the number of decisions when it took the lead
    ]
)
_NOBODY: Final = -1


class SWLBSDAParams(NamedTuple):
    """The number of decisions that are remembered."""

    window: int


class Contest(NamedTuple):
    """The fields of a ``Ring``, and ``lead``, one record of ``LEAD``."""

    pulls: Ints
    arms: Ints
    rewards: Floats
    clock: Records
    lead: Records


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

    def __post_init__(self) -> None:
        whole_number("window", self.window, 1, LONGEST)

    @property
    def params(self) -> SWLBSDAParams:
        return SWLBSDAParams(int(self.window))


@implements(init, SWLBSDAParams)
def no_leader_yet(policy: SWLBSDAParams, n_arms: int) -> Contest:
    """Return a state without rewards."""
    pulls, arms, rewards, clock = new_ring(n_arms, policy.window)
    lead = np.zeros(1, LEAD)
    lead[0].leader = _NOBODY
    return Contest(pulls, arms, rewards, clock, lead)


@implements(note, SWLBSDAParams)
def expect_reward(policy: SWLBSDAParams, state: Contest, decision: int, now: int) -> None:
    """Advance the time, and assign the next reward to this decision."""
    expect(state, decision, now)


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
def leaders(state: Contest) -> Ints:
    """Return the leader, or all arms that tie for the lead."""
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
    leader = one_of(leaders(state), rng)
    enough = state.pulls.size * state.pulls[arm] >= state.pulls.sum()
    if known and arm != leader and enough and ahead(state, arm, leader) > 0:
        leader = arm
    if leader != state.lead[0].leader:
        state.lead[0].leader, state.lead[0].since = leader, decisions_made(state)
    return state


@jit
def winners_against(policy: SWLBSDAParams, state: Contest, leader: int) -> Flags:
    """Mark the arms to pull next if this arm leads and every arm has a reward."""
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
    winners = np.flatnonzero(winners_against(policy, state, one_of(leaders(state), rng)))
    shuffle(winners, rng)
    return winners
