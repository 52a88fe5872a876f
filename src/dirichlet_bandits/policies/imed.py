"""Indexed Minimum Empirical Divergence (Honda and Takemura, JMLR 2015): with a family, without one, on ordered arms."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.engine.history import History
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, index, select
from dirichlet_bandits.policies.families import BoundedAbovePolicy, FamilyPolicy
from dirichlet_bandits.policies.index import (
    DirectIndices,
    all_indices,
    index_propensities,
    larger,
    overview,
)
from dirichlet_bandits.policies.min_divergence import (
    exact_value,
    keeps_indices,
    kinf_from_power_sums,
    kinf_of,
    min_divergence,
    use_family_divergence,
    value_of,
)
from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.types import Floats, Records

_PAPER = "Honda and Takemura (2015)"


class IMEDParams(NamedTuple):
    """Code of the family and its standard deviation."""

    family: int
    sigma: float


class UnimodalIMEDParams(NamedTuple):
    """Code of the family and its standard deviation."""

    family: int
    sigma: float


class EmpiricalIMEDParams(NamedTuple):
    """The upper bound of the rewards."""

    upper: float


@dataclass(frozen=True)
class IMED(FamilyPolicy):
    """Minimum empirical divergence in a one-parameter family: pull the smallest N_k d(mu_k, max mu) + log N_k.

    >>> IMED("bernoulli")
    IMED(family='bernoulli', sigma=None)

    Reference: Honda and Takemura, JMLR 16, 2015.
    """

    assumes: ClassVar[str] = "rewards of a known one-parameter family"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = _PAPER

    @property
    def params(self) -> IMEDParams:
        return IMEDParams(*self._code())


@dataclass(frozen=True)
class EmpiricalIMED(BoundedAbovePolicy):
    """Minimum empirical divergence without a model: pull the smallest N_k Kinf(F_k, max mu; upper) + log N_k.

    >>> EmpiricalIMED(upper=1.0)
    EmpiricalIMED(upper=1.0)

    Reference: Honda and Takemura, JMLR 16, 2015.
    """

    assumes: ClassVar[str] = "rewards below a known bound, with a light lower tail"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = _PAPER

    @property
    def params(self) -> EmpiricalIMEDParams:
        return EmpiricalIMEDParams(float(self.upper))


@dataclass(frozen=True)
class UnimodalIMED(FamilyPolicy):
    """IMED for ordered arms whose means rise to one peak and then fall, such as planting dates, doses or prices.

    Only the leader l and its neighbors compete: the smallest N_k d(mu_k, max mu) + log N_k among k = l - 1, l, l + 1 is
    pulled. The leader has the largest mean; if several arms do, it is the one with the fewest pulls, then one at
    random.

    >>> UnimodalIMED("bernoulli")
    UnimodalIMED(family='bernoulli', sigma=None)

    Reference: Saber, Menard and Maillard, Indexed minimum empirical divergence for unimodal bandits, NeurIPS 2021.
    """

    assumes: ClassVar[str] = "rewards of a known one-parameter family; ordered arms whose means have one peak"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Saber, Menard and Maillard (2021)"
    ordered_arms: ClassVar[bool] = True

    @property
    def params(self) -> UnimodalIMEDParams:
        return UnimodalIMEDParams(*self._code())


use_family_divergence(IMEDParams, UnimodalIMEDParams)
keeps_indices(EmpiricalIMEDParams)


@implements(index, IMEDParams, UnimodalIMEDParams)
def imed_index(policy: Any, state: Tally, arm: int, total: int, best_mean: float, rng: np.random.Generator) -> float:
    """Return the index -(N_k D_k + log N_k), where D_k is the divergence."""
    n = state.pulls[arm]
    return -(n * min_divergence(policy, state, arm, best_mean) + math.log(n))


@implements(exact_value, EmpiricalIMEDParams)
def empirical_imed(policy: EmpiricalIMEDParams, history: History, arm: int, total: int, best_mean: float) -> float:
    """Return the index -(N_k Kinf(F_k, max mu) + log N_k)."""
    n = history.pulls[arm]
    return -(n * kinf_of(policy, history, arm, best_mean) + math.log(n))


@implements(value_of, EmpiricalIMEDParams)
def incremental_imed(
    policy: EmpiricalIMEDParams, history: History, arm: int, total: int, best_mean: float, expansions: Records
) -> float:
    """Return the same up to rounding, from power sums."""
    n = history.pulls[arm]
    return -(n * kinf_from_power_sums(policy, history, arm, total, best_mean, expansions) + math.log(n))


@implements(select, UnimodalIMEDParams)
def least_index_nearby(policy: UnimodalIMEDParams, state: Tally, rng: np.random.Generator) -> int:
    """Return the arm with the smallest N_k D_k + log N_k among the leader and its neighbors."""
    n_arms = state.pulls.size
    total, best_mean = overview(state)
    leader, fewest, ties = 0, -math.inf, 0
    for arm in range(n_arms):
        if state.means[arm] == best_mean:
            leader, fewest, ties = larger(leader, fewest, ties, arm, -float(state.pulls[arm]), rng)
    best, largest, ties = leader, -math.inf, 0
    for arm in range(max(leader - 1, 0), min(leader + 2, n_arms)):
        value = imed_index(policy, state, arm, total, best_mean, rng)
        best, largest, ties = larger(best, largest, ties, arm, value, rng)
    return best


def nearby_propensities(policy: UnimodalIMED, state: Any) -> Floats:
    """Return the propensities; ties for the lead, and among a leader and its neighbors, are shared equally."""
    indices = all_indices(policy, state)
    best = state.means == state.means.max()
    leaders = np.flatnonzero(best & (state.pulls == state.pulls[best].min()))
    chances = np.zeros(indices.size)
    for leader in leaders:
        near = slice(max(leader - 1, 0), leader + 2)
        largest = indices[near] == indices[near].max()
        chances[near] += largest / largest.sum() / leaders.size
    return chances


register(IMED, EmpiricalIMED, probability=index_propensities, incremental=DirectIndices)
register(UnimodalIMED, probability=nearby_propensities)
