"""What Numba does for every function before LLVM sees it, without what serves diagnostics only.

A policy consists of some two hundred small functions, and Numba's care for each of them adds up: timers and events
around every pass and every lock, and the implementation of a method of its own compiled again for every set of options
of a caller, and once more because its default arguments are spelt out the second time. Nothing here changes what a
function computes.
"""

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

from numba.core import compiler_machinery, errors, event, ir, types
from numba.core.cpu import CPUContext
from numba.core.targetconfig import ConfigStack
from numba.core.typing import npydecl, templates

from dirichlet_bandits.patches import replaced

_errors: Any = errors
_HAS_COLOURS = hasattr(errors, "HighlightColorScheme")
_Inst: Any = ir.Inst
_PassManager: Any = compiler_machinery.PassManager
_Overload: Any = templates._OverloadFunctionTemplate
_Operator: Any = npydecl.NumpyRulesArrayOperator
_Context: Any = CPUContext
_array_operation, _all_registries = _Operator.generic, _Context.load_additional_registries


@contextlib.contextmanager
def quick_frontend() -> Iterator[None]:
    """Let Numba's passes run without their timers, and reuse what it has compiled of its own.

    No garbage is collected meanwhile: hardly any is made, and looking for it takes a fifth of the time.
    """
    with contextlib.ExitStack() as stack:
        if gc.isenabled():
            gc.disable()
            stack.callback(_collect_later)
        for owner, name, ours in [
            (_PassManager, "_runPass", _run_pass),
            (_Overload, "_get_impl", _implementation),
            (_Inst, "_rec_list_vars", _variables_of),
            (_Operator, "generic", _array_operator),
            (_Context, "load_additional_registries", _known_registries),
            (event, "install_timer", lambda kind, callback: contextlib.nullcontext()),
            (ir.Loc, "__deepcopy__", lambda place, memo: place),  # a line of a file does not change
            # Of messages about what did not fit, which nobody reads once something fits; there with colorama only.
            *([(_errors.HighlightColorScheme, "_markup", lambda colours, text, *look: text)] if _HAS_COLOURS else []),
        ]:
            stack.enter_context(replaced(owner, name, ours))
        yield


def _collect_later() -> None:
    """Let garbage be collected again, and count what is there as old: no search through all of it right now."""
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()
    gc.enable()


def _run_pass(manager: Any, index: int, each: Any, state: Any) -> None:
    """One pass over one function."""
    each.analysis = manager._analysis
    with _errors.new_error_context("Pass {name}", name=each.name()):
        each.run_initialization(state)
        each.run_pass(state)
        each.run_finalizer(state)


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


def _known_registries(context: Any) -> None:
    """Take note of what has been registered since the last function; the first of all has imported the rest."""
    if not context._registries:
        return _all_registries(context)
    for registry in list(context._registries):
        context.install_registry(registry)
    return None


def _variables_of(inst: Any, value: Any) -> list[Any]:
    """All variables inside a part of an instruction."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind is dict or kind is list or kind is tuple:
        found: list[Any] = []
        for part in value.values() if kind is dict else value:
            if type(part) is ir.Var:
                found.append(part)
            elif type(part) not in _WITHOUT_VARIABLES:
                found += _variables_of(inst, part)
        return found
    return value.list_vars() if isinstance(value, ir.Inst) else []


_WITHOUT_VARIABLES = {str, int, bool, float, type(None), ir.Loc, ir.Const, ir.Global, ir.FreeVar, ir.Arg}
