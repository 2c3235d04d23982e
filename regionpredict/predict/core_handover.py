"""Searches for schedules in which programs exchange cores at region boundaries.

Chatzopoulos 2012, section 3.3: a program is a sequence of regions, each with its own number of
cores. Cores move between programs when one of the programs enters another region. A program keeps
its cores until an execution of a region ends. It then continues with another number of cores, or
waits. Concurrent phases contend for memory like in `coschedule`. Each change of the number of
threads has a cost.

A beam search builds the schedule event by event. At each event, it keeps the assignments of cores
with the smallest lower bound of the total time. The result is never worse than the best fixed
shares or one program after the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict.constants import (
    HANDOVER_BEAM,
    HANDOVER_NARROWEST,
    MANY_RUNS,
    VISIT_ROUNDING,
)
from regionpredict.predict.coschedule import (
    CoscheduledProgram,
    Phase,
    domain_path,
    on_domains,
    ways_to_split,
)
from regionpredict.predict.region_timeline import Visit, timeline_of
from regionpredict.predict.shared_memory import Running, seconds_together

_SMALL = VISIT_ROUNDING.value


class Turn(NamedTuple):
    """The region of a program during a step (empty after the program's end), and its number of
    threads (0 while the program waits).
    """

    region: str
    threads: int


class Step(NamedTuple):
    """A time span without a change of cores, from `begin`, for `seconds`. `turns` has one entry per
    program.
    """

    begin: float
    seconds: float
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Handover:
    """A schedule with exchange of cores, in which all programs end after `seconds`.

    `ended` is the end time of each program. `fixed_seconds` is the time with the best fixed numbers
    of cores, which are `fixed_cores` by program. `turns_seconds` is the time if the programs run
    one after the other.
    """

    names: tuple[str, ...]
    steps: tuple[Step, ...]
    seconds: float
    ended: tuple[float, ...]
    turns_seconds: float
    fixed_seconds: float
    fixed_cores: tuple[int, ...]

    @property
    def over_turns(self) -> float:
        """The speedup over running one program after the other."""
        return self.turns_seconds / self.seconds if self.seconds else 1.0

    @property
    def over_fixed(self) -> float:
        """The speedup over the best fixed numbers of cores."""
        return self.fixed_seconds / self.seconds if self.seconds else 1.0


class _State(NamedTuple):
    """The state of all programs at an event.

    Each program has its current `visit`, the completed share of this visit, its cores per NUMA
    domain, and its cores before it waited.
    """

    time: float
    visit: tuple[int, ...]
    done: tuple[float, ...]
    cores: tuple[int, ...]
    before: tuple[int, ...]
    free: tuple[bool, ...]  # whether the program may get other cores now
    stale: tuple[bool, ...]  # whether another program has changed its region since the assignment
    past: tuple[_State, Step] | None = None


def best_handover(programs: Sequence[CoscheduledProgram], machine: Machine) -> Handover | None:
    """Returns the best schedule found. None if a NUMA domain has too few cores for all programs."""
    node = _HandoverSearch(programs, machine)
    count = len(programs)
    least = [node.least_cores(k) for k in range(count)]
    shares = [split for split in ways_to_split(machine.cores_per_domain, count)
              if all(n <= own for n, own in zip(least, split, strict=True))]  # fmt: skip
    if not shares or not all(least):
        return None
    fixed = []
    for split in shares:
        plans = [node.plan(k, cores) for k, cores in enumerate(split)]
        fixed.append((node.final_state(partial(node.planned_cores, plans=plans)), split))
    best_fixed, split = min(fixed, key=lambda known: known[0].time)
    whole = [node.plan(k, node.cores) for k in range(count)]
    turns = node.final_state(partial(node.one_after_another, plans=whole))
    visits = sum(map(len, node.visits))
    found = node.beam_search(int(max(HANDOVER_NARROWEST.value, HANDOVER_BEAM.value / visits)))
    end = min(found, best_fixed, turns, key=lambda at: at.time)
    steps = _steps_to(end)
    return Handover(
        tuple(program.name for program in programs), steps, end.time,
        tuple(_end_of(k, steps) for k in range(count)), turns.time, best_fixed.time,
        tuple(cores * machine.domains for cores in split),
    )  # fmt: skip


def _steps_to(end: _State) -> tuple[Step, ...]:
    """Returns the steps that lead to a final state. Consecutive identical steps are merged."""
    steps: list[Step] = []
    at: _State | None = end
    while at is not None and at.past is not None:
        at, step = at.past
        if steps and steps[-1].turns == step.turns:
            steps[-1] = Step(step.begin, step.seconds + steps[-1].seconds, step.turns)
        else:
            steps.append(step)
    return tuple(reversed(steps))


def _end_of(program: int, steps: Sequence[Step]) -> float:
    running = [step for step in steps if step.turns[program].region]
    return running[-1].begin + running[-1].seconds if running else 0.0


class _HandoverSearch:
    """Searches schedules of the programs on one machine, with cached times of concurrent phases."""

    def __init__(self, programs: Sequence[CoscheduledProgram], machine: Machine) -> None:
        self.programs = programs
        self.machine = machine
        self.cores = machine.cores_per_domain
        self.path = domain_path(machine)
        self.phases = [{phase.id: phase for phase in program.phases} for program in programs]
        self.visits = [_region_visits(program) for program in programs]
        self.sizes = [{name: self._useful_core_counts(phase) for name, phase in known.items()}
                      for known in self.phases]  # fmt: skip
        self.left = [self._remaining_bounds(k) for k in range(len(programs))]
        self.together: dict[tuple[tuple[int, str, int], ...], tuple[float, ...]] = {}

    # -- times ----------------------------------------------------------------------------------

    def _running(self, phase: Phase, cores: int, *, alone: bool) -> Running:
        """Returns the load of a phase on `cores` cores of every domain. `alone` gives it all
        caches.
        """
        load = (phase.alone if alone else phase.beside)[cores]
        if alone and self.machine.domains > 1:
            whole = phase.alone.get(cores * self.machine.domains)
            if whole is not None and cores == self.cores:
                return Running(whole.seconds)
        known = replace(phase, beside=phase.alone) if alone else phase
        return on_domains(known, load, self.machine.domains, self.path)

    def _seconds_alone(self, phase: Phase, cores: int, *, has_all_caches: bool) -> float:
        """Returns the time of a phase if no other program runs."""
        (seconds,) = seconds_together([self._running(phase, cores, alone=has_all_caches)])
        return seconds

    def _useful_core_counts(self, phase: Phase) -> tuple[int, ...]:
        """Returns the numbers of cores per domain that are faster than all smaller numbers. Only
        powers of two and their complements are considered.
        """
        powers = [1 << k for k in range(self.cores.bit_length())]
        tried = {self.cores, *powers, *(self.cores - n for n in powers)}
        useful: list[int] = []
        least = math.inf
        for cores in sorted(tried & phase.beside.keys() & phase.alone.keys()):
            seconds = min(self._seconds_alone(phase, cores, has_all_caches=True),
                          self._seconds_alone(phase, cores, has_all_caches=False))  # fmt: skip
            if seconds < least:
                useful.append(cores)
                least = seconds
        return tuple(useful)

    def _remaining_bounds(self, program: int) -> list[tuple[float, float]]:
        """Returns, for each visit, lower bounds of the program's remaining seconds and remaining
        core seconds.
        """
        left = [(0.0, 0.0)]
        for visit in reversed(self.visits[program]):
            phase = self.phases[program][visit.region]
            took = {cores: self._seconds_alone(phase, cores, has_all_caches=True)
                    for cores in self.sizes[program][visit.region]}  # fmt: skip
            seconds, work = left[-1]
            left.append((seconds + visit.share * min(took.values()),
                         work + visit.share * min(n * s for n, s in took.items())))  # fmt: skip
        return left[::-1]

    def time_bound(self, at: _State) -> float:
        """Returns a lower bound of the time at which all programs end."""
        longest = work = 0.0
        for k, known in enumerate(self.left):
            now, then = known[at.visit[k]], known[min(at.visit[k] + 1, len(known) - 1)]
            rest = 1.0 - at.done[k]
            longest = max(longest, then[0] + rest * (now[0] - then[0]))
            work += then[1] + rest * (now[1] - then[1])
        return at.time + max(longest, work / self.cores)

    def seconds(self, running: Sequence[tuple[int, str, int]]) -> tuple[float, ...]:
        """Returns the times of concurrent phases, which are given as (program, region, cores)."""
        key = tuple(running)
        if key not in self.together:
            alone = len(key) == 1
            phases = [self._running(self.phases[k][name], cores, alone=alone)
                      for k, name, cores in key]  # fmt: skip
            self.together[key] = tuple(seconds_together(phases))
        return self.together[key]

    # -- assignment of cores --------------------------------------------------------------------

    def current_region(self, at: _State, program: int) -> str:
        """Returns the region that a program executes or waits for. Empty after the program's
        end.
        """
        visits = self.visits[program]
        return visits[at.visit[program]].region if at.visit[program] < len(visits) else ""

    def plan(self, program: int, cores: int) -> dict[str, int]:
        """Returns the number of cores per domain for each region, from the program's plan for at
        most `cores` cores per domain.
        """
        domains = self.machine.domains
        alone = cores == self.cores
        times = {
            name: {n * domains: self._seconds_alone(phase, n, has_all_caches=alone)
                   for n in self.sizes[program][name] if n <= cores}
            for name, phase in self.phases[program].items()
        }  # fmt: skip
        sizes = self.programs[program].plan_for_times(times, self.machine).sizes
        return {name: size // domains for name, size in sizes.items()}

    def planned_cores(self, at: _State, plans: Sequence[Mapping[str, int]]) -> tuple[int, ...]:
        """Returns each program's number of cores according to its plan."""
        return tuple(
            plan[name] if (name := self.current_region(at, k)) else 0
            for k, plan in enumerate(plans)
        )

    def one_after_another(self, at: _State, plans: Sequence[Mapping[str, int]]) -> tuple[int, ...]:
        """Returns each program's number of cores if only the first unfinished program runs."""
        count = len(self.phases)
        first = next(k for k in range(count) if self.current_region(at, k))
        return tuple(
            cores if k == first else 0 for k, cores in enumerate(self.planned_cores(at, plans))
        )

    def least_cores(self, program: int) -> int:
        """Returns the smallest number of cores per domain with which all regions of the program can
        run. 0 if a region has no valid number of cores.
        """
        sizes = self.sizes[program].values()
        return max((min(own) for own in sizes), default=0) if all(sizes) else 0

    def core_assignments(self, at: _State) -> list[tuple[int, ...]]:
        """Returns all assignments of cores to programs. Only programs at an event may change their
        number of cores.
        """
        options: list[tuple[int, ...]] = []
        for k in range(len(self.phases)):
            name = self.current_region(at, k)
            if not name:
                options.append((0,))
            elif at.free[k]:
                options.append((0, *self.sizes[k][name]))
            else:
                options.append((at.cores[k],))
        dealt = [own for own in itertools.product(*options) if 0 < sum(own) <= self.cores]
        return [own for own in dealt if not self._wastes_cores(at, own)]

    def _wastes_cores(self, at: _State, dealt: Sequence[int]) -> bool:
        """Whether cores are idle although a program without memory traffic could use them, and
        could release them at any time.
        """
        idle = self.cores - sum(dealt)
        for k, cores in enumerate(dealt):
            if not cores or not at.free[k] or not idle:
                continue
            name, runs = self.current_region(at, k), self.visits[k][at.visit[k]].runs
            if runs < MANY_RUNS.value:
                continue
            more = next((n for n in self.sizes[k][name] if n > cores), None)
            if more is not None and more - cores <= idle:
                phase = self.phases[k][name]
                if not any(load.requesting for load in phase.beside.values()):
                    return True
        return False

    # -- events ---------------------------------------------------------------------------------

    def initial_state(self) -> _State:
        count = len(self.phases)
        none = (0,) * count
        return _State(
            0.0, none, (0.0,) * count, none, none, (True,) * count, (False,) * count
        )  # fmt: skip

    def all_ended(self, at: _State) -> bool:
        return not any(self.current_region(at, k) for k in range(len(self.phases)))

    def final_state(self, choice: Callable[[_State], Sequence[int]]) -> _State:
        """Returns the final state of the schedule that assigns cores by `choice` at each event."""
        at = self.initial_state()
        while not self.all_ended(at):
            at = self.next_state(at, choice(at))
        return at

    def beam_search(self, width: int) -> _State:
        """Returns the final state of the best schedule that a beam search of `width` states
        finds.
        """
        beam, best = [self.initial_state()], math.inf
        found: _State | None = None
        while beam:
            reached: dict[tuple[object, ...], _State] = {}
            for at in beam:
                for dealt in self.core_assignments(at):
                    after = self.next_state(at, dealt)
                    if self.all_ended(after):
                        if after.time < best:
                            best, found = after.time, after
                        continue
                    key = (after.visit, after.cores, after.free,
                           tuple(round(done, 3) for done in after.done))  # fmt: skip
                    known = reached.get(key)
                    if known is None or after.time < known.time:
                        reached[key] = after
            ahead = sorted((least, n, at) for n, at in enumerate(reached.values())
                           if (least := self.time_bound(at)) < best)  # fmt: skip
            beam = [at for _, _, at in ahead[:width]]
        assert found is not None, "one program after the other is among the choices"
        return found

    def next_state(self, at: _State, dealt: Sequence[int]) -> _State:
        """Returns the state at the next event, if the programs use the numbers of cores in `dealt`
        until then.
        """
        count = len(dealt)
        done = list(at.done)
        running = [(k, self.current_region(at, k), dealt[k]) for k in range(count) if dealt[k]]
        seconds = dict(zip([k for k, _, _ in running], self.seconds(running), strict=True))
        spans: dict[int, float] = {}
        until = list(done)
        for k, _, cores in running:
            visit = self.visits[k][at.visit[k]]
            whole = visit.share * seconds[k]
            if at.before[k] not in (0, cores):
                done[k] -= (
                    self._change_seconds(at.before[k], cores, visit) / whole if whole else 0.0
                )
            until[k] = 1.0
            if at.stale[k] and visit.runs > 1.0:
                ended = math.floor(max(0.0, done[k]) * visit.runs + _SMALL * visit.runs)
                until[k] = min(1.0, (ended + 1) / visit.runs)
            spans[k] = (until[k] - done[k]) * whole
        span = min(spans.values())
        visits, before, free = list(at.visit), list(at.before), [True] * count
        for k, _, cores in running:
            before[k] = cores
            part = span / spans[k] if spans[k] > 0.0 else 1.0
            done[k] += part * (until[k] - done[k])
            reached, runs = part >= 1.0 - _SMALL, self.visits[k][at.visit[k]].runs
            between = abs(done[k] * runs - round(done[k] * runs)) <= _SMALL * runs
            free[k] = reached or between or runs >= MANY_RUNS.value
            if reached and until[k] >= 1.0:
                visits[k], done[k] = visits[k] + 1, 0.0
        entered = any(now != then for now, then in zip(visits, at.visit, strict=True))
        turns = tuple(
            Turn(self.current_region(at, k), dealt[k] * self.machine.domains) for k in range(count)
        )
        return _State(
            at.time + span, tuple(visits), tuple(done), tuple(dealt), tuple(before), tuple(free),
            tuple(not free[k] and (at.stale[k] or entered) for k in range(count)),
            (at, Step(at.time, span, turns)),
        )  # fmt: skip

    def _change_seconds(self, before: int, cores: int, visit: Visit) -> float:
        """Returns the seconds for changing the number of threads in all visits of a region."""
        threads = max(before, cores) * self.machine.domains
        cost = float(self.machine.overheads.team_change.at(threads)) / self.machine.clock_hz
        return cost * visit.visits


def _region_visits(program: CoscheduledProgram) -> tuple[Visit, ...]:
    runs: Mapping[str, float] = {phase.id: phase.runs for phase in program.phases}
    return timeline_of(runs, program.changes)
