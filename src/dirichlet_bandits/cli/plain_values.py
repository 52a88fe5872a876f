"""Values of the command line that are what they should be, or that Python itself converts: without Pydantic.

Newer Typers import it to convert any value, also a text or a default. That takes a tenth of the time of a short
command, and a third of that of a Tab. Older Typers do not, and nothing is changed in them.
"""

from typing import Any

import typer.core

_CONVERTED = (int, float)


class PlainValue:
    """A parameter's conversion: Python's where the parameter is a plain text or number, else Typer's."""

    def __init__(self, parameter: Any, by_typer: Any) -> None:
        self._parameter = parameter
        self._by_typer = by_typer

    def coerce(self, value: Any, **where: Any) -> Any:
        """The value as the command gets it."""
        if value is None:
            return () if self._parameter.multiple or self._parameter.nargs == -1 else None
        kind, info = self._parameter.type_descriptor.annotation, self._parameter.type_descriptor.parameter_info
        if info.parser is None and kind in (str, *_CONVERTED):
            if type(value) is kind:
                return value
            bounded = info.min is not None or info.max is not None
            if kind in _CONVERTED and isinstance(value, str) and value.isascii() and not bounded:
                try:
                    return kind(value)
                except ValueError:
                    pass  # Typer's own words, or a spelling that it knows
        return self._by_typer(self._parameter).coerce(value, **where)


def convert_plainly() -> None:
    """Let all commands of this process convert plain values by themselves."""
    parameters: Any = getattr(typer.core, "_TyperParameter", None)
    by_typer = getattr(parameters, "get_runtime_param", None)
    if by_typer is not None:
        parameters.get_runtime_param = lambda parameter: PlainValue(parameter, by_typer)
