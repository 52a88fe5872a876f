"""The HTTP transport of a study: sends operations to a service, which carries them out."""

import io
import secrets
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from dirichlet_bandits.errors import NotFoundError, require
from dirichlet_bandits.files import whole_file
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.export import checked_file
from dirichlet_bandits.live.local import Named
from dirichlet_bandits.live.operation import Operation
from dirichlet_bandits.live.readings import StudyInfo
from dirichlet_bandits.service.calls import (
    ArchiveStudy,
    ExportTrials,
    ReadIdentity,
    RenameStudy,
    in_query,
    path_of,
)
from dirichlet_bandits.service.wire import Connection

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R")


def send(line: Connection, operation: Operation[Any], token: str | None = None, **which: Any) -> Any:
    """Send an operation and return the JSON of its answer; ``which`` names the study.

    A change is made exactly once: if no token is given, one is drawn.
    """
    kind, fields = type(operation), operation.as_json()
    if in_query(kind):
        return line.get(path_of(kind), **which, **fields)
    if kind.has_token:
        fields["token"] = secrets.token_urlsafe(16) if token is None else checked_name("token", token)
    return line.post(path_of(kind), fields, **which)


class Http(Named):
    """A study as a service has it."""

    def __init__(self, line: Connection, info: StudyInfo) -> None:
        super().__init__(info.name, info.identity)
        self._line = line
        self.settings = info.settings

    def do(self, operation: Operation[R], token: str | None = None) -> R:
        """Let the service carry out an operation."""
        return operation.fetch(partial(self._send, token=token))

    def _send(self, operation: Operation[Any], token: str | None = None) -> Any:
        return send(self._line, operation, token, **self._which())

    def _which(self) -> dict[str, str]:
        """Return the fields by which a request names its study."""
        return {"study": self.name, "identity": self.identity}

    def rename(self, name: str, token: str | None) -> str:
        """Rename the study, and return the name that it has; others may have renamed it since an earlier attempt."""
        operation, which = RenameStudy(name), self._which()
        self._new_name = name
        self._renamed(send(self._line, operation, token, **which)["name"])
        return self.name

    def _has_name(self, name: str) -> bool:
        try:
            return bool(send(self._line, ReadIdentity(), study=name)["identity"] == self.identity)
        except NotFoundError:
            return False

    def archive(self, archived: bool, token: str | None) -> None:
        """Leave the study out of the list of names, or put it back."""
        self.do(ArchiveStudy(archived), token)

    def trials(self) -> "pd.DataFrame":
        """Return one row per trial. This needs pyarrow."""
        pd = whole_module("pandas")

        require("pyarrow", "The table of trials needs", "live", " (pyarrow is missing)")
        log = pd.read_parquet(io.BytesIO(self._exported("parquet")))
        return log[[column for column in log.columns if not column.startswith("propensity of ")]]

    def export(self, path: str | PathLike[str]) -> None:
        """Write the trials with the propensities of all arms to a file."""
        target, format = checked_file(path)
        with whole_file(target) as draft:
            draft.write_bytes(self._exported(format))

    def _exported(self, format: str) -> bytes:
        return self._line.send("GET", path_of(ExportTrials), {**self._which(), "format": format}).data
