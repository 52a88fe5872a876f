"""Propensities of NPTS: the probability that each arm's reweighted mean is the largest.

The density of each reweighted mean is kept in a table, which is made again when its arm has a new reward
(``numerics/resampled_means.py``). A few samples resist, such as many rewards of which some are far larger than the
others. Then the distribution functions are integrated instead, which takes far longer, from samples that are
compressed to a few weighted points if they are large.
"""

import numpy as np

from dirichlet_bandits.compiler import Direct, borrowed, entry_point
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.numerics.resampled_means import ResampledMeans, largest_mean, new_means
from dirichlet_bandits.numerics.tolerances import PROPENSITY_DEFECT
from dirichlet_bandits.policies.index import random_index_propensities
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.npts.rule import NPTS
from dirichlet_bandits.policies.npts.weighted import resampled_index
from dirichlet_bandits.types import Floats


def resampling_propensities(policy: NPTS, state: History) -> Floats:
    """Return the propensities, from tables that are made for this call."""
    return TabulatedIndices(policy, state.pulls.size).propensities(state)


class TabulatedIndices:
    """Propensities in a growing study, from tables of the densities of all indices."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        (self._upper,) = policy.params
        self._means: ResampledMeans = new_means(n_arms)
        self._chances = np.empty(n_arms)
        self._write = Direct(lambda: write_chances)

    def propensities(self, state: History) -> Floats:
        """Return the propensities from the tables, or from distribution functions if there are none."""
        if self._write(self._means, state, self._upper, self._chances):
            return self._chances.copy()
        return from_distribution_functions(state, self._upper)

    def without_compiling(self, state: History) -> Floats | None:
        """Return the propensities if there are tables, or None if this would compile something."""
        if self._write.is_compiled and self._write(self._means, state, self._upper, self._chances):
            return self._chances.copy()
        return None


@entry_point
def write_chances(means: ResampledMeans, state: History, upper: float, chances: Floats) -> bool:
    """Write the propensities to ``chances`` and return True, or return False if the tables cannot give them."""
    if not largest_mean(borrowed(means), state.pool, state.start, state.pulls, upper, chances):
        return False
    total = chances.sum()
    chances /= total
    return abs(total - 1.0) <= PROPENSITY_DEFECT


def from_distribution_functions(state: History, upper: float) -> Floats:
    """Return the propensities from crossing probabilities: P(index > v) for rewards and the bound.

    The very first reward is subtracted from all rewards, to keep digits far from 0.
    """
    every = [rewards.py_func(state, arm) for arm in range(state.pulls.size)]  # type: ignore[attr-defined]
    origin = every[0][0]
    samples = [compress(x - origin, np.empty(0)) for x in every]
    return random_index_propensities([resampled_index(*sample, float(upper - origin)) for sample in samples])
