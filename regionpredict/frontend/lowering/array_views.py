"""Models casts between pointers to numbers of different sizes: `(float *) a` for doubles `a`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from regionpredict.frontend.lowering.frame import Pointer
from regionpredict.frontend.syntax import UNKNOWN, CType
from regionpredict.ir import Array, Expr


def as_array_of_type(
    base: Pointer, ctype: CType, arrays: dict[str, Array], varying: Callable[[str], Expr]
) -> Pointer:
    """Converts a pointer to the pointer type `ctype`. If the element size changes, the result
    points to a separate array, which is added to `arrays`.
    """
    pointee = ctype.element or UNKNOWN
    shape = arrays.get(base.array)
    numbers = ("int", "float")
    if (
        shape is None or pointee.kind not in numbers or base.pointee.kind not in numbers
        or base.member or len(base.subscripts) != 1 or pointee.bytes == shape.element_bytes
        or base.pointee.bytes != shape.element_bytes
    ):  # fmt: skip
        return base._replace(pointee=pointee)
    scale = Fraction(shape.element_bytes, pointee.bytes)
    kind = f"{pointee.kind}{pointee.bits}"
    name = f"{base.array}@{kind}"
    if name not in arrays:
        dims = tuple(
            None if extent is None or scale.denominator > 1 else extent * scale
            for extent in shape.dims
        )
        arrays[name] = Array(name, pointee.bytes, dims[:1], shape.storage, shape.declared)
    offset = base.subscripts[0] * scale
    if any(isinstance(number, Fraction) for number in offset.terms.values()):
        offset = varying(name)
    return Pointer(name, (offset,), pointee)
