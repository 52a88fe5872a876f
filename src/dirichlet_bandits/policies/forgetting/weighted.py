"""NPTS for which the first rewards of each arm count less than the others: see ``live/warm.py``.

In plain Python, with one pass over all rewards for a decision: live studies use it, simulations do not.
"""

from collections.abc import Sequence

import numpy as np

from dirichlet_bandits.policies.forgetting.probability import resampled_propensities
from dirichlet_bandits.policies.weighted_rewards import WeightedRewards
from dirichlet_bandits.types import Floats


class WeightedIndices(WeightedRewards):
    """NPTS with Dirichlet parameters that need not be 1: its decisions, and how probable they are.

    The same as the compiled policy where the weight is 1 (a test compares them).
    """

    def __init__(self, upper: float, past: Sequence[Floats], weight: float) -> None:
        super().__init__(past, weight)
        self._upper = upper

    def propensities(self) -> Floats:
        """For every arm the probability that it comes next."""
        samples = [self.sample(arm) for arm in range(len(self._x))]
        return resampled_propensities([(self._upper - x, w) for x, w in samples])

    def select(self, rng: np.random.Generator) -> list[int]:
        """The arm whose reweighted mean is the largest."""
        values = np.array([self._value(arm, rng) for arm in range(len(self._x))])
        return [int(rng.choice(np.flatnonzero(values == values.max())))]

    def _value(self, arm: int, rng: np.random.Generator) -> float:
        """Minus the logarithm of the reweighted shortfall from the bound."""
        x, w = self.sample(arm)
        # A gamma variable of shape w is one of shape w + 1 times U^(1/w): as a logarithm, it does not underflow.
        logs = np.log(rng.standard_gamma(w + 1.0)) - rng.standard_exponential(x.size) / w
        total = np.logaddexp.reduce([*logs, np.log(rng.standard_exponential())])
        short = x < self._upper
        if not short.any():
            return np.inf
        return float(total - np.logaddexp.reduce(logs[short] + np.log(self._upper - x[short])))
