"""The table of a study's trials, with a filter, and the page of one trial."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from dirichlet_bandits.errors import NotFoundError
from dirichlet_bandits.live import Study
from dirichlet_bandits.live.annotations import LONGEST_NOTE
from dirichlet_bandits.live.description import LONGEST_NAME
from dirichlet_bandits.live.records import ABANDONED, HELD, PENDING, REPEATED, TOLD, VOIDED
from dirichlet_bandits.service.dashboard.access import Reading, StudyPage
from dirichlet_bandits.service.dashboard.rendering import page

STATUSES: Final = (PENDING, HELD, TOLD, REPEATED, ABANDONED, VOIDED)
_ROWS: Final = 50
routes = APIRouter(include_in_schema=False, route_class=StudyPage)


@routes.get("/study/trials")
def trials_page(
    request: Request,
    studies: Reading,
    name: str,
    arm: str = "",
    status: str = "",
    first: Annotated[int, Query(ge=0, lt=2**31)] = 0,
) -> Response:
    """Show a page of the trials, newest first, filtered by arm and status."""
    study = studies.study(name)
    log = study.trials_dataframe()
    arms = [str(known) for known in study.summary().index]
    found = log[(log["arm"] == arm) if arm else log["arm"].notna()]
    found = found[found["status"] == status] if status else found
    rows = found.iloc[::-1].iloc[first : first + _ROWS]
    values: dict[str, Any] = {
        "study": study,
        "rows": [_row(id, row) for id, row in rows.to_dict("index").items()],
        "arms": arms,
        "statuses": STATUSES,
        "chosen": {"arm": arm, "status": status},
        "n_found": len(found),
        "first": first,
        "newer": max(first - _ROWS, 0) if first else None,
        "older": first + _ROWS if first + _ROWS < len(found) else None,
    }
    return page(request, "trials.html", **values)


@routes.get("/study/trial")
def trial_page(
    request: Request, studies: Reading, name: str, id: Annotated[int, Query(ge=0, lt=2**63)], done: bool = False
) -> Response:
    """Show one trial and what can be done with it; ``done`` if it has just been changed."""
    return show_trial(request, studies.study(name), id, done=done)


def show_trial(request: Request, study: Study, id: int, status: int = 200, **said: Any) -> Response:
    """Render the page of a trial with what has been done or refused."""
    log = study.trials_dataframe()
    if id >= len(log):
        raise NotFoundError(f"no trial {id} in the study {study.name!r} (trials so far: {len(log)})")
    typed = {"error": None, "reward": "", "reason": "", "note": "", "done": False} | said
    row = _row(id, log.iloc[id].to_dict())
    limits = {"most": LONGEST_NAME, "longest": LONGEST_NOTE}
    return page(request, "trial.html", status, study=study, row=row, happened=study.events(trial=id), **limits, **typed)


def _row(id: Any, row: dict[Any, Any]) -> dict[str, Any]:
    return {"id": id, **row}
