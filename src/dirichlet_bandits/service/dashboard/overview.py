"""Collect what the page of a study shows: arms from the best down, the next step, and charts."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from dirichlet_bandits.display.numbers import drift_words
from dirichlet_bandits.environments import CVaR
from dirichlet_bandits.environments.objective import Mean
from dirichlet_bandits.inference.off_policy_intervals import DifferenceEstimate
from dirichlet_bandits.inference.winner import Winner
from dirichlet_bandits.live import Study, Trial, lateness
from dirichlet_bandits.live.direction import MINIMIZE
from dirichlet_bandits.service.dashboard import charts
from dirichlet_bandits.service.dashboard.rendering import floor_typed, sentence
from dirichlet_bandits.service.dashboard.series import OTHERS, drawn_arms, moments, series

LISTED: Final = 50
FIRST: Final = 5
"""Pending trials that are always shown; the others are one tap away."""

_MOST_DECIMALS: Final = 6
_LARGE: Final = 1e9
_OTHER: Final = 8


def overview(study: Study) -> dict[str, Any]:
    """Return everything that changes on the page of a study."""
    summary, log, pending = study.summary(), study.trials_dataframe(), study.pending
    chances = dict.fromkeys(summary.index, math.nan) if study.segments else study.propensities()
    best, control, costs = summary.attrs["best_arm"], study.control, study.direction == MINIMIZE
    arms = [str(arm) for arm in summary.index]
    drawn = drawn_arms(summary, log)
    colors = {arm: drawn.index(arm) if arm in drawn else _OTHER for arm in arms}
    found = series(drawn, len(arms), log)
    rows = [
        {
            "arm": arm,
            "best": arm == best,
            "control": arm == control,
            "next": chances[str(arm)],
            "color": colors[str(arm)],
            "swatch": charts.swatch(colors[str(arm)]),
            **row,
        }
        for arm, row in _from_the_best(summary, costs).to_dict("index").items()
    ]
    judged = isinstance(study.policy.objective, Mean)
    found_winner = study.winner() if judged and not study.segments else None
    decimals = decimals_of(rows)
    level = study.policy.objective.level if isinstance(study.policy.objective, CVaR) else None
    return {
        "study": study,
        "floor_typed": floor_typed(study.floor),
        "rows": rows,
        "attrs": summary.attrs,
        "level": level,
        "log": log,
        "trials": len(log),
        "last": last_activity(log),
        "best": best,
        "code": code(study.name, study.settings.as_json(leave_out="seed")),
        "drift": drift_words(summary.attrs["drift"]) if summary.attrs["drift"] else "",
        "despite_drift": _despite_drift(study, rows) if summary.attrs["drift"] else [],
        "verdict": verdict(rows, summary.attrs, found_winner, bool(study.history)),
        "to_name": _to_name(found_winner),
        "verdicts": [(segment, *_verdict_in(study, segment)) for segment in study.segments if judged],
        "decimals": decimals,
        "to_do": to_do(pending, "cost" if costs else "reward", study.arms),
        "waiting": pending[:LISTED],
        "first_waiting": FIRST,
        "units": bool(log["unit"].notna().any()),
        "n_waiting": len(pending),
        "legend": [(arm, charts.swatch(k)) for k, arm in enumerate(drawn)]
        + [(OTHERS, charts.swatch(_OTHER))] * (found.others > 0),
        "window": found.window,
        "others": found.others,
        "moments": moments(found),
        "forest": charts.forest(rows, log, decimals),
        "most_drawn": charts.MOST_INTERVALS,
        "histograms": charts.histograms(drawn, log, level, costs),
    }


def _despite_drift(study: Study, rows: Sequence[Mapping[str, Any]]) -> list[DifferenceEstimate]:
    """Return by how much other arms exceed the control, or the first row, with intervals that hold if arms change."""
    active = [str(row["arm"]) for row in rows if row["active"]]
    base = study.control or active[0]
    found = [study.estimate_difference(arm, base) for arm in active[:FIRST] if arm != base]
    return [one for one in found if not math.isnan(one.value)]


def _verdict_in(study: Study, segment: str) -> tuple[str, str | None]:
    """Return the verdict on a segment, and the winner that can be named there."""
    summary = study.summary(segment=segment)
    rows = [{"arm": arm, **row} for arm, row in summary.to_dict("index").items()]
    found = study.winner(segment=segment)
    return verdict(rows, summary.attrs, found, bool(study.history)), _to_name(found)


def _to_name(found: Winner | None) -> str | None:
    """Return the winner that the rewards establish and that is not stored yet."""
    return None if found is None or found.established_at is not None else found.arm


def decimals_of(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the decimals of all means and intervals: three digits of the largest mean, or two of a narrower interval.

    None means that there is no interval, or that the numbers are too large or too small for such a table.

    >>> decimals_of([{"mean": 0.168, "low": 0.0998, "high": 0.22}, {"mean": 0.0761, "low": 0.0, "high": 0.168}])
    3
    >>> decimals_of([{"mean": 3511.3, "low": 3372.1, "high": 3661.4}]), decimals_of([])
    (0, None)
    """
    ends = [(row["low"], row["high"]) for row in rows if math.isfinite(row["low"]) and math.isfinite(row["high"])]
    widths = [high - low for low, high in ends if high > low]
    largest = max((abs(row["mean"]) for row in rows if math.isfinite(row["mean"])), default=0.0)
    if not widths or max(abs(end) for pair in ends for end in pair) >= _LARGE:
        return None
    by_width = 1 - math.floor(math.log10(min(widths)))
    by_mean = 2 - math.floor(math.log10(largest)) if largest > 0.0 else by_width
    decimals = max(0, by_width, min(by_mean, by_width + 1))
    return decimals if decimals <= _MOST_DECIMALS else None


