"""Finds the arrays with the largest number of effective dimensions, which the density model counts
(Chatzopoulos 2012, 4.2.2).

An index that is constant in the region does not count, independent of the declaration (listings 4.1
and 4.2). A linearized subscript counts with its dimensions: `a[i*n + j]` counts as two. Private
arrays, and arrays with fewer dimensions, are excluded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from regionpredict.ir import Access, Expr, Loop, Region
from regionpredict.ir.expr import Atom


def loop_variables(region: Region) -> frozenset[str]:
    """Returns the variables of all loops in the region."""
    return frozenset(loop.variable for loop in region.loops())


def access_dimensions(access: Access, changing: frozenset[str]) -> int:
    """Returns the number of dimensions in which the subscripts of the reference change."""
    return sum(_effective_dimensions(subscript, changing) for subscript in access.subscripts)


def _effective_dimensions(subscript: Expr, changing: frozenset[str]) -> int:
    moving = subscript.names & changing
    if len(moving) < 2:
        return len(moving)
    strides: set[str] = set()
    plain = without_clamps(subscript)
    for name in moving:
        coefficient = plain.coefficient(name)
        strides.add("?" if coefficient is None else str(coefficient).lstrip("-"))
    return len(strides)


def without_clamps(subscript: Expr) -> Expr:
    """Returns the subscript without clamps: `max(i - 1, 0)` becomes `i - 1`."""
    if subscript.kinds.isdisjoint(("min", "max")):
        return subscript
    result = Expr.const(0)
    for monomial, number in subscript.terms.items():
        term = Expr.const(number)
        for factor, power in monomial:
            base = Expr({((factor, 1),): 1})
            if isinstance(factor, Atom) and factor.kind in ("min", "max"):
                sides = sorted(factor.args, key=lambda side: (len(side.names), str(side)))
                base = without_clamps(sides[-1])
            term = term * base**power
        result = result + term
    return result


def array_dimensions(region: Region) -> dict[str, int]:
    """Returns the effective dimensions of every array in the region."""
    changing = loop_variables(region)
    dimensions: dict[str, int] = {}
    for statement, _ in region.statements():
        for access in statement.accesses:
            own = access_dimensions(access, changing)
            dimensions[access.array] = max(dimensions.get(access.array, 0), own)
    return dimensions


def counted_arrays(region: Region, dimensions: Mapping[str, int]) -> frozenset[str]:
    """Returns the arrays with the most dimensions, except private and constant arrays."""
    shared = {
        array.name: dimensions[array.name]
        for array in region.arrays
        if array.name in dimensions and array.storage != "private"
    }
    largest = max(shared.values(), default=0)
    if not largest:
        return frozenset()
    return frozenset(name for name, own in shared.items() if own == largest)


def used_variables(access: Access, loops: Iterable[Loop]) -> frozenset[str]:
    """Returns the variables of `loops` that occur in the reference's subscripts."""
    names: frozenset[str] = frozenset().union(*(s.names for s in access.subscripts))
    return names & {loop.variable for loop in loops}
