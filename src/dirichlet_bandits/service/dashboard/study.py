"""The page of one study: what to do next, its arms, its charts, and forms to ask and to tell by hand."""

import secrets
from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request
from starlette.responses import Response

from dirichlet_bandits.declared import LONGEST_NAME
from dirichlet_bandits.errors import DirichletBanditsError, NotFoundError
from dirichlet_bandits.live import Study
from dirichlet_bandits.live.direction import MINIMIZE
from dirichlet_bandits.live.fields import LONGEST_NOTE, SERVED_TRIALS
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.readings import named_winner
from dirichlet_bandits.live.records import ABANDONED, HELD, PENDING, REPEATED, TOLD, VOIDED
from dirichlet_bandits.service.api import download
from dirichlet_bandits.service.calls import exported
from dirichlet_bandits.service.dashboard import charts
from dirichlet_bandits.service.dashboard.access import Reading, routes
from dirichlet_bandits.service.dashboard.overview import LISTED, last_activity, overview
from dirichlet_bandits.service.dashboard.rendering import for_people, page
from dirichlet_bandits.service.dashboard.series import drawn_arms, series
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.service.problems import LOG

Number = Annotated[int | None, Query(ge=0)]
From = Annotated[int, Query(ge=0, lt=2**31)]

LAST: Final = "X-Bandits-Last"
"""The header with the number of the last event that a part of a page shows."""


@routes.get("/study")
def study_page(
    request: Request,
    studies: Reading,
    name: str,
    trial: Number = None,
    asked: Number = None,
    done: Number = None,
    imported: Number = None,
) -> Response:
    """Show a study. ``trial`` fills the form; ``asked`` is the first trial of an ask, ``done`` a changed trial,
    and ``imported`` the number of imported trials.
    """
    return show_study(request, studies.study(name), trial=trial, asked=asked, done=done, imported=imported)


@routes.get("/study/live")
def live_part(request: Request, studies: Reading, name: str, seen: Number = None) -> Response:
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
        "segment": said.get("segment") or next((waiting.segment for waiting in fresh), None),
        "asked_unit": said.get("unit", ""),
        "reward": said.get("reward", ""),
        "error": said.get("error"),
        "imported": said.get("imported"),
        "token": secrets.token_urlsafe(16),
        "most": SERVED_TRIALS,
    }
    return page(request, "study.html", status, **values, **seen)


# The table of a study's trials, with a filter, and the page of one trial


STATUSES: Final = (PENDING, HELD, TOLD, REPEATED, ABANDONED, VOIDED)
_TRIALS: Final = 50


@routes.get("/study/trials")
def trials_page(
    request: Request, studies: Reading, name: str, arm: str = "", status: str = "", first: From = 0
) -> Response:
    """Show a page of the trials, newest first, filtered by arm and status."""
    study = studies.study(name)
    log = study.trials_dataframe()
    arms = [str(known) for known in study.summary().index]
    found = log[(log["arm"] == arm) if arm else log["arm"].notna()]
    found = found[found["status"] == status] if status else found
    rows = found.iloc[::-1].iloc[first : first + _TRIALS]
    newer = max(first - _TRIALS, 0) if first else None
    older = first + _TRIALS if first + _TRIALS < len(found) else None
    chosen, listed = {"arm": arm, "status": status}, [{"id": id, **row} for id, row in rows.to_dict("index").items()]
    filtered: dict[str, Any] = {"arms": arms, "statuses": STATUSES, "chosen": chosen, "n_found": len(found)}
    return page(request, "trials.html", study=study, rows=listed, first=first, newer=newer, older=older, **filtered)


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
    row = {"id": id, **log.iloc[id].to_dict()}
    limits = {"most": LONGEST_NAME, "longest": LONGEST_NOTE}
    return page(request, "trial.html", status, study=study, row=row, happened=study.events(trial=id), **limits, **typed)


# The first page: one card per study, and search


_CARDS: Final = 24
_FEW_POINTS: Final = 60


@routes.get("/")
def studies_page(request: Request, studies: Reading, q: str = "", first: From = 0, archived: bool = False) -> Response:
    """Show a page of the studies whose name contains ``q``, newest first; with ``archived``, the archived ones."""
    every = studies.names(archived)[::-1]
    names = [name for name in every if q.strip().casefold() in name.casefold()]
    more = first + _CARDS if first + _CARDS < len(names) else None
    counts = {"n_archived": 0 if archived else len(studies.names(archived=True)), "n_studies": len(every)}
    counts |= {"n_found": len(names)}
    cards = [_card(studies, name) for name in names[first : first + _CARDS]]
    return page(request, "studies.html", cards=cards, q=q, first=first, more=more, archived=archived, **counts)


def _card(studies: OpenStudies, name: str) -> dict[str, Any]:
    """Return the content of a card; for a study that cannot be shown, the reason."""
    try:
        return {"name": name, "broken": None, **studies.retried(lambda: _facts(studies.study(name)))}
    except DirichletBanditsError as error:
        return {"name": name, "broken": for_people(error)}
    except Exception:
        LOG.exception("the study %r cannot be shown", name)
        return {"name": name, "broken": "it cannot be shown; see the service's log for the reason"}


def _facts(study: Study) -> dict[str, Any]:
    log, summary = study.trials_dataframe(), study.summary()
    drawn = drawn_arms(summary, log)
    return {
        "policy": type(study.policy).__name__,
        "objective": study.policy.objective.name,
        "costs": study.direction == MINIMIZE,
        "arms": len(study.arms),
        "trials": len(log),
        "pending": int((log["status"] == PENDING).sum()),
        "winner": named_winner(study),
        "best": summary.attrs["best_arm"],
        "last": last_activity(log),
        "picture": charts.sparkline(series(drawn, len(summary), log, _FEW_POINTS)),
    }
