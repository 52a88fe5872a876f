"""What an operation is: fields with checks, a role, what it does, and its answer.

An operation that changes a study is a :class:`Change`, and one that only reads it a :class:`Reading`. Whoever calls a
method of a study makes an operation and hands it to the study's transport: ``local.py`` carries it out, and
``service/client.py`` sends it to a service. Routes, the OpenAPI description, commands, the state machine of the tests
and a table of the docs are derived from :data:`OPERATIONS`.
"""

import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NamedTuple, TypeVar, dataclass_transform

from dirichlet_bandits.answers import read_as, schema_of, written
from dirichlet_bandits.declared import Declared, declared
from dirichlet_bandits.errors import ConflictError, NotFoundError
from dirichlet_bandits.live.event import Event, Step
from dirichlet_bandits.live.events import CallRecorded
from dirichlet_bandits.live.records import TokenRecord, TrialRecord
from dirichlet_bandits.live.settings import StudySettings

if TYPE_CHECKING:
    from dirichlet_bandits.live.decider import Decider
    from dirichlet_bandits.live.journal import Journal
    from dirichlet_bandits.live.local import Local

READ: Final = "read"
WRITE: Final = "write"
MANAGE: Final = "manage"
R = TypeVar("R")
OPERATIONS: Final[dict[str, type["Operation[Any]"]]] = {}
"""All operations of a study, by name."""


class Present(NamedTuple):
    """A study as an operation finds it: ``late`` trials are those whose windows have just closed."""

    name: str
    settings: StudySettings
    journal: "Journal"
    decider: "Decider"
    late: Sequence[int]

    def check_trial(self, id: int) -> None:
        """Refuse a trial that does not exist."""
        n = len(self.journal.arm_of)
        if id >= n:
            raise NotFoundError(f"no trial {id} in the study {self.name!r} (trials so far: {n})")

    def trial(self, id: int) -> TrialRecord:
        """Return what is known of a trial."""
        return self.journal.records.trial(id)

    def arm(self, name: str) -> int:
        """Return the number of an arm; refuse a name that no arm has."""
        if name not in self.journal.names:
            raise NotFoundError(f"no arm {name!r} in the study {self.name!r}")
        return self.journal.names.index(name)


class Operation(Declared, Generic[R]):
    """Something that can be asked of a study: the class has its ``role``, its ``name``, and its answer's ``key``."""

    role: ClassVar[str]
    name: ClassVar[str]
    key: ClassVar[str | None]  # under which JSON has the answer; None if the answer has fields of its own
    returns: ClassVar[Any]  # the type of the answer
    has_token: ClassVar[bool] = False  # whether a repeated call is recognized by its token
    path: ClassVar[str | None] = None  # of the route over HTTP, unless it is the name
    of_study: ClassVar[bool | None] = True  # whether a request names a study; None: it may
    status: ClassVar[int] = 200  # of the response to a request
    done: ClassVar[str] = "done"  # what a command prints, with the operation as {0}

    def perform(self, local: "Local", token: str | None) -> R:
        """Carry out the operation where the study is stored."""
        raise NotImplementedError

    def fetch(self, send: Callable[["Operation[R]"], Any]) -> R:
        """Return the answer of a service; ``send`` returns its JSON."""
        return self.of_answer(send(self))

    @classmethod
    def answer_as_json(cls, answer: R) -> dict[str, Any]:
        """Return an answer as JSON."""
        if cls.returns is None:
            return {"done": True}
        found = written(answer)
        return found if cls.key is None else {cls.key: found}

    @classmethod
    def of_answer(cls, said: Mapping[str, Any]) -> R:
        """Return the answer in a response."""
        found = None if cls.returns is None else read_as(cls.returns, said if cls.key is None else said[cls.key])
        return typing.cast(R, found)

    @classmethod
    def answer_schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the answer."""
        if cls.returns is None:
            return {"type": "object", "properties": {"done": {"const": True}}}
        schema = schema_of(cls.returns)
        return schema if cls.key is None else {"type": "object", "properties": {cls.key: schema}}


class Change(Operation[R]):
    """An operation that changes a study: either all of it is stored, or nothing."""

    has_token: ClassVar[bool] = True
    decides: ClassVar[bool] = False  # whether random numbers are drawn, or the policy learns

    def prepare(self, settings: StudySettings) -> None:
        """Refuse what no study with these settings accepts; the study is not locked yet."""

    def get_ready(self, local: "Local") -> None:
        """Do what takes long and needs no lock."""

    def check(self, study: Present) -> None:
        """Refuse trials and arms that do not exist, before the token is looked at."""

    def intended(self, study: Present) -> Sequence[Event]:
        """Return what the call is to do, by which a repeated call is compared with the first one."""
        raise NotImplementedError

    def carry_out(self, study: Present) -> Iterable[Event]:
        """Return, or yield one after the other, what really happens; refuse what contradicts the study before."""
        return self.intended(study)

    def left(self, study: Present, made: Sequence[Event], intended: Sequence[Step]) -> CallRecorded | None:
        """Return what is stored of a call with a token beside its events, if these do not show all of it."""
        return None if [event.step() for event in made] == intended else CallRecorded(list(intended))

    def again(self, study: Present, record: TokenRecord, steps: Sequence[Step], token: str) -> R:
        """Answer a call whose token was used for these steps before; refuse another call's token."""
        if record.number is None:
            raise ConflictError(f"token {token!r} has asked for, or added, trials")
        if list(steps) != [event.step() for event in self.intended(study)]:
            raise ConflictError(f"token {token!r} was used for another call")
        return self.answer(study, [])

    def answer(self, study: Present, made: Sequence[Event]) -> R:
        """Return the answer, given the events that the call made."""
        return typing.cast(R, None)

    def perform(self, local: "Local", token: str | None) -> R:
        """Carry out the change once."""
        return local.change(self, token)


class Reading(Operation[R]):
    """An operation that only reads a study."""

    def perform(self, local: "Local", token: str | None) -> R:
        """Answer from what is stored."""
        return self.read(local)

    def read(self, local: "Local") -> R:
        """Return the answer. Lock the study only while its journal is read: reading all rows takes long."""
        raise NotImplementedError


C = TypeVar("C", bound=type)


@dataclass_transform(frozen_default=True)
def operation(
    role: str, name: str | None = None, key: str | None = None, into: dict[str, type[Any]] = OPERATIONS
) -> Callable[[C], C]:
    """Declare an operation of a study that needs this role; its name is that of the class, unless another is given."""

    def declare(cls: C) -> C:
        made: Any = declared(cls)
        made.role, made.key = role, key
        made.name = name or re.sub(r"(?<!^)(?=[A-Z])", "_", made.__name__).lower()
        bases = (base for one in made.__mro__ for base in vars(one).get("__orig_bases__", ()))
        answer = next(args[0] for args in map(typing.get_args, bases) if args)
        made.returns = None if answer is type(None) else answer
        into[made.name] = made
        return made

    return declare
