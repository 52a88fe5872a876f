"""Import past data from a CSV file: a preview shows what would be stored, then all trials are added, or none."""

import math
import secrets
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, Form, Request, UploadFile
from pydantic import BaseModel
from starlette.responses import Response

from dirichlet_bandits.csv_tables import (
    ARM_COLUMNS,
    REWARD_COLUMNS,
    Line,
    check_length,
    column_at,
    forgiven_rows,
    is_blank,
    is_number,
    lines_of,
    name_key,
)
from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError, FormatError, RewardError
from dirichlet_bandits.live import Study
from dirichlet_bandits.live.past_trials import Past, read_past
from dirichlet_bandits.service.dashboard.access import Changing, ChangingAny, Reading, Text
from dirichlet_bandits.service.dashboard.forms import back_to
from dirichlet_bandits.service.dashboard.rendering import page
from dirichlet_bandits.service.dashboard.wording import for_people, sentence
from dirichlet_bandits.service.problems import status_of
from dirichlet_bandits.service.routes import StudyRoute

COLUMNS: Final = {
    "arm": ARM_COLUMNS,
    "reward": (*REWARD_COLUMNS, "cost", "value", "result"),
    "time": ("time", "date", "when"),
    "propensity": ("propensity", "probability"),
}
"""What a row may hold, with the usual names of its column; the last two may be missing."""

_NEEDED: Final = ("arm", "reward")
_SHOWN: Final = 5
_NONE: Final = "\N{EMPTY SET}"  # what the menu sends; an empty text would mean that nothing was chosen
routes = APIRouter(include_in_schema=False, route_class=StudyRoute)


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

    def columns(self) -> dict[str, str | None]:
        """Return the chosen column of each kind; None if the reader has not chosen."""
        return {kind: getattr(self, kind) for kind in COLUMNS}


class Preview(NamedTuple):
    """The trials in a file, as ``add_trials`` takes them, checked, and by arm; and what was changed or left out."""

    frame: dict[str, list[Any]]
    rows: list[Past]
    by_arm: list[tuple[str, int, float]]
    report: list[str]


@routes.get("/study/import")
def import_page(request: Request, studies: Reading, name: str) -> Response:
    """Show the form for a file."""
    return page(request, "import.html", study=studies.study(name), error=None, sent=None)


@routes.post("/import")
def preview(request: Request, studies: Changing, name: Text, file: UploadFile) -> Response:
    """Show what a file contains; nothing is stored."""
    text, note = _decoded(file.file.read())
    sent = Sent(name=name, token=secrets.token_urlsafe(16), text=text, source=file.filename or "the file")
    return _previewed(request, studies.study(name), sent, note)


@routes.post("/import/rows")
def import_rows(request: Request, studies: ChangingAny, sent: Annotated[Sent, Form()]) -> Response:
    """Add the trials of a file, or show the preview again with other columns."""
    study = studies.expecting(sent.identity).study(sent.name)
    if not sent.now:
        return _previewed(request, study, sent)
    try:
        frame = read_rows(sent.text, study, sent.columns(), sent.source).frame
        study.add_trials(frame, token=sent.token)
    except DirichletBanditsError as error:
        return _previewed(request, study, sent, refusal=error)
    return back_to(study.name, imported=len(frame["arm"]))


def _previewed(
    request: Request, study: Study, sent: Sent, note: str = "", refusal: DirichletBanditsError | None = None
) -> Response:
    """Render the preview, or the reason why there is none, with menus for the columns."""
    values: dict[str, Any] = {
        "sent": sent,
        "note": note,
        "most": _SHOWN,
        "no_column": _NONE,
        "found": None,
        "header": [],
    }
    try:
        header, _ = lines_of(sent.text, sent.source)
        values["header"] = header.cells
        values["used"] = _used(header, sent.columns())
        values["found"] = read_rows(sent.text, study, sent.columns(), sent.source)
    except DirichletBanditsError as error:
        refusal = error
    unread = isinstance(refusal, FormatError)  # the file, not the storage
    status = 200 if refusal is None else 422 if unread else status_of(refusal)
    words = None if refusal is None else sentence(str(refusal)) if unread else for_people(refusal)
    return page(request, "import.html", status, study=study, error=words, **values)


class History(NamedTuple):
    """Past rewards of a file by arm, and what was changed or left out."""

    rewards: dict[str, list[float]]
    report: list[str]


