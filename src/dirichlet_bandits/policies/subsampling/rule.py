"""Sub-sampling duels: the challenger's mean against that of as many of the leader's rewards."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, keeps_rewards, new_history, rewards
from dirichlet_bandits.engine.verbs import duel, implements, init, select, update
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.policies.rounds import duel_round
from dirichlet_bandits.policies.subsampling.blocks import (
    Block,
    block_mean,
    block_start,
    remember_running_sum,
    van_der_corput,
)
from dirichlet_bandits.policies.subsampling.forced import (
    FORCED,
    NOT_FORCED,
    ForcedName,
    round_number,
    wins_untried,
)
from dirichlet_bandits.policies.subsampling.limited import MEMORIES, LimitedParams
from dirichlet_bandits.policies.subsampling.subsets import lead_over_subset, sample_of, tournament, wins_by
from dirichlet_bandits.seeding import further_words
from dirichlet_bandits.types import Ints

_TIES = {"challenger": 0, "random": 1}
_FAMILY = "all arms in one exponential family, which need not be known"


class BlockParams(NamedTuple):
    """Which block the challenger meets, and the function of forced exploration."""

    block: int
    forced: int


class SubsetParams(NamedTuple):
    """The function of forced exploration, the probability that the arm with fewer rewards wins a tie, and whether the
    arms meet in a knock-out tournament."""

    forced: int
    tie: float
    knockout: bool


@dataclass(frozen=True)
class SubsamplingPolicy(Policy):
    """Duels on sub-samples; with ``forced`` a challenger that has fewer than f(r) rewards in round r wins anyway.

    f(r) is sqrt(log r) or the cubic root of log r. See :func:`round_number` for r.
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

    The challenger with n rewards wins iff its mean is at least that of n consecutive rewards of the leader,
    the block's start being uniform over all starts that leave it inside the history.

    ``forced="sqrt-log"`` lets a challenger with fewer than sqrt(log r) rewards in round r win without a duel: with it
    the policy is optimal for every one-parameter exponential family. ``"cbrt-log"``: the cubic root of log r.

    >>> RBSDA()
    RBSDA(forced=None)

    Reference: Baudry, Kaufmann and Maillard, NeurIPS 2020.
    """

    assumes: ClassVar[str] = f"{_FAMILY}: Bernoulli, Gaussian or Poisson; any other with forced"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Baudry, Kaufmann and Maillard (2020)"
    _block: ClassVar[Block] = Block.RANDOM


@dataclass(frozen=True)
class LBSDA(SubsamplingPolicy):
    """Duels of equal sample sizes: the challenger's mean against the leader's last rewards.

    The challenger with n rewards wins iff its mean is at least that of the last n rewards of the leader. Nothing is
    random but ties for the lead. ``forced`` as in :class:`RBSDA`; the authors take ``"cbrt-log"``.

    ``memory="log2"`` limits the memory: an arm keeps its last max(10, (log r)^2) rewards, r being the round of its last
    pull, and duels are on what is kept. Counts and the leader stay as they are.

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

    The challenger with n rewards meets the leader's rewards s + 1, ..., s + n, s = ceil(u_r (N - n)), N being the
    leader's number of rewards and u_r the r-th number of van der Corput's sequence, which fills [0, 1] evenly:
    :class:`RBSDA` without chance. ``forced`` as there.

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

    The challenger with n rewards wins iff its mean is at least that of some n consecutive rewards of the leader.
    ``forced`` as in :class:`RBSDA`; here the theory needs it.

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

    The challenger with n rewards wins iff its mean is at least that of n of the leader's rewards, all choices of n
    being equally probable. ``forced`` as in :class:`RBSDA`. ``ties="random"``: equal means are decided by a coin, as in
    the authors' program. The exact probability of a win would take a count of all choices, so live studies, which
    record propensities, do not take this policy.

    >>> WRSDA()
    WRSDA(forced=None, ties='challenger')

    Reference: Baudry, Kaufmann and Maillard, NeurIPS 2020.
    """

    ties: Literal["challenger", "random"] = "challenger"
    assumes: ClassVar[str] = f"{_FAMILY}; for simulations: no exact propensities"
    reference: ClassVar[str] = "Baudry, Kaufmann and Maillard (2020)"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("ties", self.ties, _TIES)

    @property
    def params(self) -> SubsetParams:
        return SubsetParams(self._growth(), 0.5 if self.ties == "random" else 1.0, knockout=False)


@dataclass(frozen=True)
class BESA(Policy):
    """A knock-out tournament: each duel compares means of equally many rewards, drawn without replacement.

    Two arms with m <= n rewards: all m rewards of the one, m of the other drawn without replacement; the larger mean
    wins, a tie goes to the arm with fewer rewards, then to any. With more arms the winners of pairs meet again, in an
    order drawn for each pull; an odd one out passes. The winner of all is pulled. ``ties="random"`` gives every tie to
    any of the two.

    With more than two arms, or skewed rewards, the regret may be linear: a warning example. Live studies do not take
    this policy: see :class:`WRSDA`.

    >>> BESA()
    BESA(ties='fewer')

    Reference: Baransi, Maillard and Mannor, Sub-sampling for multi-armed bandits, ECML-PKDD 2014.
    """

    ties: Literal["fewer", "random"] = "fewer"
    assumes: ClassVar[str] = "proved for two arms with balanced laws only; for simulations: no exact propensities"
    reference: ClassVar[str] = "Baransi, Maillard and Mannor (2014)"

    def __post_init__(self) -> None:
        choice("ties", self.ties, {"fewer": 0, "random": 1})

    @property
    def params(self) -> SubsetParams:
        return SubsetParams(NOT_FORCED, 0.5 if self.ties == "random" else 1.0, knockout=True)


@implements(init, BlockParams)
def remember_running_sums(policy: BlockParams, n_arms: int) -> History:
    """A history of running sums: the mean of any block follows from two of them."""
    return new_history(n_arms)


implements(update, BlockParams)(remember_running_sum)
keeps_rewards(SubsetParams)


@jit
def reaches_a_block(pool: Any, first: int, mean: float, n: int, seen: int, n_leader: int) -> bool:
    """Whether the mean reaches that of a block of n rewards that ends after the leader's first ``seen``."""
    for end in range(max(seen, n - 1), n_leader):  # noqa: SIM110 - compiled code has no generators
        if mean >= block_mean(pool, first, end - n + 1, n):
            return True
    return False


