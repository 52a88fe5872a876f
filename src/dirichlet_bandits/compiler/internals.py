"""Check whether this version of Numba has the private parts listed in the docstring of the package."""

import functools
from typing import Final

import numba

from dirichlet_bandits.display.logs import LOGGER

RNG_FIELDS: Final = ("bit_generator", "meminfo", "parent")
BITGEN_FIELDS: Final = (
    "parent",
    "state_address",
    "state",
    "fnptr_next_uint64",
    "fnptr_next_uint32",
    "fnptr_next_double",
    "bit_generator",
)
"""The fields that ``generators.py`` fills or knows to be unused by compiled draws: a new one might be needed."""


@functools.cache
def supported() -> bool:
    """Whether Numba's private parts are there; log one record if they are not."""
    try:
        _check()
    except (ImportError, AttributeError, KeyError) as error:
        text = "Numba %s is not known to this version (%s): everything works, but compiling takes longer"
        LOGGER.warning(text, numba.__version__, error)
        return False
    return True


def _check() -> None:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache
    from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
    from numba.core.compiler import CompileResult
    from numba.core.datamodel.registry import default_manager
    from numba.core.dispatcher import Dispatcher
    from numba.core.funcdesc import FunctionDescriptor
    from numba.core.serialize import dumps  # noqa: F401
    from numba.core.types import npy_bitgen, npy_rng
    from numba.np.random import generator_core  # noqa: F401 - declares their fields

    used = {
        FunctionCache: "cache_path load_overload save_overload",
        CompileResultCacheImpl: "reduce rebuild check_cachable filename_base",
        CompileResult: "_reduce _rebuild entry_point",
        JITCPUCodegen: "magic_tuple",
        JITCodeLibrary: "get_pointer_to_function",
        FunctionDescriptor: "llvm_func_name llvm_cfunc_wrapper_name",
        # The first sets `_cache`, and the second reads `overloads`.
        Dispatcher: "enable_caching get_compile_result typeof_pyval",
    }
    for owner, names in used.items():
        for name in names.split():
            getattr(owner, name)
    fields = {npy_rng: RNG_FIELDS, npy_bitgen: BITGEN_FIELDS}
    for struct, known in fields.items():
        if sorted(default_manager[struct]._fields) != sorted(known):
            raise AttributeError(f"{struct} has other fields than {', '.join(known)}")
