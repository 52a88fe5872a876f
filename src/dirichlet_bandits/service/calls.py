"""What a service does besides the operations of a study, declared like them: studies by name, files, plans.

Both sides use this module: the service for its routes, and the client for its requests. A request names its study in
the query: no client, browser or proxy rewrites a name there, whatever it contains.
"""

import importlib.metadata
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeVar

from dirichlet_bandits.declared import Check, choice, flag, number, text
from dirichlet_bandits.errors import ArgumentError, NotFoundError, ReplacedError
from dirichlet_bandits.experiments.plan_question import PlanQuestion
from dirichlet_bandits.experiments.planning import StudyPlan
from dirichlet_bandits.live.fields import Name
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.opening import StudiesHere, check_confirmed
from dirichlet_bandits.live.operation import MANAGE, READ, Operation, operation
from dirichlet_bandits.live.readings import AuditEntry, ReadStudy, StudyInfo
from dirichlet_bandits.live.settings import StudySettings
from dirichlet_bandits.live.study import Study

if TYPE_CHECKING:
    from dirichlet_bandits.service.open_studies import OpenStudies

R = TypeVar("R")
CALLS: Final[dict[str, type["ServiceCall[Any]"]]] = {}
"""All calls, by name."""

Flag = Annotated[bool, flag()]
_PAIR: Final = 2
_PLAIN: Final = ("string", "number", "integer", "boolean")


class ServiceCall(Operation[R]):
    """Something that is asked of a service, by a path that is its name unless it has another one.

    The query names a study, unless ``of_study`` is False; if it is None, the query may name one.
    """

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> R:
        """Do it with the studies that the caller may use."""
        raise NotImplementedError


@operation(READ, "health", into=CALLS)
class Health(ServiceCall[dict[str, str]]):
    """Report that the service is up. This needs no key and does not touch the storage."""

    of_study = False

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> dict[str, str]:
        return {"status": "ok", "version": importlib.metadata.version("dirichlet-bandits")}


@operation(READ, "studies", "studies", CALLS)
class ListStudies(ServiceCall[list[str]]):
    """List the names of the studies, oldest first; with ``archived``, list the archived ones instead."""

    of_study = False
    archived: Flag = False

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> list[str]:
        return studies.names(self.archived)


@operation(MANAGE, "create_study", into=CALLS)
class CreateStudy(ServiceCall[StudyInfo]):
    """Create a study; with ``load_if_exists``, load the study of that name if its settings are the same.

    In JSON, the settings are fields next to the name.
    """

    path, of_study, status, has_token = "studies", False, 201, True
    name: Name  # type: ignore[misc]  # of the study
    settings: Annotated[
        StudySettings, Check("settings", lambda _, x: x if isinstance(x, StudySettings) else StudySettings.of_json(x))
    ]
    load_if_exists: Flag = False

    @classmethod
    def of_json(cls, given: object, served: bool = True) -> "CreateStudy":
        if isinstance(given, Mapping):
            own = {key: given[key] for key in ("name", "load_if_exists") if key in given}
            given = {**own, "settings": {key: value for key, value in given.items() if key not in own}}
        return super().of_json(given, served)

    def as_json(self, leave_out: str = "settings") -> dict[str, Any]:
        return {**super().as_json(leave_out), **self.settings.as_json()}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        own, settings = super().schema(), StudySettings.schema()
        fields = {**own["properties"], **settings["properties"]}
        del fields["settings"]
        return {**settings, "properties": fields, "required": ["name", *settings["required"]]}

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> StudyInfo:
        studies.check_new(self.name)
        made = StudiesHere(studies.storage).create(self.name, self.settings, self.load_if_exists, token)
        studies.check_found(made.name, self.name)
        return local_of(studies.keep(made)).do(ReadStudy())


@operation(READ, "identity", "identity", CALLS)
class ReadIdentity(ServiceCall[str]):
    """Return the identity of a study, which no other study of the same name ever has; the study may be damaged."""

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> str:
        studies.check(study)
        stored = studies.storage.settings(study)
        if stored is None:
            raise NotFoundError(f"no study {study!r}")
        return str(stored.get("identity", ""))


