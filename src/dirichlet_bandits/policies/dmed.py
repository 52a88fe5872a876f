"""Deterministic Minimum Empirical Divergence: lists of arms that may still be the best, worked through in order."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import implements, init, select, update, verb
from dirichlet_bandits.numerics.arrays import min_of
from dirichlet_bandits.numerics.compensated import raised
from dirichlet_bandits.policies.families import BELOW_A_BOUND, FamilyOrBoundPolicy, family_code
from dirichlet_bandits.policies.index import overview
from dirichlet_bandits.policies.min_divergence import (
    current_divergence,
    min_divergence,
    no_values,
    renew_values,
    use_family_divergence,
    use_kinf,
)
from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.types import Floats, Ints


class DMEDParams(NamedTuple):
    """Code of the family and its standard deviation."""

    family: int
    sigma: float


class EmpiricalDMEDParams(NamedTuple):
    """The upper bound of the rewards."""

    upper: float


class Lists(NamedTuple):
    """Which arms wait in the current list, and which are on the next one: 0 or 1 per arm."""

    waiting: Ints
    coming: Ints


class ListingTally(NamedTuple):
    """The remembered rewards, a Tally or a KinfState with its counts and means, and the lists of arms."""

    pulls: Ints
    means: Floats
    memory: Any
    lists: Lists


@dataclass(frozen=True)
class DMED(FamilyOrBoundPolicy):
    """Deterministic Minimum Empirical Divergence: pull, in order, a list of arms that may still be the best.

    After each pull, every arm j that is not waiting in the current list joins the next one if

        N_j D_j <= log(t / N_j),    D_j = d(mu_j, max mu), or Kinf(F_j, max mu; upper) without a family.

    When the current list is finished, the next one takes its place. The first list is the opening: every arm once. The
    rule with log t in place of log(t / N_j), which Garivier and Cappe (2011) call DMED (and this one DMED+), is not
    implemented. The lists depend on the order of all pulls; ``propensities`` of histories assumes that the arms were
    pulled one after the other.

    >>> DMED(upper=1.0)
    DMED(family=None, sigma=None, upper=1.0)

    Reference: Honda and Takemura, An asymptotically optimal bandit algorithm for bounded support models, COLT 2010.
    """

    assumes: ClassVar[str] = f"{BELOW_A_BOUND} (proved), or of a known one-parameter family"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Honda and Takemura (2010)"

    @property
    def params(self) -> DMEDParams | EmpiricalDMEDParams:
        if self.family is not None:
            return DMEDParams(*family_code(self.family, self.sigma))
        return EmpiricalDMEDParams(float(self.upper or 0.0))


use_family_divergence(DMEDParams)
use_kinf(EmpiricalDMEDParams)


@jit
def _empty_lists(memory: Any, n_arms: int) -> ListingTally:
    """Return lists in which every arm waits for its first pull."""
    lists = Lists(np.ones(n_arms, np.int64), np.zeros(n_arms, np.int64))
    return ListingTally(memory.pulls, memory.means, memory, lists)


@implements(init, DMEDParams)
def start_counting(policy: DMEDParams, n_arms: int) -> ListingTally:
    """Return an empty state that stores counts and means only."""
    return _empty_lists(new_tally(n_arms), n_arms)


@implements(init, EmpiricalDMEDParams)
def start_keeping(policy: EmpiricalDMEDParams, n_arms: int) -> ListingTally:
    """Return an empty state that stores all rewards."""
    return _empty_lists(no_values(policy, n_arms), n_arms)


@verb
def memorize(policy: Any, memory: Any, arm: int, reward: float, rng: Any) -> Any:
    """Return the memory of the rewards after one more reward."""


@implements(memorize, DMEDParams)
def note_in_tally(policy: DMEDParams, memory: Tally, arm: int, reward: float, rng: np.random.Generator) -> Tally:
    """Count the reward."""
    count(memory, arm, reward)
    return memory


implements(memorize, EmpiricalDMEDParams)(renew_values)


@implements(update, DMEDParams, EmpiricalDMEDParams, random=False)
def note_and_list(policy: Any, state: ListingTally, arm: int, reward: float, rng: np.random.Generator) -> ListingTally:
    """Remember the reward and update the lists."""
    memory = memorize(policy, state.memory, arm, reward, rng)
    relist(policy, memory, state.lists, arm)
    return ListingTally(memory.pulls, memory.means, memory, state.lists)


@jit
def relist(policy: Any, memory: Any, lists: Lists, pulled: int) -> None:
    """Update the lists after a pull."""
    memory, lists = borrowed(memory), borrowed(lists)
    lists.waiting[pulled] = 0
    if min_of(memory.pulls) == 0:  # the opening
        return
    total, best_mean = overview(memory)
    for arm in range(memory.pulls.size):
        if not lists.waiting[arm] and not lists.coming[arm]:
            value = current_divergence(policy, memory, arm, best_mean)
            lists.coming[arm] = may_be_best(policy, memory, arm, total, best_mean, value)
    start_coming_list(lists)


@jit
def may_be_best(policy: Any, memory: Any, arm: int, total: int, best_mean: float, value: float) -> bool:
    """Whether N_j D_j <= log(t / N_j); ``value`` is D_j up to rounding, computed exactly where this matters."""
    n = memory.pulls[arm]
    found, level = n * value, math.log(total / n)
    if raised(found) < level or raised(level) < found:
        return found < level
    return n * min_divergence(policy, memory, arm, best_mean) <= level


@jit
def start_coming_list(lists: Lists) -> None:
    """Make the next list the current one if no arm is waiting any longer."""
    for arm in range(lists.waiting.size):
        if lists.waiting[arm]:
            return
    for arm in range(lists.waiting.size):
        lists.waiting[arm], lists.coming[arm] = lists.coming[arm], 0


@jit
def first_waiting(lists: Lists) -> int:
    """Return the arm to pull. There always is one, because the best arm is always on the next list."""
    for arm in range(lists.waiting.size):
        if lists.waiting[arm]:
            return arm
    return -1


@implements(select, DMEDParams, EmpiricalDMEDParams)
def next_of_the_list(policy: Any, state: ListingTally, rng: np.random.Generator) -> int:
    """Return the first arm that is waiting."""
    return first_waiting(state.lists)


def list_propensities(policy: DMED, state: Any) -> Floats:
    """Return 1 for the first arm on the current list, 0 for the others."""
    waiting = state.lists.waiting
    return np.asarray(np.arange(waiting.size) == waiting.argmax(), np.float64)


register(DMED, probability=list_propensities)