@implements(duel, BlockParams)
def block_duel(policy: BlockParams, state: History, challenger: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the challenger's mean reaches that of as many consecutive rewards of the leader."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return True
    running, n, mean = rewards(state, leader), state.pulls[challenger], state.means[challenger]
    if policy.block == Block.ANY:
        return reaches_a_block(running, 0, mean, n, 0, running.size)
    u = 0.0
    if policy.block == Block.RANDOM:
        u = rng.random()
    elif policy.block == Block.SEQUENCE:
        u = van_der_corput(round_number(state.pulls))
    return mean >= block_mean(running, 0, block_start(policy.block, u, running.size, n), n)


@implements(duel, SubsetParams)
def subset_duel(policy: SubsetParams, state: History, challenger: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the challenger's mean reaches that of as many rewards of the leader, drawn without replacement."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return True
    sample, words = sample_of(state, leader, rewards(state, leader).copy()), further_words(rng)
    lead = lead_over_subset(state.pulls[challenger], state.means[challenger], sample, words)
    return wins_by(lead, policy.tie, rng)


@implements(select, SubsetParams)
def select_by_subsets(policy: SubsetParams, state: History, rng: np.random.Generator) -> Ints:
    """The winner of the tournament, or all that win a duel with the leader."""
    if not policy.knockout:
        return duel_round(policy, state, rng)
    arms = np.empty(state.pulls.size, np.int64)
    tournament(policy.tie, state, state.pool.copy(), arms, further_words(rng), rng)
    return arms[:1]


implements(select, BlockParams)(duel_round)
