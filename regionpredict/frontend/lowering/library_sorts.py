"""Replaces a call that sorts an array by equivalent loops.

qsort(a, n, sizeof *a, order)
    for (w = 1; w < n; w *= 2)       the passes: runs of w elements are merged
        for (i = 0; i < n; i++) {
            order(a + i, a + i);     elements of two runs, next to each other in time
            memcpy(a + i, a + i);    each element is moved in each pass
        }

Knuth, The Art of Computer Programming, vol. 3, sec. 5.2.4: n log2(n) comparisons and moves. Every
pass goes through the array in order. Other methods are of the same order.
"""

from __future__ import annotations

import math

from regionpredict.frontend.linking import named_function
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    LONG,
    Assign,
    Binary,
    CallExpr,
    Cast,
    Compound,
    CType,
    Decl,
    Expression,
    ExprStmt,
    For,
    IntLit,
    Name,
    Stmt,
    Unary,
    show,
)

_SORTS = frozenset(("qsort", "mergesort", "heapsort"))


def is_sort(name: str) -> bool:
    """Whether a library function of that name sorts with a comparison function."""
    return name.removeprefix("std::") in _SORTS


def sorting_loops(call: CallExpr, context: Context, frame: Frame) -> Stmt | None:
    """The loops that replace a call in `frame`. None if it does not sort, or is not understood.

    The element size must be known from the array's type.
    """
    if not is_sort(call.name) or len(call.args) != 4:
        return None
    base, length, size, order = call.args
    while isinstance(base, Cast) and base.ctype.kind == "pointer":
        base = base.operand
    place = context.pointer(base, frame)
    step = context.value(size, frame).constant
    if place is None or step is None or step <= 0 or place.pointee.bytes != step:
        return None
    if place.array not in context.arrays:
        return None
    at = call.span
    array = Decl(show(base), "local", CType("pointer", element=place.pointee), at)
    element = Decl(f"{call.name}@{at.line}", "local", LONG, at)
    width = Decl(f"passes of {element.name}", "local", LONG, at)
    frame.env[array] = place

    def counted(
        variable: Decl, begin: int, end: Expression, advance: Expression, body: Stmt
    ) -> For:
        # An assignment, not an initializer, because an initial value without other assignments
        # counts as constant.
        start = ExprStmt(Assign("=", Name(variable, at), IntLit(begin), at), at)
        inside = Binary("<", Name(variable, at), end)
        return For(start, inside, advance, body, at)

    def one_more(variable: Decl) -> Expression:
        return Unary("p++", Name(variable, at), at)

    def reached() -> Expression:
        return Binary("+", Name(array, at), Name(element, at))

    compared = ExprStmt(_compared(order, (reached(), reached()), call), at)
    moved = ExprStmt(CallExpr("memcpy", None, (reached(), reached(), size), at), at)
    body = Compound((compared, moved))
    one_pass = counted(element, 0, length, one_more(element), body)
    elements = context.value(length, frame).constant
    if elements is not None:  # otherwise it would be repeated for each pass
        passes = IntLit(max(0, math.ceil(elements) - 1).bit_length())
        return counted(width, 0, passes, one_more(width), one_pass)
    doubled = Assign("*=", Name(width, at), IntLit(2), at)
    return counted(width, 1, length, doubled, one_pass)


def _compared(order: Expression, elements: tuple[Expression, ...], call: CallExpr) -> CallExpr:
    """The call of the comparison function, or of an unknown function."""
    meant = named_function(order)
    if meant is not None:
        return CallExpr(meant.name, meant, elements, call.span)
    while isinstance(order, Cast):
        order = order.operand
    variable = order if isinstance(order, Name) else None
    name = variable.decl.name if variable is not None else f"what {call.name}() compares by"
    return CallExpr(name, None, elements, call.span, pointer=variable)
