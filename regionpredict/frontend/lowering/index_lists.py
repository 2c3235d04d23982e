"""Finds index arrays whose consecutive entries refer to nearby elements: selections of elements,
and lists of mesh neighbors.

The contents of an index array are unknown, but its use gives two hints. If several threads store
through it without synchronization, its entries are distinct, so it is a selection. If it has
several entries per iteration, it lists the neighbors of a mesh element. The entries of all other
index arrays are assumed to be random.

Loops over the rows of a table have two forms: `for (k = row[i]; k < row[i + 1]; k++) t[k]`, and
`for (k = 0; k < length[i]; k++) t[row[i] + k]`. The second form is converted to the first. If the
length is a known function of the enclosing loops, the first form is converted to the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from regionpredict.frontend.lowering.invariant_values import with_values_in_loop
from regionpredict.ir import Access, Branch, Definition, Loop, Region, Statement
from regionpredict.ir.arithmetic import arithmetic
from regionpredict.ir.expr import ZERO, Atom, Expr, Monomial
from regionpredict.ir.region import Node, statements_in

_KINDS_IN_KNOWN_LENGTHS = frozenset(
    ("floordiv", "mod", "min", "max", "select", "lt", "le", "eq", "ne")
)
RegionWithDefinitions = tuple[Region, tuple[Definition, ...]]


def with_index_lists(built: Sequence[RegionWithDefinitions]) -> list[RegionWithDefinitions]:
    """Returns the regions of one unit with their index lists, and with all loops over rows in the
    same form.

    An index list of one region applies to all regions of the same function.
    """
    built = [(_with_row_loops(region), defined) for region, defined in built]
    lists: dict[tuple[str, str], dict[str, int]] = {}
    for region, _ in built:
        own = lists.setdefault((region.span.file, region.function), {})
        for table, entries in _index_lists_in(region):
            own[table] = max(entries, own.get(table, 1))
    return [
        (_with_lists(region, lists[region.span.file, region.function]), defined)
        for region, defined in built
    ]


def _with_row_loops(region: Region) -> Region:
    """Converts the inner loops over rows of a table to the form that the module describes."""
    if region.nest is None:
        return region
    outer_variables = frozenset((region.nest.variable,))
    body = tuple(_with_row_loops_in(node, outer_variables) for node in region.nest.body)
    return replace(region, nest=replace(region.nest, body=body))


def _with_row_loops_in(node: Node, outer_variables: frozenset[str]) -> Node:
    if isinstance(node, Branch):
        sides = tuple(
            tuple(_with_row_loops_in(inner, outer_variables) for inner in side)
            for side in node.sides
        )
        return replace(node, sides=sides)
    if not isinstance(node, Loop):
        return node
    inside = outer_variables | {node.variable}
    loop = replace(node, body=tuple(_with_row_loops_in(inner, inside) for inner in node.body))
    length = _known_length(loop)
    if length is not None and loop.start is not None:
        here = Expr.name(loop.variable) + loop.start
        shifted = with_values_in_loop(loop, {loop.variable: here})
        return replace(shifted, start=ZERO, bound=arithmetic(length), comparison="<")
    start = _start_of_row(loop, outer_variables)
    if start is None or loop.start is None or loop.bound is None:
        return loop
    shifted = with_values_in_loop(loop, {loop.variable: Expr.name(loop.variable) - start})
    return replace(shifted, start=loop.start + start, bound=loop.bound + start)


def _known_length(loop: Loop) -> Expr | None:
    """Returns the number of iterations of a loop that starts at a table entry, if it is a function
    of the enclosing loops. Returns None otherwise.
    """
    if loop.start is None or loop.step is None or loop.step != 1 or "ref" not in loop.start.kinds:
        return None
    trips = loop.trips
    return trips if trips is not None and trips.kinds <= _KINDS_IN_KNOWN_LENGTHS else None


def _start_of_row(loop: Loop, outer_variables: frozenset[str]) -> Expr | None:
    """Returns the table entry that all subscripts add to the loop variable: `row[i]` in `t[row[i] +
    k]`.

    The bound must be a table entry, too, and the loop variable must not occur in branch conditions.
    The result is None if a condition is violated.
    """
    if loop.step is None or loop.step != 1 or loop.unsigned_bits:
        return None
    if loop.bound is None or "ref" not in loop.bound.kinds:
        return None
    if any(loop.variable in test.names for test in _conditions_in(loop.body)):
        return None
    starts = {
        _added_entry(part, loop.variable)
        for statement in statements_in(loop.body) for access in statement.accesses
        for subscript in access.subscripts for part in _operands_with(subscript, loop.variable)
    }  # fmt: skip
    start = starts.pop() if len(starts) == 1 else None
    return start if start is not None and not start.names.isdisjoint(outer_variables) else None


def _conditions_in(nodes: Sequence[Node]) -> Iterator[Expr]:
    """Yields the known branch conditions in a list of nodes."""
    for node in nodes:
        if isinstance(node, Branch):
            if node.test is not None:
                yield node.test
            for side in node.sides:
                yield from _conditions_in(side)
        elif not isinstance(node, Statement):
            yield from _conditions_in(node.body)


def _operands_with(expression: Expr, variable: str) -> Iterator[Expr]:
    """Yields an expression and its nested operands, if their terms contain the variable."""
    if any(factor == variable for monomial in expression.terms for factor, _ in monomial):
        yield expression
    for monomial in expression.terms:
        for factor, _ in monomial:
            if isinstance(factor, Atom):
                for operand in factor.args:
                    yield from _operands_with(operand, variable)


def _added_entry(expression: Expr, variable: str) -> Expr | None:
    """Returns the table entry `row[i]` in `row[i] + k + 1`, where `k` is the variable. Returns None
    for other expressions.
    """
    if expression.coefficient(variable) != 1:
        return None
    entries = [
        Expr({monomial: 1}) for monomial, number in expression.terms.items()
        if number == 1 and _is_entry(monomial)
    ]  # fmt: skip
    return entries[0] if len(entries) == 1 and variable not in entries[0].names else None


def _is_entry(monomial: Monomial) -> bool:
    """Returns whether a term consists only of a table entry."""
    if len(monomial) != 1:
        return False
    factor, power = monomial[0]
    return power == 1 and isinstance(factor, Atom) and factor.kind == "ref"


def _with_lists(region: Region, lists: dict[str, int]) -> Region:
    if not lists:
        return region
    return replace(region, index_lists=tuple(sorted(lists.items())))


def _index_lists_in(region: Region) -> Iterator[tuple[str, int]]:
    """Yields the index lists of a region, each with its number of entries per iteration of the
    worksharing loop.
    """
    if region.nest is None:
        return
    columns: dict[str, set[str]] = {}
    widths: dict[str, int] = {}
    shared = region.nest.variable
    own = {array.name for array in region.arrays if array.storage == "private"}
    for access, stored in _unsynchronized_references(region.nest.body):
        for atom in _table_entries(access):
            if stored and access.array not in own:
                yield atom.label, 1
            first = atom.args[0].coefficient(shared)
            width = first.constant if first is not None else None
            if len(atom.args) > 1 and width == 1:
                columns.setdefault(atom.label, set()).add(str(atom.args[1]))
            elif isinstance(width, int) and width > 1:
                columns.setdefault(atom.label, set()).add(str(atom.args[0]))
                widths[atom.label] = width
    inner = {loop.variable for loop in region.loops()} - {shared}
    for table, texts in columns.items():
        if len(texts) > 1 or any(name in text for text in texts for name in inner):
            yield table, widths.get(table, len(texts))


def _table_entries(access: Access) -> Iterator[Atom]:
    for subscript in access.subscripts:
        for atom in subscript.atoms():
            if atom.kind == "ref" and atom.args:
                yield atom


def _unsynchronized_references(nodes: Sequence[Node]) -> Iterator[tuple[Access, bool]]:
    """Yields the memory accesses outside `atomic`, `critical` and similar constructs, and whether
    each writes an element that its statement does not read.

    An update such as `h[k[i]]++` does not show that the entries of `k` are distinct.
    """
    for node in nodes:
        if isinstance(node, Statement):
            read = {access.text for access in node.accesses if access.kind == "read"}
            for access in node.accesses:
                yield access, access.kind == "write" and access.text not in read
        elif isinstance(node, Loop):
            yield from _unsynchronized_references(node.body)
        elif isinstance(node, Branch):
            for side in node.sides:
                yield from _unsynchronized_references(side)
