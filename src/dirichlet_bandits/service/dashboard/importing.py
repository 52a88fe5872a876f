"""Import past data from a CSV file: a preview shows what would be stored, then all trials are added, or none."""

import math
import secrets
from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import Form, Request, UploadFile
from pydantic import BaseModel
from starlette.responses import Response

from dirichlet_bandits.csv_tables import COLUMNS, CSVTable, decoded
from dirichlet_bandits.errors import DirichletBanditsError, FormatError
from dirichlet_bandits.live import Study
from dirichlet_bandits.live.past_trials import read_file, read_past, rewards_by_arm
from dirichlet_bandits.service.dashboard.access import Changing, ChangingAny, Reading, Text, routes
from dirichlet_bandits.service.dashboard.forms import back_to
from dirichlet_bandits.service.dashboard.rendering import page
from dirichlet_bandits.service.dashboard.wording import for_people
from dirichlet_bandits.service.problems import status_of

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
        study.add_trials(frame, token=sent.token)
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
