"""Compiled functions whose machine code is made once, for what Python calls: callees are linked in, not emitted.

Numba optimises and emits every function by itself as soon as one that calls it is compiled, links it into its caller,
optimises and emits all of it there once more, and so on upwards; and it makes a wrapper for calls from Python that
nobody uses. Here a callee stays as Numba wrote it down until the outermost function is compiled: all are linked once,
optimised together and emitted. This halves the time to compile, and nothing else changes.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from llvmlite.binding import Linkage
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import sigutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typed_passes import NativeLowering

from dirichlet_bandits.calling import lean_calls
from dirichlet_bandits.frontend import quick_frontend
from dirichlet_bandits.lowering import LeanLower
from dirichlet_bandits.resolution import quick_resolution
from dirichlet_bandits.values import whole_values

# Numba's own types say less than what is used here.
_Library: Any = JITCodeLibrary
_Dispatcher: Any = CPUDispatcher
_Context: Any = CPUContext
_Lowering: Any = NativeLowering

_compiling = threading.local()


class LinkedLibrary(_Library):  # type: ignore[misc]
    """Numba's library of one function: what it calls is linked in when its machine code is asked for, not before."""

    _lent: Any = None
    _linking_libraries: list[Any]

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def add_linking_library(self, library: Any) -> None:
        self._reload_init.update(library._reload_init)
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        found, waiting = {self}, [self]
        while waiting:
            for callee in waiting.pop()._linking_libraries:
                if callee not in found:
                    found.add(callee)
                    parts = isinstance(callee, LinkedLibrary) and not callee._finalized
                    self._final_module.link_in(callee._parts() if parts else callee._get_module_for_linking(), True)
                    waiting += [callee] if parts else []
        self._linking_libraries = []
        super().finalize()

    def _parts(self) -> Any:
        """The function itself, without its callees, to be linked into any number of callers."""
        if self._lent is None:
            self._lent = self._final_module.clone()
            for function in self._lent.functions:
                if not function.is_declaration and function.linkage == Linkage.external:
                    function.linkage = Linkage.linkonce_odr
        return self._lent


class LinkedDispatcher(_Dispatcher):  # type: ignore[misc]
    """Numba's dispatcher of one function: parts for its callers, or machine code if Python calls it."""

    def __init__(self, py_func: Callable[..., Any], locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals, {**(targetoptions or {}), "nopython": True})
        self._compiler._customize_flags = _without_wrappers_inside
        self._for_python: Any = None

    def compile(self, sig: Any) -> Any:
        """Compile for these types of arguments."""
        args, _ = sigutils.normalize_signature(sig)
        made = self.overloads.get(tuple(args))
        if _depth() == 0 and made is not None and not _has_wrapper(made.library, made.fndesc):
            # So far it was compiled for its callers only.
            if self._for_python is None:
                self._for_python = LinkedDispatcher(self.py_func, self.locals, self.targetoptions)
            entry = self._for_python.compile(sig)
            self._insert([kind._code for kind in args], entry, False)
            return entry
        with _emitting_once():
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What callers need: one version for all constants."""
        return super().get_call_template(
            tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
        )

    def add_overload(self, made: Any) -> None:
        """Take note of what has been compiled; Python may call it if it was compiled for Python."""
        if _has_wrapper(made.library, made.fndesc):
            super().add_overload(made)
        else:
            self.overloads[tuple(made.signature.args)] = made


def _has_wrapper(library: Any, description: Any) -> bool:
    """Whether Python can call the function."""
    name = description.llvm_cpython_wrapper_name
    if library._finalized:  # also one that was found on the disk
        return bool(library.codegen._engine.is_symbol_defined(name))
    try:
        return library._final_module.get_function(name) is not None
    except NameError:
        return False


def _depth() -> int:
    """How many functions are being compiled, each because the one before calls it."""
    return getattr(_compiling, "depth", 0)


def _without_wrappers_inside(flags: Any) -> Any:
    if _depth() > 1:
        flags.no_cpython_wrapper = True
    return flags


@contextlib.contextmanager
def _emitting_once() -> Iterator[None]:
    """While one of our functions is compiled let Numba put off machine code, also that of its own functions."""
    depth = _depth()
    _compiling.depth = depth + 1
    try:
        with contextlib.nullcontext() if depth else _linked_libraries():
            yield
    finally:
        _compiling.depth = depth


@contextlib.contextmanager
def _linked_libraries() -> Iterator[None]:
    with global_compiler_lock:
        codegen: Any = cpu_target.target_context.codegen()
        executable, lowering_class = _Context.get_executable, _Lowering.lowering_class

        def put_off(context: Any, library: Any, description: Any, environment: Any) -> Any:
            if _has_wrapper(library, description):
                return executable(context, library, description, environment)
            name = description.qualname.rpartition(".")[2]
            return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))

        codegen._library_class, _Context.get_executable = LinkedLibrary, put_off
        _Lowering.lowering_class = LeanLower
        try:
            with quick_frontend(), quick_resolution(), whole_values(), lean_calls():
                yield
        finally:
            del codegen._library_class
            _Context.get_executable, _Lowering.lowering_class = executable, lowering_class
