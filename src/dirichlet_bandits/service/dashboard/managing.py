"""Manage a study from its page: floor, name, archive, deletion; and show what happened to it."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from dirichlet_bandits.live import delete_study
from dirichlet_bandits.service.dashboard.access import Managing, Reading, StudyPage, Text
from dirichlet_bandits.service.dashboard.forms import acted, back_to
from dirichlet_bandits.service.dashboard.rendering import page
from dirichlet_bandits.service.dashboard.typed import floor

_ROWS: Final = 100
routes = APIRouter(include_in_schema=False, route_class=StudyPage)


@routes.post("/floor")
def set_floor(request: Request, studies: Managing, name: Text, share: Text) -> Response:
    """Set the least probability of every arm, or of some."""
    study = studies.study(name)

    def act() -> Response:
        study.set_floor(floor(share))
        return back_to(name)

    return acted(request, study, act)


@routes.post("/rename")
def rename(request: Request, studies: Managing, name: Text, new: Text) -> Response:
    """Rename a study."""

    def act() -> Response:
        studies.rename(name, new.strip(), None)
        return back_to(new.strip())

    return acted(request, studies.study(name), act)


@routes.post("/archive")
def archive(request: Request, studies: Managing, name: Text) -> Response:
    """Leave a study out of the list of studies, or put it back."""
    study = studies.study(name)

    def act() -> Response:
        study.unarchive() if study.archived else study.archive()
        return back_to(name)

    return acted(request, study, act)


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
    request: Request,
    studies: Reading,
    name: str,
    below: Annotated[int | None, Query(ge=0, lt=2**63)] = None,
) -> Response:
    """Show a page of what happened in a study and what was done to it, newest first."""
    study = studies.study(name)
    rows = study.events(below=below, limit=_ROWS)
    older = rows[-1].number if rows and rows[-1].number else None
    newer = None if below is None or below > study.events(limit=1)[0].number else below + _ROWS
    return page(
        request, "history.html", study=study, rows=rows, entries=studies.audit_log(name), older=older, newer=newer
    )


@routes.get("/audit_log")
def audit_log_page(request: Request, studies: Reading) -> Response:
    """Show which key created, renamed, archived or deleted a study."""
    return page(request, "audit_log.html", entries=studies.audit_log())
