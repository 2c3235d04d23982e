"""The loops that repeat calls, by which executions are counted across functions."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.definitions import definitions_of
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.loop_headers import outer_loop
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import For, Stmt, inner_statements
from regionpredict.ir import SerialLoop, Span


def serial_loops_of(unit: LinkedUnit, spans: Collection[Span]) -> list[SerialLoop]:
    """The headers of the counted loops at `spans`, each with what is said of its names."""
    if not spans:
        return []
    serial: list[SerialLoop] = []
    for function in unit.bodies():
        around = list(_nests(function.body, (), spans))
        if not around:
            continue
        context = Context(unit.body_of, unit.objects)
        loops = {}
        for nest in around:
            frame = Frame({})
            for loop in nest:
                loops[loop.span] = outer_loop(loop, context, frame)
        definitions = definitions_of(unit, function, context)
        serial += [SerialLoop(loops[nest[-1].span], definitions) for nest in around]
    return serial


def _nests(
    statement: Stmt, loops: tuple[For, ...], spans: Collection[Span]
) -> Iterator[tuple[For, ...]]:
    if isinstance(statement, For):
        loops = (*loops, statement)
        if statement.span in spans:
            yield loops
    for inner in inner_statements(statement):
        yield from _nests(inner, loops, spans)
