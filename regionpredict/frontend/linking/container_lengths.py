"""Finds the lengths of containers, from `std::vector<double> w(n)` or `m_x.resize(numNode)`.

A length is known if exactly one statement sets it. The length of a local container is an expression
in variables that its function does not assign.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
from regionpredict.library import FILLED_CONTAINER

_SETS = frozenset(("resize", "assign"))
_MAY_SET = frozenset((
    "push_back", "emplace_back", "push_front", "emplace_front", "push", "insert", "emplace",
    "emplace_hint", "try_emplace", "insert_or_assign", "erase", "clear", "swap", "operator=",
))  # fmt: skip


class Length(NamedTuple):
    """A number of elements, and the function to which the variables in it belong."""

    value: Expression
    function: Function


def container_lengths(functions: Collection[Function]) -> dict[Decl, Length]:
    """Maps containers (members or variables) whose length is set exactly once to this length."""
    bodies = {function: list(expressions_in(function.body)) for function in functions}
    lengths: dict[Decl, Length] = {}
    changed = _changed_variables(bodies)
    for function, expressions in bodies.items():
        lengths.update(_constructed_containers(function, changed))
        for call in expressions:
            field = _container_of(call)
            if field is None or field.kind != "field" or not isinstance(call, CallExpr):
                continue
            if field in lengths or call.name in _MAY_SET or len(call.args) < 2:
                changed.add(field)
            else:
                lengths[field] = Length(call.args[1], function)
    return {held: length for held, length in lengths.items() if held not in changed}


def _constructed_containers(function: Function, changed: Collection[Decl]) -> dict[Decl, Length]:
    """Returns the local containers that are constructed with a length of unchanged variables."""
    made = {}
    for decl in declared_in(function.body):
        allocation = without_casts(decl.init) if decl.ctype.name and decl.init else None
        if isinstance(allocation, CallExpr) and allocation.name == FILLED_CONTAINER:
            parts = list(every_expression(allocation.args[0]))
            steady = all(part.decl not in changed for part in parts if isinstance(part, Name))
            if steady and all(isinstance(part, (IntLit, Name, Binary, Cast)) for part in parts):
                made[decl] = Length(allocation.args[0], function)
    return made


def _changed_variables(bodies: Mapping[Function, list[Expression]]) -> set[Decl]:
    """Returns variables that a function assigns or resizes, or passes to a function that changes
    them.
    """
    changed: set[Decl] = set()
    passed: list[tuple[Decl, Decl]] = []  # (argument, parameter)
    defined = {function.decl: function for function in bodies}
    for expressions in bodies.values():
        for expression in expressions:
            if isinstance(place := set_place(expression), Name):
                changed.add(place.decl)
            if (container := _container_of(expression)) is not None:
                changed.update([container] if container.kind != "field" else ())
            if isinstance(expression, CallExpr) and not expression.free:
                callee = defined.get(expression.decl) if expression.decl is not None else None
                for position, argument in enumerate(expression.args):
                    if not isinstance(argument, Name):
                        continue
                    if callee is not None and position < len(callee.parameters):
                        passed.append((argument.decl, callee.parameters[position]))
                    elif argument.decl.ctype.name and not expression.name.startswith("std::"):
                        changed.add(argument.decl)
    while True:
        more = {argument for argument, parameter in passed if parameter in changed} - changed
        if not more:
            return changed
        changed |= more


def _container_of(call: Expression) -> Decl | None:
    """Returns the member or variable whose length a call may change. None for any other call."""
    if not isinstance(call, CallExpr) or not call.method or call.name not in _SETS | _MAY_SET:
        return None
    container = call.args[0]
    if isinstance(container, Unary) and container.op == "&":
        container = container.operand
    if isinstance(container, Name):
        return container.decl
    return container.field if isinstance(container, Member) else None
