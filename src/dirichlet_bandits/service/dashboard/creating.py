"""Guided creation: questions about the rewards lead to a policy, and the page shows the code before it runs."""

import json
import math
import re
import secrets
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import Form, Request, UploadFile
from pydantic import BaseModel
from starlette.responses import Response

from dirichlet_bandits.csv_tables import COLUMNS, CSVTable, decoded
from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError, FormatError
from dirichlet_bandits.experiments.plan_question import PlanQuestion
from dirichlet_bandits.live import Study
from dirichlet_bandits.live.direction import MAXIMIZE, MINIMIZE
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.operations import AddTrials
from dirichlet_bandits.live.past_trials import read_file, read_past, rewards_by_arm
from dirichlet_bandits.live.settings import StudySettings
from dirichlet_bandits.policies.registry import all_policies, has_propensities
from dirichlet_bandits.service import plans
from dirichlet_bandits.service.calls import CreateStudy
from dirichlet_bandits.service.dashboard.access import Changing, ChangingAny, Creating, Reading, Text, routes
from dirichlet_bandits.service.dashboard.forms import back_to
from dirichlet_bandits.service.dashboard.overview import code as shown_code
from dirichlet_bandits.service.dashboard.rendering import floor, for_people, page, real_number, whole_number
from dirichlet_bandits.service.problems import headers_of, status_of
from dirichlet_bandits.specs import parse

_SHOWN: Final = 5
_NONE: Final = "\N{EMPTY SET}"  # what the menu sends; an empty text would mean that nothing was chosen


class Sent(BaseModel):
    """A file that was previewed, its columns, and whether to import it now."""

    name: str
    identity: str = ""
    token: str
    text: str
    source: str = "the file"
    arm: str | None = None
    reward: str | None = None
    time: str | None = None
    propensity: str | None = None
    now: bool = False

    def table(self) -> CSVTable:
        """Return the table in the file."""
        return CSVTable(self.text, self.source, forgiving=True)

    def columns(self, table: CSVTable) -> dict[str, int]:
        """Return the column of each kind that has not been declined: the chosen one, else one with a usual name."""
        return table.columns({kind: getattr(self, kind) for kind in COLUMNS if getattr(self, kind) != _NONE})


@routes.get("/study/import")
def import_page(request: Request, studies: Reading, name: str) -> Response:
    """Show the form for a file."""
    return page(request, "import.html", study=studies.study(name), error=None, sent=None)


@routes.post("/import")
def preview(request: Request, studies: Changing, name: Text, file: UploadFile) -> Response:
    """Show what a file contains; nothing is stored."""
    source = file.filename or "the file"
    text, notes = decoded(file.file.read(), source, forgiving=True)
    sent = Sent(name=name, token=secrets.token_urlsafe(16), text=text, source=source)
    return _previewed(request, studies.study(name), sent, notes)


@routes.post("/import/rows")
def import_rows(request: Request, studies: ChangingAny, sent: Annotated[Sent, Form()]) -> Response:
    """Add the trials of a file, or show the preview again with other columns."""
    study = studies.expecting(sent.identity).study(sent.name)
    if not sent.now:
        return _previewed(request, study, sent)
    try:
        table = sent.table()
        frame = read_file(table, sent.columns(table), study)
        local_of(study).do(AddTrials(read_past(frame)), sent.token)
    except DirichletBanditsError as error:
        return _previewed(request, study, sent, refusal=error)
    return back_to(study.name, imported=len(frame["arm"]))


def _previewed(
    request: Request, study: Study, sent: Sent, notes: Sequence[str] = (), refusal: DirichletBanditsError | None = None
) -> Response:
    """Render the preview, or the reason why there is none, with menus for the columns."""
    values: dict[str, Any] = {"sent": sent, "most": _SHOWN, "no_column": _NONE, "found": None, "header": [], "used": {}}
    try:
        table = sent.table()
        values["header"] = table.header
        values["used"] = sent.columns(table)
        frame = read_file(table, values["used"], study)
        by_arm = [(arm, len(x), math.fsum(x) / len(x)) for arm, x in rewards_by_arm(frame).items()]
        values["found"] = {"rows": read_past(frame), "by_arm": by_arm, "report": [*notes, *table.report]}
    except DirichletBanditsError as error:
        refusal = error
    unread = isinstance(refusal, FormatError)  # the file, not the storage
    status = 200 if refusal is None else 422 if unread else status_of(refusal)
    words = None if refusal is None else str(refusal) if unread else for_people(refusal)
    return page(request, "import.html", status, study=study, error=words, **values)


