"""Whether this version of Numba has the private parts that we use beyond its public interface."""

import functools

import numba

from dirichlet_bandits.logs import LOGGER


@functools.cache
def supported() -> bool:
    """Whether Numba provides what the package's docstring lists; one log record if it does not."""
    try:
        _check()
    except (ImportError, AttributeError, TypeError) as error:
        LOGGER.warning(
            "Numba %s is not known to this version (%s): everything works, but compiling takes longer",
            numba.__version__,
            error,
        )
        return False
    return True


def _check() -> None:
    """Look at every private name that ``cache.py`` and ``calls.py`` use; AttributeError if one is missing."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _Cache
    from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
    from numba.core.compiler import CompileResult
    from numba.core.funcdesc import FunctionDescriptor
    from numba.core.serialize import dumps

    for owner, names in (
        (FunctionCache, ("cache_path",)),
        (CompileResultCacheImpl, ("reduce", "rebuild", "check_cachable", "filename_base")),
        (_Cache, ("load_overload", "save_overload")),
        (CompileResult, ("_reduce", "_rebuild")),
        (JITCPUCodegen, ("magic_tuple",)),
        (JITCodeLibrary, ("get_pointer_to_function",)),
        (FunctionDescriptor, ("llvm_func_name", "llvm_cfunc_wrapper_name")),
    ):
        for name in names:
            getattr(owner, name)
    pickled, probe = dumps(None), numba.njit(_check)
    if not isinstance(probe._cache, NullCache) or not isinstance(pickled, bytes):
        raise TypeError("a dispatcher's cache")
