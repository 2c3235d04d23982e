"""The statements of a region with their operations and references: what a score is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.analysis import AccessFact, RegionFacts, StatementFact
from regionpredict.analysis.patterns import LINE_BYTES, pattern
from regionpredict.ir import Diagnostic, Span
from regionpredict.workload.address_space import check_sizes
from regionpredict.workload.narrow_rows import narrow_rows


class ReferenceRow(NamedTuple):
    """One reference of a statement.

    `kind` is 'read' or 'write', `reuse` 'hit' or 'miss', `pattern` 'streaming', 'latency' or
    'irregular'; `counted`: its array is one of those with the most dimensions.
    """

    text: str
    kind: str
    reuse: str
    pattern: str
    counted: bool


class StatementRow(NamedTuple):
    """One statement: `operations` are (kind, number) of one execution."""

    line: int
    text: str
    operations: tuple[tuple[str, int], ...]
    references: tuple[ReferenceRow, ...]


@dataclass(frozen=True, slots=True)
class StatementTable:
    """A region statement by statement.

    `status` is 'complete', 'partial' or 'skipped'. `iterations` and `working_set_bytes` are None
    where they are not known; `unbound` are then the names without a value, where it is they.
    """

    region: str
    span: Span
    status: str
    iterations: int | None
    working_set_bytes: int | None
    unbound: tuple[str, ...]
    statements: tuple[StatementRow, ...]
    assumed: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    def diagnostic(self, rule: str, message: str) -> Diagnostic:
        """What a model has to say about this region."""
        return Diagnostic(rule, self.span, message)


def statement_table(facts: RegionFacts, line_bytes: int) -> StatementTable:
    """The table of one region, its patterns those of cache lines of `line_bytes`.

    Raises InputError for sizes beyond 64 bits (`check_sizes`).
    """
    region = facts.region
    if facts.status != "skipped":
        check_sizes(facts)
    return StatementTable(
        region=region.id,
        span=region.span,
        status=facts.status,
        iterations=facts.iterations.value,
        working_set_bytes=facts.working_set.value,
        unbound=_unbound(facts),
        statements=tuple(_row(facts, fact, line_bytes) for fact in facts.statements),
        assumed=facts.bindings.assumed,
        diagnostics=(*facts.diagnostics, *narrow_rows(facts, line_bytes)),
    )


def _unbound(facts: RegionFacts) -> tuple[str, ...]:
    expression = facts.working_set.expr
    if expression is None or facts.working_set.value is not None:
        return ()
    return tuple(sorted(expression.names - facts.bindings.values.keys()))


def _row(facts: RegionFacts, fact: StatementFact, line_bytes: int) -> StatementRow:
    statement = fact.statement
    references = tuple(
        ReferenceRow(
            reference.access.text, reference.access.kind, reference.reuse,
            _pattern(facts, fact, reference, line_bytes), reference.counted,
        )
        for reference in fact.accesses
    )  # fmt: skip
    operations = tuple((operation.kind, number) for operation, number in statement.operations)
    return StatementRow(statement.span.line, statement.text, operations, references)


def _pattern(facts: RegionFacts, fact: StatementFact, access: AccessFact, line_bytes: int) -> str:
    """As the facts say for common lines; judged again for others."""
    if line_bytes == LINE_BYTES:
        return access.pattern
    array = facts.region.array(access.access.array)
    return pattern(access.access, array, fact.loops, line_bytes)
