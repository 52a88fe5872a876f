"""Restarting policies as their papers define them: GLR-klUCB, M-UCB and CUSUM-UCB."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.detectors import CUSUM, GLR, MeanShiftParams, even_window
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import ORDER_MATTERS, register
from dirichlet_bandits.policies.restarting import (
    AT_RANDOM,
    CONSTANT,
    HORIZON,
    SINCE_ALARM,
    ClockedRestartingParams,
    Rate,
    Restarting,
    RestartingParams,
    check_exploration,
    restarting_propensities,
)
from dirichlet_bandits.policies.ucb import KLUCB, UCB1
from dirichlet_bandits.validation import large_count, positive_number, true_or_false, whole_number


class _Published(Policy):
    """A policy for rewards in [0, 1] that restarts another one, its ``policy``."""

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return 0.0, 1.0


@dataclass(frozen=True)
class GLRKLUCB(_Published):
    """KL-UCB, restarted by a generalized likelihood ratio test: a short form of :class:`Restarting`.

    The index of arm k is sup{q : N_k kl(mu_k, q) <= log(t - tau_k)}, from its rewards since its last restart at time
    tau_k. The parameters are those of :class:`Restarting` and :class:`GLR`. For a known horizon T and K arms, the paper
    uses delta = 1 / sqrt(T), exploration = sqrt(K log(T) / T) and ``growing=True``; a twentieth of this exploration is
    usually better, but may miss changes.

    >>> GLRKLUCB(scope="local").params == Restarting(KLUCB("bernoulli"), scope="local").params
    True

    Reference: Besson, Kaufmann, Maillard and Seznec, Efficient change-point detection for tackling piecewise-stationary
    bandits, JMLR 23, 2022.
    """

    delta: float = 0.01
    exploration: float | None = None
    scope: Literal["global", "local"] = "global"
    threshold: Literal["recommended", "proved", "jmlr", "dal"] = "recommended"
    every: int = 10
    scheduled: bool = False
    growing: bool = False
    assumes: ClassVar[str] = "rewards in [0, 1] that change from time to time"
    guarantee: ClassVar[str] = "none known"
    reference: ClassVar[str] = "Besson et al. (2022)"

    def __post_init__(self) -> None:
        self._restarting()  # refuses parameters that are wrong

    def _restarting(self) -> Restarting:
        detector = GLR(self.delta, self.threshold, self.every)
        return Restarting(self.policy, detector, self.exploration, self.scope, self.scheduled, self.growing)

    @property
    def policy(self) -> KLUCB:
        return KLUCB("bernoulli")

    @property
    def params(self) -> RestartingParams | ClockedRestartingParams:
        return self._restarting().params


@dataclass(frozen=True)
class MUCB(_Published):
    """UCB1 that restarts all arms when the two halves of a window of an arm's rewards differ.

    The index is mu_k + sqrt(2 log(t - tau) / N_k). An arm's last ``window`` rewards raise an alarm if the sums of their
    halves differ by more than ``threshold``, by default b = sqrt(w log(2 K T^2) / 2). A decision explores with
    probability ``exploration``, by default sqrt((M - 1) K (2 b + 3 sqrt(w)) / (2 T)), where M is the number of
    segments. With ``scheduled=True``, the arms are explored in turn at fixed times, as published.

    >>> MUCB(window=200, horizon=10_000, segments=3)
    MUCB(window=200, horizon=10000, segments=3, threshold=None, exploration=None, scheduled=False)

    Reference: Cao, Wen, Kveton and Xie, Nearly optimal adaptive procedure with change detection for
    piecewise-stationary bandit, AISTATS 2019.
    """

    window: int
    horizon: int
    segments: int
    threshold: float | None = None
    exploration: float | None = None
    scheduled: bool = False
    assumes: ClassVar[str] = "rewards in [0, 1] whose means change a known number of times; linear for fixed parameters"
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Cao et al. (2019)"
    example_parameters: ClassVar = {"window": 100, "horizon": 1000, "segments": 2}

    def __post_init__(self) -> None:
        even_window(self.window)
        large_count("horizon", self.horizon, at_least=1)
        whole_number("segments", self.segments, at_least=1)
        if self.threshold is not None:
            positive_number("threshold", self.threshold)
        check_exploration(self.exploration)
        true_or_false("scheduled", self.scheduled)
        if self.scheduled and (self.exploration == 0 or (self.exploration is None and self.segments == 1)):
            raise ArgumentError("exploration", "a positive number if scheduled", self.exploration)

    @property
    def policy(self) -> UCB1:
        return UCB1(sigma=1.0)

    @property
    def params(self) -> RestartingParams:
        window, horizon = int(self.window), float(self.horizon)
        detector = MeanShiftParams(window, math.nan if self.threshold is None else float(self.threshold), horizon)
        rate = Rate(HORIZON, float(self.segments - 1), window, horizon)
        if self.exploration is not None:
            rate = Rate(CONSTANT, float(self.exploration))
        scheduled = SINCE_ALARM if self.scheduled else AT_RANDOM
        return RestartingParams(self.policy.params, detector, rate, False, scheduled, 1)


@dataclass(frozen=True)
class CUSUMUCB(_Published):
    """UCB that restarts a single arm when its rewards drift away from the mean of its first rewards.

    The index is mu_k + sqrt(xi log(N_1 + ... + N_K) / N_k), from each arm's rewards since its last restart. The
    detector is :class:`CUSUM` with ``first``, ``drift`` and ``threshold``, by default log(T / G) for G changes. A
    decision explores with probability ``exploration``, by default sqrt(G log(T / G) / T). With ``forced=True``, each
    arm is first pulled ``first`` times after its restart, as in the comparison of Baudry, Russac and Cappé (2021).

    >>> CUSUMUCB(horizon=10_000, changes=2).policy
    UCB1(sigma=0.5)

    Reference: Liu, Lee and Shroff, A change-detection based framework for piecewise-stationary multi-armed bandit
    problem, AAAI 2018.
    """

    horizon: int
    changes: int
    first: int = 50
    drift: float = 0.05
    threshold: float | None = None
    exploration: float | None = None
    xi: float = 0.5
    forced: bool = False
    assumes: ClassVar[str] = "rewards in [0, 1] whose means change a known number of times; linear for fixed parameters"
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Liu, Lee and Shroff (2018)"
    example_parameters: ClassVar = {"horizon": 1000, "changes": 1}

    def __post_init__(self) -> None:
        whole_number("changes", self.changes, at_least=1)
        large_count("horizon", self.horizon, at_least=1 + self.changes)
        positive_number("xi", self.xi)
        check_exploration(self.exploration)
        true_or_false("forced", self.forced)
        self._detector()  # refuses parameters that are wrong

    def _detector(self) -> CUSUM:
        default = math.log(self.horizon / self.changes)
        return CUSUM(self.first, self.drift, default if self.threshold is None else self.threshold)

    @property
    def policy(self) -> UCB1:
        return UCB1(sigma=math.sqrt(0.5 * self.xi))

    @property
    def params(self) -> RestartingParams:
        rate = self.exploration
        if rate is None:
            rate = min(1.0, math.sqrt(self.changes * math.log(self.horizon / self.changes) / self.horizon))
        first = int(self.first) if self.forced else 1
        detector = self._detector().params
        return RestartingParams(self.policy.params, detector, Rate(CONSTANT, float(rate)), True, AT_RANDOM, first)


register(GLRKLUCB, MUCB, CUSUMUCB, probability=restarting_propensities, from_histories=ORDER_MATTERS)
