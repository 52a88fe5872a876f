"""Duels with rewards drawn without replacement: WR-SDA and BESA.

To draw n rewards, Fisher and Yates' shuffle is stopped after n steps, or as soon as the rewards still to be drawn
cannot change who wins. WR-SDA then undoes its steps, so that the rewards need not be copied for each duel. Random
numbers come from a separate stream (``further_words``), two per word, mixed where they are used; calling the generator
for each of them would take four times as long.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit, shared
from dirichlet_bandits.engine.history import History, keeps_rewards, rewards
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.verbs import duel, implements, select
from dirichlet_bandits.numerics.tolerances import LAST_BITS, SUBSET_ROUNDING
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.policies.rounds import duel_round
from dirichlet_bandits.policies.subsampling.blocks import FAMILY, SubsamplingPolicy, mean_from, wins_untried
from dirichlet_bandits.seeding import further_words, mixed
from dirichlet_bandits.types import Floats, Ints, Words

UNCOUNTABLE: Final = (
    "a policy with exact propensities: its duels would take a count of all subsets of an arm's rewards; "
    "RBSDA, LBSDA, LDSSDA and SSMC have them"
)
_TIES: Final = {"challenger": 0, "random": 1}
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(2**32 - 1)
_BEYOND: Final = np.uint64(2**32)


class SubsetParams(NamedTuple):
    """The function of forced exploration, and the probability that the challenger wins a tie."""

    forced: int
    tie: float


class KnockoutParams(NamedTuple):
    """The probability that the arm with fewer rewards wins a tie."""

    tie: float


@dataclass(frozen=True)
class WRSDA(SubsamplingPolicy):
    """Duels of equal sample sizes: the challenger's mean against rewards of the leader drawn without replacement.

    The challenger with n rewards wins if its mean is at least that of n of the leader's rewards, where all choices of n
    rewards are equally probable. ``forced`` is the same as in :class:`RBSDA`. With ``ties="random"``, a coin decides
    between equal means, as in the authors' program. The exact probability of a win would take a count of all choices,
    so live studies, which record propensities, refuse this policy.

    >>> WRSDA()
    WRSDA(forced=None, ties='challenger')

    Reference: Baudry, Kaufmann and Maillard, NeurIPS 2020.
    """

    ties: Literal["challenger", "random"] = "challenger"
    assumes: ClassVar[str] = f"{FAMILY}; simulations only, no exact propensities"
    reference: ClassVar[str] = "Baudry, Kaufmann and Maillard (2020)"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("ties", self.ties, _TIES)

    @property
    def params(self) -> SubsetParams:
        return SubsetParams(self._growth(), 0.5 if self.ties == "random" else 1.0)


@dataclass(frozen=True)
class BESA(Policy):
    """A knockout tournament in which each duel compares means of equally many rewards, drawn without replacement.

    If two arms have m <= n rewards, a duel compares all m rewards of the first with m of the second, drawn without
    replacement. The larger mean wins; a tie goes to the arm with fewer rewards, then to either arm. With more arms, the
    winners of pairs meet again, in an order drawn for each pull; an odd arm out advances. The overall winner is pulled.
    With ``ties="random"``, a coin decides every tie.

    With more than two arms, or with skewed rewards, the regret may be linear, so use this policy only for comparison.
    Live studies refuse it for the same reason as :class:`WRSDA`.

    >>> BESA()
    BESA(ties='fewer')

    Reference: Baransi, Maillard and Mannor, Sub-sampling for multi-armed bandits, ECML-PKDD 2014.
    """

    ties: Literal["fewer", "random"] = "fewer"
    assumes: ClassVar[str] = "proved for two arms with balanced distributions; simulations only, no exact propensities"
    reference: ClassVar[str] = "Baransi, Maillard and Mannor (2014)"

    def __post_init__(self) -> None:
        choice("ties", self.ties, {"fewer": 0, "random": 1})

    @property
    def params(self) -> KnockoutParams:
        return KnockoutParams(0.5 if self.ties == "random" else 1.0)


keeps_rewards(SubsetParams, KnockoutParams)


@shared
def draw_to_front(rewards: Floats, n: int, low: float, bar: float, words: Words, places: Words) -> tuple[float, int]:
    """Draw n rewards without replacement, and return the sum of their distances from ``low`` and how many were moved.

    They are moved to the front; ``places`` has room for one more than n, and gets the place where each was found. The
    draws end soon after the sum exceeds ``bar``; an odd n must be below the number of rewards. Each word gives two
    draws: a uniform number below k is the upper half of k times 32 random bits, except for a few words that would bias
    it.

    Reference: Lemire, Fast random integer generation in an interval, 2019.
    """
    a, b, c, counter = words[0], words[1], words[2], words[3]
    # A signed index might count from the end, and compiled code would check that each time.
    here, last, end, one = np.uint64(0), np.uint64(n), np.uint64(rewards.size), np.uint64(1)
    distance, before, there = 0.0, 0.0, here
    while here < last and distance <= bar:
        word, a, b, c, counter = mixed(a, b, c, counter)
        left = end - here
        first, second = (word & _LOW_HALF) * left, (word >> _HALF) * (left - one)
        rest, other = first & _LOW_HALF, second & _LOW_HALF
        if (rest >= end or rest >= _BEYOND % left) and (other >= end or other >= _BEYOND % (left - one)):
            for product in (first, second):
                there = here + (product >> _HALF)
                reward, places[here] = rewards[there], there
                rewards[there] = rewards[here]
                rewards[here] = reward
                before = distance
                distance += reward - low
                here += one
    words[0], words[1], words[2], words[3] = a, b, c, counter
    if here <= last:
        return distance, int(here)
    rewards[last], rewards[there] = rewards[there], rewards[last]  # n is odd: the last draw does not count
    return before, n


@jit
def put_back(rewards: Floats, places: Words, moved: int) -> None:
    """Undo the moves of :func:`draw_to_front`."""
    for here in range(moved - 1, -1, -1):
        there = places[here]
        rewards[here], rewards[there] = rewards[there], rewards[here]


@jit
def lead_over_subset(state: History, few: int, many: int, rewards: Floats, words: Words, restore: bool) -> float:
    """Return the mean of the arm with fewer rewards minus that of as many of the other arm's, or a number of this sign.

    ``rewards`` are those of the other arm, in any order; draws change it unless they are to ``restore`` it. If the
    distances of the drawn rewards from the minimum exceed n (mean - low) in total, the rewards still to be drawn cannot
    compensate. There is a margin for the rounding of the sum, and of the mean where rewards are far from 0.
    """
    n, mean, low, high = state.pulls[few], state.means[few], state.lows[many], state.highs[many]
    if low == high:
        return mean - low
    margin = SUBSET_ROUNDING * (high - low) + LAST_BITS * max(abs(low), abs(high))
    bar = n * (mean - low + margin)
    places = np.empty(n + 1, np.uint64)
    distance, moved = draw_to_front(rewards, n, low, bar, words, places)
    if restore:
        put_back(rewards, places, moved)
    return mean - mean_from(low, distance, n) if distance <= bar else -math.inf


@jit
def wins_by(lead: float, tie: float, rng: np.random.Generator) -> bool:
    """Whether a duel with this lead is won, where ``tie`` is the probability of winning with a lead of 0."""
    return lead > 0.0 or (lead == 0.0 and (tie == 1.0 or rng.random() < tie))


@jit
def tournament(tie: float, state: History, pool: Floats, arms: Ints, words: Words, rng: np.random.Generator) -> None:
    """Hold BESA's knockout tournament in a random order of all arms; the winner is ``arms[0]``.

    ``pool`` is a copy of that of the state, because the rewards change their places.
    """
    state, pool = borrowed(state), borrowed(pool)
    pulls, means = state.pulls, state.means
    left = arms.size
    for arm in range(left):
        arms[arm] = arm
    shuffle(arms, rng)
    while left > 1:
        for pair in range(left // 2):
            few, many = arms[2 * pair], arms[2 * pair + 1]
            if pulls[few] > pulls[many]:
                few, many = many, few
            if pulls[few] == pulls[many]:
                wins = wins_by(means[few] - means[many], 0.5, rng)
            else:
                first = state.start[many]
                rewards = pool[first : first + pulls[many]]
                wins = wins_by(lead_over_subset(state, few, many, rewards, words, False), tie, rng)
            arms[pair] = few if wins else many
        if left % 2 == 1:
            arms[left // 2] = arms[left - 1]
        left = (left + 1) // 2


@implements(duel, SubsetParams)
def subset_duel(policy: SubsetParams, state: History, challenger: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the challenger's mean reaches that of as many rewards of the leader, drawn without replacement."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return True
    lead = lead_over_subset(state, challenger, leader, rewards(state, leader), further_words(rng), True)
    return wins_by(lead, policy.tie, rng)


implements(select, SubsetParams)(duel_round)


@implements(select, KnockoutParams)
def select_by_knockout(policy: KnockoutParams, state: History, rng: np.random.Generator) -> Ints:
    """Return the winner of the tournament."""
    arms = np.empty(state.pulls.size, np.int64)
    tournament(policy.tie, state, state.pool.copy(), arms, further_words(rng), rng)
    return arms[:1]