def read_history(content: bytes, source: str) -> tuple[dict[str, list[float]], list[str]]:
    """Read the rewards of a file by arm, for a study that is still to be created, and report what was changed.

    >>> read_history(b"arm;reward\\nred;1,5\\nblue;\\nred;2\\n", "past.csv")
    ({'red': [1.5, 2.0]}, ['1 of 3 rows: blank', '1 of 2 values: decimal commas'])
    """
    text, notes = decoded(content, source, forgiving=True)
    table = CSVTable(text, source, forgiving=True)
    rewards = rewards_by_arm(read_file(table, table.columns({"arm": None, "reward": None})))
    return rewards, notes + table.report


MEASURES: Final = {
    "binary": "yes or no, such as a click or a sale",
    "bounded": "a number between two limits",
    "any": "any number, such as a yield or a revenue",
}
LEVEL: Final = 0.2
"""The share of worst rewards by which arms are judged if bad cases matter."""

REASONS: Final = {
    "ThompsonSampling": "Each answer is yes or no, so what is known about an arm is exactly the posterior of a coin.",
    "NPTS": "It needs nothing but the upper limit, whatever the distribution of the values.",
    "BinarizedTS": "It needs nothing but the two limits, and works for costs as well as for rewards.",
    "RDS": "It needs no limits and no assumption about the shape of the distribution.",
    "BCVTS": "It compares arms by the mean of their worst fifth, and needs only the upper limit.",
}
"""Why a policy suits the answers that lead to it."""


def arm_names(rows: Sequence[str], alone: bool = False) -> list[str]:
    """Return the names of arms from the rows of a form; a single row may list several, with commas or semicolons.

    A study with one arm is questioned: it needs ``alone``.

    >>> arm_names(["red", "", "blue, dark"]), arm_names(["a, b; c"])
    (['red', 'blue, dark'], ['a', 'b', 'c'])
    """
    names = [row.strip() for row in rows if row.strip()]
    if len(names) == 1 and not alone:
        names = [part.strip() for part in re.split("[,;]", names[0]) if part.strip()]
    if len(names) < (1 if alone else 2):
        raise ArgumentError("arms", "at least two names, because a study compares arms", "; ".join(names))
    return names


def _limit(field: str, text: str) -> float:
    if not text.strip():
        raise ArgumentError(field, "a number, because rewards lie between two limits", text)
    return real_number(field, text)


_FIRST: Final = "\N{DIGIT ONE}\N{COMBINING ENCLOSING KEYCAP}"  # no arm has this name: the first arm, without JavaScript
_ROWS: Final = 3


