"""Finds worksharing loops of a parallel region that could be `nowait` without changing results.

A barrier is unnecessary if another barrier follows immediately. It is also unnecessary if no loop
that could then overlap this loop has a data conflict with it. Two loops may use the same array if
each thread has the same iterations of both, and only those iterations access its elements. OpenMP
5.2, sec. 11.5.3 requires equal static schedules, equal numbers of iterations, and no `simd`. Arrays
with different names are assumed to be different memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from regionpredict.analysis.bindings import free_names
from regionpredict.analysis.dependence import root_of
from regionpredict.analysis.facts import RegionFacts
from regionpredict.analysis.schedule import schedule_of
from regionpredict.analysis.teams import TeamFacts
from regionpredict.ir import (
    Access,
    Branch,
    Expr,
    Loop,
    ParallelConstruct,
    Region,
    Span,
    Synchronisation,
)

_AFTER_ALL = ("reduction", "lastprivate", "linear")
"""Clauses whose results are available only after a barrier."""
_STATIC = re.compile(r"\s*static\s*(,\s*\d+\s*)?")


def needless_barriers(team: TeamFacts) -> tuple[Region, ...]:
    """Returns the loops that can all be `nowait` at the same time, in source order."""
    construct = team.construct
    if construct is None or _may_overlap_earlier(team, construct):
        return ()
    members = {member.facts.region.span: member.facts for member in team.members}
    after = {successor.loop: successor.then for successor in construct.successors}
    running: list[RegionFacts] = []  # loops that some threads may still execute
    needless: list[Region] = []
    for span, facts in members.items():
        running.append(facts)
        if facts.region.clause("nowait") is not None:
            continue
        following = _until_next_barrier(span, after, members)
        independent = following is not None and all(
            _may_overlap(loop, then) for loop in running for then in following
        )
        if independent:
            needless.append(facts.region)
        if not independent or not following:
            running.clear()
    return tuple(needless)


def _until_next_barrier(
    loop: Span, after: Mapping[Span, Span | None], members: Mapping[Span, RegionFacts]
) -> list[RegionFacts] | None:
    """Returns the loops that run after this loop and before the next barrier. None if unknown."""
    following: list[RegionFacts] = []
    place: Span | None = loop
    while place is not None:
        if place not in after:
            return None
        place = after[place]
        if place is not None:
            if place not in members:
                return None
            following.append(members[place])
            if following[-1].region.clause("nowait") is None:
                break
    return following


def _may_overlap_earlier(team: TeamFacts, construct: ParallelConstruct) -> bool:
    """Whether a loop without a barrier may overlap a loop that precedes it in the source, or a loop
    in another function.
    """
    for member in team.members:
        region = member.facts.region
        elsewhere = region.parallel is None or region.parallel.span != construct.span
        if region.clause("nowait") is not None and (
            elsewhere or len(region.enclosing) > construct.depth
        ):
            return True
    return False


def _may_overlap(first: RegionFacts, second: RegionFacts) -> bool:
    """Whether threads may run the second loop while other threads are still in the first."""
    regions = (first.region, second.region)
    return (
        first.status == second.status == "complete"
        and all(_has_known_accesses(region) for region in regions)
        and not any(first.region.clause(name) is not None for name in _AFTER_ALL)
        and not _share_scalars(*regions)
        and not _share_scalars(*reversed(regions))
        and all(_accessed_by_same_thread(array, *regions) for array in _arrays_in_both(*regions))
    )


def _has_known_accesses(region: Region) -> bool:
    """Whether all memory accesses of a region are known, and none is inside a synchronization."""
    assert region.nest is not None
    return not (
        any(call.memory for statement, _ in region.statements() for call in statement.calls)
        or any(array.storage == "unknown" for array in region.arrays)
        or any(_synchronisations_in(region.nest))
    )


def _synchronisations_in(nest: Loop) -> Iterator[Synchronisation]:
    waiting = list(nest.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Synchronisation):
            yield node
        elif isinstance(node, Loop):
            waiting += node.body
        elif isinstance(node, Branch):
            waiting += [inner for side in node.sides for inner in side]


def _share_scalars(first: Region, second: Region) -> bool:
    """Whether the first loop sets a shared variable that the second loop uses."""
    shared = first.shared | second.shared
    used = free_names(second) | {root_of(access.array) for access in _accesses_of_region(second)}
    for statement, _ in second.statements():
        used |= statement.reads | statement.writes
    return any(
        name in shared and name in used
        for statement, _ in first.statements() for name in statement.writes
    )  # fmt: skip


def _accesses_of_region(region: Region) -> list[Access]:
    return [access for statement, _ in region.statements() for access in statement.accesses]


def _arrays_in_both(first: Region, second: Region) -> list[str]:
    """Returns the shared arrays that both loops access and at least one loop writes."""
    private = {
        array.name for region in (first, second) for array in region.arrays
        if array.storage == "private"
    }  # fmt: skip
    touched = [_accesses_of_region(first), _accesses_of_region(second)]
    names = [{access.array for access in accesses} - private for accesses in touched]
    written = {access.array for access in (*touched[0], *touched[1]) if access.kind == "write"}
    return sorted(names[0] & names[1] & written)


def _accessed_by_same_thread(array: str, first: Region, second: Region) -> bool:
    """Whether each element that a thread accesses in one loop is accessed only by the same thread
    in the other loop.
    """
    if not _have_same_iterations(first, second):
        return False
    positions = [
        [_as_iteration_expression(subscript, region) for subscript in access.subscripts]
        for region in (first, second)
        for access in _accesses_of_region(region) if access.array == array
    ]  # fmt: skip
    ranks = {len(place) for place in positions}
    return len(ranks) == 1 and any(
        place is not None and all(place == other[dimension] for other in positions)
        for dimension, place in enumerate(positions[0])
    )


def _have_same_iterations(first: Region, second: Region) -> bool:
    """Whether each thread certainly has the same iterations of both loops."""
    left, right = first.nest, second.nest
    return (
        left is not None
        and right is not None
        and all(_has_static_assignment(region) for region in (first, second))
        and schedule_of(first) == schedule_of(second)
        and (left.start, left.bound, left.comparison, left.step)
        == (right.start, right.bound, right.comparison, right.step)
    )


def _has_static_assignment(region: Region) -> bool:
    """Whether the schedule fixes which thread has which iterations of the outermost loop."""
    clause = region.clause("schedule")
    return (
        clause is not None
        and _STATIC.fullmatch(clause.text or "") is not None
        and region.collapse == 1
        and "simd" not in region.directive.split()
    )


def _as_iteration_expression(subscript: Expr, region: Region) -> Expr | None:
    """Returns a subscript as an expression of the iteration number `#`, if it differs between all
    iterations.

    None if this is uncertain.
    """
    if region.nest is None:
        return None
    variable = region.nest.variable
    written = {name for statement, _ in region.statements() for name in statement.writes}
    factor = subscript.coefficient(variable)
    alone = factor is not None and isinstance(factor.constant, int) and factor.constant != 0
    if not alone or any(subscript.atoms()):
        return None
    if not subscript.names - {variable} <= region.shared - written:
        return None
    return subscript.substitute({variable: Expr.name("#")})
