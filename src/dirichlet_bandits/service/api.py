"""Routes for programs, one per method of a study.

The study is named in the query: no client, browser or proxy rewrites a name there, whatever it contains.
"""

import math
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.security import HTTPBearer
from starlette.responses import Response

from dirichlet_bandits.arms import CVaR
from dirichlet_bandits.errors import ArgumentError, NotFoundError, ReplacedError
from dirichlet_bandits.live import Study, Trial, Winner, create_study, delete_study
from dirichlet_bandits.live.audit import MOST_EVENTS
from dirichlet_bandits.live.bounds import two_bounds
from dirichlet_bandits.live.description import LONGEST_NAME
from dirichlet_bandits.live.opening import check_confirmed
from dirichlet_bandits.live.reading import ReadableStudy
from dirichlet_bandits.policies.written import parse_policy
from dirichlet_bandits.service import answers, bodies, plans
from dirichlet_bandits.service.guard import HEALTH
from dirichlet_bandits.service.keys import READ
from dirichlet_bandits.service.open_studies import OpenStudies
from dirichlet_bandits.service.routes import StudyRoute, may_manage, may_write

_bearer = HTTPBearer(auto_error=False, description="A key made with 'dirichlet-bandits keys add'.")
_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": answers.Problem, "description": "The body cannot be read"},
    401: {"model": answers.Problem, "description": "The key is missing or unknown"},
    403: {"model": answers.Problem, "description": "The key may not do this, or the request comes from another site"},
    404: {"model": answers.Problem, "description": "No such study, arm or trial"},
    409: {"model": answers.Problem, "description": "The request contradicts what is stored"},
    413: {"model": answers.Problem, "description": "The request is too large"},
    422: {"model": answers.Problem, "description": "A field is missing or invalid"},
    503: {"model": answers.Problem, "description": "The storage cannot be reached, or another plan is being simulated"},
}


_OF_STUDY = Query(max_length=LONGEST_NAME, description="Identity of the study; another study of its name gives 409.")


async def _open_studies(request: Request) -> OpenStudies:
    studies: OpenStudies = request.app.state.studies.seen_by(request.state.key, READ)
    return studies


async def _expecting(
    studies: Annotated[OpenStudies, Depends(_open_studies)],
    identity: Annotated[str | None, _OF_STUDY] = None,
) -> OpenStudies:
    return studies.expecting(identity)


# Keys themselves are checked in guard.py, before a body is read; the bearer is here for the description.
_common: dict[str, Any] = {"responses": _REFUSALS, "route_class": StudyRoute}
public = APIRouter()
reading = APIRouter(prefix="/api", dependencies=[Depends(_bearer)], **_common)
writing = APIRouter(prefix="/api", dependencies=[Depends(_bearer), Depends(may_write)], **_common)
managing = APIRouter(prefix="/api", dependencies=[Depends(_bearer), Depends(may_manage)], **_common)

Storage = Annotated[OpenStudies, Depends(_open_studies)]
Studies = Annotated[OpenStudies, Depends(_expecting)]
Name = Annotated[str, Query(alias="study", min_length=1, max_length=LONGEST_NAME, description="Name of the study.")]
OneName = Annotated[
    str | None, Query(alias="study", min_length=1, max_length=LONGEST_NAME, description="Name of a study; none: all.")
]
Segment = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME, description="A segment of the study.")]


@public.get(HEALTH)
async def health(request: Request) -> answers.Health:
    """Report that the service is up. This needs no key and does not touch the storage."""
    return answers.Health(status="ok", version=request.app.version)


@reading.get("/studies")
def studies(studies: Storage, archived: bool = False) -> answers.Names:
    """List the names of the studies, oldest first; with ``archived``, list the archived ones instead."""
    return answers.Names(studies=studies.names(archived))


@managing.post("/studies", status_code=201)
def create(body: bodies.NewStudy, studies: Storage) -> answers.StudyInfo:
    """Create a study; with ``load_if_exists``, load the study of that name if its settings are the same."""
    studies.check_new(body.name)
    made = create_study(
        body.name,
        arms=body.arms,
        policy=body.policy,
        storage=studies.storage,
        seed=body.seed,
        direction=body.direction,
        control=body.control,
        reward_unit=body.reward_unit,
        bounds=body.bounds,
        floor=body.floor,
        window=body.window,
        late=body.late,
        segments=body.segments,
        history=body.history,
        weight=body.weight,
        borrow=body.borrow,
        load_if_exists=body.load_if_exists,
        token=body.token,
    )
    studies.check_found(made.name, body.name)
    return _info(studies.keep(made))


