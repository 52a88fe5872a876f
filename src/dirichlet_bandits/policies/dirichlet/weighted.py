"""BDS, RDS and QDS in which some rewards of each arm have a smaller weight than the others: see ``live/warm_start.py``.

This module is plain Python and takes one pass over all rewards per decision. Live studies use it; simulations do not.
"""

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from dirichlet_bandits.numerics.crossing import crossing_probability
from dirichlet_bandits.policies.dirichlet.rule import BDS, QDS, RDS, bds_bonus, rank_of_tail
from dirichlet_bandits.policies.growth import GROWTHS, slow_growth
from dirichlet_bandits.policies.rounds import average_over_leaders
from dirichlet_bandits.policies.weighted_rewards import WeightedRewards
from dirichlet_bandits.types import Floats

_plain = attrgetter("py_func")  # of a function that would take longer to compile than to run


class WeightedDuels(WeightedRewards):
    """BDS, RDS or QDS in which past rewards have their own weight: its decisions and their propensities.

    The tail of QDS begins where the rewards below it have the weight that their number would have. A reward there
    counts in part below the tail and in part in it, because its Dirichlet weight is the sum of two.

    With weight 1, it equals the compiled policies (a test compares them).
    """

    def __init__(self, policy: Any, past: Sequence[Floats], weight: float) -> None:
        super().__init__(past, weight)
        self._policy: BDS | RDS | QDS = policy
        self.pulls, self.means = np.zeros(len(past)), np.zeros(len(past))
        for arm in range(len(past)):
            self._judge(arm)

    def learn(self, arms: Sequence[int], rewards: Sequence[float]) -> None:
        """Store rewards that were observed."""
        super().learn(arms, rewards)
        for arm in set(arms):
            self._judge(arm)

    def _judge(self, arm: int) -> None:
        x, w = self._x[arm], self._w[arm]
        if x:
            self.pulls[arm] = math.fsum(w)
            mean = math.fsum(map(float.__mul__, w, x)) / self.pulls[arm]
            self.means[arm] = min(max(mean, min(x)), max(x))  # so that arms with equal rewards tie

    def _bonus(self, arm: int, m: float) -> float:
        (x, w), n = self.sample(arm), float(self.pulls[arm])
        shortfall = float(w @ np.maximum(m - x, 0.0)) / n
        policy = self._policy
        if isinstance(policy, BDS):
            return float(_plain(bds_bonus)(policy.params, n, float(x.max()), shortfall, m))
        leverage = policy.rho if isinstance(policy, QDS) else _plain(slow_growth)(GROWTHS[policy.rho], 1.0 + n)
        return float(m + leverage * shortfall)

    def _reweighted(self, arm: int, m: float) -> tuple[Floats, Floats]:
        """Return what a duel reweights: values and Dirichlet parameters, the bonus at the end."""
        x, w = self.sample(arm)
        if isinstance(self._policy, QDS):
            order = np.argsort(x, kind="stable")
            x, w = x[order], w[order]
            rank = _plain(rank_of_tail)(float(self.pulls[arm]), self._policy.alpha)
            below = np.diff(np.minimum(np.cumsum(w), rank - 1.0), prepend=0.0)
            x, w = np.append(x, (w - below) @ x / (w - below).sum()), np.append(below, (w - below).sum())
            x, w = x[w > 0.0], w[w > 0.0]
        return np.append(x, self._bonus(arm, m)), np.append(w, 1.0)

    def _chances(self, leader: int) -> Floats:
        """Return each arm's probability of winning against this leader, 0 for those that do not duel."""
        m = float(self.means[leader])
        chances = np.zeros(len(self._x))
        for arm in np.flatnonzero(self.pulls < self.pulls[leader]).tolist():
            values, weights = self._reweighted(arm, m)
            chances[arm] = 1.0 if self.means[arm] >= m else crossing_probability(values, m, weights)
        return chances

    def propensities(self) -> Floats:
        """Return each arm's probability of being in the next round."""
        return average_over_leaders(self, self._chances)

    def select(self, rng: np.random.Generator) -> list[int]:
        """Return the arms of the next round."""
        most = np.flatnonzero(self.pulls == self.pulls.max())
        best = most[self.means[most] == self.means[most].max()]
        leader = int(best[int(rng.random() * best.size)])
        m = float(self.means[leader])
        winners = []
        for arm in np.flatnonzero(self.pulls < self.pulls[leader]).tolist():
            values, weights = self._reweighted(arm, m)
            drawn = rng.standard_gamma(weights[:-1]) @ (values[:-1] - m)
            total = drawn + rng.standard_exponential() * (values[-1] - m)
            if self.means[arm] >= m or total >= 0.0:
                winners.append(arm)
        return rng.permutation(winners).tolist() if winners else [leader]
