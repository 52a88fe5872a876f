"""Check whether this version of Numba has the private parts listed in the docstring of the package."""

import functools

import numba

from dirichlet_bandits.display.logs import LOGGER


@functools.cache
def supported() -> bool:
    """Whether Numba's private parts are there; log one record if they are not."""
    try:
        _check()
    except (ImportError, AttributeError) as error:
        text = "Numba %s is not known to this version (%s): everything works, but compiling takes longer"
        LOGGER.warning(text, numba.__version__, error)
        return False
    return True


def _check() -> None:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache
    from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
    from numba.core.compiler import CompileResult
    from numba.core.dispatcher import Dispatcher
    from numba.core.funcdesc import FunctionDescriptor
    from numba.core.serialize import dumps  # noqa: F401
    from numba.core.types import npy_bitgen, npy_rng  # noqa: F401
    from numba.np.random.generator_core import NumPyRandomGeneratorTypeModel, NumPyRngBitGeneratorModel  # noqa: F401

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
