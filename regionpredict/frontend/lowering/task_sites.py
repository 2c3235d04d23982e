"""Represents explicit tasks as loops: each iteration is a task.

    for (i = 0; i < n; i += block) {          for (i = 0; i < n; i += block) {
        double *to = y + i;                       double *to = y + i;
        prepare(i);                     -->       scale(to, block);
    #pragma omp task                          }
        scale(to, block);
    }

The loop is the innermost one that creates the task and whose iterations are counted. A task without
such a loop is one iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from regionpredict.frontend.lowering.parallel_constructs import ParallelSite
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    Compound,
    CType,
    Decl,
    DeclStmt,
    Directive,
    ExprStmt,
    For,
    IntLit,
    Name,
    RangeFor,
    Stmt,
    Unary,
    inner_statements,
)
from regionpredict.ir import Span


class LoopSite(NamedTuple):
    """A directive with the loop whose iterations it shares, and the constructs around it.

    `target` says that the loop runs on a device. `nested_in` is a `parallel` that encloses the
    region's own `parallel`.
    """

    directive: Directive
    loop: For | RangeFor | None
    context: str
    enclosing: tuple[For, ...]
    team: ParallelSite | None
    target: bool = False
    nested_in: Span | None = None


def task_sites(statement: Stmt) -> Iterator[LoopSite]:
    """Yields every explicit task in a function's body, including those of `taskloop`."""
    yield from _find(statement, (), ())


def _find(statement: Stmt, loops: tuple[For, ...], before: tuple[Stmt, ...]) -> Iterator[LoopSite]:
    """Finds tasks. `before` gives the statements in the innermost loop's body that precede the
    task.
    """
    if isinstance(statement, Directive) and statement.pragma.is_task:
        if statement.pragma.kind != "task":  # a taskloop
            yield LoopSite(statement, _loop_of(statement.body), "orphaned", loops, None)
        elif statement.body is not None:
            body = Compound((*before, statement.body))
            span = statement.span
            if loops:
                made = loops[-1]._replace(body=body)
                yield LoopSite(statement, made, "orphaned", loops[:-1], None)
            else:
                yield LoopSite(statement, _loop_of_one_iteration(body, span), "orphaned", (), None)
    if isinstance(statement, For):
        yield from _find(statement.body, (*loops, statement), ())
        return
    if isinstance(statement, Compound):
        for item in statement.items:
            yield from _find(item, loops, before)
            if isinstance(item, DeclStmt) or _is_assignment(item):
                before = (*before, item)
        return
    for inner in inner_statements(statement):
        yield from _find(inner, loops, before)


def _is_assignment(statement: Stmt) -> bool:
    return (
        isinstance(statement, ExprStmt)
        and isinstance(statement.expr, Assign)
        and isinstance(statement.expr.left, Name)
    )


def _loop_of(statement: Stmt | None) -> For | RangeFor | None:
    while isinstance(statement, Directive):
        statement = statement.body
    return statement if isinstance(statement, (For, RangeFor)) else None


def _loop_of_one_iteration(body: Stmt, span: Span) -> For:
    """`for (int task = 0; task < 1; task++) body`"""
    counter = Decl("task", "local", CType("int", 32), span, init=IntLit(0))
    name = Name(counter, span)
    return For(
        DeclStmt((counter,), span), Binary("<", name, IntLit(1)), Unary("p++", name, span), body,
        span,
    )  # fmt: skip
