"""OpenMP's costs of a region on p threads in seconds, computed from the tables of the machine."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict.saturation.team_costs import team_cost
from regionpredict.workload import Schedule, SynchronisationCounts, piece_count


class SpreadUpdates(NamedTuple):
    """Atomic updates of all threads in one run. There are `updates` of `lines` cache lines, and
    `moved` lines come from another thread. `text` is the element in the source.
    """

    text: str
    updates: float
    lines: float
    moved: float


def overheads(
    counts: SynchronisationCounts, schedule: Schedule, machine: Machine, threads: int,
    work: float, *, locks: bool = True,
) -> tuple[float, float]:  # fmt: skip
    """The costs and the serialization in seconds on `threads`, if the busiest thread works for
    `work` seconds.

    With `locks`, the costs of critical sections are included. The time of their bodies is computed
    in `serial_queue`.
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
        costs += _cost_of_updates(number, "dynamic_chunk", threads, work * clock, machine)
    costs += counts.uncontended / threads * team_cost(machine, "atomic", 1)
    costs += counts.inner_teams / threads * _inner_team(counts, machine, threads)
    serial = _cost_of_updates(
        counts.in_one_place / threads, "atomic", threads, work * clock, machine
    )
    if locks:
        each = counts.serial_bodies / threads
        serial += _cost_of_updates(each, "critical", threads, work * clock, machine)
    return costs / clock, serial / clock


def _inner_team(counts: SynchronisationCounts, machine: Machine, threads: int) -> float:
    """The cycles for starting and ending a nested parallel region from one of `threads` threads.

    A nested region has one thread by default. If it has as many as the outer one, threads are
    created each time. Only threads of outermost regions are kept for the next one (GCC,
    libgomp/team.c).
    """
    if not counts.nests or threads == 1:
        return team_cost(machine, "fork_join", 1)
    made = float(machine.overheads.first_team.at(threads))
    return team_cost(machine, "fork_join", threads) + made


def spread_updates(updates: SpreadUpdates, machine: Machine, threads: int, work: float) -> float:
    """The delay of one of `threads` threads by its atomic updates of an array, in seconds, with
    `work` seconds in between.

    Each update takes the time to load the line for writing and to change it (Schweizer, Besta and
    Hoefler 2015, "Evaluating the Cost of Atomic Operations on Modern Architectures", PACT). Updates
    of the same line are serial, and updates of different lines are not.
    """
    clock, turn = machine.clock_hz, atomic_turn(machine, threads)
    alone = updates.updates * team_cost(machine, "atomic", 1) + updates.moved * turn
    queue = updates.updates * turn / updates.lines
    return max(alone / threads, queue - work * clock) / clock


def line_turns(writes: float, machine: Machine, threads: int, work: float) -> float:
    """The waiting time of one of `threads` threads for its part of `writes` to one common line, in
    seconds, with `work` seconds in between.

    Each write loads the line from the last writer, like an atomic update.
    """
    turn = atomic_turn(machine, threads)
    waits = writes * (1.0 - 1.0 / threads) / threads * turn
    queue = writes * turn if threads > 1 else 0.0
    return max(waits, queue - work * machine.clock_hz) / machine.clock_hz


def atomic_turn(machine: Machine, threads: int) -> float:
    """The cycles from one thread's update of a variable to the next thread's, if all threads update
    it.
    """
    return team_cost(machine, "atomic", threads) / threads


def _cost_of_updates(
    number: float, name: str, threads: int, work: float, machine: Machine
) -> float:
    """The cycles for `number` updates per thread, with `work` cycles in between.

    A single update costs at least the time on one thread, and concurrent updates at least the time
    in the table.
    """
    if not number:
        return 0.0
    alone = number * team_cost(machine, name, 1)
    crowded = number * team_cost(machine, name, threads)
    return max(alone, crowded - work)
