"""Counts calls of a region to OpenMP's runtime: forks, barriers, reductions, locks, and pieces."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.analysis.dependence import parallel_loops, root_of
from regionpredict.analysis.indirect_writes import through_an_index
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
"""`[0:n]` or `[map(i, j)]` after a variable in a clause. Its commas do not separate variables."""


class SpreadAtomics(NamedTuple):
    """Atomic updates of elements of `array` through an index from memory.

    `updates` counts those of all threads in one execution of the region. `text` is the element of
    the first one, at `span`.
    """

    array: str
    updates: float
    text: str
    span: Span


class SynchronisationCounts(NamedTuple):
    """The counts of one run of the region, for all threads together.

    `forks`: the region starts its own threads. `waits`: it ends with a barrier. `reductions` are
    reduced scalars, and `iterations` those assigned at run time. `by_construct` are the executions
    of each OpenMP construct inside. `spread` are `atomic` updates by array, for elements anywhere
    in it. `apart` are updates of elements selected by the iteration number. `nests`: nested
    parallel regions have as many threads as this one, instead of one. `by_lock` are the bodies of
    `critical` with their own lock, by name. `perhaps` are the serial bodies and atomic updates
    under conditions that hold in an unknown share of the executions.
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
        """The number of parallel regions that its threads start."""
        return self.by_construct.get("parallel", 0.0)

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
    def uncontended(self) -> float:
        """The number of atomic updates of lines that the thread already has. These are the `apart`
        updates, and releases of selected locks.
        """
        return self.apart + self.by_construct.get("lock", 0.0)

    @property
    def barriers(self) -> float:
        """The number of explicit barriers."""
        return self.by_construct.get("barrier", 0.0)

    @property
    def serial_bodies(self) -> float:
        """The number of executions of all serial bodies."""
        return sum(self.by_construct.get(name, 0.0) for name in SERIAL_KINDS)

    def visits(self, kind: SerialKind) -> float:
        """The number of executions of the serial bodies of one kind."""
        if kind.lock:
            return self.by_lock.get(kind.lock, 0.0)
        return sum(
            self.by_construct.get(name, 0.0)
            for name, serial_kind in SERIAL_KINDS.items()
            if serial_kind == kind.kind
        ) - (sum(self.by_lock.values()) if kind.kind == "critical" else 0.0)


def synchronisation_counts(region: Region, source: Loop, nest: LoopNest) -> SynchronisationCounts:
    """Counts the region's calls of the OpenMP runtime.

    `source` is the worksharing loop, and `nest` contains its numbers. Both have the same loops in
    the same order.
    """
    iterations = 1.0
    for loop in nest.parallel:
        iterations *= max(1.0, loop.trips({}))
    trips = [trips for trips, _ in body_executions(nest)]
    runs: list[_Run] = []
    _gather(source.body, trips[0], trips, ((source, trips[0]),), 1, runs)
    counts: dict[str, float] = {}
    by_lock: dict[str, float] = {}
    for run in runs:
        construct = run.construct
        counts[construct.kind] = counts.get(construct.kind, 0.0) + run.times
        if construct.lock:
            by_lock[construct.lock] = by_lock.get(construct.lock, 0.0) + run.times
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
        spread=_spread(region, runs),
        apart=sum(run.times for run in runs if _updates_distinct_elements(run, region)),
        nests=region.nests,
        by_lock=by_lock,
        perhaps=sum(run.times for run in runs
                    if run.perhaps and run.construct.kind in ("atomic", *SERIAL_KINDS)),
    )  # fmt: skip


def team_limit(region: Region) -> int | None:
    """The maximum number of threads according to `num_threads` and `if` of its `parallel`. None if
    there is no limit.

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


class _Run(NamedTuple):
    """A construct that runs `times` times inside `loops`. `perhaps` says that this number is a
    guess.
    """

    construct: Synchronisation
    times: float
    loops: tuple[Loop, ...]
    perhaps: bool = False


def _gather(
    nodes: tuple[Node, ...], times: float, trips: list[float],
    around: tuple[tuple[Loop, float], ...], loop: int, runs: list[_Run], *, perhaps: bool = False,
) -> int:  # fmt: skip
    """Adds the constructs inside `nodes`, which run `times` times. `around` gives their loops with
    iterations, and `loop` the position of the first inner loop. Returns the position of the next
    loop.
    """
    for node in nodes:
        if isinstance(node, Synchronisation):
            runs.append(_Run(node, times, tuple(outer for outer, _ in around), perhaps))
            loop = _gather(node.body, times, trips, around, loop, runs, perhaps=perhaps)
        elif isinstance(node, Loop):
            inner = (*around, (node, trips[loop]))
            loop = _gather(
                node.body, times * trips[loop], trips, inner, loop + 1, runs, perhaps=perhaps
            )
        elif isinstance(node, Branch):
            even = 1 / max(BRANCH_SIDES.value, len(node.sides))
            shares = shares_of_sides(node, even, around[-1][1])
            for side, share in zip(node.sides, shares, strict=True):
                guess = perhaps or (node.share is None and not node.extreme)
                loop = _gather(side, times * share, trips, around, loop, runs, perhaps=guess)
    return loop


def _spread(region: Region, runs: Sequence[_Run]) -> tuple[SpreadAtomics, ...]:
    """The atomic updates through an index, one entry for each array."""
    memories = region.memories()
    spread: dict[str, SpreadAtomics] = {}
    for run in runs:
        if run.construct.kind != "atomic":
            continue
        for access in _written(run.construct):
            if through_an_index(access, run.loops, region):
                array = memories[access.array]
                first = spread.get(array, SpreadAtomics(array, 0.0, access.text, access.span))
                spread[array] = first._replace(updates=first.updates + run.times)
    return tuple(spread.values())


def _updates_distinct_elements(run: _Run, region: Region) -> bool:
    """Whether different iterations update different elements: `a[i]`, `a[i + 1]`, or `p[0]` of a
    `p` that each iteration sets.
    """
    if run.construct.kind != "atomic":
        return False
    moving = {loop.variable for loop in parallel_loops(region)}
    set_here = {name for statement, _ in region.statements() for name in statement.writes}
    written = _written(run.construct)
    return any(root_of(access.array) in set_here for access in written) or any(
        not any(subscript.atoms()) and not subscript.names.isdisjoint(moving)
        for access in written for subscript in access.subscripts
    )  # fmt: skip


def _written(construct: Synchronisation) -> list[Access]:
    """The element that an `atomic` writes. None for a variable."""
    return [
        access
        for statement in statements_in(construct.body)
        for access in statement.accesses
        if access.kind == "write"
    ][:1]
