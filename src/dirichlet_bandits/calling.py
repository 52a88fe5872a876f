"""How compiled functions call each other, with less written around every call.

Numba fills the place of a result with zeros, twice, and asks after an error whether the caller is inside a ``try``: our
functions have none. And the name of a function spells out the types of its arguments, which takes a page for a
replication under way, at every call.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any

from numba.core.callconv import CPUCallConv
from numba.core.cpu import CPUContext

from dirichlet_bandits.patches import replaced
from dirichlet_bandits.values import place_for

_Context: Any = CPUContext
_Convention: Any = CPUCallConv
_call, _propagate, _mangled = _Convention.call_function, _Convention.return_status_propagate, _Context.mangler
_READABLE = 80  # characters of a name


@contextlib.contextmanager
def lean_calls() -> Iterator[None]:
    """Let Numba write calls down without zeros, checks and long names that nobody needs."""
    with (
        replaced(_Context, "mangler", _name),
        replaced(_Convention, "call_function", _call_directly),
        replaced(_Convention, "return_status_propagate", _return_error),
    ):
        yield


def _name(context: Any, name: str, kinds: Any, **details: Any) -> str:
    """The symbol of a function: as much of its name as one can read, and a hash of all of it."""
    spelt = f"{name} {details} {' '.join(map(str, kinds))}"
    return f"{_mangled(context, name, ())[:_READABLE]}.{hashlib.blake2b(spelt.encode(), digest_size=16).hexdigest()}"


def _call_directly(
    convention: Any, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None
) -> Any:
    """Call a function; nobody reads its result after an error, where no error is caught."""
    if attrs or may_catch(builder):
        return _call(convention, builder, callee, resty, argtys, args, attrs)
    kinds = callee.function_type.args
    result, error = place_for(builder, kinds[0].pointee), place_for(builder, kinds[1].pointee)
    given = convention.context.get_arg_packer(argtys).as_arguments(builder, args)
    code = builder.call(callee, [result, error, *given])
    status = convention._get_return_status(builder, code, builder.load(error))
    return status, convention.context.get_returned_value(builder, resty, builder.load(result))


def _return_error(convention: Any, builder: Any, status: Any) -> None:
    """Hand an error on to the caller."""
    if may_catch(builder):
        _propagate(convention, builder, status)
    else:
        builder.store(status.excinfoptr, convention._get_excinfo_argument(builder.function))
        builder.ret(status.code)


def may_catch(builder: Any) -> bool:
    """Whether the function that is being written down may catch errors."""
    return bool(getattr(builder, "may_catch", True))
