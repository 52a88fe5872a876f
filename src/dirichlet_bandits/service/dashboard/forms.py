"""Handle the forms of the pages: ask, tell, void, correct, note, change the arms; each leads back to a page."""

from collections.abc import Callable
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError, NotFoundError
from dirichlet_bandits.live import Study
from dirichlet_bandits.live.fields import SERVED_TRIALS
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.operations import Abandon, Annotate, Correct, OfOneTrial, Reopen, Void
from dirichlet_bandits.service.dashboard.access import Changing, Managing, StudyPage, Text
from dirichlet_bandits.service.dashboard.study import show_study
from dirichlet_bandits.service.dashboard.trials import show_trial
from dirichlet_bandits.service.dashboard.typed import real_number, whole_number
from dirichlet_bandits.service.dashboard.wording import for_people
from dirichlet_bandits.service.problems import status_of

routes = APIRouter(include_in_schema=False, route_class=StudyPage)


@routes.post("/ask")
def ask(
    request: Request,
    studies: Changing,
    name: Text,
    token: Text,
    n: Text = "1",
    segment: Text = "",
    unit: Text = "",
) -> Response:
    """Assign trials; because of the token, a form that is sent twice is one ask."""
    study = studies.study(name)
    place = segment or None

    def act() -> Response:
        count = whole_number("n", n)
        if count > SERVED_TRIALS:
            raise ArgumentError("n", f"at most {SERVED_TRIALS}", count)
        if not unit.strip():
            return back_to(name, asked=study.ask(count, segment=place, token=token)[0].id)
        if count != 1:
            raise ArgumentError("n", "1 for a unit, which has one trial at a time", count)
        return back_to(name, asked=study.ask(segment=place, unit=unit.strip(), token=token).id)

    return acted(request, study, act, segment=segment, unit=unit)


@routes.post("/tell")
def tell(request: Request, studies: Changing, name: Text, id: Text = "", reward: Text = "") -> Response:
    """Record the reward of a trial."""
    study = studies.study(name)

    def act() -> Response:
        study.tell(whole_number("id", id), real_number("reward", reward))
        return back_to(name, done=whole_number("id", id))

    return acted(request, study, act, trial=id, reward=reward)


def _of_one_trial(kind: type[OfOneTrial]) -> Callable[..., Response]:
    """Return the function of a form for one trial, whose fields are those of the operation."""

    def act(
        request: Request,
        studies: Changing,
        name: Text,
        id: Text = "",
        reward: Text = "",
        reason: Text = "",
        note: Text = "",
    ) -> Response:
        study, trial = studies.study(name), whole_number("id", id)
        typed = {"reward": reward, "reason": reason, "note": note}
        try:
            texts = {field: text.strip() or None for field, text in typed.items() if field in kind.fields}
            numbers = {"reward": real_number("reward", reward)} if "reward" in kind.fields else {}
            local_of(study).do(kind(**{"id": trial, **texts, **numbers}))
        except NotFoundError:
            raise
        except DirichletBanditsError as error:
            return show_trial(request, study, trial, status_of(error), error=for_people(error), **typed)
        return RedirectResponse("/study/trial?" + urlencode({"name": study.name, "id": trial, "done": 1}), 303)

    act.__doc__ = kind.__doc__
    return act


for _kind in (Abandon, Annotate, Correct, Reopen, Void):
    routes.post(f"/{_kind.name}", name=_kind.name)(_of_one_trial(_kind))


@routes.post("/winner")
def name_winner(request: Request, studies: Changing, name: Text, segment: Text = "") -> Response:
    """Store the winner that the rewards establish."""
    study = studies.study(name)

    def act() -> Response:
        study.declare_winner(segment=segment or None)
        return back_to(name)

    return acted(request, study, act)


@routes.post("/arms")
def arms(request: Request, studies: Managing, name: Text, arm: Text, action: Text) -> Response:
    """Add or retire an arm."""
    study = studies.study(name)

    def act() -> Response:
        study.add_arm(arm.strip()) if action == "add" else study.retire_arm(arm)
        return back_to(name)

    return acted(request, study, act)


def back_to(name: str, **query: int) -> Response:
    """Redirect to the page of a study."""
    return RedirectResponse("/study?" + urlencode({"name": name, **query}), 303)


def acted(request: Request, study: Study, act: Callable[[], Response], **typed: str) -> Response:
    """Act and return to the page; if the call is refused, show the page with the reason and the input."""
    try:
        return act()
    except DirichletBanditsError as error:
        return show_study(request, study, status_of(error), error=for_people(error), **typed)
