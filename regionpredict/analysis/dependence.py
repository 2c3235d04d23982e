"""Finds certain dependences between iterations of a loop.

Two references to one array meet in different iterations if their subscripts differ by the same
whole number of iterations in every dimension. This number is the distance vector of Banerjee 1988,
"Dependence Analysis for Supercomputing"; see also Wolfe 1996, sec. 7. All other cases are unknown.
Examples are conditional references (in a branch, after a `continue` or an early `return`, in `?:`),
and references inside `critical`, `atomic` or `ordered`. Others are subscripts that are not affine,
and inner loops whose bounds change with the iteration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from regionpredict.ir import Access, Branch, Expr, Loop, Node, Region, Statement, Synchronisation

MAY_NOT_RUN = ("?", "&&", "||")
"""Operators in the text of a statement whose operands may not be evaluated."""


class Reference(NamedTuple):
    """A reference that certainly runs in every iteration of the loops around it.

    `place` identifies the body of these loops within the region.
    """

    access: Access
    loops: tuple[Loop, ...]
    statement: Statement
    place: tuple[int, ...]


class Dependence(NamedTuple):
    """Iterations with this `distance` touch the same element. With 0, every iteration touches
    it.
    """

    write: Access
    other: Access
    distance: int


def sure_references(region: Region) -> list[Reference]:
    """The references of a region that run in every iteration, outside all synchronization."""
    if region.nest is None or region.nest.exits:
        return []
    return list(_sure((region.nest,), (), ()))


def _sure(
    nodes: Sequence[Node], loops: tuple[Loop, ...], place: tuple[int, ...]
) -> Iterator[Reference]:
    for position, node in enumerate(nodes):
        if isinstance(node, Statement):
            if not any(sign in node.text for sign in MAY_NOT_RUN):
                yield from (Reference(access, loops, node, place) for access in node.accesses)
        elif isinstance(node, Loop) and node.kind == "for" and not node.exits:
            yield from _sure(node.body, (*loops, node), (*place, position))


def parallel_loops(region: Region) -> tuple[Loop, ...]:
    """The loops whose iterations are shared among the threads, the outermost first."""
    loops: list[Loop] = []
    inner = region.nest
    while inner is not None and len(loops) < region.collapse:
        loops.append(inner)
        inner = next((node for node in inner.body if isinstance(node, Loop)), None)
    return tuple(loops)


def carried_dependence(region: Region, trips: int | None) -> Dependence | None:
    """A certain loop-carried dependence of the worksharing loop, or None.

    `trips` is its number of iterations, if known. Larger distances are no dependence.
    """
    if region.clause("ordered") is not None or region.nest is None:
        return None
    shared = parallel_loops(region)
    references = [
        reference
        for reference in sure_references(region)
        if root_of(reference.access.array) in region.shared
    ]
    changed = {name for statement, _ in region.statements() for name in statement.writes}
    distances: dict[tuple[object, ...], int | None] = {}
    for first in references:
        if first.access.kind != "write" or first.access.array in changed:
            continue
        for second in references:
            if second.access.array != first.access.array:
                continue
            # Statements and arrays refer alike: each pair of subscripts is solved once.
            pair = (first.access.subscripts, first.access.member, first.access.bytes, first.place,
                    second.access.subscripts, second.access.member, second.access.bytes,
                    second.place)  # fmt: skip
            if pair not in distances:
                distances[pair] = _distance(first, second, shared, changed, region.shared)
            distance = distances[pair]
            if distance is None or (trips is not None and max(1, abs(distance)) >= trips):
                continue
            if distance == 0 and (second.access.kind == "write" or not _grows(first, second)):
                continue  # all write the same, as flags and clearing do
            return Dependence(first.access, second.access, distance)
    return None


def _grows(write: Reference, read: Reference) -> bool:
    """Whether one statement reads and writes the element."""
    return write.statement is read.statement


def root_of(array: str) -> str:
    """The variable through which memory is accessed: `s` of `s->a`."""
    return array.lstrip("&").partition("->")[0].partition(".")[0].partition("[")[0]


def _distance(
    first: Reference, second: Reference, shared: Sequence[Loop], changed: set[str],
    known: frozenset[str],
) -> int | None:  # fmt: skip
    """The number of iterations of the outermost worksharing loop from `first` to the `second`
    access of an element.

    With 0, all iterations access it. None if the accesses may be disjoint, or are in the same
    iteration.
    """
    access, other = first.access, second.access
    if (access.member, access.bytes) != (other.member, other.bytes) or access.member:
        return None
    if len(access.subscripts) != len(other.subscripts):
        return None
    moving = {loop.variable: loop for loop in first.loops}
    around = {loop.variable: loop for loop in second.loops}
    shifts: dict[str, int] = {}
    for mine, theirs in zip(access.subscripts, other.subscripts, strict=True):
        names = (mine.names | theirs.names) - {*moving, *around}
        if any(mine.atoms()) or any(theirs.atoms()) or not _fixed(names, changed, known):
            return None
        used = [name for name in moving if name in mine.names]
        if {name for name in around if name in theirs.names} != set(used):
            return None
        if any(moving[name] is not around.get(name) for name in used):
            return None
        if not _solve(mine, theirs, used, shifts):
            return None
    inner = [moving[name] for name in shifts if moving[name] not in shared]
    if any(not _steady(loop, changed, known) for loop in inner):
        return None
    if any(shifts[loop.variable] for loop in inner):
        # It is another inner iteration, too, of which there may be none.
        return None
    steps: list[int] = []
    for loop in shared:
        step = loop.step.constant if loop.step is not None else None
        if not isinstance(step, int) or not step:
            return None
        shift = shifts.get(loop.variable, 0)
        if shift % step:
            return None
        steps.append(shift // step)
    if any(steps):
        return steps[0] if steps[0] and not any(steps[1:]) else None
    free = [loop for loop in shared if loop.variable not in shifts]
    return 0 if len(free) == len(shared) else None


def _steady(loop: Loop, changed: set[str], known: frozenset[str]) -> bool:
    """Whether a loop runs over the same range in every iteration of the worksharing loop."""
    parts = [part for part in (loop.start, loop.bound, loop.step) if part is not None]
    return len(parts) == 3 and all(
        not any(part.atoms()) and _fixed(part.names, changed, known) for part in parts
    )


def _fixed(names: Collection[str], changed: set[str], known: frozenset[str]) -> bool:
    """Whether these are shared variables that the region does not change."""
    return not changed.intersection(names) and all(root_of(name) in known for name in names)


def _solve(mine: Expr, theirs: Expr, used: Sequence[str], shifts: dict[str, int]) -> bool:
    """Adds to `shifts` the difference of each variable for which one dimension is equal.

    Returns False if it is unknown: `mine(v) = theirs(v + shift)`.
    """
    rest = mine - theirs
    factors: dict[str, Expr] = {}
    for name in used:
        factor, same = mine.coefficient(name), theirs.coefficient(name)
        if factor is None or factor != same or not factor.terms:
            return False
        if not factor.names.isdisjoint(used):
            return False
        factors[name] = factor
    # Each factor another monomial (`n` and 1 of i*n + j): then one way of adding them up is clear.
    monomials = [tuple(factor.terms) for factor in factors.values()]
    if any(len(monomial) != 1 for monomial in monomials) or len(set(monomials)) != len(monomials):
        return False
    for name, factor in factors.items():
        ((monomial, size),) = factor.terms.items()
        coefficient = rest.terms.get(monomial, 0)
        shift = Fraction(coefficient) / Fraction(size) if coefficient else 0
        if shift.denominator != 1 or shifts.get(name, int(shift)) != shift:
            return False
        shifts[name] = int(shift)
        if shift:
            rest = rest - factor * int(shift)
    return not rest.terms


def independent(region: Region, loop: Loop) -> bool:
    """Whether an inner loop is certainly parallel within one iteration of its outer loops. No two
    of its iterations may access an element that one of them writes.
    """
    if loop.exits or any(isinstance(node, Synchronisation) for node in _below(loop.body)):
        return False
    statements = [node for node in _below(loop.body) if isinstance(node, Statement)]
    if any(call.memory for node in statements for call in node.calls):
        return False
    if not _scalars_are_set_first(statements):
        return False
    inner = {node.variable for node in _below(loop.body) if isinstance(node, Loop)}
    private = {array.name for array in region.arrays if array.storage == "private"}
    touched = {(a.array, a.kind) for node in statements for a in node.accesses}
    if any(array in private for array, _ in touched):
        return False  # a thread's own array may carry something from one iteration to the next
    for array in sorted(array for array, kind in touched if kind == "write"):
        subscripts = {
            a.subscripts for node in statements for a in node.accesses if a.array == array
        }
        if len(subscripts) != 1 or not any(
            _one_to_one(subscript, loop.variable, inner) for subscript in next(iter(subscripts))
        ):
            return False
    return True


def _one_to_one(subscript: Expr, variable: str, inner: set[str]) -> bool:
    """Whether different values of the variable certainly give different subscripts."""
    factor = subscript.coefficient(variable)
    if factor is None or factor == 0 or any(subscript.atoms()):
        return False
    return not subscript.names & inner


def _scalars_are_set_first(statements: Sequence[Statement]) -> bool:
    known: set[str] = set()
    written = {name for statement in statements for name in statement.writes}
    for statement in statements:
        if (statement.reads & written) - known:
            return False
        known |= statement.writes
    return True


def _below(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        if isinstance(node, (Loop, Synchronisation)):
            yield from _below(node.body)
        elif isinstance(node, Branch):
            for side in node.sides:
                yield from _below(side)
