"""Counts a region's calls of the OpenMP runtime: forks, barriers, reductions, locks, and requests
for iterations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.analysis.dependence import parallel_loops, root_of
from regionpredict.analysis.indirect_writes import writes_through_index
from regionpredict.documents import whole_number
from regionpredict.ir import (
    Access,
    Branch,
    Loop,
    Node,
    Region,
    Span,
    Synchronisation,
    statements_in,
)
from regionpredict.workload.constants import BRANCH_SIDES
from regionpredict.workload.if_conversion import shares_of_sides
from regionpredict.workload.loop_nest import LoopNest, body_executions
from regionpredict.workload.serial_bodies import SERIAL_KINDS, SerialKind

_SECTION = re.compile(r"\[[^\]]*\]")
"""An array section such as `[0:n]` in a clause. Commas in a section do not separate variables."""


class SpreadAtomics(NamedTuple):
    """Atomic updates of elements of `array` whose index is read from memory.

    `updates` is the number for all threads in one execution of the region. `text` is the first
    updated element in the source, at `span`.
    """

    array: str
    updates: float
    text: str
    span: Span


class SynchronisationCounts(NamedTuple):
    """The OpenMP runtime calls of one execution of a region, for all threads together.

    `forks` says that the region starts its own threads, and `waits` that it ends with a barrier.
    `reductions` is the number of reduced scalars. `iterations` is the number of parallel
    iterations. `by_construct` gives the executions of each inner OpenMP construct. `spread` are
    atomic updates of elements anywhere in an array. `apart` is the number of atomic updates of
    elements that the iteration number selects. `nests` says that nested parallel regions start
    several threads. `by_lock` gives the executions of named critical sections. `perhaps` is the
    number of serial bodies and atomic updates under conditions of unknown frequency.
    """

    forks: bool
    waits: bool
    reductions: int
    iterations: float
    by_construct: dict[str, float]
    spread: tuple[SpreadAtomics, ...] = ()
    apart: float = 0.0
    nests: bool = False
    by_lock: Mapping[str, float] = MappingProxyType({})
    perhaps: float = 0.0

    @property
    def inner_teams(self) -> float:
        """The number of nested parallel regions that the threads start."""
        return self.by_construct.get("parallel", 0.0)

    @property
    def tasks(self) -> float:
        """The number of explicit tasks that the threads create."""
        return self.by_construct.get("task", 0.0)

    @property
    def atomics(self) -> float:
        """The number of atomic updates."""
        return self.by_construct.get("atomic", 0.0)

    @property
    def in_one_place(self) -> float:
        """The number of atomic updates of a variable that all threads may share."""
        spread = sum(updates.updates for updates in self.spread)
        return max(0.0, self.atomics - spread - self.apart)

    @property
    def uncontended_updates(self) -> float:
        """The number of atomic updates of lines that are already in the thread's cache: `apart`
        updates, and releases of indexed locks.
        """
        return self.apart + self.by_construct.get("lock", 0.0)

    @property
    def explicit_barriers(self) -> float:
        """The number of explicit barriers."""
        return self.by_construct.get("barrier", 0.0)

    @property
    def serial_bodies(self) -> float:
        """The number of executions of all serial bodies."""
        return sum(self.by_construct.get(name, 0.0) for name in SERIAL_KINDS)

    def visits(self, kind: SerialKind) -> float:
        """Returns the number of executions of the serial bodies of one kind."""
        if kind.lock:
            return self.by_lock.get(kind.lock, 0.0)
        return sum(
            self.by_construct.get(name, 0.0)
            for name, serial_kind in SERIAL_KINDS.items()
            if serial_kind == kind.kind
        ) - (sum(self.by_lock.values()) if kind.kind == "critical" else 0.0)


def synchronisation_counts(region: Region, source: Loop, nest: LoopNest) -> SynchronisationCounts:
    """Counts the region's calls of the OpenMP runtime.

    `source` is the worksharing loop, and `nest` is the same loop with numeric bounds. Both have the
    same inner loops in the same order.
    """
    iterations = 1.0
    for loop in nest.parallel:
        iterations *= max(1.0, loop.trips({}))
    trips = [trips for trips, _ in body_executions(nest)]
    runs: list[_ConstructRuns] = []
    _collect_constructs(source.body, trips[0], trips, ((source, trips[0]),), 1, runs)
    counts: dict[str, float] = {}
    by_lock: dict[str, float] = {}
    for run in runs:
        construct = run.construct
        counts[construct.kind] = counts.get(construct.kind, 0.0) + run.times
        if construct.lock:
            by_lock[construct.lock] = by_lock.get(construct.lock, 0.0) + run.times
    if region.is_task:
        counts["task"] = iterations  # tasks that they create are iterations, too
    reductions = sum(
        len(_SECTION.sub("", clause.text or "").split(","))
        for clause in region.clauses
        if clause.name == "reduction"
    )
    return SynchronisationCounts(
        forks=region.context == "combined",
        waits=region.clause("nowait") is None,
        reductions=reductions,
        iterations=iterations,
        by_construct=counts,
        spread=_indexed_atomics(region, runs),
        apart=sum(run.times for run in runs if _updates_distinct_elements(run, region)),
        nests=region.nests,
        by_lock=by_lock,
        perhaps=sum(run.times for run in runs
                    if run.perhaps and run.construct.kind in ("atomic", *SERIAL_KINDS)),
    )  # fmt: skip


def team_limit(region: Region) -> int | None:
    """Returns the maximum number of threads of a region according to its clauses `num_threads` and
    `if`. None if there is no limit.

    A nested parallel region has one thread, unless the program enables nested parallelism.
    """
    if region.nested_in is not None and not region.nests:
        return 1
    construct = region.parallel or region
    number, condition = construct.clause("num_threads"), construct.clause("if")
    if condition is not None and (condition.text or "").split(":")[-1].strip() == "0":
        return 1
    limit = whole_number((number.text or "").strip()) if number is not None else None
    return None if limit is None else max(1, limit)


class _ConstructRuns(NamedTuple):
    """An OpenMP construct that is executed `times` times inside `loops`. `perhaps` says that this
    number is a guess.
    """

    construct: Synchronisation
    times: float
    loops: tuple[Loop, ...]
    perhaps: bool = False


def _collect_constructs(
    nodes: tuple[Node, ...], times: float, trips: list[float],
    enclosing_loops: tuple[tuple[Loop, float], ...], loop: int, runs: list[_ConstructRuns], *,
    is_conditional: bool = False,
) -> int:  # fmt: skip
    """Appends the constructs inside `nodes` to `runs`. The nodes are executed `times` times.

    `enclosing_loops` contains the enclosing loops with trip counts, and `loop` is the position of
    the first inner loop in `trips`. Returns the position of the next loop.
    """
    for node in nodes:
        if isinstance(node, Synchronisation):
            runs.append(
                _ConstructRuns(
                    node, times, tuple(outer for outer, _ in enclosing_loops), is_conditional
                )
            )
            loop = _collect_constructs(
                node.body, times, trips, enclosing_loops, loop, runs, is_conditional=is_conditional
            )
        elif isinstance(node, Loop):
            inner = (*enclosing_loops, (node, trips[loop]))
            loop = _collect_constructs(
                node.body,
                times * trips[loop],
                trips,
                inner,
                loop + 1,
                runs,
                is_conditional=is_conditional,
            )
        elif isinstance(node, Branch):
            even = 1 / max(BRANCH_SIDES.value, len(node.sides))
            shares = shares_of_sides(node, even, enclosing_loops[-1][1])
            for side, share in zip(node.sides, shares, strict=True):
                guess = is_conditional or (node.share is None and not node.extreme)
                loop = _collect_constructs(
                    side, times * share, trips, enclosing_loops, loop, runs, is_conditional=guess
                )
    return loop


def _indexed_atomics(region: Region, runs: Sequence[_ConstructRuns]) -> tuple[SpreadAtomics, ...]:
    """Returns the atomic updates through an index from memory, one entry per array."""
    memories = region.memories()
    spread: dict[str, SpreadAtomics] = {}
    for run in runs:
        if run.construct.kind != "atomic":
            continue
        for access in _written_elements(run.construct):
            if writes_through_index(access, run.loops, region):
                array = memories[access.array]
                first = spread.get(array, SpreadAtomics(array, 0.0, access.text, access.span))
                spread[array] = first._replace(updates=first.updates + run.times)
    return tuple(spread.values())


def _updates_distinct_elements(run: _ConstructRuns, region: Region) -> bool:
    """Whether an atomic construct updates a different element in each parallel iteration, such as
    `a[i]`, or `p[0]` if each iteration sets p.
    """
    if run.construct.kind != "atomic":
        return False
    moving = {loop.variable for loop in parallel_loops(region)}
    set_here = {name for statement, _ in region.statements() for name in statement.writes}
    written = _written_elements(run.construct)
    return any(root_of(access.array) in set_here for access in written) or any(
        not any(subscript.atoms()) and not subscript.names.isdisjoint(moving)
        for access in written for subscript in access.subscripts
    )  # fmt: skip


def _written_elements(construct: Synchronisation) -> list[Access]:
    """Returns a list with the array element that an atomic construct writes. The list is empty for
    a scalar.
    """
    return [
        access
        for statement in statements_in(construct.body)
        for access in statement.accesses
        if access.kind == "write"
    ][:1]
