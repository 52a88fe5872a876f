"""Intervals of the arms' means after some numbers of trials, for charts over time."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dirichlet_bandits.inference.intervals import levels, mean_interval
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.readings import CONFIDENCE
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    from dirichlet_bandits.live.reading import ReadableStudy


def mean_bands(study: "ReadableStudy", arms: Sequence[str], at: Sequence[int], level: float = CONFIDENCE) -> Floats:
    """Return the interval of each arm's mean from the first ``at`` trials: ``found[arm, k]`` has its two ends.

    These are the confidence sequences of ``Study.summary``, computed from the rewards of the first trials as they are
    known now, so the intervals after the last trial are those of the summary. They are NaN where there is no interval,
    and in a study with segments, whose summary averages over the segments.

    >>> import dirichlet_bandits as db
    >>> study = db.create_study("page", arms=["red", "blue"], bounds=(0, 1), seed=1)
    >>> _ = study.add_trials({"arm": ["red", "blue"] * 400, "reward": [0.0, 1.0, 1.0, 1.0] * 200})
    >>> mean_bands(study, ["red"], [80, 800]).round(2).tolist()
    [[[0.17, 0.82], [0.4, 0.6]]]
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
