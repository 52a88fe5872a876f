"""Use the studies of a service as if they were local."""

import io
import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from dirichlet_bandits.declared import number
from dirichlet_bandits.errors import ArgumentError, NotFoundError, require
from dirichlet_bandits.files import whole_file
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.export import checked_file
from dirichlet_bandits.live.local import Named
from dirichlet_bandits.live.opening import create_study, delete_study, load_study, study_names
from dirichlet_bandits.live.operation import Operation
from dirichlet_bandits.live.readings import ReadStudy, StudyInfo
from dirichlet_bandits.live.settings import StudySettings
from dirichlet_bandits.live.study import Study
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.service.calls import (
    ArchiveStudy,
    CreateStudy,
    DeleteStudy,
    ExportTrials,
    ListStudies,
    PlanStudies,
    ReadIdentity,
    RenameStudy,
    in_query,
    path_of,
)
from dirichlet_bandits.service.wire import PATIENCE, Connection

if TYPE_CHECKING:
    import pandas as pd

    from dirichlet_bandits.environments import Bandit
    from dirichlet_bandits.experiments.planning import StudyPlan

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
        return operation.fetch(lambda asked: send(self._line, asked, token, **self._which()))

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


def connect(url: str, key: str | None = None, *, patience: float = PATIENCE) -> "Service":
    """Connect to the studies of a service that ``dirichlet-bandits serve`` runs.

    While the service is unreachable, calls are retried for up to ``patience`` seconds; then they raise a
    :class:`StorageError`. Retrying is always safe, because every change carries the identity of its study and a token,
    which the client draws unless you give one. So a change whose response was lost is not made twice.

    >>> connect("localhost:8000")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'url' must be the address of a service, such as \
'http://localhost:8000' (got 'localhost:8000')
    """
    return Service(Connection(url, key, number().accept("patience", patience)))


class Service:
    """A service, where studies are found by name.

    It can be the ``storage`` of :func:`create_study`, :func:`load_study`, :func:`study_names` and :func:`delete_study`,
    and has them as methods: ``service.create_study("maize", arms=["26 Feb", "13 Mar"])``.
    """

    def __init__(self, line: Connection) -> None:
        self._line = line
        self.create_study = partial(create_study, storage=self)
        self.load_study = partial(load_study, storage=self)
        self.study_names = partial(study_names, self)
        self.delete_study = partial(delete_study, storage=self)

    def __repr__(self) -> str:
        return f"<Service {self._line.url}>"

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._line.close()

    def create(self, name: str, settings: StudySettings, load_if_exists: bool, token: str | None) -> Study:
        """Create a study; :func:`create_study` calls this."""
        said = send(self._line, CreateStudy(name, settings, load_if_exists), token)
        return Study(Http(self._line, CreateStudy.of_answer(said)))

    def load(self, name: str, policy: Policy | None) -> Study:
        """Load the study of this name."""
        found = Http(self._line, ReadStudy.of_answer(send(self._line, ReadStudy(), study=name)))
        if policy not in (None, found.settings.policy):
            raise ArgumentError("policy", f"that of the study, {found.settings.policy}", policy)
        return Study(found)

    def names(self, archived: bool = False) -> list[str]:
        """Return the names of the studies that are not archived, or of those that are."""
        return ListStudies.of_answer(send(self._line, ListStudies(archived)))

    def delete(self, name: str, identity: str | None) -> None:
        """Delete a study, unless it has another identity."""
        if identity is None:  # another study that has this name by then is left alone
            identity = ReadIdentity.of_answer(send(self._line, ReadIdentity(), study=name))
        body, again = (DeleteStudy(name, if_missing).as_json() for if_missing in (False, True))
        self._line.post(path_of(DeleteStudy), body, again=again, study=name, identity=identity)

    def plan(self, bandit: "Bandit | Mapping[str, Sequence[float]] | None" = None, **settings: Any) -> "StudyPlan":
        """Let the service simulate studies before they begin; ``settings`` are the other arguments of :func:`plan`.

        The service limits the size of a plan and simulates one at a time; while it is busy, the call is retried.
        """
        from dirichlet_bandits.experiments.planning import prepare

        asked = PlanStudies(bandit, **settings)
        prepare(asked)  # refuses what makes no sense before it is sent
        return PlanStudies.of_answer(send(self._line, asked))
