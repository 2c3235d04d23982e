"""What OpenMP itself costs a region on p threads, in seconds, from the machine's tables."""

from __future__ import annotations

from regionpredict.machine import Machine
from regionpredict.machine.quantity import Curve
from regionpredict.workload import Schedule, SynchronisationCounts, piece_count


def overheads(
    counts: SynchronisationCounts, schedule: Schedule, machine: Machine, threads: int,
    work: float, *, locks: bool = True,
) -> tuple[float, float]:  # fmt: skip
    """(costs, serialization) in seconds on `threads`, with `work` seconds of the busiest.

    `locks`: with those of critical sections, whose bodies are for `serial_queue`.
    """
    costs, tables, clock = 0.0, machine.overheads, machine.clock_hz
    if counts.forks:
        costs += tables.fork_join.at(threads)
    elif counts.waits:
        costs += tables.barrier.at(threads)
    costs += counts.reductions * tables.reduction.at(threads)
    costs += counts.barriers * tables.barrier.at(threads)
    if schedule.kind != "static":
        number = piece_count(counts.iterations, threads, schedule) / threads
        costs += _contended(number, tables.dynamic_chunk, threads, work * clock)
    serial = _contended(counts.atomics / threads, tables.atomic, threads, work * clock)
    if locks:
        each = counts.serial_bodies / threads
        serial += _contended(each, tables.critical, threads, work * clock)
    return costs / clock, serial / clock


def _contended(number: float, table: Curve, threads: int, work: float) -> float:
    """Cycles for `number` of them on each thread, beside `work` cycles between them.

    Alone each costs what it costs one thread; all at once no less than the table says.
    """
    if not number:
        return 0.0
    alone, crowded = number * float(table.at(1)), number * float(table.at(threads))
    return max(alone, crowded - work)
