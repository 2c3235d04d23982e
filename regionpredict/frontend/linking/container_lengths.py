"""The lengths of containers in classes, from calls such as `m_x.resize(numNode)` in a method.

A member has a length if exactly one place sets it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    Expression,
    Function,
    Member,
    Unary,
    expressions_in,
)

_SETS = frozenset(("resize", "assign"))
_MAY_SET = frozenset(("push_back", "emplace_back", "insert", "erase", "clear", "swap", "operator="))


class Length(NamedTuple):
    """A number of elements, and the function whose variables it uses."""

    value: Expression
    function: Function


def container_lengths(functions: Iterable[Function]) -> dict[Decl, Length]:
    """Container -> its length, for members whose length is set at one place."""
    lengths: dict[Decl, Length] = {}
    several: set[Decl] = set()
    for function in functions:
        for expression in expressions_in(function.body):
            field = _field_of(expression)
            if field is None or not isinstance(expression, CallExpr):
                continue
            if field in lengths or expression.name in _MAY_SET or len(expression.args) < 2:
                several.add(field)
            else:
                lengths[field] = Length(expression.args[1], function)
    return {field: length for field, length in lengths.items() if field not in several}


def _field_of(call: Expression) -> Decl | None:
    """The member whose length a call may change."""
    if not isinstance(call, CallExpr) or not call.method or call.name not in _SETS | _MAY_SET:
        return None
    container = call.args[0]
    if isinstance(container, Unary) and container.op == "&":
        container = container.operand
    return container.field if isinstance(container, Member) else None
