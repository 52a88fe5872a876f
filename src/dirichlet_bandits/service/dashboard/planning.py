"""Plan a study from a page: how many trials it takes to name a winner, and what they cost."""

import threading
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel
from starlette.responses import Response

from dirichlet_bandits.errors import ArgumentError, ConflictError, DirichletBanditsError
from dirichlet_bandits.service.dashboard.access import Creating
from dirichlet_bandits.service.dashboard.rendering import page
from dirichlet_bandits.service.dashboard.typed import real_number, whole_number
from dirichlet_bandits.service.dashboard.wording import for_people
from dirichlet_bandits.service.problems import status_of
from dirichlet_bandits.service.routes import StudyRoute

if TYPE_CHECKING:
    from dirichlet_bandits.experiments.planning import StudyPlan

MOST_ARMS: Final = 10
MOST_TRIALS: Final = 50_000
REPLICATIONS: Final = 100
_ONE_AT_A_TIME: Final = threading.Lock()  # a plan takes seconds of a processor that decisions need, too
routes = APIRouter(include_in_schema=False, route_class=StudyRoute)


class Typed(BaseModel):
    """What was typed into the form, as texts; rates are in percent, as people say them."""

    baseline: str = "10"
    lift: str = "3"
    arms: str = "2"
    trials: str = "20000"


@routes.get("/plan")
def plan_page(request: Request, studies: Creating) -> Response:
    """Show the form for a plan."""
    return page(request, "plan.html", typed=Typed(), most=MOST_TRIALS, found=None, error=None)


@routes.post("/plan")
def show_plan(request: Request, studies: Creating, typed: Annotated[Typed, Form()]) -> Response:
    """Show when simulated studies name a winner and what they lose."""
    try:
        return page(request, "plan.html", typed=typed, most=MOST_TRIALS, found=simulated(typed), error=None)
    except DirichletBanditsError as error:
        said = for_people(error)
        return page(request, "plan.html", status_of(error), typed=typed, most=MOST_TRIALS, found=None, error=said)


def simulated(typed: Typed) -> "StudyPlan":
    """Return the plan for what was typed, unless another one is being simulated."""
    from dirichlet_bandits.experiments.planning import plan  # imported here, because decisions need no simulations

    baseline = _between("baseline", real_number("baseline", typed.baseline), 0.01, 99.99)
    lift = _between("lift", real_number("lift", typed.lift), -baseline, 100.0 - baseline)
    arms = int(_between("number of arms", whole_number("number of arms", typed.arms), 2, MOST_ARMS))
    trials = int(_between("number of trials", whole_number("number of trials", typed.trials), 100, MOST_TRIALS))
    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise ConflictError("another plan is being simulated: try again in a minute")
    try:
        return plan(
            baseline=baseline / 100,
            lift=lift / 100,
            arms=arms,
            trials=trials,
            replications=REPLICATIONS,
            progress=False,
        )
    finally:
        _ONE_AT_A_TIME.release()


def _between(field: str, number: float, least: float, most: float) -> float:
    if not least <= number <= most:
        raise ArgumentError(field, f"from {least:g} to {most:,g}", number)
    return number
