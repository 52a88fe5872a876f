"""Tables of a study: its summary, its trials, and exports."""

import importlib.util
import json
import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dirichlet_bandits.arms import CVaR, Empirical, Mean
from dirichlet_bandits.errors import ArgumentError, MissingExtraError
from dirichlet_bandits.files import plain_text, whole_file
from dirichlet_bandits.live.annotations import written
from dirichlet_bandits.live.best import Best, Judged, best_arm
from dirichlet_bandits.live.bounds import Bounds, are_finite
from dirichlet_bandits.live.direction import Direction
from dirichlet_bandits.live.intervals import (
    Interval,
    asymptotic,
    difference,
    empirical_bernstein,
    few_determine,
    shares,
    why_none,
)
from dirichlet_bandits.live.journal import Journal, Revision
from dirichlet_bandits.live.logged_rounds import read_rounds
from dirichlet_bandits.live.mending import mend
from dirichlet_bandits.live.pairs import lead, rewards_by_arm, sample
from dirichlet_bandits.live.pooled import NO_INTERVAL, pooled_intervals, pooled_means
from dirichlet_bandits.live.readings import add_readings
from dirichlet_bandits.live.risk import cvar_sequences
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import Event
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import number_between

if TYPE_CHECKING:
    import pandas as pd

BOUNDED = "empirical-Bernstein confidence sequence, for all arms together: any distribution within the bounds"
UNBOUNDED = "asymptotic confidence sequence, for all arms together: any distribution with a variance, many rewards"