class TypedStudy(BaseModel):
    """What was typed into the form, as texts; ``more`` asks for more rows, ``alone`` confirms a single arm.

    ``past`` holds the rewards of a file by arm, as JSON.
    """

    name: str = ""
    arm: list[str] = []
    measure: str = "any"
    direction: str = MAXIMIZE
    matters: str = "average"
    lower: str = ""
    upper: str = ""
    unit: str = ""
    control: str = ""
    policy: str = ""
    floor: str = ""
    window: str = ""
    late: str = ""
    segments: str = ""
    past: str = ""
    weight: str = "1"
    more: bool = False
    alone: bool = False

    def settings(self) -> StudySettings:
        """Return the settings of the study; without a policy, the answers about the rewards choose one."""
        names = arm_names(self.arm, self.alone)
        policy, bounds = self.chosen()
        warm = {"history": self.history(), "weight": real_number("weight", self.weight)} if self.past else {}
        given: dict[str, Any] = {
            "arms": names,
            "policy": policy,
            "bounds": bounds,
            "direction": self.direction,
            "control": names[0] if self.control == _FIRST else self.control.strip() or None,
            "reward_unit": self.unit.strip() or None,
            "floor": floor(self.floor) if self.floor.strip() else None,
            "window": self.window.strip() or None,
            "late": self._late(),
            "segments": [part.strip() for part in self.segments.split(",") if part.strip()] or None,
            **warm,
        }
        return StudySettings(**given)

    def chosen(self) -> tuple[str, tuple[float, float] | None]:
        """Return the policy that was typed or that suits the answers, as code has it, and the bounds of the rewards.

        >>> TypedStudy(measure="binary").chosen()
        ("ThompsonSampling('bernoulli')", (0.0, 1.0))
        >>> TypedStudy(measure="bounded", direction="minimize", lower="0", upper="9").chosen()
        ('BinarizedTS(lower=0, upper=9)', (0.0, 9.0))
        >>> TypedStudy(measure="any", matters="bad").chosen()
        ('RDS(level=0.2)', None)
        """
        if self.measure not in MEASURES:
            raise ArgumentError("measure", f"one of {', '.join(MEASURES)}", self.measure)
        bounds = (0.0, 1.0) if self.measure == "binary" else None
        if self.measure == "bounded":
            bounds = _limit("lower", self.lower), _limit("upper", self.upper)
        return self.policy.strip() or self._suited(bounds), bounds

    def _suited(self, bounds: tuple[float, float] | None) -> str:
        costs = self.direction == MINIMIZE
        if self.matters == "bad":
            return f"RDS(level={LEVEL})" if bounds is None or costs else f"BCVTS(upper={bounds[1]:g}, level={LEVEL})"
        if bounds is None:
            return "RDS()"
        if costs:
            return f"BinarizedTS(lower={bounds[0]:g}, upper={bounds[1]:g})"
        return "ThompsonSampling('bernoulli')" if self.measure == "binary" else f"NPTS(upper={bounds[1]:g})"

    def _late(self) -> float | Literal["abandon"] | None:
        if self.late.strip():
            return real_number("late", self.late)
        return "abandon" if self.window.strip() else None

    def history(self) -> dict[str, list[float]]:
        """Return past rewards by arm; empty if no file was read."""
        try:
            read = json.loads(self.past) if self.past else {}
            return read and StudySettings.fields["history"].check.accept("past", read)
        except (ValueError, RecursionError):
            raise ArgumentError("past", "rewards by arm, as this page has sent them", self.past[:80]) from None


@routes.get("/new")
def new_page(
    request: Request, studies: Creating, policy: str = "", floor: str = "", measure: str = TypedStudy().measure
) -> Response:
    """Show the form for a new study, with a policy and a floor if a plan leads here."""
    return _form(request, TypedStudy(policy=policy, floor=floor, measure=measure))


@routes.post("/new/file")
def new_from_file(request: Request, studies: Creating, file: UploadFile) -> Response:
    """Show the form with the arms and rewards of a file; nothing is created."""
    try:
        history, report = read_history(file.file.read(), file.filename or "the file")
    except FormatError as error:
        return _form(request, TypedStudy(), 422, error=str(error))
    return _form(request, TypedStudy(arm=list(history), past=json.dumps(history)), report=report)


@routes.post("/create")
def create(request: Request, studies: Creating, typed: Annotated[TypedStudy, Form()]) -> Response:
    """Create a study, or show the form again with more rows for arms or with the reason of a refusal."""
    if typed.more:
        return _form(request, typed)
    try:
        made = CreateStudy(typed.name.strip(), typed.settings()).carry_out(studies, "", None)
    except DirichletBanditsError as error:
        questioned = isinstance(error, ArgumentError) and error.name == "arms" and any(map(str.strip, typed.arm))
        return _form(request, typed, status_of(error), error=for_people(error), questioned=questioned)
    return back_to(made.name)


