"""The pages for people: studies, one study with its pictures, forms to ask and to tell by hand."""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import jinja2
from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError
from dirichlet_bandits.live import Study, create_study
from dirichlet_bandits.live.description import parse_policy
from dirichlet_bandits.policies import POLICIES
from dirichlet_bandits.policies.registry import has_propensities
from dirichlet_bandits.service import charts
from dirichlet_bandits.service.api import export_file
from dirichlet_bandits.service.bodies import MOST_TRIALS
from dirichlet_bandits.service.guard import COOKIE
from dirichlet_bandits.service.keys import WRITE, check_key
from dirichlet_bandits.service.problems import problem, status_of, words_of
from dirichlet_bandits.service.registry import Registry

_LISTED = 50
_pages = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_pages.filters["query"] = urlencode
_pages.filters["short"] = lambda x: "" if x != x or abs(x) == float("inf") else f"{x:.4g}"

pages = APIRouter(include_in_schema=False)
Text = Annotated[str, Form()]


class NotLoggedIn(Exception):  # noqa: N818 - a state, not a fault
    """Nobody is logged in."""


async def _reading(request: Request) -> Registry:
    if request.state.scope is None:
        raise NotLoggedIn
    registry: Registry = request.app.state.registry
    return registry


async def _writing(request: Request) -> Registry:
    registry = await _reading(request)
    if request.state.scope != WRITE:
        raise problem(403, "this key may only read")
    return registry


Reading = Annotated[Registry, Depends(_reading)]
Writing = Annotated[Registry, Depends(_writing)]


async def to_login(request: Request, error: Exception) -> Response:
    """Where those go whom nobody knows."""
    return RedirectResponse("/login", 303)


@pages.get("/login")
async def login_page(request: Request) -> Response:
    """The form for a key."""
    return _page(request, "login.html", error=None)


@pages.post("/login")
async def login(request: Request, key: Text) -> Response:
    """Keep a good key in a cookie that no script and no other site can use."""
    keys, answer = request.app.state.keys, RedirectResponse("/", 303)
    if keys is None:
        return answer  # whatever it is, none is needed
    if check_key(key.strip(), keys) is None:
        return _page(request, "login.html", 401, error="This key is not known.")
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, key.strip(), httponly=True, samesite="strict", secure=secure)
    return answer


@pages.post("/logout")
async def logout() -> Response:
    """Forget the key."""
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


@pages.get("/")
def studies_page(request: Request, studies: Reading) -> Response:
    """All studies, and a form for a new one."""
    return _studies(request, studies, {"name": "", "arms": "", "policy": "RDS"})


@pages.post("/create")
def create(request: Request, studies: Writing, name: Text, arms: Text, policy: Text = "RDS") -> Response:
    """A new study; the arms are written one a line."""
    try:
        lines = [line.strip() for line in arms.splitlines() if line.strip()]
        made = create_study(name.strip(), arms=lines, policy=parse_policy(policy.strip()), storage=studies.storage)
    except DirichletBanditsError as error:
        typed = {"name": name, "arms": arms, "policy": policy}
        return _studies(request, studies, typed, status_of(error), words_of(error))
    return _back(studies.keep(made).name)


