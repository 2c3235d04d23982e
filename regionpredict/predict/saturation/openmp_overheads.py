"""What OpenMP itself costs a region on p threads, in seconds, from the machine's tables."""

from __future__ import annotations

from regionpredict.machine import Machine
from regionpredict.predict.saturation.team_costs import team_cost
from regionpredict.workload import Schedule, SynchronisationCounts, piece_count


def overheads(
    counts: SynchronisationCounts, schedule: Schedule, machine: Machine, threads: int,
    work: float, *, locks: bool = True,
) -> tuple[float, float]:  # fmt: skip
    """(costs, serialization) in seconds on `threads`, with `work` seconds of the busiest.

    `locks`: with those of critical sections, whose bodies are for `serial_queue`.
    """
    costs, clock = 0.0, machine.clock_hz
    if counts.forks:
        costs += team_cost(machine, "fork_join", threads)
    elif counts.waits:
        costs += team_cost(machine, "barrier", threads)
    if counts.reductions:
        costs += counts.reductions * team_cost(machine, "reduction", threads)
    if counts.barriers:
        costs += counts.barriers * team_cost(machine, "barrier", threads)
    if schedule.kind != "static":
        number = piece_count(counts.iterations, threads, schedule) / threads
        costs += _contended(number, "dynamic_chunk", threads, work * clock, machine)
    serial = _contended(counts.atomics / threads, "atomic", threads, work * clock, machine)
    if locks:
        each = counts.serial_bodies / threads
        serial += _contended(each, "critical", threads, work * clock, machine)
    return costs / clock, serial / clock


def _contended(number: float, name: str, threads: int, work: float, machine: Machine) -> float:
    """Cycles for `number` of them on each thread, beside `work` cycles between them.

    Alone each costs what it costs one thread; all at once no less than the table says.
    """
    if not number:
        return 0.0
    alone = number * team_cost(machine, name, 1)
    crowded = number * team_cost(machine, name, threads)
    return max(alone, crowded - work)
