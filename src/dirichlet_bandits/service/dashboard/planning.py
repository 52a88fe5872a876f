"""Plan a study from a page: how many trials it takes to name a winner, and what they cost."""

from typing import Annotated, Any, Final

from fastapi import Form, Request
from pydantic import BaseModel
from starlette.responses import Response

from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError
from dirichlet_bandits.experiments.plan_question import PlanQuestion
from dirichlet_bandits.service import plans
from dirichlet_bandits.service.dashboard.access import Creating, routes
from dirichlet_bandits.service.dashboard.rendering import for_people, page, real_number, whole_number
from dirichlet_bandits.service.problems import headers_of, status_of

MOST_ARMS: Final = 10
REPLICATIONS: Final = 100
FLOORS: Final = {"0": "none", "0.05": "0.05", "0.1": "0.1", "0.2": "0.2"}
POLICIES: Final = {
    "EqualSplit": "EqualSplit()",
    "TopTwo": "TopTwo()",
    "ThompsonSampling": "ThompsonSampling('bernoulli')",
}
"""Policies of a plan as they are written for a study of rewards 0 and 1."""


class TypedPlan(BaseModel):
    """What was typed into the form, as texts; rates are in percent, as people say them."""

    baseline: str = "10"
    lift: str = "3"
    arms: str = "2"
    horizon: str = "20000"
    floor: list[str] = ["0", "0.1"]

    def question(self) -> PlanQuestion:
        """Return the arguments of ``db.plan``."""
        baseline = _between("baseline", real_number("baseline", self.baseline), 0.01, 99.99)
        lift = _between("lift", real_number("lift", self.lift), -baseline, 100.0 - baseline)
        arms = _between("number of arms", whole_number("number of arms", self.arms), 2, MOST_ARMS)
        horizon = whole_number("number of trials", self.horizon)
        return PlanQuestion(
            baseline=baseline / 100,
            lift=lift / 100,
            arms=int(arms),
            horizon=int(_between("number of trials", horizon, 100, plans.MOST_TRIALS)),
            floors=[real_number("floor", share) for share in self.floor],
            policies=list(POLICIES.values()),
            replications=REPLICATIONS,
        )


@routes.get("/plan")
def plan_page(request: Request, studies: Creating) -> Response:
    """Show the form for a plan."""
    return _page(request, TypedPlan())


@routes.post("/plan")
def show_plan(request: Request, studies: Creating, typed: Annotated[TypedPlan, Form()], stop: plans.Stop) -> Response:
    """Show when simulated studies name a winner and what they lose."""
    try:
        return _page(request, typed, found=plans.simulated(typed.question(), stop))
    except DirichletBanditsError as error:
        shown = _page(request, typed, status_of(error), error=for_people(error))
        shown.headers.update(headers_of(error) or {})
        return shown


def _page(request: Request, typed: TypedPlan, status: int = 200, **said: Any) -> Response:
    limits = {"most": plans.MOST_TRIALS, "seconds": round(plans.SECONDS)}
    values = {"typed": typed, "floors": FLOORS, "written": POLICIES, **limits}
    return page(request, "plan.html", status, **{**values, "found": None, "error": None, **said})


def _between(field: str, number: float, least: float, most: float) -> float:
    if not least <= number <= most:
        raise ArgumentError(field, f"from {least:g} to {most:,g}", number)
    return number
