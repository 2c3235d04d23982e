"""Several programs on one node: who gets which cores, and what it costs each of them.

Chatzopoulos 2012, section 3.3, asks for it: phases of programs want different numbers of cores, and
programs whose phases do are to share a node. Two ways of sharing are held against taking turns:

- *packages*: each program has packages of its own, and all memory of their domains;
- *cores*: each has some of every NUMA domain's cores, and programs share caches and bandwidth.

Of a domain's bandwidth everyone gets what it asks for, or an even share of what the others leave
(max-min fairness; Bertsekas and Gallager 1992, section 6.5): a phase whose request is cut to a
share g takes 1/g times as long. Phases of the programs meet as their shares of time say. How much
bandwidth there is depends on who asks: streams that write move more bytes than those that only
read. So requests are parts of the time in which the path is busy, by what the machine gives loads,
or the phase itself alone, whichever is more: what one gets alone, two get in turns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.predict.constants import (
    COSCHEDULE_CLASSES,
    COSCHEDULE_GAIN,
    COSCHEDULE_ROUNDS,
    COSCHEDULE_STEPS,
)
from regionpredict.predict.curve import Point
from regionpredict.predict.teams import TeamPrediction


class PhaseLoad(NamedTuple):
    """A phase on one number of threads, bound close: seconds of all its executions, and what it
    moves to and from memory meanwhile, in bytes."""

    seconds: float
    memory_bytes: float


@dataclass(frozen=True, slots=True)
class Phase:
    """One team of a program; loads by threads, `alone` with whole caches, `beside` with the part of
    a shared cache that other programs leave."""

    id: str
    alone: Mapping[int, PhaseLoad]
    beside: Mapping[int, PhaseLoad]


@dataclass(frozen=True, slots=True)
class CoscheduledProgram:
    """A program as its phases, none of which is empty."""

    name: str
    phases: tuple[Phase, ...]

    def best_alone(self) -> tuple[int, float]:
        """(threads, seconds) of the fastest run with the node to itself, one team size for all."""
        counts = set.intersection(*(set(phase.alone) for phase in self.phases))
        times = {n: sum(phase.alone[n].seconds for phase in self.phases) for n in sorted(counts)}
        threads = min(times, key=lambda n: times[n])
        return threads, times[threads]


class Part(NamedTuple):
    """What one program gets: `cores` in all, on `packages` packages; the seconds it then takes
    beside the others, and how many times as long that is as its best run alone."""

    name: str
    cores: int
    packages: int
    seconds: float
    slowdown: float


@dataclass(frozen=True, slots=True)
class Allocation:
    """One way to share the node: `kind` is 'packages' or 'cores'; `seconds` until all are done."""

    kind: str
    parts: tuple[Part, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Coschedule:
    """All ways to share, the fastest first, beside `turns`: seconds of one after the other, each
    alone on its best number of threads."""

    allocations: tuple[Allocation, ...]
    turns: float
    alone: tuple[Part, ...]

    @property
    def shares(self) -> bool:
        """Whether sharing is faster than taking turns by as much as is worth it."""
        best = self.allocations[0].seconds if self.allocations else self.turns
        return self.turns > best * COSCHEDULE_GAIN.value


def with_cache_share(machine: Machine, sharers: int) -> Machine:
    """The machine with the part of each shared cache that is left to one of so many programs.

    Programs take lines as they ask for them; that each gets as much as the others is assumed.
    """
    caches = tuple(
        replace(cache, size_bytes=replace(
            cache.size_bytes, value=cache.size_bytes.whole // sharers
        )) if cache.shared_by_cores.whole > 1 else cache
        for cache in machine.caches
    )  # fmt: skip
    return replace(machine, caches=caches)


def phases_of(
    alone: Sequence[TeamPrediction], beside: Sequence[TeamPrediction]
) -> tuple[Phase, ...]:
    """The teams of a program that have times, as phases; `beside` are the same teams, predicted
    with a part of the caches. A team that runs nobody knows how often counts once."""
    phases = []
    for team, other in zip(alone, beside, strict=True):
        runs = float(team.facts.executions.value or 1)
        if team.points and other.points:
            phases.append(
                Phase(team.facts.id, _loads(team.points, runs), _loads(other.points, runs))
            )
    return tuple(phases)


def _loads(points: Sequence[Point], runs: float) -> dict[int, PhaseLoad]:
    return {
        point.threads: PhaseLoad(runs * point.seconds, runs * point.memory_bytes)
        for point in points
    }


def coschedule(programs: Sequence[CoscheduledProgram], machine: Machine) -> Coschedule:
    """Every way to share the machine's cores between programs, beside taking turns."""
    alone = []
    for program in programs:
        threads, seconds = program.best_alone()
        packages = -(-threads // machine.cores_per_package)
        alone.append(Part(program.name, threads, packages, seconds, 1.0))
    best = [part.seconds for part in alone]
    allocations = [
        *(_by_packages(programs, best, split, machine)
          for split in _splits(machine.packages, len(programs))),
        *(_by_cores(programs, best, split, machine)
          for split in _splits(machine.cores_per_domain, len(programs))),
    ]  # fmt: skip
    known = [allocation for allocation in allocations if allocation is not None]
    return Coschedule(
        tuple(sorted(known, key=lambda allocation: allocation.seconds)), sum(best), tuple(alone)
    )


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to deal `total` things to `parts` programs, each at least one; of many things in
    steps of several.

    >>> list(_splits(4, 2))
    [(1, 3), (2, 2), (3, 1)]
    """
    step = -(-total // int(COSCHEDULE_STEPS.value))
    for cuts in itertools.combinations(range(step, total, step), parts - 1):
        ends = (0, *cuts, total)
        yield tuple(high - low for low, high in itertools.pairwise(ends))


class _Running(NamedTuple):
    """A phase on its cores: seconds undisturbed, and the part of them for which it keeps the path
    that it shares busy."""

    seconds: float
    asked: float


class _Path(NamedTuple):
    """What programs contend for: it gives `bytes_per_s` to loads of up to `cores` cores; `parts`
    NUMA domains have an even part of it each."""

    bytes_per_s: float
    cores: int
    parts: int

    def given(self, phase: Phase) -> float:
        """B/s that a domain's part gives to this phase's streams: what they get alone, if more."""
        own = [_rate(load) for threads, load in phase.alone.items() if threads <= self.cores]
        return max([self.bytes_per_s, *own]) / self.parts


def _condensed(
    phases: Sequence[Phase], loads: Sequence[PhaseLoad], domains: int, path: _Path | None
) -> list[_Running]:
    """The phases, those that ask for about as much as one, on one of so many NUMA domains.

    Each domain has its part of the work, so that the whole takes that part of the time. Without a
    path nobody waits for another.
    """
    asking = [
        _Running(load.seconds, _rate(load) / path.given(phase) if path else 0.0)
        for phase, load in zip(phases, loads, strict=True)
        if load.seconds > 0
    ]
    ordered = sorted(asking, key=lambda running: running.asked)
    size = -(-len(ordered) // int(COSCHEDULE_CLASSES.value))
    running = []
    for begin in range(0, len(ordered), size or 1):
        group = ordered[begin : begin + size]
        seconds = sum(running.seconds for running in group)
        busy = sum(running.seconds * running.asked for running in group)
        running.append(_Running(seconds / domains, busy / seconds))
    return running


def _by_packages(
    programs: Sequence[CoscheduledProgram], best: Sequence[float], split: Sequence[int],
    machine: Machine,
) -> Allocation | None:  # fmt: skip
    """Packages of one's own: only a path that all packages share is contended for."""
    shared = machine.memory.shared_path
    path = None if shared is None else _Path(shared.traffic_bytes_per_s.value, machine.cores, 1)
    running = []
    for program, packages in zip(programs, split, strict=True):
        cores = packages * machine.cores_per_package
        loads = [_fastest(phase.alone, cores) for phase in program.phases]
        known = [load for load in loads if load is not None]
        if len(known) < len(loads):
            return None
        running.append(_condensed(program.phases, known, 1, path))
    seconds = _together(running)
    totals = [packages * machine.cores_per_package for packages in split]
    return _allocation("packages", programs, best, totals, split, seconds)


def _by_cores(
    programs: Sequence[CoscheduledProgram], best: Sequence[float], split: Sequence[int],
    machine: Machine,
) -> Allocation | None:  # fmt: skip
    """Some cores of every NUMA domain: each domain does its part of all programs at once."""
    shared = machine.memory.shared_path
    path = _Path(machine.memory.curve("load").peak, machine.cores_per_domain, 1)
    if shared is not None:
        path = _Path(shared.traffic_bytes_per_s.value, machine.cores, machine.domains)
    running = []
    for program, cores in zip(programs, split, strict=True):
        loads = [_fastest(phase.beside, cores) for phase in program.phases]
        known = [load for load in loads if load is not None]
        if len(known) < len(loads):
            return None
        running.append(_condensed(program.phases, known, machine.domains, path))
    seconds = _together(running)
    totals = [cores * machine.domains for cores in split]
    packages = [machine.packages] * len(split)
    return _allocation("cores", programs, best, totals, packages, seconds)


def _fastest(loads: Mapping[int, PhaseLoad], cores: int) -> PhaseLoad | None:
    """The phase on at most so many cores: no more than it gains from."""
    known = [load for threads, load in loads.items() if threads <= cores]
    return min(known, key=lambda load: load.seconds, default=None)


def _rate(load: PhaseLoad) -> float:
    return load.memory_bytes / load.seconds if load.seconds > 0 else 0.0


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


def _together(running: Sequence[Sequence[_Running]]) -> list[float]:
    """When each program is done: the first to end leaves its bandwidth to those that go on."""
    alone = [sum(phase.seconds for phase in phases) for phases in running]
    left = [1.0] * len(running)  # the share of each program's work
    ended = [0.0] * len(running)
    now = 0.0
    going = [k for k, phases in enumerate(running) if phases]
    while going:
        slow = _slowdowns([running[k] for k in going])
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


def _slowdowns(running: Sequence[Sequence[_Running]]) -> list[float]:
    """How many times as long each program takes while all of them run; each has phases.

    What the phases meet depends on how long each takes, which depends on what they meet: a few
    rounds settle it.
    """
    times = [[phase.seconds for phase in phases] for phases in running]
    for _ in range(int(COSCHEDULE_ROUNDS.value)):
        shares = [[t / sum(own) for t in own] for own in times]
        times = [
            [phase.seconds * _expected(k, phase, running, shares) for phase in phases]
            for k, phases in enumerate(running)
        ]
    return [
        sum(own) / sum(phase.seconds for phase in phases)
        for own, phases in zip(times, running, strict=True)
    ]


def _expected(
    place: int, phase: _Running, running: Sequence[Sequence[_Running]],
    shares: Sequence[Sequence[float]],
) -> float:  # fmt: skip
    """The mean slowdown of a phase over what the other programs may be doing meanwhile."""
    others = [k for k in range(len(running)) if k != place]
    mean = 0.0
    for met in itertools.product(*(range(len(running[k])) for k in others)):
        chance = 1.0
        asked = []
        for k, number in zip(others, met, strict=True):
            chance *= shares[k][number]
            asked.append(running[k][number].asked)
        granted = fair_share(phase.asked, asked, 1.0)
        mean += chance * (phase.asked / granted if granted else 1.0)  # 0 of what asks for none
    return mean


def fair_share(own: float, others: Sequence[float], capacity: float) -> float:
    """What one request gets of a capacity beside others, by max-min fairness; any one unit.

    >>> fair_share(8.0, [1.0], 10.0), fair_share(8.0, [9.0], 10.0), fair_share(2.0, [9.0], 10.0)
    (8.0, 5.0, 2.0)
    """
    left, requests = capacity, sorted([own, *others])
    for number, request in enumerate(requests):
        even = left / (len(requests) - number)
        if request > even:
            return min(own, even)
        left -= request
    return own
