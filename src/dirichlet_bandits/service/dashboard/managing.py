"""Manage a study from its page: floor, name, archive, deletion; and show what happened to it."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from dirichlet_bandits.live import delete_study
from dirichlet_bandits.service.dashboard.access import Changing, Reading, Text
from dirichlet_bandits.service.dashboard.forms import acted, back_to
from dirichlet_bandits.service.dashboard.rendering import page
from dirichlet_bandits.service.dashboard.typed import real_number
from dirichlet_bandits.service.routes import StudyRoute
from dirichlet_bandits.storage.events import KINDS, Event

_ROWS: Final = 100
routes = APIRouter(include_in_schema=False, route_class=StudyRoute)


@routes.post("/floor")
def floor(request: Request, studies: Changing, name: Text, share: Text) -> Response:
    """Set the minimal probability of every arm."""
    study = studies.study(name)

    def act() -> Response:
        study.set_floor(real_number("floor", share))
        return back_to(name)

    return acted(request, study, act)


@routes.post("/rename")
def rename(request: Request, studies: Changing, name: Text, new: Text) -> Response:
    """Rename a study."""

    def act() -> Response:
        studies.rename(name, new.strip(), None)
        return back_to(new.strip())

    return acted(request, studies.study(name), act)


@routes.post("/archive")
def archive(request: Request, studies: Changing, name: Text) -> Response:
    """Leave a study out of the list of studies, or put it back."""
    study = studies.study(name)

    def act() -> Response:
        study.unarchive() if study.archived else study.archive()
        return back_to(name)

    return acted(request, study, act)


@routes.post("/delete")
def delete(request: Request, studies: Changing, name: Text, confirm: Text) -> Response:
    """Delete a study permanently; the form asks for its name."""
    study = studies.study(name)

    def act() -> Response:
        delete_study(name, studies.storage, confirm=confirm.strip(), identity=study.identity)
        studies.refresh(name)
        return RedirectResponse("/", 303)

    return acted(request, study, act)


@routes.get("/study/history")
def history_page(
    request: Request, studies: Reading, name: str, first: Annotated[int, Query(ge=0, lt=2**31)] = 0
) -> Response:
    """Show everything that happened in a study, newest first."""
    study = studies.study(name)
    events = [Event(*event) for event in study.storage.read(name)][::-1]
    arms = {event.arm: event.note for event in events if KINDS[event.kind] == "arm" and event.note is not None}
    arm_of = {event.trial: event.arm for event in events if KINDS[event.kind] in ("ask", "past")}
    rows = [_row(event, arms, arm_of) for event in events[first : first + _ROWS]]
    older = first + _ROWS if first + _ROWS < len(events) else None
    newer = max(first - _ROWS, 0) if first else None
    return page(request, "history.html", study=study, rows=rows, n_found=len(events), older=older, newer=newer)


def _row(event: Event, arms: dict[int | None, str], arm_of: dict[int | None, int | None]) -> dict[str, Any]:
    arm = event.arm if event.arm is not None else arm_of.get(event.trial)
    kind = KINDS[event.kind]
    shown = event.value is not None and kind in ("tell", "correct", "past", "late")
    return {
        "number": event.number,
        "kind": kind,
        "trial": event.trial,
        "arm": arms.get(arm, ""),
        "value": event.value if shown else None,
        "reason": event.note if kind in ("void", "correct") else None,
        "at": datetime.fromtimestamp(event.at, UTC),
    }
