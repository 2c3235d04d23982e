"""Describes the work of a core in each loop body: operations, loads, stores, dependence chains, and
obstacles to vectorization.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from regionpredict.analysis import StatementFact
from regionpredict.workload.constant_divisions import executed_operations
from regionpredict.workload.constants import DEFAULT_ELEMENT, GATHER_LOADS
from regionpredict.workload.iteration_chain import Step, steps_of
from regionpredict.workload.loop_nest import LoopNest, NestLoop, body_executions, executed_shares
from regionpredict.workload.recurrences import Recurrence, recurrences_of
from regionpredict.workload.scalar_replacement import NONE_KEPT, ConstantAccesses, kept_in_memory


@dataclass(frozen=True, slots=True)
class LoopBody:
    """The statements directly inside a loop. Counts are per iteration.

    `executions` is the total number of iterations. `innermost` says that the body contains no loop.
    `element_bytes` is the size of the widest element. `operations` are (kind, number), weighted by
    the executed share of iterations. `loads` and `stores` count distinct references that move with
    the loop. `scalars` counts variables that statements read, without indices. `scalar_because`
    gives the obstacle to vectorization, except recurrences. `masked` says that vector code needs
    masks. `on_all_sides` are the operations if all branches are executed, as in vector code.
    `steps` are the statements with their dependences. `reassociates` allows reordered sums. `trips`
    is the mean trip count. `kept` are loads and stores of constant elements that are not kept in
    registers.
    """

    variable: str
    line: int
    executions: float
    innermost: bool
    element_bytes: int
    operations: tuple[tuple[str, float], ...]
    loads: float
    stores: float
    scalars: int
    recurrences: tuple[Recurrence, ...]
    scalar_because: str
    masked: bool = False
    on_all_sides: tuple[tuple[str, float], ...] = ()
    steps: tuple[Step, ...] = ()
    reassociates: bool = False
    trips: float = math.inf
    kept: ConstantAccesses = NONE_KEPT


def loop_bodies(
    nest: LoopNest, statements: Sequence[StatementFact], *, reassociates: bool
) -> tuple[LoopBody, ...]:
    """Returns the bodies of all loops with statements, in source order.

    `statements` are all statements of the nest. `reassociates` says that the compiler may reorder
    sums.
    """
    bodies = []
    inside = {child.index: loop for loop in nest.loops for child in loop.children}
    counts = zip(nest.loops, body_executions(nest), executed_shares(nest), strict=True)
    for loop, (trips, executions), left in counts:
        if loop.statements and left:
            taken = [(number, share) for number, share in loop.statements if share]
            shares = [share for _, share in taken]
            own = [statements[number] for number, _ in taken]
            written = [statements[number] for number, _ in loop.statements]
            if not taken:
                continue
            execution_counts = (fact.executions.value for fact in own)
            counted = next((value for value in execution_counts if value is not None), None)
            runs = left * float(counted) if counted is not None else executions
            outer = inside.get(loop.index)
            around = [statements[number] for number, _ in outer.statements] if outer else []
            bodies.append(
                _loop_body(loop, own, shares, runs, written=written,
                      enclosing_facts=around, trips=trips, reassociates=reassociates)
            )  # fmt: skip
    return tuple(bodies)


def _loop_body(
    loop: NestLoop, facts: Sequence[StatementFact], shares: Sequence[float], executions: float,
    *, written: Sequence[StatementFact], enclosing_facts: Sequence[StatementFact], trips: float,
    reassociates: bool,
) -> LoopBody:  # fmt: skip
    # Compilers do not know that a branch is never taken, so all `written` statements count.
    loads, stores = _memory_operations(loop)
    return LoopBody(
        variable=loop.variable,
        line=loop.line,
        executions=executions,
        innermost=not loop.children,
        element_bytes=max((g.element for g in loop.groups), default=int(DEFAULT_ELEMENT.value)),
        operations=_operations_of_body(facts, shares, reassociates),
        loads=loads,
        stores=stores,
        scalars=_scalar_count(loop, facts),
        recurrences=recurrences_of(
            loop, facts, reassociates=reassociates, enclosing_facts=enclosing_facts, shares=shares
        ),
        scalar_because=_vectorization_obstacle(loop, written),
        masked=loop.conditional == "elements",
        on_all_sides=_operations_of_body(written, [1.0] * len(written), reassociates),
        steps=steps_of(
            facts,
            {a.text for g in loop.groups if g.irregular for a in g.accesses},
            reassociates=reassociates,
        ),
        reassociates=reassociates,
        trips=trips,
        kept=kept_in_memory(loop),
    )


def _operations_of_body(
    facts: Sequence[StatementFact], shares: Sequence[float], reassociates: bool
) -> tuple[tuple[str, float], ...]:
    count: dict[str, float] = {}
    for fact, share in zip(facts, shares, strict=True):
        for operation, number in executed_operations(fact.statement, reassociates=reassociates):
            count[operation.kind] = count.get(operation.kind, 0.0) + share * number
    return tuple(count.items())


def _memory_operations(loop: NestLoop) -> tuple[float, float]:
    """Counts the distinct loads and stores of one iteration that move with the loop."""
    loads, stores = 0.0, 0.0
    for group in loop.groups:
        if not group.irregular and not group.slopes.get(loop.variable) and not loop.children:
            continue
        stores += len(group.written)
        read = {a.text for a in group.accesses if a.kind == "read"}
        loads += (
            min(len(read), len(group.offsets))
            if not group.irregular
            else GATHER_LOADS.value * len(read)
        )
    return loads, stores


def _scalar_count(loop: NestLoop, facts: Sequence[StatementFact]) -> int:
    scalars: set[str] = set()
    for fact in facts:
        indices = {
            name
            for access in fact.statement.accesses
            for subscript in access.subscripts
            for name in subscript.names
        }
        scalars |= fact.statement.reads - indices - fact.statement.writes
    return len(scalars - {loop.variable})


def _vectorization_obstacle(loop: NestLoop, facts: Sequence[StatementFact]) -> str:
    """Returns the reason why the compiler does not vectorize the loop, or an empty string."""
    if loop.children:
        return "not innermost"
    if not loop.counted or loop.limit is None:
        return "not counted or left early"
    if any(fact.statement.calls for fact in facts):
        return "calls a function"
    if any(op.kind.startswith("call:") for f in facts for op, _ in f.statement.operations):
        return "calls a function"
    if loop.conditional == "code":
        return "conditional"
    for group in loop.groups:
        if group.irregular:
            return "gathers"
        stride = abs(group.slopes.get(loop.variable, 0.0) * loop.step)
        if stride and stride > group.element:
            return f"stride of {stride:.0f} bytes"
    return ""
