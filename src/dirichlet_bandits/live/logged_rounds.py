"""The rounds of a study, read from its events: which arms could have been in each, with which probability.

A round counts if all of its arms were assigned and if it is no later than the last round that has a reward. A reward
that is held until its window closes does not count yet, so with a window, the log ends with the windows that have
closed. The trials of all later rounds wait, and they are not missing at random: their propensities may differ from
those of all earlier rounds. Intervals that hold at all times hold wherever the log ends. Past trials count wherever
they were added.

In the rounds that count, a trial without a reward is missing: it was abandoned, voided or late, or it still waits
although a later round has a reward. The estimates assume that such rewards are like the others of their arm. If we
left out every round that waits, we would assume that all arms get their rewards equally soon: of two arms with equal
means, the faster one would seem better.
"""

import math
from collections.abc import Sequence

import numpy as np

from dirichlet_bandits.inference.logged_rounds import LoggedRounds
from dirichlet_bandits.live.event import OfArms
from dirichlet_bandits.live.events import Asked, PastAdded, event_of
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import Row
from dirichlet_bandits.types import Floats


@intact("the study")
def read_rounds(events: Sequence[Row]) -> tuple[Journal, LoggedRounds]:
    """Read the rounds from events that were read with their data, and the journal of these events."""
    journal = Journal()
    journal.apply(events)
    n = len(journal.arm_of)
    found: list[bytes] = []
    row_of_trial = np.empty(n, np.int64)
    complete: list[bool] = []
    unknown: list[int] = []
    left: dict[str | None, float] = {}  # arms to come in the round of each segment
    current: dict[str | None, int] = {}
    for event in map(event_of, events):
        if isinstance(event, Asked):
            segment, every = event.segment, event.propensities
            if event.first is not None:
                row_of_trial[event.trial] = row_of_trial[event.first] if every is None else len(found)
                found += [] if every is None else [every]
                complete += [] if every is None else [False]
                continue
            if every is not None:
                found.append(every)
                complete.append(True)
                current[segment] = len(found) - 1
                left[segment] = len(event.rest or ())
            else:
                left[segment] -= 1
            left[segment] = math.inf if event.trial in journal.repeats else left[segment]
            complete[current[segment]] = left[segment] == 0
            row_of_trial[event.trial] = current[segment]
        elif isinstance(event, PastAdded):
            if event.propensities is None:
                unknown.append(len(found))
            row_of_trial[event.trial] = len(found)
            found.append(event.propensities or b"")
            complete.append(event.propensities is not None)
        elif isinstance(event, OfArms):
            left = dict.fromkeys(left, 0)
    matrix = _matrix(found, len(journal.names))
    matrix[unknown] = np.nan
    added = journal.records.past
    past = row_of_trial[list(added)]
    last = max((row_of_trial[trial] for trial in journal.reward_of.keys() - added), default=len(found))
    counted = np.array(complete, bool)
    counted[np.setdiff1d(np.arange(last + 1, len(found)), past)] = False
    arms, chances = np.array(journal.arm_of, np.int64), np.array(journal.records.propensity_of, np.float64)
    rewards = np.array([journal.reward_of.get(trial, math.nan) for trial in range(n)], np.float64)
    counts = ~np.isin(np.arange(n), list(journal.repeats))
    return journal, LoggedRounds(journal.names, matrix, counted, row_of_trial, arms, chances, rewards, counts)


def _matrix(found: list[bytes], n_arms: int) -> Floats:
    """Return propensities as rows; arms that were added later have 0."""
    matrix = np.zeros((len(found), n_arms))
    sizes = np.array([len(data) // 8 for data in found], np.int64)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        matrix[rows, :size] = np.frombuffer(b"".join(found[row] for row in rows), "<f8").reshape(rows.size, size)
    return matrix
