"""Distributes the cores of one node over several programs, and predicts the cost for each program.

In Chatzopoulos 2012, section 3.3, programs share a node if their phases need different numbers of
cores. Two ways of sharing are compared with running one program after the other:

- *packages*: each program has its own sockets, with all memory of their NUMA domains.
- *cores*: each program has some cores of every NUMA domain. The programs share caches and
  bandwidth.

Each program runs according to its plan for its cores (`plan_of`), which includes the cost of
changing the number of threads.

Cores of different programs share the memory bandwidth like the cores of a single program
(`shared_memory`). Phases of different programs overlap in proportion to their shares of the time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from regionpredict.machine import Cache, Machine
from regionpredict.machine.quantity import Curve
from regionpredict.predict.constants import (
    COSCHEDULE_CLASSES,
    COSCHEDULE_GAIN,
    COSCHEDULE_ROUNDS,
    COSCHEDULE_STEPS,
)
from regionpredict.predict.curve import Point
from regionpredict.predict.plan import Plan, PlannedTeam, plan_of
from regionpredict.predict.shared_memory import PathCurve, Running, seconds_together
from regionpredict.predict.teams import TeamPrediction


class PhaseLoad(NamedTuple):
    """The time and memory requests of a phase on some number of threads with close binding.

    `seconds` is the time of all executions of the phase. During `fixed` seconds, no core waits for
    memory. A core waits for memory during `waiting` seconds. On average, `requesting` cores of a
    NUMA domain wait at the same time, and together get `bandwidth` B/s. If all sockets share one
    memory path, both numbers are those of the node.
    """

    seconds: float
    fixed: float
    waiting: float
    requesting: float
    bandwidth: float


@dataclass(frozen=True, slots=True)
class Phase:
    """One parallel region of a program, with its loads by number of threads.

    `alone` are the loads with all caches, and `beside` the loads with a part of the shared caches.
    `runs` is the number of executions.
    """

    id: str
    alone: Mapping[int, PhaseLoad]
    beside: Mapping[int, PhaseLoad]
    runs: float = 1.0


@dataclass(frozen=True, slots=True)
class CoscheduledProgram:
    """A program as a nonempty sequence of phases.

    `changes` counts, for each pair of phases, how often the second phase directly follows the first
    one. `open` lists the parallel regions whose hint depends on assumed sizes.
    """

    name: str
    phases: tuple[Phase, ...]
    changes: Mapping[tuple[str, str], float] = field(default_factory=dict)
    open: tuple[str, ...] = ()

    def plan_alone(self, machine: Machine) -> Plan:
        """Returns the plan of the program if no other program uses the node."""
        times = {
            phase.id: {threads: load.seconds for threads, load in phase.alone.items()}
            for phase in self.phases
        }
        return self.plan_for_times(times, machine)

    def plan_for_times(self, times: Mapping[str, Mapping[int, float]], machine: Machine) -> Plan:
        """Returns the plan for the given times of each phase by number of threads. Each phase has
        at least one time.
        """
        teams = [PlannedTeam(name, 1.0, seconds) for name, seconds in times.items()]
        plan = plan_of(teams, self.changes, machine)
        assert plan is not None, "no phase is empty"
        return plan


class Part(NamedTuple):
    """The placement of one program on `cores` cores of `packages` sockets.

    `slowdown` is the ratio of `seconds` to the time of the program alone on the node.
    """

    name: str
    cores: int
    packages: int
    seconds: float
    slowdown: float


@dataclass(frozen=True, slots=True)
class Allocation:
    """A placement of all programs, by 'packages' or by 'cores' (`kind`). `seconds` is the time
    until all programs finish.
    """

    kind: str
    parts: tuple[Part, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Coschedule:
    """All placements, fastest first, and the time of running one program after the other.

    `alone` contains each program alone on the node. `open` lists, by program, the parallel regions
    whose hint depends on assumed sizes. `sizes` gives the number of threads of each phase in the
    program's own plan.
    """

    allocations: tuple[Allocation, ...]
    sequential_seconds: float
    alone: tuple[Part, ...]
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def several_sizes(self, name: str) -> bool:
        """Whether the plan of a program uses different numbers of threads."""
        return len(set(self.sizes.get(name, {}).values())) > 1

    @property
    def shares(self) -> bool:
        """Whether sharing the node is faster than running one program after the other, by at least
        `COSCHEDULE_GAIN`.
        """
        best = self.allocations[0].seconds if self.allocations else self.sequential_seconds
        return self.sequential_seconds > best * COSCHEDULE_GAIN.value


def with_cache_share(machine: Machine, sharers: int) -> Machine:
    """Returns the machine with one program's share of each cache, if `sharers` programs share every
    domain.

    A cache for at most an even part of a domain's cores belongs to one program. Other caches are
    divided equally.
    """
    part = machine.cores_per_domain // sharers

    def shared(cache: Cache) -> Cache:
        cores = cache.shared_by_cores.whole
        if cores <= max(1, part):
            return cache
        size = cache.size_bytes.whole // min(sharers, cores)
        return replace(cache, size_bytes=replace(cache.size_bytes, value=size))

    return replace(machine, caches=tuple(map(shared, machine.caches)))


def phases_of(
    predictions_alone: Sequence[TeamPrediction], predictions_sharing: Sequence[TeamPrediction]
) -> tuple[Phase, ...]:
    """Converts the predicted parallel regions of a program to phases. `predictions_sharing` are the
    predictions of the same regions with a part of the caches. Unknown sizes have their assumed
    values.
    """
    phases = []
    for team, other in zip(predictions_alone, predictions_sharing, strict=True):
        runs = team.facts.executions.weight
        if team.points and other.points and team.threads is not None and runs > 0:
            phases.append(
                Phase(
                    team.facts.id,
                    _phase_loads(team.points, runs),
                    _phase_loads(other.points, runs),
                    runs,
                )
            )
    return tuple(phases)


def _phase_loads(points: Sequence[Point], runs: float) -> dict[int, PhaseLoad]:
    return {point.threads: _phase_load(point, runs) for point in points}


def _phase_load(point: Point, runs: float) -> PhaseLoad:
    """Converts one point of a speedup curve to the load of a phase. Work and waiting overlap, and
    share the time according to their squares (`Overlap`).
    """
    memory = point.terms["memory-bandwidth"]
    work = point.terms["compute"] + point.terms["cache"] + memory
    return PhaseLoad(
        runs * point.seconds, runs * (point.seconds - work), runs * math.sqrt(memory * work),
        point.requesting, point.bandwidth,
    )  # fmt: skip


def coschedule(programs: Sequence[CoscheduledProgram], machine: Machine) -> Coschedule:
    """Evaluates all placements of several programs on the machine's cores."""
    alone, sizes = [], {}
    for program in programs:
        plan = program.plan_alone(machine)
        sizes[program.name] = plan.sizes
        alone.append(Part(program.name, plan.threads, plan.packages, plan.seconds, 1.0))
    best = [part.seconds for part in alone]
    allocations = [
        *(_allocation_by_sockets(programs, best, split, machine)
          for split in ways_to_split(machine.packages, len(programs))),
        *(_allocation_by_cores(programs, best, split, machine)
          for split in ways_to_split(machine.cores_per_domain, len(programs))),
    ]  # fmt: skip
    known = [allocation for allocation in allocations if allocation is not None]
    return Coschedule(
        tuple(sorted(known, key=lambda allocation: allocation.seconds)),
        sum(best),
        tuple(alone),
        {program.name: program.open for program in programs if program.open},
        sizes,
    )


