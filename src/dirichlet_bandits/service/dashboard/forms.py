"""Handle the forms of the pages: ask, tell, void, correct, note, change the arms; each leads back to a page."""

from collections.abc import Callable
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import Query, Request
from starlette.responses import RedirectResponse, Response

from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError, NotFoundError
from dirichlet_bandits.live import Study, delete_study
from dirichlet_bandits.live.fields import SERVED_TRIALS
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.operations import Abandon, Annotate, Correct, OfOneTrial, Reopen, Void
from dirichlet_bandits.service.dashboard.access import Changing, Managing, Reading, Text, routes
from dirichlet_bandits.service.dashboard.rendering import floor, for_people, page, real_number, whole_number
from dirichlet_bandits.service.dashboard.study import show_study, show_trial
from dirichlet_bandits.service.problems import status_of


@routes.post("/ask")
def ask(
    request: Request, studies: Changing, name: Text, token: Text, n: Text = "1", segment: Text = "", unit: Text = ""
) -> Response:
    """Assign trials; because of the token, a form that is sent twice is one ask."""
    study = studies.study(name)

    def act() -> Response:
        count = whole_number("n", n)
        if count > SERVED_TRIALS:
            raise ArgumentError("n", f"at most {SERVED_TRIALS}", count)
        if not unit.strip():
            return back_to(name, asked=study.ask(count, segment=segment or None, token=token)[0].id)
        if count != 1:
            raise ArgumentError("n", "1 for a unit, which has one trial at a time", count)
        return back_to(name, asked=study.ask(segment=segment or None, unit=unit.strip(), token=token).id)

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
            read: dict[str, Any] = {
                field: text.strip() or None for field, text in typed.items() if field in kind.fields
            }
            if "reward" in read:
                read["reward"] = real_number("reward", reward)
            local_of(study).do(kind(**{"id": trial, **read}))
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

    return acted(request, study, lambda: study.declare_winner(segment=segment or None))


@routes.post("/arms")
def arms(request: Request, studies: Managing, name: Text, arm: Text, action: Text) -> Response:
    """Add or retire an arm."""
    study = studies.study(name)

    return acted(request, study, lambda: study.add_arm(arm.strip()) if action == "add" else study.retire_arm(arm))


def back_to(name: str, **query: int) -> Response:
    """Redirect to the page of a study."""
    return RedirectResponse("/study?" + urlencode({"name": name, **query}), 303)


def acted(request: Request, study: Study, act: Callable[[], object], **typed: str) -> Response:
    """Act, and return what it leads to, or else to the page; if it is refused, show the page with reason and input."""
    try:
        found = act()
        return found if isinstance(found, Response) else back_to(study.name)
    except DirichletBanditsError as error:
        return show_study(request, study, status_of(error), error=for_people(error), **typed)


# The study as a whole: its floor, name, archive and deletion, and what happened to it


_EVENTS: Final = 100


@routes.post("/floor")
def set_floor(request: Request, studies: Managing, name: Text, share: Text) -> Response:
    """Set the least probability of every arm, or of some."""
    study = studies.study(name)

    return acted(request, study, lambda: study.set_floor(floor(share)))


@routes.post("/rename")
def rename(request: Request, studies: Managing, name: Text, new: Text) -> Response:
    """Rename a study."""
    return acted(request, studies.study(name), lambda: back_to(studies.rename(name, new.strip(), None)))


@routes.post("/archive")
def archive(request: Request, studies: Managing, name: Text) -> Response:
    """Leave a study out of the list of studies, or put it back."""
    study = studies.study(name)

    return acted(request, study, lambda: study.unarchive() if study.archived else study.archive())


@routes.post("/delete")
def delete(request: Request, studies: Managing, name: Text, confirm: Text) -> Response:
    """Delete a study permanently; the form asks for its name."""
    study = studies.study(name)

    def act() -> Response:
        delete_study(name, studies.storage, confirm=confirm.strip(), identity=study.identity)
        studies.refresh(name)
        return RedirectResponse("/", 303)

    return acted(request, study, act)


@routes.get("/study/history")
def history_page(
    request: Request, studies: Reading, name: str, below: Annotated[int | None, Query(ge=0, lt=2**63)] = None
) -> Response:
    """Show a page of what happened in a study and what was done to it, newest first."""
    study = studies.study(name)
    rows = study.events(below=below, limit=_EVENTS)
    older = rows[-1].number if rows and rows[-1].number else None
    newer = None if below is None or below > study.events(limit=1)[0].number else below + _EVENTS
    entries = studies.audit_log(name)
    return page(request, "history.html", study=study, rows=rows, entries=entries, older=older, newer=newer)


@routes.get("/audit_log")
def audit_log_page(request: Request, studies: Reading) -> Response:
    """Show which key created, renamed, archived or deleted a study."""
    return page(request, "audit_log.html", entries=studies.audit_log())
