"""What must be the same of two programs that do the same to memory in different words."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.pipeline import Analysis


class Facts(NamedTuple):
    """The facts of one region without its names: numbers for given sizes, and shapes.

    `accesses`: how often which kind of reference of so many bytes is executed, an array by the
    place of its first reference among all. `operations` likewise.
    """

    status: str
    iterations: int | None
    working_set: int | None
    operations: dict[tuple[str, int, int | None], int]
    accesses: dict[tuple[str, int, str, str, bool, int | None], int]
    bytes: dict[str, int]


def compared(analysis: Analysis) -> list[Facts]:
    """The facts of every region, in the order of the source."""
    return [_of(facts) for facts in analysis.facts]


def _of(facts: RegionFacts) -> Facts:
    operations: Counter[tuple[str, int, int | None]] = Counter()
    accesses: Counter[Any] = Counter()
    moved: Counter[str] = Counter()
    for statement in facts.statements:
        runs = statement.executions.value
        for operation, count in statement.statement.operations:
            operations[operation.kind, operation.bits, runs] += count
        for fact in statement.accesses:
            access = fact.access
            accesses[access.kind, access.bytes, fact.reuse, fact.pattern, fact.counted, runs] += 1
            moved[access.kind] += access.bytes * (runs or 0)
    return Facts(
        facts.status, facts.iterations.value, facts.working_set.value, dict(operations),
        dict(accesses), dict(moved),
    )  # fmt: skip
