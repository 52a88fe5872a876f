"""The lottery rule: which of two arms is better, from the recorded probabilities of the assignments.

A study that assigns arms by lottery knows the exact probability of every ticket. So it can bet on "b beats a by more
than h" at odds that are fair in every single round, whatever the level of the rewards is in that round.

A round may assign several arms. Let p_k be the recorded probability that arm k is in the round, given the past, I_k
whether it is, X_k its reward, and mu_k the mean of X_k given the past and I_k = 1. Put q = p_b/(p_a + p_b). Let f be a
prediction of the rewards and s > 0 a bet, both fixed before the round. The *factor* of the round is 1 + s Z(h) with

    Z(h) = (1 - q) I_b (X_b - f - q h)  -  q I_a (X_a - f + (1 - q) h).

Theorem. (1) Given the past, the mean of Z(h) is w (mu_b - mu_a - h) with w = p_a p_b/(p_a + p_b). (2) If b is never
better than a by more than h, mu_b - mu_a <= h in every round, the wealth, a product of factors that are not negative,
is a nonnegative supermartingale, and so is every average of wealths over bets. The probability that it ever reaches
1/delta is at most delta, however the levels of both arms move together, whatever the policy does, and however the
arms of one round depend on each other. (3) With the bets below, the wealth decreases in h, so the h at which it has
reached 1/delta are all those up to some point: a one-sided confidence sequence for the difference, if it is constant.

Proof. (1) E[Z(h)] = (1 - q) p_b (mu_b - f - q h) - q p_a (mu_a - f + (1 - q) h), and (1 - q) p_b = q p_a = w. So f
cancels, and h has the weight w (q + 1 - q) = w. (2) Then the mean of a factor is at most 1; Ville's inequality. (3) is
below.

Rewards in [0, 1]. The smallest values of the two terms of Z(h) are -(1 - q)(f + q h) and -q (1 - f + (1 - q) h). Let M
be twice the larger of these sizes, or once if the round assigns a single arm. Then 1 + s Z(h) >= 0.1 for s <= 0.9/M, if
M > 0, and for all s otherwise. A bet that is larger is reduced to this cap. The prediction is f = (sum + 1/2)/(n + 1)
over the earlier rewards of both arms. *Monotone:* Z(h) decreases in h at the rate v = q (1 - q) (I_a + I_b), and M,
where it is positive, grows at the rate m q (1 - q), m = 1 or 2. So where the cap does not bind, the factor decreases.
Where it binds, the factor is 1 + 0.9 Z/M, with a derivative of the sign of -(v M + m q (1 - q) Z). If one arm was
assigned, that is -q (1 - q)(M + m Z) <= 0, because Z >= -M/m. If both were, m = 2, and it is -2 q (1 - q)(M + Z),
which is not positive either. []

Rewards without bounds. With the deviation g, the root of the largest of the variances of both arms' rewards together,
of those of a, and of those of b, each bet k is on a clipped reward, clip(k u) = min(max(k u, -0.9/(1 - q)), 0.9/q) with
u = (X_b - f - q h)/g or (X_a - f + (1 - q) h)/g, and f is the mean so far. The factor is 1 + (1 - q) I_b clip(k u_b) -
q I_a clip(k u_a), with half these limits if a round may assign several arms; it decreases in h as well. Its mean is 1 +
w (E clip(k u_b) - E clip(k u_a)) by the same argument, so with h = 0 the theorem holds for arms whose rewards have the
same distribution given the past, whatever it is and however it drifts, or if those of a are never distributed less
favorably. It is no statement about means of differently shaped rewards, for which no such rule exists.

The average so far. Let 0 < s < 1/c, where -c is below every Z(h), and psi(s) = (-log(1 - s c) - s c)/c^2. Then
exp(s z - psi(s) z^2) <= 1 + s z for z >= -c (Fan, Grama and Liu), so the product of exp(s Z - psi(s) Z^2 - s w (mu_b -
mu_a - h)) is a supermartingale, too, whatever sign the differences have. So if at any time the average of mu_b - mu_a
over the rounds so far, with the weights w, is at most h, the product of exp(s Z - psi(s) Z^2) is at most that
supermartingale. As |Z(h)| is at most max over q of 3 q - 2 q^2 for h from -1 to 1, c = 9/8 is enough. Bets up to 0.32
decrease in h, because s > 2 psi(s) c.

Missing rewards have no term. If those of both arms go missing with the same probability, whatever their values, this
multiplies the mean of Z(h) by a positive number, and the theorem holds as it is.

An arm that cannot come (p = 0) leaves the wealth alone, and so does an assignment that is certain beside one that is
impossible: a deterministic policy decides nothing here (``pair_bet.py`` is for those).

References: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, JRSS B 86; Cho,
Gan and Kallus (2024), Peeking with PEAK, ICML; Fan, Grama and Liu (2015), Exponential inequalities for martingales with
applications, EJP 20; Ville (1939), Étude critique de la notion de collectif.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import entry_point, jit
from dirichlet_bandits.types import Floats, Ints

BETS: Final[Floats] = np.asarray(0.005 * 2.0 ** np.arange(12))
"""Bets on rewards in [0, 1], for differences from a thousandth to all of the range."""

CLIPPED_BETS: Final[Floats] = np.asarray(0.0125 * 2.0 ** np.arange(6))
"""Bets on rewards without bounds, in their standard deviation."""

PRODUCT, CLIPPED, AVERAGE = range(3)
"""Kinds of bets: on rewards in [0, 1], on rewards without bounds, and on the average difference so far."""

_LOWEST: Final = 1.125  # no Z(h) is below this with the sign changed
_STAKE: Final = 0.9  # that a round can lose at most
_FEWEST: Final = 10  # rewards of each arm before the first bet on rewards without bounds
_ROUNDING: Final = 1e-12  # deviations that are smaller, relative to the mean, are rounding errors
_HUGE: Final = 1e100
_ALONE: Final = 1.0 + 1e-9  # sum of the probabilities of a round that assigns a single arm


def _prior(bets: Floats, center: float, width: float) -> Floats:
    """Return the weights of the bets: a Cauchy distribution of their logarithms."""
    weights = 1.0 / (1.0 + (np.log(bets / center) / width) ** 2)
    return np.asarray(weights / weights.sum())


PRIOR: Final = _prior(BETS, 0.3, 2.0)
_KINDS: Final = (BETS, PRIOR), (CLIPPED_BETS, _prior(CLIPPED_BETS, 0.15, 1.5)), (BETS[:7], _prior(BETS[:7], 0.3, 2.0))


Columns = tuple[Floats, Ints, Ints, Floats]


class Rounds:
    """Rounds in the order in which they were decided: the probability of every arm, and the trials with their rewards.

    A reward that is missing is NaN.
    """

    def __init__(self, n_arms: int) -> None:
        self.n_arms, self.n_rounds, self.n_trials = n_arms, 0, 0
        self._chances, self._row = np.empty((0, n_arms)), np.empty(0, np.int64)
        self._arm, self._reward = np.empty(0, np.int64), np.empty(0)

    def add(self, chances: Floats, row: Ints, arm: Ints, reward: Floats) -> "Rounds":
        """Add rounds with their trials; ``row`` has the round of each trial, counted from the first of these."""
        rounds, trials = self.n_rounds + len(chances), self.n_trials + len(row)
        self._chances = _with_room(self._chances, rounds)
        self._row, self._arm, self._reward = (_with_room(x, trials) for x in (self._row, self._arm, self._reward))
        self._chances[self.n_rounds : rounds] = chances
        self._row[self.n_trials : trials] = np.asarray(row) + self.n_rounds
        self._arm[self.n_trials : trials], self._reward[self.n_trials : trials] = arm, reward
        self.n_rounds, self.n_trials = rounds, trials
        return self

    @property
    def columns(self) -> Columns:
        """The probabilities, one row per round, and the round, the arm and the reward of each trial."""
        n = self.n_trials
        return self._chances[: self.n_rounds], self._row[:n], self._arm[:n], self._reward[:n]


def _with_room(x: np.ndarray, n: int) -> np.ndarray:
    """Return the array with room for n rows; it doubles, so that adding one row takes constant time on average."""
    if n <= len(x):
        return x
    grown = np.empty((max(n, 2 * len(x)), *x.shape[1:]), x.dtype)
    grown[: len(x)] = x
    return grown


class Pair(NamedTuple):
    """The claim that arm b beats arm a by more than h, and the kind of bets."""

    b: int
    a: int
    h: float
    kind: int


class Purse(NamedTuple):
    """The bets of a pair, room for their gains in a round, the wealth of each, and what is known beside that.

    ``sums`` has the logarithm of what all wealths were divided by, that of the largest total before the last division,
    the sums of :class:`Moved`, and the largest total since; ``moments`` the number, mean and squared deviations of the
    rewards of b, a, and both.
    """

    bets: Floats
    gains: Floats
    wealth: Floats
    sums: Floats
    moments: Floats


class Moved(NamedTuple):
    """By how much one arm is better than another, as the bets see it: ``sum`` over ``weight``, and the sum of squares.

    The standard error of ``sum / weight`` is the root of ``squares`` over ``weight``.
    """

    sum: float
    squares: float
    weight: float


class Wealth:
    """The wealth of all bets on "b beats a by more than h", brought up to date with each round.

    Rewards are in [0, 1], or without bounds if the bets are CLIPPED. However the rounds are divided among calls of
    :meth:`follow`, the numbers are the same to the last bit.

    >>> rounds = Rounds(2)
    >>> rng = np.random.default_rng(0)
    >>> arm = rng.integers(0, 2, 1000)
    >>> rewards = (rng.random(1000) < np.where(arm == 1, 0.7, 0.5)).astype(float)
    >>> wealth = Wealth(1, 0).follow(rounds.add(np.full((1000, 2), 0.5), np.arange(1000), arm, rewards))
    >>> wealth.peak > math.log(2 / 0.05)
    True
    """

    def __init__(self, b: int, a: int, h: float = 0.0, kind: int = PRODUCT) -> None:
        self._pair, self._next = Pair(b, a, float(h), kind), 0
        self.bets, prior = _KINDS[kind]
        sums = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        self._purse = Purse(self.bets, np.empty(self.bets.size), prior.copy(), sums, np.zeros((3, 3)))

    def follow(self, rounds: Rounds) -> "Wealth":
        """Bet on the rounds that are new."""
        if self._next < rounds.n_trials:
            self._next = _bet(rounds.columns, self._next, self._pair, self._purse)
        return self

    @property
    def logs(self) -> Floats:
        """The logarithm of the wealth of each bet, with its weight."""
        with np.errstate(divide="ignore"):
            return np.log(self._purse.wealth) + self._purse.sums[0]

    @property
    def now(self) -> float:
        """The logarithm of the present wealth."""
        return float(math.log(self._purse.wealth.sum()) + self._purse.sums[0])

    @property
    def peak(self) -> float:
        """The logarithm of the largest wealth so far, which the theorem bounds just as well."""
        return peak(self._purse.sums)

    @property
    def moved(self) -> Moved:
        """By how much b is better, as the bets see it."""
        return Moved(*self._purse.sums[2:5].tolist())

    @property
    def deviation(self) -> float:
        """The deviation by which bets without bounds are scaled; 0 with fewer than two rewards of an arm."""
        return _deviation(self._purse.moments)


@entry_point
def _bet(columns: Columns, first: int, pair: Pair, purse: Purse) -> int:
    """Bet on all rounds from the trial ``first`` on, and return the number of trials."""
    chances, row, arm, reward = columns
    i = first
    while i < row.size:
        end = i + 1
        while end < row.size and row[end] == row[i]:
            end += 1
        bet_on_round(chances[row[i]], arm[i:end], reward[i:end], pair, purse)
        i = end
    return i


@jit
def bet_on_round(chances: Floats, arm: Ints, reward: Floats, pair: Pair, purse: Purse) -> None:
    """Bet on one round, all of whose trials are given."""
    b, a, (bets, gains, wealth, sums, moments) = pair.b, pair.a, purse
    if chances[a] > 0.0 and chances[b] > 0.0 and _gains(chances, arm, reward, pair, purse):
        total = 0.0
        for k in range(bets.size):
            wealth[k] *= 1.0 + gains[k]
            total += wealth[k]
        sums[5] = max(sums[5], total)
        if not 1.0 / _HUGE < total < _HUGE:
            sums[1] = max(sums[1], math.log(sums[5]) + sums[0])
            sums[0] += math.log(total)
            sums[5] = 1.0
            wealth /= total
    for j in range(arm.size):
        if reward[j] == reward[j] and (arm[j] == a or arm[j] == b):
            _count(moments[0 if arm[j] == b else 1], reward[j])
            _count(moments[2], reward[j])


@jit
def peak(sums: Floats) -> float:
    """Return the logarithm of the largest total so far."""
    return max(sums[1], math.log(sums[5]) + sums[0])


@jit
def _gains(chances: Floats, arm: Ints, reward: Floats, pair: Pair, purse: Purse) -> bool:
    """Write what each bet gains in a round, as a share of its wealth; return False if it gains and loses nothing."""
    (b, a, h, kind), (bets, gains, _, sums, moments) = pair, purse
    q = chances[b] / (chances[a] + chances[b])
    several = 2.0 if chances.sum() > _ALONE else 1.0
    n, mean = moments[2, 0], moments[2, 1]
    f, deviation = (n * mean + 0.5) / (n + 1.0), 1.0
    if kind == CLIPPED:
        f, deviation = mean, _deviation(moments)
        if moments[0, 0] < _FEWEST or moments[1, 0] < _FEWEST or not deviation > _ROUNDING * abs(mean):
            return False
    low, high = -_STAKE / (several * (1.0 - q)), _STAKE / (several * q)
    z, moved, bet = 0.0, 0.0, False
    gains[:] = 0.0
    for j in range(arm.size):
        if reward[j] == reward[j] and (arm[j] == a or arm[j] == b):
            share, shift = (1.0 - q, -q) if arm[j] == b else (-q, 1.0 - q)
            x = reward[j] - f
            z += share * (x + shift * h)
            moved += share * x
            sums[4] += q * (1.0 - q)
            bet = True
            if kind == CLIPPED:
                for k in range(bets.size):
                    gains[k] += share * min(max(bets[k] * (x + shift * h) / deviation, low), high)
    sums[2] += moved
    sums[3] += moved * moved
    if kind == AVERAGE:
        for k in range(bets.size):
            stake = bets[k] * _LOWEST
            psi = (-math.log1p(-stake) - stake) / _LOWEST**2
            gains[k] = math.expm1(bets[k] * z - psi * z * z)
    elif kind == PRODUCT:
        worst = several * max((1.0 - q) * (f + q * h), q * (1.0 - f + (1.0 - q) * h))
        cap = _STAKE / worst if worst > 0.0 else math.inf
        for k in range(bets.size):
            gains[k] = min(bets[k], cap) * z
    return bet


@jit
def _count(moments: Floats, x: float) -> None:
    before = moments[1]
    moments[0] += 1.0
    moments[1] += (x - before) / moments[0]
    moments[2] += (x - before) * (x - moments[1])


@jit
def _deviation(moments: Floats) -> float:
    """Return the root of the largest of three variances; 0 if an arm has fewer than two rewards."""
    largest = 0.0
    for one in moments:
        if one[0] < 2.0:
            return 0.0
        largest = max(largest, one[2] / (one[0] - 1.0))
    return math.sqrt(largest)
