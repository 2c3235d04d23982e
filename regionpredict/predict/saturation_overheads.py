"""What OpenMP itself costs a region on p threads, in seconds, from the machine's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.balance import Schedule, chunks
from regionpredict.analysis.groups import Nest
from regionpredict.ir.region import Branch, Loop, Node, Synchronisation
from regionpredict.machine import Machine
from regionpredict.predict.saturation_serial import KINDS


@dataclass(frozen=True, slots=True)
class Overhead:
    """Counts of one run of the region.

    `counts` are executions in all, by construct; `pieces` the chunks handed out at run time. What
    the bodies of critical sections cost besides is for `saturation_serial`.
    """

    machine: Machine
    forks: bool
    waits: bool
    reductions: int
    pieces: float
    trips: float
    schedule: Schedule
    atomics: float
    criticals: float
    barriers: float
    counts: Mapping[str, float]

    def visits(self, kind: str) -> float:
        """How often the bodies of one kind of `saturation_serial` run in all."""
        return sum(self.counts.get(name, 0.0) for name, one in KINDS.items() if one == kind)

    def at(self, threads: int, work: float, *, locks: bool = True) -> tuple[float, float]:
        """(costs, serialization) in seconds on `threads`, with `work` seconds of the busiest.

        `locks`: with those of critical sections.
        """
        costs, tables = 0.0, self.machine.overheads
        if self.forks:
            costs += tables.fork_join.at(threads)
        elif self.waits:
            costs += tables.barrier.at(threads)
        costs += self.reductions * tables.reduction.at(threads)
        costs += self.barriers * tables.barrier.at(threads)
        clock = self.machine.clock_hz
        if self.schedule.kind != "static":
            number = chunks(self.trips, threads, self.schedule) / threads
            costs += self._contended(number, tables.dynamic_chunk.at, threads, work * clock)
        serial = self._contended(self.atomics / threads, tables.atomic.at, threads, work * clock)
        if locks:
            each = self.criticals / threads
            serial += self._contended(each, tables.critical.at, threads, work * clock)
        return costs / clock, serial / clock

    @staticmethod
    def _contended(number: float, table: object, threads: int, work: float) -> float:
        """Cycles for `number` of them on each thread, beside `work` cycles between them.

        Alone each costs what it costs one thread; all at once no less than the table says.
        """
        if not number or not callable(table):
            return 0.0
        alone, crowded = number * float(table(1)), number * float(table(threads))
        return max(alone, crowded - work)


def overhead_of(facts: RegionFacts, nest: Nest, machine: Machine, schedule: Schedule) -> Overhead:
    """Counts what the region asks of the run-time system."""
    region = facts.region
    counts: dict[str, float] = {}
    if region.nest is not None:
        _count(region.nest.body, _trips(nest), _by_loop(nest), counts)
    trips = 1.0
    for loop in nest.parallel:
        trips *= max(1.0, loop.trips({}))
    reductions = sum(
        len((clause.text or "").split(":")[-1].split(","))
        for clause in region.clauses
        if clause.name == "reduction"
    )
    return Overhead(
        machine=machine,
        forks=region.context == "combined",
        waits=region.clause("nowait") is None,
        reductions=reductions,
        pieces=trips,
        trips=trips,
        schedule=schedule,
        atomics=counts.get("atomic", 0.0),
        criticals=sum(counts.get(kind, 0.0) for kind in KINDS),
        barriers=counts.get("barrier", 0.0),
        counts=counts,
    )


def _trips(nest: Nest) -> float:
    return max(0.0, nest.root.trips({}))


def _by_loop(nest: Nest) -> dict[int, float]:
    """Mean trips of every loop, those around it at their middle."""
    found: dict[int, float] = {}
    waiting = [(nest.root, dict[str, float]())]
    while waiting:
        loop, env = waiting.pop()
        trips = loop.trips(env)
        found[id(loop.source)] = trips
        middle = loop.begin(env) + loop.step * max(0.0, trips - 1) / 2
        waiting += [(child, {**env, loop.variable: middle}) for child in loop.children]
    return found


def _count(
    nodes: tuple[Node, ...], times: float, trips: dict[int, float], counts: dict[str, float]
) -> None:
    for node in nodes:
        if isinstance(node, Synchronisation):
            counts[node.kind] = counts.get(node.kind, 0.0) + times
            _count(node.body, times, trips, counts)
        elif isinstance(node, Loop):
            _count(node.body, times * trips.get(id(node), 1.0), trips, counts)
        elif isinstance(node, Branch):
            for side in node.sides:
                _count(side, times / max(2, len(node.sides)), trips, counts)
