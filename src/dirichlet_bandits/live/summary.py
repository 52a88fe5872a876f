"""The summary of a study: one row per arm, the best arm, and what was earned."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.display import tables
from dirichlet_bandits.display.numbers import belief, drift_words, earnings, in_percent, lift_percent
from dirichlet_bandits.environments import CVaR, Empirical, Mean
from dirichlet_bandits.inference.best import NO_REWARD, Best, Judged, best_arm
from dirichlet_bandits.inference.differences import lifts
from dirichlet_bandits.inference.drift import drifting
from dirichlet_bandits.inference.intervals import (
    BoundedMean,
    Bounds,
    Interval,
    are_finite,
    few_determine,
    levels,
    mean_interval,
    why_none,
)
from dirichlet_bandits.inference.moments import Moments
from dirichlet_bandits.inference.probability_best import probability_best
from dirichlet_bandits.inference.risk import cvar_sequences
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live.direction import Direction, mirrored
from dirichlet_bandits.live.view import StudyView
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.types import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

    from dirichlet_bandits.live.reading import ReadableStudy

_STEADY = ", if each arm's rewards keep one mean"
BOUNDED = "empirical-Bernstein confidence sequence, for all arms together: any distribution within the bounds" + _STEADY
UNBOUNDED = (
    "asymptotic confidence sequence, for all arms together: any distribution with a variance, many rewards" + _STEADY
)


_HTML_COLUMNS = (
    "told", "pending", "mean", "std", "low", "high",
    "lift", "lift_low", "lift_high", "lift_percent", "probability_best",
)  # fmt: skip

ONE_BY_ONE = "none over all segments: look at them one by one"

NO_INTERVAL = "no interval in some segment"
Intervals = Callable[[StudyView, float], Sequence[Interval]]


class Summarized(NamedTuple):
    """The study that a table summarizes, and the confidence of its intervals.

    ``bounds`` of the rewards are infinite where they are not known. If there are segments, the rows are ``pooled``.
    """

    journal: StudyView
    policy: Policy
    confidence: float
    direction: Direction
    control: str | None
    bounds: Bounds

    @property
    def pooled(self) -> bool:
        """Whether means and intervals are averages over segments."""
        return bool(self.journal.views)


def summary(study: Summarized) -> "pd.DataFrame":
    """Return one row per arm."""
    pd = whole_module("pandas")

    from dirichlet_bandits.display.summaries import Summary

    rewards = study.journal.told.by_arm(len(study.journal.names))
    intervals, found = _intervals_of(study), [Moments().add(x) for x in rewards]
    means = pooled_means(study.journal) if study.pooled else [one.mean for one in found]
    columns = {"arm": study.journal.names, **_counts(study.journal), "mean": means}
    columns |= {"std": [one.deviation for one in found]}
    columns |= {"low": [one.low for one in intervals], "high": [one.high for one in intervals]}
    frame = Summary(pd.DataFrame(columns).set_index("arm"))
    frame["no_interval"] = pd.Series(_why_no_interval(study, rewards, intervals), index=frame.index, dtype="str")
    if study.control is not None:
        _add_lifts(frame, study, study.journal.names.index(study.control))
    values = _values(study, rewards, means)
    if not isinstance(study.policy.objective, Mean):
        _add_values(frame, study, rewards, values)
    _describe(frame, study, rewards)
    frame.attrs["best_arm"], frame.attrs["best_arm_reason"] = _best_of(study, values, intervals)
    _add_comparisons(frame, study)
    return frame


JSON_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "arms": {
            "type": "array",
            "items": {"type": "object", "properties": {"arm": {"type": "string"}}, "required": ["arm", "told", "mean"]},
        },
        "best_arm": {"type": ["string", "null"]},
        "interval": {"type": "string"},
    },
}
"""Of a summary over HTTP: an object per arm with the columns of the table, and what they mean."""

_WHOLE: Final = ("active", "told", "pending", "abandoned", "voided", "held", "late")


def summary_of_json(said: Mapping[str, Any]) -> "pd.DataFrame":
    """Return a summary from JSON, where null is NaN, or no bound at the end of an interval."""
    pd = whole_module("pandas")

    from dirichlet_bandits.display.summaries import Summary

    frame = Summary(pd.DataFrame(said["arms"]).set_index("arm"))
    for column in frame.columns:
        if column == "no_interval":
            frame[column] = frame[column].astype("str")
        elif column not in _WHOLE:
            limit = {"low": -math.inf, "high": math.inf}.get(column.rpartition("_")[2], math.nan)
            frame[column] = frame[column].astype(float).fillna(limit)
    frame.attrs = {name: value for name, value in said.items() if name != "arms"}
    return frame


def _counts(journal: StudyView) -> dict[str, list[Any]]:
    """Return what became of the trials of each arm."""
    asked = np.bincount(np.array(journal.arm_of, np.int64), minlength=len(journal.names))
    asked -= _by_arm(journal, journal.repeats)
    voided, late, held = (
        _by_arm(journal, journal.numbered(trials) - journal.repeats)
        for trials in (journal.whole.records.voided, journal.whole.records.late, journal.whole.held.keys())
    )
    told, waiting = np.array(journal.n_told, np.int64), np.array(journal.n_pending, np.int64)
    counts = {
        "told": told,
        "pending": waiting - held,
        "abandoned": asked - told - waiting - voided,
        "voided": voided,
        **({} if journal.lateness is None else {"held": held, "late": late}),
    }
    return {"active": list(journal.active), **{key: column.tolist() for key, column in counts.items()}}


def _intervals_of(study: Summarized) -> Sequence[Interval]:
    """Return an interval for each arm's mean, in one segment or over all of them."""
    return _in_all_segments(study, partial(_intervals, bounds=study.bounds))


