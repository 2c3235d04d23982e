"""Finds dependences that certainly exist between iterations of a loop.

Two references to an array access the same element in different iterations under one condition.
Their subscripts differ by the same whole number of iterations in every dimension. This number is
the distance vector of Banerjee 1988, "Dependence Analysis for Supercomputing". See also Wolfe 1996,
sec. 7. All other cases are unknown. Examples are conditional references (in a branch, after a
`continue` or an early `return`, in `?:`), and references inside `critical`, `atomic` or `ordered`.
Other examples are subscripts that are not affine, and inner loops whose bounds change with the
iteration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import NamedTuple

from regionpredict.ir import Access, Branch, Expr, Loop, Node, Region, Statement, Synchronisation

CONDITIONAL_OPERATORS = ("?", "&&", "||")
"""Operators in the text of a statement whose operands are not always evaluated."""


class Reference(NamedTuple):
    """A reference that certainly executes in every iteration of its enclosing loops.

    `place` identifies the body of these loops within the region.
    """

    access: Access
    loops: tuple[Loop, ...]
    statement: Statement
    place: tuple[int, ...]


class Dependence(NamedTuple):
    """Two references that access the same element at this `distance` in iterations. A distance of 0
    means that every iteration accesses the element.
    """

    write: Access
    other: Access
    distance: int


def unconditional_references(region: Region) -> list[Reference]:
    """Returns the references that execute in every iteration, outside all synchronization."""
    if region.nest is None or region.nest.exits:
        return []
    return list(_unconditional_statements((region.nest,), (), ()))


def _unconditional_statements(
    nodes: Sequence[Node], loops: tuple[Loop, ...], place: tuple[int, ...]
) -> Iterator[Reference]:
    for position, node in enumerate(nodes):
        if isinstance(node, Statement):
            if not any(sign in node.text for sign in CONDITIONAL_OPERATORS):
                yield from (Reference(access, loops, node, place) for access in node.accesses)
        elif isinstance(node, Loop) and node.kind == "for" and not node.exits:
            yield from _unconditional_statements(node.body, (*loops, node), (*place, position))


def parallel_loops(region: Region) -> tuple[Loop, ...]:
    """Returns the loops whose iterations are shared among the threads, outermost first."""
    loops: list[Loop] = []
    inner = region.nest
    while inner is not None and len(loops) < region.collapse:
        loops.append(inner)
        inner = next((node for node in inner.body if isinstance(node, Loop)), None)
    return tuple(loops)


def carried_dependence(region: Region, trips: int | None) -> Dependence | None:
    """Returns a dependence that certainly exists between iterations of the worksharing loop, or
    None.

    `trips` is the number of iterations, if it is known. A distance of at least `trips` causes no
    dependence.
    """
    if region.clause("ordered") is not None or region.nest is None:
        return None
    shared = parallel_loops(region)
    references = [
        reference
        for reference in unconditional_references(region)
        if root_of(reference.access.array) in region.shared
    ]
    changed = {name for statement, _ in region.statements() for name in statement.writes}
    pairs = _DistanceSolver(shared, changed, region.shared)
    by_kind: dict[str, dict[_SubscriptKind, list[tuple[int, Reference]]]] = {}
    for position, reference in enumerate(references):
        kinds = by_kind.setdefault(reference.access.array, {})
        kinds.setdefault(_subscript_kind(reference), []).append((position, reference))
    # Many statements have the same subscripts, so each pair of kinds is solved once.
    dependent: dict[tuple[str, _SubscriptKind], list[tuple[int, Reference, int]]] = {}
    for first in references:
        array = first.access.array
        if first.access.kind != "write" or array in changed:
            continue
        key = (array, _subscript_kind(first))
        if key not in dependent:
            dependent[key] = [
                (position, second, distance)
                for others in by_kind[array].values()
                if (distance := pairs.distance(first, others[0][1])) is not None
                and (trips is None or max(1, abs(distance)) < trips)
                for position, second in others
            ]
            dependent[key].sort(key=itemgetter(0))
        for _, second, distance in dependent[key]:
            if distance == 0 and (
                second.access.kind == "write" or first.statement is not second.statement
            ):
                continue  # all write the same value, for example a flag
            return Dependence(first.access, second.access, distance)
    return None


_SubscriptKind = tuple[object, ...]


def _subscript_kind(reference: Reference) -> _SubscriptKind:
    access = reference.access
    return access.subscripts, access.member, access.bytes, reference.place


def root_of(array: str) -> str:
    """Returns the variable through which memory is accessed: `s` for `s->a`."""
    return array.lstrip("&").partition("->")[0].partition(".")[0].partition("[")[0]


class _DistanceSolver:
    """Computes the distances of pairs of references. Each pair of subscripts is solved once."""

    def __init__(self, shared: Sequence[Loop], changed: set[str], known: frozenset[str]) -> None:
        """`shared` are the worksharing loops. `changed` are the variables that the region changes,
        and `known` are its shared variables.
        """
        self._shared = shared
        self._changed = changed
        self._known = known
        self._dimensions: dict[tuple[object, ...], dict[str, int] | None] = {}
        self._steady_loops: dict[int, bool] = {}

    def distance(self, first: Reference, second: Reference) -> int | None:
        """Returns the number of iterations of the outermost worksharing loop between the `first`
        and the `second` access of an element.

        0 means that all iterations access the element. None if the accesses may be disjoint, or if
        they are in the same iteration.
        """
        access, other = first.access, second.access
        if (access.member, access.bytes) != (other.member, other.bytes) or access.member:
            return None
        if len(access.subscripts) != len(other.subscripts):
            return None
        shifts: dict[str, int] = {}
        for mine, theirs in zip(access.subscripts, other.subscripts, strict=True):
            key = (mine, theirs, first.place, second.place)
            if key not in self._dimensions:
                self._dimensions[key] = self._solve_dimension(mine, theirs, first, second)
            own = self._dimensions[key]
            if own is None or any(shifts.get(name, shift) != shift for name, shift in own.items()):
                return None
            shifts.update(own)
        moving = {loop.variable: loop for loop in first.loops}
        inner = [moving[name] for name in shifts if moving[name] not in self._shared]
        if any(shifts[loop.variable] for loop in inner):
            # The dependence is on another inner iteration, which may not exist.
            return None
        if any(not self._has_fixed_range(loop) for loop in inner):
            return None
        steps: list[int] = []
        for loop in self._shared:
            step = loop.step.constant if loop.step is not None else None
            if not isinstance(step, int) or not step:
                return None
            shift = shifts.get(loop.variable, 0)
            if shift % step:
                return None
            steps.append(shift // step)
        if any(steps):
            return steps[0] if steps[0] and not any(steps[1:]) else None
        free = [loop for loop in self._shared if loop.variable not in shifts]
        return 0 if len(free) == len(self._shared) else None

    def _solve_dimension(
        self, first_subscript: Expr, second_subscript: Expr, first: Reference, second: Reference
    ) -> dict[str, int] | None:
        """Returns for each variable the difference that makes the subscripts of one dimension
        equal. None if unknown.
        """
        moving = {loop.variable: loop for loop in first.loops}
        around = {loop.variable: loop for loop in second.loops}
        names = (first_subscript.names | second_subscript.names) - {*moving, *around}
        if (
            any(first_subscript.atoms())
            or any(second_subscript.atoms())
            or not self._are_unchanged(names)
        ):
            return None
        used = [name for name in moving if name in first_subscript.names]
        if {name for name in around if name in second_subscript.names} != set(used):
            return None
        if any(moving[name] is not around.get(name) for name in used):
            return None
        return _differences_of(first_subscript, second_subscript, used)

    def _has_fixed_range(self, loop: Loop) -> bool:
        """Whether a loop has the same range in every iteration of the worksharing loop."""
        steady = self._steady_loops.get(id(loop))
        if steady is None:
            parts = [part for part in (loop.start, loop.bound, loop.step) if part is not None]
            steady = self._steady_loops[id(loop)] = len(parts) == 3 and all(
                not any(part.atoms()) and self._are_unchanged(part.names) for part in parts
            )
        return steady

    def _are_unchanged(self, names: Collection[str]) -> bool:
        """Whether all names are shared variables that the region does not change."""
        return not self._changed.intersection(names) and all(
            root_of(name) in self._known for name in names
        )


def _differences_of(
    first_subscript: Expr, second_subscript: Expr, used: Sequence[str]
) -> dict[str, int] | None:
    """Returns for each variable the difference that makes the subscripts of one dimension equal.

    None if unknown. The differences solve `mine(v) = theirs(v + shift)`.
    """
    rest = first_subscript - second_subscript
    factors: dict[str, Expr] = {}
    for name in used:
        factor, same = first_subscript.coefficient(name), second_subscript.coefficient(name)
        if factor is None or factor != same or not factor.terms:
            return None
        if not factor.names.isdisjoint(used):
            return None
        factors[name] = factor
    # If each factor has a different monomial (`n` and 1 in i*n + j), the differences are unique.
    monomials = [tuple(factor.terms) for factor in factors.values()]
    if any(len(monomial) != 1 for monomial in monomials) or len(set(monomials)) != len(monomials):
        return None
    shifts: dict[str, int] = {}
    for name, factor in factors.items():
        ((monomial, size),) = factor.terms.items()
        coefficient = rest.terms.get(monomial, 0)
        shift = Fraction(coefficient) / Fraction(size) if coefficient else 0
        if shift.denominator != 1:
            return None
        shifts[name] = int(shift)
        if shift:
            rest = rest - factor * int(shift)
    return None if rest.terms else shifts


def is_independent_loop(region: Region, loop: Loop) -> bool:
    """Whether an inner loop is certainly parallel within one iteration of its outer loops. No two
    of its iterations may access an element that one of them writes.
    """
    if loop.exits or any(isinstance(node, Synchronisation) for node in _nested_nodes(loop.body)):
        return False
    statements = [node for node in _nested_nodes(loop.body) if isinstance(node, Statement)]
    if any(call.memory for node in statements for call in node.calls):
        return False
    if not _scalars_are_set_before_use(statements):
        return False
    inner = {node.variable for node in _nested_nodes(loop.body) if isinstance(node, Loop)}
    private = {array.name for array in region.arrays if array.storage == "private"}
    touched = {(a.array, a.kind) for node in statements for a in node.accesses}
    if any(array in private for array, _ in touched):
        return False  # a private array may carry a value to the next iteration
    for array in sorted(array for array, kind in touched if kind == "write"):
        subscripts = {
            a.subscripts for node in statements for a in node.accesses if a.array == array
        }
        if len(subscripts) != 1 or not any(
            _is_injective(subscript, loop.variable, inner) for subscript in next(iter(subscripts))
        ):
            return False
    return True


def _is_injective(subscript: Expr, variable: str, inner: set[str]) -> bool:
    """Whether different values of the variable certainly give different subscripts."""
    factor = subscript.coefficient(variable)
    if factor is None or factor == 0 or any(subscript.atoms()):
        return False
    return not subscript.names & inner


def _scalars_are_set_before_use(statements: Sequence[Statement]) -> bool:
    known: set[str] = set()
    written = {name for statement in statements for name in statement.writes}
    for statement in statements:
        if (statement.reads & written) - known:
            return False
        known |= statement.writes
    return True


def _nested_nodes(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        if isinstance(node, (Loop, Synchronisation)):
            yield from _nested_nodes(node.body)
        elif isinstance(node, Branch):
            for side in node.sides:
                yield from _nested_nodes(side)
