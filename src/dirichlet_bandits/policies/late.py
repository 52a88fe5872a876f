"""Policies for rewards that arrive late: pulls count before their rewards are known, or rewards wait in queues.

The queues are QPM-D of Joulani et al.; the policy inside of them never sees a delay.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.history import History, append, new_history
from dirichlet_bandits.engine.loop import as_round
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import NEVER, implements, init, note, prepare, select, specialized, update
from dirichlet_bandits.policies.index import index_propensities
from dirichlet_bandits.policies.interface import choice
from dirichlet_bandits.policies.registry import AroundAny, AroundListed, register
from dirichlet_bandits.types import Floats, Ints, Records


class CountPendingParams(NamedTuple):
    """Parameters of the inner policy."""

    inner: Any


class Awaiting(NamedTuple):
    """A tally, its pulls and means, and ``waiting``: the number of outstanding rewards of each arm."""

    pulls: Ints
    means: Floats
    tally: Tally
    waiting: Ints


class KnownAndPending(NamedTuple):
    """What the inner policy sees: pulls with and without a reward, and the means of those with one."""

    pulls: Ints
    means: Floats


@dataclass(frozen=True)
class CountPending(AroundListed):
    """An index policy for which a pull counts as soon as it is made, before its reward is known.

    A deterministic policy repeats its decision until a reward arrives: in a batch of 100 decisions, UCB1 pulls one arm
    100 times. Here, with N_k known rewards of arm k and W_k outstanding, the inner policy sees N_k + W_k pulls with
    mean mu_k, as if each outstanding reward were equal to the present mean. So an arm becomes less urgent with each
    pull, and the decisions of a batch are spread over the arms. If no reward is outstanding, the wrapper decides as the
    inner policy does.

    The inner policy is UCB1, KLUCB, KLUCBPlusPlus or IMED. Randomized policies spread their decisions anyway. In live
    studies, pending trials count, but abandoned ones do not. This is a heuristic: nothing is published about it.

    >>> from dirichlet_bandits import IMED
    >>> CountPending(IMED("bernoulli"))
    CountPending(policy=IMED(family='bernoulli', sigma=None))

    Reference: Desautels, Krause and Burdick, JMLR 15, 2014, do the same with the variance of Gaussian processes.
    """

    assumes: ClassVar[str] = "what the inner policy assumes; rewards may be late or arrive in batches"
    guarantee: ClassVar[str] = "none known"
    reference: ClassVar[str] = "Desautels et al. (2014)"
    wraps: ClassVar[tuple[str, ...]] = ("UCB1", "KLUCB", "KLUCBPlusPlus", "IMED")

    @property
    def params(self) -> CountPendingParams:
        return CountPendingParams(self.policy.params)


@implements(init, CountPendingParams)
def nothing_pulled(policy: CountPendingParams, n_arms: int) -> Awaiting:
    """Return a state without rewards, known or outstanding."""
    tally = new_tally(n_arms)
    return Awaiting(tally.pulls, tally.means, tally, np.zeros(n_arms, np.int64))


@implements(update, CountPendingParams, random=False)
def count_reward(
    policy: CountPendingParams, state: Awaiting, arm: int, reward: float, rng: np.random.Generator
) -> Awaiting:
    """Count the reward."""
    count(state.tally, arm, reward)
    return state


@implements(prepare, CountPendingParams)
def count_outstanding(
    policy: CountPendingParams, state: Awaiting, waiting: Ints, earliest: Ints, rng: np.random.Generator
) -> Awaiting:
    """Store the number of outstanding rewards."""
    state.waiting[:] = waiting
    return state


@jit
def counted(state: Awaiting) -> KnownAndPending:
    """Return counts that include the outstanding rewards, and means that do not."""
    return KnownAndPending(state.pulls + state.waiting, state.means)


@implements(select, CountPendingParams)
def select_as_if_known(policy: CountPendingParams, state: Awaiting, rng: np.random.Generator) -> int:
    """Return the inner policy's selection."""
    arm: int = verbs.select(policy.inner, counted(state), rng)
    return arm


def pending_propensities(policy: CountPending, state: Awaiting) -> Floats:
    """Return 1 for the largest index, shared equally among ties."""
    inner = specialized(_counted, policy.params)(policy.params, state)
    return index_propensities(policy.policy, inner)


