"""The method ``estimate``, shared by local studies and those of a service."""

from collections.abc import Mapping
from typing import overload

from dirichlet_bandits.arms import CVaR, Mean, Objective
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference.off_policy import Estimate
from dirichlet_bandits.inference.risk import RiskEstimate
from dirichlet_bandits.policies import Policy

Choice = Policy | Mapping[str, float] | str


def asked_cvar(objective: object) -> CVaR | None:
    """Return the CVaR that should be estimated; None for the mean.

    >>> asked_cvar(None), asked_cvar(CVaR(0.2))
    (None, CVaR(level=0.2))
    """
    if objective is None or isinstance(objective, Mean):
        return None
    if not isinstance(objective, CVaR):
        raise ArgumentError("objective", "Mean() or CVaR(level)", objective)
    return objective


class Estimating:
    """A study from whose log you can estimate what another choice of arms would have earned."""

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
        """Estimate from the log what another choice of arms would have earned per trial.

        ``choice`` is an arm, weights of arms, or a policy: what it would have done with the rewards known at
        each decision. See :class:`Estimate`. If bounds of all rewards are known, from the study or from ``bounds``,
        the estimate has an interval of this ``confidence``.

        With ``objective=CVaR(level)``, the result is the average over the bad rewards of the choice, with an interval
        of this ``confidence`` (:class:`RiskEstimate`). This needs bounds of all rewards: those of the policy, or
        ``bounds``.
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
