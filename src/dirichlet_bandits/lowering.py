"""How Numba writes compiled functions down for LLVM, with less to write and to optimise.

Numba counts a reference for every array in every tuple that a variable holds, and keeps every variable that lives
longer than one basic block in memory. Most arrays of our functions come from their arguments, which the caller owns
until the function returns: they need no counting (a *borrowed* variable). And a variable that is assigned once, before
all its uses, is a value, not a place in memory. Of a tuple that a function gets by its address only what is used is
read. What a function computes is the same.
"""

import operator
from collections import Counter
from collections.abc import Iterator
from typing import Any

from llvmlite.ir import Argument
from numba.core import cgutils, ir, types
from numba.core.analysis import compute_cfg_from_blocks, must_use_alloca
from numba.core.ir_utils import get_definition, guard
from numba.core.lowering import Lower
from numba.core.types.npytypes import NumPyRandomGeneratorType
from numba.core.unsafe import eh
from numba.np.arrayobj import load_item, store_item

from dirichlet_bandits.indexing import element, is_plain, parts_of, window
from dirichlet_bandits.iterating import count_up, next_number
from dirichlet_bandits.values import OWNER, is_counted, owners_in, place_for, write

_Lower: Any = Lower
_PARTS = types.BaseTuple | types.Array | NumPyRandomGeneratorType


