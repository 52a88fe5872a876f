"""The rounds of a study as arrays: which arms could have been in each, with which probability, and what came of them.

``live/export.py`` says which rounds count. In these, a trial without a reward is missing: :class:`LoggedTrials`
assumes that such rewards are like the others of their arm.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.types import Floats, Ints


class LoggedTrials(NamedTuple):
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
    """One row per round: the propensities of all arms that a study ever had, and whether the round counts.

    A past trial is a round of its own, which counts if its propensity is known. The propensities of other arms that
    could have come are then NaN. Each trial has its round (``row``), its arm, its recorded propensity (``chance``), its
    reward (NaN if missing), and whether it counts: a trial in which a returning unit was assigned again does not.
    """

    names: list[str]
    propensities: Floats
    complete: np.ndarray
    row: Ints
    arm: Ints
    chance: Floats
    reward: Floats
    counts: np.ndarray

    @property
    def possible(self) -> np.ndarray:
        """A table of which arms could have been in which round."""
        return self.propensities != 0.0  # NaN is not 0 either

    def unsupported(self, wanted: Floats, possible: np.ndarray) -> dict[str, float]:
        """Return the share of what is ``wanted`` in the rounds that count that is not ``possible``, by arm."""
        asked = np.where(self.complete[:, None], wanted, 0.0)
        lost = np.where(possible, 0.0, asked).sum(axis=0) / max(asked.sum(), 1e-300)
        return {name: float(share) for name, share in zip(self.names, lost, strict=True) if share > 0.0}

    def weighted(self, wanted: Floats, counted: np.ndarray) -> LoggedTrials:
        """Return the trials of these rounds, weighted for a choice that is ``wanted``; of a unit, only the first.

        Weights divide by propensities, so these must be positive and equal to those recorded with each trial.
        """
        trials = np.flatnonzero(self.counts & counted[self.row])
        row, arm = self.row[trials], self.arm[trials]
        chance = self.propensities[row, arm]
        for k in np.flatnonzero(~(chance > 0.0) | (chance != self.chance[trials])):
            said = f"the round of trial {trials[k]} has the propensity {float(chance[k])!r} for it"
            raise FormatError(f"{said}: the storage is damaged")
        return LoggedTrials(row, arm, wanted[row, arm] / chance, self.reward[trials])
