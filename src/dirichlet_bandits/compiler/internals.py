"""Check that this version of Numba has the private parts listed in the docstring of the package."""

import functools
from typing import Any, Final

import numba

from dirichlet_bandits.errors import DirichletBanditsError

FIELDS: Final = {
    "npy_rng": "bit_generator meminfo parent",
    "npy_bitgen": "parent state_address state fnptr_next_uint64 fnptr_next_uint32 fnptr_next_double bit_generator",
    "array": "meminfo parent nitems itemsize data shape strides",
}
"""The fields that ``borrowed.py`` fills, clears, or knows to be unused by compiled draws: a new one might be needed."""


@functools.cache
def check_internals() -> None:
    """Raise an error that names the first private part of Numba that is missing or has changed."""
    try:
        _check()
    except (ImportError, AttributeError, KeyError) as error:
        text = f"Numba {numba.__version__} cannot run policies ({error}): 0.63 to 0.68 are known to"
        raise DirichletBanditsError(text) from error


def _check() -> None:
    from numba.core import event
    from numba.core.caching import CompileResultCacheImpl, FunctionCache
    from numba.core.callconv import CPUCallConv
    from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
    from numba.core.compiler import CompileResult
    from numba.core.cpu import CPUContext
    from numba.core.datamodel.registry import default_manager
    from numba.core.dispatcher import Dispatcher
    from numba.core.funcdesc import FunctionDescriptor
    from numba.core.serialize import dumps  # noqa: F401
    from numba.core.types import Array, float64, npy_bitgen, npy_rng
    from numba.np.random import generator_core  # noqa: F401 - declares the fields of a generator

    used = {
        FunctionCache: "cache_path load_overload save_overload",
        CompileResultCacheImpl: "reduce rebuild check_cachable filename_base",
        CompileResult: "_reduce _rebuild entry_point",
        JITCPUCodegen: "magic_tuple",
        JITCodeLibrary: "get_pointer_to_function",
        CPUContext: "call_conv",
        CPUCallConv: "get_function_type call_function return_status_propagate",
        event: "Listener register",
        FunctionDescriptor: "llvm_func_name llvm_cfunc_wrapper_name",
        # The first sets `_cache`, and the second reads `overloads`.
        Dispatcher: "enable_caching get_compile_result typeof_pyval",
    }
    for owner, names in used.items():
        for name in names.split():
            getattr(owner, name)
    libraries: Any = JITCodeLibrary.__mro__[:-1]
    if not any("_reload_init" in kind.__init__.__code__.co_names for kind in libraries):
        raise AttributeError("JITCodeLibrary has no _reload_init")
    for struct, name in ((npy_rng, "npy_rng"), (npy_bitgen, "npy_bitgen"), (Array(float64, 1, "C"), "array")):
        if sorted(default_manager[struct]._fields) != sorted(FIELDS[name].split()):
            raise AttributeError(f"{name} has other fields than {FIELDS[name]}")
