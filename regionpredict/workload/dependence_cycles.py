"""Finds cycles of dependences between scalars of consecutive iterations.

`t = 0.5 * s; s = t + 1` needs a product and a sum per iteration, even if many iterations run at the
same time. Each scalar that an iteration reads before it sets it is a node. An edge is the longest
path from the old value of one scalar to the new value of another. The cycle with the largest mean
length determines the time per iteration (Reiter 1968, "Scheduling parallel computations", J. ACM
15).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from regionpredict.analysis import StatementFact
from regionpredict.workload.constant_divisions import path_run
from regionpredict.workload.constants import LONGEST_CYCLE


class CarriedCycle(NamedTuple):
    """One cycle: its scalars in order, the operations along it, and the number of iterations that
    it spans.

    `share` is the share of iterations that execute its least executed statement.
    """

    scalars: tuple[str, ...]
    operations: tuple[str, ...]
    iterations: int
    share: float


class _RecurrencePath(NamedTuple):
    """A path of a recurrence: the operations that compute the new value from the old one."""

    operations: tuple[str, ...]
    statements: int
    share: float

    def then(self, other: _RecurrencePath) -> _RecurrencePath:
        return _RecurrencePath(
            self.operations + other.operations,
            self.statements + other.statements,
            min(self.share, other.share),
        )

    def weight(self) -> float:
        return self.share * len(self.operations)


_JOINING = frozenset((
    "fp_add", "fp_mul", "fp_div", "fp_sqrt", "fp_neg", "fp_compare", "int_add", "int_mul",
    "int_logic", "int_compare",
))  # fmt: skip
"""Operations that combine the value of an iteration with previous ones. `recurrences` handles
floating-point operations, and integer operations may be reordered.
"""

_Ways = dict[str, _RecurrencePath]
_UNCHANGED = _RecurrencePath((), 0, 1.0)


def carried_cycles(
    facts: Sequence[StatementFact], shares: Sequence[float], counter: str, *,
    reassociates: bool,
) -> Iterator[CarriedCycle]:  # fmt: skip
    """The cycles between scalars of one iteration, without duplicates. Each starts with the name
    that an iteration uses first.

    Three kinds are excluded: the cases of `recurrences`, operations that combine the value of each
    iteration in one statement (such as a sum or a product), and integers that are only summed.
    """
    edges = _edges(facts, shares, counter, reassociates)
    met: set[frozenset[str]] = set()
    for start in sorted(edges):
        cycle = _slowest(edges, start)
        if cycle is None or frozenset(cycle[0]) in met:
            continue
        scalars, way = cycle
        met.add(frozenset(scalars))
        if _waits(way, len(scalars)):
            yield CarriedCycle(scalars, way.operations, len(scalars), way.share)


def _waits(way: _RecurrencePath, iterations: int) -> bool:
    kinds = set(way.operations)
    if kinds <= {"int_add"}:
        return False
    alone = len(way.operations) == 1 and way.statements == 1 and iterations == 1
    return not alone or not kinds <= _JOINING


def _edges(
    facts: Sequence[StatementFact], shares: Sequence[float], counter: str, reassociates: bool
) -> Mapping[str, _Ways]:
    """For each scalar that is carried between iterations, the paths from its old value to new
    values of others.
    """
    now: dict[str, _Ways] = {}
    for number, fact in enumerate(facts):
        statement = fact.statement
        if not statement.writes:
            continue
        share = shares[number] if shares else 1.0
        paths = [
            (name, path_run(kinds, reassociates=reassociates)) for name, kinds in statement.paths
        ]
        made = _paths_to(paths, now, share)
        for name in statement.writes:
            before = now.get(name, {name: _UNCHANGED}) if share < 1.0 else {}
            now[name] = _longest(before, made)
    edges: dict[str, _Ways] = {name: {} for name in now if name != counter}
    for new, ways in now.items():
        for old, way in ways.items():
            if old in edges and new in edges:
                edges[old][new] = way
    return edges


def _paths_to(
    paths: Sequence[tuple[str, tuple[str, ...]]], now: Mapping[str, _Ways], share: float
) -> _Ways:
    """The paths to a statement's value, through other values set in the same iteration."""
    made: _Ways = {}
    for name, operations in paths:
        own = _RecurrencePath(operations, 1, share)
        for old, way in now.get(name, {name: _UNCHANGED}).items():
            made = _longest(made, {old: way.then(own)})
    return made


def _longest(first: Mapping[str, _RecurrencePath], second: Mapping[str, _RecurrencePath]) -> _Ways:
    longest = dict(first)
    for name, way in second.items():
        if name not in longest or way.weight() > longest[name].weight():
            longest[name] = way
    return longest


def _slowest(
    edges: Mapping[str, _Ways], start: str
) -> tuple[tuple[str, ...], _RecurrencePath] | None:
    """The cycle through `start` with the most operations per iteration. It spans at most a few
    iterations.
    """
    best: tuple[tuple[str, ...], _RecurrencePath] | None = None
    reached: dict[str, tuple[tuple[str, ...], _RecurrencePath]] = {start: ((start,), _UNCHANGED)}
    for iterations in range(1, int(LONGEST_CYCLE.value) + 1):
        further: dict[str, tuple[tuple[str, ...], _RecurrencePath]] = {}
        for at, (scalars, way) in reached.items():
            for new, edge in edges.get(at, {}).items():
                if new != start and new in scalars:
                    continue
                whole = way.then(edge)
                if new not in further or whole.weight() > further[new][1].weight():
                    further[new] = ((*scalars, new), whole)
        closed = further.pop(start, None)
        if closed is not None and closed[1].operations:
            pace = closed[1].weight() / iterations
            if best is None or pace > best[1].weight() / len(best[0]):
                best = (closed[0][:-1], closed[1])
        reached = further
    return best
