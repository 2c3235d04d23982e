"""Dependencies between the statements of an iteration: chains of dependent operations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from regionpredict.analysis import StatementFact
from regionpredict.workload.constant_divisions import operations_run


class Step(NamedTuple):
    """One statement: its operations (kind, number), and the `after` steps whose results it needs.

    `loads` is the number of dependent loads before it can start: none without memory reads, one, or
    two if the address is data. `chain` is the longest chain of dependent operations in it.
    """

    operations: tuple[tuple[str, float], ...]
    after: tuple[int, ...]
    loads: int
    chain: tuple[str, ...] = ()


def steps_of(
    facts: Sequence[StatementFact], gathered: Collection[str], *, reassociates: bool
) -> tuple[Step, ...]:
    """The statements of one iteration. `gathered` are references with data-dependent addresses.

    A step follows the last previous one that wrote a variable it reads, or an element with the same
    text. Values of the previous iteration are not steps of this one (`recurrences`).
    """
    steps: list[Step] = []
    written: dict[str, int] = {}
    for number, fact in enumerate(facts):
        statement = fact.statement
        read = {access.text for access in statement.accesses if access.kind == "read"}
        fresh = read - written.keys()
        loads = 2 if any(text in gathered for text in fresh) else 1 if fresh else 0
        after = {written[name] for name in statement.reads | read if name in written}
        run = operations_run(statement, reassociates=reassociates)
        operations = tuple((operation.kind, float(n)) for operation, n in run)
        steps.append(Step(operations, tuple(sorted(after)), loads, statement.longest))
        for name in statement.writes:
            written[name] = number
        for access in statement.accesses:
            if access.kind == "write":
                written[access.text] = number
    return tuple(steps)