@pages.get("/study")
def study_page(
    request: Request,
    studies: Reading,
    name: str,
    trial: Annotated[int | None, Query(ge=0)] = None,
    asked: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """One study. ``trial`` goes into the form; ``asked`` is the first trial of an ask that has just been made."""
    return _study(request, studies.study(name), trial=trial, asked=asked)


@pages.get("/study/live")
def live_part(request: Request, studies: Reading, name: str) -> Response:
    """The part of the page that changes."""
    return _page(request, "live.html", **_live(studies.study(name)))


@pages.get("/study/log")
def log(studies: Reading, name: str, format: Literal["csv", "parquet"]) -> Response:
    """The log as a file."""
    return export_file(studies.study(name), format)


@pages.post("/ask")
def ask(request: Request, studies: Writing, name: Text, token: Text, n: Text = "1") -> Response:
    """Hand out trials; the token makes a form that is sent twice one ask."""
    study = studies.study(name)

    def act() -> Response:
        count = _whole("n", n)
        if count > MOST_TRIALS:
            raise ArgumentError("n", f"at most {MOST_TRIALS}", count)
        return _back(name, asked=study.ask(count, token=token)[0].id)

    return _acted(request, study, act)


@pages.post("/tell")
def tell(request: Request, studies: Writing, name: Text, id: Text = "", reward: Text = "") -> Response:
    """The reward of a trial."""
    study = studies.study(name)

    def act() -> Response:
        study.tell(_whole("id", id), _real("reward", reward))
        return _back(name)

    return _acted(request, study, act, trial=id, reward=reward)


@pages.post("/abandon")
def abandon(request: Request, studies: Writing, name: Text, id: Text = "") -> Response:
    """A trial whose reward will never come."""
    study = studies.study(name)

    def act() -> Response:
        study.abandon(_whole("id", id))
        return _back(name)

    return _acted(request, study, act, trial=id)


@pages.post("/arms")
def arms(request: Request, studies: Writing, name: Text, arm: Text, action: Text) -> Response:
    """Add or retire an arm."""
    study = studies.study(name)

    def act() -> Response:
        study.add_arm(arm.strip()) if action == "add" else study.retire_arm(arm)
        return _back(name)

    return _acted(request, study, act)


@pages.get("/docs")
async def docs(request: Request) -> Response:
    """The description of the API, readable without a network."""
    description = request.app.openapi()
    return _page(request, "docs.html", description=description, schemas=description["components"]["schemas"])


def _page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    scope = request.state.scope
    state = request.app.state
    values |= {"known": scope is not None, "writes": scope == WRITE, "keyed": state.keys is not None}
    values |= {"compiling": list(state.precompiling.waiting)}
    return HTMLResponse(_pages.get_template(template).render(values), status)


def _studies(
    request: Request, studies: Registry, typed: dict[str, str], status: int = 200, error: str | None = None
) -> Response:
    policies = [name for name, policy in POLICIES.items() if has_propensities(policy)]
    values = {"names": studies.storage.names(), "policies": policies, "typed": typed, "error": error}
    return _page(request, "studies.html", status, **values)


def _study(request: Request, study: Study, status: int = 200, **said: Any) -> Response:
    live = _live(study)
    handed_out = live["trials"]
    asked = said.get("asked")
    fresh = [] if asked is None else [trial for trial in study.pending if trial.id >= asked][:_LISTED]
    waiting = live["waiting"]
    trial = said.get("trial")
    if trial is None and (fresh or waiting):
        trial = (fresh or waiting)[0].id
    values = {
        "fresh": fresh,
        "trial": "" if trial is None else trial,
        "reward": said.get("reward", ""),
        "error": said.get("error"),
        "token": secrets.token_urlsafe(16),
        "most": MOST_TRIALS,
        "handed_out": handed_out,
    }
    return _page(request, "study.html", status, **values, **live)


def _live(study: Study) -> dict[str, Any]:
    """Everything that the changing part of the page shows."""
    summary, trials, chances, pending = study.summary(), study.trials_dataframe(), study.propensities(), study.pending
    order = (summary["told"] + summary["pending"] + summary["abandoned"]).sort_values(ascending=False, kind="stable")
    drawn = summary.loc[[arm for arm in summary.index if arm in set(order.index[: charts.SHOWN])]]
    names = [str(arm) for arm in drawn.index]
    return {
        "study": study,
        "rows": [{"arm": arm, **row} for arm, row in summary.to_dict("index").items()],
        "attrs": summary.attrs,
        "chances": chances,
        "trials": len(trials),
        "waiting": pending[:_LISTED],
        "n_waiting": len(pending),
        "drawn": names,
        "swatches": {name: charts.swatch(k) for k, name in enumerate(names)},
        "pulls": charts.pulls(names, trials),
        "means": charts.means(drawn),
        "histograms": charts.histograms(names, trials),
        "propensities": charts.propensities(names, chances),
    }


def _acted(request: Request, study: Study, act: Callable[[], Response], **typed: str) -> Response:
    """Do it and go back to the page; if it is refused, show the page with the reason and with what was typed."""
    try:
        return act()
    except DirichletBanditsError as error:
        return _study(request, study, status_of(error), error=words_of(error), **typed)


def _back(name: str, **query: int) -> Response:
    return RedirectResponse("/study?" + urlencode({"name": name, **query}), 303)


def _whole(field: str, text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdecimal() and len(text.strip()) < 19):
        raise ArgumentError(field, "a whole number", text)
    return int(text)


def _real(field: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(field, "a number", text) from None
