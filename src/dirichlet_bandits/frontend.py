"""What Numba does for every function before LLVM sees it, without what serves diagnostics only.

A policy consists of some two hundred small functions, and Numba's care for each of them adds up: timers and events
around every pass and every lock, passes that look for what is not there, and where each variable lives, asked anew
after every pass. Nothing here changes what a function computes.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite.binding import ffi
from numba.core import (
    analysis,
    compiler_machinery,
    errors,
    event,
    ir,
    lowering,
    postproc,
    transforms,
    typeinfer,
    types,
)

from dirichlet_bandits.lazy import without_collecting
from dirichlet_bandits.patches import replaced

_errors: Any = errors
_HAS_COLOURS = hasattr(errors, "HighlightColorScheme")
_Inst: Any = ir.Inst
_PassManager: Any = compiler_machinery.PassManager
_Processor: Any = postproc.PostProcessor
_Function: Any = ir.FunctionIR
_follow_all_variables = _Processor.run
_error_context = _errors.new_error_context
_dependencies = _PassManager.dependency_analysis
_DEPENDENCIES: dict[tuple[Any, ...], Any] = {}


@contextlib.contextmanager
def quick_frontend() -> Iterator[None]:
    """Let Numba's passes run without what nobody asks for."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(without_collecting())
        for owner, name, ours in [
            (_PassManager, "_runPass", _run_pass),
            (_PassManager, "dependency_analysis", _remembered_dependencies),
            (_Inst, "_rec_list_vars", _variables_of),
            (_Processor, "run", _follow_variables),
            (_Function, "get_block_entry_vars", _variables_before),
            (event, "install_timer", lambda kind, callback: contextlib.nullcontext()),
            (ffi.lib._lock, "_cblist", []),  # events at every one of thirty thousand calls of LLVM
            (typeinfer, "new_error_context", _ErrorContext),
            (lowering, "new_error_context", _ErrorContext),
            (ir.Loc, "__deepcopy__", lambda place, memo: place),  # a line of a file does not change
            # Of messages about what did not fit, which nobody reads once something fits; there with colorama only.
            *([(_errors.HighlightColorScheme, "_markup", lambda colours, text, *look: text)] if _HAS_COLOURS else []),
        ]:
            stack.enter_context(replaced(owner, name, ours))
        yield


class _ErrorContext:
    """What Numba adds to the message of an error: prepared for every instruction, seldom needed."""

    def __init__(self, text: str, *args: Any, **details: Any) -> None:
        self._said = text, args, details
        if "loc" in details and not details["loc"].filename.startswith(_errors._numba_path):
            _errors.loc_info.update(details)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            text, args, details = self._said
            with _error_context(text, *args, **details):
                raise error


def _run_pass(manager: Any, index: int, each: Any, state: Any) -> None:
    """One pass over one function, if there is something for it to do."""
    if each.name() in _SELDOM and not _SELDOM[each.name()](state):
        return
    each.analysis = manager._analysis
    with _errors.new_error_context("Pass {name}", name=each.name()):
        each.run_initialization(state)
        each.run_pass(state)
        each.run_finalizer(state)


def _remembered_dependencies(manager: Any) -> Any:
    """Which passes need which: found out once for a list of passes, not four times a function."""
    key = tuple(each for each, _ in manager.passes)
    if key not in _DEPENDENCIES:
        _DEPENDENCIES[key] = _dependencies(manager)
    return _DEPENDENCIES[key]


def _has_closures(state: Any) -> bool:
    """Whether a function contains another one, a comprehension or a list, or asks for a reduction or a stencil."""
    code = state.func_id.func.__code__
    return not {"reduce", "stencil"}.isdisjoint(code.co_names + code.co_freevars) or any(
        isinstance(inst.value, ir.Expr) and inst.value.op in ("make_function", "build_list")
        for block in state.func_ir.blocks.values()
        for inst in block.find_insts(ir.Assign)
    )


def _has_array_expressions(state: Any) -> bool:
    """Whether a function computes with whole arrays, or knows lists or texts."""
    if any(isinstance(kind, types.List | types.StringLiteral) for kind in state.typemap.values()):
        return True
    return any(
        isinstance(getattr(signature, "return_type", None), types.Array)
        and (getattr(inst, "op", "") in ("unary", "binop", "inplace_binop") or _is_of_elements(inst, state.typemap))
        for inst, signature in state.calltypes.items()
    )


def _is_of_elements(inst: Any, typemap: Any) -> bool:
    """Whether this is a call of a NumPy function, or of one like these, that works on each element of an array."""
    return getattr(inst, "op", "") == "call" and hasattr(getattr(typemap[inst.func.name], "typing_key", None), "nin")


# Passes that change few functions: 0.5 s for NPTS if they run over all.
_SELDOM = {"inline_closure_likes": _has_closures, "nopython_rewrites": _has_array_expressions}


def _follow_variables(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Prepare to ask where variables live; nobody does after most passes."""
    code = processor.func_ir
    if code.is_generator:
        _follow_all_variables(processor, emit_dels, extend_lifetimes)
        return
    code.blocks = transforms.canonicalize_cfg(code.blocks)
    code.variable_lifetime = postproc.VariableLifetime(code.blocks)
    code.generator_info = None
    if emit_dels:
        processor._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _variables_before(code: Any, block: Any) -> Any:
    """Which variables live when a block begins."""
    if block in code.block_entry_vars:
        return code.block_entry_vars[block]
    [offset] = [offset for offset, other in code.blocks.items() if other is block]
    lives = code.variable_lifetime
    return analysis.compute_live_variables(lives.cfg, code.blocks, lives.usedefs.defmap, lives.deadmaps.combined)[
        offset
    ]


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