@reading.post("/plan")
def plan(body: bodies.Plan, stop: plans.Stop, _: Annotated[None, Depends(may_manage)]) -> answers.PlanInfo:
    """Simulate studies to estimate when they would name a winner, one plan at a time. Nothing is stored."""
    found = plans.simulated(body.model_dump(), stop)
    rows = [answers.PlanRowInfo(**{key: _number(x) for key, x in row._asdict().items()}) for row in found.rows]
    return answers.PlanInfo(**{**vars(found), "rows": rows, "answer": found.answer})


@reading.get("/study")
def study(name: Name, studies: Studies) -> answers.StudyInfo:
    """Return the settings of a study, its arms, and its number of trials."""
    return _info(studies.study(name))


@reading.get("/identity")
def identity(name: Name, studies: Storage) -> answers.Identity:
    """Return the identity of a study, which no other study of the same name ever has; the study may be damaged."""
    studies.check(name)
    stored = studies.storage.settings(name)
    if stored is None:
        raise NotFoundError(f"no study {name!r}")
    return answers.Identity(identity=stored.get("identity", ""))


@writing.post("/ask")
def ask(name: Name, body: bodies.Ask, studies: Studies) -> answers.Trials:
    """Return the next ``n`` trials, or, for the token of an earlier ask, the trials of that ask."""
    study = studies.study(name)
    if body.unit is None:
        found = study.ask(body.n, segment=body.segment, token=body.token)
    elif body.n == 1:
        found = [study.ask(segment=body.segment, unit=body.unit, token=body.token)]
    else:
        raise ArgumentError("n", "1 with a unit, which has one trial at a time", body.n)
    return answers.Trials(trials=[_trial(trial) for trial in found])


@writing.post("/tell")
def tell(name: Name, body: bodies.Tell, studies: Studies) -> answers.Done:
    """Record the reward of a trial. Repeating a reward changes nothing; a different reward is refused with 409."""
    studies.study(name).tell(body.id, body.reward, note=body.note, attributes=body.attributes, token=body.token)
    return answers.Done()


@writing.post("/tell_many")
def tell_many(name: Name, body: bodies.TellMany, studies: Studies) -> answers.Done:
    """Record the rewards of several trials: either all are stored, or none."""
    studies.study(name).tell_many(body.ids, body.rewards, token=body.token)
    return answers.Done()


@writing.post("/settle")
def settle(name: Name, body: bodies.Settle, studies: Studies) -> answers.Ids:
    """Close the windows that have ended and return the late trials. Every change does this first."""
    return answers.Ids(ids=studies.study(name).settle())


@writing.post("/abandon")
def abandon(name: Name, body: bodies.Abandon, studies: Studies) -> answers.Done:
    """Abandon a trial whose reward will never come; it does not count. Repeating the call changes nothing."""
    studies.study(name).abandon(body.id, token=body.token)
    return answers.Done()


@writing.post("/reopen")
def reopen(name: Name, body: bodies.Reopen, studies: Studies) -> answers.Done:
    """Make an abandoned trial pending again."""
    studies.study(name).reopen(body.id, token=body.token)
    return answers.Done()


@writing.post("/void")
def void(name: Name, body: bodies.Void, studies: Studies) -> answers.Done:
    """Take back the reward of a trial; it no longer counts. Repeating the call changes nothing."""
    studies.study(name).void(body.id, body.reason, token=body.token)
    return answers.Done()


@writing.post("/correct")
def correct(name: Name, body: bodies.Correct, studies: Studies) -> answers.Done:
    """Replace a reported or voided reward by another one. Repeating the call changes nothing."""
    studies.study(name).correct(body.id, body.reward, body.reason, token=body.token)
    return answers.Done()


@writing.post("/annotate")
def annotate(name: Name, body: bodies.Annotate, studies: Studies) -> answers.Done:
    """Add a note and attributes to a trial. Repeating the call changes nothing."""
    studies.study(name).annotate(body.id, note=body.note, attributes=body.attributes, token=body.token)
    return answers.Done()


@writing.post("/add_trials")
def add_trials(name: Name, body: bodies.AddTrials, studies: Studies) -> answers.Ids:
    """Add past trials that were decided elsewhere. A call with an earlier token adds nothing."""
    rows = {key: [getattr(trial, key) for trial in body.trials] for key in bodies.PastTrial.model_fields}
    return answers.Ids(ids=studies.study(name).add_trials(rows, token=body.token))


@managing.post("/add_arm")
def add_arm(name: Name, body: bodies.Arm, studies: Studies) -> answers.Done:
    """Add an arm, or bring back a retired one."""
    studies.study(name).add_arm(body.arm, token=body.token)
    return answers.Done()


