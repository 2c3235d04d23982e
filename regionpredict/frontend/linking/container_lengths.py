"""The lengths of containers, from `std::vector<double> w(n)` or `m_x.resize(numNode)` in a method.

A container has a length if exactly one place sets it. The length of a local one is an expression of
variables that its function does not assign.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from regionpredict.frontend.syntax import (
    Binary,
    CallExpr,
    Cast,
    Decl,
    Expression,
    Function,
    IntLit,
    Member,
    Name,
    Unary,
    declared_in,
    every_expression,
    expressions_in,
    set_place,
    without_casts,
)

_SETS = frozenset(("resize", "assign"))
_MAY_SET = frozenset(("push_back", "emplace_back", "insert", "erase", "clear", "swap", "operator="))


class Length(NamedTuple):
    """A number of elements, and the function whose variables it uses."""

    value: Expression
    function: Function


def container_lengths(functions: Iterable[Function]) -> dict[Decl, Length]:
    """Container -> its length, for members and variables whose length is set at one place."""
    lengths: dict[Decl, Length] = {}
    several: set[Decl] = set()
    for function in functions:
        expressions = list(expressions_in(function.body))
        lengths.update(_constructed(function, expressions))
        for expression in expressions:
            container = _container_of(expression)
            if container is None or not isinstance(expression, CallExpr):
                continue
            set_here = expression.name in _SETS and len(expression.args) > 1
            if container in lengths or container.kind != "field" or not set_here:
                several.add(container)
            else:
                lengths[container] = Length(expression.args[1], function)
    return {held: length for held, length in lengths.items() if held not in several}


def _constructed(function: Function, expressions: list[Expression]) -> dict[Decl, Length]:
    """The local containers that are constructed with a length."""
    made = {}
    for decl in declared_in(function.body):
        allocation = without_casts(decl.init) if decl.ctype.name and decl.init else None
        if isinstance(allocation, CallExpr) and allocation.name == "calloc":
            made[decl] = Length(allocation.args[0], function)
    if made:
        changed = {place.decl for expression in expressions
                   if isinstance(place := set_place(expression), Name)}  # fmt: skip
        return {decl: length for decl, length in made.items()
                if all(isinstance(part, (IntLit, Binary, Cast)) or
                       (isinstance(part, Name) and part.decl not in changed)
                       for part in every_expression(length.value))}  # fmt: skip
    return made


def _container_of(call: Expression) -> Decl | None:
    """The member or variable whose length a call may change."""
    if not isinstance(call, CallExpr) or not call.method or call.name not in _SETS | _MAY_SET:
        return None
    container = call.args[0]
    if isinstance(container, Unary) and container.op == "&":
        container = container.operand
    if isinstance(container, Name):
        return container.decl
    return container.field if isinstance(container, Member) else None
