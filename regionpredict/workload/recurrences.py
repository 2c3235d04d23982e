"""Finds loop-carried dependence chains of operations: reductions into a scalar, and recurrences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from regionpredict.analysis import StatementFact
from regionpredict.workload.constant_divisions import executed_operations, executed_path
from regionpredict.workload.constants import NEAR_DEPENDENCE
from regionpredict.workload.dependence_cycles import carried_cycles
from regionpredict.workload.loop_nest import NestLoop, ReferenceGroup
from regionpredict.workload.scalar_replacement import changed_between, stored_each_time


class Recurrence(NamedTuple):
    """A loop-carried dependence chain, with its floating-point operations by statement.

    `name` contains the variable or array. `distance` is the number of iterations from a store to
    the dependent load, or None for a sum into one element. `unordered` says that the compiler may
    use one partial sum per vector lane. `restarts` says that each outer iteration starts a new
    chain, so that several chains overlap. `in_order` says that the operations are a fixed sequence,
    including 'load' and 'fp_convert', in registers. `share` is the executed share of iterations.
    `stored` says that each value is stored to memory, which prevents partial sums. `forwarded` says
    that the next iteration loads the stored value.
    """

    name: str
    operations: tuple[tuple[str, ...], ...]
    distance: float | None
    unordered: bool = False
    restarts: bool = False
    in_order: bool = False
    share: float = 1.0
    stored: bool = False
    forwarded: bool = False


def recurrences_of(
    loop: NestLoop, facts: Sequence[StatementFact], *, reassociates: bool,
    enclosing_facts: Sequence[StatementFact] = (), shares: Sequence[float] = (),
) -> tuple[Recurrence, ...]:  # fmt: skip
    """Returns the dependence chains of an innermost loop with the statements `facts`, sums into
    scalars first.

    `shares` gives the executed share of iterations of each statement (default 1). `reassociates`
    says that the compiler may reorder all sums, and not only declared reductions. `enclosing_facts`
    are the statements directly in the outer loop.
    """
    if loop.children:
        return ()
    chains = []
    reset = _reset_scalars(enclosing_facts)
    assigned: set[str] = set()
    for fact in facts:
        statement = fact.statement
        carried = (statement.reads & statement.writes) - assigned - {loop.variable}
        assigned |= statement.writes - statement.reads
        floating = _floating_operations(fact, reassociates)
        if carried and floating and statement.role == "assign":
            chains.append(
                Recurrence(
                    f"sum into {sorted(carried)[0]}", (floating,), None,
                    unordered=carried <= loop.unordered
                    or (reassociates and _allows_partial_results(floating)),
                    restarts=carried <= reset,
                )
            )  # fmt: skip
    for cycle in carried_cycles(facts, shares, loop.variable, reassociates=reassociates):
        kinds = set(cycle.operations)
        alike = len(kinds) == 1 and kinds <= {"fp_add", "fp_mul"} and cycle.iterations == 1
        chains.append(
            Recurrence(
                f"recurrence over {cycle.scalars[0]}", (cycle.operations,),
                float(cycle.iterations), in_order=True, share=cycle.share,
                unordered=alike and (reassociates or loop.unordered.issuperset(cycle.scalars)),
                restarts=reset.issuperset(cycle.scalars),
            )
        )  # fmt: skip
    for group in loop.groups:
        chain = _array_recurrence(group, loop, facts, reassociates)
        if chain is not None:
            still = chain.distance is None and all(map(_allows_partial_results, chain.operations))
            # Without a distance, the element is constant in this loop. Outer loops may move it.
            moves = chain.distance is not None or any(group.slopes.values())
            chains.append(
                chain._replace(
                    unordered=reassociates and still, restarts=moves,
                    stored=stored_each_time(group, loop), forwarded=changed_between(group, loop),
                )
            )  # fmt: skip
    return tuple(chains)


def _reset_scalars(enclosing_facts: Sequence[StatementFact]) -> frozenset[str]:
    """Returns the scalars that the outer loop resets, independently of their previous value.

    In `double x = *seed; for (...) x = f(x); *seed = x;`, x is not reset: the next execution of the
    inner loop continues with the last value.
    """
    setters: dict[str, list[int]] = {}
    for place, fact in enumerate(enclosing_facts):
        for name in fact.statement.writes:
            setters.setdefault(name, []).append(place)
    begun = set()
    for place, fact in enumerate(enclosing_facts):
        for name in fact.statement.writes - fact.statement.reads:
            if name not in _names_depended_on(
                fact.statement.reads, place, enclosing_facts, setters
            ):
                begun.add(name)
    return frozenset(begun)


def _names_depended_on(
    names: Iterable[str], place: int, enclosing_facts: Sequence[StatementFact],
    setters: Mapping[str, Sequence[int]],
) -> frozenset[str]:  # fmt: skip
    """Returns all names on which `names` depend at the statement `place`, directly and through
    other statements.

    A name has the value of its last previous assignment, which may be in the previous iteration.
    `setters` gives the positions of assignments by name.
    """
    reached: set[tuple[str, int]] = set()
    ahead = [(name, place) for name in names]
    while ahead:
        name, reader = ahead.pop()
        if (name, reader) in reached:
            continue
        reached.add((name, reader))
        own = setters.get(name)
        if own:
            setter = own[bisect_left(own, reader) - 1]
            ahead.extend((read, setter) for read in enclosing_facts[setter].statement.reads)
    return frozenset(name for name, _ in reached)


def _allows_partial_results(kinds: Sequence[str]) -> bool:
    """Whether operations of these kinds form a sum or a product, which allows partial results."""
    return bool(kinds) and set(kinds) <= {"fp_add", "fp_mul", "fp_neg"}


def _floating_operations(fact: StatementFact, reassociates: bool) -> tuple[str, ...]:
    run = executed_operations(fact.statement, reassociates=reassociates)
    kinds = (operation.kind for operation, _ in run)
    return tuple(kind for kind in kinds if kind.startswith("fp_"))


def _longest_update_path(
    group: ReferenceGroup, facts: Sequence[StatementFact], reassociates: bool
) -> tuple[str, ...]:
    """Returns the longest path of operations in one statement from the old value of a constant
    element to its new value.
    """
    texts = {access.text for access in group.accesses}
    ways = (
        executed_path(path, reassociates=reassociates)
        for fact in facts for text, path in fact.statement.element_paths if text in texts
    )  # fmt: skip
    return max(ways, key=len, default=())


def _array_recurrence(
    group: ReferenceGroup, loop: NestLoop, facts: Sequence[StatementFact], reassociates: bool
) -> Recurrence | None:
    if not group.written or group.irregular:
        return None
    arrays = {access.array for access in group.accesses}  # struct members share a group
    writing = tuple(
        _floating_operations(fact, reassociates)
        for fact in facts
        if any(a.kind == "write" and a.array in arrays for a in fact.statement.accesses)
    )
    through = " through memory" if changed_between(group, loop) else ""
    name = f"recurrence over {group.array}{through}"
    slope = group.slopes.get(loop.variable, 0.0) * loop.step
    if not slope:
        reads = any(
            access.kind == "read" and place in group.written
            for access, place in zip(group.accesses, group.places, strict=True)
        )
        if not reads:
            return None
        way = _longest_update_path(group, facts, reassociates)
        if len(way) > 1:
            return Recurrence(name, (way,), 1.0, in_order=True)
        return Recurrence(name, writing, None)
    for written in group.written:
        for offset in group.offsets:
            ahead = (written - offset) / slope
            if 0 < ahead <= NEAR_DEPENDENCE.value and ahead == int(ahead):
                return Recurrence(name, writing, ahead)
    return None
