"""Elements and windows of arrays, written down for LLVM in a few instructions.

Numba prepares every slice for steps of either sign: a page for ``x[i:j]``. Here a slice has no step, and every index is
an integer or such a slice; a negative one counts from the end, as always.
"""

from typing import Any

from llvmlite.ir import Constant, Undefined
from numba.core import cgutils, types


def parts_of(index: Any) -> Any:
    """The types of the indices, one an axis."""
    return index if isinstance(index, types.BaseTuple) else (index,)


def is_plain(index: Any, n_axes: int) -> bool:
    """Whether all indices are integers or slices without a step, of so many axes at most."""
    parts = parts_of(index)
    return len(parts) <= n_axes and all(
        isinstance(part, types.Integer) or (isinstance(part, types.SliceType) and not part.has_step) for part in parts
    )


def element(context: Any, builder: Any, kind: Any, array: Any, index: Any, value: Any) -> Any:
    """Where the element stands that an index, an integer for each axis, points to."""
    model = context.data_model_manager[kind]
    shape = _along_axes(model, builder, array, "shape")
    strides = [] if kind.layout == "C" else _along_axes(model, builder, array, "strides")
    axes = zip(parts_of(index), _split(builder, index, value), shape, strict=True)
    places = [_from_the_end(context, builder, *axis) for axis in axes]
    return _address(context, builder, kind, model.get(builder, array, "data"), shape, strides, places)


def window(context: Any, builder: Any, kind: Any, array: Any, index: Any, value: Any, resty: Any) -> Any:
    """The array of type ``resty`` that an index leaves: of axes with a slice, and of those without an index."""
    model, new = context.data_model_manager[kind], context.data_model_manager[resty]
    shape, strides = (_along_axes(model, builder, array, field) for field in ("shape", "strides"))
    places, sizes, steps = [shape[0].type(0)] * kind.ndim, [], []
    for axis, (part, place) in enumerate(zip(parts_of(index), _split(builder, index, value), strict=True)):
        if isinstance(part, types.Integer):
            places[axis] = _from_the_end(context, builder, part, place, shape[axis])
            continue
        first, end = (_inside(builder, builder.extract_value(place, side), shape[axis]) for side in range(2))
        places[axis] = first
        sizes.append(_at_least_zero(builder, builder.sub(end, first)))
        steps.append(strides[axis])
    rest = len(parts_of(index))
    sizes, steps = sizes + shape[rest:], steps + strides[rest:]
    n_items = sizes[0]
    for size in sizes[1:]:
        n_items = builder.mul(n_items, size)
    changed = {
        "nitems": n_items,
        "data": _address(context, builder, kind, model.get(builder, array, "data"), shape, strides, places),
        "shape": cgutils.pack_array(builder, sizes),
        "strides": cgutils.pack_array(builder, steps),
    }
    made = Constant(context.get_value_type(resty), Undefined)
    for field in new._fields:
        member = changed[field] if field in changed else model.get(builder, array, field)
        made = new.set(builder, made, member, field)
    if context.enable_nrt:
        context.nrt.incref(builder, resty, made)
    return made


def _split(builder: Any, index: Any, value: Any) -> Any:
    """The values of the indices."""
    return cgutils.unpack_tuple(builder, value) if isinstance(index, types.BaseTuple) else [value]


def _along_axes(model: Any, builder: Any, array: Any, field: str) -> list[Any]:
    position = model.get_field_position(field)
    return [builder.extract_value(array, [position, axis]) for axis in range(model.fe_type.ndim)]


def _from_the_end(context: Any, builder: Any, kind: Any, place: Any, size: Any) -> Any:
    """An index, counted from the end if it is negative."""
    place = context.cast(builder, place, kind, types.intp if kind.signed else types.uintp)
    if not kind.signed or (isinstance(place, Constant) and place.constant >= 0):
        return place
    return builder.select(builder.icmp_signed("<", place, place.type(0)), builder.add(place, size), place)


def _inside(builder: Any, place: Any, size: Any) -> Any:
    """An end of a slice, between 0 and the size."""
    negative = builder.icmp_signed("<", place, place.type(0))
    place = _at_least_zero(builder, builder.select(negative, builder.add(place, size), place))
    return builder.select(builder.icmp_signed(">", place, size), size, place)


def _at_least_zero(builder: Any, number: Any) -> Any:
    return builder.select(builder.icmp_signed("<", number, number.type(0)), number.type(0), number)


def _address(context: Any, builder: Any, kind: Any, data: Any, shape: Any, strides: Any, places: Any) -> Any:
    if kind.ndim == 1 and kind.layout == "C":
        return builder.gep(data, places)
    return cgutils.get_item_pointer2(context, builder, data, shape, strides, kind.layout, places)
