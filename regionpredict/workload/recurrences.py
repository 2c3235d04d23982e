"""Finds chains of operations that wait for the previous iteration: sums into a scalar, and
recurrences.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from regionpredict.analysis import StatementFact
from regionpredict.workload.constant_divisions import operations_run, path_run
from regionpredict.workload.constants import NEAR_DEPENDENCE
from regionpredict.workload.dependence_cycles import carried_cycles
from regionpredict.workload.loop_nest import NestLoop, ReferenceGroup
from regionpredict.workload.scalar_replacement import changed_between, stored_each_time


class Recurrence(NamedTuple):
    """A chain: its variable or array, and its floating-point operations by statement.

    `distance` is the number of iterations from a store to the load that needs it. None for a sum in
    one place, where only the combining operation waits for the previous iteration. `unordered`: the
    compiler may keep partial sums, one per vector lane, and add them at the end. `restarts`: the
    outer loop restarts it, so several chains run in parallel. `in_order`: the operations are a
    fixed sequence, including 'load' and 'fp_convert', and the carried value stays in registers.
    `share` of the iterations execute it. `stored`: each value goes to memory, so there are no
    partial sums. `forwarded`: the next iteration also loads it from there.
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
    around: Sequence[StatementFact] = (), shares: Sequence[float] = (),
) -> tuple[Recurrence, ...]:  # fmt: skip
    """The chains of an innermost loop with these statements. Sums into scalars are first.

    `shares` gives the share of the iterations in which each statement runs. By default, all
    statements run in all iterations.

    `reassociates` says that all sums may be reordered, and not only the reductions of the loop.
    `around` are the statements directly in the outer loop.
    """
    if loop.children:
        return ()
    chains = []
    anew = _reset_scalars(around)
    fresh: set[str] = set()
    for fact in facts:
        statement = fact.statement
        carried = (statement.reads & statement.writes) - fresh - {loop.variable}
        fresh |= statement.writes - statement.reads
        floating = _floating(fact, reassociates)
        if carried and floating and statement.role == "assign":
            chains.append(
                Recurrence(
                    f"sum into {sorted(carried)[0]}", (floating,), None,
                    unordered=carried <= loop.unordered
                    or (reassociates and _allows_partial_results(floating)),
                    restarts=carried <= anew,
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
                restarts=anew.issuperset(cycle.scalars),
            )
        )  # fmt: skip
    for group in loop.groups:
        chain = _over_array(group, loop, facts, reassociates)
        if chain is not None:
            still = chain.distance is None and all(map(_allows_partial_results, chain.operations))
            # Without a distance, it is constant in this loop, and outer loops move it.
            moves = chain.distance is not None or any(group.slopes.values())
            chains.append(
                chain._replace(
                    unordered=reassociates and still, restarts=moves,
                    stored=stored_each_time(group, loop), forwarded=changed_between(group, loop),
                )
            )  # fmt: skip
    return tuple(chains)


def _reset_scalars(around: Sequence[StatementFact]) -> frozenset[str]:
    """The scalars that statements around a loop set to a value that does not depend on their
    previous value.

    In `double x = *seed; for (...) x = f(x); *seed = x;`, the next execution of the loop continues
    with its last value.
    """
    setters: dict[str, list[int]] = {}
    for place, fact in enumerate(around):
        for name in fact.statement.writes:
            setters.setdefault(name, []).append(place)
    begun = set()
    for place, fact in enumerate(around):
        for name in fact.statement.writes - fact.statement.reads:
            if name not in _sources(fact.statement.reads, place, around, setters):
                begun.add(name)
    return frozenset(begun)


def _sources(
    names: Iterable[str], place: int, around: Sequence[StatementFact],
    setters: Mapping[str, Sequence[int]],
) -> frozenset[str]:  # fmt: skip
    """The inputs of the statement at `place`, directly and through other statements.

    A name has the value of the last previous statement that sets it. If there is none, it has the
    value of the last statement of the previous iteration that sets it. `setters` are the places of
    these statements.
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
            ahead.extend((read, setter) for read in around[setter].statement.reads)
    return frozenset(name for name, _ in reached)


def _allows_partial_results(kinds: Sequence[str]) -> bool:
    """Whether a chain of these operations is a sum or a product, which allows partial results."""
    return bool(kinds) and set(kinds) <= {"fp_add", "fp_mul", "fp_neg"}


def _floating(fact: StatementFact, reassociates: bool) -> tuple[str, ...]:
    run = operations_run(fact.statement, reassociates=reassociates)
    kinds = (operation.kind for operation, _ in run)
    return tuple(kind for kind in kinds if kind.startswith("fp_"))


def _path_through(
    group: ReferenceGroup, facts: Sequence[StatementFact], reassociates: bool
) -> tuple[str, ...]:
    """The operations of one statement on the path from a constant element to its new value."""
    texts = {access.text for access in group.accesses}
    ways = (
        path_run(path, reassociates=reassociates)
        for fact in facts for text, path in fact.statement.element_paths if text in texts
    )  # fmt: skip
    return max(ways, key=len, default=())


def _over_array(
    group: ReferenceGroup, loop: NestLoop, facts: Sequence[StatementFact], reassociates: bool
) -> Recurrence | None:
    if not group.written or group.irregular:
        return None
    arrays = {access.array for access in group.accesses}  # members of a struct are in one group
    writing = tuple(
        _floating(fact, reassociates)
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
        way = _path_through(group, facts, reassociates)
        if len(way) > 1:
            return Recurrence(name, (way,), 1.0, in_order=True)
        return Recurrence(name, writing, None)
    for written in group.written:
        for offset in group.offsets:
            ahead = (written - offset) / slope
            if 0 < ahead <= NEAR_DEPENDENCE.value and ahead == int(ahead):
                return Recurrence(name, writing, ahead)
    return None
