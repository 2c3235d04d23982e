"""Lists the statements of a region with their operations and memory references, as the input of the
density model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from regionpredict.analysis import AccessFact, RegionFacts, StatementFact
from regionpredict.analysis.facts import count_of_loops
from regionpredict.analysis.iterations import executions_in_loops
from regionpredict.analysis.patterns import LINE_BYTES, access_pattern
from regionpredict.ir import Diagnostic, Span
from regionpredict.workload.address_space import check_sizes
from regionpredict.workload.assumed_sizes import SizeTarget, bound_sizes
from regionpredict.workload.constant_divisions import operations_written
from regionpredict.workload.false_sharing import narrow_rows


class ReferenceRow(NamedTuple):
    """A memory reference of a statement.

    `kind` is 'read' or 'write', `reuse` is 'hit' or 'miss', and `pattern` is 'streaming', 'latency'
    or 'irregular'. `counted` says that the array has the largest number of dimensions. `bytes` is
    the size of the access.
    """

    text: str
    kind: str
    reuse: str
    pattern: str
    counted: bool
    bytes: int


class StatementRow(NamedTuple):
    """A statement with its operations as (kind, number) per execution, and its references.

    `executions` is the number of executions in one execution of the region, or None if unknown.
    """

    line: int
    text: str
    operations: tuple[tuple[str, int], ...]
    references: tuple[ReferenceRow, ...]
    executions: int | None = None


@dataclass(frozen=True, slots=True)
class StatementTable:
    """The statements of a region with its working set and diagnostics.

    `status` is 'complete', 'partial' or 'skipped'. `iterations` and `working_set_bytes` are None if
    unknown. `unbound` are the names without a value that make the working set unknown.
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
        """Returns a diagnostic of a model for this region."""
        return Diagnostic(rule, self.span, message)


def statement_table(
    facts: RegionFacts, line_bytes: int, target: SizeTarget | None = None
) -> StatementTable:
    """Returns the table of one region, with access patterns for cache lines of `line_bytes`.

    With a `target`, unknown numbers of executions are computed from assumed sizes, which `assumed`
    lists. Raises InputError for sizes beyond 64 bits (`check_sizes`).
    """
    region = facts.region
    if facts.status != "skipped":
        check_sizes(facts)
    counted, guessed = _with_executions(facts, line_bytes, target)
    return StatementTable(
        region=region.id,
        span=region.span,
        status=facts.status,
        iterations=facts.iterations.value,
        working_set_bytes=facts.working_set.value,
        unbound=_unbound_names(facts),
        statements=tuple(_statement_row(facts, fact, line_bytes) for fact in counted),
        assumed=(*facts.bindings.assumed, *guessed),
        diagnostics=(*facts.diagnostics, *narrow_rows(facts, line_bytes)),
    )


def _with_executions(
    facts: RegionFacts, line_bytes: int, target: SizeTarget | None
) -> tuple[tuple[StatementFact, ...], tuple[str, ...]]:
    """Returns the statements with their numbers of executions, and the assumed sizes."""
    known = all(fact.executions.value is not None for fact in facts.statements)
    if target is None or known:
        return facts.statements, ()
    sizes = bound_sizes(facts, target, line_bytes)
    bindings = replace(facts.bindings, values=sizes.values)
    counted = tuple(
        fact._replace(executions=count_of_loops(executions_in_loops(fact.loops), bindings))
        for fact in facts.statements
    )
    return counted, sizes.guessed


def _unbound_names(facts: RegionFacts) -> tuple[str, ...]:
    expression = facts.working_set.expr
    if expression is None or facts.working_set.value is not None:
        return ()
    return tuple(sorted(expression.names - facts.bindings.values.keys()))


def _statement_row(facts: RegionFacts, fact: StatementFact, line_bytes: int) -> StatementRow:
    statement = fact.statement
    references = tuple(
        ReferenceRow(
            reference.access.text, reference.access.kind, reference.reuse,
            _access_pattern(facts, fact, reference, line_bytes), reference.counted,
            reference.access.bytes,
        )
        for reference in fact.accesses
    )  # fmt: skip
    operations = operations_written(statement)
    return StatementRow(
        statement.span.line, statement.text, operations, references, fact.executions.value
    )


def _access_pattern(
    facts: RegionFacts, fact: StatementFact, access: AccessFact, line_bytes: int
) -> str:
    """Returns the access pattern of a reference for this line size."""
    if line_bytes == LINE_BYTES:
        return access.pattern
    array = facts.region.array(access.access.array)
    return access_pattern(access.access, array, fact.loops, line_bytes)
