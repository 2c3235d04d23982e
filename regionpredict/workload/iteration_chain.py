"""Lists the statements of a loop body with the dependences between them, to find dependence chains
inside an iteration.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from regionpredict.analysis import StatementFact
from regionpredict.workload.constant_divisions import executed_operations


class Step(NamedTuple):
    """A statement with its operations as (kind, number). `after` are the positions of the
    statements whose results it needs.

    `loads` is the number of dependent loads before the statement can start. It is 0 without memory
    reads, 2 if an address is read from memory, else 1. `chain` is the longest chain of dependent
    operations in the statement.
    """

    operations: tuple[tuple[str, float], ...]
    after: tuple[int, ...]
    loads: int
    chain: tuple[str, ...] = ()


def steps_of(
    facts: Sequence[StatementFact], gathered: Collection[str], *, reassociates: bool
) -> tuple[Step, ...]:
    """Returns the statements of one iteration with their dependences. `gathered` are references
    with data-dependent addresses.

    A statement depends on the last previous statement that wrote a variable it reads, or an element
    with the same text. Loop-carried dependences are in `recurrences`.
    """
    steps: list[Step] = []
    written: dict[str, int] = {}
    for number, fact in enumerate(facts):
        statement = fact.statement
        read = {access.text for access in statement.accesses if access.kind == "read"}
        fresh = read - written.keys()
        loads = 2 if any(text in gathered for text in fresh) else 1 if fresh else 0
        after = {written[name] for name in statement.reads | read if name in written}
        run = executed_operations(statement, reassociates=reassociates)
        operations = tuple((operation.kind, float(n)) for operation, n in run)
        steps.append(Step(operations, tuple(sorted(after)), loads, statement.longest))
        for name in statement.writes:
            written[name] = number
        for access in statement.accesses:
            if access.kind == "write":
                written[access.text] = number
    return tuple(steps)
