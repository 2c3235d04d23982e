"""Tables of indices whose entries follow the loop: lists of chosen elements, rows of neighbours.

A region does not show the contents of a table. Two facts show that neighboring entries index
neighboring elements. Elements stored through it by several threads without synchronization are
distinct, so it is a selection. A table with several entries per iteration lists the neighbors of a
mesh element. All other tables are assumed random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from regionpredict.ir import Access, Branch, Definition, Loop, Region, Statement
from regionpredict.ir.expr import Atom
from regionpredict.ir.region import Node

Built = tuple[Region, tuple[Definition, ...]]


def with_index_lists(built: Sequence[Built]) -> list[Built]:
    """The regions of one unit, each with the tables that a region of its function makes lists."""
    lists: dict[tuple[str, str], dict[str, int]] = {}
    for region, _ in built:
        own = lists.setdefault((region.span.file, region.function), {})
        for table, entries in _lists_of(region):
            own[table] = max(entries, own.get(table, 1))
    return [
        (_with(region, lists[region.span.file, region.function]), defined)
        for region, defined in built
    ]


def _with(region: Region, lists: dict[str, int]) -> Region:
    if not lists:
        return region
    return replace(region, index_lists=tuple(sorted(lists.items())))


def _lists_of(region: Region) -> Iterator[tuple[str, int]]:
    """(table, entries an iteration of the parallel loop) of the tables that a region shows."""
    if region.nest is None:
        return
    columns: dict[str, set[str]] = {}
    widths: dict[str, int] = {}
    shared = region.nest.variable
    own = {array.name for array in region.arrays if array.storage == "private"}
    for access, stored in _alone(region.nest.body):
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


def _alone(nodes: Sequence[Node]) -> Iterator[tuple[Access, bool]]:
    """The references outside `atomic`, `critical` and similar constructs, and whether one is a pure
    store. Updates, as in a histogram, do not show that places are distinct.
    """
    for node in nodes:
        if isinstance(node, Statement):
            read = {access.text for access in node.accesses if access.kind == "read"}
            for access in node.accesses:
                yield access, access.kind == "write" and access.text not in read
        elif isinstance(node, Loop):
            yield from _alone(node.body)
        elif isinstance(node, Branch):
            for side in node.sides:
                yield from _alone(side)
