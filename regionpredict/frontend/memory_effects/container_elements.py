"""Finds the calls that create the elements of a container, such as `v.resize(n)`."""

from __future__ import annotations

from regionpredict.frontend.syntax import CallExpr, Expression, Unary, is_place, without_casts
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.library import FILLED_CONTAINER

_METHODS = frozenset(("resize", "assign", "operator="))


def new_elements(call: CallExpr) -> tuple[Expression, Expression] | None:
    """Returns the container whose new elements a call writes, and the construction of these
    elements. None for any other call.
    """
    if not call.method or call.name not in _METHODS:
        return None
    container = call.args[0]
    if isinstance(container, Unary) and container.op == "&":
        container = container.operand
    ctype = type_of(container)
    if not (is_place(container) and ctype.kind == "pointer" and ctype.name.startswith("std::")):
        return None
    if call.name != "operator=":
        return container, CallExpr(FILLED_CONTAINER, None, call.args[1:2], call.span)
    value = without_casts(call.args[1])
    made = isinstance(value, CallExpr) and value.name == FILLED_CONTAINER
    return (container, value) if made else None
