"""An arm of the real crop model: each pull simulates a new season."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.crops.dssat import Model, Workspace, find_model
from dirichlet_bandits.crops.samples import load
from dirichlet_bandits.crops.sampling import CHUNK, GOOD_SEEDS
from dirichlet_bandits.crops.season import PUBLISHED, Case, date_label
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.validation import whole_number


class DssatArm:
    """Maize planted on ``day`` of the year; each reward is the yield (kg/ha) of a newly simulated season.

    A call of the model makes 20 seasons, which is cheaper than one at a time; the rest are kept for the next pulls
    with the same generator. So a new arm and a seeded generator always give the same rewards, however you draw
    them: ``rvs(3)`` or three times ``rvs(1)``. Each reward has the distribution of the shipped samples.

    Parameters
    ----------
    day
        Planting date, as a day of the year.
    case
        Soil, climate, fertilizer, cultivar and so on; by default, the published case.
    workers
        Number of model processes at a time, when many rewards are drawn at once.

    Examples
    --------
    >>> arm = DssatArm(87)
    >>> arm.label
    '28 Mar'

    With the extra ``dssat``, ``arm.rvs(2, random_state=1)`` simulates two seasons.

    References
    ----------
    Jones et al. (2003), The DSSAT cropping system model, European Journal of Agronomy 18.
    """

    def __init__(self, day: int, *, case: Case = PUBLISHED, workers: int = 1) -> None:
        if not isinstance(case, Case):
            raise ArgumentError("case", "a Case", case)
        self.day = case.check_day(day)
        self.case = case
        self.workers = whole_number("workers", workers, at_least=1)
        self._model: Model | None = None
        self._own: np.random.Generator | None = None
        self._source: np.random.Generator | None = None
        self._waiting = np.empty(0, dtype=np.int16)

    def __repr__(self) -> str:
        published = "" if self.case == PUBLISHED else ", case=..."
        return f"DssatArm({self.day}{published})"

    @property
    def label(self) -> str:
        """The planting date as text."""
        return date_label(self.day)

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: np.random.Generator | int | None = None,
    ) -> "NDArray[np.float64] | float":
        """Draw the yields of ``size`` new seasons (extra ``dssat``); one number if ``size`` is None.

        ``random_state`` is a NumPy generator, a seed, or None for the arm's own generator.
        """
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in shape):
            raise ArgumentError("size", "None, or whole numbers from 0 on", size)
        count = int(np.prod(shape, dtype=np.int64))
        rng = self._generator(random_state)
        if rng is not self._source:
            # Seasons that are left over came from another generator, and this one must not depend on them.
            self._source, self._waiting = rng, np.empty(0, dtype=np.int16)
        if count > self._waiting.size:
            calls = -(-(count - self._waiting.size) // CHUNK)
            self._waiting = np.concatenate([self._waiting, *self._simulate(calls, rng)])
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return float(taken[0]) if size is None else taken.astype(np.float64).reshape(shape)

    def mean(self) -> float:
        """Return the mean yield, from the shipped samples.

        >>> 3500 < DssatArm(87).mean() < 3700
        True
        """
        return float(self._shipped().mean())

    def std(self) -> float:
        """Return the standard deviation of the yield, from the shipped samples.

        >>> 1600 < DssatArm(87).std() < 1700
        True
        """
        return float(self._shipped().std())

    def _generator(self, random_state: np.random.Generator | int | None) -> np.random.Generator:
        """Return the generator for ``random_state``."""
        if isinstance(random_state, np.random.Generator):
            return random_state
        if random_state is None:
            self._own = np.random.default_rng() if self._own is None else self._own
            return self._own
        if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer) or random_state < 0:
            raise ArgumentError("random_state", "a numpy Generator, a seed from 0 on, or None", random_state)
        return np.random.default_rng(int(random_state))

    def _simulate(self, calls: int, rng: np.random.Generator) -> list[NDArray[np.int16]]:
        """Return the yields of this many new calls of the model."""
        if self._model is None:
            self._model = find_model()
        # Drawn call by call, so that the rewards do not depend on how many are drawn at once.
        drawn = [(int(rng.choice(GOOD_SEEDS)), rng.permutation(CHUNK)) for _ in range(calls)]

        def make(task: tuple[int, NDArray[np.int64]]) -> NDArray[np.int16]:
            rseed, order = task
            # Shuffled, because the air's carbon dioxide rises from the first season of a call to the last.
            return space.run(self.case, self.day, rseed, CHUNK)[order]

        with Workspace(self._model) as space, ThreadPoolExecutor(min(self.workers, calls)) as pool:
            return list(pool.map(make, drawn))

    def _shipped(self) -> NDArray[np.int16]:
        """Return the shipped yields of this arm's date; refuse a case or a date that has none."""
        samples = load()
        if self.case != PUBLISHED or self.day not in samples.days:
            known = ", ".join(str(day) for day in samples.days)
            raise ArgumentError(
                "arm",
                f"the published case on one of the days {known} to have a known law; sample() others",
                self,
            )
        row: NDArray[np.int16] = samples.yields[list(samples.days).index(self.day)]
        return row
