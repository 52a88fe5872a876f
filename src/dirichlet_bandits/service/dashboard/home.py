"""The first page: one card per study, and search."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from dirichlet_bandits.errors import DirichletBanditsError
from dirichlet_bandits.live import Study
from dirichlet_bandits.live.direction import MINIMIZE
from dirichlet_bandits.live.readings import named_winner
from dirichlet_bandits.live.records import PENDING
from dirichlet_bandits.service.dashboard import charts
from dirichlet_bandits.service.dashboard.access import Reading, StudyPage
from dirichlet_bandits.service.dashboard.overview import last_activity
from dirichlet_bandits.service.dashboard.rendering import page
from dirichlet_bandits.service.dashboard.series import drawn_arms, series
from dirichlet_bandits.service.dashboard.wording import for_people
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.service.problems import LOG

_CARDS: Final = 24
_FEW_POINTS: Final = 60
routes = APIRouter(include_in_schema=False, route_class=StudyPage)


@routes.get("/")
def studies_page(
    request: Request,
    studies: Reading,
    q: str = "",
    first: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    archived: bool = False,
) -> Response:
    """Show a page of the studies whose name contains ``q``, newest first; with ``archived``, the archived ones."""
    every = studies.names(archived)[::-1]
    names = [name for name in every if q.strip().casefold() in name.casefold()]
    values: dict[str, Any] = {
        "cards": [_card(studies, name) for name in names[first : first + _CARDS]],
        "n_found": len(names),
        "n_studies": len(every),
        "q": q,
        "first": first,
        "more": first + _CARDS if first + _CARDS < len(names) else None,
        "archived": archived,
        "n_archived": 0 if archived else len(studies.names(archived=True)),
    }
    return page(request, "studies.html", **values)


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
