"""Arrays inside the elements of an array of structs: `cells[i].v[k]`."""

from __future__ import annotations

from math import prod

from regionpredict.ir import Array, Expr


def extents_with_stride(shape: Array, struct_bytes: int) -> tuple[Expr | None, ...]:
    """Returns the extents of an array inside a struct, such that the array of the next struct
    begins `struct_bytes` later.

    The extents are unchanged if the length is not a multiple of the row length.

    >>> v = Array("v", 8, (Expr.const(3),), "global")
    >>> [str(extent) for extent in extents_with_stride(v, 40)]
    ['5']
    """
    inner = [extent.constant if extent is not None else None for extent in shape.dims]
    if not inner or any(not isinstance(extent, int) for extent in inner):
        return shape.dims
    row = shape.element_bytes * prod(int(extent or 0) for extent in inner[1:])
    if not row or struct_bytes % row or struct_bytes < row * int(inner[0] or 0):
        return shape.dims
    return (Expr.const(struct_bytes // row), *shape.dims[1:])
