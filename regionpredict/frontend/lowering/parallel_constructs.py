"""The `parallel` around a worksharing loop: its clauses, and what else its threads do together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.loop_headers import outer_loop
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import Directive, For, Pragma, Stmt, inner_statements
from regionpredict.ir import ParallelConstruct, TeamSynchronisation

_KINDS = frozenset(("barrier", "single", "master", "masked", "critical", "sections"))
_WAITING = frozenset(("barrier", "single", "sections"))


class ParallelSite(NamedTuple):
    """A `parallel` directive, and how many of the loops around a region stand around it too."""

    directive: Directive
    depth: int


def parallel_construct(site: ParallelSite, context: Context, frame: Frame) -> ParallelConstruct:
    """The construct; `frame` knows the loops around the region."""
    pragma, body = site.directive.pragma, site.directive.body
    synchronisations = [] if body is None or pragma.is_loop else list(_synchronisations(body, ()))
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
    )


def _synchronisations(
    statement: Stmt, loops: tuple[For, ...]
) -> Iterator[tuple[Directive, tuple[For, ...]]]:
    """The constructs outside worksharing loops and inner teams, with the loops around each."""
    if isinstance(statement, Directive):
        words = statement.pragma.kind.split()
        if words[0] in _KINDS:
            yield statement, loops
        elif not statement.pragma.is_loop and "parallel" not in words and statement.body:
            yield from _synchronisations(statement.body, loops)
        return
    if isinstance(statement, For):
        loops = (*loops, statement)
    for inner in inner_statements(statement):
        yield from _synchronisations(inner, loops)


def _waits(pragma: Pragma) -> bool:
    return pragma.kind.split()[0] in _WAITING and pragma.clause("nowait") is None