def _in_all_segments(study: Summarized, intervals: Intervals) -> Sequence[Interval]:
    if study.pooled:
        return pooled_intervals(study.journal, intervals, study.confidence)
    return intervals(study.journal, study.confidence)


def _why_no_interval(
    study: Summarized, rewards: Sequence[Floats], intervals: Sequence[Interval]
) -> Sequence[str | None]:
    """Return the reason for each arm that has no interval."""
    if study.pooled:
        return [None if math.isfinite(one.low) and math.isfinite(one.high) else NO_INTERVAL for one in intervals]
    return [None if are_finite(study.bounds) and x.size else why_none(x) for x in rewards]


def _add_lifts(frame: "pd.DataFrame", study: Summarized, base: int) -> None:
    """Add the differences from the control, with intervals that hold together."""
    lifts = _in_all_segments(study, partial(_lifts, base=base, bounds=study.bounds))
    frame["lift"] = frame["mean"] - frame["mean"].iloc[base]
    frame["lift_low"], frame["lift_high"] = ([lift[end] for lift in lifts] for end in (0, 1))
    frame.iloc[base, frame.columns.get_indexer(["lift", "lift_low", "lift_high"])] = 0.0


def _add_values(frame: "pd.DataFrame", study: Summarized, rewards: Sequence[Floats], values: Sequence[float]) -> None:
    """Add what the policy maximizes instead of the mean; over segments, it is no average and therefore not defined."""
    objective, frame["value"] = study.policy.objective, values
    if isinstance(objective, CVaR):
        whole, own = mirrored(study.direction.name, *study.bounds), levels(study.journal.since, study.confidence)
        ends, words = cvar_sequences([whole.turn(x) for x in rewards], objective.level, study.bounds, own)
        ends = [Interval(*sorted((whole.turn(low), whole.turn(high)))) for low, high in ends]
        if study.pooled:
            ends, words = [Interval(-math.inf, math.inf)] * len(rewards), ONE_BY_ONE
        frame["value_low"], frame["value_high"] = [end.low for end in ends], [end.high for end in ends]
        frame.attrs["value_interval"] = words


def _describe(frame: "pd.DataFrame", study: Summarized, rewards: Sequence[Floats]) -> None:
    """Add what the numbers of the table mean."""
    bounded = are_finite(study.bounds)
    fragile = [] if bounded else [name for name, x in zip(frame.index, rewards, strict=True) if few_determine(x)]
    frame.attrs["objective"] = study.policy.objective.name
    warnings = _warnings(fragile, _doubtful(frame, study, rewards))
    frame.attrs["interval"] = (BOUNDED if bounded else UNBOUNDED) + warnings
    frame.attrs["confidence"] = study.confidence
    frame.attrs["direction"], frame.attrs["control"] = study.direction.name, study.control


def best(study: Summarized) -> Best:
    """Return the best active arm of a summary without making the table, or the reason why there is none yet."""
    rewards = study.journal.told.by_arm(len(study.journal.names))
    means = pooled_means(study.journal) if study.pooled else [Moments().add(x).mean for x in rewards]
    return _best_of(study, _values(study, rewards, means), _intervals_of(study))


