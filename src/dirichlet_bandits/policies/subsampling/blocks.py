"""Duels on blocks of consecutive rewards: RB-SDA, LB-SDA and its limited memory, LDS-SDA and SSMC.

A challenger with n rewards meets n consecutive rewards of the leader. Their mean follows from two running sums, so a
duel with a given block costs the same however long the histories are: the mean of rewards 4 to 6 is (S_6 - S_3) / 3,
where S_i is the sum of the first i rewards.

SSMC compares a challenger with all blocks of the leader, and the probability that a random block is beaten is the share
of these blocks. Their number is kept in the state. As long as the leader stays the same and the challenger is not
pulled, only blocks that end with new rewards of the leader have to be compared.
"""

import math
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit, jit_inline
from dirichlet_bandits.engine.history import History, append, new_history, rewards
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import duel, implements, init, select, update
from dirichlet_bandits.policies.growth import Growth, slow_growth
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.policies.rounds import duel_round, win_probability
from dirichlet_bandits.types import Floats, Ints

ForcedName = Literal["sqrt-log", "cbrt-log"]
NOT_FORCED: Final = -1
FORCED: Final = {"sqrt-log": int(Growth.SQRT_LOG), "cbrt-log": int(Growth.CBRT_LOG)}
MEMORIES: Final = {"log2": int(Growth.LOG2)}
FAMILY: Final = "all arms in one exponential family, which need not be known"
_LEAST: Final = 10.0  # rewards that are kept in any case: what the authors take
_FIRST_ROOM: Final = 32


class Block(IntEnum):
    """Which of the leader's blocks the challenger meets: a random one, the last, one from a sequence, or all."""

    RANDOM = 0
    LAST = 1
    SEQUENCE = 2
    ANY = 3


class BlockParams(NamedTuple):
    """Which block the challenger meets, and the function of forced exploration."""

    block: int
    forced: int


class LimitedParams(NamedTuple):
    """The functions of forced exploration and of memory."""

    forced: int
    memory: int


class Blocks(NamedTuple):
    """Running sums of all rewards, and how many of the leader's blocks each challenger reaches.

    ``sums`` has them in place of the rewards. ``reached`` is for the blocks of the arm ``leader``, when the challenger
    had ``own`` and the leader had ``seen`` rewards.
    """

    pulls: Ints
    means: Floats
    sums: History
    reached: Ints
    leader: Ints
    own: Ints
    seen: Ints


class LastRewards(NamedTuple):
    """A tally, its pulls and means, and running sums of the last rewards of each arm.

    ``sums_of[k, begin[k] : begin[k] + sizes[k] + 1]`` are sums of distances from ``origin[k]``, the arm's first reward.
    The mean of its last n rewards follows from the last of them and the one n places before.
    """

    pulls: Ints
    means: Floats
    tally: Tally
    sums_of: Floats
    origin: Floats
    begin: Ints
    sizes: Ints


@dataclass(frozen=True)
class SubsamplingPolicy(Policy):
    """Duels on sub-samples; with ``forced``, a challenger with fewer than f(r) rewards in round r always wins.

    f(r) is sqrt(log r) or the cube root of log r. See :func:`round_number` for r.
    """

    forced: ForcedName | None = field(default=None, metadata={"later": True})

    _block: ClassVar[Block]

    def __post_init__(self) -> None:
        self._growth()

    def _growth(self) -> int:
        return NOT_FORCED if self.forced is None else choice("forced", self.forced, FORCED)

    @property
    def params(self) -> Any:
        return BlockParams(int(self._block), self._growth())


@dataclass(frozen=True)
class RBSDA(SubsamplingPolicy):
    """Duels of equal sample sizes: the challenger's mean against a random block of the leader's rewards.

    The challenger with n rewards wins if its mean is at least that of n consecutive rewards of the leader. The start of
    the block is uniform over all starts for which the block fits in the history.

    With ``forced="sqrt-log"``, a challenger with fewer than sqrt(log r) rewards in round r wins without a duel, and the
    policy is optimal for every one-parameter exponential family. ``"cbrt-log"`` uses the cube root of log r.

    >>> RBSDA()
    RBSDA(forced=None)

    Reference: Baudry, Kaufmann and Maillard, NeurIPS 2020.
    """

    assumes: ClassVar[str] = f"{FAMILY}: Bernoulli, Gaussian or Poisson, or any other with forced"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Baudry, Kaufmann and Maillard (2020)"
    _block: ClassVar[Block] = Block.RANDOM


