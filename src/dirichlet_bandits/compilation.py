"""The one way to Numba: typed decorators, and entry points whose machine code is kept on disk (``caching.py``)."""

import functools
import hashlib
import importlib
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import llvmlite.binding
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.types.npytypes import NumPyRandomGeneratorType
from numba.core.typing.templates import AbstractTemplate, Signature, infer_global

from dirichlet_bandits import announcements as _announcements  # noqa: F401 - says when something is compiled
from dirichlet_bandits.caching import cache_of
from dirichlet_bandits.linking import LinkedDispatcher

P = ParamSpec("P")
R = TypeVar("R")

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INNER_OPTIONS: Any = {**OPTIONS, "no_cpython_wrapper": True}  # called by compiled code only


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile in nopython mode, without the GIL; x/0 is an infinity or NaN, as in NumPy, not an exception.

    Not cached: only entry points are (see :func:`entry_point`).
    """
    return cast(Callable[P, R], LinkedDispatcher(function, None, OPTIONS))


def jit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit`, always into its caller.

    For a step of a hot loop that takes many arrays, if it is called in one place: handing them over costs more than
    the step.
    """
    return cast(Callable[P, R], LinkedDispatcher(function, None, {**OPTIONS, "inline": "always"}))


def jit_sum(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit` a loop over finite numbers whose sums may be taken in any order, several at a time.

    Only a loop over indices, not one over the values themselves, becomes vector instructions.
    """
    freedoms = {"reassoc", "nsz", "nnan"}
    return cast(Callable[P, R], LinkedDispatcher(function, None, {**OPTIONS, "fastmath": freedoms}))


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """Compile once for all callers, keep the machine code on disk, and call it by its address.

    Numba compiles a function decorated by :func:`jit` anew into every caller, and all of it again into the callers of
    these. For what is large and called once an event, not once a pull: a call costs two nanoseconds, and nothing of it
    is inlined. Not for functions that call verbs of policies that their file does not import: they would go stale.

    >>> @shared
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> jit(lambda x: twice(x) + 1.0)(1.5)
    4.0
    """
    return cast(Callable[P, R], _Shared(function))


class _Shared:
    """A compiled function that callers find by the name of a symbol."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._known: dict[Any, Any] = {}

        class Template(AbstractTemplate):
            key = self

            def generic(template, args: Any, kws: Any) -> Any:  # noqa: N805
                return self.provide(tuple(types.unliteral(kind) for kind in args))

        infer_global(self, types.Function(Template))
        lower_builtin(self, types.VarArg(types.Any))(self._call)

    @functools.cached_property
    def _from_python(self) -> Callable[..., Any]:
        return jit(self.py_func)

    def __call__(self, *args: Any) -> Any:
        return self._from_python(*args)

    def provide(self, kinds: Any) -> Any:
        """Compile for arguments of these types, or load what was compiled, and give its address a name."""
        if kinds not in self._known:
            symbol = self._symbol(kinds)
            compiled: Any = named_entry_point(self.py_func, symbol.rpartition(".")[2], *_classes(kinds))
            llvmlite.binding.add_symbol(symbol, address_of(compiled, kinds))
            self._known[kinds] = compiled.overloads[kinds].signature
        return self._known[kinds]

    def _symbol(self, kinds: Any) -> str:
        spelt = [str(kinds), *(f"{kind.__module__}.{kind.__qualname__}" for kind in _classes(kinds))]
        digest = hashlib.blake2b(" ".join(spelt).encode(), digest_size=8).hexdigest()
        return f"{self.py_func.__module__}.{self.py_func.__qualname__}.{digest}"

    def _call(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.call_conv.get_function_type(signature.return_type, signature.args)
        callee = cgutils.get_or_insert_function(builder.module, kind, self._symbol(signature.args))
        result = _called(context, builder, callee, signature.return_type, signature.args, args)
        # Before a caller is loaded from its cache, the callee must have its name.
        load = functools.partial(_provide, self.py_func.__module__, self.py_func.__qualname__, signature.args)
        context.active_code_library._reload_init.add(load)
        return result


def address_of(function: Callable[..., Any], kinds: tuple[Any, ...]) -> int:
    """Where the machine code of an entry point for arguments of these types begins, compiled or loaded if need be."""
    dispatcher: Any = function
    dispatcher.compile(kinds)
    made = dispatcher.overloads[kinds]
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


def by_address(*kinds: Any) -> Callable[..., None]:
    """A function for compiled code that calls an entry point by its address.

    It takes the address, and then arguments of these types; it answers nothing. For what is chosen when the code runs,
    not when it is compiled.

    >>> @entry_point
    ... def double(x):
    ...     x[0] *= 2.0
    >>> import numpy as np
    >>> numbers = types.Array(types.float64, 1, "C")
    >>> change = by_address(numbers)
    >>> x = np.ones(1)
    >>> jit(lambda address, x: change(address, x))(address_of(double, (numbers,)), x)
    >>> x
    array([2.])
    """

    def call(address: int, *args: Any) -> None:
        raise TypeError("this is called by compiled code only")

    class Template(AbstractTemplate):
        key = call

        def generic(self, args: Any, kws: Any) -> Any:
            return Signature(types.none, (types.intp, *kinds), None) if len(args) == len(kinds) + 1 else None

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.call_conv.get_function_type(types.none, kinds)
        callee = builder.inttoptr(args[0], kind.as_pointer())
        return _called(context, builder, callee, types.none, kinds, args[1:])

    infer_global(call, types.Function(Template))
    lower_builtin(call, types.VarArg(types.Any))(lower)
    return call


def _called(context: Any, builder: Any, callee: Any, restype: Any, kinds: Any, args: Any) -> Any:
    """What a function answers, or else its error goes up to the caller."""
    status, result = context.call_conv.call_function(builder, callee, restype, kinds, args)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return result


def _provide(module: str, name: str, kinds: Any) -> None:
    getattr(importlib.import_module(module), name).provide(kinds)


def _classes(kinds: Any) -> list[type]:
    """The classes of all NamedTuples among types, also of those inside others."""
    found: list[type] = []
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            found += [kind.instance_class] if hasattr(kind, "instance_class") else []
            found += _classes(kind)
    return found


def named_entry_point(function: Any, suffix: str, *classes: type, sources: Iterable[str] = ()) -> Callable[..., Any]:
    """An entry point of its own for arguments of some classes, with a cache file of its own.

    A class that a later process cannot import must not spoil the machine code for others; nothing is kept for one that
    was made at a prompt.
    """
    own = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    own.__module__ = function.__module__
    own.__qualname__ = f"{function.__name__}_{suffix}"
    return jit(own) if any(kind.__module__ == "__main__" for kind in classes) else entry_point(own, *sources)


def entry_point(function: Callable[P, R], *sources: str) -> Callable[P, R]:
    """Compile for calls from Python, and keep the machine code on disk for the next process.

    ``sources`` are further files that the code comes from, beside those that the function's module imports. A function
    that is compiled already is compiled once more, by itself.

    >>> @entry_point
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> twice(1.5)
    3.0
    """
    function = getattr(function, "py_func", function)
    dispatcher: Any = LinkedDispatcher(function, None, OPTIONS)
    dispatcher.open_cache = functools.partial(cache_of, function, *sources)
    return cast(Callable[P, R], dispatcher)


def interpreted(function: Callable[P, R]) -> Callable[P, R]:
    """A compiled function as Python runs it, with those that it calls: for what a process asks for a few times.

    Nothing is compiled for it, nor loaded; x/0 is an error, as always in Python.

    >>> interpreted(jit(lambda x: 2.0 * x))(1.5)
    3.0
    """
    plain: Any = getattr(function, "py_func", function)
    names = plain.__globals__
    called = {name: interpreted(names[name]) for name in plain.__code__.co_names if hasattr(names.get(name), "py_func")}
    made = FunctionType(plain.__code__, {**names, **called}, plain.__name__, plain.__defaults__, plain.__closure__)
    return cast(Callable[P, R], made)


def borrowed(value: R) -> R:
    """The same arrays, generators or tuples of them, without the counting of references, which costs as much as a duel.

    For arguments of a function only: its caller owns them until it returns, so they are not freed before.
    """
    return value


@infer_global(borrowed)
class _Borrowed(AbstractTemplate):
    key = borrowed

    def generic(self, args: Any, kws: Any) -> Any:
        return Signature(args[0], args, None)


def _borrow(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _without_owner(context, builder, signature.return_type, arguments[0])


lower_builtin(borrowed, types.Any)(_borrow)


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        parts = [
            _without_owner(context, builder, member, builder.extract_value(value, i))
            for i, member in enumerate(members)
        ]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array | NumPyRandomGeneratorType):
        fields = context.make_helper(builder, kind, value=value)
        fields.meminfo = fields.meminfo.type(None)
        return fields._getvalue()
    return value