def last_activity(log: pd.DataFrame) -> Any:
    """Return the time of the last ask or tell; None before the first trial."""
    latest = log[["asked_at", "ended_at"]].max().max()
    return None if pd.isna(latest) else latest.to_pydatetime(warn=False)


def _from_the_best(summary: pd.DataFrame, costs: bool) -> pd.DataFrame:
    """Sort active arms before retired ones, then by the study's objective; arms without a reward come last."""
    judged = summary["value" if "value" in summary else "mean"]
    good = (-judged if costs else judged).fillna(-math.inf)
    keys = pd.DataFrame({"retired": ~summary["active"], "good": good})
    return summary.loc[keys.sort_values(["retired", "good"], ascending=[True, False], kind="stable").index]


# What is known about a study, and what to do next, in one or two sentences each


def verdict(rows: Sequence[Mapping[str, Any]], attrs: Any, found: Winner | None, warm: bool = False) -> str:
    """Return in words what the rewards so far show, from a summary's rows and attributes and the result of the rule.

    The first line is a headline; there may be a second one with details. A ``warm`` study started from past rewards. A
    winner that is not stored yet may still be overtaken, so it is not called one.

    >>> verdict([], {}, None)
    'No rewards yet.\\nEach arm is tried once before the policy chooses.'
    """
    if found is not None and found.arm is not None:
        return _winner(found)
    if not any(row["told"] for row in rows):
        return f"No rewards yet.\n{_without_rewards(rows, warm)}"
    untried = sum(row["active"] and not row["told"] for row in rows)
    if untried:
        return f"Too early to tell: {'1 arm has' if untried == 1 else f'{untried} arms have'} no reward yet."
    if attrs["best_arm"] is None:
        return f"Too early to tell: {attrs['best_arm_reason']}."
    if found is None:
        return f"{attrs['best_arm']} has the best {attrs['objective']} so far."
    leads = f"{attrs['best_arm']} leads, but there is no winner yet."
    waits = [] if found.waits is None else [sentence(found.waits)]
    if waits and found.leader is None:  # no reward counts, so there is no forecast
        return "\n".join([leads, *waits])
    if found.more is not None or not found.forecast.startswith("no winner"):
        return f"{leads}\n{' '.join([sentence(found.forecast), *waits])}"
    words, _, advice = found.forecast.partition("; ")
    more = " ".join([sentence(advice)] * bool(advice) + waits)
    return f"{attrs['best_arm']} leads, but {words}." + (f"\n{more}" if more else "")


def _winner(found: Winner) -> str:
    """Return who has won, and what could be wrong with that."""
    note = "" if found.note is None else f"\nNote: {found.note}."
    named = f"The winner is {found.arm}" if found.established_at else f"{found.arm} can be named the winner"
    return f"{named}: {found.claim}.{note}"


def _without_rewards(rows: Sequence[Mapping[str, Any]], warm: bool) -> str:
    held = sum(row.get("held", 0) for row in rows)
    if held:
        when = "is held until the window of its trial closes" if held == 1 else "are held until their windows close"
        return f"{held:,} {when}."
    if warm:
        return "The policy starts from past rewards, which do not count here."
    return "Each arm is tried once before the policy chooses."


def to_do(pending: Sequence[Trial], what: str, active: Sequence[str]) -> str:
    """Return what a user with write access should do next; no arm that was retired is to be tried.

    >>> to_do([], "reward", ["red"])
    'Ask for the next trial.'
    """
    pending = [trial for trial in pending if trial.arm in active]
    if not pending:
        return "Ask for the next trial."
    more = len(pending) - 1
    rest = f"; {more:,} more {'trial is' if more == 1 else 'trials are'} pending" if more else ""
    return f"Try {pending[0].arm} and report the {what} of trial {pending[0].id}{rest}."


def code(name: str, settings: Mapping[str, Any]) -> str:
    """Return the Python code that creates a study with these settings, as JSON has them; past rewards have a name.

    >>> print(code("page", {"arms": ["red", "blue"], "policy": "RDS()", "bounds": [0.0, 1.0], "control": "red"}))
    db.create_study(
        'page',
        arms=['red', 'blue'],
        policy='RDS()',
        bounds=(0.0, 1.0),
        control='red',
    )
    """
    written = {key: repr(value) for key, value in settings.items()}
    if "bounds" in settings:
        written["bounds"] = repr(tuple(settings["bounds"]))
    if "window" in settings:
        written["window"] = repr(lateness.shown(settings["window"]))
    if "history" in settings:
        written["history"] = "past"  # too long to be shown
    lines = [repr(name), *(f"{key}={value}" for key, value in written.items())]
    return "\n".join(["db.create_study(", *(f"    {line}," for line in lines), ")"])
