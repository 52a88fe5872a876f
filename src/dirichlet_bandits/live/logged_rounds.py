"""The rounds of a study, read from its events: which arms could have been in each, with which probability.

A round counts if all of its arms were assigned and if it is no later than the last round that has a reward. A reward
that is held until its window closes does not count yet, so with a window, the log ends with the windows that have
closed. The trials of all later rounds wait, and they are not missing at random: their propensities may differ from
those of all earlier rounds. Intervals that hold at all times hold wherever the log ends. Past trials count wherever
they were added.

In the rounds that count, a trial without a reward is missing: it was abandoned, voided or late, or it still waits
although a later round has a reward. :class:`Logged` assumes that such rewards are like the others of their arm. If we
left out every round that waits, we would assume that all arms get their rewards equally soon: of two arms with equal
means, the faster one would seem better.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.live.event import OfArms
from dirichlet_bandits.live.events import Asked, PastAdded, event_of
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import Row
from dirichlet_bandits.types import Floats, Ints


class Logged(NamedTuple):
    """Trials of the rounds that count: the round, the arm, the weight pi/q, and the reward (NaN if missing) of each."""

    row: Ints
    arm: Ints
    weight: Floats
    reward: Floats

    @property
    def told(self) -> np.ndarray:
        """A mask of the trials with a reward."""
        return ~np.isnan(self.reward)

    def weights(self) -> Floats:
        """Return the weights with which the rewards stand for all trials of their arm; 0 for missing rewards.

        They are scaled to the sum of all weights of the arm, not by its number of trials, because rewards may be
        missing where the weights are large or small.
        """
        known = self._known()
        return known * self._ratio(self.weight, known)

    def filled(self) -> Floats:
        """Return the rewards as the estimates see them, with the spread of the estimates; 0 if an arm has none.

        With R the mean of an arm's rewards by weight, and s the scale of :meth:`weights`, a missing reward counts as R,
        and a reward r as R + s (r - R). Weighted sums of these are those of the rewards by :meth:`weights`.
        """
        known, reward = self._known(), np.where(self.told, self.reward, 0.0)
        scale = np.where(self.told, self._ratio(self.weight, known), 0.0)
        return scale * reward + (1.0 - scale) * self._ratio(known * reward, known)

    def effective_rounds(self) -> float:
        """Return (sum d)^2 / sum d^2, with the sums d of the weights of each round; NaN without rewards."""
        d = np.bincount(self.row, self.weights())
        return float(d.sum() ** 2 / np.square(d).sum()) if d.any() else math.nan

    def _known(self) -> Floats:
        """Return the weights of the trials with a reward; if all of an arm's are 0, each counts the same."""
        known = np.where(self.told, self.weight, 0.0)
        return np.where(np.bincount(self.arm, known)[self.arm] > 0.0, known, self.told)

    def _ratio(self, over: Floats, under: Floats) -> Floats:
        """Return for each trial the ratio of two sums over the trials of its arm; 0 if the second one is 0."""
        above, below = np.bincount(self.arm, over), np.bincount(self.arm, under)
        return np.divide(above, below, out=np.zeros(above.size), where=below > 0.0)[self.arm]


class LoggedRounds(NamedTuple):
    """One row per round: the propensities of all arms that the study ever had, and whether the round counts.

    A past trial is a round of its own, which counts if its propensity is known. The propensities of other arms
    that could have come are then NaN. A round in which a returning unit was assigned again, because its arm was
    retired, does not count, because that trial does not.
    """

    journal: Journal
    propensities: Floats
    complete: np.ndarray
    row_of_trial: Ints

    @property
    def possible(self) -> np.ndarray:
        """A table of which arms could have been in which round."""
        return self.propensities != 0.0  # NaN is not 0 either

    def unsupported(self, wanted: Floats, possible: np.ndarray) -> dict[str, float]:
        """Return the share of what is ``wanted`` in the rounds that count that is not ``possible``, by arm."""
        asked = np.where(self.complete[:, None], wanted, 0.0)
        lost = np.where(possible, 0.0, asked).sum(axis=0) / max(asked.sum(), 1e-300)
        return {name: float(share) for name, share in zip(self.journal.names, lost, strict=True) if share > 0.0}

    def logged(self, wanted: Floats, counted: np.ndarray) -> Logged:
        """Return the trials of these rounds, weighted for a choice that is ``wanted``; of a unit, only the first.

        Weights divide by propensities, so these must be positive and equal to those recorded with each trial.
        """
        journal = self.journal
        asked = np.setdiff1d(np.arange(len(journal.arm_of)), np.array(list(journal.repeats), np.int64))
        trials = asked[counted[self.row_of_trial[asked]]]
        row, arm = self.row_of_trial[trials], np.array(journal.arm_of, np.int64)[trials]
        chance = self.propensities[row, arm]
        recorded = np.array(journal.records.propensity_of, np.float64)[trials]
        for k in np.flatnonzero(~(chance > 0.0) | (chance != recorded)):
            said = f"the round of trial {trials[k]} has the propensity {float(chance[k])!r} for it"
            raise FormatError(f"{said}: the storage is damaged")
        reward = np.array([journal.reward_of.get(trial, math.nan) for trial in trials.tolist()], np.float64)
        return Logged(row, arm, wanted[row, arm] / chance, reward)


@intact("the study")
def read_rounds(events: Sequence[Row]) -> LoggedRounds:
    """Read the rounds from events that were read with their data."""
    journal = Journal()
    journal.apply(events)
    found: list[bytes] = []
    row_of_trial = np.empty(len(journal.arm_of), np.int64)
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
    return LoggedRounds(journal, matrix, counted, row_of_trial)


def _matrix(found: list[bytes], n_arms: int) -> Floats:
    """Return propensities as rows; arms that were added later have 0."""
    matrix = np.zeros((len(found), n_arms))
    sizes = np.array([len(data) // 8 for data in found], np.int64)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        matrix[rows, :size] = np.frombuffer(b"".join(found[row] for row in rows), "<f8").reshape(rows.size, size)
    return matrix
