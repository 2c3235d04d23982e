"""Finds branches that run only for a new extreme value or a full buffer, and are therefore rare.

Examples are `if (a[i] > most) most = a[i];` and `if (n >= room) room = grown(n);`. Such a condition
holds only when a value exceeds all previous ones. A buffer is full after many steps of its counter,
as in `if (used == size) used = 0; buffer[used++] = i;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from regionpredict.ir import Branch, Expr, Loop, Node, Region, Statement, statements_in
from regionpredict.ir.expr import Atom

_INCREMENT = re.compile(r"\+\+|\+=")
_COMPARISONS = frozenset(("lt", "le", "eq"))


def with_extremes(region: Region) -> Region:
    """Marks the branches of a region that run only for a new extreme value. Returns the same region
    if it has none.
    """
    if region.nest is None:
        return region
    nest = _marked_loop(region.nest)
    return region if nest is region.nest else replace(region, nest=nest)


def _marked_loop(loop: Loop) -> Loop:
    body = _marked_nodes(loop.body, loop)
    return loop if body is loop.body else replace(loop, body=body)


def _marked_nodes(nodes: tuple[Node, ...], loop: Loop, *, marked: bool = False) -> tuple[Node, ...]:
    """Marks the rare branches among nodes of a loop's body. `marked` says that the nodes are inside
    a marked branch, whose condition may be tested again.
    """
    new = tuple(_marked_node(node, loop, marked=marked) for node in nodes)
    return nodes if all(a is b for a, b in zip(new, nodes, strict=True)) else new


def _marked_node(node: Node, loop: Loop, *, marked: bool) -> Node:
    if isinstance(node, Statement):
        return node
    if isinstance(node, Loop):
        return _marked_loop(node)
    if isinstance(node, Branch):
        extreme = not marked and _is_extreme(node, loop)
        size = None if marked or extreme else _size_of_full_buffer(node, loop)
        rare = extreme or size is not None
        sides = tuple(_marked_nodes(side, loop, marked=marked or rare) for side in node.sides)
        if size is not None and (number := size.constant) is not None and number >= 1:
            return replace(node, sides=sides, share=Fraction(1) / number)
        same = not rare and all(a is b for a, b in zip(sides, node.sides, strict=True))
        return node if same else replace(node, sides=sides, extreme=rare)
    body = _marked_nodes(node.body, loop, marked=marked)
    return node if body is node.body else replace(node, body=body)


def _is_extreme(branch: Branch, loop: Loop) -> bool:
    if branch.test is None or branch.share is not None or not branch.sides:
        return False
    return any(_records_extreme(branch, loop, *pair) for pair in _compared_pairs(branch.test))


def _size_of_full_buffer(branch: Branch, loop: Loop) -> Expr | None:
    """Returns the number of steps after which the condition holds, if the branch resets a counter.
    None if the condition has another meaning.
    """
    if branch.test is None or branch.share is not None or not branch.sides:
        return None
    pairs = _compared_pairs(branch.test)
    return next((size for size, kept in pairs if _empties_buffer(branch, loop, size, kept)), None)


def _compared_pairs(test: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yields pairs of values that the condition compares for order or equality, in both orders."""
    atom = _single_value(test)
    if not isinstance(atom, Atom):
        return
    if atom.kind == "and":
        for part in atom.args:
            yield from _compared_pairs(part)
    elif atom.kind in _COMPARISONS:
        low, high = atom.args
        yield from ((low, high), (high, low))


def _single_value(value: Expr) -> str | Atom | None:
    """Returns the variable or atom, if the expression is only one or its conversion to an integer
    type. None otherwise.
    """
    (monomial, number), *others = value.terms.items() or [((), 0)]
    if others or number != 1 or len(monomial) != 1 or monomial[0][1] != 1:
        return None
    factor = monomial[0][0]
    if isinstance(factor, Atom) and factor.kind == "wrap":
        return _single_value(factor.args[0])
    return factor.label if isinstance(factor, Atom) and factor.kind == "varying" else factor


def _records_extreme(branch: Branch, loop: Loop, extreme: Expr, passing: Expr) -> bool:
    """Whether only this branch sets `extreme`, to a value equal to or beyond `passing`."""
    place = _single_value(extreme)
    if place is None:
        return False
    taken = list(statements_in(branch.sides[0]))
    sets = [statement for statement in taken if _accesses_location(statement, place, "write")]
    if not sets:
        return False
    own = {id(statement) for statement in taken}
    others = [other for other in statements_in(loop.body) if id(other) not in own]
    if any(_accesses_location(statement, place, "write") for statement in others):
        return False
    if any(_is_changed(passing, statements_in(side)) for side in branch.sides[1:]):
        return False  # the branches alternate, as in a merge
    independent = not any(_accesses_location(statement, place, "read") for statement in sets)
    return independent or loop.variable in passing.names or _is_changed(passing, others)


def _empties_buffer(branch: Branch, loop: Loop, limit: Expr, kept: Expr) -> bool:
    """Whether this branch resets a counter that the rest of the loop only increases. `kept` is the
    counter, or the counter after a step.
    """
    place = _single_value(kept - Expr.const(kept.terms.get((), 0)))
    if place is None:
        return False
    taken = list(statements_in(branch.sides[0]))
    own = {id(statement) for statement in taken}
    resets = [statement for statement in taken if _accesses_location(statement, place, "write")]
    steps = [other for other in statements_in(loop.body)
             if id(other) not in own and _accesses_location(other, place, "write")]  # fmt: skip
    return (
        bool(resets and steps)
        and not any(_accesses_location(statement, place, "read") for statement in resets)
        and all(_INCREMENT.search(step.text) for step in steps)
        and not _is_changed(limit, statements_in(loop.body))
    )


def _is_changed(value: Expr, statements: Iterable[Statement]) -> bool:
    names = value.names.union(atom.label for atom in value.atoms() if atom.kind == "varying")
    return any(not names.isdisjoint(statement.writes) for statement in statements)


def _accesses_location(statement: Statement, place: str | Atom, kind: str) -> bool:
    """Whether a statement reads or writes a variable or an array element."""
    if isinstance(place, str):
        return place in (statement.reads if kind == "read" else statement.writes)
    if place.kind != "ref":
        return False
    return any(
        access.kind == kind
        and place.label == (f"{access.array}[].{access.member}" if access.member else access.array)
        and place.args == access.subscripts
        for access in statement.accesses
    )