@managing.post("/retire_arm")
def retire_arm(name: Name, body: bodies.Arm, studies: Studies) -> answers.Done:
    """Stop assigning this arm. Repeating the call changes nothing."""
    studies.study(name).retire_arm(body.arm, token=body.token)
    return answers.Done()


@managing.post("/set_floor")
def set_floor(name: Name, body: bodies.SetFloor, studies: Studies) -> answers.Done:
    """Change the minimal probability of each arm. Repeating the call changes nothing."""
    studies.study(name).set_floor(body.floor, token=body.token)
    return answers.Done()


@managing.post("/rename")
def rename(name: Name, body: bodies.Rename, studies: Studies) -> answers.Renamed:
    """Rename a study. Repeating the call with its token changes nothing."""
    return answers.Renamed(name=studies.rename(name, body.name, body.token))


@managing.post("/archive")
def archive(name: Name, body: bodies.Archive, studies: Studies) -> answers.Done:
    """Leave a study out of the list, or put it back; it can still be used. Repeating the call changes nothing."""
    found = studies.study(name)
    found.archive(token=body.token) if body.archived else found.unarchive(token=body.token)
    return answers.Done()


@managing.post("/delete")
def delete(name: Name, body: bodies.Delete, studies: Studies) -> answers.Done:
    """Delete a study and all of its events permanently."""
    check_confirmed(name, body.confirm)
    try:
        studies.check(name)
        delete_study(name, studies.storage, confirm=body.confirm, identity=studies.expected)
    except (NotFoundError, ReplacedError):
        if not body.if_missing or studies.storage.named(studies.expected or "", name) is not None:
            raise
    studies.refresh(name)
    return answers.Done()


@reading.get("/pending")
def pending(name: Name, studies: Studies) -> answers.Trials:
    """List the trials that are pending, oldest first."""
    return answers.Trials(trials=[_trial(trial) for trial in studies.study(name).pending])


@reading.get("/summary")
def summary(
    name: Name,
    studies: Studies,
    confidence: Annotated[float, Query(gt=0.0, lt=1.0, allow_inf_nan=False)] = 0.95,
    bounds: Annotated[list[float] | None, Query(description="Bounds of all rewards: bounds=0&bounds=1.")] = None,
    segment: Segment = None,
) -> answers.Summary:
    """Return one row per arm: trials, mean and standard deviation of the rewards, and an interval for the mean."""
    found = studies.study(name)
    frame = found.summary(confidence, None if bounds is None else two_bounds(bounds), segment=segment)
    rows = [
        answers.ArmSummary(arm=str(arm), **{key: _number(value) for key, value in row.items()})
        for arm, row in frame.to_dict("index").items()
    ]
    return answers.Summary(arms=rows, **frame.attrs)


@reading.get("/winner")
def winner(
    name: Name,
    studies: Studies,
    delta: Annotated[float, Query(gt=0.0, lt=1.0, allow_inf_nan=False)] = 0.05,
    margin: Annotated[float, Query(allow_inf_nan=False)] = 0.0,
    segment: Segment = None,
) -> answers.WinnerInfo:
    """Return the winner, or what is missing to name one. Nothing is stored, so a new winner may be withdrawn.

    The probability of error is at most delta if each arm's rewards keep one mean; `assumes` says what else must hold.
    """
    return _winner(ReadableStudy.winner(studies.study(name), delta, margin, segment=segment))


@writing.post("/winner")
def name_winner(name: Name, body: bodies.Question, studies: Studies) -> answers.WinnerInfo:
    """Return the winner, or what is missing to name one. A winner is stored and stays.

    The probability of error is at most delta if each arm's rewards keep one mean; `assumes` says what else must hold.
    """
    return _winner(studies.study(name).winner(body.delta, body.margin, segment=body.segment))


@reading.get("/propensities")
def propensities(name: Name, studies: Studies, segment: Segment = None) -> answers.Propensities:
    """Return the exact probability that each arm is in the next round, of a segment if the study has segments."""
    return answers.Propensities(propensities=studies.study(name).propensities(segment=segment))


