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
from regionpredict.frontend.lowering.library_algorithms import is_algorithm
from regionpredict.frontend.lowering.library_calls import copies_or_fills, initial_fill
from regionpredict.frontend.lowering.loop_headers import loop_of_one_iteration, outer_loop
from regionpredict.frontend.lowering.region_builder import RegionBuilder
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.thread_numbers import ThreadNumbers
from regionpredict.frontend.syntax import (
    Assign,
    CallExpr,
    Decl,
    DeclStmt,
    Directive,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    Name,
    Pragma,
    RangeFor,
    Stmt,
    While,
    counted_loops,
    every_expression,
    inner_statements,
    nested,
    own_expressions,
)
from regionpredict.ir import SerialLoop, SerialNest, Span
from regionpredict.library import FILLED_CONTAINER


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
    """Returns the loop nests and library calls at the positions `spans` as regions of one
    thread.
    """
    if not spans:
        return []
    trees = CallTrees(unit)
    numbers = ThreadNumbers(unit)
    nests = []
    for function in unit.bodies():
        divided = _loops_divided_by_hand(function, spans, numbers)
        loops = _outermost_loops(function.body, (), spans, inside=False)
        for loop, enclosing in (*loops, *_calls_as_loops(function, spans)):
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


def has_serial_loops(function: str) -> bool:
    """Returns whether a library function has loops that count as serial work, such as
    `std::sort`.
    """
    return copies_or_fills(function) or is_algorithm(function) or function == FILLED_CONTAINER


def _calls_as_loops(
    function: Function, spans: Collection[Span]
) -> Iterator[tuple[For, tuple[For, ...]]]:
    """Yields the calls and the constructions of containers at the positions `spans` as loops of one
    iteration, each with its enclosing loops.
    """
    initialisers = [ExprStmt(value, function.span) for value in function.initialisers]
    for statement, around in (*((one, ()) for one in initialisers), *nested(function.body)):
        calls = [call for call in _library_calls(statement, spans) if call.name != FILLED_CONTAINER]
        calls += [fill for fill in _initial_fills(statement) if fill.span in spans]
        for call in calls:
            body = ExprStmt(call, call.span)
            yield loop_of_one_iteration("call", body, call.span), counted_loops(around)


def _initial_fills(statement: Stmt) -> Iterator[CallExpr]:
    """Yields calls of `memset` for the containers that a statement constructs."""
    pairs: list[tuple[Expression, Expression | None]] = []
    if isinstance(statement, DeclStmt):
        pairs += [(Name(decl, decl.span), decl.init) for decl in statement.decls]
    elif isinstance(statement, ExprStmt) and isinstance(statement.expr, Assign):
        pairs.append((statement.expr.left, statement.expr.right))
    for container, value in pairs:
        fill = initial_fill(container, value) if value is not None else None
        if fill is not None:
            yield fill


def _library_calls(statement: Stmt, spans: Collection[Span]) -> Iterator[CallExpr]:
    """Yields the calls of library functions with loops in a statement, without inner statements."""
    for own in own_expressions(statement):
        for part in every_expression(own):
            if isinstance(part, CallExpr) and part.span in spans and has_serial_loops(part.name):
                yield part


def _loops_divided_by_hand(
    function: Function, spans: Collection[Span], numbers: ThreadNumbers
) -> set[Span]:
    """Returns the loops in parallel regions whose bounds or conditions depend on the thread number,
    and the library calls whose arguments do. Each thread may run other iterations of them.
    """
    divided: set[Span] = set()
    for directive, _ in nested(function.body):
        if not isinstance(directive, Directive) or directive.body is None:
            continue
        if "parallel" not in directive.pragma.kind.split() or directive.pragma.is_loop:
            continue
        parts = [part for part, _ in nested(directive.body)]
        loops = [
            loop for loop in parts
            if isinstance(loop, (For, RangeFor, While)) and loop.span in spans
        ]  # fmt: skip
        calls = [call for part in parts for call in _library_calls(part, spans)]
        dependent = numbers.dependent_variables(directive.body) if loops or calls else set[Decl]()
        divided |= {loop.span for loop in loops if _is_divided(loop, dependent, numbers)}
        divided |= {call.span for call in calls if numbers.may_depend(call, dependent)}
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
