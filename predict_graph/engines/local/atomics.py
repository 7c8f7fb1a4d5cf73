"""Atomic minimum on array elements, which numba lacks for the CPU.

Threads that lower the same element may do so in any order: the result is the same.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["atomic_min"]


@intrinsic  # type: ignore[untyped-decorator]
def atomic_min(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Set ``array[index] = min(array[index], value)`` in one step; signed integers only.

    In compiled code: ``atomic_min(array, index, value)``, with a `value` of the type of `array`.
    """
    signature = types.void(array, types.intp, array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        view = context.make_array(kind)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(
            context, builder, kind, view, [arguments[1]], wraparound=False
        )
        builder.atomic_rmw("min", pointer, arguments[2], "monotonic")
        return context.get_dummy_value()

    return signature, generate
