"""Finds index tables whose entries follow the order of the loop: lists of selected elements, and
lists of neighbors.

The contents of a table are not visible in a region. Two facts indicate that neighboring entries
refer to neighboring elements. If several threads store through the table without synchronization,
its entries are distinct, so it is a selection. If the table has several entries per iteration, it
lists the neighbors of a mesh element. All other tables are assumed to be random.

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

_OF_LOOPS = frozenset(("floordiv", "mod", "min", "max", "select", "lt", "le", "eq", "ne"))
Built = tuple[Region, tuple[Definition, ...]]


def with_index_lists(built: Sequence[Built]) -> list[Built]:
    """The regions of one unit with the index lists that they show. A list counts for all regions of
    the same function. All loops over rows have the same form.
    """
    built = [(_by_rows(region), defined) for region, defined in built]
    lists: dict[tuple[str, str], dict[str, int]] = {}
    for region, _ in built:
        own = lists.setdefault((region.span.file, region.function), {})
        for table, entries in _lists_of(region):
            own[table] = max(entries, own.get(table, 1))
    return [
        (_with(region, lists[region.span.file, region.function]), defined)
        for region, defined in built
    ]


def _by_rows(region: Region) -> Region:
    """Returns the region with loops over rows that count from the start of the row."""
    if region.nest is None:
        return region
    moving = frozenset((region.nest.variable,))
    body = tuple(_rows_of(node, moving) for node in region.nest.body)
    return replace(region, nest=replace(region.nest, body=body))


def _rows_of(node: Node, moving: frozenset[str]) -> Node:
    if isinstance(node, Branch):
        sides = tuple(tuple(_rows_of(one, moving) for one in side) for side in node.sides)
        return replace(node, sides=sides)
    if not isinstance(node, Loop):
        return node
    inside = moving | {node.variable}
    loop = replace(node, body=tuple(_rows_of(one, inside) for one in node.body))
    length = _known_length(loop)
    if length is not None and loop.start is not None:
        here = Expr.name(loop.variable) + loop.start
        counted = with_values_in_loop(loop, {loop.variable: here})
        return replace(counted, start=ZERO, bound=arithmetic(length), comparison="<")
    start = _start_of_row(loop, moving)
    if start is None or loop.start is None or loop.bound is None:
        return loop
    counted = with_values_in_loop(loop, {loop.variable: Expr.name(loop.variable) - start})
    return replace(counted, start=loop.start + start, bound=loop.bound + start)


def _known_length(loop: Loop) -> Expr | None:
    """Returns the number of iterations of a loop that starts at an entry of a table, if it depends
    only on the enclosing loops.
    """
    if loop.start is None or loop.step is None or loop.step != 1 or "ref" not in loop.start.kinds:
        return None
    trips = loop.trips
    return trips if trips is not None and trips.kinds <= _OF_LOOPS else None


def _start_of_row(loop: Loop, moving: frozenset[str]) -> Expr | None:
    """Returns the table entry that is added to the loop's variable in all subscripts: `row[i]` in
    `t[row[i] + k]`. The entry changes with the enclosing loops. Returns None if there is no such
    entry, if all rows have the same length, or if a condition contains the variable.
    """
    if loop.step is None or loop.step != 1 or loop.unsigned_bits:
        return None
    if loop.bound is None or "ref" not in loop.bound.kinds:
        return None
    if any(loop.variable in test.names for test in _tests_in(loop.body)):
        return None
    starts = {
        _added_entry(part, loop.variable)
        for statement in statements_in(loop.body) for access in statement.accesses
        for subscript in access.subscripts for part in _operands_with(subscript, loop.variable)
    }  # fmt: skip
    start = starts.pop() if len(starts) == 1 else None
    return start if start is not None and not start.names.isdisjoint(moving) else None


def _tests_in(nodes: Sequence[Node]) -> Iterator[Expr]:
    """Yields the conditions of branches, if known."""
    for node in nodes:
        if isinstance(node, Branch):
            if node.test is not None:
                yield node.test
            for side in node.sides:
                yield from _tests_in(side)
        elif not isinstance(node, Statement):
            yield from _tests_in(node.body)


def _operands_with(expression: Expr, variable: str) -> Iterator[Expr]:
    """Yields the expression and those of its operands whose terms contain the variable."""
    if any(factor == variable for monomial in expression.terms for factor, _ in monomial):
        yield expression
    for monomial in expression.terms:
        for factor, _ in monomial:
            if isinstance(factor, Atom):
                for operand in factor.args:
                    yield from _operands_with(operand, variable)


def _added_entry(expression: Expr, variable: str) -> Expr | None:
    """`row[i]` in `row[i] + k + 1`, for the variable k."""
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


def _with(region: Region, lists: dict[str, int]) -> Region:
    if not lists:
        return region
    return replace(region, index_lists=tuple(sorted(lists.items())))


def _lists_of(region: Region) -> Iterator[tuple[str, int]]:
    """Yields the tables of the region with the number of entries per iteration of the parallel
    loop.
    """
    if region.nest is None:
        return
    columns: dict[str, set[str]] = {}
    widths: dict[str, int] = {}
    shared = region.nest.variable
    own = {array.name for array in region.arrays if array.storage == "private"}
    for access, stored in _unsynchronized_references(region.nest.body):
        for atom in _tables(access):
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


def _tables(access: Access) -> Iterator[Atom]:
    for subscript in access.subscripts:
        for atom in subscript.atoms():
            if atom.kind == "ref" and atom.args:
                yield atom


def _unsynchronized_references(nodes: Sequence[Node]) -> Iterator[tuple[Access, bool]]:
    """Yields the references outside `atomic`, `critical` and similar constructs, and whether one is
    only written. An update, as in a histogram, does not show that places are distinct.
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
