"""The probability that a challenger of BDS, RDS or QDS wins: a crossing probability, direct or incremental.

The challenger's contour (``numerics/contour.py``) is updated with its rewards. It estimates its own error and is
rebuilt when the error is too large. In live studies, which record probabilities, the error must stay below
CONTOUR_ERROR; in simulations, which use them only to decide, below CLOCK_ERROR.

BDS, RDS and QDS in which rewards have weights: Dirichlet parameters other than 1.

Past rewards of a live study (``live/settings.py``) are handled in plain Python, with one pass over all rewards per
decision. Discounted rewards (RDS only, experimental) are handled by compiled code.
"""

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements, specialized, verb
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.arrays import shifted, with_last
from dirichlet_bandits.numerics.compensated import weight_of
from dirichlet_bandits.numerics.costs import CONTOUR_KEPT_FROM, CONTOUR_LEAST
from dirichlet_bandits.numerics.crossing import crossing_probability, log_crossing
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR
from dirichlet_bandits.policies.dirichlet.rule import (
    BDS,
    QDS,
    RDS,
    BDSParams,
    QDSParams,
    RDSParams,
    bds_bonus,
    bonus_of,
    rank_of_tail,
    reweighted,
)
from dirichlet_bandits.policies.dirichlet.sums import SAMPLE, update_tail
from dirichlet_bandits.policies.growth import GROWTHS, slow_growth
from dirichlet_bandits.policies.ring import Ring, Weighted, discounted_samples, discounted_state, select_discounted
from dirichlet_bandits.policies.rounds import (
    average_over_leaders,
    complete_round,
    incremental_win_probability,
    leader_of,
    win_probability,
)
from dirichlet_bandits.policies.weighted_rewards import WeightedRewards
from dirichlet_bandits.types import Floats, Ints, Records

FEW = 16  # different values that are merged, at most


