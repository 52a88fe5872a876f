"""Confidence intervals over replications, and comparisons of policies: one pair, or all with Holm's correction."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.display import tables
from dirichlet_bandits.display.numbers import in_percent, interval, number
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    import pandas as pd

_RESAMPLES = 4000
_BLOCK = 250  # resamples at a time: a few megabytes for a thousand replications


class IntervalEstimate(NamedTuple):
    """An estimate and the ends of its confidence interval."""

    value: float
    low: float
    high: float


def student(values: Floats, confidence: float) -> IntervalEstimate:
    """Return Student's confidence interval for a mean.

    >>> student(np.array([1.0, 2.0, 3.0]), 0.95).value
    2.0
    """
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    width = error * float(scipy.special.stdtrit(values.size - 1, (1 + confidence) / 2))
    return IntervalEstimate(mean, mean - width, mean + width)


def student_p_value(values: Floats) -> float:
    """Return the two-sided p-value of Student's test that a mean is zero.

    It is alpha if the interval of level 1 - alpha ends at 0.

    >>> round(student_p_value(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    >>> student_p_value(np.zeros(3)), student_p_value(np.ones(3))
    (1.0, 0.0)
    """
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    if error == 0.0:
        return float(mean == 0.0)
    return 2.0 * float(scipy.special.stdtr(values.size - 1, -abs(mean) / error))


def bootstrap(rows: Floats, statistic: Callable[[Floats], Floats], confidence: float) -> IntervalEstimate:
    """Return the percentile interval for a statistic of replications, which are resampled with replacement.

    ``rows`` is (quantity, replication): the values of one replication stay together. ``statistic`` maps
    (quantity, resample, replication) to (resample,). The resamples are the same in every call.

    >>> x = np.random.default_rng(0).normal(size=(1, 400))
    >>> found = bootstrap(x, lambda rows: rows[0].std(axis=-1), 0.95)
    >>> found.low < 1 < found.high
    True

    Reference: Efron and Tibshirani (1993), An introduction to the bootstrap, chapter 13.
    """
    rng = np.random.default_rng(0)
    n = rows.shape[1]
    drawn = [statistic(rows[:, rng.integers(n, size=(_BLOCK, n))]) for _ in range(_RESAMPLES // _BLOCK)]
    low, high = np.quantile(np.concatenate(drawn), [(1 - confidence) / 2, (1 + confidence) / 2])
    return IntervalEstimate(float(statistic(rows[:, None, :])[0]), float(low), float(high))


class Comparison(NamedTuple):
    """The mean difference between the regrets of two policies over the replications that both finished.

    ``low`` and ``high`` are the ends of its confidence interval; ``p_value`` is from Student's test of no difference.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    standard_error: float
    replications: int
    label: str = "regret"
    p_value: float = math.nan
    confidence: float = 0.95

    @property
    def better(self) -> str | None:
        """The policy with less regret; None if the replications do not decide it."""
        if not self.p_value <= 1.0 - self.confidence:
            return None
        return self.first if self.difference < 0.0 else self.second

    @property
    def verdict(self) -> str:
        """The conclusion in words."""
        return "no clear difference" if self.better is None else f"{self.better} is better"

    def __str__(self) -> str:
        return (
            f"{self.label} of {self.first} minus {self.second}: {number(self.difference)} "
            f"{interval(self.low, self.high)} over {self.replications} paired replications: {self.verdict}"
        )

    def _repr_html_(self) -> str:
        return tables.table(f"{self.label}: {self.verdict}", _HEADERS, [_row(self)], below=_said_of([self]))


@dataclass(frozen=True)
class Comparisons(Sequence[Comparison]):
    """All pairs of policies, from :meth:`Result.compare_all`; ``means`` has their mean regrets, lowest first."""

    pairs: tuple[Comparison, ...]
    means: Mapping[str, float]

    @overload
    def __getitem__(self, at: int) -> Comparison: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Comparison, ...]: ...

    def __getitem__(self, at: int | slice) -> Comparison | tuple[Comparison, ...]:
        return self.pairs[at]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.pairs)

    @property
    def verdict(self) -> str:
        """Which policy has the least regret, and which ones cannot be distinguished from it."""
        best, *others = self.means
        open_ = [pair.second for pair in self if pair.first == best and pair.better is None]
        if not open_:
            return f"{best} has the least regret, clearly less than {_listed(others)}"
        return f"{best} has the least mean regret, not clearly less than {_listed(open_)}"

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row per pair; ``better`` is the name of the better policy, or None."""
        pd = whole_module("pandas")

        frame = pd.DataFrame(self.pairs, columns=Comparison._fields).drop(columns=["label", "confidence"])
        frame["better"] = pd.Series([pair.better for pair in self], dtype=object)
        return frame

    def __str__(self) -> str:
        return "\n".join([self.verdict, *map(str, self), _said_of(self)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return tables.table(self.verdict, _HEADERS, map(_row, self), below=_said_of(self))


_HEADERS = ("first minus second", "difference", "from", "to", "p", "runs", "verdict")


def _row(pair: Comparison) -> tuple[object, ...]:
    names = f"{pair.first} - {pair.second}"
    p_value = "< 0.001" if pair.p_value < 0.001 else number(pair.p_value, 2)
    return names, pair.difference, pair.low, pair.high, p_value, pair.replications, pair.verdict


def _said_of(pairs: Sequence[Comparison]) -> str:
    sure = in_percent(pairs[0].confidence)
    if len(pairs) == 1:
        return f"{sure} interval of the paired difference"
    return f"{sure} intervals for all pairs together (Bonferroni), p-values by Holm"


def _listed(names: Sequence[str]) -> str:
    """Join names as in a sentence.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def compare_pair(first: str, second: str, differences: Floats, confidence: float, label: str) -> Comparison:
    """Compare one pair by the differences of their regrets in the replications that they share."""
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
    interval = student(differences, confidence)
    p_value = student_p_value(differences)
    return Comparison(first, second, *interval, error, differences.size, label, p_value, confidence)


def compare_all_pairs(finals: Mapping[str, Floats], confidence: float, label: str) -> Comparisons:
    """Compare all pairs of policies that share two replications; ``finals`` has their final regrets, NaN if not done.

    Holm's procedure multiplies the i-th smallest of m p-values by m - i + 1. The intervals have the level
    1 - (1 - confidence)/m, so that all hold at once. If an interval excludes 0, Holm finds the difference too.

    Reference: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    means = {name: float(np.nanmean(final)) for name, final in finals.items() if not np.isnan(final).all()}
    means = dict(sorted(means.items(), key=lambda item: item[1]))
    differences = {}
    for first, second in itertools.combinations(means, 2):
        both = finals[first] - finals[second]
        both = both[~np.isnan(both)]
        if both.size >= 2:
            differences[first, second] = both
    m = len(differences)
    together = 1.0 - (1.0 - confidence) / max(1, m)
    pairs = [compare_pair(*names, both, together, label) for names, both in differences.items()]
    corrected = holm([pair.p_value for pair in pairs])
    return Comparisons(
        tuple(pair._replace(p_value=p, confidence=confidence) for pair, p in zip(pairs, corrected, strict=True)), means
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's procedure, which controls the probability of any false alarm.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = largest
    return corrected
