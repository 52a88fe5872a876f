"""Classes whose fields are declared once, each with its check: operations of a study, settings, questions.

A check is data. Its words are the error in Python, over HTTP and in a command, and the help of an option; its schema is
in the OpenAPI description. This file is plain Python, so that a client needs nothing else.

    @declared
    class Reopen:
        id: Annotated[int, integer(0)]

    Reopen("x")                     raises ArgumentError: 'id' must be an integer of at least 0 (got 'x')
    Reopen.of_json({"id": 3})       is what a service receives
    Reopen(3).as_json()             is what a client sends
"""

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, NamedTuple, Self, TypeVar, dataclass_transform

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.validation import finite_number, whole_number

LARGEST_INTEGER: Final = 2**63 - 1
LARGEST_NUMBER: Final = 1e100
LONGEST_NAME: Final = 200
T = TypeVar("T")


class Nothing:
    """What is missing where a required field was not given; an error shows it as the word nothing."""

    def __repr__(self) -> str:
        return "nothing"


@dataclasses.dataclass(frozen=True, eq=False)
class Check:
    """What a field accepts: ``accept(field, value)`` returns the value to keep, or raises an :class:`ArgumentError`.

    ``read`` turns the text of a command or a query into a value, or into one item of a list, and ``write`` a value into
    JSON. A service may accept no more than ``served``.
    """

    words: str
    accept: Callable[[str, Any], Any]
    schema: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    read: Callable[[str], Any] = str
    write: Callable[[Any], Any] = dataclasses.field(default=lambda x: x)
    example: object = None
    served: int | None = None


def check_that(words: str, good: Callable[[Any], bool], **more: Any) -> Check:
    """Return a check that keeps values as they are."""

    def accept(field: str, value: Any) -> Any:
        if not good(value):
            raise ArgumentError(field, words, value)
        return value

    return Check(words, accept, **more)


def integer(low: int, high: int = LARGEST_INTEGER, *, example: int | None = None, served: int | None = None) -> Check:
    """Return a check for whole numbers, also those of NumPy.

    >>> integer(0, 9).accept("n", 10)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'n' must be an integer from 0 to 9 (got 10)
    """
    words = f"an integer of at least {low}" if high == LARGEST_INTEGER else f"an integer from {low} to {high}"

    def accept(field: str, value: Any) -> int:
        found = whole_number(field, value, low, None if high == LARGEST_INTEGER else high)
        if found > high:
            raise ArgumentError(field, words, value)
        return found

    schema = {"type": "integer", "minimum": low, "maximum": served or high}
    return Check(words, accept, schema, _read_integer, example=low if example is None else example, served=served)


def number(
    low: float = -LARGEST_NUMBER,
    high: float = LARGEST_NUMBER,
    *,
    strictly: bool = False,
    flags: bool = False,
    example: float | None = None,
) -> Check:
    """Return a check for finite numbers within two limits, or strictly between them; with ``flags``, True counts as 1.

    >>> number(0, 1, strictly=True).accept("delta", 1)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'delta' must be a number strictly between 0 and 1 (got 1)
    """
    free = (low, high) == (-LARGEST_NUMBER, LARGEST_NUMBER)
    words = f"a number strictly between {low:g} and {high:g}" if strictly else f"a number from {low:g} to {high:g}"

    def accept(field: str, value: Any) -> float:
        found = finite_number(field, value, flags)
        if not (low < found < high if strictly else low <= found <= high):
            raise ArgumentError(field, f"between {low:g} and {high:g}" if free else words, value)
        return found

    ends = ("exclusiveMinimum", "exclusiveMaximum") if strictly else ("minimum", "maximum")
    schema = {"type": "number", **dict(zip(ends, (low, high), strict=True))}
    return Check("a finite number" if free else words, accept, schema, read_number, example=example)


def _read(kind: Callable[[str], T], text: str) -> T | str:
    """Return a number, or else the text, which a check refuses or understands in another way."""
    try:
        return kind(text)
    except ValueError:
        return text


read_number: Final = functools.partial(_read, float)
_read_integer: Final = functools.partial(_read, int)


def text(longest: int = LONGEST_NAME, *, lines: bool = False, example: str | None = None) -> Check:
    """Return a check for texts that every storage can keep; with ``lines``, they may have several.

    >>> text().accept("name", "")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'name' must be a text of 1 to 200 printable characters (got '')
    """

    def good(x: Any) -> bool:
        if not isinstance(x, str) or not 0 < len(x) <= longest:
            return False
        return all(c.isprintable() or c in "\n\t" for c in x) if lines else x.isprintable() and not x.isspace()

    words = f"a text of 1 to {longest} {'' if lines else 'printable '}characters"
    schema = {"type": "string", "minLength": 1, "maxLength": longest}
    return check_that(words, good, schema=schema, example=example)


def choice(*names: str) -> Check:
    """Return a check for one of some words."""
    return check_that(one_of(names), lambda x: isinstance(x, str) and x in names, schema={"enum": list(names)})


def flag() -> Check:
    """Return a check for True or False."""
    return check_that("True or False", lambda x: isinstance(x, bool), schema={"type": "boolean"}, read=_read_flag)


def _read_flag(text: str) -> bool | str:
    return {"true": True, "false": False}.get(text.lower(), text)


def pair() -> Check:
    """Return a check for two numbers, the smaller first.

    >>> pair().accept("bounds", (1, 0))
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'bounds' must be two numbers, the smaller first (got (1, 0))
    """

    def accept(field: str, value: Any) -> tuple[float, float]:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            raise ArgumentError(field, "two numbers between which all rewards lie", value)
        low, high = (finite_number(f"{field}[{k}]", end) for k, end in enumerate(value))
        if not low < high:
            raise ArgumentError(field, "two numbers, the smaller first", value)
        return low, high

    schema = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    return Check("two numbers between which all rewards lie", accept, schema, read_number, list, [0.0, 1.0])


