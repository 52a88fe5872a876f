"""The summary of a study: one row per arm, the best arm, and what was earned."""

import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.arms import CVaR, Empirical, Mean
from dirichlet_bandits.display import html_tables
from dirichlet_bandits.display.numbers import belief, in_percent, lift_percent
from dirichlet_bandits.display.readings import drift_words, earnings
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
from dirichlet_bandits.live.segment_means import NO_INTERVAL, pooled_intervals, pooled_means
from dirichlet_bandits.live.view import StudyView
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import number_between

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

    number_between("confidence", study.confidence, 0, 1)
    rewards = study.journal.told.by_arm(len(study.journal.names))
    intervals = _intervals_of(study)
    columns = {"arm": study.journal.names, **_counts(study.journal), **_moments(study, rewards)}
    columns |= {"low": [one.low for one in intervals], "high": [one.high for one in intervals]}
    frame = Summary(pd.DataFrame(columns).set_index("arm"))
    frame["no_interval"] = pd.Series(_why_no_interval(study, rewards, intervals), index=frame.index, dtype="str")
    if study.control is not None:
        _add_lifts(frame, study, study.journal.names.index(study.control))
    if not isinstance(study.policy.objective, Mean):
        _add_values(frame, study, rewards)
    _describe(frame, study, rewards)
    frame.attrs["best_arm"], frame.attrs["best_arm_reason"] = _best_in(frame, study)
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


def _moments(study: Summarized, rewards: Sequence[Floats]) -> dict[str, list[float]]:
    """Return the mean and the standard deviation of each arm's rewards."""
    found = [Moments().add(x) for x in rewards]
    means = pooled_means(study.journal) if study.pooled else [one.mean for one in found]
    return {"mean": means, "std": [one.deviation for one in found]}


def _intervals_of(study: Summarized) -> list[Interval]:
    """Return the interval of each arm's mean."""
    intervals = partial(_intervals, bounds=study.bounds)
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
    journal, lifts_of = study.journal, partial(_lifts, base=base, bounds=study.bounds)
    lifts = (
        pooled_intervals(journal, lifts_of, study.confidence) if study.pooled else lifts_of(journal, study.confidence)
    )
    frame["lift"] = frame["mean"] - frame["mean"].iloc[base]
    frame["lift_low"], frame["lift_high"] = ([lift[end] for lift in lifts] for end in (0, 1))
    frame.iloc[base, frame.columns.get_indexer(["lift", "lift_low", "lift_high"])] = 0.0


def _add_values(frame: "pd.DataFrame", study: Summarized, rewards: Sequence[Floats]) -> None:
    """Add what the policy maximizes instead of the mean; over segments, it is no average and therefore not defined."""
    objective, turn = study.policy.objective, study.direction.turn
    values = [turn(objective.value(Empirical(turn(x)))) if x.size else math.nan for x in rewards]
    frame["value"] = math.nan if study.pooled else values
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
    doubtful = _doubtful(frame, study, rewards)
    frame.attrs["interval"] = (BOUNDED if bounded else UNBOUNDED) + _caution(fragile) + _doubt(doubtful)
    frame.attrs["confidence"] = study.confidence
    frame.attrs["direction"], frame.attrs["control"] = study.direction.name, study.control


def _best_in(frame: "pd.DataFrame", study: Summarized) -> Best:
    """Return the best arm of the table, and the reason if there is none."""
    keys = ("value" if "value" in frame else "mean", "told", "low", "high")
    judged = [
        Judged(name, *row)
        for name, active, *row in zip(frame.index, frame["active"], *(frame[key] for key in keys), strict=True)
        if active
    ]
    judged = [one for one in judged if one.told and not math.isnan(one.value)]
    objective, larger = study.policy.objective.name, study.direction.larger_is_better
    return best_arm(judged, larger, objective, _why_no_value(study.policy, study.pooled))


def best(study: Summarized) -> Best:
    """Return the best arm of a :func:`summary` without building the table, for lists of thousands of studies."""
    if study.pooled:
        return _best_pooled(study)
    journal, objective, turn = study.journal, study.policy.objective, study.direction.turn
    rewards, own, judged = journal.told.by_arm(len(journal.names)), levels(journal.since, study.confidence), []
    for arm in journal.known_arms():
        x = rewards[arm]
        value = Moments().add(x).mean if isinstance(objective, Mean) else turn(objective.value(Empirical(turn(x))))
        interval = mean_interval(x, study.bounds, float(own[arm]))
        judged.append(Judged(journal.names[arm], float(value), x.size, *interval))
    return best_arm(judged, study.direction.larger_is_better, objective.name)


