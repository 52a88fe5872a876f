"""Objects that are written as text, ``SlidingWindow(NPTS(upper=1), window=100)``, or as tables of a file.

Nothing is executed: a text is read by Python's grammar, and only classes that the caller names are made.
"""

import ast
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

from dirichlet_bandits.errors import ArgumentError, name_of, one_of

P = ParamSpec("P")
T = TypeVar("T")
Known = Mapping[str, Any]
"""Classes, or functions that make objects, by the names that a text may use."""

LONGEST: Final = 200
"""The most characters of a text from which an object is made."""

_DEEPEST: Final = 20
_MANY: Final = 16
"""If there are more names than this, an error suggests the most similar ones instead of listing all."""


class FieldError(ValueError):
    """A key of a table is missing, unknown or invalid; who reads the file turns this into an error that names it."""


class Call(NamedTuple):
    """A class and its arguments, as they are written; an argument may be another call."""

    name: str
    positional: tuple[Any, ...]
    named: dict[str, Any]

    def values(self) -> list[Any]:
        """Return all arguments, in order."""
        return [*self.positional, *self.named.values()]


def parse(text: str) -> Call:
    """Read a class and its arguments, which are literals or other calls; raise ValueError if the text is not a call.

    >>> parse("UCB1(sigma=0.5)")
    Call(name='UCB1', positional=(), named={'sigma': 0.5})
    >>> parse("UCB1(sigma=0.5) + 1")
    Traceback (most recent call last):
    ValueError: ; see character 1
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if _depth(tree) > _DEEPEST:
            raise ValueError(", not nested so deeply")
    except SyntaxError as error:
        raise ValueError(f"; see character {error.offset}") from None
    except (RecursionError, MemoryError):
        raise ValueError(", not nested so deeply") from None
    return _call(tree)


def _depth(node: ast.AST) -> int:
    return 1 + max(map(_depth, ast.iter_child_nodes(node)), default=0)


def _call(node: ast.expr) -> Call:
    """Return a call, or the name of a class alone."""
    name = node.func if isinstance(node, ast.Call) else node
    if not isinstance(name, ast.Name):
        raise ValueError(f"; see character {node.col_offset + 1}")
    if not isinstance(node, ast.Call):
        return Call(name.id, (), {})
    named = {str(key.arg): _value(key.value) for key in node.keywords}
    if len(named) < len(node.keywords):
        raise ValueError(", with each parameter once")
    return Call(name.id, tuple(map(_value, node.args)), named)


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call | ast.Name):
        return _call(node)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise ValueError(f"; see character {node.col_offset + 1}") from None


@dataclass(frozen=True)
class Language:
    """Texts that describe one kind of object.

    ``known`` are the classes that a text may name, and ``parts`` those that it may name only as arguments. Errors call
    the object ``expected``, and an unknown name the name of ``what``.
    """

    expected: str
    known: Known
    what: str | None = None
    parts: Known = field(default_factory=dict)

    def parse(self, text: str, where: str) -> Call:
        """Read a text without making anything; errors name the argument ``where``."""
        if len(text) > LONGEST:
            raise ArgumentError(where, f"{self.expected}, in at most {LONGEST} characters", text[:LONGEST] + "...")
        try:
            return parse(text)
        except ValueError as error:
            raise ArgumentError(where, f"{self.expected}{error}", text) from None

    def from_text(self, text: str, where: str) -> Any:
        """Return the object that a text describes.

        >>> complexes = Language("a number such as complex(1, 2)", {"complex": complex}, what="a number")
        >>> complexes.from_text("complex(1, imag=2)", "z")
        (1+2j)
        >>> complexes.from_text("complx(1)", "z")
        Traceback (most recent call last):
        dirichlet_bandits.errors.ArgumentError: 'z' must be the name of a number; did you mean 'complex'? \
(got 'complx(1)')
        >>> complexes.from_text("complex(1", "z")
        Traceback (most recent call last):
        dirichlet_bandits.errors.ArgumentError: 'z' must be a number such as complex(1, 2); see character 8 \