@routes.post("/guide")
def guide(request: Request, studies: Creating, typed: Annotated[TypedStudy, Form()]) -> Response:
    """Return the policy that the answers lead to, and the code that would create the study; nothing is created."""
    try:
        settings, policy = typed.settings().as_json(), typed.chosen()[0]
    except DirichletBanditsError as error:
        return page(request, "guide.html", missing=for_people(error))
    reason = "" if typed.policy.strip() else REASONS[parse(policy).name]
    code = shown_code(typed.name.strip(), {**settings, "policy": policy})
    return page(request, "guide.html", missing=None, policy=policy, reason=reason, code=code)


def _form(request: Request, typed: TypedStudy, status: int = 200, **said: Any) -> Response:
    filled = [row for row in typed.arm if row.strip()]
    try:
        past = [(arm, len(x), math.fsum(x) / len(x)) for arm, x in typed.history().items() if x]
    except ArgumentError:  # which is shown
        past = []
    rows = filled + [""] * max(_ROWS - len(filled), _ROWS if typed.more else 1)
    known = {"measures": MEASURES, "first_arm": _FIRST}
    known["policies"] = [name for name, policy in all_policies().items() if has_propensities(policy)]
    said = {"error": None, "questioned": False, "report": [], **said}
    return page(request, "new.html", status, typed=typed, rows=rows, past=past, **known, **said)


# Plan a study from a page: how many trials it takes to name a winner, and what they cost


MOST_ARMS: Final = 10
REPLICATIONS: Final = 100
FLOORS: Final = {"0": "none", "0.05": "0.05", "0.1": "0.1", "0.2": "0.2"}
POLICIES: Final = {
    "EqualSplit": "EqualSplit()",
    "TopTwo": "TopTwo()",
    "ThompsonSampling": "ThompsonSampling('bernoulli')",
}
"""Policies of a plan as they are written for a study of rewards 0 and 1."""


class TypedPlan(BaseModel):
    """What was typed into the form, as texts; rates are in percent, as people say them."""

    baseline: str = "10"
    lift: str = "3"
    arms: str = "2"
    horizon: str = "20000"
    floor: list[str] = ["0", "0.1"]

    def question(self) -> PlanQuestion:
        """Return the arguments of ``db.plan``."""
        baseline = _between("baseline", real_number("baseline", self.baseline), 0.01, 99.99)
        lift = _between("lift", real_number("lift", self.lift), -baseline, 100.0 - baseline)
        arms = _between("number of arms", whole_number("number of arms", self.arms), 2, MOST_ARMS)
        horizon = whole_number("number of trials", self.horizon)
        return PlanQuestion(
            baseline=baseline / 100,
            lift=lift / 100,
            arms=int(arms),
            horizon=int(_between("number of trials", horizon, 100, plans.MOST_TRIALS)),
            floors=[real_number("floor", share) for share in self.floor],
            policies=list(POLICIES.values()),
            replications=REPLICATIONS,
        )


@routes.get("/plan")
def plan_page(request: Request, studies: Creating) -> Response:
    """Show the form for a plan."""
    return _page(request, TypedPlan())


@routes.post("/plan")
def show_plan(request: Request, studies: Creating, typed: Annotated[TypedPlan, Form()], stop: plans.Stop) -> Response:
    """Show when simulated studies name a winner and what they lose."""
    try:
        return _page(request, typed, found=plans.simulated(typed.question(), stop))
    except DirichletBanditsError as error:
        shown = _page(request, typed, status_of(error), error=for_people(error))
        shown.headers.update(headers_of(error) or {})
        return shown


def _page(request: Request, typed: TypedPlan, status: int = 200, **said: Any) -> Response:
    limits = {"most": plans.MOST_TRIALS, "seconds": round(plans.SECONDS)}
    values = {"typed": typed, "floors": FLOORS, "written": POLICIES, **limits}
    return page(request, "plan.html", status, **{**values, "found": None, "error": None, **said})


def _between(field: str, number: float, least: float, most: float) -> float:
    if not least <= number <= most:
        raise ArgumentError(field, f"from {least:g} to {most:,g}", number)
    return number
