"""Classifies pointer expressions as scalars or array elements, and names memory values.

(&cells[0])->x,  cells->x     member of an array element, the same as cells[0].x
p->x                          like a scalar variable, if p does not change
"""

from __future__ import annotations

from collections.abc import Callable

from regionpredict.frontend.lowering.frame import Pointer
from regionpredict.frontend.syntax import Expression, Index, Member, Name, Opaque, Unary
from regionpredict.ir import Array
from regionpredict.quoting import double_quoted


def is_in_array_element(base: Expression, place: Pointer, shape: Array | None) -> bool:
    """Returns whether `base->x` is a member of an array element. `place` is the address of `base`
    in the array `shape`.
    """
    if any(subscript != 0 for subscript in place.subscripts):
        return True
    if shape is not None and shape.dims[:1] not in ((), (None,)):
        return True
    return isinstance(base, Unary) and base.op == "&" and isinstance(base.operand, Index)


def is_written_pointer(expression: Expression) -> bool:
    """Returns whether the expression is a variable of pointer type, neither a container nor a
    reference.
    """
    if not isinstance(expression, Name):
        return False
    ctype = expression.decl.ctype
    return ctype.kind == "pointer" and not ctype.name and not expression.decl.reference


def label_without_name(expression: Expression | None) -> str:
    """Returns the label of a value without a name: the literal for a string, and `?` otherwise.

    >>> label_without_name(Opaque("", string="rows"))
    '"rows"'
    """
    text = expression.string if isinstance(expression, Opaque) else None
    return "?" if text is None else double_quoted(text)


def is_label_without_name(label: str) -> bool:
    """Returns whether a label is `?` or a string literal, for a value without a name."""
    return label == "?" or label.startswith('"')


def memory_label(
    place: Pointer, expression: Expression, element: Callable[[Expression | None], Pointer | None]
) -> str:
    """Returns the label of a value in memory, with `[]` for subscripts: `row`, `t[].n`, or
    `dom[]->n` for an array of pointers.

    `element` returns the address of an expression.
    """
    if not place.member:
        return place.array
    while isinstance(expression, Member) and isinstance(expression.base, Member):
        expression = expression.base
    of = element(expression.base) if isinstance(expression, Member) and expression.arrow else None
    dot = "->" if of is not None and of.pointee.kind == "pointer" else "."
    return f"{place.array}{'[]' * len(place.subscripts)}{dot}{place.member}"
