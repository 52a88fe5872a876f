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

from llvmlite.binding import Linkage, parse_bitcode
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import sigutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typed_passes import NativeLowering

from dirichlet_bandits.patches import replaced

# Numba's own types say less than what is used here.
_Library: Any = JITCodeLibrary
_Dispatcher: Any = CPUDispatcher
_Context: Any = CPUContext
_Compiler: Any = _FunctionCompiler

_compiling = threading.local()


class LinkedLibrary(_Library):  # type: ignore[misc]
    """Numba's library of one function: what it calls is linked in when its machine code is asked for, not before."""

    _lent: Any = None
    _bitcode: bytes | None = None
    _linking_libraries: list[Any]
    _shared_module: Any

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

    # Whoever finds a function on the disk nearly always calls it, and hardly ever links it into another one.

    def serialize_using_object_code(self) -> Any:
        name, kind, (code, bitcode) = super().serialize_using_object_code()
        module = self._get_module_for_linking()
        defined = {value.name for value in (*module.functions, *module.global_variables) if not value.is_declaration}
        return name, kind, (code, bitcode, defined)

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, _, (code, bitcode, defined) = state
        library = codegen.create_library(name)
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        library._bitcode = bitcode
        codegen._engine._defined_symbols |= defined
        return library

    def _get_module_for_linking(self) -> Any:
        if self._bitcode is not None and self._shared_module is None:
            self._shared_module = parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()


class LeanCompiler(_Compiler):  # type: ignore[misc]
    """Numba's compiler of one function, with less to do."""

    def compile(self, args: Any, return_type: Any) -> Any:
        with _lean_compilation():
            return super().compile(args, return_type)

    def _customize_flags(self, flags: Any) -> Any:
        if _depth() > 1:
            flags.no_cpython_wrapper = True
        return flags


class LinkedDispatcher(_Dispatcher):  # type: ignore[misc]
    """Numba's dispatcher of one function: parts for its callers, or machine code if Python calls it."""

    open_cache: Callable[[], Any] | None = None
    """Where machine code is kept, if anywhere; asked for when there is something to find or to keep."""

    def __init__(self, py_func: Callable[..., Any], locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals, {**(targetoptions or {}), "nopython": True})
        self._compiler.__class__ = LeanCompiler
        self._for_python: Any = None

    def _compilation_chain_init_hook(self) -> None:
        """Numba looks for extensions again before it compiles; what is found on the disk needs none."""

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
            if self.open_cache is not None:
                self._cache, self.open_cache = self.open_cache(), None
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
        executable = _Context.get_executable

        def put_off(context: Any, library: Any, description: Any, environment: Any) -> Any:
            if _has_wrapper(library, description):
                return executable(context, library, description, environment)
            name = description.qualname.rpartition(".")[2]
            return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))

        with replaced(codegen, "_library_class", LinkedLibrary), replaced(_Context, "get_executable", put_off):
            yield


@contextlib.contextmanager
def _lean_compilation() -> Iterator[None]:
    """Let ours take the place of parts of Numba's compiler; they are imported now: what is on the disk needs none."""
    if getattr(_compiling, "lean", False):
        yield
        return
    from dirichlet_bandits.calling import lean_calls
    from dirichlet_bandits.frontend import quick_frontend
    from dirichlet_bandits.lowering import LeanLower
    from dirichlet_bandits.resolution import quick_resolution
    from dirichlet_bandits.values import whole_values

    _compiling.lean = True
    try:
        with (
            replaced(NativeLowering, "lowering_class", LeanLower),
            quick_frontend(),
            quick_resolution(),
            whole_values(),
            lean_calls(),
        ):
            yield
    finally:
        _compiling.lean = False
