"""Calls by address: large functions compiled once for all callers, and functions chosen when the code runs."""

import functools
import hashlib
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar, cast

import llvmlite.binding
from llvmlite import ir
from numba import cfunc, types
from numba.extending import lower_builtin, type_callable

from dirichlet_bandits.compiler.decorators import OPTIONS, jit, kept, named_entry_point
from dirichlet_bandits.compiler.internals import supported
from dirichlet_bandits.compiler.signatures import classes_in, spelled

P = ParamSpec("P")
R = TypeVar("R")

_ALIVE: dict[Any, Any] = {}  # an address is valid as long as its function is


def shared(function: Callable[P, R], sources_of: Callable[[Any], Iterable[str]] = lambda kinds: ()) -> Callable[P, R]:
    """Compile once for all callers, keep the compiled code on disk, and call it by its address.

    Numba compiles a function decorated by :func:`jit` again into each caller, and all of it again into their callers.
    This is for what is large and called once per event, not once per pull: a call costs two nanoseconds, and nothing is
    inlined. ``sources_of(kinds)`` names files that the code for arguments of these types comes from, if the function's
    own file does not import them.

    >>> @shared
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> jit(lambda x: twice(x) + 1.0)(1.5)
    4.0
    """
    return cast(Callable[P, R], Shared(function, lambda kinds: function, sources_of) if supported() else jit(function))


class Shared:
    """A compiled function that its callers find by the name of a symbol.

    ``find(kinds)`` returns the Python function to compile for arguments of these types.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        find: Callable[[Any], Callable[..., Any]],
        sources_of: Callable[[Any], Iterable[str]],
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._find = find
        self._sources_of = sources_of
        self._provided: dict[Any, Any] = {}
        n_arguments = len(inspect.signature(function).parameters)
        _define(self, n_arguments, lambda *kinds: self.provide(tuple(map(types.unliteral, kinds))), self._lower)

    @functools.cached_property
    def _from_python(self) -> Callable[..., Any]:
        return jit(self.py_func)

    def __call__(self, *args: Any) -> Any:
        return self._from_python(*args)

    def provide(self, kinds: Any) -> Any:
        """Compile for arguments of these types, or load the compiled code, and give its address a name."""
        if kinds not in self._provided:
            symbol = self._symbol(kinds)
            compiled: Any = named_entry_point(
                self._find(kinds), symbol.rpartition(".")[2], *classes_in(kinds), sources=self._sources_of(kinds)
            )
            compiled.compile(kinds)
            made = compiled.overloads[kinds]
            address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
            llvmlite.binding.add_symbol(symbol, address)
            self._provided[kinds] = made.signature
        return self._provided[kinds]

    def _symbol(self, kinds: Any) -> str:
        digest = hashlib.blake2b(spelled(kinds).encode(), digest_size=8).hexdigest()
        return f"{self.py_func.__module__}.{self.py_func.__qualname__}.{digest}"

    def _lower(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        symbol = self._symbol(signature.args)
        kind = context.call_conv.get_function_type(signature.return_type, signature.args)
        callee = builder.module.globals.get(symbol) or ir.Function(builder.module, kind, symbol)
        status, result = context.call_conv.call_function(
            builder, callee, signature.return_type, signature.args, args
        )
        with builder.if_then(status.is_error, likely=False):
            context.call_conv.return_status_propagate(builder, status)
        # Before a caller is loaded from the cache, the symbol of its callee must have an address.
        load = functools.partial(_provide, self.py_func.__module__, self.py_func.__qualname__, signature.args)
        context.active_code_library._reload_init.add(load)
        return result


def _provide(module: str, name: str, kinds: Any) -> None:
    getattr(importlib.import_module(module), name).provide(kinds)


def addressable(function: Callable[P, None]) -> Callable[P, None]:
    """Make an entry point that compiled code can also call by its address (:func:`address_of`).

    It returns nothing and must not raise: an exception would be printed and forgotten.
    """
    options = {name: value for name, value in OPTIONS.items() if name != "no_cfunc_wrapper"}
    return cast(Callable[P, None], kept(function, options))


def address_of(function: Any, kinds: tuple[Any, ...]) -> int:
    """Return the address of an :func:`addressable` function for arguments of these types, compiled if need be."""
    if not supported():
        compiled = _ALIVE.setdefault((function, kinds), cfunc(types.void(*kinds), **OPTIONS)(function.py_func))
        return int(compiled.address)
    function.compile(kinds)
    made = function.overloads[kinds]
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name))


def by_address(*kinds: Any) -> Callable[..., None]:
    """Make a function for compiled code that takes an :func:`address_of` and arguments of these types, and calls it.

    For what is chosen when the code runs, not when it is compiled.

    >>> import numpy as np
    >>> @addressable
    ... def double(x):
    ...     x[0] *= 2.0
    >>> numbers = types.Array(types.float64, 1, "C")
    >>> change = by_address(numbers)
    >>> x = np.ones(1)
    >>> jit(lambda address, x: change(address, x))(address_of(double, (numbers,)), x)
    >>> x
    array([2.])
    """

    def call(*args: Any) -> None:
        raise TypeError("this function can be called by compiled code only")

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        callee = ir.FunctionType(ir.VoidType(), [context.get_value_type(kind) for kind in kinds])
        builder.call(builder.inttoptr(args[0], callee.as_pointer()), args[1:])
        return context.get_dummy_value()

    _define(call, 1 + len(kinds), lambda *_: types.void(types.intp, *kinds), lower)
    return call


def _define(name: Any, n_arguments: int, typer: Any, lower: Callable[..., Any]) -> None:
    """Tell Numba the signature and the code of calls of ``name``, by its public interface."""
    # Numba would hand over the arguments of *args as one tuple.
    one_by_one = [inspect.Parameter(f"x{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(n_arguments)]
    typer.__signature__ = inspect.Signature(one_by_one)
    type_callable(name)(lambda context: typer)
    lower_builtin(name, types.VarArg(types.Any))(lower)
