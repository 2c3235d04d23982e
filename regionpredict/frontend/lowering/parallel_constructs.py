"""Finds the `parallel` construct around a worksharing loop, with its clauses and constructs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.loop_headers import outer_loop
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    CallExpr,
    Compound,
    Decl,
    DeclStmt,
    Directive,
    For,
    Function,
    IntLit,
    Opaque,
    Pragma,
    Stmt,
    expressions_in,
    inner_statements,
    nested,
    own_parts,
)
from regionpredict.ir import LoopSuccessor, ParallelConstruct, Span, TeamSynchronisation

_SYNCHRONISING_KINDS = frozenset(("barrier", "single", "master", "masked", "critical"))
_NESTING_CALLS = {"omp_set_max_active_levels": 1, "omp_set_nested": 0}
"""Functions that set nested parallelism, with the largest argument that disables it."""
_ENVIRONMENT = frozenset(("setenv", "putenv"))
_WAITING = frozenset(("barrier", "single"))


class ParallelSite(NamedTuple):
    """A `parallel` directive, and the number of loops around it in its function."""

    directive: Directive
    depth: int


def parallel_construct(site: ParallelSite, context: Context, frame: Frame) -> ParallelConstruct:
    """Returns the IR of a `parallel` construct. `frame` has the variables of the loops around the
    region.
    """
    synchronisations, successors = _other_constructs(site.directive)
    return ParallelConstruct(
        span=site.directive.span,
        clauses=site.directive.pragma.clauses,
        depth=site.depth,
        synchronisations=tuple(
            TeamSynchronisation(
                kind=directive.pragma.kind.split()[0],
                waits=_has_barrier(directive.pragma),
                enclosing=tuple(outer_loop(loop, context, frame) for loop in loops),
                span=directive.span,
            )
            for directive, loops in synchronisations
        ),
        successors=successors,
    )


@lru_cache(maxsize=1)  # all regions of a construct are built in sequence
def _other_constructs(
    parallel: Directive,
) -> tuple[tuple[tuple[Directive, tuple[For, ...]], ...], tuple[LoopSuccessor, ...]]:
    """Returns the synchronizing constructs in a `parallel` construct with their enclosing loops,
    and the successors of its worksharing loops.
    """
    if (
        parallel.body is None or parallel.pragma.is_loop
    ):  # the body of a combined directive is its loop
        return (), ()
    return tuple(_synchronisations_in(parallel.body, ())), tuple(
        _loops_with_successors(parallel.body, ends=True)
    )


def _synchronisations_in(
    statement: Stmt, loops: tuple[For, ...]
) -> Iterator[tuple[Directive, tuple[For, ...]]]:
    """Yields the synchronizing constructs outside worksharing loops and nested parallel regions,
    with their enclosing loops.
    """
    if isinstance(statement, Directive):
        directive_tokens = statement.pragma.kind.split()
        if directive_tokens[0] in _SYNCHRONISING_KINDS:
            yield statement, loops
        elif not statement.pragma.is_loop and "parallel" not in directive_tokens and statement.body:
            yield from _synchronisations_in(statement.body, loops)
        return
    if isinstance(statement, For):
        loops = (*loops, statement)
    for inner in inner_statements(statement):
        yield from _synchronisations_in(inner, loops)


def outer_parallel(directives: Sequence[Directive], own: Directive) -> Span | None:
    """Returns the position of the innermost `parallel` directive that encloses the parallel region
    of `own`. Returns None if it is not nested.
    """
    teams = [
        directive.span
        for directive in (*directives, own)
        if "parallel" in directive.pragma.kind.split()
    ]
    return teams[-2] if len(teams) > 1 else None


def enables_nested_parallelism(unit: LinkedUnit) -> bool:
    """Returns whether a call in the unit enables nested parallel regions.

    Nesting is disabled by default (OpenMP 5.2, sec. 2.4, table 2.1: max-active-levels-var is 1 for
    most implementations).
    """
    return any(
        type(expression) is CallExpr and _enables_nesting(expression)
        for body in unit.bodies()
        for expression in expressions_in(body.body)
    )


def _enables_nesting(call: CallExpr) -> bool:
    """Returns whether a call enables nested parallel regions: `omp_set_nested(1)`,
    `omp_set_max_active_levels(2)`, `setenv("OMP_NESTED", ...)`.
    """
    first = call.args[0] if call.args else None
    if call.name in _NESTING_CALLS:
        return not (isinstance(first, IntLit) and first.value <= _NESTING_CALLS[call.name])
    return (
        call.name in _ENVIRONMENT
        and isinstance(first, Opaque)
        and first.string is not None
        and first.string.startswith(("OMP_NESTED", "OMP_MAX_ACTIVE_LEVELS"))
    )


class Callers(NamedTuple):
    """The positions of the `parallel` directives inside which a function is called. `elsewhere`
    says whether it may also be called outside of parallel regions.
    """

    inside: frozenset[Span]
    elsewhere: bool


class CallingRegions:
    """Finds the parallel regions from which the functions of a unit are called."""

    def __init__(self, unit: LinkedUnit) -> None:
        self._unit = unit
        self._known: dict[Decl, Callers] = {}

    def callers_of(self, function: Function) -> Callers:
        """Returns the parallel regions from which a function is called, directly or through other
        functions.

        A function without callers is assumed to be called from outside the unit.
        """
        decl = function.decl
        if decl not in self._known:
            self._known[decl] = Callers(frozenset(), elsewhere=False)  # for recursion
            self._known[decl] = self._find_callers(function)
        return self._known[decl]

    def _find_callers(self, function: Function) -> Callers:
        calls = [pair for pair in self._unit.calls_of(function.decl) if pair[0] is not function]
        inside: set[Span] = set()
        elsewhere = not calls
        for caller, call in calls:
            team = _enclosing_parallel(caller.body, call)
            if team is not None:
                inside.add(team)
                continue
            further = self.callers_of(caller)
            inside |= further.inside
            elsewhere |= further.elsewhere
        return Callers(frozenset(inside), elsewhere)


def _enclosing_parallel(body: Stmt, call: CallExpr) -> Span | None:
    """Returns the position of the outermost `parallel` around a call in a function's body, or
    None.
    """
    for statement, around in nested(body):
        if any(own is call for own in own_parts(statement)):
            teams = (
                outer.span for outer in (*around, statement)
                if isinstance(outer, Directive) and "parallel" in outer.pragma.kind.split()
            )  # fmt: skip
            return next(teams, None)
    return None


def _has_barrier(pragma: Pragma) -> bool:
    return pragma.kind.split()[0] in _WAITING and pragma.clause("nowait") is None


def _loops_with_successors(statement: Stmt, *, ends: bool) -> Iterator[LoopSuccessor]:
    """Yields the worksharing loops in a statement, each with the worksharing loop or barrier that
    directly follows it.

    `ends` says that the parallel region ends after the statement.
    """
    if isinstance(statement, Directive):
        directive_tokens = statement.pragma.kind.split()
        if statement.pragma.is_loop and ends and "parallel" not in directive_tokens:
            yield LoopSuccessor(statement.span, None)
        return
    if not isinstance(statement, Compound):
        for inner in inner_statements(statement):
            yield from _loops_with_successors(inner, ends=False)
        return
    items = list(_flattened_statements(statement))
    for item, follower in zip_longest(items, items[1:]):
        if isinstance(item, Directive) and isinstance(follower, Directive):
            yield from _directly_following_loop(item, follower)
        else:
            yield from _loops_with_successors(item, ends=ends and follower is None)


def _flattened_statements(block: Compound) -> Iterator[Stmt]:
    """Yields the statements of a block and of its inner blocks without declarations."""
    for item in block.items:
        if isinstance(item, Compound) and _can_be_flattened(item):
            yield from _flattened_statements(item)
        else:
            yield item


def _can_be_flattened(block: Compound) -> bool:
    declares = any(isinstance(item, DeclStmt) for item in block.items)
    return not (declares or block.cases or block.label)


def _directly_following_loop(loop: Directive, follower: Directive) -> Iterator[LoopSuccessor]:
    """Yields a worksharing loop and its successor, if a loop or barrier directly follows it."""
    if not loop.pragma.is_loop or "parallel" in loop.pragma.kind.split():
        return
    directive_tokens = follower.pragma.kind.split()
    if directive_tokens == ["barrier"]:
        yield LoopSuccessor(loop.span, None)
    elif follower.pragma.is_loop and "parallel" not in directive_tokens:
        yield LoopSuccessor(loop.span, follower.span)