@jit
def merged(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values with their weights summed if there are few; otherwise, the same values and weights.

    >>> merged(np.array([0.0, 1.0, 0.0]), np.empty(0))
    (array([0., 1.]), array([2., 1.]))
    """
    different, sums, n = np.empty(FEW), np.empty(FEW), 0
    for i in range(values.size):
        k = 0
        while k < n and different[k] != values[i]:
            k += 1
        if k == FEW:
            return values, weights
        if k == n:
            different[k], sums[k] = values[i], 0.0
            n += 1
        sums[k] += weight_of(weights, i)
    return different[:n], sums[:n]


@jit
def log_crossing_of(values: Floats, weights: Floats, b: float, m: float) -> float:
    """Return log P(reweighted mean of the values and the bonus b, of weight 1, reaches m)."""
    return log_crossing(shifted(with_last(values, b), -m), with_last(weights, 1.0) if weights.size > 0 else weights)


@implements(win_probability, BDSParams, RDSParams, QDSParams)
def crossing_win(policy: Any, state: History, challenger: int, leader: int) -> float:
    """Return 1 if the challenger's mean reaches the leader's, else the crossing probability."""
    m = state.means[leader]
    if state.means[challenger] >= m:
        return 1.0
    b = bonus_of(policy, state, challenger, m)
    if b == math.inf:  # it outweighs everything
        return 1.0
    values, weights = reweighted(policy, rewards(state, challenger))
    return math.exp(log_crossing_of(values, weights, b, m))


@verb
def follow(policy: Any, stored: Any, x: Floats, sample: Any) -> Any:
    """Add the rewards after the first ``sample.followed`` to the stored contour of an arm with rewards x."""


@implements(follow, BDSParams, RDSParams)
def follow_rewards(policy: Any, stored: Any, x: Floats, sample: Any) -> None:
    """Add one value per reward."""
    for i in range(sample.followed, x.size):
        contour.append(stored, x[i], 1)
    sample.followed = x.size


@implements(follow, QDSParams)
def follow_truncated(policy: QDSParams, stored: Any, x: Floats, sample: Any) -> None:
    """Add and remove values where the rewards below the tail have changed, and replace the tail's mean."""
    known, old_border, old_mean = sample.followed, sample.border, sample.mean
    size, old_size = update_tail(sample, x, x[0], policy.alpha), known + 1 - rank_of_tail(known, policy.alpha)
    sample.followed, sample.mean = x.size, sample.origin + sample.tail / size
    sample.border = sample.window[x.size - size - sample.first]
    ties, old_ties = x.size - size, known - old_size  # rewards below the tail that are equal to its smallest value
    for i in range(x.size):
        below, was_below = x[i] < sample.border, i < known and x[i] < old_border
        ties, old_ties = ties - below, old_ties - was_below
        if below != was_below:
            contour.append(stored, x[i], 1 if below else -1)
    contour.append(stored, sample.border, ties)
    contour.append(stored, old_border, -old_ties)
    contour.append(stored, old_mean, -old_size)
    contour.append(stored, sample.mean, size)


@jit
def log_win_probability(
    policy: Any, x: Floats, b: float, m: float, stored: Any, sample: Any, tolerance: float
) -> float:
    """Return log P(index >= m) of an arm with rewards x and bonus b.

    It comes from the arm's contour if its estimated error is below the tolerance, after a rebuild if necessary.
    """
    if x.size >= CONTOUR_LEAST:
        if 4 * (x.size - sample.followed) >= x.size:  # a rebuild is cheaper
            contour.forget(stored)
        follow(policy, stored, x, sample)
        log_p, error = contour.evaluate(stored, m, b)
        if error <= tolerance:
            return log_p
    values, weights = merged(*reweighted(policy, x))
    if x.size >= CONTOUR_LEAST:
        log_p, error = contour.rebuilt(stored, values, weights, b, m)
        if error <= tolerance:
            return log_p
    return log_crossing_of(values, weights, b, m)


class Followed(NamedTuple):
    """The contour of each arm as a challenger, and the sample that it contains."""

    contours: Records  # ``CONTOUR``
    samples: Records  # ``SAMPLE``


def new_followed(n_arms: int) -> Followed:
    """Return empty records of all arms."""
    return Followed(contour.make.py_func(n_arms), np.zeros(n_arms, SAMPLE))  # type: ignore[attr-defined]


@implements(incremental_win_probability, BDSParams, RDSParams, QDSParams)
def followed_crossing_win(policy: Any, state: History, challenger: int, leader: int, memory: Followed) -> float:
    """Return the probability of winning from the challenger's contour, accurate to about 1e-10."""
    m, x = state.means[leader], rewards(state, challenger)
    b = bonus_of(policy, state, challenger, m)
    if state.means[challenger] >= m or x.size < CONTOUR_KEPT_FROM or b == math.inf:
        return crossing_win(policy, state, challenger, leader)
    stored, sample = memory.contours[challenger], memory.samples[challenger]
    return math.exp(log_win_probability(policy, x, b, m, stored, sample, CONTOUR_ERROR))


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


@jit
def discounted_bonus(policy: RDSParams, values: Floats, weights: Floats, n: float, m: float) -> float:
    """Return the bonus of RDS: m + rho_n times the mean of (m - X)^+, where n and the mean are discounted."""
    shortfall = 0.0
    for i in range(values.size):
        shortfall += weights[i] * max(m - values[i], 0.0)
    return m + slow_growth(policy.growth, 1.0 + n) * shortfall / n


@jit
def reweighted_duel(
    policy: RDSParams,
    values: Floats,
    weights: Floats,
    judged: Weighted,
    challenger: int,
    leader: int,
    rng: np.random.Generator,
) -> bool:
    """Whether the challenger's mean, or else its index, reaches the leader's mean."""
    m = judged.means[leader]
    if judged.means[challenger] >= m:
        return True
    total = (discounted_bonus(policy, values, weights, judged.pulls[challenger], m) - m) * rng.standard_exponential()
    for i in range(values.size):
        total += (values[i] - m) * rng.standard_gamma(weights[i])
    return total >= 0.0


@implements(select_discounted, RDSParams)
def select_by_duels(inner: RDSParams, policy: Any, ring: Ring, rng: np.random.Generator) -> Ints:
    """Return the winners of the duels, or the leader."""
    judged, (values, weights, first) = discounted_state(policy, ring), discounted_samples(policy, ring)
    leader = leader_of(judged.pulls, judged.means, rng)
    winners, n = np.empty(ring.pulls.size, np.int64), 0
    for arm in range(ring.pulls.size):
        own = slice(first[arm], first[arm + 1])
        if judged.pulls[arm] < judged.pulls[leader] and reweighted_duel(
            inner, values[own], weights[own], judged, arm, leader, rng
        ):
            winners[n] = arm
            n += 1
    return winners[: complete_round(winners, n, leader, rng)]


def duel_chances(policy: Any, ring: Any, judged: Any, leader: int) -> Floats:
    """Return each arm's probability of winning against this leader, 0 for those that do not duel; an entry point."""
    values, weights, first = discounted_samples(policy, ring)
    chances, m = np.zeros(ring.pulls.size), judged.means[leader]
    for arm in range(chances.size):
        if judged.pulls[arm] >= judged.pulls[leader]:
            continue
        if judged.means[arm] >= m:
            chances[arm] = 1.0
            continue
        own = slice(first[arm], first[arm + 1])
        n = values[own].size
        offsets, masses = np.empty(n + 1), np.empty(n + 1)
        for i in range(n):
            offsets[i], masses[i] = values[first[arm] + i] - m, weights[first[arm] + i]
        offsets[n] = discounted_bonus(policy.inner, values[own], weights[own], judged.pulls[arm], m) - m
        masses[n] = 1.0
        chances[arm] = math.exp(log_crossing(offsets, masses))
    return chances


def discounted_duels(policy: Any, ring: Ring) -> Floats:
    """Return the propensities of discounted RDS, the wrapping policy that is given."""
    params = policy.params
    judged, chances = specialized(discounted_state, params)(params, ring), specialized(duel_chances, params)
    return average_over_leaders(judged, lambda leader: chances(params, ring, judged, leader))
