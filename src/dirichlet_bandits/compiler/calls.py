"""Calls by address: large functions compiled once for all callers, and functions chosen at run time."""

import functools
import hashlib
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar, cast

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable

from dirichlet_bandits.compiler.cache import classes_in, spelled
from dirichlet_bandits.compiler.decorators import Compiled, named_entry_point

P = ParamSpec("P")
R = TypeVar("R")


def shared(function: Callable[P, R], sources_of: Callable[[Any], Iterable[str]] = lambda kinds: ()) -> Callable[P, R]:
    """Compile a function once for all callers, keep the compiled code on disk, and call it by its address.

    Numba compiles a function decorated by :func:`jit` again into each caller, and all of it again into their callers.
    Use this decorator for functions that are large and called once per event, not once per pull: a call costs two
    nanoseconds, and nothing is inlined. ``sources_of(kinds)`` names files that the code for arguments of these types
    comes from, if the function's own file does not import them.
    """
    return cast(Callable[P, R], Shared(function, lambda kinds: function, sources_of))


class Shared(Compiled):
    """A compiled function that its callers find by the name of a symbol.

    ``find(kinds)`` returns the Python function to compile for arguments of these types.
    """

    def __init__(self, function: Any, find: Callable[[Any], Any], sources_of: Callable[[Any], Iterable[str]]) -> None:
        super().__init__(function)
        self._find, self._sources_of = find, sources_of
        self._provided: dict[Any, tuple[Any, int]] = {}
        n_arguments = len(inspect.signature(function).parameters)
        typed = lambda *kinds: self.provide(tuple(map(types.unliteral, kinds)))[0].signature  # noqa: E731
        _define(self, n_arguments, typed, self._lower)

    def type_for_callers(self) -> None:
        """Do nothing: :func:`_define` has defined the type."""

    def provide(self, kinds: Any) -> tuple[Any, int]:
        """Compile for arguments of these types, or load the compiled code; return Numba's record and the address."""
        if kinds not in self._provided:
            symbol, function, files = self._symbol(kinds), self._find(kinds), self._sources_of(kinds)
            suffix = symbol.rpartition(".")[2]
            compiled = named_entry_point(function, suffix, *classes_in(kinds), sources=files, no_cpython_wrapper=True)
            compiled.compile(kinds)
            made = compiled.overloads[kinds]
            address = int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))
            llvmlite.binding.add_symbol(symbol, address)
            self._provided[kinds] = made, address
        return self._provided[kinds]

    def _symbol(self, kinds: Any) -> str:
        digest = hashlib.blake2b(spelled(kinds).encode(), digest_size=8).hexdigest()
        return f"{self.py_func.__module__}.{self.py_func.__qualname__}.{digest}"

    def _lower(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        symbol = self._symbol(signature.args)
        kind = context.call_conv.get_function_type(signature.return_type, signature.args)
        callee = builder.module.globals.get(symbol) or ir.Function(builder.module, kind, symbol)
        # Before a caller is loaded from the cache, the symbol of its callee must have an address.
        load = functools.partial(_provide, self.py_func.__module__, self.py_func.__qualname__, signature.args)
        context.active_code_library._reload_init.add(load)
        return _call(context, builder, callee, signature, args)


def _provide(module: str, name: str, kinds: Any) -> None:
    getattr(importlib.import_module(module), name).provide(kinds)


def address_of(function: Any, kinds: tuple[Any, ...]) -> int:
    """Return the address of a :func:`shared` function that takes arguments of these types and returns nothing."""
    return int(function.provide(kinds)[1])


def by_address(*kinds: Any) -> Callable[..., None]:
    """Make a function for compiled code that takes an :func:`address_of` and arguments of these types, and calls it."""

    def call(*args: Any) -> None:
        raise TypeError("this function can be called by compiled code only")

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.call_conv.get_function_type(types.void, kinds)
        return _call(context, builder, builder.inttoptr(args[0], kind.as_pointer()), types.void(*kinds), args[1:])

    _define(call, 1 + len(kinds), lambda *_: types.void(types.intp, *kinds), lower)
    return call


def _define(name: Any, n_arguments: int, typer: Any, lower: Callable[..., Any]) -> None:
    """Define the types and the code of calls of ``name`` for Numba, which would pack its arguments into one tuple."""
    one_by_one = [inspect.Parameter(f"x{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(n_arguments)]
    typer.__signature__ = inspect.Signature(one_by_one)
    type_callable(name)(lambda context: typer)
    lower_builtin(name, types.VarArg(types.Any))(lower)


def _call(context: Any, builder: Any, callee: Any, signature: Any, args: Any) -> Any:
    """Call a compiled function; its error propagates to the caller."""
    convention = context.call_conv
    status, result = convention.call_function(builder, callee, signature.return_type, signature.args, args)
    with builder.if_then(status.is_error, likely=False):
        convention.return_status_propagate(builder, status)
    return result
