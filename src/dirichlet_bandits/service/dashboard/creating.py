"""Guided creation: questions about the rewards lead to a policy, and the page shows the code before it runs."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel
from starlette.responses import Response

from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError
from dirichlet_bandits.live import create_study
from dirichlet_bandits.live.direction import MAXIMIZE
from dirichlet_bandits.policies.catalogue import POLICIES
from dirichlet_bandits.policies.registry import has_propensities
from dirichlet_bandits.service.dashboard import guided
from dirichlet_bandits.service.dashboard.access import Creating
from dirichlet_bandits.service.dashboard.forms import back_to
from dirichlet_bandits.service.dashboard.rendering import page
from dirichlet_bandits.service.dashboard.wording import for_people
from dirichlet_bandits.service.problems import status_of
from dirichlet_bandits.service.routes import StudyRoute

_FIRST: Final = "\N{DIGIT ONE}\N{COMBINING ENCLOSING KEYCAP}"  # no arm has this name: the first arm, without JavaScript
_ROWS: Final = 3
routes = APIRouter(include_in_schema=False, route_class=StudyRoute)


class Typed(BaseModel):
    """What was typed into the form, as texts; ``more`` asks for more rows, ``alone`` confirms a single arm."""

    name: str = ""
    arm: list[str] = []
    measure: str = "any"
    direction: str = MAXIMIZE
    matters: str = "average"
    lower: str = ""
    upper: str = ""
    unit: str = ""
    control: str = ""
    policy: str = ""
    more: bool = False
    alone: bool = False

    def settings(self) -> dict[str, Any]:
        """Return the arguments of ``create_study``; without a policy, the answers about the rewards choose one."""
        names = guided.arm_names(self.arm, self.alone)
        answers = guided.Answers(self.measure, self.direction, self.matters, self.lower, self.upper)
        chosen = guided.choose(answers)
        return {
            "name": self.name.strip(),
            "arms": names,
            "policy": self.policy.strip() or chosen.policy,
            "bounds": chosen.bounds,
            "direction": self.direction,
            "control": names[0] if self.control == _FIRST else self.control.strip() or None,
            "reward_unit": self.unit.strip() or None,
        }


@routes.get("/new")
def new_page(request: Request, studies: Creating) -> Response:
    """Show the form for a new study."""
    return _form(request, Typed())


@routes.post("/create")
def create(request: Request, studies: Creating, typed: Annotated[Typed, Form()]) -> Response:
    """Create a study, or show the form again with more rows for arms or with the reason of a refusal."""
    if typed.more:
        return _form(request, typed)
    try:
        studies.check_new(typed.name.strip())
        made = create_study(**typed.settings(), storage=studies.storage)
    except DirichletBanditsError as error:
        questioned = isinstance(error, ArgumentError) and error.name == "arms" and any(map(str.strip, typed.arm))
        return _form(request, typed, status_of(error), error=for_people(error), questioned=questioned)
    return back_to(studies.keep(made).name)


@routes.post("/guide")
def guide(request: Request, studies: Creating, typed: Annotated[Typed, Form()]) -> Response:
    """Return the policy that the answers lead to, and the code that would create the study; nothing is created."""
    try:
        settings = typed.settings()
    except DirichletBanditsError as error:
        return page(request, "guide.html", missing=for_people(error))
    policy = settings["policy"]
    reason = "" if typed.policy.strip() else guided.REASONS[policy.partition("(")[0]]
    shown = settings | {"policy": policy if policy.endswith(")") else f"{policy}()"}
    return page(request, "guide.html", missing=None, policy=policy, reason=reason, code=guided.code(shown))


def _form(request: Request, typed: Typed, status: int = 200, **said: Any) -> Response:
    filled = [row for row in typed.arm if row.strip()]
    values = {
        "typed": typed,
        "rows": filled + [""] * max(_ROWS - len(filled), _ROWS if typed.more else 1),
        "measures": guided.MEASURES,
        "first_arm": _FIRST,
        "policies": [name for name, policy in POLICIES.items() if has_propensities(policy)],
        "error": None,
        "questioned": False,
    }
    return page(request, "new.html", status, **{**values, **said})
