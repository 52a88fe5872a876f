"""Pass arguments without reference counting, because the caller owns them until the function returns.

Numba counts a reference whenever compiled code passes an array on or takes it out of a tuple. For a state and a run
with about thirty arrays, that costs as much as a duel. References to an array without an owner are not counted.
"""

from typing import Any, cast

from numba import types
from numba.extending import intrinsic


def _borrowed(typing_context: Any, value: Any) -> Any:
    """Return the same arrays, generators or tuples of them, without an owner.

    Use it in compiled code only, and only for arguments of the function that calls it: Numba frees a local variable
    after its last use, which may come before the borrowed value is used.
    """

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _without_owner(context, builder, signature.return_type, args[0])

    return value(value), lower


borrowed = cast(Any, intrinsic(_borrowed))


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        members: Any = enumerate(cast(Any, kind))
        parts = [_without_owner(context, builder, member, builder.extract_value(value, i)) for i, member in members]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array | type(types.npy_rng)):
        fields = context.make_helper(builder, kind, value=value)
        fields.meminfo = fields.meminfo.type(None)
        return fields._getvalue()
    return value
