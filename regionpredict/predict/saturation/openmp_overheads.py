"""Computes the OpenMP overhead of a region on p threads in seconds, from the machine's tables."""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict.saturation.constants import TASK_LOCKS
from regionpredict.predict.saturation.team_costs import team_cost
from regionpredict.workload import Schedule, SynchronisationCounts, piece_count


class SpreadUpdates(NamedTuple):
    """The atomic updates of an array by all threads in one execution of a region.

    There are `updates` of elements in `lines` distinct cache lines. In `moved` of the updates, the
    line comes from another thread. `text` is the element in the source.
    """

    text: str
    updates: float
    lines: float
    moved: float


def overhead_seconds(
    counts: SynchronisationCounts, schedule: Schedule, machine: Machine, threads: int,
    work: float, *, locks: bool = True,
) -> tuple[float, float]:  # fmt: skip
    """Returns the overhead and the serialization in seconds on `threads` threads, if the busiest
    thread works for `work` seconds.

    `locks` includes the cost of critical sections. The time of their bodies is computed in
    `serial_queue`.
    """
    costs, clock = 0.0, machine.clock_hz
    if counts.forks:
        costs += team_cost(machine, "fork_join", threads)
    elif counts.waits:
        costs += team_cost(machine, "barrier", threads)
    if counts.reductions:
        costs += counts.reductions * team_cost(machine, "reduction", threads)
    if counts.explicit_barriers:
        costs += counts.explicit_barriers * team_cost(machine, "barrier", threads)
    if counts.tasks:
        number = TASK_LOCKS.value * counts.tasks / threads
        costs += _cost_of_updates(number, "critical", threads, work * clock, machine)
    elif schedule.kind != "static":
        number = piece_count(counts.iterations, threads, schedule) / threads
        costs += _cost_of_updates(number, "dynamic_chunk", threads, work * clock, machine)
    costs += counts.uncontended_updates / threads * team_cost(machine, "atomic", 1)
    costs += counts.inner_teams / threads * _inner_team(counts, machine, threads)
    serial = _cost_of_updates(
        counts.in_one_place / threads, "atomic", threads, work * clock, machine
    )
    if locks:
        each = counts.serial_bodies / threads
        serial += _cost_of_updates(each, "critical", threads, work * clock, machine)
    return costs / clock, serial / clock


def _inner_team(counts: SynchronisationCounts, machine: Machine, threads: int) -> float:
    """Returns the cycles for starting and ending a nested parallel region in one of `threads`
    threads.

    A nested region has one thread by default. With nested parallelism, its threads are created
    each time, because libgomp keeps only the threads of outermost regions (GCC, libgomp/team.c).
    """
    if not counts.nests or threads == 1:
        return team_cost(machine, "fork_join", 1)
    made = float(machine.overheads.first_team.at(threads))
    return team_cost(machine, "fork_join", threads) + made


def spread_updates(updates: SpreadUpdates, machine: Machine, threads: int, work: float) -> float:
    """Returns the seconds that atomic updates of an array delay each of `threads` threads, if a
    thread works for `work` seconds in between.

    An update takes the time to load the line for writing and to modify it. See Schweizer, Besta and
    Hoefler 2015, "Evaluating the Cost of Atomic Operations on Modern Architectures", PACT. Updates
    of one line are serialized, and updates of different lines are concurrent.
    """
    clock, turn = machine.clock_hz, atomic_turn(machine, threads)
    alone = updates.updates * team_cost(machine, "atomic", 1) + updates.moved * turn
    queue = updates.updates * turn / updates.lines
    return max(alone / threads, queue - work * clock) / clock


def line_turns(writes: float, machine: Machine, threads: int, work: float) -> float:
    """Returns the seconds that each of `threads` threads waits for its part of `writes` to one
    line, if a thread works for `work` seconds in between.

    Each write loads the line from the last writer, like an atomic update.
    """
    turn = atomic_turn(machine, threads)
    waits = writes * (1.0 - 1.0 / threads) / threads * turn
    queue = writes * turn if threads > 1 else 0.0
    return max(waits, queue - work * machine.clock_hz) / machine.clock_hz


def atomic_turn(machine: Machine, threads: int) -> float:
    """Returns the cycles from one thread's atomic update to the next thread's update, if all
    threads update one variable.
    """
    return team_cost(machine, "atomic", threads) / threads


def _cost_of_updates(
    number: float, name: str, threads: int, work: float, machine: Machine
) -> float:
    """Returns the cycles for `number` updates per thread, if a thread works for `work` cycles in
    between.

    The cost is at least that of updates on one thread. Updates of all threads cost the time in the
    machine's table minus the work.
    """
    if not number:
        return 0.0
    alone = number * team_cost(machine, name, 1)
    crowded = number * team_cost(machine, name, threads)
    return max(alone, crowded - work)
