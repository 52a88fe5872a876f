"""The summary of a study: one row per arm, the best arm, and what was earned."""

import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dirichlet_bandits.arms import CVaR, Empirical, Mean
from dirichlet_bandits.display import html_tables
from dirichlet_bandits.display.readings import belief, drift_words, earnings, lift_percent
from dirichlet_bandits.live.best import NO_REWARD, Best, Judged, best_arm
from dirichlet_bandits.live.bounds import Bounds, are_finite
from dirichlet_bandits.live.differences import lead, rewards_by_arm, sample
from dirichlet_bandits.live.direction import Direction, mirrored
from dirichlet_bandits.live.drift import drifting
from dirichlet_bandits.live.intervals import (
    Interval,
    asymptotic,
    contradictory,
    empirical_bernstein,
    few_determine,
    shares,
    why_none,
)
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.probability_best import probability_best
from dirichlet_bandits.live.risk import cvar_sequences
from dirichlet_bandits.live.segment_means import NO_INTERVAL, pooled_intervals, pooled_means
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import number_between

if TYPE_CHECKING:
    import pandas as pd

    from dirichlet_bandits.live.reading import ReadableStudy

BOUNDED = "empirical-Bernstein confidence sequence, for all arms together: any distribution within the bounds"
UNBOUNDED = "asymptotic confidence sequence, for all arms together: any distribution with a variance, many rewards"


_HTML_COLUMNS = (
    "told", "pending", "mean", "std", "low", "high",
    "lift", "lift_low", "lift_high", "lift_percent", "probability_best",
)  # fmt: skip

ONE_BY_ONE = "none over all segments: look at them one by one"


def summary(
    journal: Journal,
    policy: Policy,
    level: float,
    direction: Direction,
    control: str | None,
    bounds: Bounds,
) -> "pd.DataFrame":
    """Return one row per arm; ``bounds`` of the rewards are infinite where they are not known."""
    import pandas as pd

    from dirichlet_bandits.display.summaries import Summary

    number_between("level", level, 0, 1)
    # Those of the policy are of the study's numbers, too: where costs are turned, both or none are finite.
    lower, upper = bounds
    bounded = are_finite(bounds)
    handed_out = np.bincount(np.array(journal.arm_of, np.int64), minlength=len(journal.names))
    handed_out -= _by_arm(journal, journal.repeats)
    voided, late, held = (
        _by_arm(journal, trials - journal.repeats) for trials in (journal.voided, journal.late, journal.held.keys())
    )
    of_arm = rewards_by_arm(journal)
    levels = interval_levels(journal, level)
    means = [x.mean() if x.size else math.nan for x in of_arm]
    intervals = _intervals(journal, level, lower, upper)
    pooled = bool(journal.parts.journals)
    if pooled:
        means = pooled_means(journal)
        intervals = pooled_intervals(journal, partial(_intervals, lower=lower, upper=upper), level)
    rows = []
    for arm, (name, x, interval) in enumerate(zip(journal.names, of_arm, intervals, strict=True)):
        told, waiting = journal.n_told[arm], journal.n_pending[arm]
        rows.append(
            {
                "arm": name,
                "active": journal.active[arm],
                "told": told,
                "pending": waiting - int(held[arm]),
                "abandoned": int(handed_out[arm]) - told - waiting - int(voided[arm]),
                "voided": int(voided[arm]),
                **({} if journal.lateness is None else {"held": int(held[arm]), "late": int(late[arm])}),
                "mean": means[arm],
                "std": x.std(ddof=1) if x.size > 1 else math.nan,
                "low": interval.low,
                "high": interval.high,
            }
        )
    frame = Summary(pd.DataFrame(rows).set_index("arm"))
    reasons = [None if bounded and x.size else why_none(x) for x in of_arm]
    if pooled:
        reasons = [None if math.isfinite(one.low) and math.isfinite(one.high) else NO_INTERVAL for one in intervals]
    frame["no_interval"] = pd.Series(reasons, index=frame.index, dtype="str")
    if control is not None:
        base = journal.names.index(control)
        lifts_of = partial(_lifts, base=base, bounds=bounds)
        lifts = pooled_intervals(journal, lifts_of, level) if pooled else lifts_of(journal, level)
        frame["lift"] = frame["mean"] - frame["mean"].iloc[base]
        frame["lift_low"], frame["lift_high"] = ([lift[end] for lift in lifts] for end in (0, 1))
        frame.iloc[base, frame.columns.get_indexer(["lift", "lift_low", "lift_high"])] = 0.0
    if not isinstance(policy.objective, Mean):
        seen = [direction.turn(x) for x in of_arm]
        frame["value"] = [direction.turn(policy.objective.value(Empirical(x))) if x.size else math.nan for x in seen]
        if pooled:  # other objectives than the mean are no averages over segments
            frame["value"] = math.nan
    if isinstance(policy.objective, CVaR):
        ends, words = cvar_sequences(of_arm, policy.objective.level, (lower, upper), levels, direction.name)
        if pooled:
            ends, words = [Interval(-math.inf, math.inf)] * len(of_arm), ONE_BY_ONE
        frame["value_low"], frame["value_high"] = [end.low for end in ends], [end.high for end in ends]
        frame.attrs["value_interval"] = words
    frame.attrs["objective"] = policy.objective.name
    fragile = [] if bounded else [name for name, x in zip(journal.names, of_arm, strict=True) if few_determine(x)]
    doubtful = [name for name, row in frame.iterrows() if row["mean"] < row["low"] or row["mean"] > row["high"]]
    if bounded and not pooled:
        with_levels = zip(journal.names, of_arm, levels.tolist(), strict=True)
        doubtful += [name for name, x, each in with_levels if x.size and contradictory(x, lower, upper, each)]
    frame.attrs["interval"] = (BOUNDED if bounded else UNBOUNDED) + _caution(fragile) + _doubt(doubtful)
    frame.attrs["level"] = level
    frame.attrs["direction"], frame.attrs["control"] = direction.name, control
    columns = zip(
        *(frame[key] for key in ("value" if "value" in frame else "mean", "told", "low", "high")), strict=True
    )
    judged = [Judged(name, *row) for name, row, arm in zip(journal.names, columns, journal.active, strict=True) if arm]
    judged = [one for one in judged if one.told and not math.isnan(one.value)]
    frame.attrs["best_arm"], frame.attrs["best_arm_reason"] = best_arm(
        judged, direction.larger_is_better, policy.objective.name, _why_no_value(policy, pooled)
    )
    _add_comparisons(frame, journal, policy, direction.name, control, bounds)
    return frame