def _values(study: Summarized, rewards: Sequence[Floats], means: Sequence[float]) -> Sequence[float]:
    """Return the value of each arm's rewards for the policy's objective; NaN if it is not known."""
    objective, turn = study.policy.objective, study.direction.turn
    if isinstance(objective, Mean):
        return means
    if study.pooled:
        return [math.nan] * len(rewards)
    return [turn(objective.value(Empirical(turn(x)))) if x.size else math.nan for x in rewards]


def _best_of(study: Summarized, values: Sequence[float], intervals: Sequence[Interval]) -> Best:
    journal, objective = study.journal, study.policy.objective.name
    known = [arm for arm in journal.known_arms() if not math.isnan(values[arm])]
    judged = [Judged(journal.names[arm], values[arm], journal.n_told[arm], *intervals[arm]) for arm in known]
    pooled = ONE_BY_ONE if objective != "mean" else "no arm has a reward in every segment yet"
    return best_arm(judged, study.direction.larger_is_better, objective, pooled if study.pooled else NO_REWARD)


def _by_arm(journal: StudyView, trials: AbstractSet[int]) -> Ints:
    """Count the given trials of each arm."""
    return np.bincount(np.array([journal.arm_of[trial] for trial in trials], np.int64), minlength=len(journal.names))


def _intervals(journal: StudyView, level: float, bounds: Bounds) -> list[Interval]:
    """Return the interval of each arm's mean; all of them hold together."""
    own = levels(journal.since, level).tolist()
    rewards = journal.told.by_arm(len(journal.names))
    return [mean_interval(x, bounds, each) for x, each in zip(rewards, own, strict=True)]


def _lifts(journal: StudyView, level: float, base: int, bounds: Bounds) -> list[Interval]:
    """Return confidence sequences of the differences from the control's mean, which hold together at the level."""
    return lifts(journal.told.by_arm(len(journal.names)), bounds, journal.since, base, level)


def _warnings(fragile: Sequence[str], doubtful: Sequence[str]) -> str:
    """Return what to be careful with: means that a few rewards determine, and intervals that do not fit the rewards.

    >>> _warnings(["a", "b"], [])
    '; careful: a few rewards determine the mean of a, b, so give bounds if you know them'
    >>> _warnings([], ["a"])
    '; careful: early and late rewards of a differ so much that its interval is doubtful'
    """
    whose = "its interval is" if len(doubtful) == 1 else "their intervals are"
    few = f"; careful: a few rewards determine the mean of {', '.join(fragile)}, so give bounds if you know them"
    far = f"; careful: early and late rewards of {', '.join(doubtful)} differ so much that {whose} doubtful"
    return few * bool(fragile) + far * bool(doubtful)


def _doubtful(frame: "pd.DataFrame", study: Summarized, rewards: Sequence[Floats]) -> list[str]:
    """Return the arms whose interval is empty or does not contain their mean."""
    outside = ((frame["mean"] < frame["low"]) | (frame["mean"] > frame["high"])).tolist()
    if are_finite(study.bounds) and not study.pooled:
        own = levels(study.journal.since, study.confidence).tolist()
        for arm, (x, level) in enumerate(zip(rewards, own, strict=True)):
            outside[arm] |= BoundedMean(study.bounds, level).add(x).contradictory
    return [str(name) for name, out in zip(frame.index, outside, strict=True) if out]


def _add_comparisons(frame: "pd.DataFrame", study: Summarized) -> None:
    """Add lifts in percent, probabilities of being best, earnings and drift to a summary."""
    journal, direction, bounds = study.journal, study.direction.name, study.bounds
    means, told = frame["mean"], frame["told"]
    base = study.control if study.control is not None else _leader(frame, direction)
    reference = math.nan if base is None else float(means[base])
    frame["lift_percent"] = 100.0 * (means / reference - 1.0) if reference > 0.0 else math.nan
    frame["probability_best"] = _probabilities(journal, study.policy, direction, bounds)
    frame.attrs["compared_with"] = base
    parts = journal.views.values() or [journal]
    frame.attrs["earned"] = float(sum(sum(part.told.rewards) for part in parts)) if told.sum() else 0.0
    frame.attrs["equal_split"] = float(sum(map(_equal_split, parts)))
    changed = {arm for part in parts for arm in drifting(part.told.by_arm(len(part.names)), part.since, bounds)}
    frame.attrs["drift"] = [journal.names[arm] for arm in sorted(changed)]


