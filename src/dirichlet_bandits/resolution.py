"""How Numba finds out what a call means, without looking again for what it has found before.

For every `a + b` on two numbers Numba tries some fifty meanings of `+`, and writes down why each does not fit; before
every function it asks sixty registries for news; it infers all types a second time to see that nothing has changed
since the first; and it compiles the implementation of a method of its own again for every set of options of a caller,
and once more because its default arguments are spelt out the second time.
"""

import contextlib
import math
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import base, ir, typeinfer, types, utils
from numba.core.cpu import CPUContext
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction
from numba.core.typing import context as typing_context
from numba.core.typing import npydecl, templates

from dirichlet_bandits.patches import replaced

_Overload: Any = templates._OverloadFunctionTemplate
_Operator: Any = npydecl.NumpyRulesArrayOperator
_Function: Any = BaseFunction
_Typing: Any = typing_context.BaseContext
_Context: Any = CPUContext
_Network: Any = typeinfer.ConstraintNetwork
_base: Any = base
_array_operation, _call_type, _takes_place = _Operator.generic, _Function.get_call_type, _base._has_loc
_propagate_all = _Network.propagate
_PLAIN = types.Number | types.Boolean | types.Array
_OPERATIONS = {bool, abs, range} | {
    function for module in (operator, math) for function in vars(module).values() if callable(function)
}  # their types depend on those of numbers and arrays alone


@contextlib.contextmanager
def quick_resolution() -> Iterator[None]:
    """Let Numba remember which functions and types belong together."""
    ordered = _remembered_order()
    with contextlib.ExitStack() as stack:
        for owner, name, ours in [
            (_Overload, "_get_impl", _implementation),
            (_Operator, "generic", _array_operator),
            (_Function, "get_call_type", _remembered_call_type),
            (_Network, "propagate", _propagate),
            (utils, "order_by_target_specificity", ordered),
            (typing_context, "order_by_target_specificity", ordered),
            (_base, "_has_loc", _has_place),
            (_Typing, "refresh", _if_new(_Typing.refresh)),
            (_Context, "refresh", _with_types(_if_new(_Context.refresh))),
        ]:
            stack.enter_context(replaced(owner, name, ours))
        yield


def _implementation(template: Any, args: Any, kws: Any) -> Any:
    """The implementation of an overloaded function for arguments of these types, compiled once.

    It depends on those options of its caller alone that it inherits.
    """
    flags = ConfigStack.top_or_none()
    given = list(args)
    while given and isinstance(given[-1], types.Omitted):
        given.pop()
    inherited = flags and (str(flags.fastmath), flags.error_model, flags.nrt, flags.forceinline)
    key = template.context, tuple(given), tuple(kws.items()), inherited
    found = template._impl_cache.get(key)
    if found is None:
        # Nobody takes its address: no wrapper for C.
        template._jit_options = {**template._jit_options, "no_cfunc_wrapper": True}
        found = template._build_impl(key, args, kws)
    return found


def _array_operator(template: Any, args: Any, kws: Any) -> Any:
    """The type of an operation on arrays, which is looked for at every operation on numbers too."""
    if any(isinstance(kind, types.ArrayCompatible | types.Optional) for kind in args):
        return _array_operation(template, args, kws)
    return None


def _remembered_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """The types of a call; operations on numbers and elements of arrays are looked up once."""
    if kws or function.typing_key not in _OPERATIONS or not all(isinstance(kind, _PLAIN) for kind in args):
        return _call_type(function, context, args, kws)
    known = vars(function).setdefault("_known_calls", {})
    key = context, tuple(args)
    if key not in known:
        known[key] = _call_type(function, context, args, kws)
    return known[key]


def _propagate(network: Any, inferer: Any) -> list[Any]:
    """Infer types again where those that they depend on have changed: everywhere, it would take 0.3 s for NPTS."""
    kinds = inferer.typevars
    known = vars(network).setdefault("_known", {})
    errors, one = [], _Network()
    for constraint in network.constraints:
        names, before = known.get(constraint, ((), ()))
        if not before or None in before or before != [kinds[name].type for name in names]:
            one.constraints = [constraint]
            failed = _propagate_all(one, inferer)
            errors += failed
            names = _names_in(list(vars(constraint).values()), kinds)
            now = [kinds[name].type for name in names]
            again = failed or any(isinstance(kind, types.RecursiveCall) for kind in now)
            known[constraint] = names, None if again else now
    return errors


def _names_in(value: Any, kinds: Any) -> list[str]:
    """All variables that a constraint on types is about."""
    if isinstance(value, list | tuple):
        return [name for part in value for name in _names_in(part, kinds)]
    name = value.name if isinstance(value, ir.Var) else value
    return [name] if isinstance(name, str) and name in kinds else []


def _remembered_order() -> Callable[..., Any]:
    known: dict[Any, Any] = {}
    order: Any = utils.order_by_target_specificity

    def ordered(target: Any, found: Any, fnkey: Any = "") -> Any:
        """The meanings of a function that there are for a target, the most specific one first."""
        key = target, tuple(found)
        if key not in known:
            known[key] = order(target, found, fnkey)
        return known[key]

    return ordered


def _has_place(function: Any) -> bool:
    """Whether an implementation wants to know the line of the source."""
    code = getattr(function, "__code__", None)
    if code is None or hasattr(function, "__wrapped__"):
        return bool(_takes_place(function))
    return "loc" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _if_new(refresh: Callable[[Any], None]) -> Callable[[Any], None]:
    def refreshed(context: Any) -> None:
        """Take note of what has been registered since the last time, if anything has."""
        if vars(context).get("_registered") != _registered(context):
            _import_array_functions()
            refresh(context)
            context._registered = _registered(context)

    return refreshed


def _import_array_functions() -> None:
    """Import what Numba knows of arrays without SciPy's linear algebra, 0.15 s: whoever needs that imports it."""
    if "numba.np.arraymath" not in sys.modules:
        from numba.np import linalg

        with replaced(linalg, "ensure_blas", lambda: None):
            from numba.np import arraymath  # noqa: F401


def _with_types(refresh: Callable[[Any], None]) -> Callable[[Any], None]:
    def refreshed(context: Any) -> None:
        refresh(context)
        context.typing_context.refresh()

    return refreshed


def _registered(context: Any) -> int:
    return sum(
        len(getattr(registry, name))
        for registry, loader in list(context._registries.items())
        for name in loader.registry_items
    )