def best(journal: Journal, policy: Policy, level: float, direction: Direction, bounds: Bounds) -> Best:
    """Return the best arm of a :func:`summary` without building the table, for lists of thousands of studies."""
    lower, upper = bounds
    arms, rewards = np.array(journal.told.arms, np.int64), np.array(journal.told.rewards)
    if journal.parts.journals:
        return _best_pooled(journal, policy, level, direction, (lower, upper))
    levels, judged = interval_levels(journal, level), []
    for arm in journal.known_arms():
        x = rewards[arms == arm]
        mean = isinstance(policy.objective, Mean)
        value = x.mean() if mean else direction.turn(policy.objective.value(Empirical(direction.turn(x))))
        judged.append(
            Judged(journal.names[arm], float(value), x.size, *mean_interval(x, lower, upper, float(levels[arm])))
        )
    return best_arm(judged, direction.larger_is_better, policy.objective.name)


def _best_pooled(
    journal: Journal, policy: Policy, level: float, direction: Direction, bounds: tuple[float, float]
) -> Best:
    """Return the best arm over all segments, for policies that judge arms by their means."""
    why = _why_no_value(policy, pooled=True)
    if not isinstance(policy.objective, Mean):
        return Best(None, why)
    lower, upper = bounds
    intervals = pooled_intervals(journal, partial(_intervals, lower=lower, upper=upper), level)
    means = pooled_means(journal)
    judged = [
        Judged(journal.names[arm], means[arm], journal.n_told[arm], *intervals[arm])
        for arm in journal.known_arms()
        if not math.isnan(means[arm])
    ]
    return best_arm(judged, direction.larger_is_better, policy.objective.name, why)


def _why_no_value(policy: Policy, pooled: bool) -> str:
    """Say why no arm can be judged."""
    if not pooled:
        return NO_REWARD
    return "no arm has a reward in every segment yet" if isinstance(policy.objective, Mean) else ONE_BY_ONE


def _by_arm(journal: Journal, trials: AbstractSet[int]) -> Ints:
    """Count the given trials of each arm."""
    return np.bincount(np.array([journal.arm_of[trial] for trial in trials], np.int64), minlength=len(journal.names))


def _intervals(journal: Journal, level: float, lower: float, upper: float) -> list[Interval]:
    """Return the interval of each arm's mean; all of them hold together."""
    arms, rewards = np.array(journal.told.arms, np.int64), np.array(journal.told.rewards)
    levels = interval_levels(journal, level)
    return [mean_interval(rewards[arms == arm], lower, upper, float(each)) for arm, each in enumerate(levels)]


def interval_levels(journal: Journal, level: float) -> Floats:
    """Return the level of each arm's own interval, so that all of them hold together at the given level."""
    return np.minimum(1.0 - (1.0 - level) * shares(journal.since), np.nextafter(1.0, 0.0))  # below 1 after rounding


