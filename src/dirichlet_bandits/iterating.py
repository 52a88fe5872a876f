"""Loops over ranges, written down for LLVM in a few instructions.

Numba prepares every range for steps of either sign, with a division, and hands its state on in structures in memory: a
page for ``for i in range(n)``. Here a range has no step; a loop with one starts as Numba's does.
"""

from typing import Any

from llvmlite.ir import Constant, Undefined

from dirichlet_bandits.values import place_for


def count_up(builder: Any, numbers: Any, iterator: Any) -> Any:
    """An iterator, of this type for LLVM, over a range without a step."""
    start, stop = (builder.extract_value(numbers, i) for i in range(2))
    left = builder.sub(stop, start)
    left = builder.select(builder.icmp_signed(">", left, left.type(0)), left, left.type(0))
    next_place, left_place = place_for(builder, start.type), place_for(builder, start.type)
    builder.store(start, next_place)
    builder.store(left, left_place)
    return _structure(builder, iterator, [next_place, stop, start.type(1), left_place])


def next_number(builder: Any, iterator: Any, pair: Any) -> Any:
    """The next number of a range, if there is one, and whether there is: a pair of this type for LLVM."""
    next_place, step, left_place = (builder.extract_value(iterator, i) for i in (0, 2, 3))
    number, left = builder.load(next_place), builder.load(left_place)
    is_there = builder.icmp_signed(">", left, left.type(0))
    with builder.if_then(is_there):
        builder.store(builder.sub(left, left.type(1), flags=["nsw"]), left_place)
        builder.store(builder.add(number, step), next_place)
    return _structure(builder, pair, [number, is_there])


def _structure(builder: Any, kind: Any, members: list[Any]) -> Any:
    made = Constant(kind, Undefined)
    for i, member in enumerate(members):
        made = builder.insert_value(made, member, i)
    return made
