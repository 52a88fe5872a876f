"""Judge claims by numbers: each comparison has a confidence interval, and the interval decides.

A claim states that some quantities lie within limits. It is *supported* if every interval lies inside, *not
supported* if one lies outside, else *undecided*. The intervals of one claim hold together with 95% confidence
(Bonferroni), so a true claim is called not supported, and a false one supported, with probability at most 2.5% each.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from dirichlet_bandits.report.claims import Claim
from dirichlet_bandits.results import Result
from dirichlet_bandits.results.comparison import bootstrap, student
from dirichlet_bandits.types import Floats

Outcome = Literal["supported", "not supported", "undecided"]
OUTCOMES: tuple[Outcome, ...] = ("supported", "not supported", "undecided")
CONFIDENCE = 0.95
# Of (quantity, ..., replication): the quantities are those of _quantities.
_STATISTICS: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda rows: np.asarray(rows[0].mean(axis=-1)),
    "std": lambda rows: np.asarray(rows[0].std(axis=-1, ddof=1)),
    "q95": lambda rows: np.asarray(np.quantile(rows[0], 0.95, axis=-1)),
    "growth": lambda rows: np.asarray(np.log2(rows[0].mean(axis=-1) / rows[1].mean(axis=-1))),
}
_NAMES = {"mean": "mean {regret}", "std": "standard deviation", "q95": "95% quantile", "growth": "growth exponent"}


_UNKNOWN = (math.nan, -math.inf, math.inf, -math.inf, 0.0)


class Contrast(NamedTuple):
    """A quantity with its interval, and the limits that the claim sets for it."""

    what: str
    value: float
    low: float
    high: float
    least: float
    most: float
    ratio: float = math.nan

    @property
    def outcome(self) -> Outcome:
        """The outcome of the comparison: the interval is inside the limits, outside, or neither."""
        if self.least < self.low and self.high < self.most:
            return "supported"
        if self.high < self.least or self.low > self.most:
            return "not supported"
        return "undecided"

    @property
    def slack(self) -> float:
        """The distance from the value to the nearer limit, in half-widths of the interval; negative outside."""
        half = max((self.high - self.low) / 2, 1e-300)
        return min(self.value - self.least, self.most - self.value) / half


class Verdict(NamedTuple):
    """A claim, its outcome, and the comparisons that decided it; ``pairs`` is the number of replications."""

    says: str
    reading: str
    comparisons: Sequence[Contrast]
    pairs: int

    @property
    def outcome(self) -> Outcome:
        """The outcome of the claim: supported if every comparison is, not supported if one is not."""
        outcomes = {comparison.outcome for comparison in self.comparisons}
        if outcomes == {"supported"}:
            return "supported"
        return "not supported" if "not supported" in outcomes else "undecided"

    @property
    def closest(self) -> Contrast:
        """The comparison that is least favorable to the claim."""
        return min(self.comparisons, key=lambda comparison: comparison.slack)


def judge_regret(claim: Claim, result: Result) -> Verdict:
    """Judge a claim on regrets, paired over replications, in which all policies saw the same rewards."""
    runs = {name: _quantities(result, name, claim.statistic) for name in [*claim.lower, *claim.than]}
    done = ~np.isnan(np.concatenate(list(runs.values()))).any(axis=0)
    if done.sum() < 2:  # nothing can be concluded
        return Verdict(claim.says, claim.reading, [Contrast("too few replications", *_UNKNOWN)], int(done.sum()))
    runs = {name: rows[:, done] for name, rows in runs.items()}
    if claim.statistic == "spread":
        comparisons = [_spread(claim, *(np.concatenate([runs[n] for n in side]) for side in (claim.lower, claim.than)))]
    else:
        confidence = 1 - (1 - CONFIDENCE) / (len(claim.lower) * len(claim.than))
        comparisons = [
            _compare(claim, first, second, runs[first], runs[second], confidence, result.regret_label)
            for first in claim.lower
            for second in claim.than
        ]
    return Verdict(claim.says, claim.reading, comparisons, int(done.sum()))


def _quantities(result: Result, policy: str, statistic: str) -> Floats:
    """Return the regret at the horizon, (1, replication); for growth, also at half of it, (2, replication)."""
    final = result.final_regret(policy)
    if statistic != "growth":
        return final[None, :]
    half = result.regret.sel(policy=policy).sel(time=result.horizon / 2, method="nearest")
    return np.array([final, half.to_numpy()])


def _compare(
    claim: Claim, first: str, second: str, ours: Floats, theirs: Floats, confidence: float, regret: str
) -> Contrast:
    """Compare a statistic of one policy with ``times`` that of another, paired; the difference should be below zero."""
    statistic = _STATISTICS[claim.statistic]
    if claim.statistic == "mean":
        found = student(ours[0] - claim.times * theirs[0], confidence)
    else:
        split = len(ours)
        found = bootstrap(
            np.concatenate([ours, theirs]),
            lambda rows: statistic(rows[:split]) - claim.times * statistic(rows[split:]),
            confidence,
        )
    factor = "" if claim.times == 1 else f"{claim.times:g} \N{MULTIPLICATION SIGN} "
    what = f"{_NAMES[claim.statistic].format(regret=regret)}, {first} \N{MINUS SIGN} {factor}{second}"
    base = float(statistic(theirs))
    return Contrast(what, *found, -math.inf, 0.0, float(statistic(ours)) / base if base else math.nan)


def _spread(claim: Claim, lower: Floats, than: Floats) -> Contrast:
    """Compare the spread (largest mean over smallest) of two groups, on a log scale, where it is nearly normal."""

    def spread(rows: Floats) -> Floats:
        means = rows.mean(axis=-1)
        return np.asarray(np.log(means.max(axis=0) / means.min(axis=0)))

    split = len(lower)
    found = bootstrap(
        np.concatenate([lower, than]),
        lambda rows: spread(rows[:split]) - spread(rows[split:]) - math.log(claim.times),
        CONFIDENCE,
    )
    what = f"log spread, {' | '.join(claim.lower)} \N{MINUS SIGN} {' | '.join(claim.than)}"
    ratio = math.exp(float(spread(lower)) - float(spread(than)))
    return Contrast(what, *found, -math.inf, 0.0, ratio)
