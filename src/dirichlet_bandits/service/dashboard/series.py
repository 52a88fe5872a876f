"""Compute a study's history as numbers, for the script that draws it and for a table where no script runs."""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from starlette.responses import JSONResponse, Response

from dirichlet_bandits.inference.intervals import FEWEST, levels, mean_interval
from dirichlet_bandits.live import Study
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.readings import CONFIDENCE
from dirichlet_bandits.live.records import TOLD
from dirichlet_bandits.service.dashboard.access import Reading, routes
from dirichlet_bandits.types import Floats

DRAWN: Final = 8
"""At most so many arms have a color of their own; the others are one."""

OTHERS: Final = "all other arms"
_POINTS: Final = 600
_SMALLEST_WINDOW: Final = 20
_ROWS: Final = 8
_BAND_POINTS: Final = 24


class Series(NamedTuple):
    """The state of a study at some of its trials, including the last one.

    ``at`` counts trials, and ``times`` is when the last of them was assigned, in seconds since 1970. ``share`` has one
    row per arm: its share of the last ``window`` trials. ``means`` and ``total`` summarize the rewards of all trials
    up to then, as they are known now.
    """

    arms: list[str]
    others: int
    at: list[int]
    times: list[float]
    window: int
    share: Floats
    means: Floats
    total: list[float]


class Moment(NamedTuple):
    """A row of a series: shares and means by arm, and the sum of the rewards."""

    at: int
    share: list[float]
    means: list[float]
    total: float


def drawn_arms(summary: pd.DataFrame, trials: pd.DataFrame) -> list[str]:
    """Return the arms to draw, in their own order: the best, the control, and those with the most trials."""
    arms = [str(arm) for arm in summary.index]
    always = (summary.attrs["best_arm"], summary.attrs["control"])
    counts = trials["arm"].value_counts()
    by_trials = sorted(arms, key=lambda arm: (arm not in always, -int(counts.get(arm, 0))))
    chosen = set(by_trials[:DRAWN])
    return [arm for arm in arms if arm in chosen]


def series(arms: list[str], n_arms: int, trials: pd.DataFrame, points: int = _POINTS) -> Series:
    """Return the series of the arms that are drawn, and of the others together."""
    n = len(trials)
    window = max(_SMALLEST_WINDOW, n // 10)
    at = np.unique(np.linspace(1, n, points).astype(int)) if n else np.zeros(0, int)
    which = pd.Index(arms).get_indexer(trials["arm"])  # -1 for all others
    told = (trials["status"] == TOLD).to_numpy()
    rewards = np.where(told, trials["reward"].to_numpy(float), 0.0)
    rest = which == -1
    others = max(n_arms - len(arms), int(rest.any()))
    rows = [which == k for k in range(len(arms))] + [rest] * (others > 0)
    share = np.array([_window_share(row, at, window) for row in rows]).reshape(len(rows), at.size)
    means = np.array([_running_mean(rewards, told & row)[at - 1] for row in rows[: len(arms)]])
    # Clocks may go back; the axis of a chart must not.
    times = np.maximum.accumulate(trials["asked_at"].astype("int64").to_numpy() / _per_second(trials))
    return Series(
        arms=arms,
        others=others,
        at=at.tolist(),
        times=times[at - 1].tolist(),
        window=min(window, n),
        share=share,
        means=means.reshape(len(arms), at.size),
        total=np.cumsum(rewards)[at - 1].tolist(),
    )


def moments(found: Series) -> list[Moment]:
    """Return the rows of a table over time: a few trials at equal distances, including the last one."""
    n = len(found.at)
    return [
        Moment(found.at[k], found.share[:, k].tolist(), found.means[:, k].tolist(), found.total[k])
        for k in np.unique(np.linspace(0, n - 1, min(n, _ROWS)).astype(int)).tolist()
    ]


@routes.get("/study/series")
def series_of(studies: Reading, name: str) -> Response:
    """Return the series of a study for the script that draws it."""
    study = studies.study(name)
    summary, trials = study.summary(), study.trials_dataframe()
    found = series(drawn_arms(summary, trials), len(summary), trials)
    low, high = bands(study, found)
    numbers = {"share": found.share.round(4).tolist(), "total": [_six(value) for value in found.total]}
    numbers |= {"means": _rows(found.means), "low": _rows(low), "high": _rows(high)}
    names = {"arms": found.arms + [OTHERS] * (found.others > 0), "control": study.control}
    return JSONResponse({**names, "at": found.at, "times": found.times, "window": found.window, **numbers})


def bands(study: Study, found: Series) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the intervals of the means, one row per arm, at all points of a series.

    An interval takes a pass over the rewards, so it is computed at a few points and interpolated between them. Their
    distances grow like the number of trials, because intervals change quickly at first and slowly later.
    """
    at = np.array(found.at, float)
    if not at.size:
        return found.means, found.means
    few = np.geomspace(min(FEWEST, at[-1]), at[-1], _BAND_POINTS)
    chosen = at[np.unique(np.searchsorted(at, few.clip(max=at[-1])))]
    ends = mean_bands(study, found.arms, chosen.astype(int).tolist())
    low, high = (
        np.array([np.interp(at, chosen, row, left=np.nan) for row in ends[:, :, end]]).reshape(found.means.shape)
        for end in (0, 1)
    )
    return low, high


def _rows(values: Floats) -> list[list[float | None]]:
    """Return numbers with None in place of NaN, which JSON does not have."""
    return [[None if value != value else _six(value) for value in row] for row in values.tolist()]


def _six(value: float) -> float:
    """Round to six digits, which is more than a chart can show and halves the bytes."""
    return float(f"{value:.6g}")


def _window_share(row: Any, at: Any, window: int) -> Floats:
    counts = np.concatenate([[0], np.cumsum(row)])
    first = np.maximum(at - window, 0)
    return np.asarray((counts[at] - counts[first]) / np.maximum(at - first, 1), float)


def _running_mean(rewards: Floats, counted: Any) -> Floats:
    sums, counts = np.cumsum(np.where(counted, rewards, 0.0)), np.cumsum(counted)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _per_second(trials: pd.DataFrame) -> float:
    """Return how many steps of a time column make one second, because pandas uses several units."""
    return {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[trials["asked_at"].dt.unit]


# Intervals of the arms' means after some numbers of trials, for charts over time


def mean_bands(study: Study, arms: Sequence[str], at: Sequence[int], level: float = CONFIDENCE) -> Floats:
    """Return the interval of each arm's mean from the first ``at`` trials: ``found[arm, k]`` has its two ends.

    These are the confidence sequences of ``Study.summary``, computed from the rewards of the first trials as they are
    known now, so the intervals after the last trial are those of the summary. They are NaN where there is no interval,
    and in a study with segments, whose summary averages over the segments.
    """
    local = local_of(study)
    with local.lock:
        journal, bounds = local.journal(), study.settings.limits
    found = np.full((len(arms), len(at), 2), math.nan)
    if journal.views:
        return found
    own_levels = levels(journal.since, level).tolist()
    which, trials = np.array(journal.told.arms, np.int64), np.array(journal.told.trials, np.int64)
    rewards = np.array(journal.told.rewards)
    for row, name in enumerate(arms):
        arm = journal.names.index(name)
        own = which == arm
        x, when = rewards[own], trials[own]
        for k, n in enumerate(at):
            seen = x[when < n]
            if seen.size:
                found[row, k] = mean_interval(seen, bounds, own_levels[arm])
    return np.where(np.isfinite(found).all(axis=2, keepdims=True), found, math.nan)
