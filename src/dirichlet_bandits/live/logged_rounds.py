"""The rounds of a study, read from its events: which arms could have been in each, with which probability."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.live.event_notes import NOTHING, read_ask
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import ASK, FACTS, PAST, Concerns, Event
from dirichlet_bandits.types import Floats, Ints


class LoggedRounds(NamedTuple):
    """One row per round: the propensities of all arms that the study ever had, and whether the round is complete.

    A past trial is a round of its own, which is complete if its propensity is known. The propensities of other arms
    that could have come are then NaN. A round in which a returning unit was assigned again, because its arm was
    retired, is not complete: that trial does not count.
    """

    journal: Journal
    propensities: Floats
    complete: np.ndarray
    row_of_trial: Ints

    @property
    def possible(self) -> np.ndarray:
        """A table of which arms could have been in which round."""
        return self.propensities != 0.0  # NaN is not 0 either

    @property
    def counts(self) -> np.ndarray:
        """A mask of the trials that count; of a unit, only the first does."""
        counted = np.ones(len(self.journal.arm_of), bool)
        counted[list(self.journal.repeats)] = False
        return counted

    def propensities_of(self, trials: Ints) -> Floats:
        """Return the propensities of the arms of these trials, as their rounds have them.

        Estimates divide by them, so they must be positive and equal to those recorded with each trial.
        """
        journal = self.journal
        found = self.propensities[self.row_of_trial[trials], np.array(journal.arm_of, np.int64)[trials]]
        wrong = ~(found > 0.0) | (found != np.array(journal.propensity_of, np.float64)[trials])
        if wrong.any():
            trial, chance = int(trials[wrong][0]), float(found[wrong][0])
            raise FormatError(
                f"the round of trial {trial} has the propensity {chance!r} for it: the storage is damaged"
            )
        return found


@intact("the study")
def read_rounds(events: Sequence[Event]) -> LoggedRounds:
    """Read the rounds from events that were read with their data."""
    journal = Journal()
    journal.apply(events)
    found: list[bytes] = []
    row_of_trial = np.empty(len(journal.arm_of), np.int64)
    complete: list[bool] = []
    unknown: list[int] = []
    left: dict[str | None, float] = {}  # arms to come in the round of each segment
    current: dict[str | None, int] = {}
    for event in events:
        if event.kind == ASK:
            asked = NOTHING if event.note is None else read_ask(event.note)
            segment = asked.segment
            if asked.first is not None:
                row_of_trial[event.trial] = row_of_trial[asked.first] if event.data is None else len(found)
                found += [] if event.data is None else [event.data]
                complete += [] if event.data is None else [False]
                continue
            if event.data is not None:
                found.append(event.data)
                complete.append(True)
                current[segment] = len(found) - 1
                left[segment] = len(asked.rest)
            else:
                left[segment] -= 1
            left[segment] = math.inf if event.trial in journal.repeats else left[segment]
            complete[current[segment]] = left[segment] == 0
            row_of_trial[event.trial] = current[segment]
        elif event.kind == PAST:
            if event.data is None:
                unknown.append(len(found))
            row_of_trial[event.trial] = len(found)
            found.append(event.data or b"")
            complete.append(event.data is not None)
        elif FACTS[event.kind].concerns is Concerns.ARMS:
            left = dict.fromkeys(left, 0)
    matrix = _matrix(found, len(journal.names))
    matrix[unknown] = np.nan
    return LoggedRounds(journal, matrix, np.array(complete, bool), row_of_trial)


def _matrix(found: list[bytes], n_arms: int) -> Floats:
    """Return propensities as rows; arms that were added later have 0."""
    matrix = np.zeros((len(found), n_arms))
    sizes = np.array([len(data) // 8 for data in found], np.int64)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        matrix[rows, :size] = np.frombuffer(b"".join(found[row] for row in rows), "<f8").reshape(rows.size, size)
    return matrix