def _counted(policy: Any, state: Any) -> Any:
    return counted(state)


ORDERS: Final = {"pulls": 0, "arrival": 1}
ONE_DRAW_MANY_PULLS: Final = (
    "a policy with exact propensities: Queued draws a decision once, repeats it until a reward arrives, and draws "
    "others that are never carried out, because their rewards are in a queue (it runs in simulations; in a study, use "
    "the inner policy, which accepts late rewards)"
)

CLOCK: Final = np.dtype(
    [
        ("next", np.int64),  # the decision to which the next reward belongs
        ("place", np.int64),  # in the round
        ("noted", np.int64),  # 1 if rewards may be late
    ]
)


class QueuedParams(NamedTuple):
    """Parameters of the inner policy, and whether rewards wait for those of earlier pulls."""

    inner: Any
    in_order: bool


class Queues(NamedTuple):
    """Rewards in their queues, and the decision of the inner policy that waits for a reward.

    ``pulls`` counts the rewards of each arm. ``queue`` holds them in the order of the queue, and ``decisions`` the
    decisions to which they belong; the first ``fed`` ones of each arm have been passed on to ``inner``. ``round`` is
    the inner policy's decision: a single arm, or several that are fed one after the other. ``clock`` is one record of
    ``CLOCK``.
    """

    pulls: Ints
    inner: Any
    queue: History
    decisions: History
    fed: Ints
    round: Ints
    clock: Records


@dataclass(frozen=True)
class Queued(AroundAny):
    """A wrapper that shows another policy its rewards as if they were never late.

    Each arm has a queue of rewards. When the inner policy chooses an arm with a reward in its queue, it receives that
    reward and chooses again; nothing is pulled. When the queue is empty, the arm is pulled, and it is pulled again at
    each decision until its reward arrives. So the inner policy plays a game without delays, to which its theorems
    apply:

        E R_n  <=  E R_n(inner policy, undelayed) + sum_k Delta_k E G_k,

    where G_k is the largest number of pulls of arm k whose rewards have not been released to its queue.

    With ``order="pulls"``, a reward is released after those of all earlier pulls of its arm. Then the inner policy sees
    exactly the arms and rewards of the undelayed run, whatever the delays are, even if they depend on the rewards. With
    ``order="arrival"``, as in the paper, a reward is released at once, so a very late reward does not hold up the
    others, but the order of arrival must not depend on the rewards.

    The inner policy is any policy with compiled verbs. Its state determines the decision, and the distribution of the
    decision given the rewards is not known, so live studies refuse this policy.

    >>> from dirichlet_bandits import NPTS
    >>> Queued(NPTS(upper=1.0))
    Queued(policy=NPTS(upper=1.0), order='pulls')

    Reference: Joulani, György and Szepesvári, Online learning under delayed feedback, ICML 2013, algorithm 2.
    """

    order: Literal["pulls", "arrival"] = "pulls"
    assumes: ClassVar[str] = "what the inner policy assumes; late rewards; simulations only, no exact propensities"
    guarantee: ClassVar[str] = "none known"
    reference: ClassVar[str] = "Joulani, György and Szepesvári (2013)"
    waits_for_all_arms: ClassVar[bool] = True
    wraps: ClassVar[tuple[str, ...]] = ("KLUCB", "UCB1", "ThompsonSampling", "NPTS")

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("order", self.order, ORDERS)

    @property
    def params(self) -> QueuedParams:
        return QueuedParams(self.policy.params, self.order == "pulls")


@implements(init, QueuedParams)
def empty_queues(policy: QueuedParams, n_arms: int) -> Queues:
    """Return a state without rewards or a decision."""
    return Queues(
        np.zeros(n_arms, np.int64),
        verbs.init(policy.inner, n_arms),
        new_history(n_arms),
        new_history(n_arms),
        np.zeros(n_arms, np.int64),
        np.empty(0, np.int64),
        np.zeros(1, CLOCK),
    )


@implements(note, QueuedParams)
def expect_reward(policy: QueuedParams, state: Queues, decision: int, now: int) -> None:
    """Assign the next reward to this decision, and let rewards wait until ``prepare``."""
    state.clock[0].next, state.clock[0].noted = decision, 1


