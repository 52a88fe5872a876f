"""Deterministic Minimum Empirical Divergence: lists of arms that may still be the best, worked through in order."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, append, new_history
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import implements, init, select, update, verb
from dirichlet_bandits.numerics.compensated import raised
from dirichlet_bandits.numerics.kinf_series import make_expansions
from dirichlet_bandits.policies.families import FamilyOrBoundPolicy, family_code
from dirichlet_bandits.policies.index import overview
from dirichlet_bandits.policies.min_divergence import (
    approx_min_divergence,
    min_divergence,
    use_family_divergence,
    use_kinf,
)
from dirichlet_bandits.types import Floats, Ints

WAITING, COMING = range(2)  # rows of a state's lists


class DMEDParams(NamedTuple):
    """Code of the family and its standard deviation."""

    family: int
    sigma: float


class EmpiricalDMEDParams(NamedTuple):
    """The bound."""

    upper: float


class Listed(NamedTuple):
    """What is remembered of the rewards, a Tally or a History, with its counts and means; who waits in the current list
    and who is on the next one, 0 or 1 for each arm; power sums that give Kinf without a pass over the rewards."""

    pulls: Ints
    means: Floats
    memory: Any
    lists: Ints
    expansions: Floats


@dataclass(frozen=True)
class DMED(FamilyOrBoundPolicy):
    """Deterministic Minimum Empirical Divergence: pulls in order a list of arms that may still be the best.

    After each pull every arm j that does not wait in the current list joins the next one if

        N_j D_j <= log(t / N_j),    D_j = d(mu_j, max mu), or Kinf(F_j, max mu; upper) without a family.

    When the current list is done, the next one takes its place. The first list is the opening, every arm once. The rule
    with log t in place of log(t / N_j), which Garivier and Cappe (2011) call DMED and this one DMED+, is not here. The
    lists depend on the order of all pulls; ``propensities`` of histories takes them to have come arm after arm.

    >>> DMED(upper=1.0)
    DMED(family=None, sigma=None, upper=1.0)

    Reference: Honda and Takemura, An asymptotically optimal bandit algorithm for bounded support models, COLT 2010.
    """

    assumes: ClassVar[str] = "rewards below a known bound, as proved; or of a known one-parameter family"
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
def _empty_lists(memory: Any, n_arms: int) -> Listed:
    """Every arm waits for its first pull."""
    lists = np.zeros((2, n_arms), np.int64)
    for arm in range(n_arms):
        lists[WAITING, arm] = 1
    return Listed(memory.pulls, memory.means, memory, lists, make_expansions(n_arms))


@implements(init, DMEDParams)
def start_counting(policy: DMEDParams, n_arms: int) -> Listed:
    """Counts and means are enough."""
    return _empty_lists(new_tally(n_arms), n_arms)


@implements(init, EmpiricalDMEDParams)
def start_keeping(policy: EmpiricalDMEDParams, n_arms: int) -> Listed:
    """All rewards are kept."""
    return _empty_lists(new_history(n_arms), n_arms)


@verb
def memorize(policy: Any, memory: Any, arm: int, reward: float) -> Any:
    """What is remembered of the rewards after one more."""


@implements(memorize, DMEDParams)
def note_in_tally(policy: DMEDParams, memory: Tally, arm: int, reward: float) -> Tally:
    """Counted."""
    count(memory, arm, reward)
    return memory


@implements(memorize, EmpiricalDMEDParams)
def note_in_history(policy: EmpiricalDMEDParams, memory: History, arm: int, reward: float) -> History:
    """Kept."""
    return append(memory, arm, reward, reward)


@implements(update, DMEDParams, EmpiricalDMEDParams)
def note_and_list(policy: Any, state: Listed, arm: int, reward: float, rng: np.random.Generator) -> Listed:
    """Remember the reward, bring the lists up to date."""
    memory = memorize(policy, state.memory, arm, reward)
    relist(policy, memory, state.lists, state.expansions, arm)
    return Listed(memory.pulls, memory.means, memory, state.lists, state.expansions)


@jit
def relist(policy: Any, memory: Any, lists: Ints, expansions: Floats, pulled: int) -> None:
    """The lists after a pull."""
    lists[WAITING, pulled] = 0
    for arm in range(memory.pulls.size):
        if memory.pulls[arm] == 0:  # the opening
            return
    total, best_mean = overview(memory)
    for arm in range(memory.pulls.size):
        if not lists[WAITING, arm] and not lists[COMING, arm]:
            value = approx_min_divergence(policy, memory, expansions, arm, best_mean)[0]
            lists[COMING, arm] = may_be_best(policy, memory, arm, total, best_mean, value)
    turn_the_page(lists)


@jit
def may_be_best(policy: Any, memory: Any, arm: int, total: int, best_mean: float, value: float) -> bool:
    """Whether N_j D_j <= log(t / N_j), from D_j up to rounding; anew where rounding could matter."""
    n = memory.pulls[arm]
    found, level = n * value, math.log(total / n)
    if raised(found) < level or raised(level) < found:
        return found < level
    return n * min_divergence(policy, memory, arm, best_mean)[0] <= level


@jit
def turn_the_page(lists: Ints) -> None:
    """When nobody waits any longer, the next list becomes the current one."""
    for arm in range(lists.shape[1]):
        if lists[WAITING, arm]:
            return
    for arm in range(lists.shape[1]):
        lists[WAITING, arm], lists[COMING, arm] = lists[COMING, arm], 0


@jit
def first_waiting(lists: Ints) -> int:
    """The arm to pull; the best arm is always on the next list, so there is one."""
    for arm in range(lists.shape[1]):
        if lists[WAITING, arm]:
            return arm
    return -1


@implements(select, DMEDParams, EmpiricalDMEDParams)
def next_of_the_list(policy: Any, state: Listed, rng: np.random.Generator) -> int:
    """The first arm that waits."""
    return first_waiting(state.lists)
