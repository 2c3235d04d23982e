"""Replaces operators on atomic objects by calls. For an `_Atomic int`, `c++` becomes an atomic
addition.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.frontend.syntax.addresses import address_of
from regionpredict.frontend.syntax.nodes import CallExpr, Expression, IntLit
from regionpredict.ir import Span

_OPERATORS = {
    "++": "add", "--": "sub", "+=": "add", "-=": "sub", "&=": "and", "|=": "or", "^=": "xor",
    "p++": "add", "p--": "sub",
}  # fmt: skip


def atomic_update(
    op: str, place: Expression, values: Sequence[Expression], span: Span
) -> Expression | None:
    """Returns the call that replaces an operator on an atomic object. None if nothing is
    changed.
    """
    if op == "=":
        return CallExpr("atomic_store", None, (address_of(place, span), *values), span)
    kind = _OPERATORS.get(op)
    if kind is None:
        return None
    operand = values[0] if values and op.endswith("=") else IntLit(1)
    return CallExpr(f"atomic_fetch_{kind}", None, (address_of(place, span), operand), span)