def _lifts(journal: Journal, level: float, base: int, bounds: Bounds) -> list[Interval]:
    """Return confidence sequences of the differences from the control's mean, which hold together at the level."""
    samples = [sample(x, bounds) for x in rewards_by_arm(journal)]
    others = [arm for arm in range(len(samples)) if arm != base]
    lifts = [Interval(0.0, 0.0)] * len(samples)
    for arm, share in zip(others, shares([journal.since[arm] for arm in others]).tolist(), strict=True):
        lifts[arm] = lead(samples[arm], samples[base], -math.log(0.5 * (1.0 - level) * share))
    return lifts


def _caution(arms: Sequence[str]) -> str:
    """Return the warning for arms whose mean a few rewards determine.

    >>> _caution(["a", "b"])
    '; careful: a few rewards determine the mean of a, b, so give bounds if you know them'
    """
    if not arms:
        return ""
    return f"; careful: a few rewards determine the mean of {', '.join(arms)}, so give bounds if you know them"


def _doubt(arms: Sequence[str]) -> str:
    """Return the warning for arms whose interval is empty or does not contain their mean.

    >>> _doubt(["a", "b"])
    '; careful: early and late rewards of a, b differ so much that their intervals are doubtful'
    """
    whose = "its interval is" if len(arms) == 1 else "their intervals are"
    words = f"; careful: early and late rewards of {', '.join(arms)} differ so much that {whose} doubtful"
    return words if arms else ""


def mean_interval(x: Floats, lower: float, upper: float, level: float) -> Interval:
    """Return the interval by the method that the bounds allow, and within them."""
    if x.size and math.isfinite(lower) and math.isfinite(upper):
        return empirical_bernstein(x, lower, upper, level)
    found = asymptotic(x, level)
    return Interval(max(found.low, lower), min(found.high, upper))


def _add_comparisons(
    frame: "pd.DataFrame", journal: Journal, policy: Policy, direction: str, control: str | None, bounds: Bounds
) -> None:
    """Add lifts in percent, probabilities of being best, earnings and drift to a summary."""
    means, told = frame["mean"], frame["told"]
    base = control if control is not None else _leader(frame, direction)
    reference = math.nan if base is None else float(means[base])
    frame["lift_percent"] = 100.0 * (means / reference - 1.0) if reference > 0.0 else math.nan
    frame["probability_best"] = _probabilities(journal, policy, direction, bounds)
    frame.attrs["compared_with"] = base
    parts = journal.parts.journals.values() or [journal]
    frame.attrs["earned"] = float(sum(sum(part.told.rewards) for part in parts)) if told.sum() else 0.0
    frame.attrs["equal_split"] = float(sum(map(_equal_split, parts)))
    names = {part.names[arm] for part in parts for arm in drifting(rewards_by_arm(part), part.since, bounds)}
    frame.attrs["drift"] = [name for name in journal.names if name in names]


def _leader(frame: "pd.DataFrame", direction: str) -> str | None:
    """Return the active arm with the best mean."""
    means = frame["mean"][frame["active"]].dropna()
    if means.empty:
        return None
    return str(means.idxmax() if direction == "maximize" else means.idxmin())


def _equal_split(journal: Journal) -> float:
    """Return the total if all arms had shared the same number of rewards equally, by their present means."""
    means = [float(x.mean()) for x in rewards_by_arm(journal) if x.size]
    return len(journal.told.rewards) * float(np.mean(means)) if means else 0.0


def _probabilities(journal: Journal, policy: Policy, direction: str, bounds: Bounds) -> Floats:
    """Return the probability of being best for each active arm; NaN where it is not defined."""
    found = np.full(len(journal.names), math.nan)
    if journal.parts.journals or not isinstance(policy.objective, Mean):
        return found
    turned = mirrored(direction, *bounds) if are_finite(bounds) else Direction(direction)
    active = journal.active_arms()
    rewards = rewards_by_arm(journal)
    found[active] = probability_best([turned.turn(rewards[arm]) for arm in active], bounds)
    return found


def study_html(study: "ReadableStudy") -> str:
    """Return the HTML table of a notebook, one row per arm and the best in bold, with earnings and warnings below."""
    summary, best = study.summary(), study.best_arm
    said = summary.attrs
    keys = [key for key in ("value", *_HTML_COLUMNS) if key in summary]
    headers = {"told": "rewards", "value": said["objective"], "low": f"{100 * said['level']:g}% from", "high": "to"}
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
    unit = "" if study.reward_unit is None else f", rewards in {study.reward_unit}"
    caption = f"Study {study.name}: {study.policy!r}, {len(study)} trials{unit}"
    shown = ["arm", *(headers.get(key, key) for key in keys)]
    return html_tables.table(caption, shown, rows, marked=marked, below="; ".join(below))
