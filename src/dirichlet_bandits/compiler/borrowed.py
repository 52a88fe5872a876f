"""Give compiled code arrays and random generators that it does not own.

Numba counts a reference whenever compiled code passes an array on or takes it out of a tuple. For a state and a run
with about thirty arrays, that costs as much as a duel. References to an array without an owner are not counted.

When a generator is an argument of a compiled function, or an array or a NamedTuple is its result, Numba runs Python
code between the caller and the function. This takes one to four microseconds for each of them. If a signal handler
raises an exception in that code, Numba does not notice it, and the process may end. Arrays and NamedTuples as
arguments, and numbers as results, have neither problem. So code that the main thread calls for each decision writes its
results to arrays that it is given, and is lent a generator by the addresses of its functions.
"""

import ctypes
from typing import Any, cast

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from dirichlet_bandits.types import Words

_PARTS = ("state_address", "state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double")


def _borrowed(typing_context: Any, value: Any) -> Any:
    """Return the same arrays, generators or tuples of them, without an owner.

    Use it in compiled code only, and only for arguments of the function that calls it, whose caller owns them until it
    returns: Numba frees a local variable after its last use, which may come before the borrowed value is used.
    """

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _without_owner(context, builder, signature.return_type, args[0])

    return value(value), lower


borrowed = cast(Any, intrinsic(_borrowed))


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        members: Any = enumerate(cast(Any, kind))
        parts = [_without_owner(context, builder, member, builder.extract_value(value, i)) for i, member in members]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array | type(types.npy_rng)):
        fields = context.make_helper(builder, kind, value=value)
        fields.meminfo = fields.meminfo.type(None)
        return fields._getvalue()
    return value


def lent(rng: np.random.Generator) -> Words:
    """Return what compiled code passes to :func:`lent_generator`; it is valid as long as the generator exists."""
    bits = rng.bit_generator.ctypes
    steps = (bits.next_uint64, bits.next_uint32, bits.next_double)
    functions = [ctypes.cast(step, ctypes.c_void_p).value or 0 for step in steps]
    return np.array([bits.state_address, bits.state.value, *functions], np.uint64)


def lent_generator(given: Any) -> Any:
    """Return the generator that was :func:`lent`, or a generator itself; only for compiled code."""
    raise TypeError("this function can be called by compiled code only")


@overload(lent_generator, strict=False)
def _lent_generator(given: Any) -> Any:
    if isinstance(given, types.Array):
        at: Any = _at  # which takes one argument more in its own code
        return lambda given: at(given[0], given[1], given[2], given[3], given[4])
    return lambda given: given


@intrinsic
def _at(
    typing_context: Any, state_address: Any, state: Any, next_uint64: Any, next_uint32: Any, next_double: Any
) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = cgutils.create_struct_proxy(types.npy_bitgen)(context, builder)
        for name, value in zip(_PARTS, args, strict=True):
            setattr(bits, name, value)
        rng = cgutils.create_struct_proxy(types.npy_rng)(context, builder)  # without an object whose references count
        rng.bit_generator = bits._getvalue()
        return rng._getvalue()

    return types.npy_rng(*[types.uint64] * len(_PARTS)), build
