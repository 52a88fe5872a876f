"""The first page: one card per study, search, and a form for a new study."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from dirichlet_bandits.errors import DirichletBanditsError, ReplacedError
from dirichlet_bandits.live import Study, create_study
from dirichlet_bandits.live.direction import MAXIMIZE, MINIMIZE
from dirichlet_bandits.live.journal import PENDING
from dirichlet_bandits.policies.catalogue import POLICIES
from dirichlet_bandits.policies.registry import has_propensities
from dirichlet_bandits.service.dashboard import charts, guided
from dirichlet_bandits.service.dashboard.access import Managing, Reading, Text
from dirichlet_bandits.service.dashboard.forms import back_to
from dirichlet_bandits.service.dashboard.overview import last_activity
from dirichlet_bandits.service.dashboard.rendering import page
from dirichlet_bandits.service.dashboard.series import drawn_arms, series
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.service.problems import LOG, status_of, words_of
from dirichlet_bandits.service.routes import StudyRoute

_CARDS: Final = 24
_FEW_POINTS: Final = 60
_FIRST: Final = "\N{DIGIT ONE}\N{COMBINING ENCLOSING KEYCAP}"  # no arm has this name: the first arm, without JavaScript
_NOTHING: Final = {
    "name": "", "arms": "", "measure": "any", "direction": MAXIMIZE, "matters": "average", "lower": "", "upper": "",
    "control": "", "policy": "",
}  # fmt: skip
routes = APIRouter(include_in_schema=False, route_class=StudyRoute)


@routes.get("/")
def studies_page(
    request: Request, studies: Reading, q: str = "", first: Annotated[int, Query(ge=0, lt=2**31)] = 0
) -> Response:
    """Show a page of the studies whose name contains ``q``, newest first, and a form for a new one."""
    return _home(request, studies, _NOTHING, q=q, first=first)


@routes.post("/create")
def create(
    request: Request,
    studies: Managing,
    name: Text,
    arms: Text,
    measure: Text = "any",
    direction: Text = MAXIMIZE,
    matters: Text = "average",
    lower: Text = "",
    upper: Text = "",
    control: Text = "",
    policy: Text = "",
) -> Response:
    """Create a study; without a policy, one is chosen from the answers about the rewards."""
    try:
        studies.check_new(name.strip())
        names = guided.arm_names(arms)
        chosen = guided.choose(guided.Answers(measure, direction, matters, lower, upper))
        made = create_study(
            name.strip(),
            arms=names,
            policy=policy.strip() or chosen.policy,
            bounds=chosen.bounds,
            storage=studies.storage,
            direction=direction,
            control=names[0] if control == _FIRST else control.strip() or None,
        )
    except DirichletBanditsError as error:
        values = (name, arms, measure, direction, matters, lower, upper, control, policy)
        return _home(request, studies, dict(zip(_NOTHING, values, strict=True)), status_of(error), words_of(error))
    return back_to(studies.keep(made).name)


def _home(
    request: Request,
    studies: OpenStudies,
    typed: dict[str, str],
    status: int = 200,
    error: str | None = None,
    q: str = "",
    first: int = 0,
) -> Response:
    every = studies.names()[::-1]
    names = [name for name in every if q.strip().casefold() in name.casefold()]
    values = {
        "cards": [_card(studies, name) for name in names[first : first + _CARDS]],
        "n_found": len(names),
        "n_studies": len(every),
        "q": q,
        "first": first,
        "more": first + _CARDS if first + _CARDS < len(names) else None,
        "policies": [name for name, policy in POLICIES.items() if has_propensities(policy)],
        "typed": typed,
        "measures": guided.MEASURES,
        "first_arm": _FIRST,
        "error": error,
    }
    return page(request, "studies.html", status, **values)


def _card(studies: OpenStudies, name: str) -> dict[str, Any]:
    """Return the content of a card; for a study that cannot be shown, the reason."""
    try:
        try:
            return {"name": name, "broken": None, **_facts(studies.study(name))}
        except ReplacedError:
            studies.refresh(name)
            return {"name": name, "broken": None, **_facts(studies.study(name))}
    except DirichletBanditsError as error:
        return {"name": name, "broken": words_of(error)}
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
        "best": summary.attrs["best_arm"],
        "last": last_activity(log),
        "picture": charts.sparkline(series(drawn, len(summary), log, _FEW_POINTS)),
    }