def read_history(content: bytes, source: str) -> History:
    """Read the rewards of a file by arm, for a study that is still to be created.

    >>> read_history(b"arm;reward\\nred;1,5\\nblue;\\nred;2\\n", "past.csv")
    History(rewards={'red': [1.5, 2.0]}, report=['1 of 3 rows: blank', '1 of 2 values: decimal commas'])
    """
    text, note = _decoded(content)
    header, others = lines_of(text, source)
    rows, at, report = _clean(header, list(others), _used(header, {}))
    rewards: dict[str, list[float]] = {}
    for line in rows:
        rewards.setdefault(line.cells[at["arm"]], []).append(_number(line, at["reward"]))
    return History(rewards, [note, *report] if note else report)


def read_rows(text: str, study: Study, columns: Mapping[str, str | None], source: str) -> Preview:
    """Read the trials of a file: blanks are left out, and so are arms that the study does not have."""
    header, others = lines_of(text, source)
    rows, at, report = _clean(header, list(others), _used(header, columns))
    known = _known(rows, at["arm"], study, report)
    frame: dict[str, list[Any]] = {"arm": [], "reward": []}
    for line in known:
        frame["arm"].append(line.cells[at["arm"]])
        frame["reward"].append(_reward(line, at["reward"], study))
    for kind in ("time", "propensity"):
        if kind in at:
            cells = [line.cells[at[kind]] for line in known]
            frame[kind] = [None if is_blank(cell) else cell if kind == "time" else _chance(cell) for cell in cells]
    past = read_past(frame)
    values: dict[str, list[float]] = {}
    for row in past:
        values.setdefault(row.arm, []).append(row.reward)
    by_arm = [(arm, len(x), math.fsum(x) / len(x)) for arm, x in values.items()]
    return Preview(frame, past, by_arm, report)


def _clean(header: Line, lines: list[Line], used: Mapping[str, str]) -> tuple[list[Line], dict[str, int], list[str]]:
    """Return the rows with clean names and numbers, the places of the columns, and a report."""
    at = {kind: column_at(header, name, (), 0) for kind, name in used.items()}
    if at["arm"] == at["reward"]:
        raise FormatError(f"{header.where}: the arm and the reward must be in two columns (both: {used['arm']!r})")
    if is_number(used["reward"]):
        raise FormatError(f"{header.where}: the first line must name the columns (found {', '.join(header.cells)})")
    for line in lines:
        check_length(line, header)
    rows, report = forgiven_rows(lines, at["arm"], at["reward"])
    return rows, at, report


def _used(header: Line, columns: Mapping[str, str | None]) -> dict[str, str]:
    """Return the column of each kind: the chosen one, else one with a usual name, else the first two."""
    if len(header.cells) < 2:
        raise FormatError(f"{header.where}: two columns are needed, an arm and a reward (found {len(header.cells)})")
    found = {}
    for place, (kind, usual) in enumerate(COLUMNS.items()):
        chosen = columns.get(kind)
        if chosen is None:
            at = column_at(header, None, usual, place if kind in _NEEDED else -1)
            if at >= 0:
                found[kind] = header.cells[at]
        elif chosen != _NONE:
            found[kind] = header.cells[column_at(header, chosen, (), 0)]
        elif kind in _NEEDED:
            raise ArgumentError(kind, "one of the columns", chosen)
    return found


def _known(rows: Sequence[Line], at: int, study: Study, report: list[str]) -> list[Line]:
    """Return the rows of arms that the study has, with the study's spelling, and add to the report."""
    arms = [str(arm) for arm in study.summary().index]
    spelled = {name_key(arm): arm for arm in arms} | {arm: arm for arm in arms}
    known, missing, read = [], dict[str, int](), dict[str, str]()
    for line in rows:
        name = line.cells[at]
        arm = spelled.get(name, spelled.get(name_key(name)))
        if arm is None:
            missing[name] = missing.get(name, 0) + 1
            continue
        if arm != name:
            read[name] = arm
        known.append(Line(line.where, [*line.cells[:at], arm, *line.cells[at + 1 :]]))
    report += [f"{name!r} is read as {arm!r}" for name, arm in read.items()]
    report += [f"{count:,} of {len(rows):,} rows: this study has no arm {name!r}" for name, count in missing.items()]
    return known


def _reward(line: Line, at: int, study: Study) -> float:
    try:
        return study._reward(_number(line, at))
    except (ArgumentError, RewardError) as error:
        raise FormatError(f"{line.where}: {for_people(error)}") from None


def _number(line: Line, at: int) -> float:
    if not is_number(line.cells[at]):
        raise FormatError(f"{line.where}: the reward must be a number (got {line.cells[at]!r})")
    return float(line.cells[at])


def _chance(cell: str) -> float:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        raise ArgumentError("propensity", "a number from 0 to 1", cell) from None


def _decoded(content: bytes) -> tuple[str, str]:
    """Return the text of a file, and a note if it is not in UTF-8."""
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), "The file is not in UTF-8; it is read as Windows-1252."
