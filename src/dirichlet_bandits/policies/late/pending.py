"""Pulls with outstanding rewards, counted as pulls."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import implements, init, prepare, select, specialized, update
from dirichlet_bandits.policies.index import index_propensities
from dirichlet_bandits.policies.registry import AroundListed
from dirichlet_bandits.types import Floats, Ints


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
