"""How compiled functions call each other, with less written around every call.

Numba fills the place of a result with zeros, twice, looks for six kinds of answers after every call, and asks after an
error whether the caller is inside a ``try``: our functions have none, so an error goes where the caller's own would go.
And the name of a function spells out the types of its arguments, which takes a page for a replication under way, at
every call.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any

from llvmlite.ir import LiteralStructType, PointerType
from numba.core import types
from numba.core.callconv import RETCODE_OK, CPUCallConv, Status
from numba.core.cpu import CPUContext

from dirichlet_bandits.patches import replaced
from dirichlet_bandits.values import place_for, write

_Context: Any = CPUContext
_Convention: Any = CPUCallConv
_call, _propagate, _mangled = _Convention.call_function, _Convention.return_status_propagate, _Context.mangler
_decorated = _Convention.decorate_function
_STATUS = Status(*[None] * len(Status._fields))
_READABLE = 80  # characters of a name


@contextlib.contextmanager
def lean_calls() -> Iterator[None]:
    """Let Numba write calls down without zeros, checks and long names that nobody needs."""
    with (
        replaced(_Context, "mangler", _name),
        replaced(_Convention, "call_function", _call_directly),
        replaced(_Convention, "decorate_function", _decorate),
        replaced(_Convention, "return_status_propagate", _return_error),
        replaced(_Convention, "return_value", _return),
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
    result = place_for(builder, callee.function_type.args[0].pointee)
    error = convention._get_excinfo_argument(builder.function)  # where the caller's own would go
    given = convention.context.get_arg_packer(argtys).as_arguments(builder, args)
    _promise(convention, callee)
    code = builder.call(callee, [result, error, *given])
    if isinstance(resty, types.Optional) or any(isinstance(kind, types.Generator) for kind in argtys):
        status = convention._get_return_status(builder, code, builder.load(error))
    else:
        status = _STATUS._replace(code=code, is_error=builder.icmp_signed("!=", code, code.type(0)))
    value = builder.load(result)
    value.place = result  # it holds this value until the call is made again
    return status, convention.context.get_returned_value(builder, resty, value)


def _decorate(convention: Any, function: Any, *args: Any, **options: Any) -> None:
    """Let LLVM know what it may expect of the arguments."""
    _decorated(convention, function, *args, **options)
    _promise(convention, function)


def _promise(convention: Any, function: Any) -> None:
    """Nobody writes to a tuple that is passed by its address: what is read there once need not be read again."""
    for argument in getattr(function, "args", ())[2:]:
        if isinstance(argument.type, PointerType) and isinstance(argument.type.pointee, LiteralStructType):
            for name in convention._get_excinfo_argument(function).attributes:
                argument.add_attribute(name)
            set.add(argument.attributes, "readonly")  # llvmlite does not know it


def _return(convention: Any, builder: Any, value: Any) -> None:
    """Write the result where the caller wants it."""
    write(builder, value, convention._get_return_argument(builder.function))
    convention._return_errcode_raw(builder, RETCODE_OK)


def _return_error(convention: Any, builder: Any, status: Any) -> None:
    """Hand an error on to the caller."""
    if may_catch(builder):
        _propagate(convention, builder, status)
    else:
        builder.ret(status.code)


def may_catch(builder: Any) -> bool:
    """Whether the function that is being written down may catch errors."""
    return bool(getattr(builder, "may_catch", True))
