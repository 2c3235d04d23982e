"""How many bytes: the working set as the boxes around the elements that a region touches."""

from __future__ import annotations

from collections.abc import Iterable

from regionpredict.analysis.dimensions import unclamped
from regionpredict.ir import Access, Array, Expr, Loop, Region
from regionpredict.ir.expr import ONE

Box = tuple[tuple[Expr, Expr], ...]  # (lowest, highest) subscript a dimension


def working_set(region: Region) -> tuple[Expr | None, tuple[str, ...]]:
    """Bytes touched by one run of the region, and the arrays whose part is unknown.

    The sum over the shared arrays of the bounding box of their touched elements; None where the
    part of one is unknown.
    """
    total: Expr | None = Expr.const(0)
    unknown = []
    for array in region.arrays:
        if array.storage == "private":
            continue
        size = footprint(array, region)
        if size is None:
            unknown.append(array.name)
            total = None
        elif total is not None:
            total = total + size
    return total, tuple(unknown)


def footprint(array: Array, region: Region) -> Expr | None:
    """Bytes of the bounding box of the elements of one array; None where it is not known."""
    box: Box | None = None
    for statement, loops in region.statements():
        for access in statement.accesses:
            if access.array != array.name:
                continue
            own = access_box(access, array, loops)
            if own is None:
                return declared_bytes(array)
            box = own if box is None else _union(box, own)
    if box is None:
        return Expr.const(0)
    return _volume(box) * array.element_bytes


def declared_bytes(array: Array) -> Expr | None:
    """Bytes of the whole array as declared; None where an extent is not."""
    total = ONE
    for extent in array.dims:
        if extent is None:
            return None
        total = total * extent
    return total * array.element_bytes


def access_box(access: Access, array: Array, loops: tuple[Loop, ...]) -> Box | None:
    """Lowest and highest subscript of a reference over all iterations of its loops."""
    sides = []
    for position, subscript in enumerate(access.subscripts):
        side = _range(unclamped(subscript), loops)
        if side is None:
            extent = array.dims[position] if position < len(array.dims) else None
            if extent is None:
                return None
            side = (Expr.const(0), extent - 1)
        sides.append(side)
    return tuple(sides)


def _range(subscript: Expr, loops: tuple[Loop, ...]) -> tuple[Expr, Expr] | None:
    low = high = subscript
    for loop in reversed(loops):
        if loop.variable not in low.names and loop.variable not in high.names:
            continue
        ends = _loop_ends(loop)
        if ends is None:
            return None
        moved_low = _at_end(low, loop.variable, ends, lowest=True)
        moved_high = _at_end(high, loop.variable, ends, lowest=False)
        if moved_low is None or moved_high is None:
            return None
        low, high = moved_low, moved_high
    return low, high


def _loop_ends(loop: Loop) -> tuple[Expr, Expr] | None:
    """The smallest and the largest value of a loop's variable."""
    trips, step = loop.trips, loop.step.constant if loop.step is not None else None
    if trips is None or loop.start is None or loop.bound is None or not isinstance(step, int):
        return None
    if abs(step) == 1:
        last = loop.start + (trips - 1) * step
    else:  # the stride's remainder matters little for a box: the bound itself is near
        last = loop.bound - 1 if loop.comparison == "<" else loop.bound
    return (loop.start, last) if step > 0 else (last, loop.start)


def _at_end(side: Expr, name: str, ends: tuple[Expr, Expr], *, lowest: bool) -> Expr | None:
    if name not in side.names:
        return side
    coefficient = side.coefficient(name)
    if coefficient is None:
        return None
    rises = _sign(coefficient)
    if rises is None:
        return None
    return side.substitute({name: ends[0] if rises == lowest else ends[1]})


def _sign(expression: Expr) -> bool | None:
    """Whether an expression over sizes, taken to be positive, is positive; None if unclear."""
    signs = {number > 0 for number in expression.terms.values()}
    if len(signs) == 1:
        return signs.pop()
    leading = [number for monomial, number in expression.terms.items() if monomial]
    if leading and len({number > 0 for number in leading}) == 1:
        return leading[0] > 0  # n - 1: the constant does not turn the sign
    return None


def _union(left: Box, right: Box) -> Box:
    if len(left) != len(right):
        return left if len(left) > len(right) else right
    return tuple(
        (_lower(a[0], b[0]), _higher(a[1], b[1])) for a, b in zip(left, right, strict=True)
    )


def _lower(a: Expr, b: Expr) -> Expr:
    difference = _difference(a, b)
    if difference is None:
        return Expr.atom("min", *_ordered(a, b))
    return a if difference <= 0 else b


def _higher(a: Expr, b: Expr) -> Expr:
    difference = _difference(a, b)
    if difference is None:
        return Expr.atom("max", *_ordered(a, b))
    return a if difference >= 0 else b


def _ordered(*sides: Expr) -> Iterable[Expr]:
    return sorted(sides, key=str)


def _difference(a: Expr, b: Expr) -> int | None:
    """The sign of a - b where names are taken as sizes (at least 1), None where unclear."""
    gap = a - b
    value = gap.constant
    if value is not None:
        return (value > 0) - (value < 0)
    sign = _sign(gap)
    return None if sign is None else (1 if sign else -1)


def _volume(box: Box) -> Expr:
    total = ONE
    for low, high in box:
        total = total * (high - low + 1)
    return total
