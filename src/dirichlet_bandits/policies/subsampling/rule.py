"""Sub-sampling duels: the challenger's mean against that of as many of the leader's rewards."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, keeps_rewards, no_rewards, rewards
from dirichlet_bandits.engine.verbs import duel, implements, init, select, update
from dirichlet_bandits.numerics.sequences import van_der_corput
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.policies.rounds import duel_round
from dirichlet_bandits.policies.subsampling.blocks import (
    Block,
    block_mean,
    block_start,
    blocks_reached,
    remember_running_sum,
)
from dirichlet_bandits.policies.subsampling.forced import FORCED, NOT_FORCED, ForcedName, round_number, wins_untried
from dirichlet_bandits.policies.subsampling.limited import MEMORIES, LimitedParams
from dirichlet_bandits.policies.subsampling.subsets import lead_over_subset, tournament, wins_by
from dirichlet_bandits.seeding import further_words
from dirichlet_bandits.types import Ints

_TIES = {"challenger": 0, "random": 1}
_FAMILY = "all arms in one exponential family, which need not be known"


class BlockParams(NamedTuple):
    """Which block the challenger meets, and the function of forced exploration."""

    block: int
    forced: int


class SubsetParams(NamedTuple):
    """The function of forced exploration, and the probability that the challenger wins a tie."""

    forced: int
    tie: float


class KnockoutParams(NamedTuple):
    """The probability that the arm with fewer rewards wins a tie."""

    tie: float


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

    assumes: ClassVar[str] = f"{_FAMILY}: Bernoulli, Gaussian or Poisson, or any other with forced"
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
    assumes: ClassVar[str] = f"{_FAMILY}; proved with forced"
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

    assumes: ClassVar[str] = _FAMILY
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
    assumes: ClassVar[str] = _FAMILY
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Chan (2020)"
    _block: ClassVar[Block] = Block.ANY


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
    assumes: ClassVar[str] = f"{_FAMILY}; simulations only, no exact propensities"
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


implements(init, BlockParams)(no_rewards)
implements(update, BlockParams)(remember_running_sum)
keeps_rewards(SubsetParams, KnockoutParams)


@jit
def choose_block(block: int, r: int, rng: np.random.Generator) -> float:
    """Return where the block of round r lies, as a share of all starts; 0 if nothing is to be chosen."""
    if block == Block.RANDOM:
        return rng.random()
    return van_der_corput(r) if block == Block.SEQUENCE else 0.0


@jit
def reaches_block(block: int, state: History, challenger: int, leader: int, u: float) -> bool:
    """Whether the challenger's mean reaches that of its block; u is the choice of :func:`choose_block`."""
    running, n = rewards(state, leader), state.pulls[challenger]
    return state.means[challenger] >= block_mean(running, block_start(block, u, running.size, n), n)


@implements(duel, BlockParams)
def block_duel(policy: BlockParams, state: History, challenger: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the challenger's mean reaches that of as many consecutive rewards of the leader."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return True
    if policy.block == Block.ANY:
        return blocks_reached(rewards(state, leader), state.means[challenger], state.pulls[challenger], 0) > 0
    u = choose_block(policy.block, round_number(state.pulls), rng)
    return reaches_block(policy.block, state, challenger, leader, u)


@implements(duel, SubsetParams)
def subset_duel(policy: SubsetParams, state: History, challenger: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the challenger's mean reaches that of as many rewards of the leader, drawn without replacement."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return True
    copied, words = rewards(state, leader).copy(), further_words(rng)
    return wins_by(lead_over_subset(state, challenger, leader, copied, words, False), policy.tie, rng)


@implements(select, KnockoutParams)
def select_by_knockout(policy: KnockoutParams, state: History, rng: np.random.Generator) -> Ints:
    """Return the winner of the tournament."""
    arms = np.empty(state.pulls.size, np.int64)
    tournament(policy.tie, state, state.pool.copy(), arms, further_words(rng), rng)
    return arms[:1]


implements(select, BlockParams, SubsetParams)(duel_round)