(got 'complex(1')
        """
        return self._made(self.parse(text, where), text, where)

    def to_text(self, made: object, where: str) -> str:
        """Return the text from which :meth:`from_text` makes an equal object; refuse an object that has none."""
        text = repr(made)
        try:
            same = self.from_text(text, where) == made
        except ArgumentError:
            same = False
        if not same:
            raise ArgumentError(where, f"{self.what} of this library, written in at most {LONGEST} characters", made)
        return text

    def _made(self, call: Call, text: str, where: str, nested: bool = False) -> Any:
        maker = self.known.get(call.name) or (self.parts.get(call.name) if nested else None)
        if maker is None:
            expected = self.expected if self.what is None else name_of(self.what, self.known, call.name)
            raise ArgumentError(where, expected, text)
        values = [self._made(x, text, where, True) if isinstance(x, Call) else x for x in call.values()]
        positional = values[: len(call.positional)]
        named = dict(zip(call.named, values[len(positional) :], strict=True))
        missing = _missing(maker, named, len(positional))
        if missing and named.keys() <= inspect.signature(maker).parameters.keys():
            shown = ", ".join(f"{key}=..." for key in missing)
            raise ArgumentError(where, f"given with {' and '.join(missing)}: {call.name}({shown})", text)
        try:
            return under(call.name, maker, *positional, **named)  # 'SlidingWindow.window': studies have a window too
        except TypeError as error:
            raise ArgumentError(where, f"{self.expected} ({error})", text) from None


def one_table(content: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """Return the table ``[key]``, or None if it is missing."""
    table = content.get(key)
    if table is not None and not isinstance(table, dict):
        raise ArgumentError(key, f"a table, written [{key}]", table)
    return table


def choose(where: str, kind: str, known: Mapping[str, Callable[..., T]], table: Mapping[str, Any]) -> T:
    """Make what ``table[kind]`` names, with the table's other keys as parameters, except "name".

    >>> choose("z", "number", {"complex": complex}, {"number": "complex", "real": 1, "imag": 2})
    (1+2j)
    """
    maker = chosen(where, kind, known, table)
    parameters = {key: value for key, value in table.items() if key not in ("name", kind)}
    return make(where, maker, parameters, called=table[kind])


def chosen(where: str, kind: str, known: Mapping[str, T], table: Mapping[str, Any]) -> T:
    """Return the class that ``table[kind]`` names."""
    if kind not in table:
        raise FieldError(f"'{where}.{kind}' is missing: {one_of(known)}")
    if not isinstance(table[kind], str) or table[kind] not in known:
        expected = one_of(known) if len(known) <= _MANY else name_of(f"a {kind}", known, table[kind])
        raise ArgumentError(f"{where}.{kind}", expected, table[kind])
    return known[table[kind]]


def make(where: str, maker: Callable[..., T], parameters: Mapping[str, Any], called: str) -> T:
    """Call ``maker`` after checking that no parameter is unknown or missing."""
    known = inspect.signature(maker).parameters
    for key in parameters:
        if key not in known:
            raise FieldError(
                f"'{where}.{key}' is not a parameter of {called} (its parameters: {', '.join(known) or 'none'})"
            )
    for key in _missing(maker, parameters):
        raise FieldError(f"'{where}.{key}' is missing: {called} needs it")
    try:
        return under(where, maker, **parameters)
    except TypeError as error:  # a value of a type that the class does not expect, such as a list for a word
        raise FieldError(f"'{where}' does not fit {called}: {error}") from error


def _missing(maker: Callable[..., object], given: Mapping[str, Any], positional: int = 0) -> list[str]:
    """Return the parameters that have no default and are not given."""
    parameters = list(inspect.signature(maker).parameters.items())[positional:]
    return [key for key, parameter in parameters if parameter.default is parameter.empty and key not in given]


def under(where: str, act: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call ``act``, and let its argument errors name the path to what it makes."""
    try:
        return act(*args, **kwargs)
    except ArgumentError as error:
        name, expected, got = error.args
        raise ArgumentError(f"{where}.{name}", expected, got) from error


def name_list(name: str, value: object, known: Collection[str] | None = None) -> list[str]:
    """Return the value if it is a list of known names, else raise an error.

    >>> name_list("policies", ["RDS", "RSD"], known=["RDS", "BDS"])
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'policies' must be made of 'RDS', 'BDS' (got 'RSD')
    """
    if not isinstance(value, list | tuple) or not value or not all(isinstance(entry, str) for entry in value):
        raise ArgumentError(name, "a list of names", value)
    for entry in value:
        if known is not None and entry not in known:
            raise ArgumentError(name, "made of " + one_of(known).removeprefix("one of "), entry)
    return list(value)


def check_keys(
    table: Mapping[str, Any], known: Collection[str], needed: Collection[str] = (), prefix: str = ""
) -> None:
    """Refuse keys that are not known, and a table that lacks a key that it needs."""
    for key in table:
        if key not in known:
            raise FieldError(f"'{prefix}{key}' is not a key of an experiment (known here: {', '.join(known)})")
    for key in needed:
        if key not in table:
            raise FieldError(f"'{prefix}{key}' is missing")


def all_tables(content: Mapping[str, Any], key: str, kind: str) -> list[dict[str, Any]]:
    """Return the tables ``[[key]]``, each of which describes a ``kind``."""
    found = content.get(key, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise ArgumentError(key, f"tables written [[{key}]], each with its {kind}", found)
    return found


def table_names(where: str, given: list[dict[str, Any]], defaults: list[str]) -> list[str]:
    """Return the names of tables, all different."""
    found: list[str] = []
    for k, (table, default) in enumerate(zip(given, defaults, strict=True)):
        name = table.get("name", default)
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"{where}[{k}].name", "a text that is not empty", name)
        if name in found:
            raise ArgumentError(f"{where}[{k}].name", "different from the names before it", name)
        found.append(name)
    return found


def make_all(content: Mapping[str, Any], key: str, kind: str, maker: Callable[..., T], called: str) -> tuple[T, ...]:
    """Make an object from each of the tables ``[[key]]``."""
    given = all_tables(content, key, kind)
    return tuple(make(f"{key}[{k}]", maker, table, called=called) for k, table in enumerate(given))
