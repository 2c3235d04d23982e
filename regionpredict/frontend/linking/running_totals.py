"""Finds arrays that one loop fills with running totals, such as the row starts of a sparse matrix.

    off[0] = 0;
    for (int u = 0; u < n; u++)
        off[u + 1] = off[u] + (u < m ? 90 : 1);      off[k + 1] is off[k] + (k < m ? 90 : 1)

The unit must show all uses of the array: subscripts, its allocation and its release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Decl,
    Expression,
    For,
    Function,
    Index,
    IntLit,
    Name,
    every_statement,
    expressions_in,
    set_place,
    without_casts,
)
from regionpredict.library import allocated

_RELEASES = frozenset(("free", "delete"))


class RunningTotal(NamedTuple):
    """`a[k + 1] = a[k] + increment` for `counter` = k + `ahead`."""

    counter: Decl
    increment: Expression
    ahead: int


def running_totals(functions: Collection[Function]) -> dict[Decl, RunningTotal]:
    """Array -> how it is filled."""
    totals: dict[Decl, RunningTotal] = {}
    stores: Counter[Decl] = Counter()
    for function in functions:
        for decl, total in _filled_in(function):
            totals[decl] = total
            stores[decl] += 1
    if not totals:
        return {}
    changed = _otherwise_used(functions, totals)
    return {
        decl: total for decl, total in totals.items() if stores[decl] == 1 and decl not in changed
    }


def _filled_in(function: Function) -> Iterator[tuple[Decl, RunningTotal]]:
    found = [one for one in map(_total, expressions_in(function.body)) if one is not None]
    if not found:
        return
    loops = (loop for loop in every_statement(function.body) if isinstance(loop, For))
    steps = [set_place(loop.increment) for loop in loops if loop.increment is not None]
    counters = {step.decl for step in steps if isinstance(step, Name)}
    for decl, total in found:
        if total.counter in counters:
            yield decl, total


def _total(expression: Expression) -> tuple[Decl, RunningTotal] | None:
    """The array and its increment, if an assignment is to the element after the one it reads."""
    if not isinstance(expression, Assign) or expression.op != "=":
        return None
    right = without_casts(expression.right)
    if not isinstance(right, Binary) or right.op != "+":
        return None
    place = _element(expression.left)
    for before, increment in ((right.left, right.right), (right.right, right.left)):
        read = _element(without_casts(before))
        if place is None or read is None or place[:2] != read[:2]:
            continue
        if place[2] == read[2] + 1:
            return place[0], RunningTotal(place[1], increment, -read[2])
    return None


def _element(expression: Expression) -> tuple[Decl, Decl, int] | None:
    """The array, the variable and the constant of `a[i + 1]`."""
    if not isinstance(expression, Index) or not isinstance(expression.base, Name):
        return None
    index, added = without_casts(expression.index), 0
    if isinstance(index, Binary) and index.op in ("+", "-") and isinstance(index.right, IntLit):
        added = index.right.value if index.op == "+" else -index.right.value
        index = without_casts(index.left)
    return (expression.base.decl, index.decl, added) if isinstance(index, Name) else None


def _otherwise_used(functions: Collection[Function], arrays: Collection[Decl]) -> set[Decl]:
    """The arrays with a use that may change other elements than the first."""
    used: Counter[Decl] = Counter()
    known: Counter[Decl] = Counter()
    changed: set[Decl] = set()
    for function in functions:
        for expression in expressions_in(function.body):
            if isinstance(expression, Name):
                used[expression.decl] += expression.decl in arrays
                continue
            for decl in _harmless(expression):
                known[decl] += 1
            place = set_place(expression)
            if isinstance(place, Index) and isinstance(place.base, Name):
                first = isinstance(place.index, IntLit)
                if not first and _total(expression) is None:
                    changed.add(place.base.decl)
    return changed | {decl for decl in arrays if used[decl] != known[decl]}


def _harmless(expression: Expression) -> Iterator[Decl]:
    """The arrays that an expression subscripts, allocates or releases."""
    if isinstance(expression, Index) and isinstance(expression.base, Name):
        yield expression.base.decl
    elif isinstance(expression, Assign) and isinstance(expression.left, Name):
        made = without_casts(expression.right)
        if isinstance(made, CallExpr) and allocated(made.name) is not None:
            yield expression.left.decl
    elif isinstance(expression, CallExpr) and expression.name in _RELEASES:
        for argument in map(without_casts, expression.args):
            if isinstance(argument, Name):
                yield argument.decl