class LeanLower(_Lower):  # type: ignore[misc]
    """Numba's lowering of one function without counts of borrowed references and without needless memory."""

    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()
        self._uncounted: set[str] = set()
        self._in_memory: set[str] = set()  # variables that own what they hold, assigned once
        self._members: dict[tuple[str, str], Any] = {}
        self._standing: dict[str, list[Any]] = {}
        catches = self.func_ir.func_id.is_generator or _catches_exceptions(self.blocks)
        self._may_catch = catches
        if catches or self._disable_sroa_like_opt:
            return
        assigned = [inst for block in self.blocks.values() for inst in block.find_insts(ir.Assign)]
        self._uncounted = self._borrowed(assigned)
        self._uncounted |= {inst.target.name for inst in assigned if not self._is_counted(inst.target.name)}
        assigned_once = {name for name, times in Counter(inst.target.name for inst in assigned).items() if times == 1}
        once = (assigned_once & self._uncounted) - must_use_alloca(self.blocks)
        self._singly_assigned_vars |= once - set(_used_early(self.blocks, once))
        self._in_memory = assigned_once - self._uncounted - self._singly_assigned_vars

    def _is_counted(self, name: str) -> bool:
        return is_counted(self.context.data_model_manager[self.typeof(name)])

    def _borrowed(self, assigned: list[Any]) -> set[str]:
        """Variables that hold nothing but what the arguments hold."""
        returned = {
            block.terminator.value.name for block in self.blocks.values() if isinstance(block.terminator, ir.Return)
        }
        borrowed = {inst.target.name for inst in assigned if self._is_counted(inst.target.name)} - returned
        while True:
            owners = {
                inst.target.name
                for inst in assigned
                if inst.target.name in borrowed and not self._borrows(inst.value, borrowed)
            }
            if not owners:
                return borrowed
            borrowed -= owners

    def _borrows(self, value: Any, borrowed: set[str]) -> bool:
        """Whether a value holds nothing but what an argument or a borrowed variable holds."""
        if isinstance(value, ir.Arg):
            return True
        if isinstance(value, ir.Var):
            return value.name in borrowed
        if not isinstance(value, ir.Expr):
            return False
        if value.op in ("getattr", "static_getitem", "getitem", "getiter", "exhaust_iter", "cast"):
            source = value.value.name
            if source not in borrowed or not isinstance(self.typeof(source), _PARTS):
                return False
            return value.op != "getitem" or _is_view(self.typeof(value.index.name))
        if value.op == "build_tuple":
            parts = value.items
        elif value.op == "call" and isinstance(self.typeof(value.func.name), types.NamedTupleClass):
            parts = [] if value.vararg else [*value.args, *(part for _, part in value.kws)]
        else:
            return False
        return bool(parts) and all(part.name in borrowed or not self._is_counted(part.name) for part in parts)

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        self.builder.may_catch = self._may_catch

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        if name in self._uncounted:
            return place_for(self.builder, lltype)
        if not self._is_known(name):
            return super().alloca_lltype(name, lltype, datamodel)
        place = place_for(self.builder, lltype)
        with self.builder.goto_entry_block():
            self._forget(name, place)
        return place

    def _is_known(self, name: str) -> bool:
        """Whether a variable in memory is a tuple, an array or a generator: then it is clear who owns its parts."""
        return (
            not self._may_catch
            and not self._disable_sroa_like_opt
            and name not in self._singly_assigned_vars
            and _consists_of_parts(self.typeof(name), self.context.data_model_manager)
        )

    def _owners_in(self, name: str, place: Any) -> list[Any]:
        return owners_in(self.builder, self.context.data_model_manager[self.typeof(name)], place)

    def _forget(self, name: str, place: Any) -> None:
        """Let a variable own nothing."""
        for owner in self._owners_in(name, place):
            self.builder.store(owner.type.pointee(None), owner)

    def _release(self, name: str, place: Any) -> None:
        """What a variable owns is no longer needed there."""
        for owner in self._owners_in(name, place):
            self.context.nrt.decref(self.builder, OWNER, self.builder.load(owner))

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, ir.Assign) and not isinstance(inst.value, ir.Arg) and not self._disable_sroa_like_opt:
            # What Numba does, without the text of each instruction.
            self.storevar(self.lower_assign(self.typeof(inst.target.name), inst), inst.target.name)
        elif isinstance(inst, ir.Del):
            self.delvar(inst.value)
        else:
            super().lower_inst(inst)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        if inst.target.name not in self._uncounted or not self._is_counted(inst.target.name):
            return super().lower_assign(ty, inst)
        counting = self.context.enable_nrt
        self.context.enable_nrt = False
        try:
            return super().lower_assign(ty, inst)
        finally:
            self.context.enable_nrt = counting

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        value = self._in_few_instructions(resty, expr)
        return super().lower_expr(resty, expr) if value is None else value

    def _in_few_instructions(self, resty: Any, expr: Any) -> Any:
        """The value of an expression for which Numba writes down more than LLVM needs; None for all others."""
        if expr.op == "call" and _key(self.typeof(expr.func.name)) is bool:
            known = [self.typeof(part.name) for part in expr.args] == [types.boolean]
            return self.loadvar(expr.args[0].name) if known else None
        if expr.op == "binop" and expr.fn is operator.pow and resty == self.typeof(expr.lhs.name) == types.float64:
            return self._power(self.loadvar(expr.lhs.name), expr.static_rhs)
        if expr.op not in ("getattr", "getiter", "iternext"):
            return None
        name = expr.value.name
        kind = self.typeof(name)
        if expr.op == "getattr" and isinstance(kind, types.BaseNamedTuple):
            member = self._member(kind, name, expr.attr)
            if member is not None and self.context.enable_nrt:
                self.context.nrt.incref(self.builder, resty, member)
            return member
        if expr.op == "getattr" and isinstance(kind, types.Array) and expr.attr == "size":
            return self.context.data_model_manager[kind].get(self.builder, self.loadvar(name), "nitems")
        if expr.op == "getiter" and isinstance(kind, types.RangeType) and self._has_no_step(expr.value):
            return count_up(self.builder, self.loadvar(name), self.context.get_value_type(resty))
        if expr.op == "iternext" and isinstance(kind, types.RangeIteratorType):
            return next_number(self.builder, self.loadvar(name), self.context.get_value_type(resty))
        return None

    def _power(self, x: Any, power: Any) -> Any:
        """A square or the next two powers, multiplied in Numba's order, without its loop over the bits of the power."""
        if type(power) is not int or power not in (2, 3, 4):
            return None
        square = self.builder.fmul(x, x)
        return square if power == 2 else self.builder.fmul(square, x if power == 3 else square)

    def _has_no_step(self, numbers: Any) -> bool:
        call = guard(get_definition, self.func_ir, numbers)
        return (
            isinstance(call, ir.Expr)
            and call.op == "call"
            and _key(self.typeof(call.func.name)) is range
            and call.vararg is None
            and len(call.args) < 3
        )

    def _member(self, kind: Any, name: str, field: str) -> Any:
        """A field of a tuple in memory; of one that the function got, read when the function begins. Else None."""
        place = getattr(self.loadvar(name), "place", None)
        if place is None or field not in kind.fields:
            return None
        if not isinstance(place, Argument):
            return self.builder.load(cgutils.gep_inbounds(self.builder, place, 0, kind.fields.index(field)))
        key = place.name, field
        if key not in self._members:
            with self.builder.goto_entry_block():
                address = cgutils.gep_inbounds(self.builder, place, 0, kind.fields.index(field))
                self._members[key] = self.builder.load(address)
        return self._members[key]

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        kind, wanted = self.typeof(value.name), self.typeof(index.name)
        if self._is_simple(kind) and isinstance(resty, types.Array) and is_plain(wanted, kind.ndim):
            array, where = self.loadvar(value.name), self.loadvar(index.name)
            return window(self.context, self.builder, kind, array, wanted, where, resty)
        place = self._element(value.name, index.name, signature.args[1]) if resty == _dtype(kind) else None
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        return load_item(self.context, self.builder, kind, place)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        place = self._element(target_var.name, index_var.name, signature.args[1])
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value, given, kind = self.loadvar(value_var.name), self.typeof(value_var.name), self.typeof(target_var.name)
        for wanted in (signature.args[2], kind.dtype):
            value, given = self.context.cast(self.builder, value, given, wanted), wanted
        return store_item(self.context, self.builder, kind, value, place)

    def _element(self, array: str, index: str, wanted: Any) -> Any:
        """Where one element of an array of numbers stands; None if it is not that simple."""
        kind, parts = self.typeof(array), parts_of(wanted)
        if not self._is_simple(kind) or len(parts) != kind.ndim:
            return None
        if not all(isinstance(part, types.Integer) for part in parts):
            return None
        value = self.context.cast(self.builder, self.loadvar(index), self.typeof(index), wanted)
        return element(self.context, self.builder, kind, self.loadvar(array), wanted, value)

    def _is_simple(self, kind: Any) -> bool:
        """Whether these are arrays of numbers, and nobody wants indices to be checked."""
        if not isinstance(kind, types.Array) or self.context.enable_boundscheck:
            return False
        return isinstance(kind.dtype, types.Number | types.Boolean)

    def loadvar(self, name: str) -> Any:
        value = super().loadvar(name)
        if name in self._in_memory:
            value.place = self.getvar(name)
            self._standing.setdefault(name, []).append(value)
        return value

    def _overwritten(self, name: str) -> None:
        """The place of a variable no longer holds what was read there."""
        for value in self._standing.pop(name, ()):
            value.place = None

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        self._overwritten(name)
        owns = name not in self._uncounted
        if (owns and not self._is_known(name)) or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
            return
        place = self.getvar(name)
        if owns and argidx is None:
            self._release(name, place)
        write(self.builder, value, place)

    def delvar(self, name: str) -> None:
        self._overwritten(name)
        if name in self._uncounted:
            return
        if name in self._blk_local_varmap or not self._is_known(name):
            super().delvar(name)
            return
        place = self.getvar(name)
        self._release(name, place)
        self._forget(name, place)