@jit
def enqueue(policy: QueuedParams, state: Queues, arm: int, reward: float) -> Queues:
    """Insert the reward of the next decision: at the end, or before those of later pulls."""
    decision = float(state.clock[0].next)
    queue = append(state.queue, arm, reward, reward)
    decisions = append(state.decisions, arm, decision, decision)
    place, first = queue.start[arm] + state.pulls[arm], queue.start[arm] + state.fed[arm]
    while policy.in_order and place > first and decisions.pool[place - 1] > decision:
        queue.pool[place], decisions.pool[place] = queue.pool[place - 1], decisions.pool[place - 1]
        place -= 1
    queue.pool[place], decisions.pool[place] = reward, decision
    state.pulls[arm] += 1
    state.clock[0].next += 1
    return Queues(state.pulls, state.inner, queue, decisions, state.fed, state.round, state.clock)


@implements(update, QueuedParams)
def receive_reward(policy: QueuedParams, state: Queues, arm: int, reward: float, rng: np.random.Generator) -> Queues:
    """Queue the reward; if rewards are never late, pass it on at once."""
    state = enqueue(policy, state, arm, reward)
    if state.clock[0].noted == 0 and state.pulls.all():
        state = feed(policy, state, np.full(state.pulls.size, NEVER), rng)
    return state


@implements(prepare, QueuedParams)
def feed_inner(policy: QueuedParams, state: Queues, waiting: Ints, earliest: Ints, rng: np.random.Generator) -> Queues:
    """Pass rewards on to the inner policy until it chooses an arm whose reward has not been released."""
    return feed(policy, state, earliest, rng)


@jit
def first_round(state: Queues, earliest: Ints) -> Ints:
    """Return the arms in the order of their first pulls."""
    n_arms = state.pulls.size
    arms, firsts = np.empty(n_arms, np.int64), np.empty(n_arms)
    for arm in range(n_arms):
        first, begin = float(earliest[arm]), state.decisions.start[arm]
        for i in range(begin, begin + state.pulls[arm]):
            first = min(first, state.decisions.pool[i])
        place = arm
        while place > 0 and firsts[place - 1] > first:
            arms[place], firsts[place] = arms[place - 1], firsts[place - 1]
            place -= 1
        arms[place], firsts[place] = arm, first
    return arms


@jit
def copied_round(chosen: Ints) -> Ints:
    """Return a copy of the round that no other object refers to."""
    arms = np.empty(chosen.size, np.int64)
    for i in range(arms.size):
        arms[i] = chosen[i]
    return arms


@jit
def feed(policy: QueuedParams, state: Queues, earliest: Ints, rng: np.random.Generator) -> Queues:
    """Feed the inner policy the first rewards of the queues that it chooses; only it draws random numbers.

    ``earliest`` is the first decision of each arm whose reward is outstanding.
    """
    inner, queue, decisions, fed, clock = state.inner, state.queue, state.decisions, state.fed, state.clock
    arms = state.round if state.round.size > 0 else first_round(state, earliest)
    while True:
        arm = arms[clock[0].place]
        head = queue.start[arm] + fed[arm]
        if fed[arm] == state.pulls[arm] or (policy.in_order and decisions.pool[head] > earliest[arm]):
            return Queues(state.pulls, inner, queue, decisions, fed, arms, clock)
        inner = verbs.update(policy.inner, inner, arm, queue.pool[head], rng)
        fed[arm] += 1
        clock[0].place += 1
        if clock[0].place == arms.size:
            arms = copied_round(as_round(verbs.select(policy.inner, inner, rng), np.empty(1, np.int64)))
            clock[0].place = 0


@implements(select, QueuedParams)
def pending_decision(policy: QueuedParams, state: Queues, rng: np.random.Generator) -> int:
    """Return the arm whose reward the inner policy is waiting for."""
    arm: int = state.round[state.clock[0].place]
    return arm


register(Queued, obstacle=lambda policy: ONE_DRAW_MANY_PULLS)
register(CountPending, probability=pending_propensities)

__all__ = ["CountPending", "Queued"]
