"""Lowers loops outside parallel regions.

Loops around calls determine how often these execute. The others are serial work.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.call_trees import CallTrees
from regionpredict.frontend.lowering.definitions import definitions_of
from regionpredict.frontend.lowering.find_regions import other_names, with_unified_names
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.index_lists import with_index_lists
from regionpredict.frontend.lowering.loop_headers import outer_loop
from regionpredict.frontend.lowering.region_builder import RegionBuilder
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    For,
    Pragma,
    RangeFor,
    Stmt,
    While,
    counted_loops,
    inner_statements,
    nested,
)
from regionpredict.ir import SerialLoop, SerialNest, Span


def serial_loops_of(unit: LinkedUnit, spans: Collection[Span]) -> list[SerialLoop]:
    """Returns the loop headers at the positions `spans`, each with the definitions of its
    names.
    """
    if not spans:
        return []
    serial: list[SerialLoop] = []
    for function in unit.bodies():
        around = [
            (*counted_loops(outside), loop) for loop, outside in nested(function.body)
            if isinstance(loop, For) and loop.span in spans
        ]  # fmt: skip
        if not around:
            continue
        context = Context(unit)
        loops = {}
        for nest in around:
            frame = Frame({})
            for loop in nest:
                loops[loop.span] = outer_loop(loop, context, frame)
        definitions = definitions_of(unit, function, context)
        serial += [SerialLoop(loops[nest[-1].span], definitions) for nest in around]
    return serial


def serial_nests_of(unit: LinkedUnit, spans: Collection[Span]) -> list[SerialNest]:
    """Returns the loop nests at the positions `spans` as regions of one thread."""
    if not spans:
        return []
    trees = CallTrees(unit)
    nests = []
    for function in unit.bodies():
        for loop, enclosing in _outermost_loops(function.body, (), spans, inside=False):
            span = loop.span
            pragma = Pragma("serial", (), 0, 0, span.line, span.column, "")
            builder = RegionBuilder(unit, function, pragma, span, trees)
            region = builder.build(loop, "combined", enclosing)
            definitions = definitions_of(unit, function, builder.context)
            others = other_names(unit, region, function, builder.context, definitions)
            region = replace(region, others=others)
            nests.append(with_unified_names(unit, region, definitions))
    return [SerialNest(*nest) for nest in with_index_lists(nests)]


def _outermost_loops(
    statement: Stmt, loops: tuple[For, ...], spans: Collection[Span], *, inside: bool
) -> Iterator[tuple[For | RangeFor, tuple[For, ...]]]:
    """Yields the outermost counted loops at the positions `spans`, also inside `while` loops, each
    with its enclosing loops.
    """
    if isinstance(statement, (For, RangeFor, While)):
        inside = inside or statement.span in spans
        if inside and not isinstance(statement, While):
            yield statement, loops
            return
    if isinstance(statement, For):
        loops = (*loops, statement)
    for inner in inner_statements(statement):
        yield from _outermost_loops(inner, loops, spans, inside=inside)