def sequence(
    item: Check, words: str, *, distinct: bool = False, most: int | None = None, example: Sequence[Any] = ()
) -> Check:
    """Return a check for a list, each item of which passes another check; ``most`` is the limit of a service.

    >>> sequence(text(), "a list of names", distinct=True).accept("arms", ["red", "red"])
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'arms[1]' must be different from the names before it (got 'red')
    """

    def accept(field: str, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str | Mapping) or not hasattr(value, "__iter__"):
            raise ArgumentError(field, words, value)
        items = tuple(item.accept(f"{field}[{k}]", x) for k, x in enumerate(value))
        if distinct and not items:
            raise ArgumentError(field, words, value)
        seen = set()
        for k, x in enumerate(items if distinct else ()):
            if x in seen:
                raise ArgumentError(f"{field}[{k}]", "different from the names before it", x)
            seen.add(x)
        return items

    schema: dict[str, Any] = {"type": "array", "items": dict(item.schema)}
    if distinct:
        schema |= {"minItems": 1}
    if most is not None:
        schema |= {"maxItems": most}

    def write(items: Sequence[Any]) -> list[Any]:
        return [item.write(x) for x in items]

    return Check(words, accept, schema, item.read, write, list(example) or [item.example], most)


class Field(NamedTuple):
    """A declared field: its check, what it is about, whether it may be None, and its default, if it has one."""

    check: Check
    about: str
    optional: bool
    default: Any = dataclasses.MISSING

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return self.default is dataclasses.MISSING


class Declared:
    """A class of declared fields; ``@declared`` makes it a frozen dataclass that checks what it is given."""

    fields: ClassVar[Mapping[str, Field]]

    def __post_init__(self) -> None:
        for name, field in self.fields.items():
            value = getattr(self, name)
            if value is not field.default:  # nearly always; a default has been checked
                kept = None if value is None and field.optional else field.check.accept(name, value)
                if kept is not value:
                    object.__setattr__(self, name, kept)

    @classmethod
    def of_json(cls, given: object, served: bool = True) -> Self:
        """Return the object that JSON describes; each refusal names the field."""
        if not isinstance(given, Mapping):
            raise ArgumentError("body", "a JSON object", given)
        for name, value in given.items():
            if name not in cls.fields:
                raise ArgumentError(name, f"left out: the fields are {', '.join(cls.fields)}", value)
        for name, field in cls.fields.items():
            if field.required and name not in given:
                raise ArgumentError(name, field.check.words, Nothing())
            most = field.check.served if served else None
            value = given.get(name)
            _check_no_flag(name, value, field.check.schema)
            size = len(value) if isinstance(value, Sequence | Mapping) else value
            if most is not None and isinstance(size, int) and size > most:
                expected = f"at most {most} over HTTP" + ("" if size is value else " at once")
                raise ArgumentError(name, expected, value if size is value else size)
        return cls(**given)

    def as_json(self, leave_out: str = "") -> dict[str, Any]:
        """Return the fields that differ from their defaults, as JSON, perhaps without one of them."""
        given = ((name, field, getattr(self, name)) for name, field in self.fields.items() if name != leave_out)
        return {
            name: None if value is None else field.check.write(value)
            for name, field, value in given
            if field.required or value != field.default
        }

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the fields, for the OpenAPI description."""
        described = {name: _described(field) for name, field in cls.fields.items()}
        required = [name for name, field in cls.fields.items() if field.required]
        more = {"required": required} if required else {}
        return {"type": "object", "properties": described, "additionalProperties": False, **more}


def _check_no_flag(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    """Refuse true and false as numbers of JSON; in Python, they count as 1 and 0."""
    if isinstance(value, bool) and schema.get("type") == "number":
        raise ArgumentError(name, "a number", value)
    for k, item in enumerate(value if isinstance(value, list) else ()):
        _check_no_flag(f"{name}[{k}]", item, schema.get("items", {}))


def _described(field: Field) -> dict[str, Any]:
    check = field.check
    schema: dict[str, Any] = dict(check.schema)
    if field.optional:
        schema = {"anyOf": [schema, {"type": "null"}]}
    schema["description"] = field.about
    if check.example is not None:
        schema["examples"] = [check.example]
    if not field.required and field.default is not None:
        schema["default"] = check.write(check.accept("default", field.default))
    return schema


C = TypeVar("C", bound=type)


@dataclass_transform(frozen_default=True)
def declared(cls: C) -> C:
    """Make a class a frozen dataclass of checked fields, annotated with their checks and what they are about."""
    made: Any = dataclasses.dataclass(frozen=True, repr=False)(cls)
    found = {}
    hints = typing.get_type_hints(made, include_extras=True)
    for one in dataclasses.fields(made):
        parts = list(_parts(hints[one.name]))
        marks = [mark for part in parts for mark in reversed(getattr(part, "__metadata__", ()))]
        check = next(mark for mark in marks if isinstance(mark, Check))
        words = f"{check.words[:1].upper()}{check.words[1:]}."
        about = next((mark for mark in marks if isinstance(mark, str)), words)
        found[one.name] = Field(check, about, types.NoneType in parts, one.default)
    made.fields = found
    return made


def _parts(hint: Any) -> Iterator[Any]:
    """Yield a type, and the types that an annotation or a union in it is made of."""
    yield hint
    kind = typing.get_origin(hint)
    union = kind in (typing.Union, types.UnionType)
    for part in [hint.__origin__] if kind is Annotated else typing.get_args(hint) if union else []:
        yield from _parts(part)