def _leader(frame: "pd.DataFrame", direction: str) -> str | None:
    """Return the active arm with the best mean."""
    means = frame["mean"][frame["active"]].dropna()
    if means.empty:
        return None
    return str(means.idxmax() if direction == "maximize" else means.idxmin())


def _equal_split(journal: StudyView) -> float:
    """Return the total if all arms had shared the same number of rewards equally, by their present means."""
    means = [float(x.mean()) for x in journal.told.by_arm(len(journal.names)) if x.size]
    return len(journal.told.rewards) * float(np.mean(means)) if means else 0.0


def _probabilities(journal: StudyView, policy: Policy, direction: str, bounds: Bounds) -> Floats:
    """Return the probability of being best for each active arm; NaN where it is not defined."""
    found = np.full(len(journal.names), math.nan)
    if journal.views or not isinstance(policy.objective, Mean):
        return found
    turned = mirrored(direction, *bounds)
    active = journal.active_arms()
    rewards = journal.told.by_arm(len(journal.names))
    found[active] = probability_best([turned.turn(rewards[arm]) for arm in active], bounds)
    return found


def rows_by_arm(
    summary: "pd.DataFrame", keys: Collection[str], written: Mapping[str, Callable[[Any], object]]
) -> list[tuple[object, ...]]:
    """Return a row per arm, its name and these columns, which some functions write; others are numbers."""
    return [
        (f"{arm}" if row["active"] else f"{arm} (retired)", *(written.get(key, float)(row[key]) for key in keys))
        for arm, row in summary.iterrows()
    ]


def study_html(study: "ReadableStudy") -> str:
    """Return the HTML table of a notebook, one row per arm and the best in bold, with earnings and warnings below."""
    summary = study.summary()
    said, best = summary.attrs, summary.attrs["best_arm"]
    keys, low = [key for key in ("value", *_HTML_COLUMNS) if key in summary], f"{in_percent(said['confidence'])} from"
    headers = {"told": "rewards", "value": said["objective"], "low": low, "high": "to"}
    headers |= {"lift_low": "from", "lift_high": "to", "probability_best": "P(best)"}
    headers["lift_percent"] = "lift" if said["compared_with"] is None else f"over {said['compared_with']}"
    kinds: dict[str, Callable[[Any], object]] = {"told": int, "pending": int}
    kinds |= {"lift_percent": lift_percent, "probability_best": belief}
    rows = rows_by_arm(summary, keys, kinds)
    below = [earnings(said)] if summary["told"].sum() else []
    below += [f"careful: {drift_words(said['drift'])}"] if said["drift"] else []
    below.append(f"interval: {said['interval']}")
    marked = None if best is None else list(summary.index).index(best)
    caption = f"Study {study.name}: {study.policy!r}, {len(study)} trials, rewards{study.settings.in_unit}"
    caption = caption.removesuffix(", rewards")
    shown = ["arm", *(headers.get(key, key) for key in keys)]
    return tables.table(caption, shown, rows, marked=marked, below="; ".join(below))


# Arms over all segments of a study: means as if every segment had tried each arm in the same proportion


def shares_of_segments(journal: StudyView) -> dict[str, float]:
    """Return the share of each segment among the trials that count."""
    sizes = {segment: len(part.arm_of) - len(part.repeats) for segment, part in journal.views.items()}
    total = sum(sizes.values())
    return {segment: size / total for segment, size in sizes.items()}


def pooled_means(journal: StudyView) -> list[float]:
    """Return the mean of each arm over all segments; NaN if a segment has no reward of it."""
    total = np.zeros(len(journal.names))
    for segment, share in shares_of_segments(journal).items():
        part = journal.views[segment]
        sums = np.bincount(np.array(part.told.arms, np.int64), part.told.rewards, minlength=total.size)
        counts = np.array(part.n_told, np.float64)
        total += share * np.where(counts > 0.0, sums / np.maximum(counts, 1.0), math.nan)
    return total.tolist()


def pooled_intervals(journal: StudyView, intervals: Intervals, level: float) -> list[Interval]:
    """Return the interval of each arm's mean, or lift, over all segments from those in each segment."""
    weights = shares_of_segments(journal)
    each = 1.0 - (1.0 - level) / len(weights)
    low, high = np.zeros(len(journal.names)), np.zeros(len(journal.names))
    for segment, share in weights.items():
        found = intervals(journal.views[segment], each)
        low += share * np.array([one.low for one in found])
        high += share * np.array([one.high for one in found])
    return [Interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
