"""From TOML to an :class:`Experiment`: every key is checked before anything is computed.

A message names the file and the path of the key, for instance ``arms[1].std``.
"""

import inspect
import tomllib
from collections.abc import Callable, Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from dirichlet_bandits import arms as laws
from dirichlet_bandits.arms import Bandit, Law
from dirichlet_bandits.errors import ArgumentError, FormatError, one_of
from dirichlet_bandits.experiments.experiment import Experiment, PlotSettings
from dirichlet_bandits.policies import POLICIES, Policy

LAWS: dict[str, type[Law]] = {
    name: law for name, law in vars(laws).items() if isinstance(law, type) and issubclass(law, Law) and law is not Law
}
_SCALE = ("horizon", "replications", "seed")
_TOP = ("title", *_SCALE, "arms", "policies", "plot")
_PLOT = tuple(PlotSettings.__dataclass_fields__)

T = TypeVar("T")


def read(path: str | PathLike[str]) -> Experiment:
    """Read and check an experiment; without a ``title`` it is called like its file.

    >>> read("no-such-file.toml")
    Traceback (most recent call last):
    FileNotFoundError: no experiment at 'no-such-file.toml'
    """
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"no experiment at {str(path)!r}")
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not a TOML file: {error}") from error
    return parse(text, source=str(path))


def parse(text: str, source: str = "experiment.toml") -> Experiment:
    """The experiment that a TOML text describes; ``source`` is the file name that messages show.

    >>> parse("horizon = 100")
    Traceback (most recent call last):
    dirichlet_bandits.errors.FormatError: experiment.toml: 'replications' is missing
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{source}: not a TOML file: {error}") from error
    try:
        return _experiment(content, default_title=Path(source).stem)
    except (ArgumentError, _Wrong) as error:
        raise FormatError(f"{source}: {error}") from error


class _Wrong(Exception):  # noqa: N818 - never leaves this file
    """A key is missing, unknown or does not fit."""


def _experiment(content: Mapping[str, Any], default_title: str) -> Experiment:
    _only_known("", content, _TOP)
    for key in (*_SCALE, "arms", "policies"):
        if key not in content:
            raise _Wrong(f"'{key}' is missing")
    bandit = _bandit(_tables(content, "arms", "law"))
    policies = _policies(_tables(content, "policies", "policy"))
    plot = content.get("plot", {})
    if not isinstance(plot, dict):
        raise ArgumentError("plot", "a table, written [plot]", plot)
    _only_known("plot.", plot, _PLOT)
    return Experiment(
        title=content.get("title", default_title),
        bandit=bandit,
        policies=policies,
        plot=_under("plot", lambda: PlotSettings(**plot)),
        **{key: content[key] for key in _SCALE},
    )


def _bandit(tables: list[dict[str, Any]]) -> Bandit:
    if len(tables) < 2:
        raise _Wrong(f"'arms' must be at least two tables [[arms]] (got {len(tables)})")
    chosen = [_make(f"arms[{k}]", "law", LAWS, table) for k, table in enumerate(tables)]
    names = _names("arms", tables, [f"arm {k}" for k in range(len(tables))])
    return Bandit(chosen, names)


def _policies(tables: list[dict[str, Any]]) -> dict[str, Policy]:
    if not tables:
        raise _Wrong("'policies' must be at least one table [[policies]] (got 0)")
    chosen = [_make(f"policies[{k}]", "policy", POLICIES, table) for k, table in enumerate(tables)]
    classes = [type(policy).__name__ for policy in chosen]
    # A class that comes twice is told apart by its parameters.
    defaults = [
        name if classes.count(name) == 1 else repr(policy) for name, policy in zip(classes, chosen, strict=True)
    ]
    return dict(zip(_names("policies", tables, defaults), chosen, strict=True))


def _tables(content: Mapping[str, Any], key: str, kind: str) -> list[dict[str, Any]]:
    tables = content[key]
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ArgumentError(key, f"tables written [[{key}]], each with its {kind}", tables)
    return tables


def _make(where: str, kind: str, known: Mapping[str, type[T]], table: Mapping[str, Any]) -> T:
    """The law or policy that a table names, given the table's other keys as parameters."""
    if kind not in table:
        raise _Wrong(f"'{where}.{kind}' is missing: {one_of(known)}")
    if not isinstance(table[kind], str) or table[kind] not in known:
        raise ArgumentError(f"{where}.{kind}", one_of(known), table[kind])
    made = known[table[kind]]
    parameters = {key: value for key, value in table.items() if key not in ("name", kind)}
    signature = inspect.signature(made).parameters
    for key in parameters:
        if key not in signature:
            has = ", ".join(signature) if signature else "none"
            raise _Wrong(f"'{where}.{key}' is not a parameter of {table[kind]} (its parameters: {has})")
    for key, parameter in signature.items():
        if parameter.default is parameter.empty and key not in parameters:
            raise _Wrong(f"'{where}.{key}' is missing: {table[kind]} needs it")
    try:
        return _under(where, lambda: made(**parameters))
    except TypeError as error:  # a value of a type that the class did not foresee, such as a list for a word
        raise _Wrong(f"'{where}' does not fit {table[kind]}: {error}") from error


def _names(where: str, tables: list[dict[str, Any]], defaults: list[str]) -> list[str]:
    names: list[str] = []
    for k, (table, default) in enumerate(zip(tables, defaults, strict=True)):
        name = table.get("name", default)
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"{where}[{k}].name", "a text that is not empty", name)
        if name in names:
            raise ArgumentError(f"{where}[{k}].name", "different from the names before it", name)
        names.append(name)
    return names


def _only_known(prefix: str, table: Mapping[str, Any], known: Collection[str]) -> None:
    for key in table:
        if key not in known:
            raise _Wrong(f"'{prefix}{key}' is not a key of an experiment (known here: {', '.join(known)})")


def _under(where: str, make: Callable[[], T]) -> T:
    """Let an argument that is refused be called by its path in the file."""
    try:
        return make()
    except ArgumentError as error:
        name, expected, got = error.args
        raise ArgumentError(f"{where}.{name}", expected, got) from error
