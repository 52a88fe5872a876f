"""The page of one study: what to do next, its arms, its charts, and forms to ask and to tell by hand."""

import secrets
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from dirichlet_bandits.live import Study
from dirichlet_bandits.live.fields import SERVED_TRIALS
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.service.api import download
from dirichlet_bandits.service.calls import exported
from dirichlet_bandits.service.dashboard.access import Reading, StudyPage
from dirichlet_bandits.service.dashboard.overview import LISTED, overview
from dirichlet_bandits.service.dashboard.rendering import page

LAST: Final = "X-Bandits-Last"
"""The header with the number of the last event that a part of a page shows."""

routes = APIRouter(include_in_schema=False, route_class=StudyPage)


@routes.get("/study")
def study_page(
    request: Request,
    studies: Reading,
    name: str,
    trial: Annotated[int | None, Query(ge=0)] = None,
    asked: Annotated[int | None, Query(ge=0)] = None,
    done: Annotated[int | None, Query(ge=0)] = None,
    imported: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """Show a study. ``trial`` fills the form; ``asked`` is the first trial of an ask, ``done`` a changed trial,
    and ``imported`` the number of imported trials.
    """
    return show_study(request, studies.study(name), trial=trial, asked=asked, done=done, imported=imported)


@routes.get("/study/live")
def live_part(
    request: Request, studies: Reading, name: str, seen: Annotated[int | None, Query(ge=0)] = None
) -> Response:
    """Return the parts of the page that change, or nothing if there was no event since the one that it has ``seen``."""
    study = studies.study(name)
    last = local_of(study).journal().last  # before the overview, which may have more
    if seen == last:
        return Response(status_code=204)
    answer = page(request, "live.html", **overview(study))
    answer.headers[LAST] = str(last)
    return answer


@routes.get("/study/log")
def log(studies: Reading, name: str, format: Literal["csv", "parquet"]) -> Response:
    """Return the log as a file."""
    return download(exported(studies.study(name), format), format)


def show_study(request: Request, study: Study, status: int = 200, **said: Any) -> Response:
    """Render the page with what has just been done or refused."""
    seen = overview(study)
    asked, done, trial = said.get("asked"), said.get("done"), said.get("trial")
    fresh = [] if asked is None else [waiting for waiting in study.pending if waiting.id >= asked][:LISTED]
    if trial is None and (fresh or seen["waiting"]):
        trial = (fresh or seen["waiting"])[0].id
    log = seen["log"]
    values = {
        "fresh": fresh,
        "done": None if done is None or done >= len(log) else {"id": done, **log.iloc[done].to_dict()},
        "trial": "" if trial is None else trial,
        "reward": said.get("reward", ""),
        "segment": said.get("segment") or next((waiting.segment for waiting in fresh), None),
        "asked_unit": said.get("unit", ""),
        "error": said.get("error"),
        "imported": said.get("imported"),
        "token": secrets.token_urlsafe(16),
        "most": SERVED_TRIALS,
    }
    return page(request, "study.html", status, **values, **seen)