ONE_BY_ONE = "none over all segments: look at them one by one"
_TEXTS = ("arm", "reason", "note", "segment", "unit")


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
    voided, late = (_by_arm(journal, trials - journal.repeats) for trials in (journal.voided, journal.late))
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
        told, pending = journal.n_told[arm], journal.n_pending[arm]
        rows.append(
            {
                "arm": name,
                "active": journal.active[arm],
                "told": told,
                "pending": pending,
                "abandoned": int(handed_out[arm]) - told - pending - int(voided[arm]),
                "voided": int(voided[arm]),
                **({} if journal.lateness is None else {"late": int(late[arm])}),
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
        # Pooled means have no statistic of their own.
        lifts = [difference(interval, intervals[base]) for interval in intervals]
        lifts = lifts if pooled else _lifts(of_arm, base, journal.since, bounds, level)
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
    frame.attrs["interval"] = BOUNDED if bounded else UNBOUNDED + _caution(fragile)
    frame.attrs["level"] = level
    frame.attrs["direction"], frame.attrs["control"] = direction.name, control
    columns = zip(
        *(frame[key] for key in ("value" if "value" in frame else "mean", "told", "low", "high")), strict=True
    )
    judged = [Judged(name, *row) for name, row, arm in zip(journal.names, columns, journal.active, strict=True) if arm]
    judged = [one for one in judged if one.told and not math.isnan(one.value)]
    frame.attrs["best_arm"], frame.attrs["best_arm_reason"] = best_arm(
        judged, direction.larger_is_better, policy.objective.name
    )
    add_readings(frame, journal, policy, direction.name, control, bounds)
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
    if not isinstance(policy.objective, Mean):
        return best_arm([], direction.larger_is_better, policy.objective.name)
    lower, upper = bounds
    intervals = pooled_intervals(journal, partial(_intervals, lower=lower, upper=upper), level)
    means = pooled_means(journal)
    judged = [
        Judged(journal.names[arm], means[arm], journal.n_told[arm], *intervals[arm])
        for arm in journal.known_arms()
        if not math.isnan(means[arm])
    ]
    return best_arm(judged, direction.larger_is_better, policy.objective.name)


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


def _lifts(of_arm: Sequence[Floats], base: int, since: Sequence[int], bounds: Bounds, level: float) -> list[Interval]:
    """Return confidence sequences of the differences from the control's mean, which hold together at the level."""
    samples = [sample(x, bounds) for x in of_arm]
    others = [arm for arm in range(len(of_arm)) if arm != base]
    lifts = [Interval(0.0, 0.0)] * len(of_arm)
    for arm, share in zip(others, shares([since[arm] for arm in others]).tolist(), strict=True):
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


def mean_interval(x: Floats, lower: float, upper: float, level: float) -> Interval:
    """Return the interval by the method that the bounds allow, and within them."""
    if x.size and math.isfinite(lower) and math.isfinite(upper):
        return empirical_bernstein(x, lower, upper, level)
    found = asymptotic(x, level)
    return Interval(max(found.low, lower), min(found.high, upper))


def trials(journal: Journal) -> "pd.DataFrame":
    """Return one row per trial."""
    import pandas as pd

    ids = range(len(journal.arm_of))
    history = [journal.history_of.get(trial, []) for trial in ids]

    def said(trial: int, what: str) -> Any:
        return journal.annotation_of.get(trial, {}).get(what)

    return pd.DataFrame(
        {
            "arm": [journal.names[arm] for arm in journal.arm_of],
            "propensity": np.array(journal.propensity_of, np.float64),
            "round": np.array(journal.round_of, np.int64),
            "status": [journal.status(trial) for trial in ids],
            "reward": np.array([journal.answer(trial) for trial in ids], np.float64),
            "asked_at": pd.to_datetime(np.array(journal.asked_at, np.float64), unit="s", utc=True),
            "ended_at": pd.to_datetime(
                np.array([journal.ended_at.get(trial, math.nan) for trial in ids], np.float64), unit="s", utc=True
            ),
            "original": np.array([past[0].reward if past else math.nan for past in history], np.float64),
            "reason": pd.Series([past[-1].reason if past else None for past in history], dtype="str"),
            "history": pd.Series([_written_history(past) for past in history], dtype="str"),
            "note": pd.Series([said(trial, "note") for trial in ids], dtype="str"),
            "attributes": pd.Series([written(said(trial, "attributes")) for trial in ids], dtype="str"),
            "late": [trial in journal.late for trial in ids],
            "segment": pd.Series([journal.segment_of.get(trial) for trial in ids], dtype="str"),
            "unit": pd.Series([journal.unit_of.get(trial) for trial in ids], dtype="str"),
        },
        index=pd.RangeIndex(len(ids), name="trial"),
    )


def _written_history(past: Sequence[Revision]) -> str | None:
    """Return all rewards of a trial, with reasons, as one text; None if the first reward was never changed.

    >>> _written_history([Revision(31.0, None), Revision(3.1, "a digit too many"), Revision(None, "the wrong plot")])
    '[{"reward": 31.0}, {"reward": 3.1, "reason": "a digit too many"}, {"reward": null, "reason": "the wrong plot"}]'
    """
    steps = [{"reward": reward, **({} if reason is None else {"reason": reason})} for reward, reason in past]
    return json.dumps(steps, ensure_ascii=False) if steps else None


def write(events: Sequence[Event], path: str | PathLike[str]) -> None:
    """Write trials with a column ``propensity of ARM`` for each arm, in the format of the file's suffix."""
    import pandas as pd

    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".parquet", ".csv"):
        raise ArgumentError("path", "a file that ends in .parquet or .csv", str(path))
    if kind == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("Parquet files need the extra 'live': pip install 'dirichlet-bandits[live]'")
    if not target.parent.is_dir():
        raise ArgumentError("path", "in a folder that exists", str(path))
    mended = mend(events)
    rounds = read_rounds(mended.events)
    frame = trials(rounds.journal)
    frame.index = pd.Index(mended.ids, name=frame.index.name)
    row_of_trial = rounds.row_of_trial
    for arm, name in enumerate(rounds.journal.names):
        frame[f"propensity of {name}"] = rounds.propensities[row_of_trial, arm]
    with whole_file(target) as draft:
        if kind == ".parquet":
            frame.to_parquet(draft)
        else:
            texts = {column: frame[column].map(plain_text, na_action="ignore") for column in _TEXTS}
            frame.assign(**texts).to_csv(draft)
