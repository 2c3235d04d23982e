"""The working set in bytes. It is computed from bounding boxes of the elements that a region
accesses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from regionpredict.analysis.bindings import Bindings
from regionpredict.analysis.dimensions import without_clamps
from regionpredict.analysis.given_sizes import extent_name
from regionpredict.analysis.loop_enumeration import Extent, extents_of_all, has_unknown_trips, runs
from regionpredict.analysis.symbolic.domain import Domain, Range, domain_of
from regionpredict.ir import Access, Array, Expr, Loop, Region
from regionpredict.ir.expr import ONE, Atom

Side = tuple[Expr, Expr]  # (lowest, highest) subscript of one dimension
Box = tuple[Side, ...]
KnownSides = dict[tuple[Range, ...], dict[Expr, Side | None]]
"""The extremes of subscripts. The key contains the enclosing loops. They are cached, since the
arrays of a region are often accessed alike.
"""


class Reference(NamedTuple):
    """A reference with the ranges of its loops. The ranges are None if they are not supported."""

    access: Access
    ranges: tuple[Range, ...] | None


def working_set(region: Region) -> tuple[Expr | None, tuple[str, ...]]:
    """The bytes that one run of the region accesses, and the arrays or functions for which this is
    unknown.

    The sum of the bounding boxes of accessed elements over the shared arrays. None if the accessed
    part of an array is unknown, or that of an argument of a function without a visible body.
    """
    unknown = [f"{call.name}()" for s, _ in region.statements() for call in s.calls if call.memory]
    total: Expr | None = Expr.const(0) if region.nest is not None and not unknown else None
    references = distinct_references(region)
    known: KnownSides = {}
    for array in region.arrays:
        if array.storage == "private" or _containing_array(array, region) is not None:
            continue
        size = footprint(array, references.get(array.name, ()), known)
        if size is None:
            unknown.append(array.name)
            total = None
        elif total is not None:
            total = total + size
    return total, tuple(unknown)


def may_be_less(region: Region, bindings: Bindings) -> bool:
    """Whether the region may access fewer bytes than its bounding boxes contain.

    A loop may end early or be uncounted. The elements of an array may be unknown, or two arrays
    may share bytes.
    """
    if any(loop.exits for loop in region.loops()):
        return True
    if any(has_unknown_trips(loops, bindings.values) for _, loops in region.statements()):
        return True
    names = {access.array for statement, _ in region.statements() for access in statement.accesses}
    if any(name.partition("@")[0] in names for name in names if "@" in name):
        return True  # a view with another element size has the same bytes
    shared = {array.name for array in region.arrays if array.storage != "private"}
    return any(
        subscript.has_unreadable_part
        for statement, _ in region.statements()
        for access in statement.accesses
        if access.array in shared
        for subscript in access.subscripts
    )


def touched_bytes(region: Region, bindings: Bindings) -> int | None:
    """The working set for these values. Each box extends from the first to the last element.

    None if a name has no value, or if too many iterations would have to be enumerated.
    """
    total = 0
    loops_of = {nest: loops for _, loops, nest in region.placed_statements()}
    boxes: dict[str, list[Extent]] = {}
    arrays = {array.name: array for array in region.arrays}
    distinct: dict[tuple[int, ...], dict[tuple[str, tuple[Expr, ...]], Access]] = {}
    whole: set[str] = set()
    structs = _structs(region)
    for statement, _, nest in region.placed_statements():
        if any(call.memory for call in statement.calls):
            return None
        for access in (_as_reference_to_struct(access, structs) for access in statement.accesses):
            if arrays[access.array].storage != "private":
                known = distinct.setdefault(nest, {})
                known.setdefault((access.array, access.subscripts), access)
    for nest, references in distinct.items():
        readable = [_readable(access) for access in references.values()]
        extents = extents_of_all(readable, loops_of[nest], bindings.values)
        for access, ends in zip(references.values(), extents, strict=True):
            sides = _sides(access, arrays[access.array], ends, loops_of[nest], bindings)
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
        if base != name and base in boxes:  # a view: the same bytes with another element size
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


def _readable(access: Access) -> list[Expr]:
    return [subscript for subscript in access.subscripts if not subscript.has_unreadable_part]


def _sides(
    access: Access, array: Array, extents: Sequence[Extent] | None, loops: tuple[Loop, ...],
    bindings: Bindings,
) -> list[Extent] | None:  # fmt: skip
    """The sides of the box of one reference, from the ranges of its readable subscripts.

    If a side is unknown, the length of the array's dimension is used.
    """
    if extents is None:
        return None
    if not extents and (_readable(access) or runs(loops, bindings.values) == 0):
        return []
    remaining = iter(extents)
    sides = []
    for position, subscript in enumerate(access.subscripts):
        if not subscript.has_unreadable_part:
            sides.append(next(remaining))
            continue
        length = _length(array, position, bindings)
        if length is None:
            return None
        sides.append(Extent(0, length - 1))
    return sides


def _length(array: Array, position: int, bindings: Bindings) -> int | None:
    """The length of an array's dimension, as declared or as allocated."""
    extent = array.dims[position] if position < len(array.dims) else None
    if extent is not None or position > 0:
        return bindings.whole(extent)
    elements = bindings.values.get(extent_name(array))
    rows = [bindings.whole(inner) for inner in array.dims[1:]]
    if elements is None or not all(rows):
        return None
    return max(1, int(elements) // math.prod(row for row in rows if row is not None))


def distinct_references(region: Region) -> dict[str, list[Reference]]:
    """The references to each array, without repetitions in the same loops."""
    references: dict[str, list[Reference]] = {}
    domains: dict[tuple[int, ...], Domain] = {}
    seen: set[tuple[str, tuple[int, ...], tuple[Expr, ...]]] = set()
    outer = _structs(region)
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


def _structs(region: Region) -> dict[str, Array]:
    """Maps each array inside the structs of another array to that array."""
    arrays = {array.name: _containing_array(array, region) for array in region.arrays}
    return {name: outer for name, outer in arrays.items() if outer is not None}


def _as_reference_to_struct(access: Access, structs: Mapping[str, Array]) -> Access:
    """The reference to the struct that contains an element. Any other reference is unchanged."""
    outer = structs.get(access.array)
    if outer is None:
        return access
    return access._replace(array=outer.name, subscripts=access.subscripts[: len(outer.dims)])


def _containing_array(array: Array, region: Region) -> Array | None:
    """The array whose structs contain this array: `cells` for `cells[].flux`. It includes the bytes
    of this array.

    The target of a pointer in a struct is in other memory and has separate bytes.
    """
    arrays = {other.name: other for other in region.arrays}
    outer = arrays.get(array.inside)
    while outer is not None and outer.inside in arrays:
        outer = arrays[outer.inside]
    return outer


def footprint(
    array: Array, references: Iterable[Reference], known: KnownSides | None = None
) -> Expr | None:
    """The bytes of the bounding box of an array's elements. If a reference is not supported, the
    declared lengths are used. None if these are unknown, too.

    The caller passes the same `known` for all arrays of the region.
    """
    known = {} if known is None else known
    box: Box | None = None
    for reference in references:
        own = access_box(reference.access, array, reference.ranges, known)
        if own is None:
            return declared_bytes(array)
        box = own if box is None else _union(box, own)
    if box is None:
        return Expr.const(0)
    return _volume(box) * array.element_bytes


def declared_bytes(array: Array) -> Expr | None:
    """The bytes of the whole array as declared. None if a length is unknown."""
    total = ONE
    for extent in array.dims:
        if extent is None:
            return None
        total = total * extent
    return total * array.element_bytes


def access_box(
    access: Access, array: Array, ranges: tuple[Range, ...] | None, known: KnownSides
) -> Box | None:
    """The lowest and highest subscripts of a reference over all iterations of its loops."""
    sides = []
    here = known.setdefault(ranges, {}) if ranges is not None else {}
    for position, subscript in enumerate(access.subscripts):
        if ranges is not None and subscript not in here:
            here[subscript] = _extremes(without_clamps(subscript), ranges)
        side = here.get(subscript)
        if side is None:
            extent = array.dims[position] if position < len(array.dims) else None
            if extent is None:
                return None
            side = (Expr.const(0), extent - 1)
        sides.append(side)
    return tuple(sides)


def _extremes(subscript: Expr, ranges: tuple[Range, ...]) -> Side | None:
    """The lowest and the highest value of a subscript over the domain."""
    low = high = subscript
    for loop in reversed(ranges):
        if loop.variable not in low.names and loop.variable not in high.names:
            continue
        ends = loop.ends
        moved_low = _at_end(low, loop.variable, ends, lowest=True)
        moved_high = _at_end(high, loop.variable, ends, lowest=False)
        if moved_low is None or moved_high is None:
            return None
        low, high = moved_low, moved_high
    return low, high


def _at_end(side: Expr, name: str, ends: tuple[Expr, Expr], *, lowest: bool) -> Expr | None:
    if name not in side.names:
        return side
    coefficient = side.coefficient(name)
    if coefficient is None:
        return _at_end_of_atom(side, name, ends, lowest=lowest)
    rises = _sign(coefficient)
    if rises is None:
        return None
    return side.substitute({name: ends[0] if rises == lowest else ends[1]})


def _at_end_of_atom(side: Expr, name: str, ends: tuple[Expr, Expr], *, lowest: bool) -> Expr | None:
    """Like `_at_end` for `min(n, i + w) - i`, which is `min(n - i, w)`. The extremes of both
    operands are computed.
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
    rises = _sign(factor)
    if (atom, 1) not in monomial or atom.kind not in ("min", "max") or rises is None:
        return None
    rest = Expr({m: c for m, c in side.terms.items() if m != monomial})
    fixed = rest.without((name,))
    # f * min(a, b) + r is min(f*a + r, f*b + r) if f is positive, otherwise the maximum.
    least = (atom.kind == "min") == rises
    sides = [_at_end(arg * factor + rest - fixed, name, ends, lowest=lowest) for arg in atom.args]
    if sides[0] is None or sides[1] is None:
        return None
    return fixed + (_lower if least else _higher)(sides[0], sides[1])


def _sign(expression: Expr) -> bool | None:
    """Whether an expression is positive if all sizes are positive. None if unclear."""
    expression = _without_common_factors(expression)
    # n - 1: the constant does not change the sign.
    leading = [number for monomial, number in expression.terms.items() if monomial]
    signs = {number > 0 for number in leading or expression.terms.values()}
    return signs.pop() if len(signs) == 1 else None


def _without_common_factors(expression: Expr) -> Expr:
    """The expression without common factors: `1 - w` for `n - n*w`. Positive factors do not change
    the sign.
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


def _union(left: Box, right: Box) -> Box:
    if len(left) != len(right):
        return max(left, right, key=len)
    return tuple(
        a if a is b else (_lower(a[0], b[0]), _higher(a[1], b[1]))
        for a, b in zip(left, right, strict=True)
    )


def _lower(a: Expr, b: Expr) -> Expr:
    difference = _difference(a, b)
    if difference is None:
        return _min_or_max("min", a, b)
    return a if difference <= 0 else b


def _higher(a: Expr, b: Expr) -> Expr:
    difference = _difference(a, b)
    if difference is None:
        return _min_or_max("max", a, b)
    return a if difference >= 0 else b


def _min_or_max(kind: str, a: Expr, b: Expr) -> Expr:
    """The `min` or `max` of two expressions that cannot be compared.

    One of them may already be a `min` or `max`. If one of its operands can be compared with the
    other expression, only that operand matters. A bound over many references therefore does not
    grow with each of them.
    """
    better = _lower if kind == "min" else _higher
    for bound, other in ((a, b), (b, a)):
        sides = _operands(kind, bound)
        for at, side in enumerate(sides if len(sides) > 1 else ()):
            if _difference(side, other) is not None:
                if better(side, other) is side:
                    return bound
                return reduce(better, sides[:at] + sides[at + 1 :], other)
    return Expr.atom(kind, *_ordered(a, b))


def _operands(kind: str, bound: Expr) -> list[Expr]:
    """The operands of a `min` or `max`, flattened. Any other expression is its own operand."""
    sides, waiting = [], [bound]
    while waiting:
        side = waiting.pop()
        atom = next(iter(side.atoms()), None) if len(side.terms) == 1 else None
        if atom is not None and atom.kind == kind and side == Expr.atom(kind, *atom.args):
            waiting += atom.args
        else:
            sides.append(side)
    return sides


def _ordered(*sides: Expr) -> Iterable[Expr]:
    return sorted(sides, key=str)


def _difference(a: Expr, b: Expr) -> int | None:
    """The sign of a - b, where names are sizes (at least 1). None if unclear."""
    if a == b:
        return 0
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
