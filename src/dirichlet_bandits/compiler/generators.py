"""Give compiled code a random generator by the addresses of its functions.

When a generator is an argument of a compiled function, or an array or a NamedTuple is its result, Numba runs Python
code between the caller and the function. This takes one to four microseconds for each of them. If a signal handler
raises an exception in that code, Numba does not notice it, and the process may end. Arrays and NamedTuples as
arguments, and numbers as results, have neither problem. So code that the main thread calls for each decision writes its
results to arrays that it is given, and borrows a generator.
"""

import ctypes
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from dirichlet_bandits.compiler.internals import supported
from dirichlet_bandits.types import Words

_PARTS = ("state_address", "state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double")


def lent(rng: np.random.Generator) -> Words | np.random.Generator:
    """Return what compiled code passes to :func:`borrowed_generator`; it is valid as long as the generator exists.

    With a version of Numba that is not known, it is the generator itself.
    """
    if not supported():
        return rng
    bits = rng.bit_generator.ctypes
    steps = (bits.next_uint64, bits.next_uint32, bits.next_double)
    functions = [ctypes.cast(step, ctypes.c_void_p).value or 0 for step in steps]
    return np.array([bits.state_address, bits.state.value, *functions], np.uint64)


def borrowed_generator(given: Any) -> Any:
    """Return the generator that was :func:`lent`; only for compiled code."""
    raise TypeError("this function can be called by compiled code only")


@overload(borrowed_generator, strict=False)
def _borrowed(given: Any) -> Any:
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
