"""How Numba writes arrays and tuples down for LLVM: whole, not member by member.

An array is seven numbers and pointers, a replication under way more than a hundred. Numba takes all of them apart
wherever it counts a reference, returns a value or passes it on, and puts them together again, for LLVM to find out that
nothing has changed. Here only what is needed is taken out. What a function computes is the same.

And a function gets the address of a tuple of arrays, not its members one by one, if the tuple is one of this package;
other packages' functions are called as they expect it. A value remembers where it stands in memory (``place``), if that
place holds it as long as it lives: then it is not written there again.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite.ir import LiteralStructType
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.datamodel import models
from numba.core.registry import cpu_target
from numba.core.runtime.context import NRTContext

from dirichlet_bandits.patches import replaced

_Context: Any = NRTContext
_Base: Any = BaseContext
_Boolean: Any = models.BooleanModel
_Proxy: Any = cgutils._StructProxy
_STRUCTS: list[Any] = [models.StructModel, models.UniTupleModel]
_Tuple: Any = models.TupleModel
_flat_type, _as_flat, _from_flat = _Tuple.get_argument_type, _Tuple.as_argument, _Tuple.from_argument
_PACKAGE = __name__.partition(".")[0]
OWNER = types.MemInfoPointer(types.voidptr)
_SHORT = 128  # bytes, two arrays: what is not longer stays in registers
_CONVERSIONS = ("as_data", "from_data", "as_return", "from_return")


@contextlib.contextmanager
def whole_values() -> Iterator[None]:
    """Let Numba leave arrays and tuples whole where nothing is done to their members."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(_Context, "get_meminfos", _owners))
        stack.enter_context(replaced(_Boolean, "from_data", _truth))
        stack.enter_context(replaced(_Proxy, "__init__", _in_memory(_Proxy.__init__)))
        stack.enter_context(
            replaced(_Base, "pair_first", lambda _, builder, pair, kind: builder.extract_value(pair, 0))
        )
        stack.enter_context(
            replaced(_Base, "pair_second", lambda _, builder, pair, kind: builder.extract_value(pair, 1))
        )
        for model in _STRUCTS:
            for name in _CONVERSIONS:
                stack.enter_context(replaced(model, name, _unless_equal(getattr(model, name))))
        yield


def place_for(builder: Any, kind: Any) -> Any:
    """Memory for a value that is written before it is read: Numba fills it with zeros first, twice."""
    with builder.goto_entry_block():
        return builder.alloca(kind)


def owners_in(builder: Any, model: Any, place: Any) -> list[Any]:
    """Addresses of the pointers to all owners of memory inside a tuple, an array or a generator that stands there."""
    if model.has_nrt_meminfo():
        return [place]
    found = []
    is_uniform = isinstance(model, models.UniTupleModel)
    for i, member in enumerate([model._elem_model] * model._count if is_uniform else model.inner_models()):
        if is_counted(member):
            found += owners_in(builder, member, cgutils.gep_inbounds(builder, place, 0, i))
    return found


def write(builder: Any, value: Any, place: Any) -> None:
    """Write a value to memory: a long tuple from where it stands, if it does, as LLVM would take it all apart."""
    source = getattr(value, "place", None)
    size = 0 if source is None else _size_of(value.type)
    if size > _SHORT:
        cgutils.raw_memcpy(builder, place, source, cgutils.intp_t(size), 1, align=8)
    else:
        builder.store(value, place)


def _size_of(kind: Any) -> int:
    """Bytes of a structure in memory; nothing but a structure is long."""
    if not isinstance(kind, LiteralStructType):
        return 0
    size = vars(kind).get("_size")
    if size is None:
        size = kind._size = kind.get_abi_size(cpu_target.target_context.target_data)
    return int(size)


def _in_memory(proxy: Any) -> Any:
    """A structure in memory, to look at its fields."""

    def made(self: Any, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
        if value is not None and ref is None:
            ref = place_for(builder, value.type)
        proxy(self, context, builder, value, ref)

    return made


def _owners(runtime: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
    """Type and owner of all memory inside a value; members without any are not taken out."""
    manager = runtime._context.data_model_manager
    model = manager[kind]
    place = getattr(value, "place", None)
    if place is not None and isinstance(kind, types.BaseTuple):
        return [(OWNER, builder.load(owner)) for owner in owners_in(builder, model, place)]
    found = [(kind, model.get_nrt_meminfo(builder, value))] if model.has_nrt_meminfo() else []
    for member, take in model.traverse(builder):
        if is_counted(manager[member]):
            found += _owners(runtime, builder, member, take(value))
    return found


def is_counted(model: Any) -> bool:
    """Whether a value of this kind holds memory whose references are counted."""
    known = vars(model).get("_is_counted")
    if known is None:
        known = model._is_counted = bool(model.contains_nrt_meminfo())
    return bool(known)


def _truth(model: Any, builder: Any, value: Any) -> Any:
    """A boolean from the byte in which it is stored."""
    return builder.icmp_unsigned("!=", value, value.type(0))


def _unless_equal(convert: Any) -> Any:
    """A conversion between a value in registers and in memory, if the two differ: if there is a boolean inside."""

    def converted(model: Any, builder: Any, value: Any) -> Any:
        equal = vars(model).get("_is_stored_as_it_is")
        if equal is None:
            equal = model._is_stored_as_it_is = model.get_value_type() == model.get_data_type()
        return value if equal else convert(model, builder, value)

    return converted


def _is_passed_in_memory(model: Any) -> bool:
    """Whether a function gets the address of such a tuple, not its members: if it is one of ours and holds arrays."""
    kind = getattr(model.fe_type, "instance_class", None)
    return getattr(kind, "__module__", "").partition(".")[0] == _PACKAGE and is_counted(model)


def _argument_type(model: Any) -> Any:
    """What a function gets."""
    return model.get_value_type().as_pointer() if _is_passed_in_memory(model) else _flat_type(model)


def _as_argument(model: Any, builder: Any, value: Any) -> Any:
    """The address of a tuple: of the caller's own argument, or of a place for it."""
    if not _is_passed_in_memory(model):
        return _as_flat(model, builder, value)
    place = getattr(value, "place", None)
    if place is None:
        place = place_for(builder, value.type)
        builder.store(value, place)
    return place


def _from_argument(model: Any, builder: Any, value: Any) -> Any:
    """The tuple at an address."""
    if not _is_passed_in_memory(model):
        return _from_flat(model, builder, value)
    loaded = builder.load(value)
    loaded.place = value
    return loaded


# For good, not only while we compile: whoever calls one of our functions has to know.
_Tuple.get_argument_type, _Tuple.as_argument, _Tuple.from_argument = _argument_type, _as_argument, _from_argument
