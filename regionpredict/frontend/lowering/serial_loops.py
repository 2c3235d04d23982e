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
from regionpredict.frontend.lowering.thread_numbers import ThreadNumbers
from regionpredict.frontend.syntax import (
    Decl,
    DeclStmt,
    Directive,
    For,
    Function,
    If,
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
    numbers = ThreadNumbers(unit)
    nests = []
    for function in unit.bodies():
        divided = _loops_divided_by_hand(function, spans, numbers)
        for loop, enclosing in _outermost_loops(function.body, (), spans, inside=False):
            span = loop.span
            if span in divided:
                continue
            pragma = Pragma("serial", (), 0, 0, span.line, span.column, "")
            builder = RegionBuilder(unit, function, pragma, span, trees)
            region = builder.build(loop, "combined", enclosing)
            definitions = definitions_of(unit, function, builder.context)
            others = other_names(unit, region, function, builder.context, definitions)
            region = replace(region, others=others)
            nests.append(with_unified_names(unit, region, definitions))
    return [SerialNest(*nest) for nest in with_index_lists(nests)]


def _loops_divided_by_hand(
    function: Function, spans: Collection[Span], numbers: ThreadNumbers
) -> set[Span]:
    """Returns the loops in parallel regions whose bounds or conditions depend on the thread number.
    Each thread may run other iterations of them.
    """
    divided: set[Span] = set()
    for directive, _ in nested(function.body):
        if not isinstance(directive, Directive) or directive.body is None:
            continue
        if "parallel" not in directive.pragma.kind.split() or directive.pragma.is_loop:
            continue
        loops = [
            loop for loop, _ in nested(directive.body)
            if isinstance(loop, (For, RangeFor, While)) and loop.span in spans
        ]  # fmt: skip
        dependent = numbers.dependent_variables(directive.body) if loops else set[Decl]()
        divided |= {loop.span for loop in loops if _is_divided(loop, dependent, numbers)}
    return divided


def _is_divided(loop: Stmt, variables: set[Decl], numbers: ThreadNumbers) -> bool:
    # `if (omp_get_thread_num() == 0) for (int i = 0; ...)` makes `i` dependent, but thread 0 runs
    # all iterations.
    parts = [part for part, _ in nested(loop)]
    counters = {
        decl for part in parts if isinstance(part, For) and isinstance(part.init, DeclStmt)
        for decl in part.init.decls
    }  # fmt: skip
    dependent = variables - counters
    return any(
        (isinstance(part, For) and numbers.header_depends(part, dependent))
        or (isinstance(part, If) and numbers.may_depend(part.condition, dependent))
        for part in parts
    )


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
