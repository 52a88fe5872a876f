"""How compiled functions hand each other arrays and tuples: as one argument each.

Numba makes an argument of every number and pointer inside: it takes all of them out before a call and puts them
together again behind it. A replication under way has more than a hundred. LLVM does the same by itself where a function
is not inlined, and nothing where it is. The name of a function says whether it takes its arguments whole, so those that
Numba compiles without us are called as they expect.
"""

import contextlib
import hashlib
import threading
from collections.abc import Iterator
from typing import Any

from numba.core import types
from numba.core.callconv import CPUCallConv
from numba.core.cpu import CPUContext
from numba.core.datamodel.models import PrimitiveModel
from numba.core.datamodel.packer import ArgPacker
from numba.core.targetconfig import ConfigStack
from numba.core.types.npytypes import NumPyRandomGeneratorType

from dirichlet_bandits.patches import replaced
from dirichlet_bandits.values import place_for

_Context: Any = CPUContext
_Convention: Any = CPUCallConv
_Packer: Any = ArgPacker
_Whole: Any = PrimitiveModel  # one value, as it is
_mangled = _Context.mangler
_naming = threading.local()
_TAG = ".whole"
_READABLE = 80  # characters of a name


@contextlib.contextmanager
def whole_arguments() -> Iterator[None]:
    """Let functions that are compiled meanwhile take their arguments whole."""
    with replaced(_Context, "mangler", _name):
        yield


def _name(context: Any, name: str, kinds: Any, **details: Any) -> str:
    """The symbol of a function, short: it stands at every call."""
    flags = ConfigStack.top_or_none()
    # What Numba runs in parallel or hands over as an address is called by code that knows Numba's convention only.
    if flags is None or not flags.no_cfunc_wrapper or flags.noalias:
        return str(_mangled(context, name, kinds, **details))
    spelt = f"{name} {details} {' '.join(map(str, kinds))}"
    digest = hashlib.blake2b(spelt.encode(), digest_size=16).hexdigest()
    return f"{_mangled(context, name, ())[:_READABLE]}.{digest}{_TAG}"


class WholeConvention(_Convention):  # type: ignore[misc]
    """Numba's convention, with one argument of LLVM for an array, a tuple or a generator."""

    def _get_arg_packer(self, argtypes: Any) -> Any:
        return _Packer(_Models(self.context.data_model_manager), argtypes)


class _Models:
    """What an argument looks like to LLVM."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def lookup(self, kind: Any) -> Any:
        model = self._manager.lookup(kind)
        return _Whole(self._manager, kind, model.get_value_type()) if _has_parts(kind) else model


def _has_parts(kind: Any) -> bool:
    if isinstance(kind, types.BaseTuple):  # what stands for *args may look like an array or like a structure to LLVM
        return len(kind) > 0 and not isinstance(kind, types.StarArgTuple | types.StarArgUniTuple)
    return isinstance(kind, types.Array | NumPyRandomGeneratorType)


def _teach_numba() -> None:
    """Let callers look at the name or the type of a function before they call it; all others are as they were."""
    for name in ("declare_function", "create_cpython_wrapper", "create_cfunc_wrapper", "call_unresolved"):
        setattr(_Context, name, _by_name(getattr(_Context, name)))
    _Convention.get_function_type = _type_by_name(_Convention.get_function_type)
    _Convention.decorate_function = _decorate_by_type(_Convention.decorate_function)
    _Convention.decode_arguments = _decode_by_type(_Convention.decode_arguments)
    _Convention.call_function = _call_by_type(_Convention.call_function)
    _Convention.return_status_propagate = _propagate(_Convention.return_status_propagate)


def _by_name(method: Any) -> Any:
    def declared(context: Any, place: Any, function: Any, *args: Any, **kws: Any) -> Any:
        outer = getattr(_naming, "whole", False)
        _naming.whole = getattr(function, "mangled_name", function).endswith(_TAG)
        try:
            return method(context, place, function, *args, **kws)
        finally:
            _naming.whole = outer

    return declared


def _type_by_name(method: Any) -> Any:
    def function_type(convention: Any, restype: Any, argtypes: Any) -> Any:
        whole = getattr(_naming, "whole", False)
        return method(WholeConvention(convention.context) if whole else convention, restype, argtypes)

    return function_type


def _decorate_by_type(method: Any) -> Any:
    def decorate(convention: Any, function: Any, args: Any, fe_argtypes: Any, noalias: bool = False) -> Any:
        return method(_convention_of(convention, function, fe_argtypes), function, args, fe_argtypes, noalias)

    return decorate


def _decode_by_type(method: Any) -> Any:
    def decode(convention: Any, builder: Any, argtypes: Any, function: Any) -> Any:
        return method(_convention_of(convention, function, argtypes), builder, argtypes, function)

    return decode


def _call_by_type(method: Any) -> Any:
    def call(convention: Any, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None) -> Any:
        follows = _convention_of(convention, callee, argtys)
        if attrs or getattr(builder, "may_catch", True):
            return method(follows, builder, callee, resty, argtys, args, attrs)
        # A result is not read after an error: no zeros in its place.
        result = place_for(builder, convention.get_return_type(resty).pointee)
        error = place_for(builder, callee.function_type.args[1].pointee)
        given = follows._get_arg_packer(argtys).as_arguments(builder, args)
        code = builder.call(callee, [result, error, *given])
        status = convention._get_return_status(builder, code, builder.load(error))
        return status, convention.context.get_returned_value(builder, resty, builder.load(result))

    return call


def _propagate(method: Any) -> Any:
    def propagate(convention: Any, builder: Any, status: Any) -> None:
        if getattr(builder, "may_catch", True):
            method(convention, builder, status)
        else:
            builder.store(status.excinfoptr, convention._get_excinfo_argument(builder.function))
            builder.ret(status.code)

    return propagate


def _convention_of(convention: Any, function: Any, kinds: Any) -> Any:
    """The convention that the type of a function follows."""
    if not any(map(_has_parts, kinds)):
        return convention
    whole = WholeConvention(convention.context)
    expected = whole._get_arg_packer(kinds).argument_types
    return whole if tuple(function.function_type.args[2:]) == expected else convention


_teach_numba()