def _best_pooled(study: Summarized) -> Best:
    """Return the best arm over all segments, for policies that judge arms by their means."""
    journal, objective, why = study.journal, study.policy.objective, _why_no_value(study.policy, pooled=True)
    if not isinstance(objective, Mean):
        return Best(None, why)
    means, intervals = pooled_means(journal), _intervals_of(study)
    judged = [
        Judged(journal.names[arm], means[arm], journal.n_told[arm], *intervals[arm])
        for arm in journal.known_arms()
        if not math.isnan(means[arm])
    ]
    return best_arm(judged, study.direction.larger_is_better, objective.name, why)


def _why_no_value(policy: Policy, pooled: bool) -> str:
    """Say why no arm can be judged."""
    if not pooled:
        return NO_REWARD
    return "no arm has a reward in every segment yet" if isinstance(policy.objective, Mean) else ONE_BY_ONE


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


def _caution(arms: Sequence[str]) -> str:
    """Return the warning for arms whose mean a few rewards determine.

    >>> _caution(["a", "b"])
    '; careful: a few rewards determine the mean of a, b, so give bounds if you know them'
    """
    if not arms:
        return ""
    return f"; careful: a few rewards determine the mean of {', '.join(arms)}, so give bounds if you know them"


def _doubtful(frame: "pd.DataFrame", study: Summarized, rewards: Sequence[Floats]) -> list[str]:
    """Return the arms whose interval is empty or does not contain their mean."""
    outside = ((frame["mean"] < frame["low"]) | (frame["mean"] > frame["high"])).tolist()
    if are_finite(study.bounds) and not study.pooled:
        own = levels(study.journal.since, study.confidence).tolist()
        for arm, (x, level) in enumerate(zip(rewards, own, strict=True)):
            outside[arm] |= BoundedMean(study.bounds, level).add(x).contradictory
    return [str(name) for name, out in zip(frame.index, outside, strict=True) if out]


def _doubt(arms: Sequence[str]) -> str:
    """Return the warning for arms whose interval is empty or does not contain their mean.

    >>> _doubt(["a", "b"])
    '; careful: early and late rewards of a, b differ so much that their intervals are doubtful'
    """
    whose = "its interval is" if len(arms) == 1 else "their intervals are"
    words = f"; careful: early and late rewards of {', '.join(arms)} differ so much that {whose} doubtful"
    return words if arms else ""


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


def study_html(study: "ReadableStudy") -> str:
    """Return the HTML table of a notebook, one row per arm and the best in bold, with earnings and warnings below."""
    summary, best = study.summary(), study.best_arm
    said = summary.attrs
    keys, low = [key for key in ("value", *_HTML_COLUMNS) if key in summary], f"{in_percent(said['confidence'])} from"
    headers = {"told": "rewards", "value": said["objective"], "low": low, "high": "to"}
    headers |= {"lift_low": "from", "lift_high": "to", "probability_best": "P(best)"}
    headers["lift_percent"] = "lift" if said["compared_with"] is None else f"over {said['compared_with']}"
    kinds: dict[str, Callable[[Any], object]] = {"told": int, "pending": int}
    kinds |= {"lift_percent": lift_percent, "probability_best": belief}
    rows = [
        (f"{arm}" if row["active"] else f"{arm} (retired)", *(kinds.get(key, float)(row[key]) for key in keys))
        for arm, row in summary.iterrows()
    ]
    below = [earnings(said)] if summary["told"].sum() else []
    below += [f"careful: {drift_words(said['drift'])}"] if said["drift"] else []
    below.append(f"interval: {said['interval']}")
    marked = None if best is None else list(summary.index).index(best)
    caption = f"Study {study.name}: {study.policy!r}, {len(study)} trials, rewards{study.settings.in_unit}"
    caption = caption.removesuffix(", rewards")
    shown = ["arm", *(headers.get(key, key) for key in keys)]
    return html_tables.table(caption, shown, rows, marked=marked, below="; ".join(below))
