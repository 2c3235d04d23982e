"""Finds cycles of loop-carried dependences between scalars.

In `t = 0.5 * s; s = t + 1`, each iteration waits for a product and a sum of the previous one. Nodes
of the dependence graph are scalars that an iteration reads before it sets them. An edge is the
longest path from the old value of one scalar to the new value of another. The cycle with the
largest mean length determines the time per iteration (Reiter 1968, "Scheduling parallel
computations", J. ACM 15).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from regionpredict.analysis import StatementFact
from regionpredict.workload.constant_divisions import executed_path
from regionpredict.workload.constants import LONGEST_CYCLE


class CarriedCycle(NamedTuple):
    """A dependence cycle: the scalars in order, the operations along the cycle, and the number of
    iterations that the cycle spans.

    `share` is the share of iterations that execute the least frequent statement of the cycle.
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


_ACCUMULATING = frozenset((
    "fp_add", "fp_mul", "fp_div", "fp_sqrt", "fp_neg", "fp_compare", "int_add", "int_mul",
    "int_logic", "int_compare",
))  # fmt: skip
"""Operations that accumulate a value over iterations. Cycles of a single such operation are
excluded: `recurrences` handles floating-point sums, and integer operations may be reordered.
"""

_Paths = dict[str, _RecurrencePath]
_UNCHANGED = _RecurrencePath((), 0, 1.0)


def carried_cycles(
    facts: Sequence[StatementFact], shares: Sequence[float], counter: str, *,
    reassociates: bool,
) -> Iterator[CarriedCycle]:  # fmt: skip
    """Yields the slowest cycle through each carried scalar, without duplicates.

    `counter` is the loop variable. Excluded are accumulations in one statement, such as a sum or a
    product, and cycles of integer additions.
    """
    edges = _carried_paths(facts, shares, counter, reassociates)
    met: set[frozenset[str]] = set()
    for start in sorted(edges):
        cycle = _slowest_cycle(edges, start)
        if cycle is None or frozenset(cycle[0]) in met:
            continue
        scalars, path = cycle
        met.add(frozenset(scalars))
        if _is_latency_bound(path, len(scalars)):
            yield CarriedCycle(scalars, path.operations, len(scalars), path.share)


def _is_latency_bound(path: _RecurrencePath, iterations: int) -> bool:
    kinds = set(path.operations)
    if kinds <= {"int_add"}:
        return False
    alone = len(path.operations) == 1 and path.statements == 1 and iterations == 1
    return not alone or not kinds <= _ACCUMULATING


def _carried_paths(
    facts: Sequence[StatementFact], shares: Sequence[float], counter: str, reassociates: bool
) -> Mapping[str, _Paths]:
    """Returns, for each carried scalar, the longest paths from its old value to the new values of
    carried scalars.
    """
    now: dict[str, _Paths] = {}
    for number, fact in enumerate(facts):
        statement = fact.statement
        if not statement.writes:
            continue
        share = shares[number] if shares else 1.0
        paths = [
            (name, executed_path(kinds, reassociates=reassociates))
            for name, kinds in statement.paths
        ]
        made = _paths_to_statement(paths, now, share)
        for name in statement.writes:
            before = now.get(name, {name: _UNCHANGED}) if share < 1.0 else {}
            now[name] = _longest_paths(before, made)
    edges: dict[str, _Paths] = {name: {} for name in now if name != counter}
    for new, old_paths in now.items():
        for old, path in old_paths.items():
            if old in edges and new in edges:
                edges[old][new] = path
    return edges


def _paths_to_statement(
    paths: Sequence[tuple[str, tuple[str, ...]]], now: Mapping[str, _Paths], share: float
) -> _Paths:
    """Returns the longest paths from old scalars to a statement's value, through other statements
    of the same iteration.
    """
    made: _Paths = {}
    for name, operations in paths:
        own = _RecurrencePath(operations, 1, share)
        for old, path in now.get(name, {name: _UNCHANGED}).items():
            made = _longest_paths(made, {old: path.then(own)})
    return made


def _longest_paths(
    first: Mapping[str, _RecurrencePath], second: Mapping[str, _RecurrencePath]
) -> _Paths:
    longest = dict(first)
    for name, path in second.items():
        if name not in longest or path.weight() > longest[name].weight():
            longest[name] = path
    return longest


def _slowest_cycle(
    edges: Mapping[str, _Paths], start: str
) -> tuple[tuple[str, ...], _RecurrencePath] | None:
    """Returns the cycle through `start` with the most operations per iteration. Cycles span at most
    `LONGEST_CYCLE` iterations.
    """
    best: tuple[tuple[str, ...], _RecurrencePath] | None = None
    reached: dict[str, tuple[tuple[str, ...], _RecurrencePath]] = {start: ((start,), _UNCHANGED)}
    for iterations in range(1, int(LONGEST_CYCLE.value) + 1):
        further: dict[str, tuple[tuple[str, ...], _RecurrencePath]] = {}
        for at, (scalars, path) in reached.items():
            for new, edge in edges.get(at, {}).items():
                if new != start and new in scalars:
                    continue
                whole = path.then(edge)
                if new not in further or whole.weight() > further[new][1].weight():
                    further[new] = ((*scalars, new), whole)
        closed = further.pop(start, None)
        if closed is not None and closed[1].operations:
            pace = closed[1].weight() / iterations
            if best is None or pace > best[1].weight() / len(best[0]):
                best = (closed[0][:-1], closed[1])
        reached = further
    return best
