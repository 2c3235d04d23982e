"""Chooses the number of threads of each parallel region of a program, including the cost of
changing the number of threads.

The time of a plan includes all executions, `openmp.first_team` once, and `openmp.team_change` for
each change. The search starts from the best constant number, and from the best sequence in program
order by dynamic programming. Both are improved by changing single regions and neighboring pairs,
and the better plan is kept. No plan is therefore worse than the best constant number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from regionpredict.machine import Machine, packages_of
from regionpredict.predict.constants import PLAN_ROUNDS


class PlannedTeam(NamedTuple):
    """A parallel region with its number of executions, and the seconds of one execution by number
    of threads.
    """

    id: str
    executions: float
    seconds: Mapping[int, float]


class ConstantSize(NamedTuple):
    """The same number of threads for all parallel regions, except for regions with a lower limit,
    and the time of the program.
    """

    threads: int
    seconds: float


class Plan(NamedTuple):
    """The number of threads of each parallel region (`sizes`), and the time of all regions in
    seconds.

    `threads` and `packages` are the maximum over all regions. `team_changes` is the number of
    changes of the number of threads. `main` is the file of the program's `main`, or empty.
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
    """Returns the best plan for parallel regions in program order. None if no region has a time.

    `changes` counts, for each pair of regions, how often the second region directly follows the
    first one. `most` limits the number of threads of all regions.
    """
    known = [_without_more_threads(team, most) for team in teams if team.seconds]
    if not known:
        return None
    known[0] = _first_region(known[0], machine)
    times = _PlanCosts(known, changes, machine)
    constants = sorted({threads for team in known for threads in team.seconds})
    seconds, threads = min((times.total(times.constant(count)), count) for count in constants)
    best = ConstantSize(threads, seconds)
    labels = times.labels(threads)
    starts = [times.constant(threads), times.along_the_order(labels)]
    made = [times.improved_plan(start, labels) for start in starts]
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
    """Removes the times for more than `most` threads, unless no other times exist."""
    fewer = {threads: spent for threads, spent in team.seconds.items()
             if most is None or threads <= most}  # fmt: skip
    return team._replace(seconds=fewer) if fewer else team


def changes_between(
    teams: Sequence[PlannedTeam], changes: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    """Returns how often each parallel region with a time follows another region with a time.

    A region without a time is skipped: its successors then follow its predecessors with the same
    frequency. A region with an unknown predecessor follows the previous region in the list once.

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
    """Adds the cost of creating the threads to the first execution of a program's first region."""
    once = 1.0 / team.executions if team.executions else 0.0
    table, clock = machine.overheads.first_team, machine.clock_hz
    return team._replace(
        seconds={
            size: spent + once * float(table.at(size)) / clock
            for size, spent in team.seconds.items()
        }
    )


def _rounded_count(changes: float) -> int:
    """Rounds a number of changes. A number between 0 and 1 becomes 1."""
    return max(round(changes), math.ceil(min(changes, 1.0)))


class _PlanCosts:
    """Computes and minimizes the time of a program for given numbers of threads per region."""

    def __init__(
        self, teams: Sequence[PlannedTeam], changes: Mapping[tuple[str, str], float],
        machine: Machine,
    ) -> None:  # fmt: skip
        self.teams = teams
        self.machine = machine
        known = {team.id for team in teams}
        # Parallel regions without a time are skipped, because changes next to them are unknown.
        self.next: dict[str, dict[str, float]] = {name: {} for name in known}
        for (first, then), often in changes.items():
            if first in known and then in known and first != then:
                for before, other in ((first, then), (then, first)):
                    self.next[before][other] = self.next[before].get(other, 0.0) + often
        self.by_id = {team.id: team for team in teams}

    def constant(self, threads: int) -> Sizes:
        """Returns the same number of threads for all regions, except for regions with a lower
        limit.
        """
        return {team.id: _at_most(team, threads) for team in self.teams}

    def total(self, sizes: Sizes) -> float:
        """Returns the time of all parallel regions and of all changes in seconds."""
        own = sum(team.executions * team.seconds[sizes[team.id]] for team in self.teams)
        changing = sum(
            often * self._cost_of_change(sizes[before], sizes[other])
            for before, others in self.next.items() for other, often in others.items()
        )  # fmt: skip
        return own + changing / 2.0  # each pair occurs twice

    def changes_of(self, sizes: Sizes) -> float:
        """Returns how often the number of threads changes between two regions."""
        return sum(
            often for before, others in self.next.items() for other, often in others.items()
            if sizes[before] != sizes[other]
        ) / 2.0  # fmt: skip

    def labels(self, threads: int) -> list[int]:
        """Returns the candidate numbers of threads: powers of two, whole domains, the best
        constant, and all cores.
        """
        machine = self.machine
        labels = {1 << k for k in range(machine.cores.bit_length())}
        labels |= set(range(machine.cores_per_domain, machine.cores, machine.cores_per_domain))
        return sorted({*labels, threads, machine.cores})

    def along_the_order(self, labels: Sequence[int]) -> Sizes:
        """Returns the best numbers of threads if each region only followed its predecessor in
        program order.
        """
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
                    (known + often * self._cost_of_change(size, other) + cost, other)
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

    def improved_plan(self, sizes: Sizes, labels: Sequence[int]) -> Sizes:
        """Changes the numbers of threads of single regions, and of neighbors with equal numbers, as
        long as this reduces the time.
        """
        for _ in range(int(PLAN_ROUNDS.value)):
            gained = False
            for team in self.teams:
                for group in ([team.id], self._neighbors_with_equal_size(team.id, sizes)):
                    better = self._best_change(group, sizes, labels)
                    if better is not None:
                        sizes, gained = better, True
            if not gained:
                break
        return sizes

    def _neighbors_with_equal_size(self, name: str, sizes: Sizes) -> list[str]:
        return [name, *(other for other in self.next[name] if sizes[other] == sizes[name])]

    def _best_change(
        self, group: Sequence[str], sizes: Sizes, labels: Sequence[int]
    ) -> Sizes | None:
        now, chosen = self._group_cost(group, sizes), None
        for size in labels:
            tried = {**sizes, **{name: _at_most(self.by_id[name], size) for name in group}}
            cost = self._group_cost(group, tried)
            if cost < now:
                now, chosen = cost, tried
        return chosen

    def _group_cost(self, group: Sequence[str], sizes: Sizes) -> float:
        """Returns the part of the time that depends on the numbers of threads of a group."""
        inside = set(group)
        cost = 0.0
        for name in group:
            team = self.by_id[name]
            cost += team.executions * team.seconds[sizes[name]]
            for other, often in self.next[name].items():
                share = 1 / 2 if other in inside else 1.0  # counted from both sides
                cost += share * often * self._cost_of_change(sizes[name], sizes[other])
        return cost

    @staticmethod
    def _sizes(team: PlannedTeam, labels: Sequence[int]) -> list[int]:
        return sorted({_at_most(team, size) for size in labels})

    def _cost_of_change(self, before: int, other: int) -> float:
        if before == other:
            return 0.0
        change = self.machine.overheads.team_change.at(max(before, other))
        return float(change) / self.machine.clock_hz


def _at_most(team: PlannedTeam, threads: int) -> int:
    """Returns the largest number of threads up to a limit for which the region has a time."""
    if threads in team.seconds:
        return threads
    return max((size for size in team.seconds if size <= threads), default=min(team.seconds))
