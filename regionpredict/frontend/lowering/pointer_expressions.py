"""What the text of a pointer tells of it: whether it is none, one, or where in an array it points.

(&cells[0])->x,  cells->x     of an array: an element's member, in memory as cells[0].x is
p->x                          of a pointer: at one place all the time, as a variable is
"""

from __future__ import annotations

from regionpredict.frontend.lowering.frame import Pointer
from regionpredict.frontend.syntax import Cast, Expression, Index, IntLit, Name, Unary
from regionpredict.ir import Array


def in_array(base: Expression, place: Pointer, shape: Array | None) -> bool:
    """Whether `base->x` is a member of an array's element; `shape` is what `place` lies in."""
    if any(subscript != 0 for subscript in place.subscripts):
        return True
    if shape is not None and shape.dims[:1] not in ((), (None,)):
        return True
    return isinstance(base, Unary) and base.op == "&" and isinstance(base.operand, Index)


def is_null(expression: Expression) -> bool:
    """Whether it is the null pointer, as far as the text says."""
    while isinstance(expression, Cast):
        expression = expression.operand
    return isinstance(expression, IntLit) and expression.value == 0


def is_written_pointer(expression: Expression) -> bool:
    """Whether it is a pointer that the source writes as one: no container, no reference."""
    if not isinstance(expression, Name):
        return False
    ctype = expression.decl.ctype
    return ctype.kind == "pointer" and not ctype.name and not expression.decl.reference