class Renamed(NamedTuple):
    """The name that a study has after a rename; others may have renamed it again."""

    name: str
    done: bool = True


@operation(MANAGE, "rename", into=CALLS)
class RenameStudy(ServiceCall[Renamed]):
    """Rename a study. Repeating the call with its token changes nothing."""

    has_token = True
    name: Name  # type: ignore[misc]  # the new one

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> Renamed:
        return Renamed(studies.rename(study, self.name, token))


@operation(MANAGE, "archive", into=CALLS)
class ArchiveStudy(ServiceCall[None]):
    """Leave a study out of the list, or put it back; it can still be used. Repeating the call changes nothing."""

    has_token = True
    archived: Flag = True

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> None:
        local_of(studies.study(study)).archive(self.archived, token)


@operation(MANAGE, "delete", into=CALLS)
class DeleteStudy(ServiceCall[None]):
    """Delete a study and all of its events permanently; ``confirm`` repeats its name."""

    confirm: Annotated[str, text()]
    if_missing: Flag = False

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> None:
        check_confirmed(study, self.confirm)
        try:
            studies.check(study)
            StudiesHere(studies.storage).delete(study, studies.expected)
        except (NotFoundError, ReplacedError):
            if not self.if_missing or studies.storage.named(studies.expected or "", study) is not None:
                raise
        studies.refresh(study)


@operation(READ, "audit_log", "audit_log", CALLS)
class AuditStudies(ServiceCall[list[AuditEntry]]):
    """Return which key created, renamed, archived or deleted a study, or any study; newest first."""

    of_study = None

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> list[AuditEntry]:
        return studies.audit_log(study or None)


@operation(READ, "export", into=CALLS)
class ExportTrials(ServiceCall[bytes]):
    """Return the whole log as a file: one row per trial, with the propensities of all arms."""

    format: Annotated[str, choice("csv", "parquet")] = "csv"

    def carry_out(self, studies: "OpenStudies", study: str, token: str | None) -> bytes:
        return exported(studies.study(study), self.format)


def exported(study: Study, format: str) -> bytes:
    """Return the log of a study as the content of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"log.{format}"
        study.export(path)
        return path.read_bytes()


@operation(MANAGE, "plan", into=CALLS)
class PlanStudies(PlanQuestion, ServiceCall[StudyPlan]):
    """Simulate studies to estimate when they would name a winner, one plan at a time. Nothing is stored."""

    of_study = False

    @classmethod
    def answer_as_json(cls, answer: StudyPlan) -> dict[str, Any]:
        """Return the rows, and the conclusion in one sentence."""
        return {**super().answer_as_json(answer), "answer": answer.answer}


def path_of(kind: type[Operation[Any]]) -> str:
    """Return the path of an operation, below ``/api``."""
    return kind.path or kind.name


def in_query(kind: type[Operation[Any]]) -> bool:
    """Whether requests have the fields in the query: those of an operation that reads and has only plain fields."""
    schemas = (field.check.schema for field in kind.fields.values())
    plain = ("enum" in one or one.get("type") in _PLAIN or one.get("maxItems") == _PAIR for one in schemas)
    return kind.role == READ and all(plain)


def read_query(kind: type[Operation[Any]], given: Mapping[str, Sequence[str]]) -> Operation[Any]:
    """Return the operation that a query asks for; a pair is given as ``bounds=0&bounds=1``."""
    found: dict[str, Any] = {}
    for name, texts in given.items():
        field = kind.fields.get(name)
        if field is not None and field.check.schema.get("maxItems") == _PAIR:
            found[name] = [number().read(one) for one in texts]
            continue
        if len(texts) > 1:
            raise ArgumentError(name, "given once", texts)
        found[name] = texts[0] if field is None else _read(field.check, texts[0])
    return kind.of_json(found)


def _read(check: Check, given: str) -> Any:
    try:
        return check.read(given)
    except ValueError:
        return given  # which the check refuses in its words
