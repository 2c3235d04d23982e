"""Represents explicit tasks as loops: each iteration is a task.

    for (i = 0; i < n; i += block) {          for (i = 0; i < n; i += block) {
        double *to = y + i;                       double *to = y + i;
        prepare(i);                     -->       scale(to, block);
    #pragma omp task                          }
        scale(to, block);
    }

The loop is the innermost `for` loop around the task. A task outside loops becomes a loop with one
iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from regionpredict.frontend.lowering.loop_headers import loop_of_one_iteration
from regionpredict.frontend.lowering.parallel_constructs import ParallelSite
from regionpredict.frontend.syntax import (
    Assign,
    Compound,
    DeclStmt,
    Directive,
    ExprStmt,
    For,
    Name,
    RangeFor,
    Stmt,
    inner_statements,
)
from regionpredict.ir import Span


class LoopSite(NamedTuple):
    """A directive with its worksharing loop, and the constructs around it.

    `target` says that the loop runs on a device. `nested_in` is the position of a `parallel`
    directive that encloses the region's own parallel region.
    """

    directive: Directive
    loop: For | RangeFor | None
    context: str
    enclosing: tuple[For, ...]
    team: ParallelSite | None
    target: bool = False
    nested_in: Span | None = None


def task_sites(statement: Stmt) -> Iterator[LoopSite]:
    """Yields a loop for every `task` directive in a function's body."""
    yield from _find_tasks(statement, (), ())


def _find_tasks(
    statement: Stmt, loops: tuple[For, ...], before: tuple[Stmt, ...]
) -> Iterator[LoopSite]:
    """Yields the loops of all tasks in a statement. `before` are the preceding declarations and
    assignments in the innermost loop.
    """
    if isinstance(statement, Directive) and statement.pragma.is_task and statement.body is not None:
        body = Compound((*before, statement.body))
        span = statement.span
        if loops:
            loop = loops[-1]._replace(body=body)
            yield LoopSite(statement, loop, "orphaned", loops[:-1], None)
        else:
            loop = loop_of_one_iteration("task", body, span)
            yield LoopSite(statement, loop, "orphaned", (), None)
    if isinstance(statement, For):
        yield from _find_tasks(statement.body, (*loops, statement), ())
        return
    if isinstance(statement, Compound):
        for item in statement.items:
            yield from _find_tasks(item, loops, before)
            if isinstance(item, DeclStmt) or _is_assignment(item):
                before = (*before, item)
        return
    for inner in inner_statements(statement):
        yield from _find_tasks(inner, loops, before)


def _is_assignment(statement: Stmt) -> bool:
    return (
        isinstance(statement, ExprStmt)
        and isinstance(statement.expr, Assign)
        and isinstance(statement.expr.left, Name)
    )