@dataclass(frozen=True)
class LBSDA(SubsamplingPolicy):
    """Duels of equal sample sizes: the challenger's mean against the leader's last rewards.

    The challenger with n rewards wins if its mean is at least that of the last n rewards of the leader. Nothing is
    random except ties for the lead. ``forced`` is the same as in :class:`RBSDA`; the authors use ``"cbrt-log"``.

    ``memory="log2"`` limits the memory: an arm keeps its last max(10, (log r)^2) rewards, where r is the round of its
    last pull, and duels use only the rewards that are kept. Counts and the leader do not change.

    >>> LBSDA(forced="cbrt-log", memory="log2")
    LBSDA(forced='cbrt-log', memory='log2')

    Reference: Baudry, Russac and Cappé, On limited-memory subsampling strategies for bandits, ICML 2021.
    """

    memory: Literal["log2"] | None = None
    _block: ClassVar[Block] = Block.LAST
    assumes: ClassVar[str] = f"{FAMILY}; proved with forced"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Baudry, Russac and Cappé (2021)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory is not None:
            choice("memory", self.memory, MEMORIES)

    @property
    def params(self) -> BlockParams | LimitedParams:
        return super().params if self.memory is None else LimitedParams(self._growth(), MEMORIES[self.memory])


@dataclass(frozen=True)
class LDSSDA(SubsamplingPolicy):
    """Duels of equal sample sizes: the challenger's mean against a block that moves through the leader's rewards.

    The challenger with n rewards meets the leader's rewards s + 1, ..., s + n with s = ceil(u_r (N - n)), where N is
    the leader's number of rewards and u_r the r-th number of van der Corput's sequence, which fills [0, 1] evenly. This
    is a deterministic version of :class:`RBSDA`, with the same ``forced``.

    >>> LDSSDA()
    LDSSDA(forced=None)

    Reference: Baudry, Kaufmann and Maillard, NeurIPS 2020.
    """

    assumes: ClassVar[str] = FAMILY
    reference: ClassVar[str] = "Baudry, Kaufmann and Maillard (2020)"
    _block: ClassVar[Block] = Block.SEQUENCE


@dataclass(frozen=True)
class SSMC(SubsamplingPolicy):
    """Sub-sample mean comparison: the challenger's mean against all blocks of the leader's rewards.

    The challenger with n rewards wins if its mean is at least that of some n consecutive rewards of the leader.
    ``forced`` is the same as in :class:`RBSDA`; the theory of this policy requires it.

    >>> SSMC()
    SSMC(forced='sqrt-log')

    Reference: Chan, The multi-armed bandit problem: an efficient nonparametric solution, Annals of Statistics 2020.
    """

    forced: ForcedName | None = "sqrt-log"
    assumes: ClassVar[str] = FAMILY
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Chan (2020)"
    _block: ClassVar[Block] = Block.ANY


@jit
def round_number(pulls: Ints) -> int:
    """Return the number r of the next round, as if every round after the first had pulled one arm.

    The first round pulls all arms. With two arms, r is exact. With K arms and several winners in some rounds, the true
    number lies between r/K and r, which makes little difference to functions that grow as slowly as f. In a live study,
    rewards come in any order and rounds have no end, but the number of rewards is always known, so decisions depend
    only on the rewards.

    >>> import numpy as np
    >>> round_number(np.array([5, 2]))
    6
    """
    r = 1
    for arm in range(pulls.size):
        r += pulls[arm] - 1
    return r


@jit
def wins_untried(forced: int, pulls: Ints, challenger: int) -> bool:
    """Whether the challenger wins by forced exploration, without a duel."""
    return forced != NOT_FORCED and pulls[challenger] < slow_growth(forced, float(round_number(pulls)))


@jit
def van_der_corput(r: int) -> float:
    """Return the r-th number of van der Corput's sequence: the binary digits of r, mirrored at the point.

    >>> van_der_corput(1), van_der_corput(2), van_der_corput(3), van_der_corput(6)
    (0.5, 0.25, 0.75, 0.375)

    Reference: van der Corput (1935), Verteilungsfunktionen.
    """
    value, digit = 0.0, 0.5
    while r > 0:
        if r % 2 == 1:
            value += digit
        digit *= 0.5
        r //= 2
    return value


