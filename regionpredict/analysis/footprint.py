"""Computes the working set in bytes, from bounding boxes of the elements that a region accesses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from regionpredict.analysis.bindings import Bindings
from regionpredict.analysis.dimensions import without_clamps
from regionpredict.analysis.given_sizes import extent_name
from regionpredict.analysis.loop_enumeration import (
    Extent,
    count_executions,
    extents_of_all,
    has_unknown_trips,
)
from regionpredict.analysis.symbolic.domain import Domain, Range, domain_of
from regionpredict.ir import Access, Array, Expr, Loop, Region
from regionpredict.ir.expr import ONE, Atom

Side = tuple[Expr, Expr]  # (lowest, highest) subscript of one dimension
Box = tuple[Side, ...]
KnownSides = dict[tuple[Range, ...], dict[Expr, Side | None]]
"""The lowest and highest values of subscripts, by enclosing loops. They are cached, since
references to the arrays of a region often have equal subscripts.
"""


class Reference(NamedTuple):
    """A reference with the ranges of its loops. `ranges` is None if the loops are not supported."""

    access: Access
    ranges: tuple[Range, ...] | None


def working_set(region: Region) -> tuple[Expr | None, tuple[str, ...]]:
    """Returns the bytes that one run of the region accesses, and the arrays or functions for which
    they are unknown.

    The bytes are the sum of the bounding boxes of accessed elements over the shared arrays. They
    are None if the accessed part of an array is unknown, or if a function without a visible body
    may access other memory.
    """
    unknown = [f"{call.name}()" for s, _ in region.statements() for call in s.calls if call.memory]
    total: Expr | None = Expr.const(0) if region.nest is not None and not unknown else None
    references = distinct_references(region)
    known: KnownSides = {}
    for array in region.arrays:
        if array.storage == "private" or _containing_array(array, region) is not None:
            continue
        size = footprint_bytes(array, references.get(array.name, ()), known)
        if size is None:
            unknown.append(array.name)
            total = None
        elif total is not None:
            total = total + size
    return total, tuple(unknown)


def may_be_less(region: Region, bindings: Bindings) -> bool:
    """Whether the region may access fewer bytes than its bounding boxes contain.

    This is possible if a loop ends early or has an unknown trip count. It is also possible if the
    elements of an array are unknown, or if two arrays share bytes.
    """
    if any(loop.exits for loop in region.loops()):
        return True
    if any(has_unknown_trips(loops, bindings.values) for _, loops in region.statements()):
        return True
    names = {access.array for statement, _ in region.statements() for access in statement.accesses}
    if any(name.partition("@")[0] in names for name in names if "@" in name):
        return True  # the array is also accessed with another element size
    shared = {array.name for array in region.arrays if array.storage != "private"}
    return any(
        subscript.has_unreadable_part
        for statement, _ in region.statements()
        for access in statement.accesses
        if access.array in shared
        for subscript in access.subscripts
    )


def touched_bytes(region: Region, bindings: Bindings) -> int | None:
    """Returns the working set in bytes for these values. Each box extends from the first to the
    last element.

    None if a name has no value, or if too many iterations would have to be enumerated.
    """
    total = 0
    loops_of = {nest: loops for _, loops, nest in region.placed_statements()}
    boxes: dict[str, list[Extent]] = {}
    arrays = {array.name: array for array in region.arrays}
    distinct: dict[tuple[int, ...], dict[tuple[str, tuple[Expr, ...]], Access]] = {}
    whole: set[str] = set()
    structs = _containing_arrays(region)
    for statement, _, nest in region.placed_statements():
        if any(call.memory for call in statement.calls):
            return None
        for access in (_as_reference_to_struct(access, structs) for access in statement.accesses):
            if arrays[access.array].storage != "private":
                known = distinct.setdefault(nest, {})
                known.setdefault((access.array, access.subscripts), access)
    for nest, references in distinct.items():
        readable = [_readable_subscripts(access) for access in references.values()]
        extents = extents_of_all(readable, loops_of[nest], bindings.values)
        for access, ends in zip(references.values(), extents, strict=True):
            sides = _box_sides(access, arrays[access.array], ends, loops_of[nest], bindings)
            if sides is None:
                return None
            if not sides:
                continue
            before = boxes.get(access.array)
            if before is not None and len(before) != len(sides):
                whole.add(access.array)
            boxes[access.array] = [
                Extent(min(a.low, b.low), max(a.high, b.high))
                for a, b in zip(before or sides, sides, strict=False)
            ]
    for name, box in boxes.items():
        size = arrays[name].element_bytes
        base = name.partition("@")[0]
        if name in whole:
            return None
        if base != name and base in boxes:  # the same bytes, accessed with another element size
            if len(box) != 1 or len(boxes[base]) != 1:
                return None
            own, (other,) = arrays[base].element_bytes, boxes[base]
            low = min(box[0].low * size, other.low * own)
            high = max((box[0].high + 1) * size, (other.high + 1) * own)
            total += high - low - own * (other.high - other.low + 1)
            continue
        for side in box:
            size *= side.high - side.low + 1
        total += size
    return total


def _readable_subscripts(access: Access) -> list[Expr]:
    return [subscript for subscript in access.subscripts if not subscript.has_unreadable_part]


def _box_sides(
    access: Access, array: Array, extents: Sequence[Extent] | None, loops: tuple[Loop, ...],
    bindings: Bindings,
) -> list[Extent] | None:  # fmt: skip
    """Returns the sides of the box of one reference, from the ranges of its readable subscripts.

    If a side is unknown, the length of the array's dimension is used.
    """
    if extents is None:
        return None
    if not extents and (
        _readable_subscripts(access) or count_executions(loops, bindings.values) == 0
    ):
        return []
    remaining = iter(extents)
    sides = []
    for position, subscript in enumerate(access.subscripts):
        if not subscript.has_unreadable_part:
            sides.append(next(remaining))
            continue
        length = _dimension_length(array, position, bindings)
        if length is None:
            return None
        sides.append(Extent(0, length - 1))
    return sides


def _dimension_length(array: Array, position: int, bindings: Bindings) -> int | None:
    """Returns the length of an array's dimension, as declared or as allocated."""
    extent = array.dims[position] if position < len(array.dims) else None
    if extent is not None or position > 0:
        return bindings.whole(extent)
    elements = bindings.values.get(extent_name(array))
    rows = [bindings.whole(inner) for inner in array.dims[1:]]
    if elements is None or not all(rows):
        return None
    return max(1, int(elements) // math.prod(row for row in rows if row is not None))


def distinct_references(region: Region) -> dict[str, list[Reference]]:
    """Returns the references to each array, without repetitions in the same loops."""
    references: dict[str, list[Reference]] = {}
    domains: dict[tuple[int, ...], Domain] = {}
    seen: set[tuple[str, tuple[int, ...], tuple[Expr, ...]]] = set()
    outer = _containing_arrays(region)
    for statement, loops, nest in region.placed_statements():
        if nest not in domains:
            domains[nest] = domain_of(loops)
        for access in (_as_reference_to_struct(access, outer) for access in statement.accesses):
            key = (access.array, nest, access.subscripts)
            if key not in seen:
                seen.add(key)
                references.setdefault(access.array, []).append(
                    Reference(access, domains[nest].ranges)
                )
    return references


def _containing_arrays(region: Region) -> dict[str, Array]:
    """Maps each array inside the structs of another array to that array."""
    arrays = {array.name: _containing_array(array, region) for array in region.arrays}
    return {name: outer for name, outer in arrays.items() if outer is not None}


def _as_reference_to_struct(access: Access, structs: Mapping[str, Array]) -> Access:
    """Returns the reference to the struct that contains an element. Any other reference is
    unchanged.
    """
    outer = structs.get(access.array)
    if outer is None:
        return access
    return access._replace(array=outer.name, subscripts=access.subscripts[: len(outer.dims)])


def _containing_array(array: Array, region: Region) -> Array | None:
    """Returns the array whose structs contain this array: `cells` for `cells[].flux`. Its bytes
    include those of this array.

    The target of a pointer in a struct is separate memory.
    """
    arrays = {other.name: other for other in region.arrays}
    outer = arrays.get(array.inside)
    while outer is not None and outer.inside in arrays:
        outer = arrays[outer.inside]
    return outer


def footprint_bytes(
    array: Array, references: Iterable[Reference], known: KnownSides | None = None
) -> Expr | None:
    """Returns the bytes of the bounding box of an array's accessed elements. If a reference is not
    supported, the declared lengths are used. None if they are also unknown.

    `known` is a cache. The caller passes the same one for all arrays of the region.
    """
    known = {} if known is None else known
    box: Box | None = None
    for reference in references:
        own = access_box(reference.access, array, reference.ranges, known)
        if own is None:
            return declared_bytes(array)
        box = own if box is None else _union_box(box, own)
    if box is None:
        return Expr.const(0)
    return _bytes_of_box(box) * array.element_bytes


def declared_bytes(array: Array) -> Expr | None:
    """Returns the bytes of the whole array as declared. None if a length is unknown."""
    total = ONE
    for extent in array.dims:
        if extent is None:
            return None
        total = total * extent
    return total * array.element_bytes


def access_box(
    access: Access, array: Array, ranges: tuple[Range, ...] | None, known: KnownSides
) -> Box | None:
    """Returns the lowest and highest subscripts of a reference over all iterations of its loops."""
    sides = []
    here = known.setdefault(ranges, {}) if ranges is not None else {}
    for position, subscript in enumerate(access.subscripts):
        if ranges is not None and subscript not in here:
            here[subscript] = _subscript_extremes(without_clamps(subscript), ranges)
        side = here.get(subscript)
        if side is None:
            extent = array.dims[position] if position < len(array.dims) else None
            if extent is None:
                return None
            side = (Expr.const(0), extent - 1)
        sides.append(side)
    return tuple(sides)


def _subscript_extremes(subscript: Expr, ranges: tuple[Range, ...]) -> Side | None:
    """Returns the lowest and the highest value of a subscript over the iteration space."""
    low = high = subscript
    for loop in reversed(ranges):
        if loop.variable not in low.names and loop.variable not in high.names:
            continue
        ends = loop.ends
        moved_low = _extreme_over_loop(low, loop.variable, ends, lowest=True)
        moved_high = _extreme_over_loop(high, loop.variable, ends, lowest=False)
        if moved_low is None or moved_high is None:
            return None
        low, high = moved_low, moved_high
    return low, high


def _extreme_over_loop(
    side: Expr, name: str, ends: tuple[Expr, Expr], *, lowest: bool
) -> Expr | None:
    if name not in side.names:
        return side
    coefficient = side.coefficient(name)
    if coefficient is None:
        return _extreme_of_min_or_max(side, name, ends, lowest=lowest)
    increasing = _is_positive(coefficient)
    if increasing is None:
        return None
    return side.substitute({name: ends[0] if increasing == lowest else ends[1]})


def _extreme_of_min_or_max(
    side: Expr, name: str, ends: tuple[Expr, Expr], *, lowest: bool
) -> Expr | None:
    """Computes `_extreme_over_loop` for `min(n, i + w) - i`, which is `min(n - i, w)`. It uses the
    extremes of both operands.
    """
    moving = {
        monomial: atom
        for monomial in side.terms
        for atom, _ in monomial
        if isinstance(atom, Atom) and name in atom.names
    }
    if len(moving) != 1:
        return None
    ((monomial, atom),) = moving.items()
    factor = Expr({tuple(f for f in monomial if f[0] != atom): side.terms[monomial]})
    increasing = _is_positive(factor)
    if (atom, 1) not in monomial or atom.kind not in ("min", "max") or increasing is None:
        return None
    rest = Expr({m: c for m, c in side.terms.items() if m != monomial})
    fixed = rest.without((name,))
    # f * min(a, b) + r is min(f*a + r, f*b + r) if f is positive, otherwise the maximum.
    least = (atom.kind == "min") == increasing
    sides = [
        _extreme_over_loop(arg * factor + rest - fixed, name, ends, lowest=lowest)
        for arg in atom.args
    ]
    if sides[0] is None or sides[1] is None:
        return None
    return fixed + (_smaller_bound if least else _larger_bound)(sides[0], sides[1])


def _is_positive(expression: Expr) -> bool | None:
    """Whether an expression is positive if all sizes are positive. None if this is unknown."""
    expression = _without_common_factors(expression)
    # n - 1: the constant does not change the sign.
    leading = [number for monomial, number in expression.terms.items() if monomial]
    signs = {number > 0 for number in leading or expression.terms.values()}
    return signs.pop() if len(signs) == 1 else None


def _without_common_factors(expression: Expr) -> Expr:
    """Returns the expression without common factors: `1 - w` for `n - n*w`. Positive factors do not
    change the sign.
    """
    if not expression.terms:
        return expression
    common = set.intersection(*({f for f, _ in m} for m in expression.terms))
    sizes = {factor for factor in common if isinstance(factor, str)}
    if not sizes:
        return expression
    return Expr(
        {
            tuple((f, p - (f in sizes)) for f, p in m if f not in sizes or p > 1): c
            for m, c in expression.terms.items()
        }
    )


def _union_box(left: Box, right: Box) -> Box:
    if len(left) != len(right):
        return max(left, right, key=len)
    return tuple(
        a if a is b else (_smaller_bound(a[0], b[0]), _larger_bound(a[1], b[1]))
        for a, b in zip(left, right, strict=True)
    )


def _smaller_bound(a: Expr, b: Expr) -> Expr:
    difference = _sign_of_difference(a, b)
    if difference is None:
        return _min_or_max("min", a, b)
    return a if difference <= 0 else b


def _larger_bound(a: Expr, b: Expr) -> Expr:
    difference = _sign_of_difference(a, b)
    if difference is None:
        return _min_or_max("max", a, b)
    return a if difference >= 0 else b


def _min_or_max(kind: str, a: Expr, b: Expr) -> Expr:
    """Returns the `min` or `max` of two expressions whose order is unknown.

    If one expression is already a `min` or `max`, the other expression is compared with its
    operands. The result therefore does not grow with each of many references.
    """
    better = _smaller_bound if kind == "min" else _larger_bound
    for bound, other in ((a, b), (b, a)):
        sides = _min_max_operands(kind, bound)
        for at, side in enumerate(sides if len(sides) > 1 else ()):
            if _sign_of_difference(side, other) is not None:
                if better(side, other) is side:
                    return bound
                return reduce(better, sides[:at] + sides[at + 1 :], other)
    return Expr.atom(kind, *_sorted_by_text(a, b))


def _min_max_operands(kind: str, bound: Expr) -> list[Expr]:
    """Returns the operands of a nested `min` or `max`. Any other expression is its own operand."""
    sides, waiting = [], [bound]
    while waiting:
        side = waiting.pop()
        atom = next(iter(side.atoms()), None) if len(side.terms) == 1 else None
        if atom is not None and atom.kind == kind and side == Expr.atom(kind, *atom.args):
            waiting += atom.args
        else:
            sides.append(side)
    return sides


def _sorted_by_text(*sides: Expr) -> Iterable[Expr]:
    return sorted(sides, key=str)


def _sign_of_difference(a: Expr, b: Expr) -> int | None:
    """Returns the sign of a - b if all names are at least 1. None if unknown."""
    if a == b:
        return 0
    gap = a - b
    value = gap.constant
    if value is not None:
        return (value > 0) - (value < 0)
    sign = _is_positive(gap)
    return None if sign is None else (1 if sign else -1)


def _bytes_of_box(box: Box) -> Expr:
    total = ONE
    for low, high in box:
        total = total * (high - low + 1)
    return total
