"""``estimate``, as a study here and one of a service have it."""

from collections.abc import Mapping
from typing import overload

from dirichlet_bandits.arms import CVaR, Mean, Objective
from dirichlet_bandits.live.estimates import Estimate
from dirichlet_bandits.live.risk import RiskEstimate, asked_cvar
from dirichlet_bandits.policies import Policy

Choice = Policy | Mapping[str, float] | str


class Estimating:
    """A study whose log says what another choice of arms would have earned."""

    @overload
    def estimate(
        self,
        choice: Choice,
        *,
        objective: Mean | None = None,
        bounds: tuple[float, float] | None = None,
        confidence: float = 0.95,
    ) -> Estimate: ...

    @overload
    def estimate(
        self,
        choice: Choice,
        *,
        objective: CVaR,
        bounds: tuple[float, float] | None = None,
        confidence: float = 0.95,
    ) -> RiskEstimate: ...

    def estimate(
        self,
        choice: Choice,
        *,
        objective: Objective | None = None,
        bounds: tuple[float, float] | None = None,
        confidence: float = 0.95,
    ) -> Estimate | RiskEstimate:
        """What another choice of arms would have earned a trial, judged from the log.

        ``choice`` is an arm, weights of arms, or a policy: what it would have done with the rewards known at
        each decision. See :class:`Estimate`. If all rewards lie between two numbers, those of the study or ``bounds``,
        it has an interval of this ``confidence``.

        With ``objective=CVaR(level)`` it is the average over the bad rewards of the choice, with an interval of this
        ``confidence`` (:class:`RiskEstimate`). It needs two numbers between which all rewards lie: those that the
        policy was told, or ``bounds``.
        """
        goal = asked_cvar(objective)
        if goal is None:
            return self._estimate(choice, bounds, confidence)
        return self._estimate_cvar(choice, goal, bounds, confidence)

    def _estimate(self, choice: Choice, bounds: tuple[float, float] | None, confidence: float) -> Estimate:
        raise NotImplementedError

    def _estimate_cvar(
        self, choice: Choice, goal: CVaR, bounds: tuple[float, float] | None, confidence: float
    ) -> RiskEstimate:
        raise NotImplementedError
