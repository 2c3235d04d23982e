"""Finds the calls of a function through struct members. The address of the function must not be
used elsewhere.

Example:

        l->base.apply = smooth;             the only use of `smooth` other than calls
        op->apply(op, x, n);                a call of `smooth`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from regionpredict.frontend.linking.stored_functions import Place, place_of
from regionpredict.frontend.syntax import (
    Assign,
    CallExpr,
    Decl,
    DeclStmt,
    Expression,
    Function,
    Member,
    Name,
    Return,
    declared_in,
    every_expression,
    every_statement,
    expressions_in,
    is_variable,
    without_casts,
)


class PointerUses(NamedTuple):
    """Uses of a function, and of the members that contain it.

    `named` counts the uses of the function's name outside calls. `calls` are the calls through a
    member. `read` says whether the value of a member is also used elsewhere.
    """

    named: int
    calls: tuple[tuple[Function, CallExpr], ...]
    read: bool


def pointer_uses(
    functions: Iterable[Function], variables: Iterable[Decl], decl: Decl, places: set[Place]
) -> PointerUses:
    """Returns the uses of a function, and of the members `places`, in a unit's functions and
    initializers.
    """
    named, read = 0, False
    calls: list[tuple[Function, CallExpr]] = []
    outside = dict.fromkeys(variables)  # in order, without duplicates
    inside: set[Decl] = set()
    for function in functions:
        inside |= declared_in(function.body)
        for inner in expressions_in(function.body):
            named += is_variable(inner, decl)
            if isinstance(inner, Name) and inner.decl.kind in ("global", "static"):
                outside[inner.decl] = None
            if isinstance(inner, CallExpr) and inner.pointer is not None and (
                inner.decl is None and place_of(inner.pointer) in places
            ):  # fmt: skip
                calls.append((function, inner))
        read = read or any(
            isinstance(value, Member) and place_of(value) in places
            for value in map(without_casts, _stored_or_passed_values(function))
        )
    waiting = [variable for variable in outside if variable not in inside]
    while waiting:
        init = waiting.pop().init
        for inner in every_expression(init) if init is not None else ():
            named += is_variable(inner, decl)
            if isinstance(inner, Name) and inner.decl.kind in ("global", "static") and (
                inner.decl not in outside
            ):  # fmt: skip
                outside[inner.decl] = None
                waiting.append(inner.decl)
    return PointerUses(named, tuple(calls), read)


def _stored_or_passed_values(function: Function) -> Iterator[Expression]:
    """Yields the values that a function stores, passes or returns."""
    for statement in every_statement(function.body):
        if isinstance(statement, DeclStmt):
            yield from (decl.init for decl in statement.decls if decl.init is not None)
        elif isinstance(statement, Return) and statement.value is not None:
            yield statement.value
    for inner in expressions_in(function.body):
        if isinstance(inner, Assign):
            yield inner.right
        elif isinstance(inner, CallExpr):
            yield from inner.args
