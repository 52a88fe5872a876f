"""Detectors of changes: GLR, CUSUM, and the comparison of two half windows.

After each reward of an arm, a detector tests the arm's rewards since its last restart, and may raise an alarm.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements, verb
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.changes import THRESHOLDS, glr_statistic, glr_threshold
from dirichlet_bandits.policies.interface import choice
from dirichlet_bandits.types import Records
from dirichlet_bandits.validation import number_between, positive_number, whole_number

MEMORY: Final = np.dtype(
    [
        ("mean", np.float64),  # of the first rewards
        ("risen", np.float64),  # by how much the later ones have drifted up, and down
        ("fallen", np.float64),
    ]
)
"""What a detector may keep of an arm from one reward to the next; zeros after a restart."""


@verb
def alarm(detector: Any, recent: History, memory: Records, arm: int) -> Any:
    """Whether the newest reward of an arm raises an alarm; ``memory[arm]`` is the detector's own."""


class Detector:
    """A test for changes: a frozen dataclass of its parameters, with a NamedTuple on which ``alarm`` is registered."""

    reward_bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def params(self) -> Any:
        """Parameters in the form that the compiled verb uses: a NamedTuple of numbers."""
        raise NotImplementedError


class GLRParams(NamedTuple):
    """Code of the threshold, the level, and how often to test."""

    threshold: int
    delta: float
    every: int


class CUSUMParams(NamedTuple):
    """Number of rewards that estimate the mean, tolerated drift, threshold of the alarm, and how often to test."""

    first: int
    drift: float
    threshold: float
    every: int


class MeanShiftParams(NamedTuple):
    """The window, the difference of sums that raises an alarm (NaN to compute it from the horizon), and the horizon."""

    window: int
    threshold: float
    horizon: float


@dataclass(frozen=True)
class GLR(Detector):
    """A change detector: some split of an arm's rewards since its restart separates two means too well to be chance.

    The statistic is sup_s s kl(m_{1:s}, m_{1:n}) + (n - s) kl(m_{s+1:n}, m_{1:n}), with the Bernoulli divergence; it
    serves all rewards in [0, 1]. It is computed after every ``every``-th reward of an arm and compared with a
    ``threshold``: ``"recommended"``, log(3 n^1.5 / delta), or ``"proved"``, for which an arm that does not change ever
    raises an alarm with probability at most ``delta``. Other publications use ``"jmlr"``, log(n^1.5 / delta), and
    ``"dal"``, log(4 n^1.5 / delta).

    >>> GLR(delta=0.05, threshold="proved")
    GLR(delta=0.05, threshold='proved', every=10)

    Reference: Besson, Kaufmann, Maillard and Seznec, JMLR 23, 2022.
    """

    delta: float = 0.01
    threshold: Literal["recommended", "proved", "jmlr", "dal"] = "recommended"
    every: int = 10

    def __post_init__(self) -> None:
        number_between("delta", self.delta, 0, 1)
        choice("threshold", self.threshold, THRESHOLDS)
        whole_number("every", self.every, at_least=1)

    @property
    def params(self) -> GLRParams:
        return GLRParams(THRESHOLDS[self.threshold], float(self.delta), int(self.every))


@dataclass(frozen=True)
class CUSUM(Detector):
    """A change detector: an arm's rewards have drifted away from the mean u of its first rewards.

    After the first ``first`` rewards, g+ = max(0, g+ + x - u - drift) and g- = max(0, g- + u - x - drift) are updated
    with every reward x, and the larger one raises an alarm when it reaches ``threshold``. With ``every`` above 1, this
    is checked only after every so many rewards of the arm.

    >>> CUSUM(first=50, drift=0.05, threshold=8.5)
    CUSUM(first=50, drift=0.05, threshold=8.5, every=1)

    Reference: Liu, Lee and Shroff, A change-detection based framework for piecewise-stationary multi-armed bandit
    problem, AAAI 2018.
    """

    first: int
    drift: float
    threshold: float
    every: int = 1

    def __post_init__(self) -> None:
        whole_number("first", self.first, at_least=1)
        number_between("drift", self.drift, 0, 1)
        positive_number("threshold", self.threshold)
        whole_number("every", self.every, at_least=1)

    @property
    def params(self) -> CUSUMParams:
        return CUSUMParams(int(self.first), float(self.drift), float(self.threshold), int(self.every))


@dataclass(frozen=True)
class MeanShift(Detector):
    """A change detector: the sums of the two halves of an arm's last ``window`` rewards differ too much.

    >>> MeanShift(window=200, threshold=45.0)
    MeanShift(window=200, threshold=45.0)

    Reference: Cao, Wen, Kveton and Xie, Nearly optimal adaptive procedure with change detection for
    piecewise-stationary bandit, AISTATS 2019, algorithm 1.
    """

    window: int
    threshold: float

    def __post_init__(self) -> None:
        even_window(self.window)
        positive_number("threshold", self.threshold)

    @property
    def params(self) -> MeanShiftParams:
        return MeanShiftParams(int(self.window), float(self.threshold), math.nan)


def even_window(window: object) -> int:
    """Return the argument ``window`` as an int; it must be even."""
    if whole_number("window", window, at_least=2) % 2:
        raise ArgumentError("window", "an even number", window)
    return int(window)  # type: ignore[call-overload]


@jit
def published_threshold(window: int, n_arms: int, horizon: float) -> float:
    """Return b = sqrt(w log(2 K T^2) / 2)."""
    return math.sqrt(0.5 * window * math.log(2.0 * n_arms * horizon * horizon))


@implements(alarm, GLRParams)
def likelihood_ratio_alarm(detector: GLRParams, recent: History, memory: Records, arm: int) -> bool:
    """Whether sup_s s kl(m_{1:s}, m_{1:n}) + (n - s) kl(m_{s+1:n}, m_{1:n}) >= beta(n, delta)."""
    n = recent.pulls[arm]
    if n < 2 or n % detector.every != 0:
        return False
    level = glr_threshold(detector.threshold, n, detector.delta)
    return glr_statistic(rewards(recent, arm), level) >= level


@implements(alarm, CUSUMParams)
def cumulative_sum_alarm(detector: CUSUMParams, recent: History, memory: Records, arm: int) -> bool:
    """Whether max(g+, g-) >= h."""
    n, x, own = recent.pulls[arm], rewards(recent, arm), memory[arm]
    if n <= detector.first:
        own.mean = recent.means[arm]
        return False
    excess = x[n - 1] - own.mean
    own.risen = max(0.0, own.risen + excess - detector.drift)
    own.fallen = max(0.0, own.fallen - excess - detector.drift)
    return n % detector.every == 0 and max(own.risen, own.fallen) >= detector.threshold


@implements(alarm, MeanShiftParams)
def half_window_alarm(detector: MeanShiftParams, recent: History, memory: Records, arm: int) -> bool:
    """Whether |sum of the last w/2 - sum of the w/2 before| > b."""
    n = recent.pulls[arm]
    if n < detector.window:
        return False
    x, difference, half = rewards(recent, arm)[n - detector.window :], 0.0, detector.window // 2
    for i in range(half):
        difference += x[half + i] - x[i]
    threshold = detector.threshold
    if math.isnan(threshold):
        threshold = published_threshold(detector.window, memory.size, detector.horizon)
    return abs(difference) > threshold