@reading.get("/trials")
def trials(
    name: Name,
    studies: Studies,
    first: Annotated[int, Query(ge=0, description="Id of the first trial to show.")] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> answers.Log:
    """Return one page of the log; ``export`` returns all of it, with the propensities of all arms."""
    frame = studies.study(name).trials_dataframe()
    page = frame.iloc[first : first + limit]
    rows = [
        answers.Told(id=int(str(id)), **{key: _number(value) for key, value in row.items()})
        for id, row in page.astype(object).where(page.notna(), None).to_dict("index").items()
    ]
    return answers.Log(trials=rows, next=first + limit if first + limit < len(frame) else None)


@reading.get("/events")
def events(
    name: Name,
    studies: Studies,
    trial: Annotated[int | None, Query(ge=0, lt=2**63, description="Return only the events of this trial.")] = None,
    below: Annotated[int | None, Query(ge=0, lt=2**63, description="Return only events with numbers below.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_EVENTS)] = 100,
) -> answers.Events:
    """Return the newest events, newest first: what happened in the study or to one trial, and which key did it."""
    found = studies.study(name).events(trial=trial, below=below, limit=limit)
    return answers.Events(events=[answers.EventInfo(**event._asdict()) for event in found])


@reading.get("/audit_log")
def audit_log(studies: Studies, name: OneName = None) -> answers.AuditLog:
    """Return which key created, renamed, archived or deleted a study, or any study; newest first."""
    return answers.AuditLog(audit_log=[answers.AuditEntryInfo(**entry._asdict()) for entry in studies.audit_log(name)])


@reading.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}, "application/vnd.apache.parquet": {}}, "description": "The log"}},
)
def export(name: Name, studies: Studies, format: Literal["csv", "parquet"] = "csv") -> Response:
    """Return the whole log as a file: one row per trial, with the propensities of all arms."""
    return export_file(studies.study(name), format)


def export_file(study: Study, format: str) -> Response:
    """Return the log of a study as a download."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"log.{format}"
        study.export(path)
        content = path.read_bytes()
    media = "text/csv; charset=utf-8" if format == "csv" else "application/vnd.apache.parquet"
    return Response(content, media_type=media, headers={"Content-Disposition": f'attachment; filename="log.{format}"'})


@reading.post("/estimate")
def estimate(name: Name, body: bodies.Choice, studies: Studies) -> answers.EstimateInfo | answers.RiskEstimateInfo:
    """Estimate from the log what another choice of arms would have earned per trial, or its CVaR at a level."""
    given = [choice for choice in (body.arm, body.weights, body.policy) if choice is not None]
    if len(given) != 1:
        raise ArgumentError("choice", "one of 'arm', 'weights', 'policy'", body.model_dump(exclude_none=True))
    choice = parse_policy(body.policy) if body.policy is not None else given[0]
    if body.level is not None:
        risk = studies.study(name).estimate(
            choice, objective=CVaR(body.level), bounds=body.bounds, confidence=body.confidence
        )
        return answers.RiskEstimateInfo(**{key: _number(value) for key, value in vars(risk).items()})
    found = studies.study(name).estimate(choice, bounds=body.bounds, confidence=body.confidence)
    return answers.EstimateInfo(**{key: _number(value) for key, value in vars(found).items()})


@reading.post("/estimate_difference")
def estimate_difference(name: Name, body: bodies.Difference, studies: Studies) -> answers.DifferenceInfo:
    """Estimate by how much the rewards of one arm exceed those of another, from the recorded propensities."""
    found = studies.study(name).estimate_difference(body.a, body.b, bounds=body.bounds, confidence=body.confidence)
    return answers.DifferenceInfo(**{key: _number(value) for key, value in vars(found).items()})


@reading.get("/replay")
def replay(request: Request, name: Name, studies: Studies) -> answers.ReplayInfo:
    """Repeat every decision from the stored events and compare it with what was recorded."""
    found = studies.study(name).replay()
    if not found.same and request.app.state.watcher is not None:
        request.app.state.watcher.report(studies.study(name), found)
    return answers.ReplayInfo(same=found.same, **vars(found))


def _info(study: Study) -> answers.StudyInfo:
    return answers.StudyInfo(
        name=study.name,
        policy=repr(study.policy),
        seed=str(study.seed),
        arms=study.arms,
        trials=len(study),
        direction=study.direction,
        control=study.control,
        reward_unit=study.reward_unit,
        bounds=None if study.bounds is None else list(study.bounds),
        floor=study.floor,
        archived=study.archived,
        identity=study.identity,
        window=study.window,
        late=study.late,
        segments=list(study.segments),
        history=study.history,
        weight=study.weight,
        borrow=study.borrow,
    )


def _winner(found: Winner) -> answers.WinnerInfo:
    rivals = [answers.RivalInfo(**{key: _number(value) for key, value in vars(one).items()}) for one in found.rivals]
    return answers.WinnerInfo(**{**vars(found), "rivals": rivals, "drift": list(found.drift)})


def _trial(trial: Trial) -> answers.TrialInfo:
    return answers.TrialInfo.model_construct(**trial._asdict())


def _number(value: Any) -> Any:
    """Return a number, or None for NaN and infinity, which JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