def _key(kind: Any) -> Any:
    """The function that a type stands for, if it is one that Numba knows."""
    return kind.typing_key if isinstance(kind, types.Function) else None


def _dtype(kind: Any) -> Any:
    return kind.dtype if isinstance(kind, types.Array) else None


def _consists_of_parts(kind: Any, manager: Any) -> bool:
    """Whether a type is a tuple, an array or a generator, or a tuple of these and of what owns no memory."""
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        return all(not is_counted(manager[part]) or _consists_of_parts(part, manager) for part in parts)
    return isinstance(kind, types.Array | NumPyRandomGeneratorType)


def _is_view(index: Any) -> bool:
    """Whether an index takes a window out of an array, and no copy."""
    parts: Any = index if isinstance(index, types.BaseTuple) else (index,)
    return all(isinstance(part, types.Integer | types.SliceType | types.EllipsisType) for part in parts)


def _catches_exceptions(blocks: dict[int, Any]) -> bool:
    return any(
        isinstance(inst.value, ir.Global) and inst.value.value is eh.exception_check
        for block in blocks.values()
        for inst in block.find_insts(ir.Assign)
    )


def _used_early(blocks: dict[int, Any], names: set[str]) -> Iterator[str]:
    """Variables that are used where their only assignment may not have come before, or is written down later."""
    dominators = compute_cfg_from_blocks(blocks).dominators()
    home = {inst.target.name: offset for offset, block in blocks.items() for inst in block.find_insts(ir.Assign)}
    for offset, block in blocks.items():
        known: set[str] = set()
        for inst in block.body:
            if isinstance(inst, ir.Del):
                continue
            for var in inst.list_vars():
                name = var.name
                if name not in names or (isinstance(inst, ir.Assign) and name == inst.target.name):
                    continue
                before = (
                    name in known if home[name] == offset else home[name] in dominators[offset] and home[name] < offset
                )
                if not before:
                    yield name
            if isinstance(inst, ir.Assign):
                known.add(inst.target.name)