@jit
def block_start(block: int, u: float, n_leader: int, n: int) -> int:
    """Return the start of the block of n rewards; u in [0, 1) is uniform or from the sequence.

    >>> block_start(Block.SEQUENCE, 0.5, 8, 3)
    3
    """
    if block == Block.LAST:
        return n_leader - n
    return math.ceil(u * (n_leader - n)) if block == Block.SEQUENCE else int(u * (n_leader - n + 1))


@jit
def mean_from(origin: float, distance: float, n: int) -> float:
    """Return the mean of n rewards from the sum of their distances from one of them."""
    # So written whole numbers and their halves give the mean that adding them up would give: ties stay ties.
    return (n * origin + distance) / n if distance != 0.0 else origin


@jit
def running_sum(pool: Floats, first: int, n: int, reward: float) -> float:
    """Return what is stored after the n-th reward: the first reward itself, then sums of distances from it.

    Plain sums would lose the digits of rewards that are far from 0 and close to each other.
    """
    if n < 2:
        return reward if n == 0 else reward - pool[first]
    return pool[first + n - 1] + (reward - pool[first])


@jit
def block_mean(running: Floats, start: int, n: int) -> float:
    """Return the mean of n rewards from the start-th on, from the running sums of all rewards."""
    end = start + n - 1
    distance = (running[end] if end > 0 else 0.0) - (running[start - 1] if start > 1 else 0.0)
    return mean_from(running[0], distance, n)


@jit
def blocks_reached(running: Floats, mean: float, n: int, seen: int) -> int:
    """Return how many blocks of n rewards that end after the first ``seen`` rewards have at most this mean."""
    reached = 0
    for end in range(max(seen, n - 1), running.size):
        reached += mean >= block_mean(running, end - n + 1, n)
    return reached


@implements(init, BlockParams)
def no_blocks(policy: BlockParams, n_arms: int) -> Blocks:
    """Return a state without rewards."""
    sums, counts = new_history(n_arms), np.full((4, n_arms), -1)
    return Blocks(sums.pulls, sums.means, sums, counts[0], counts[1], counts[2], counts[3])


@implements(update, BlockParams, random=False)
@jit_inline
def remember_running_sum(
    policy: BlockParams, state: Blocks, arm: int, reward: float, rng: np.random.Generator
) -> Blocks:
    """Store the running sum that ends with this reward, and compare blocks if the policy needs their number."""
    sums = state.sums
    sums = append(sums, arm, reward, running_sum(sums.pool, sums.start[arm], sums.pulls[arm], reward))
    state = Blocks(sums.pulls, sums.means, sums, state.reached, state.leader, state.own, state.seen)
    if policy.block == Block.RANDOM or policy.block == Block.ANY:
        compare_new_blocks(state)
    return state


@jit
def compare_new_blocks(state: Blocks) -> None:
    """Bring the number of blocks that each challenger reaches up to date, for the arm with the most rewards."""
    state = borrowed(state)
    pulls, means, leader = state.pulls, state.means, 0
    for arm in range(1, pulls.size):
        if pulls[arm] > pulls[leader] or (pulls[arm] == pulls[leader] and means[arm] > means[leader]):
            leader = arm
    running = rewards(state.sums, leader)
    for arm in range(pulls.size):
        n = pulls[arm]
        if 0 < n < running.size:
            if state.leader[arm] != leader or state.own[arm] != n:
                state.leader[arm], state.own[arm], state.seen[arm], state.reached[arm] = leader, n, 0, 0
            state.reached[arm] += blocks_reached(running, means[arm], n, state.seen[arm])
            state.seen[arm] = running.size


@jit
def count_blocks(state: Blocks, challenger: int, leader: int) -> int:
    """Return how many blocks of the leader the challenger reaches; count them if another arm ties for the lead."""
    if state.leader[challenger] == leader and state.seen[challenger] == state.pulls[leader]:
        return state.reached[challenger]
    return blocks_reached(rewards(state.sums, leader), state.means[challenger], state.pulls[challenger], 0)


@jit_inline
def reaches_block(block: int, state: Blocks, challenger: int, leader: int, u: float) -> bool:
    """Whether the challenger's mean reaches that of its block; u in [0, 1) is uniform or from the sequence."""
    running, n = rewards(state.sums, leader), state.pulls[challenger]
    return state.means[challenger] >= block_mean(running, block_start(block, u, running.size, n), n)


