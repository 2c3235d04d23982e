"""Finds arrays that one loop fills with prefix sums, such as the row starts of a sparse matrix.

    off[0] = 0;
    for (int u = 0; u < n; u++)
        off[u + 1] = off[u] + (u < m ? 90 : 1);      off[k + 1] is off[k] + (k < m ? 90 : 1)

All uses of the array must be visible in the unit: subscripts, allocation and release. The array is
therefore local or `static`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Compound,
    Decl,
    Effects,
    Expression,
    ExprStmt,
    For,
    Function,
    Index,
    IntLit,
    Name,
    every_statement,
    expressions_in,
    leaves_loop,
    set_place,
    without_casts,
)
from regionpredict.library import allocated


class RunningTotal(NamedTuple):
    """The rule `a[k + 1] = a[k] + increment` of a prefix sum, where `counter` is k + `ahead`."""

    counter: Decl
    increment: Expression
    ahead: int


def running_totals(functions: Collection[Function], effects: Effects) -> dict[Decl, RunningTotal]:
    """Maps each array to the rule that fills it. `functions` are the functions of one unit. Arrays
    that other units or callers can access are excluded.
    """
    fills = {
        assign: (decl, total)
        for function in functions
        for assign, decl, total in _prefix_sums_in(function, effects)
        if decl.kind != "parameter" and not decl.symbol
    }
    stores = Counter(decl for decl, _ in fills.values())
    changed = _arrays_with_other_uses(functions, stores.keys(), fills.keys()) if fills else set()
    return {
        decl: total for decl, total in fills.values() if stores[decl] == 1 and decl not in changed
    }


def _prefix_sums_in(
    function: Function, effects: Effects
) -> Iterator[tuple[Expression, Decl, RunningTotal]]:
    """Yields the assignments that every iteration of a loop executes. The loop's counter must grow
    by one.
    """
    for loop in every_statement(function.body):
        if not isinstance(loop, For) or loop.increment is None or leaves_loop(loop.body):
            continue
        steps = effects.of(loop.increment)
        items = loop.body.items if isinstance(loop.body, Compound) else (loop.body,)
        for item in items:
            found = _running_total(item.expr) if isinstance(item, ExprStmt) else None
            if found is None or not isinstance(item, ExprStmt):
                continue
            decl, total = found
            if steps == {total.counter: 1} and total.counter not in effects.written_in(loop.body):
                yield item.expr, decl, total


def _running_total(expression: Expression) -> tuple[Decl, RunningTotal] | None:
    """Returns the array and its rule, if an assignment computes an element from the previous
    element.
    """
    if not isinstance(expression, Assign) or expression.op != "=":
        return None
    right = without_casts(expression.right)
    if not isinstance(right, Binary) or right.op != "+":
        return None
    place = _parsed_element(expression.left)
    for before, increment in ((right.left, right.right), (right.right, right.left)):
        read = _parsed_element(without_casts(before))
        if place is None or read is None or place[:2] != read[:2]:
            continue
        if place[2] == read[2] + 1:
            return place[0], RunningTotal(place[1], increment, -read[2])
    return None


def _parsed_element(expression: Expression) -> tuple[Decl, Decl, int] | None:
    """Returns the array, the variable and the constant of `a[i + 1]`."""
    if not isinstance(expression, Index) or not isinstance(expression.base, Name):
        return None
    index, added = without_casts(expression.index), 0
    if isinstance(index, Binary) and index.op in ("+", "-") and isinstance(index.right, IntLit):
        added = index.right.value if index.op == "+" else -index.right.value
        index = without_casts(index.left)
    return (expression.base.decl, index.decl, added) if isinstance(index, Name) else None


def _arrays_with_other_uses(
    functions: Collection[Function], arrays: Collection[Decl], fills: Collection[Expression]
) -> set[Decl]:
    """Returns the arrays with other uses, which may change elements after the first one."""
    used: Counter[Decl] = Counter()
    known: Counter[Decl] = Counter()
    changed: set[Decl] = set()
    for function in functions:
        for expression in expressions_in(function.body):
            if isinstance(expression, Name):
                used[expression.decl] += expression.decl in arrays
                continue
            for decl in _arrays_in_known_use(expression):
                known[decl] += 1
            place = set_place(expression)
            if isinstance(place, Index) and isinstance(place.base, Name):
                first = isinstance(place.index, IntLit) and place.index.value == 0
                if not first and expression not in fills:
                    changed.add(place.base.decl)
    return changed | {decl for decl in arrays if used[decl] != known[decl]}


def _arrays_in_known_use(expression: Expression) -> Iterator[Decl]:
    """Yields the arrays that an expression subscripts, allocates or releases."""
    if isinstance(expression, Index) and isinstance(expression.base, Name):
        yield expression.base.decl
    elif isinstance(expression, Assign) and isinstance(expression.left, Name):
        made = without_casts(expression.right)
        if isinstance(made, CallExpr) and allocated(made.name) is not None:
            yield expression.left.decl
    elif isinstance(expression, CallExpr) and expression.name == "free":
        for argument in map(without_casts, expression.args):
            if isinstance(argument, Name):
                yield argument.decl
