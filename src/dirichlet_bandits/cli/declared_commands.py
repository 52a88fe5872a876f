"""Commands whose arguments and options are the fields of a declared class: an operation, settings, a question.

The class is imported when its command is used or its help is shown, because it needs NumPy, which takes longer than
everything else. Texts are read and refused by the checks of the fields.
"""

import inspect
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.main import get_command

from dirichlet_bandits.cli.failures import NamedOptions
from dirichlet_bandits.declared import Declared, Field
from dirichlet_bandits.errors import ArgumentError

_LETTERS: Final = {"n": ["-n"]}
_WIDTH: Final = 76
_MISSING: Final[tuple[Any, ...]] = (None, False, [], ())

Function = Callable[..., None]


class DeclaredCommand(NamedOptions):
    """A command that gets its fields when it is used."""

    def complete(self) -> Any:
        """Return the command with the fields of its class."""
        function: Any = self.callback
        module, kind = function.fields_of.rsplit(".", 1)
        return with_fields(str(self.name), function.__wrapped__, getattr(import_module(module), kind))

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self.complete().make_context(info_name, args, parent, **extra)


def fields_of(kind: str) -> Callable[[Function], Function]:
    """Give a command the fields of a class, which its function receives as ``**fields``, those that are given."""

    def give(function: Function) -> Function:
        made: Any = function
        made.__signature__, made.fields_of = inspect.Signature(_own(function)), kind
        return function

    return give


def _own(function: Function) -> list[inspect.Parameter]:
    own = inspect.signature(function, eval_str=True).parameters.values()
    return [one.replace(kind=one.KEYWORD_ONLY) for one in own if one.kind != one.VAR_KEYWORD]


def with_fields(
    name: str, function: Function, kind: type[Declared], help: str | None = None, leave_out: Collection[str] = ()
) -> Any:
    """Return the command of a function, with an argument or an option for each field of a class."""
    own = {one.name: one for one in _own(function) if one.name not in leave_out}
    fields = {field: one for field, one in kind.fields.items() if field not in own and _can_be_typed(one)}

    @wraps(function)
    def call(**given: Any) -> None:
        read = {field: _read(field, one, given[field]) for field, one in fields.items() if given[field] not in _MISSING}
        function(**{key: given[key] for key in own}, **read)

    first = [own[one] for one in ("name", "file") if one in own]
    last = [one for one in own.values() if one not in first]
    made: Any = call
    made.__signature__ = inspect.Signature([*first, *(_parameter(field, one) for field, one in fields.items()), *last])
    numbers = any(one.required and one.check.schema.get("type") == "number" for one in fields.values())
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=NamedOptions, help=help, context_settings={"ignore_unknown_options": numbers})(call)
    return get_command(app)


def _values(field: Field) -> Mapping[str, Any] | None:
    """Return the schema of the values of a field that holds values by name."""
    kinds = [field.check.schema, *field.check.schema.get("anyOf", ())]
    return next((kind["additionalProperties"] for kind in kinds if "additionalProperties" in kind), None)


def _can_be_typed(field: Field) -> bool:
    """Whether a field fits into a command; lists by name come from files."""
    values = _values(field)
    return values is None or values.get("type") != "array"


def _is_pair(field: Field) -> bool:
    return field.check.schema.get("maxItems") == 2


def _is_many(field: Field) -> bool:
    return _values(field) is not None or ("items" in field.check.schema and not _is_pair(field))


def _is_argument(field: Field) -> bool:
    return field.required and "items" not in field.check.schema


def _flag(field: Field) -> str | None:
    """Return the one word that a field may have instead of its default."""
    others = [word for word in field.check.schema.get("enum", ()) if word != field.default]
    return others[0] if len(others) == 1 else None


def _option(name: str, field: Field) -> str:
    """Return the option of a field: ``--segment`` of ``segments``, because a list is one option that is repeated."""
    word = _flag(field) or name
    if _is_many(field):
        word = word.removesuffix("ies") + "y" if word.endswith("ies") else word.removesuffix("s")
    return "--" + word.replace("_", "-")


def _parameter(name: str, field: Field) -> inspect.Parameter:
    """Return the argument or option of a field, whose text the check reads."""
    kind, many = field.check.schema.get("type"), _is_many(field)
    about = field.about.removesuffix(".") + (": NAME=VALUE" if _values(field) else "") + "; repeatable" * many + "."
    hint: Any = tuple[str, str] if _is_pair(field) else list[str] if many else str
    default: Any = inspect.Parameter.empty
    if not field.required:
        hint = bool if _flag(field) else hint | None
        many_texts = [str(one) for one in field.default] if many and field.default else None
        default = False if _flag(field) else many_texts if many or field.default is None else str(field.default)
    if _is_argument(field):
        given: Any = typer.Argument(help=about, show_default=False, metavar=name.upper())
    else:
        metavar = "LOWER UPPER" if _is_pair(field) else str(kind).upper() if kind in ("integer", "number") else None
        given = typer.Option(*_LETTERS.get(name, [_option(name, field)]), help=about, metavar=metavar)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[hint, given], default=default)


def _read(name: str, field: Field, given: Any) -> Any:
    """Return the value of a field that was given as text, or as texts."""
    check, values = field.check, _values(field)
    if given is True:
        return _flag(field)
    if isinstance(given, str):
        return check.read(given)
    if values is None:
        return tuple(map(check.read, given))
    if "anyOf" in check.schema and len(given) == 1 and "=" not in given[0]:
        return check.read(given[0])
    numbers = values.get("type") == "number"  # an equals sign may be in the name of an arm, or in a text
    pairs = [word.rpartition("=") if numbers else word.partition("=") for word in given]
    if not all(sign for _, sign, _ in pairs):
        raise ArgumentError(name, f"{check.words}, each written NAME=VALUE", " ".join(given))
    return {key: check.read(value) for key, _, value in pairs}


def example(kind: type[Declared], command: Sequence[str], last: Sequence[str]) -> str:
    """Return an example of a command in its help: the required fields, and others with examples of their own."""
    parts, options = [shlex.join(command)], []
    for name, field in kind.fields.items():
        if field.check.example is None or not (field.required or field.default is None):
            continue
        texts = _texts(field, field.check.example)
        if _is_argument(field):
            parts[0] += " " + shlex.join(texts)
        elif _is_pair(field):
            options.append(shlex.join([_option(name, field), *texts]))
        else:
            options += [shlex.join([_option(name, field), text]) for text in texts]
    lines: list[str] = []
    for part in [*parts, *options, shlex.join(last)]:
        if lines and len(lines[-1]) + len(part) < _WIDTH - 3:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return "\b\nExample:\n  " + " \\\n    ".join(lines)


def _texts(field: Field, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{key}={one}" for key, one in value.items()]
    if isinstance(value, list):
        return [f"{one:g}" if isinstance(one, float) else str(one) for one in value]
    return [f"{value:g}" if isinstance(value, float) else str(value)]
