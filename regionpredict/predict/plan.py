"""Plans that use few different numbers of threads for a whole program. The cost of changes is
included.

A plan gives each parallel region one number of threads. Its time includes all executions,
`openmp.first_team` once for the first threads, and `openmp.team_change` for each change. The search
starts from the best constant number, and from the best path in program order by dynamic
programming. Both are improved by changing single regions and neighboring pairs, and the better plan
is kept. Therefore, no plan is worse than the best constant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from regionpredict.machine import Machine, packages_of
from regionpredict.predict.constants import PLAN_ROUNDS


class PlannedTeam(NamedTuple):
    """A parallel region in a plan: its number of executions, and the seconds of one execution by
    number of threads.
    """

    id: str
    executions: float
    seconds: Mapping[int, float]


class ConstantSize(NamedTuple):
    """One number of threads for all parallel regions. A region with a lower limit uses its
    limit.
    """

    threads: int
    seconds: float


class Plan(NamedTuple):
    """`threads` and `packages` of the largest parallel region, the seconds of all regions including
    changes, and `sizes` by region. `main` is the file of the program's `main`. It is empty if
    unknown.
    """

    packages: int
    threads: int
    seconds: float
    team_changes: int
    best_constant: ConstantSize
    sizes: Mapping[str, int]
    main: str = ""


Sizes = dict[str, int]


def plan_of(
    teams: Sequence[PlannedTeam], changes: Mapping[tuple[str, str], float], machine: Machine,
    main: str = "", most: int | None = None,
) -> Plan | None:  # fmt: skip
    """The plan for parallel regions in program order. None if no region has a time.

    `changes` counts how often the second of two parallel regions directly follows the first. No
    region has more than the `most` threads recommended for the program.
    """
    known = [_without_more_threads(team, most) for team in teams if team.seconds]
    if not known:
        return None
    known[0] = _first_region(known[0], machine)
    times = _Times(known, changes, machine)
    constants = sorted({threads for team in known for threads in team.seconds})
    seconds, threads = min((times.total(times.constant(count)), count) for count in constants)
    best = ConstantSize(threads, seconds)
    labels = times.labels(threads)
    starts = [times.constant(threads), times.along_the_order(labels)]
    made = [times.improved(start, labels) for start in starts]
    sizes = min(made, key=times.total)
    if times.total(sizes) >= best.seconds:
        sizes = times.constant(threads)
    most = max(sizes.values())
    return Plan(
        packages=packages_of(machine, most),
        threads=most,
        seconds=times.total(sizes),
        team_changes=_rounded_count(times.changes_of(sizes)),
        best_constant=best,
        sizes=sizes,
        main=main,
    )


def _without_more_threads(team: PlannedTeam, most: int | None) -> PlannedTeam:
    """The region without numbers of threads above `most`, unless it has no others."""
    fewer = {threads: spent for threads, spent in team.seconds.items()
             if most is None or threads <= most}  # fmt: skip
    return team._replace(seconds=fewer) if fewer else team


def changes_between(
    teams: Sequence[PlannedTeam], changes: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    """The number of times that each parallel region with a time follows another one.

    A region without a time is skipped. Its successors then follow its predecessors with the same
    frequency. A region whose predecessor is unknown follows the previous one in the list once.

    >>> a, b, c = (PlannedTeam(name, 1, {1: 1.0}) for name in "abc")
    >>> unknown = b._replace(seconds={})
    >>> changes_between([a, unknown, c], {("a", "b"): 4, ("b", "c"): 3, ("b", "a"): 1})
    {('a', 'c'): 3.0, ('a', 'a'): 1.0}
    >>> changes_between([a, b, c], {("b", "c"): 2})
    {('b', 'c'): 2, ('a', 'b'): 1.0}
    """
    known = dict(changes)
    for team in teams:
        if team.seconds:
            continue
        into = {pair: often for pair, often in known.items() if pair[1] == team.id != pair[0]}
        onward = {pair: often for pair, often in known.items() if pair[0] == team.id != pair[1]}
        known = {pair: often for pair, often in known.items() if team.id not in pair}
        leaving = sum(onward.values())
        for (before, _), arriving in into.items():
            for (_, then), often in onward.items():
                passed = arriving * often / leaving
                known[before, then] = known.get((before, then), 0.0) + passed
    listed = [team.id for team in teams if team.seconds]
    parts = {name: name for name in listed}
    for first, then in known:
        if first in parts and then in parts:
            old, new = parts[then], parts[first]
            parts = {name: new if part == old else part for name, part in parts.items()}
    for before, name in pairwise(listed):
        if parts[name] != parts[before] and parts[name] not in {
            parts[other] for other in listed[: listed.index(name)]
        }:
            known[before, name] = 1.0
    return known


def _first_region(team: PlannedTeam, machine: Machine) -> PlannedTeam:
    """The first parallel region of a program, which creates the threads in its first execution."""
    once = 1.0 / team.executions if team.executions else 0.0
    table, clock = machine.overheads.first_team, machine.clock_hz
    return team._replace(
        seconds={
            size: spent + once * float(table.at(size)) / clock
            for size, spent in team.seconds.items()
        }
    )


def _rounded_count(changes: float) -> int:
    """A rounded number. It is at least 1 for an event that happens in some executions only."""
    return max(round(changes), math.ceil(min(changes, 1.0)))


class _Times:
    """The cost of an assignment of thread numbers."""

    def __init__(
        self, teams: Sequence[PlannedTeam], changes: Mapping[tuple[str, str], float],
        machine: Machine,
    ) -> None:  # fmt: skip
        self.teams = teams
        self.machine = machine
        known = {team.id for team in teams}
        # Parallel regions without a time are skipped, since a change after them is unknown.
        self.next: dict[str, dict[str, float]] = {name: {} for name in known}
        for (first, then), often in changes.items():
            if first in known and then in known and first != then:
                for before, other in ((first, then), (then, first)):
                    self.next[before][other] = self.next[before].get(other, 0.0) + often
        self.by_id = {team.id: team for team in teams}

    def constant(self, threads: int) -> Sizes:
        """The numbers of threads if all regions have the same number, as far as their limits
        allow.
        """
        return {team.id: _at_most(team, threads) for team in self.teams}

    def total(self, sizes: Sizes) -> float:
        """The time of all parallel regions and of all changes in seconds."""
        own = sum(team.executions * team.seconds[sizes[team.id]] for team in self.teams)
        changing = sum(
            often * self._change(sizes[before], sizes[other])
            for before, others in self.next.items() for other, often in others.items()
        )  # fmt: skip
        return own + changing / 2.0  # each pair occurs twice

    def changes_of(self, sizes: Sizes) -> float:
        """The number of times that the next parallel region has another number of threads."""
        return sum(
            often for before, others in self.next.items() for other, often in others.items()
            if sizes[before] != sizes[other]
        ) / 2.0  # fmt: skip

    def labels(self, threads: int) -> list[int]:
        """The candidates: powers of two, whole domains, the best constant, and all cores."""
        machine = self.machine
        labels = {1 << k for k in range(machine.cores.bit_length())}
        labels |= set(range(machine.cores_per_domain, machine.cores, machine.cores_per_domain))
        return sorted({*labels, threads, machine.cores})

    def along_the_order(self, labels: Sequence[int]) -> Sizes:
        """The best numbers if each region only followed its predecessor in program order."""
        costs: list[dict[int, tuple[float, int]]] = []
        for number, team in enumerate(self.teams):
            own = {size: team.executions * team.seconds[size] for size in self._sizes(team, labels)}
            if number == 0:
                costs.append({size: (cost, size) for size, cost in own.items()})
                continue
            before = self.teams[number - 1]
            often = self.next[team.id].get(before.id, 0.0)
            costs.append({
                size: min(
                    (known + often * self._change(size, other) + cost, other)
                    for other, (known, _) in costs[-1].items()
                )
                for size, cost in own.items()
            })  # fmt: skip
        sizes: Sizes = {}
        size = min(costs[-1], key=lambda size: costs[-1][size][0])
        for team, cost in zip(reversed(self.teams), reversed(costs), strict=True):
            sizes[team.id] = size
            size = cost[size][1]
        return sizes

    def improved(self, sizes: Sizes, labels: Sequence[int]) -> Sizes:
        """The numbers after changes to single regions, or to pairs of neighbors with the same
        number, as long as these reduce the time.
        """
        for _ in range(int(PLAN_ROUNDS.value)):
            gained = False
            for team in self.teams:
                for group in ([team.id], self._alike(team.id, sizes)):
                    better = self._best(group, sizes, labels)
                    if better is not None:
                        sizes, gained = better, True
            if not gained:
                break
        return sizes

    def _alike(self, name: str, sizes: Sizes) -> list[str]:
        return [name, *(other for other in self.next[name] if sizes[other] == sizes[name])]

    def _best(self, group: Sequence[str], sizes: Sizes, labels: Sequence[int]) -> Sizes | None:
        now, chosen = self._group_cost(group, sizes), None
        for size in labels:
            tried = {**sizes, **{name: _at_most(self.by_id[name], size) for name in group}}
            cost = self._group_cost(group, tried)
            if cost < now:
                now, chosen = cost, tried
        return chosen

    def _group_cost(self, group: Sequence[str], sizes: Sizes) -> float:
        """The costs that depend on a group's numbers of threads."""
        inside = set(group)
        cost = 0.0
        for name in group:
            team = self.by_id[name]
            cost += team.executions * team.seconds[sizes[name]]
            for other, often in self.next[name].items():
                share = 1 / 2 if other in inside else 1.0  # counted from both sides
                cost += share * often * self._change(sizes[name], sizes[other])
        return cost

    @staticmethod
    def _sizes(team: PlannedTeam, labels: Sequence[int]) -> list[int]:
        return sorted({_at_most(team, size) for size in labels})

    def _change(self, before: int, other: int) -> float:
        if before == other:
            return 0.0
        change = self.machine.overheads.team_change.at(max(before, other))
        return float(change) / self.machine.clock_hz


def _at_most(team: PlannedTeam, threads: int) -> int:
    """The largest number of threads of a region up to a limit."""
    if threads in team.seconds:
        return threads
    return max((size for size in team.seconds if size <= threads), default=min(team.seconds))