def ways_to_split(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yields all ways to divide `total` cores or sockets among `parts` programs, with at least one
    each. Large totals are divided in coarser steps.

    >>> list(ways_to_split(4, 2))
    [(1, 3), (2, 2), (3, 1)]
    """
    step = -(-total // int(COSCHEDULE_STEPS.value))
    for cuts in itertools.combinations(range(step, total, step), parts - 1):
        ends = (0, *cuts, total)
        yield tuple(high - low for low, high in itertools.pairwise(ends))


class DomainPath(NamedTuple):
    """The memory path for which programs on up to `cores` cores contend.

    Beyond the known values of a phase, the bandwidth grows like the curve `grows`, or remains
    constant if `grows` is None. Each of `parts` NUMA domains gets an even part of `ceiling` B/s.
    None means no ceiling.
    """

    cores: int
    grows: Curve | None
    ceiling: float | None
    parts: int

    def of(self, phase: Phase) -> PathCurve | None:
        """Returns the memory bandwidth of a phase in B/s, by number of requesting cores. None if
        the phase has no memory traffic.
        """
        known = {load.requesting: load.bandwidth for threads, load in sorted(phase.alone.items())
                 if threads <= self.cores and load.requesting > 0.0}  # fmt: skip
        if not known:
            return None
        last = max(known)
        if self.grows is not None:
            more = [x for x in (*self.grows.x, self.cores) if last < x <= self.cores]
            known |= {float(x): known[last] * self.grows.at(x) / self.grows.at(last) for x in more}
        cap = math.inf
        if self.ceiling is not None:  # streams of writes may exceed the machine's figure
            cap = max(self.ceiling, *(load.bandwidth for load in phase.alone.values())) / self.parts
        cores = tuple(sorted(known))
        return PathCurve(cores, tuple(min(cap, known[requesting]) for requesting in cores))


def domain_path(machine: Machine) -> DomainPath:
    """Returns the memory path of one NUMA domain, in which all programs have cores."""
    shared = machine.memory.shared_path
    ceiling = None if shared is None else shared.traffic_bytes_per_s.value
    grows = machine.memory.curve("load")
    return DomainPath(machine.cores_per_domain, grows, ceiling, machine.domains)


class _ProgramLoads(NamedTuple):
    """A program's phases with their loads by number of threads, on several NUMA `domains`."""

    program: CoscheduledProgram
    phases: Sequence[tuple[Phase, Mapping[int, PhaseLoad]]]
    domains: int
    path: DomainPath | None

    def running_phases(self, cores: int, machine: Machine) -> list[Running] | None:
        """Returns the phases of the program in its plan for at most `cores` cores of a domain. None
        if a phase needs more cores.
        """
        tried = {
            phase.id: {
                threads * self.domains: on_domains(phase, load, self.domains, self.path)
                for threads, load in loads.items() if threads <= cores
            }
            for phase, loads in self.phases
        }  # fmt: skip
        if not all(tried.values()):
            return None
        seconds = {
            name: {threads: phase.seconds for threads, phase in known.items()}
            for name, known in tried.items()
        }
        plan = self.program.plan_for_times(seconds, machine)
        chosen = [known[plan.sizes[name]] for name, known in tried.items()]
        changing = max(0.0, plan.seconds - sum(phase.seconds for phase in chosen))
        return _merged_phases([*chosen, Running(changing, changing)])


def _merged_phases(phases: Sequence[Running]) -> list[Running]:
    """Removes phases without time, and merges phases with similar numbers of requesting cores."""
    running = sorted((phase for phase in phases if phase.seconds > 0),
                     key=lambda phase: phase.requesting)  # fmt: skip
    size = -(-len(running) // int(COSCHEDULE_CLASSES.value))
    return [
        _merged_phase(running[begin : begin + size]) for begin in range(0, len(running), size or 1)
    ]


def on_domains(phase: Phase, load: PhaseLoad, domains: int, path: DomainPath | None) -> Running:
    """Returns one domain's part of a phase that runs on several domains. `load` is the load of the
    threads of one domain.
    """
    work, fixed = (load.seconds - load.fixed) / domains, _team_costs(phase, load, domains)
    curve = None if path is None else path.of(phase)
    if curve is None or load.requesting <= 0.0:
        return Running(work + fixed, fixed)
    return Running(work + fixed, fixed, load.waiting / domains, load.requesting, load.bandwidth,
                   curve)  # fmt: skip


def _team_costs(phase: Phase, load: PhaseLoad, domains: int) -> float:
    """Returns the fixed cost of a parallel region on the threads of all domains."""
    threads = next(n for n, known in phase.beside.items() if known is load) if domains > 1 else 0
    known = [n for n in phase.beside if threads < n <= threads * domains]
    return phase.beside[max(known)].fixed if known else load.fixed / domains


def _merged_phase(phases: Sequence[Running]) -> Running:
    """Merges phases into one, with the memory path of the phase that waits longest."""
    seconds = sum(phase.seconds for phase in phases)
    return Running(
        seconds, sum(phase.fixed for phase in phases), sum(phase.waiting for phase in phases),
        sum(phase.seconds * phase.requesting for phase in phases) / seconds,
        sum(phase.seconds * phase.bandwidth for phase in phases) / seconds,
        max(phases, key=lambda phase: phase.waiting).path,
    )  # fmt: skip


def _allocation_by_sockets(
    programs: Sequence[CoscheduledProgram], best: Sequence[float], split: Sequence[int],
    machine: Machine,
) -> Allocation | None:  # fmt: skip
    """Returns the placement in which each program has its own sockets. Programs contend only for a
    memory path that all sockets share.
    """
    shared = machine.memory.shared_path
    path = None
    if shared is not None:
        path = DomainPath(machine.cores, None, shared.traffic_bytes_per_s.value, 1)
    running = []
    for program, packages in zip(programs, split, strict=True):
        loads = _ProgramLoads(program, [(phase, phase.alone) for phase in program.phases], 1, path)
        phases = loads.running_phases(packages * machine.cores_per_package, machine)
        if phases is None:
            return None
        running.append(phases)
    seconds = _end_times(running)
    totals = [packages * machine.cores_per_package for packages in split]
    return _allocation("packages", programs, best, totals, split, seconds)


def _allocation_by_cores(
    programs: Sequence[CoscheduledProgram], best: Sequence[float], split: Sequence[int],
    machine: Machine,
) -> Allocation | None:  # fmt: skip
    """Returns the placement in which each program has `split` cores of every NUMA domain. All
    domains have the same load.
    """
    path = domain_path(machine)
    running = []
    for program, cores in zip(programs, split, strict=True):
        loads = _ProgramLoads(
            program, [(phase, phase.beside) for phase in program.phases], machine.domains, path
        )
        phases = loads.running_phases(cores, machine)
        if phases is None:
            return None
        running.append(phases)
    seconds = _end_times(running)
    totals = [cores * machine.domains for cores in split]
    packages = [machine.packages] * len(split)
    return _allocation("cores", programs, best, totals, packages, seconds)


def _allocation(
    kind: str, programs: Sequence[CoscheduledProgram], best: Sequence[float],
    cores: Sequence[int], packages: Sequence[int], seconds: Sequence[float],
) -> Allocation:  # fmt: skip
    parts = tuple(
        Part(program.name, own, on, took, took / least if least > 0 else 1.0)
        for program, own, on, took, least in zip(
            programs, cores, packages, seconds, best, strict=True
        )
    )
    return Allocation(kind, parts, max(seconds))


def _end_times(running: Sequence[Sequence[Running]]) -> list[float]:
    """Returns the end time of each program. After a program ends, the others get its bandwidth."""
    alone = [sum(phase.seconds for phase in phases) for phases in running]
    left = [1.0] * len(running)  # the remaining share of each program's work
    ended = [0.0] * len(running)
    now = 0.0
    going = [k for k, phases in enumerate(running) if phases]
    while going:
        slow = _slowdowns_of_programs([running[k] for k in going])
        takes = [alone[k] * factor for k, factor in zip(going, slow, strict=True)]
        rest = {k: left[k] * took for k, took in zip(going, takes, strict=True)}
        span = min(rest.values())
        now += span
        for k in [k for k in going if rest[k] == span]:
            ended[k] = now
            going.remove(k)
        for k in going:
            left[k] *= 1.0 - span / rest[k]
    return ended


def _slowdowns_of_programs(running: Sequence[Sequence[Running]]) -> list[float]:
    """Returns the slowdown of each program while all programs run.

    Phases overlap in proportion to their times, and the times depend on the overlap. A fixed-point
    iteration solves this.
    """
    meetings = [
        (met, seconds_together([own[at] for own, at in zip(running, met, strict=True)]))
        for met in itertools.product(*(range(len(own)) for own in running))
    ]
    times = [[phase.seconds for phase in phases] for phases in running]
    for _ in range(int(COSCHEDULE_ROUNDS.value)):
        shares = [[t / sum(own) for t in own] for own in times]
        times = [[0.0] * len(own) for own in running]
        for met, seconds in meetings:
            for place, at in enumerate(met):
                chance = math.prod(shares[k][other] for k, other in enumerate(met) if k != place)
                times[place][at] += chance * seconds[place]
    return [
        sum(own) / sum(phase.seconds for phase in phases)
        for own, phases in zip(times, running, strict=True)
    ]
