"""Finds data races and contention in the source, and reports them as diagnostics.

Only certain conflicts are errors: loop-carried dependences (RP221), and shared variables that each
iteration changes (RP222). Updates through an index from memory (RP224) are correct only for
distinct indices. The source does not show whether indices are distinct. If a list may have distinct
entries (RP225), the race is reported as possible, and the hint does not change.
"""

from __future__ import annotations

from collections.abc import Iterator

from regionpredict.analysis.dependence import (
    CONDITIONAL_OPERATORS,
    carried_dependence,
    parallel_loops,
)
from regionpredict.analysis.indirect_writes import indirect_updates, possible_races
from regionpredict.ir import Diagnostic, Loop, Node, Region, Statement

RACES = frozenset(("RP221", "RP222", "RP224"))
"""Rules for data races. A region with a data race must be corrected before it runs on several
threads.
"""


def conflict_diagnostics(region: Region, trips: int | None) -> list[Diagnostic]:
    """Returns the diagnostics on one region. `trips` is the trip count of its outermost loop, if
    known.
    """
    if region.nest is None or _has_one_thread(region) or (trips is not None and trips < 2):
        return []
    return [
        *_carried_conflicts(region, trips),
        *_shared_scalars(region),
        *_indirect_updates(region),
        *_possible_races(region),
    ]


def _has_one_thread(region: Region) -> bool:
    """Whether one thread executes the whole region."""
    for construct in (region, region.parallel):
        clause = construct.clause("num_threads") if construct is not None else None
        if clause is not None and (clause.text or "").strip() == "1":
            return True
    return False


def _carried_conflicts(region: Region, trips: int | None) -> Iterator[Diagnostic]:
    dependence = carried_dependence(region, trips)
    if dependence is None:
        return
    if dependence.distance:
        gap = abs(dependence.distance)
        apart = "next iteration" if gap == 1 else f"iteration {gap} further"
        message = (
            f"{dependence.write.text} is written and {dependence.other.text} touches the same "
            f"element in the {apart}: the iterations are not independent"
        )
    else:
        message = f"every iteration updates the same {dependence.write.text}, each thread at once"
    yield Diagnostic("RP221", dependence.write.span, message)


def _shared_scalars(region: Region) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each shared variable that every iteration sets and the region
    reads.
    """
    for name, node in contended_scalars(region).items():
        what = "counts in it" if isinstance(node, Loop) else "sets it"
        sums = isinstance(node, Statement) and name in node.reads
        remedy = "use a reduction" if sums else f"make it private({name})"
        message = f"{name} is one variable for all threads, and every iteration {what}: {remedy}"
        yield Diagnostic("RP222", node.span, message)


def contended_scalars(region: Region) -> dict[str, Statement | Loop]:
    """Returns the shared variables that every iteration sets, each with the first statement that
    sets it.
    """
    if _has_one_thread(region):
        return {}
    own = {loop.variable for loop in parallel_loops(region)}
    read = {name for statement, _ in region.statements() for name in statement.reads}
    found: dict[str, Statement | Loop] = {}
    for name, node in _certain_assignments(region):
        if name in region.shared and name not in own and (isinstance(node, Loop) or name in read):
            found.setdefault(name, node)
    return found


def _certain_assignments(region: Region) -> Iterator[tuple[str, Statement | Loop]]:
    """Yields each variable that every iteration certainly sets, and the statement or loop that sets
    it.
    """
    if region.nest is None or region.nest.exits:
        return

    def below(nodes: tuple[Node, ...]) -> Iterator[tuple[str, Statement | Loop]]:
        for node in nodes:
            if isinstance(node, Statement):
                if not any(sign in node.text for sign in CONDITIONAL_OPERATORS):
                    yield from ((name, node) for name in sorted(node.writes))
            elif isinstance(node, Loop) and node.kind == "for":
                yield node.variable, node
                if not node.exits:
                    yield from below(node.body)

    yield from below(region.nest.body)


def _indirect_updates(region: Region) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each update through an index from memory: `h[idx[i]]++`."""
    for access in indirect_updates(region):
        message = (
            f"{access.text} is updated by all threads at once: correct only if no two iterations "
            "use the same index"
        )
        yield Diagnostic("RP224", access.span, message)


def _possible_races(region: Region) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each write through an index that may occur twice: `a[k[i]] =
    b[i]`.
    """
    for access in possible_races(region):
        message = (
            f"{access.text} is written through an index from memory: a race if two iterations use "
            "the same index"
        )
        yield Diagnostic("RP225", access.span, message)
