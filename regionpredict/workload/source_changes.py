"""Proposes source changes that may let a region use more threads, and computes the workload after
each change.

The changes are parallel first touch, another schedule, `collapse`, padding, one parallel region for
several loops, and `nowait`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from regionpredict.analysis import RegionFacts, facts_of
from regionpredict.analysis.dependence import is_independent_loop
from regionpredict.analysis.history.first_touch import ArrayPlacement, Placement
from regionpredict.analysis.schedule import Schedule
from regionpredict.ir import Loop, Region, Span
from regionpredict.workload.constants import COARSE_CHUNK
from regionpredict.workload.workload import Workload


class Change(NamedTuple):
    """A source change: rule id, location, instruction, affected terms of the predicted time, and a
    function that returns the new workload.
    """

    id: str
    span: Span
    message: str
    terms: frozenset[str]
    workload: Callable[[], Workload]


def changes_of(
    facts: RegionFacts, workload: Workload, build: Callable[[RegionFacts], Workload]
) -> Iterator[Change]:
    """Yields all changes that preserve the region's results. `build` computes the workload of
    changed facts.
    """
    region = facts.region
    if region.nest is None or workload.execution is None:
        return
    if region.clause("ordered") is None:
        unseen = any(note.id == "RP113" for note in facts.diagnostics)
        yield from _other_schedules(region, workload, unseen=unseen)
        yield from _collapsed_loops(facts, region, build)
    yield from _padded_elements(region, workload)


def with_parallel_first_touch(
    workload: Workload,
) -> tuple[Workload, tuple[ArrayPlacement, ...]] | None:
    """Returns the workload after parallel first touch of all arrays, and the arrays that one thread
    touched first. None if no such array is known.
    """
    serial = tuple(array for array in workload.placement.arrays if array.kind == "serial")
    if not serial:
        return None
    spread = tuple(array._replace(kind="parallel") for array in workload.placement.arrays)
    placement = Placement("parallel", workload.placement.reason, False, spread)
    return replace(workload, placement=placement), serial


def without_fork(workload: Workload) -> Workload | None:
    """Returns the workload of the loop inside an existing parallel region. None if the loop does
    not start its own parallel region.
    """
    execution = workload.execution
    if execution is None or not execution.synchronisation.forks:
        return None
    counts = execution.synchronisation._replace(forks=False)
    return replace(workload, execution=replace(execution, synchronisation=counts))


def without_barrier(workload: Workload) -> Workload | None:
    """Returns the workload of the loop with `nowait`. None for an unreadable loop."""
    execution = workload.execution
    if execution is None:
        return None
    counts = execution.synchronisation._replace(waits=False)
    return replace(workload, execution=replace(execution, synchronisation=counts))


def _other_schedules(region: Region, workload: Workload, *, unseen: bool) -> Iterator[Change]:
    """Yields changes to other schedules. `unseen` says that the region calls unknown functions,
    whose cost per iteration may vary. Dynamic schedules are then kept.
    """
    now = workload.schedule
    by_chunks = not (region.is_sections or region.is_taskloop or region.is_task)
    if not by_chunks or (unseen and now.kind != "static"):
        return
    tried = [Schedule("static", None), Schedule("static", 1.0), Schedule("guided", 1.0)]
    tried += [Schedule("dynamic", chunk) for chunk in (1.0, COARSE_CHUNK.value)]
    for schedule in tried:
        if schedule != now:
            how = "share it with omp for" if region.by_hand else "write"
            yield Change(
                "RP202", region.span, f"{how} {clause_of(schedule)}",
                frozenset(("imbalance", "cache") if now.kind == "static" else
                          ("imbalance", "cache", "overhead")),
                _with_schedule(workload, schedule),
            )  # fmt: skip


def _with_schedule(workload: Workload, schedule: Schedule) -> Callable[[], Workload]:
    return lambda: replace(workload, schedule=schedule)


def clause_of(schedule: Schedule) -> str:
    """Returns the OpenMP clause for a schedule.

    >>> clause_of(Schedule("dynamic", 16.0)), clause_of(Schedule("static", None))
    ('schedule(dynamic, 16)', 'schedule(static)')
    """
    chunk = schedule.chunk
    plain = chunk is None or (schedule.kind != "static" and chunk == 1)
    return f"schedule({schedule.kind})" if plain else f"schedule({schedule.kind}, {chunk:.0f})"


def _collapsed_loops(
    facts: RegionFacts, region: Region, build: Callable[[RegionFacts], Workload]
) -> Iterator[Change]:
    """Yields the change to `collapse(2)`, if two loops are perfectly nested, rectangular and
    independent.
    """
    nest = region.nest
    if region.by_hand or region.collapse != 1:
        return
    if nest is None or len(nest.body) != 1 or nest.exits:
        return
    inner = nest.body[0]
    if not isinstance(inner, Loop) or inner.kind != "for" or not _is_rectangular(nest, inner):
        return
    if not is_independent_loop(region, inner):
        return
    yield Change(
        "RP203", region.span, "write collapse(2)", frozenset(("imbalance",)),
        lambda: build(facts_of(replace(region, collapse=2), facts.bindings)),
    )  # fmt: skip


def _is_rectangular(outer: Loop, inner: Loop) -> bool:
    bounds = [inner.start, inner.bound, inner.step]
    return all(part is not None and outer.variable not in part.names for part in bounds)


def _padded_elements(region: Region, workload: Workload) -> Iterator[Change]:
    """Yields the change that places each thread's elements on separate cache lines."""
    execution = workload.execution
    if execution is None:
        return
    line = float(workload.line_bytes)
    narrow = {
        writes.array
        for writes in execution.contended
        if writes.apart is not None and 0 < writes.apart < line
    }
    if not narrow:
        return
    contended = tuple(
        writes._replace(apart=line) if writes.array in narrow else writes
        for writes in execution.contended
    )
    changed = replace(workload, execution=replace(execution, contended=contended))
    yield Change(
        "RP204", region.span,
        f"put each thread's part of {', '.join(sorted(narrow))} on a separate line "
        f"({workload.line_bytes} B)",
        frozenset(("cache",)), lambda: changed,
    )  # fmt: skip


def names_of(arrays: Sequence[ArrayPlacement]) -> str:
    """Returns the sorted array names as one string."""
    return ", ".join(sorted({array.array for array in arrays}))
