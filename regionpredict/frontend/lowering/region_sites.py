"""Finds the directives of a function that become regions: worksharing loops and explicit tasks.

An explicit task becomes a loop, and each iteration is a task. The loop is the innermost loop around
the task:

    for (i = 0; i < n; i += block) {          for (i = 0; i < n; i += block) {
        double *to = y + i;                       double *to = y + i;
        prepare(i);                     -->       scale(to, block);
    #pragma omp task                          }
        scale(to, block);
    }

The number of tasks of a function `f` is the unknown `f_tasks` if `f` is recursive, or if the loop
has no counter. The same holds if neither a loop nor a parallel region encloses the task in `f`. A
task runs once if its parallel region has no loop around it, or if the loop waits for the tasks of
each iteration. Such tasks of one block are a loop over the tasks. Tasks inside a worksharing loop
are part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import NamedTuple

from regionpredict.frontend.lowering.loop_headers import (
    counting_loop,
    steps_of,
)
from regionpredict.frontend.lowering.other_constructs import is_target
from regionpredict.frontend.lowering.parallel_constructs import ParallelSite, outer_parallel
from regionpredict.frontend.syntax import (
    Assign,
    Compound,
    CType,
    Decl,
    DeclStmt,
    Directive,
    ExprStmt,
    For,
    Function,
    Name,
    Pragma,
    RangeFor,
    Stmt,
    While,
    counted_loops,
    every_statement,
    inner_statements,
)
from regionpredict.frontend.text import loop_over_sections
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


class _Around(NamedTuple):
    """The function, the directives, the loops and the parallel region around a statement. Outer
    directives and loops are first.

    `is_recursive` says that the function may call itself. `outside` is the number of loops around
    the parallel region. `preceding` are the declarations and assignments before the statement in
    the innermost loop. `concurrent` are the tasks in the same block that may run at the same time
    as the statement, which is one of them.
    """

    function: Function
    is_recursive: bool
    directives: tuple[Directive, ...] = ()
    loops: tuple[For | While | RangeFor, ...] = ()
    team: ParallelSite | None = None
    outside: int = 0
    preceding: tuple[Stmt, ...] = ()
    concurrent: tuple[Directive, ...] = ()


def region_sites(function: Function, *, is_recursive: bool) -> Iterator[LoopSite]:
    """Yields a loop for every worksharing directive and every `task` directive in a function.
    `is_recursive` says that the function may call itself.
    """
    yield from _find_sites(function.body, _Around(function, is_recursive))


def _find_sites(statement: Stmt, around: _Around) -> Iterator[LoopSite]:
    if isinstance(statement, Directive):
        around = _inside_directive(statement, around)
        if statement.pragma.is_loop:
            yield _site(statement, _associated_loop(statement.body), around.loops, around)
        elif statement.body is not None and _is_separate_task(around.directives):
            yield from _site_of_task(statement, statement.body, around)
    if isinstance(statement, (For, While, RangeFor)):
        around = around._replace(loops=(*around.loops, statement), preceding=())
    groups = _concurrent_tasks(statement.items) if isinstance(statement, Compound) else {}
    for inner in inner_statements(statement):
        yield from _find_sites(inner, around._replace(concurrent=groups.get(inner, ())))
        if isinstance(statement, Compound) and _sets_variable(inner):
            around = around._replace(preceding=(*around.preceding, inner))


def _inside_directive(directive: Directive, around: _Around) -> _Around:
    around = around._replace(directives=(*around.directives, directive))
    if "parallel" not in directive.pragma.kind.split():
        return around
    team = ParallelSite(directive, len(counted_loops(around.loops)))
    return around._replace(team=team, outside=len(around.loops))


def _site(
    directive: Directive, loop: For | RangeFor | None, enclosing: Sequence[Stmt], around: _Around
) -> LoopSite:
    pragmas = [outer.pragma for outer in around.directives]
    return LoopSite(
        directive, loop, _region_context(pragmas), counted_loops(tuple(enclosing)), around.team,
        any(map(is_target, pragmas)), outer_parallel(around.directives[:-1], directive),
    )  # fmt: skip


def _region_context(pragmas: Sequence[Pragma]) -> str:
    """Returns how a directive relates to its parallel region. It is the last of `pragmas`."""
    *outer, own = ("parallel" in pragma.kind.split() for pragma in pragmas)
    return "combined" if own else "inside" if any(outer) else "orphaned"


def _is_separate_task(directives: Sequence[Directive]) -> bool:
    """Returns whether the last directive creates a task outside worksharing loops and `target`."""
    return directives[-1].pragma.is_task and not any(
        outer.pragma.is_loop or is_target(outer.pragma) for outer in directives
    )


def _site_of_task(task: Directive, body: Stmt, around: _Around) -> Iterator[LoopSite]:
    body = Compound((*around.preceding, body))
    loop = _loop_of_tasks(around)
    if isinstance(loop, RangeFor) or (isinstance(loop, For) and steps_of(loop.increment)):
        counted = loop._replace(body=body)
        if not around.is_recursive:
            yield _site(task, counted, around.loops[:-1], around)
            return
        body = Compound((counted,))
    elif loop is not None:
        body = Compound((*body.items, *_changes_after(task, loop)))
    elif (around.team is not None or around.loops) and not around.is_recursive:
        if task in around.concurrent[:1]:
            yield _site(task, _loop_over_tasks(around), around.loops, around)
        return
    name = re.sub(r"\W+", "_", around.function.name)
    count = Name(Decl(f"{name}_tasks", "global", CType("int", 64), task.span), task.span)
    enclosing = () if around.is_recursive else around.loops[:-1]
    yield _site(task, counting_loop("task", count, body, task.span), enclosing, around)


def _concurrent_tasks(items: Sequence[Stmt]) -> dict[Stmt, tuple[Directive, ...]]:
    """Returns the tasks in a block that may run at the same time, for each of them."""
    groups: list[list[Directive]] = [[]]
    for item in items:
        if isinstance(item, Directive) and item.pragma.is_task:
            groups[-1].append(item)
        elif _waits_for_tasks(item):
            groups.append([])
    return {task: tuple(group) for group in groups for task in group}


def _loop_over_tasks(around: _Around) -> For:
    """Returns a loop over the concurrent tasks, with an iteration per task."""
    tasks = around.concurrent
    block = Compound(tuple(task.body for task in tasks if task.body is not None))
    loop = loop_over_sections(block, tasks[0].span)
    return loop._replace(body=Compound((*around.preceding, loop.body)))


def _loop_of_tasks(around: _Around) -> For | While | RangeFor | None:
    """Returns the innermost loop in the parallel region, unless it waits for the tasks of each
    iteration.
    """
    inside = around.loops[around.outside :]
    return inside[-1] if inside and not _waits_for_tasks(inside[-1].body) else None


def _waits_for_tasks(statement: Stmt) -> bool:
    """Returns whether a statement waits for tasks outside of the tasks that it creates."""
    if isinstance(statement, Directive):
        if statement.pragma.kind in ("taskwait", "barrier"):
            return True
        return (
            not statement.pragma.is_task
            and statement.body is not None
            and _waits_for_tasks(statement.body)
        )
    return any(_waits_for_tasks(inner) for inner in inner_statements(statement))


def _changes_after(task: Directive, loop: For | While | RangeFor) -> Iterator[Stmt]:
    """Yields the assignments in a loop after a task, such as `p = p->next`."""
    items = loop.body.items if isinstance(loop.body, Compound) else ()
    after = dropwhile(lambda item: all(part is not task for part in every_statement(item)), items)
    yield from filter(_sets_variable, after)
    if isinstance(loop, For) and loop.increment is not None:
        yield ExprStmt(loop.increment, loop.span)


def _sets_variable(statement: Stmt) -> bool:
    return isinstance(statement, DeclStmt) or (
        isinstance(statement, ExprStmt)
        and isinstance(statement.expr, Assign)
        and isinstance(statement.expr.left, Name)
    )


def _associated_loop(statement: Stmt | None) -> For | RangeFor | None:
    while isinstance(statement, (Directive, Compound)):
        if isinstance(statement, Directive):
            statement = statement.body
        else:
            loops = [
                s for s in statement.items if isinstance(s, (For, RangeFor, Directive, Compound))
            ]
            statement = loops[-1] if loops else None
    return statement if isinstance(statement, (For, RangeFor)) else None
