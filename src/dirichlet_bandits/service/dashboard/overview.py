"""Collect what the page of a study shows: arms from the best down, the next step, and charts."""

import math
from typing import Any, Final

import pandas as pd

from dirichlet_bandits.arms import CVaR
from dirichlet_bandits.arms.objective import Mean
from dirichlet_bandits.live import Study
from dirichlet_bandits.live.direction import MINIMIZE
from dirichlet_bandits.live.reading import ReadableStudy
from dirichlet_bandits.live.readings import drift_words
from dirichlet_bandits.service.dashboard import charts, guided
from dirichlet_bandits.service.dashboard.advice import to_do, verdict
from dirichlet_bandits.service.dashboard.series import OTHERS, drawn_arms, moments, series

LISTED: Final = 50
_OTHER: Final = 8
_SEED_DIGITS: Final = 8


def overview(study: Study) -> dict[str, Any]:
    """Return everything that changes on the page of a study."""
    summary, log, pending = study.summary(), study.trials_dataframe(), study.pending
    chances = dict.fromkeys(summary.index, math.nan) if study.segments else study.propensities()
    best, control, costs = summary.attrs["best_arm"], study.control, study.direction == MINIMIZE
    arms = [str(arm) for arm in summary.index]
    drawn = drawn_arms(summary, log)
    colours = {arm: drawn.index(arm) if arm in drawn else _OTHER for arm in arms}
    found = series(drawn, len(arms), log)
    rows = [
        {
            "arm": arm,
            "best": arm == best,
            "control": arm == control,
            "next": chances[str(arm)],
            "colour": colours[str(arm)],
            "swatch": charts.swatch(colours[str(arm)]),
            **row,
        }
        for arm, row in _from_the_best(summary, costs).to_dict("index").items()
    ]
    # A page that is only read stores nothing, so this is not Study.winner, which records a winner.
    judged = isinstance(study.policy.objective, Mean) and not study.segments
    found_winner = ReadableStudy.winner(study) if judged else None
    level = study.policy.objective.level if isinstance(study.policy.objective, CVaR) else None
    return {
        "study": study,
        "seed": short_seed(study.seed),
        "rows": rows,
        "attrs": summary.attrs,
        "level": level,
        "log": log,
        "trials": len(log),
        "last": last_activity(log),
        "best": best,
        "code": guided.code(
            study.name, arms, guided.Chosen(repr(study.policy), study.bounds), study.direction, study.control
        ),
        "drift": drift_words(summary.attrs["drift"]) if summary.attrs["drift"] else "",
        "verdict": verdict(rows, summary.attrs, found_winner),
        "to_do": to_do(pending, "cost" if costs else "reward"),
        "waiting": pending[:LISTED],
        "n_waiting": len(pending),
        "legend": [(arm, charts.swatch(k)) for k, arm in enumerate(drawn)]
        + [(OTHERS, charts.swatch(_OTHER))] * (found.others > 0),
        "window": found.window,
        "others": found.others,
        "moments": moments(found),
        "forest": charts.forest(rows, log),
        "most_drawn": charts.MOST_INTERVALS,
        "histograms": charts.histograms(drawn, log, level, costs),
    }


def short_seed(seed: int) -> str:
    """Return a seed in a form that people can compare.

    >>> short_seed(42), short_seed(301464646622280655677346925882554694042)
    ('42', '30146464…')
    """
    digits = str(seed)
    return digits if len(digits) <= _SEED_DIGITS else digits[:_SEED_DIGITS] + "…"


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
