"""NPTS in which the first rewards of each arm have a smaller weight than the others: see ``live/warm_start.py``.

This module is plain Python and takes one pass over all rewards per decision. Live studies use it; simulations do not.
"""

from collections.abc import Sequence

import numpy as np

from dirichlet_bandits.policies.forgetting.probability import resampled_propensities
from dirichlet_bandits.policies.weighted_rewards import WeightedRewards
from dirichlet_bandits.types import Floats


class WeightedIndices(WeightedRewards):
    """NPTS with Dirichlet parameters other than 1: its decisions and their propensities.

    With weight 1, it equals the compiled policy (a test compares them).
    """

    def __init__(self, upper: float, past: Sequence[Floats], weight: float) -> None:
        super().__init__(past, weight)
        self._upper = upper

    def propensities(self) -> Floats:
        """Return the probability that each arm is pulled next."""
        samples = [self.sample(arm) for arm in range(len(self._x))]
        return resampled_propensities([(self._upper - x, w) for x, w in samples])

    def select(self, rng: np.random.Generator) -> list[int]:
        """Return the arm whose reweighted mean is the largest."""
        values = np.array([self._value(arm, rng) for arm in range(len(self._x))])
        return [int(rng.choice(np.flatnonzero(values == values.max())))]

    def _value(self, arm: int, rng: np.random.Generator) -> float:
        """Return minus the logarithm of the reweighted shortfall from the bound."""
        x, w = self.sample(arm)
        # A gamma variable of shape w is one of shape w + 1 times U^(1/w): as a logarithm, it does not underflow.
        logs = np.log(rng.standard_gamma(w + 1.0)) - rng.standard_exponential(x.size) / w
        total = np.logaddexp.reduce([*logs, np.log(rng.standard_exponential())])
        short = x < self._upper
        if not short.any():
            return np.inf
        return float(total - np.logaddexp.reduce(logs[short] + np.log(self._upper - x[short])))
