"""What the rewards of a study say about the differences between its arms, at all times at once.

For arms b and a, ``log_wealth`` is the logarithm of the wealth of bets on "b beats a by more than h". That it ever
reaches log(1/delta) although the claim is false has a probability of at most delta. It decreases in h, so the h at
which it has reached a threshold are all those up to some point: a rule that names a winner, and an interval of its lead
(``lead``), are the same thing.

* What was drawn by lottery, with recorded probabilities, is judged by the lottery rule (``lottery.py``). It needs no
  arm to keep its mean. A pair once beaten stays beaten: the largest wealth so far counts.
* What a deterministic policy chose, and what was imported, is *apart*, and judged by the pair bet (``pair_bet.py``). If
  there are rewards of both kinds, the wealth of one is the starting capital of the other, and they are multiplied.
* An ``average`` over the rounds so far is judged by bets that allow for differences that change their sign; then what
  is apart says nothing, and the present wealth counts.
* Without bounds, there is no pair bet. If most rewards are apart, all are judged by their counts: with means x,
  variances s^2, each at least that of both arms' rewards together, and a prior worth 50 rewards, log_wealth is

      (x_b - x_a - h)^2 / (2 V) - r(n_a) - r(n_b),   V = sum over both of s^2 (n + 50)/n^2,   r(n) = log(1 + n/50)/2.

  If rewards were normal with these variances, its exponential would be at most the product of two supermartingales,
  exp(S^2 / (2 s^2 (n + 50))) sqrt(50/(n + 50)) with S = n (x - mu). For other distributions with a variance, this holds
  in the limit of many rewards only: an asymptotic confidence sequence.

References: Robbins (1970), Statistical methods related to the law of the iterated logarithm, Annals of Mathematical
Statistics 41; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), Time-uniform central limit theory and asymptotic
confidence sequences, Annals of Statistics 52; the references of ``lottery.py``.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.inference import lottery
from dirichlet_bandits.inference.intervals import Bounds, Interval, are_finite, shares, why_none
from dirichlet_bandits.inference.lottery import BETS, Rounds, Wealth
from dirichlet_bandits.inference.moments import Moments
from dirichlet_bandits.inference.pair_bet import SURE, Counts, sum_of
from dirichlet_bandits.types import Floats, Ints


class WinnerMethod(NamedTuple):
    """What a winner claims: the method, whether it is proved for all distributions, and what it assumes, in words."""

    name: str
    proved: bool
    method: str
    assumes: str


LOTTERY: Final = WinnerMethod(
    "lottery",
    True,
    "lottery rule: any rewards within the bounds",
    "if the differences between the arms keep their sign",
)
AVERAGE: Final = WinnerMethod(
    "average",
    True,
    "lottery rule for the average: any rewards within the bounds",
    "on average over the trials so far, whatever has changed",
)
PAIR_BET: Final = WinnerMethod(
    "pair bet",
    True,
    "pair bet: any rewards within the bounds",
    "if each arm's rewards keep one mean",
)
CLIPPED: Final = WinnerMethod(
    "clipped lottery",
    False,
    "clipped lottery rule: any rewards of the same distribution",
    "if the winner's rewards are distributed like a rival's, or less favorably, however they drift "
    "(for equal means of differently shaped rewards, this is an approximation)",
)
COUNTS: Final = WinnerMethod(
    "counts",
    False,
    "asymptotic confidence sequence of the difference: any distributions with a variance, many rewards",
    "in the limit of many trials, if each arm's rewards keep one mean",
)
CLAIMS: Final = {claim.name: claim for claim in (LOTTERY, AVERAGE, PAIR_BET, CLIPPED, COUNTS)}

DRAWN, DECIDED, PAST = "drawn", "decided", "past"
"""Sources of rewards: drawn by lottery, decided for certain, and imported."""

MOST_STATES: Final = 1000
"""Running states that are kept of each kind, because every new margin or delta that is asked for adds some."""

_PRIOR: Final = 50.0
"""Rewards that the prior of the asymptotic sequence is worth: it is narrowest after about eight times as many."""

_GRID: Final = 64  # points on which the end of an interval is sought, in about half of its width


class ArmSample(NamedTuple):
    """Rewards of an arm: number, mean and variance, and whether they allow a comparison."""

    n: float
    mean: float
    variance: float
    tells: bool


class Prospect(NamedTuple):
    """What bets have won so far, and what they win with more information, if the future is like the past.

    A bet s wins s d - s^2 v/2 on average for each unit of information, with the ``lead`` d above the margin and the
    ``variance`` v. With m and n more rewards of the two arms, m n/(m + n) units are added to the present ``weight``.
    """

    bets: Floats
    logs: Floats
    lead: float
    variance: float
    weight: float

    def after(self, more: float, errors: float = 0.0) -> float:
        """Return the logarithm of the wealth with more information, if the lead is so many standard errors larger."""
        lead = self.lead + errors * math.sqrt(self.variance / self.weight)
        found = self.logs + more * _growth(self.bets, lead, self.variance)
        return float(np.logaddexp.reduce(found))

    @property
    def per_reward(self) -> float:
        """The evidence that one more reward of a rare arm adds."""
        return 0.5 * self.lead**2 / self.variance if self.lead > 0.0 and self.variance > 0.0 else 0.0


def _make_room(states: dict[Any, Any]) -> None:
    """Forget the running states if there are too many; those that are asked for again are computed again."""
    if len(states) >= MOST_STATES:
        states.clear()


def _cost(one: Moments, other: Moments) -> float:
    """Return what looking at any time costs the rule from counts."""
    return 0.5 * (math.log1p(one.n / _PRIOR) + math.log1p(other.n / _PRIOR))


def _growth(bets: Floats, lead: float, variance: float) -> Floats:
    """Return what bets win on average; a bet on tiny rewards is so large that its square may be infinite."""
    return np.asarray(bets * lead - 0.5 * (bets * math.sqrt(variance)) ** 2)


class Evidence:
    """The rewards of some arms, large ones good, with bounds or without, brought up to date with each reward.

    >>> evidence = Evidence(2, (0.0, 1.0))
    >>> arm = np.tile([0, 1], 1000)
    >>> rewards = (np.random.default_rng(0).random(2000) < np.where(arm == 1, 0.7, 0.5)).astype(float)
    >>> evidence.add_rounds(np.full((2000, 2), 0.5), np.arange(2000), arm, rewards).claim.name
    'lottery'
    >>> low, high = evidence.lead(1, 0, math.log(2 / 0.05))
    >>> 0.0 < low < 0.2 < high < 0.35
    True
    """

    def __init__(self, n_arms: int, bounds: Bounds, average: bool = False) -> None:
        self.bounded, self._average = are_finite(bounds), average
        self._low, self._unit = (bounds[0], bounds[1] - bounds[0]) if self.bounded else (0.0, 1.0)
        # Each source has sums of its own, so they do not depend on which rewards of two sources one learned first.
        self._rounds, self._apart = Rounds(n_arms), {source: Counts(n_arms) for source in (DECIDED, PAST)}
        self._of = {source: [Moments() for _ in range(n_arms)] for source in (DRAWN, DECIDED, PAST)}
        self._bets: dict[tuple[int, int, float], Wealth] = {}
        self._ends: dict[tuple[int, int, float], tuple[int, float, Wealth]] = {}  # ends of leads, and bets above

    def add_rounds(self, chances: Floats, row: Ints, arm: Ints, reward: Floats) -> "Evidence":
        """Add rounds with the probability of every arm, and their trials, as :class:`Rounds` has them."""
        scaled = self._scaled(reward)
        self._rounds.add(chances, row, arm, scaled)
        self._count(arm, scaled, DRAWN)
        return self

    def add_apart(self, arm: Ints, reward: Floats, source: str = PAST) -> "Evidence":
        """Add rewards of trials that were not drawn by lottery, of which nothing is known for an average."""
        scaled = self._scaled(reward)
        if self._average:
            return self
        if self.bounded:
            self._apart[source].add(arm, scaled)
        self._count(arm, scaled, source)
        return self

    def _scaled(self, reward: Floats) -> Floats:
        scaled = (np.asarray(reward, np.float64) - self._low) / self._unit
        return np.clip(scaled, 0.0, 1.0) if self.bounded else scaled

    def _count(self, arm: Ints, reward: Floats, source: str) -> None:
        told = ~np.isnan(reward)
        for one in np.unique(np.asarray(arm)[told]).tolist():
            self._of[source][one].add(reward[told & (arm == one)])

    def _moments(self, arm: int, *sources: str) -> Moments:
        """Return the moments of an arm's rewards from some sources, or from all."""
        found = Moments()
        for source in sources or self._of:
            found = found.with_those_of(self._of[source][arm])
        return found

    @property
    def n_apart(self) -> int:
        """The number of rewards that were not drawn by lottery."""
        return sum(one.n for source in (DECIDED, PAST) for one in self._of[source])

    @property
    def claim(self) -> WinnerMethod:
        """What a winner by this evidence claims."""
        if self._average:
            return AVERAGE
        if self.bounded:
            return PAIR_BET if self.n_apart else LOTTERY
        return COUNTS if self.n_apart > sum(one.n for one in self._of[DRAWN]) else CLIPPED

    def samples(self, rewards: Sequence[Floats] | None) -> list[ArmSample]:
        """Return each arm's sample; without bounds, from its ``rewards``, which tell whether it can be compared."""
        found = []
        for arm in range(len(self._of[DRAWN])):
            one = self._moments(arm)
            tells = one.n > 0 if self.bounded or rewards is None else why_none(rewards[arm]) is None
            variance = 0.0 if one.n == 1 else one.variance * self._unit**2
            found.append(ArmSample(float(one.n), self._low + self._unit * one.mean, variance, tells))
        return found

    @property
    def widest(self) -> float:
        """The largest possible difference of two means."""
        return self._unit if self.bounded else math.inf

    def log_wealth(self, b: int, a: int, h: float) -> float:
        """Return the evidence that the mean of b exceeds that of a by more than h."""
        key = b, a, self._in_units(h)
        if self.claim is COUNTS:
            return self._by_counts(b, a, h)
        if key not in self._bets:
            _make_room(self._bets)
            self._bets[key] = self._wealth(*key)
        return self._with_apart(self._bets[key].follow(self._rounds), *key)

    def _in_units(self, h: float) -> float:
        """Return a difference as the bets see it; of rewards within bounds, none is above 1, so 2 stands for more."""
        return min(max(h / self._unit, -2.0), 2.0) if self.bounded else h

    def _wealth(self, b: int, a: int, h: float) -> Wealth:
        kind = lottery.AVERAGE if self._average else lottery.PRODUCT if self.bounded else lottery.CLIPPED
        return Wealth(b, a, h, kind).follow(self._rounds)

    def _with_apart(self, wealth: Wealth, b: int, a: int, h: float) -> float:
        if self.claim in (LOTTERY, CLIPPED):
            return wealth.peak
        return wealth.now + (0.0 if self._average else sum_of(*self._apart.values()).log_wealth(b, a, h))

    def _by_counts(self, b: int, a: int, h: float) -> float:
        best, rival = self._moments(b), self._moments(a)
        if best.n < 2 or rival.n < 2:
            return 0.0
        gap, cost, spread = best.mean - rival.mean - h, _cost(best, rival), self._spread(b, a, _PRIOR)
        return min(0.5 * gap**2 / spread, SURE) - cost if gap > 0.0 and spread > 0.0 else -cost

    def _least_by_counts(self, b: int, a: int, log_odds: float) -> float:
        best, rival = self._moments(b), self._moments(a)
        if best.n < 2 or rival.n < 2:
            return -math.inf
        spread = self._spread(b, a, _PRIOR)
        if spread <= 0.0:  # rewards are equal, or so small that their variances are 0
            return -math.inf
        return best.mean - rival.mean - math.sqrt(2.0 * (log_odds + _cost(best, rival)) * spread)

    def _spread(self, b: int, a: int, prior: float) -> float:
        """Return the sum of s^2 (n + prior)/n^2 over both arms, with variances at least that of all their rewards."""
        pair = self._moments(b), self._moments(a)
        n, gap = sum(one.n for one in pair), pair[0].mean - pair[1].mean
        squares = sum(one.variance * (one.n - 1) for one in pair) + gap**2 * pair[0].n * pair[1].n / n
        return float(sum(max(one.variance, squares / (n - 1)) * (one.n + prior) / one.n**2 for one in pair))

    def estimate(self, b: int, a: int) -> float:
        """Return by how much the mean of b exceeds that of a; NaN as long as that is not known."""
        total, _, weight = self._moved(b, a)
        return self._unit * total / weight if weight > 0.0 else math.nan

    def _moved(self, b: int, a: int) -> tuple[float, float, float]:
        """Return the lead times its weight, its variance times the square of that, and the weight."""
        counts = self.claim is COUNTS
        drawn = (0.0, 0.0, 0.0)
        if not counts:
            self.log_wealth(b, a, 0.0)
            drawn = self._bets[b, a, 0.0].moved
        one, two = (self._moments(arm, *(() if counts else (DECIDED, PAST))) for arm in (b, a))
        if not one.n or not two.n:
            return drawn
        weight = one.n * two.n / (one.n + two.n)
        variances = [0.25 if x.n == 1 else x.variance for x in (one, two)]
        squares = weight**2 * (variances[0] / one.n + variances[1] / two.n)
        apart = weight * (one.mean - two.mean), squares, weight
        return tuple(x + y for x, y in zip(drawn, apart, strict=True))  # type: ignore[return-value]

    def lead(self, b: int, a: int, log_odds: float, h: float = 0.0) -> Interval:
        """Return a confidence sequence for how much the mean of b exceeds that of a, if that does not change.

        Each end is wrong, at any time, with probability at most exp(-log_odds). The lower end is at least h if and only
        if ``log_wealth(b, a, h) >= log_odds``.
        """
        low, high = self._least(b, a, log_odds, h), -self._least(a, b, log_odds, -h)
        return Interval(max(low, -self.widest), min(high, self.widest))

    def _least(self, b: int, a: int, log_odds: float, h: float) -> float:
        """Return an h, nearly the largest one, with log_wealth >= log_odds; if there is none, the least difference."""
        total, squares, weight = self._moved(b, a)
        if weight <= 0.0:
            return -self.widest
        if self.claim is COUNTS:
            return self._least_by_counts(b, a, log_odds)

        step = (math.sqrt(2.0 * log_odds * squares) + self.bounded) / weight / _GRID
        if step <= 0.0:  # all rewards are equal
            return -self.widest
        if self.bounded:  # the same step as before, most of the time
            step = 2.0 ** math.floor(math.log2(step))
        found = self._unit * self._on_grid((b, a, log_odds), math.floor(total / weight / step), step)
        return max(found, h) if self.log_wealth(b, a, h) >= log_odds else found

    def _on_grid(self, key: tuple[int, int, float], middle: int, step: float) -> float:
        """Return the largest multiple of the step, in units, that is excluded; the search begins at the ``middle``."""
        (b, a, log_odds), lasts = key, self.claim in (LOTTERY, CLIPPED)
        low, high, gap = None, None, 2 * _GRID
        if lasts and key in self._ends and self._ends[key][1] == step:  # what is excluded stays excluded
            low, _, above = self._ends[key]
            if above.follow(self._rounds).peak < log_odds:
                return low * step
            low += 1

        def beats(place: int) -> bool:
            return self._with_apart(self._wealth(b, a, place * step), b, a, place * step) >= log_odds

        lowest = math.ceil(-1.0 / step) if self.bounded else -(10**12)
        while low is None:
            place = max((middle if high is None else high) - gap, lowest)
            low, high, gap = (place, high, gap) if beats(place) else (None, place, 4 * gap)
            if high == lowest:
                return -self.widest / self._unit
        gap = _GRID
        while high is None:
            place = max(low, middle) + gap
            low, high, gap = (place, None, 4 * gap) if beats(place) else (low, place, gap)
        while high - low > 1:
            place = (low + high) // 2
            low, high = (place, high) if beats(place) else (low, place)
        if lasts:
            _make_room(self._ends)
            self._ends[key] = low, step, self._wealth(b, a, high * step)
        return low * step

    def prospect(self, b: int, a: int, h: float) -> Prospect | None:
        """Return what more rewards promise for "b beats a by more than h"; None as long as nothing is known."""
        total, squares, weight = self._moved(b, a)
        if weight <= 0.0 or squares <= 0.0:
            return None
        lead, variance = total / weight - self._in_units(h), squares / weight
        now = self.log_wealth(b, a, h)
        wealth = self._bets.get((b, a, self._in_units(h)))
        if wealth is None or self.claim is PAIR_BET:
            bets: Floats = BETS / (1.0 if self.bounded else math.sqrt(variance))
            logs = weight * _growth(bets, lead, variance)
            logs += min(now, 1e300) - np.logaddexp.reduce(logs)
        else:
            bets, logs = wealth.bets / (1.0 if self.bounded else wealth.deviation or 1.0), wealth.logs
        return Prospect(bets, logs, lead, variance, weight)


def lifts(samples: Sequence[Floats], bounds: Bounds, since: Sequence[int], base: int, level: float) -> list[Interval]:
    """Return confidence sequences of the differences from the mean of arm ``base``, which hold together at the level.

    They assume that each arm's rewards keep one mean. ``since`` has the number of trials before each arm was added.
    """
    evidence = Evidence(len(samples), bounds)
    evidence.add_apart(np.repeat(np.arange(len(samples)), [x.size for x in samples]), np.concatenate(samples))
    others = [arm for arm in range(len(samples)) if arm != base]
    found = [Interval(0.0, 0.0)] * len(samples)
    for arm, share in zip(others, shares([since[arm] for arm in others]).tolist(), strict=True):
        tell = evidence.bounded or all(why_none(samples[one]) is None for one in (arm, base))
        log_odds = -math.log(0.5 * (1.0 - level) * share)
        found[arm] = evidence.lead(arm, base, log_odds) if tell else Interval(-math.inf, math.inf)
    return found
