"""What a region asks of OpenMP's run-time system: forks, barriers, reductions, locks, pieces."""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.ir import Branch, Loop, Node, Region, Synchronisation
from regionpredict.workload.constants import BRANCH_SIDES
from regionpredict.workload.if_conversion import shares_of_sides
from regionpredict.workload.loop_nest import LoopNest, body_executions
from regionpredict.workload.serial_bodies import SERIAL_KINDS

_SECTION = re.compile(r"\[[^\]]*\]")
"""`[0:n]`, `[map(i, j)]` of a variable in a clause: its commas separate no variables."""


class SynchronisationCounts(NamedTuple):
    """Counts of one run of the region, all threads together.

    `forks`: the region starts its own team; `waits`: it ends with a barrier. `reductions` are
    scalars that are reduced, `iterations` those dealt out at run time. `by_construct` are the
    executions of each OpenMP construct inside.
    """

    forks: bool
    waits: bool
    reductions: int
    iterations: float
    by_construct: dict[str, float]

    @property
    def atomics(self) -> float:
        """Atomic updates."""
        return self.by_construct.get("atomic", 0.0)

    @property
    def barriers(self) -> float:
        """Explicit barriers."""
        return self.by_construct.get("barrier", 0.0)

    @property
    def serial_bodies(self) -> float:
        """Executions of all bodies that threads run one after the other."""
        return sum(self.by_construct.get(name, 0.0) for name in SERIAL_KINDS)

    def visits(self, kind: str) -> float:
        """How often the serial bodies of one kind run."""
        return sum(
            self.by_construct.get(name, 0.0)
            for name, serial_kind in SERIAL_KINDS.items()
            if serial_kind == kind
        )


def synchronisation_counts(region: Region, source: Loop, nest: LoopNest) -> SynchronisationCounts:
    """Counts what the region asks of the run-time system.

    `source` is the worksharing loop, of which `nest` are the numbers: the same loops in order.
    """
    iterations = 1.0
    for loop in nest.parallel:
        iterations *= max(1.0, loop.trips({}))
    trips = [trips for trips, _ in body_executions(nest)]
    counts: dict[str, float] = {}
    _count(source.body, trips[0], trips, 1, counts)
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
    )


def team_limit(region: Region) -> int | None:
    """The most threads that `num_threads` and `if` of its `parallel` allow; None: no limit."""
    construct = region.parallel or region
    number, condition = construct.clause("num_threads"), construct.clause("if")
    if condition is not None and (condition.text or "").split(":")[-1].strip() == "0":
        return 1
    text = (number.text or "").strip() if number is not None else ""
    return max(1, int(text)) if text.isdigit() else None


def _count(
    nodes: tuple[Node, ...], times: float, trips: list[float], loop: int, counts: dict[str, float]
) -> int:
    """Adds up the constructs below `nodes`, that run `times`; `loop` is the position of the first
    loop below them. Returns that of the first loop after them.
    """
    for node in nodes:
        if isinstance(node, Synchronisation):
            counts[node.kind] = counts.get(node.kind, 0.0) + times
            loop = _count(node.body, times, trips, loop, counts)
        elif isinstance(node, Loop):
            loop = _count(node.body, times * trips[loop], trips, loop + 1, counts)
        elif isinstance(node, Branch):
            even = 1 / max(BRANCH_SIDES.value, len(node.sides))
            for side, share in zip(node.sides, shares_of_sides(node, even), strict=True):
                loop = _count(side, times * share, trips, loop, counts)
    return loop
