"""Classifies pointer expressions as pointers or positions in an array, and names values that have
no name.

(&cells[0])->x,  cells->x     of an array: an element's member, in memory as cells[0].x is
p->x                          of a pointer: at one place all the time, as a variable is
"""

from __future__ import annotations

from collections.abc import Callable

from regionpredict.frontend.lowering.frame import Pointer
from regionpredict.frontend.syntax import Expression, Index, Member, Name, Opaque, Unary
from regionpredict.ir import Array
from regionpredict.quoting import double_quoted


def in_array(base: Expression, place: Pointer, shape: Array | None) -> bool:
    """Returns whether `base->x` is a member of an array element.

    `shape` is the array that contains `place`.
    """
    if any(subscript != 0 for subscript in place.subscripts):
        return True
    if shape is not None and shape.dims[:1] not in ((), (None,)):
        return True
    return isinstance(base, Unary) and base.op == "&" and isinstance(base.operand, Index)


def is_written_pointer(expression: Expression) -> bool:
    """Returns whether the expression is a pointer in the source, neither a container nor a
    reference.
    """
    if not isinstance(expression, Name):
        return False
    ctype = expression.decl.ctype
    return ctype.kind == "pointer" and not ctype.name and not expression.decl.reference


def nameless(expression: Expression | None) -> str:
    """Returns the text that is shown for a value without a name. It is the literal for a string,
    and `?` otherwise.

    >>> nameless(Opaque("", string="rows"))
    '"rows"'
    """
    text = expression.string if isinstance(expression, Opaque) else None
    return "?" if text is None else double_quoted(text)


def is_nameless(label: str) -> bool:
    """Returns whether the label belongs to a value without a name."""
    return label == "?" or label.startswith('"')


def place_label(
    place: Pointer, expression: Expression, element: Callable[[Expression | None], Pointer | None]
) -> str:
    """Returns the name of a value in memory, with brackets for its subscripts: `row`, `t[].n`, and
    `dom[]->n`. The last form is for elements that are pointers (`element`).
    """
    if not place.member:
        return place.array
    while isinstance(expression, Member) and isinstance(expression.base, Member):
        expression = expression.base
    of = element(expression.base) if isinstance(expression, Member) and expression.arrow else None
    dot = "->" if of is not None and of.pointee.kind == "pointer" else "."
    return f"{place.array}{'[]' * len(place.subscripts)}{dot}{place.member}"
