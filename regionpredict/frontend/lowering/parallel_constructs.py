"""The `parallel` around a worksharing loop: its clauses, and what else its threads do together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.loop_headers import outer_loop
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    CallExpr,
    Compound,
    DeclStmt,
    Directive,
    For,
    Pragma,
    Stmt,
    expressions_in,
    inner_statements,
)
from regionpredict.ir import LoopSuccessor, ParallelConstruct, Span, TeamSynchronisation

_KINDS = frozenset(("barrier", "single", "master", "masked", "critical", "sections"))
_NESTING = frozenset(("omp_set_max_active_levels", "omp_set_nested"))
_WAITING = frozenset(("barrier", "single", "sections"))


class ParallelSite(NamedTuple):
    """A `parallel` directive, and how many of the loops around a region stand around it too."""

    directive: Directive
    depth: int


def parallel_construct(site: ParallelSite, context: Context, frame: Frame) -> ParallelConstruct:
    """The construct; `frame` knows the loops around the region."""
    pragma, body = site.directive.pragma, site.directive.body
    if pragma.is_loop:
        body = None  # of a combined construct: its loop
    synchronisations = [] if body is None else list(_synchronisations(body, ()))
    return ParallelConstruct(
        span=site.directive.span,
        clauses=pragma.clauses,
        depth=site.depth,
        synchronisations=tuple(
            TeamSynchronisation(
                kind=directive.pragma.kind.split()[0],
                waits=_waits(directive.pragma),
                enclosing=tuple(outer_loop(loop, context, frame) for loop in loops),
                span=directive.span,
            )
            for directive, loops in synchronisations
        ),
        successors=() if body is None else tuple(_successors(body, ends=True)),
    )


def _synchronisations(
    statement: Stmt, loops: tuple[For, ...]
) -> Iterator[tuple[Directive, tuple[For, ...]]]:
    """The constructs outside worksharing loops and inner teams, with the loops around each."""
    if isinstance(statement, Directive):
        directive_tokens = statement.pragma.kind.split()
        if directive_tokens[0] in _KINDS:
            yield statement, loops
        elif not statement.pragma.is_loop and "parallel" not in directive_tokens and statement.body:
            yield from _synchronisations(statement.body, loops)
        return
    if isinstance(statement, For):
        loops = (*loops, statement)
    for inner in inner_statements(statement):
        yield from _synchronisations(inner, loops)


def outer_parallel(directives: Sequence[Directive], own: Directive) -> Span | None:
    """The `parallel` around the one that starts the team of `own`, inside these directives."""
    teams = [one.span for one in (*directives, own) if "parallel" in one.pragma.kind.split()]
    return teams[-2] if len(teams) > 1 else None


def nests_teams(unit: LinkedUnit) -> bool:
    """Whether the unit asks for teams inside teams, which OpenMP leaves out by default
    (5.2, sec. 2.4, table 2.1: max-active-levels-var is 1 for most implementations)."""
    return any(
        type(expression) is CallExpr and expression.name in _NESTING
        for body in unit.bodies()
        for expression in expressions_in(body.body)
    )


def _waits(pragma: Pragma) -> bool:
    return pragma.kind.split()[0] in _WAITING and pragma.clause("nowait") is None


def _successors(statement: Stmt, *, ends: bool) -> Iterator[LoopSuccessor]:
    """Of the worksharing loops in a statement those of which it is seen what comes after them.

    `ends`: the threads leave their `parallel` behind the statement.
    """
    if isinstance(statement, Directive):
        directive_tokens = statement.pragma.kind.split()
        if statement.pragma.is_loop and ends and "parallel" not in directive_tokens:
            yield LoopSuccessor(statement.span, None)
        return
    if not isinstance(statement, Compound):
        for inner in inner_statements(statement):
            yield from _successors(inner, ends=False)
        return
    items = list(_in_order(statement))
    for item, follower in zip_longest(items, items[1:]):
        if isinstance(item, Directive) and isinstance(follower, Directive):
            yield from _successor(item, follower)
        else:
            yield from _successors(item, ends=ends and follower is None)


def _in_order(block: Compound) -> Iterator[Stmt]:
    """The statements of a block, those of blocks in it that declare nothing each by itself."""
    for item in block.items:
        if isinstance(item, Compound) and _is_plain(item):
            yield from _in_order(item)
        else:
            yield item


def _is_plain(block: Compound) -> bool:
    declares = any(isinstance(item, DeclStmt) for item in block.items)
    return not (declares or block.cases or block.label)


def _successor(loop: Directive, follower: Directive) -> Iterator[LoopSuccessor]:
    """What is known of two directives behind one another."""
    if not loop.pragma.is_loop or "parallel" in loop.pragma.kind.split():
        return
    directive_tokens = follower.pragma.kind.split()
    if directive_tokens == ["barrier"]:
        yield LoopSuccessor(loop.span, None)
    elif follower.pragma.is_loop and "parallel" not in directive_tokens:
        yield LoopSuccessor(loop.span, follower.span)
