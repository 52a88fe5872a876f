"""What Numba does for every function before LLVM sees it, without what serves diagnostics only.

A policy consists of some two hundred small functions, and Numba's care for each of them adds up: timers and events
around every pass and every lock, and where each variable lives, asked anew after every pass. Nothing here changes what
a function computes.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from numba.core import analysis, compiler_machinery, errors, event, ir, postproc, transforms

from dirichlet_bandits.lazy import without_collecting
from dirichlet_bandits.patches import replaced

_errors: Any = errors
_HAS_COLOURS = hasattr(errors, "HighlightColorScheme")
_Inst: Any = ir.Inst
_PassManager: Any = compiler_machinery.PassManager
_Processor: Any = postproc.PostProcessor
_Function: Any = ir.FunctionIR
_follow_all_variables = _Processor.run


@contextlib.contextmanager
def quick_frontend() -> Iterator[None]:
    """Let Numba's passes run without what nobody asks for."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(without_collecting())
        for owner, name, ours in [
            (_PassManager, "_runPass", _run_pass),
            (_Inst, "_rec_list_vars", _variables_of),
            (_Processor, "run", _follow_variables),
            (_Function, "get_block_entry_vars", _variables_before),
            (event, "install_timer", lambda kind, callback: contextlib.nullcontext()),
            (ir.Loc, "__deepcopy__", lambda place, memo: place),  # a line of a file does not change
            # Of messages about what did not fit, which nobody reads once something fits; there with colorama only.
            *([(_errors.HighlightColorScheme, "_markup", lambda colours, text, *look: text)] if _HAS_COLOURS else []),
        ]:
            stack.enter_context(replaced(owner, name, ours))
        yield


def _run_pass(manager: Any, index: int, each: Any, state: Any) -> None:
    """One pass over one function."""
    each.analysis = manager._analysis
    with _errors.new_error_context("Pass {name}", name=each.name()):
        each.run_initialization(state)
        each.run_pass(state)
        each.run_finalizer(state)


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