@implements(duel, BlockParams)
def block_duel(policy: BlockParams, state: Blocks, challenger: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the challenger's mean reaches that of as many consecutive rewards of the leader."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return True
    if policy.block == Block.ANY:
        return count_blocks(state, challenger, leader) > 0
    u = 0.0
    if policy.block == Block.RANDOM:
        u = rng.random()
    elif policy.block == Block.SEQUENCE:
        u = van_der_corput(round_number(state.pulls))
    return reaches_block(policy.block, state, challenger, leader, u)


@implements(win_probability, BlockParams)
def block_win(policy: BlockParams, state: Blocks, challenger: int, leader: int) -> float:
    """Return the probability that the challenger wins: with a random block, a share, otherwise 0 or 1."""
    state = borrowed(state)
    if wins_untried(policy.forced, state.pulls, challenger):
        return 1.0
    if policy.block == Block.LAST or policy.block == Block.SEQUENCE:
        u = van_der_corput(round_number(state.pulls)) if policy.block == Block.SEQUENCE else 0.0
        return 1.0 if reaches_block(policy.block, state, challenger, leader, u) else 0.0
    reached = count_blocks(state, challenger, leader)
    if policy.block == Block.ANY:
        return 1.0 if reached > 0 else 0.0
    return reached / (state.pulls[leader] - state.pulls[challenger] + 1)


@implements(init, LimitedParams)
def keep_nothing_yet(policy: LimitedParams, n_arms: int) -> LastRewards:
    """Return a state without rewards."""
    tally = new_tally(n_arms)
    begin, sizes = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    sums_of, origin = np.zeros((n_arms, _FIRST_ROOM)), np.zeros(n_arms)
    return LastRewards(tally.pulls, tally.means, tally, sums_of, origin, begin, sizes)


@jit
def with_longer_rows(state: LastRewards, arm: int) -> LastRewards:
    """Make room for one more sum of the arm by copying what is kept to the front of rows four times as long."""
    first, n, room = state.begin[arm], state.sizes[arm], state.sums_of.shape[1]
    if first + n + 1 < room:
        return state
    pulls, means, tally, old, origin, begin, sizes = state
    new = np.zeros((pulls.size, max(room, 4 * n)))
    for k in range(pulls.size):
        for i in range(sizes[k] + 1):
            new[k, i] = old[k, begin[k] + i] - old[k, begin[k]]
        begin[k] = 0
    return LastRewards(pulls, means, tally, new, origin, begin, sizes)


@implements(update, LimitedParams, random=False)
def keep_the_last(
    policy: LimitedParams, state: LastRewards, arm: int, reward: float, rng: np.random.Generator
) -> LastRewards:
    """Add a reward; an arm that keeps enough rewards for this round drops its oldest."""
    r = max(round_number(state.pulls), 1)
    if state.pulls[arm] == 0:
        state.origin[arm] = reward
    if state.sizes[arm] >= max(_LEAST, slow_growth(policy.memory, float(r))):
        state.begin[arm] += 1
        state.sizes[arm] -= 1
    state = with_longer_rows(state, arm)
    last = state.begin[arm] + state.sizes[arm]
    state.sums_of[arm, last + 1] = state.sums_of[arm, last] + (reward - state.origin[arm])
    state.sizes[arm] += 1
    count(state.tally, arm, reward)
    return state


@jit
def mean_of_last(state: LastRewards, arm: int, n: int) -> float:
    """Return the mean of the arm's last n rewards, or of all rewards if none was dropped."""
    if n == state.pulls[arm]:
        return state.means[arm]
    last = state.begin[arm] + state.sizes[arm]
    return mean_from(state.origin[arm], state.sums_of[arm, last] - state.sums_of[arm, last - n], n)


@implements(win_probability, LimitedParams)
def reaches_the_last(policy: LimitedParams, state: LastRewards, challenger: int, leader: int) -> bool:
    """Whether the mean of the challenger's kept rewards reaches that of as many of the leader's last rewards."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return True
    n = state.sizes[challenger]
    return mean_of_last(state, challenger, n) >= mean_of_last(state, leader, min(n, state.sizes[leader]))


@implements(duel, LimitedParams)
def last_duel(
    policy: LimitedParams, state: LastRewards, challenger: int, leader: int, rng: np.random.Generator
) -> bool:
    """Return the same: nothing is random."""
    return reaches_the_last(policy, state, challenger, leader)


implements(select, BlockParams, LimitedParams)(duel_round)
