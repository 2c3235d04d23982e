"""Gives names to values in memory that are constant during a region.

`grid[0]` in `for (i = 0; i < grid[0]; i++)`, `domain.numElem()` and `s->m[1]` are sizes like `n`,
which users can set by these names. A member of an array element, such as `t[k].n`, has the same
name for all elements: `t[i].n`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from regionpredict.ir import Array, Branch, Definition, Expr, Loop, Node, Region, Statement
from regionpredict.ir.expr import Atom, entry_name

Change = Callable[[Expr], Expr]


def with_invariant_names(
    region: Region, definitions: tuple[Definition, ...]
) -> tuple[Region, tuple[Definition, ...]]:
    """Returns the region and its definitions with names for all memory values that no loop of the
    region changes.
    """
    variables = {loop.variable for loop in region.loops()}
    elements: dict[str, str] = {}  # the common name `t[i].n` for each member such as `t[k].n`

    def named(atom: Atom) -> Expr | None:
        if not is_memory_value(atom) or atom.names & variables:
            return None
        if "[]" in atom.label and any(argument.constant is None for argument in atom.args):
            elements[str(atom)] = entry_name(atom)
        return Expr.name(str(atom))

    def change(expression: Expr) -> Expr:
        return expression.replace_atoms(named)

    values = tuple(definition.changed(change) for definition in definitions)
    region = _region_with_change(region, change)
    defined = {definition.name for definition in definitions}
    same = tuple(
        Definition(name, Expr.name(any_of_them), region.span)
        for name, any_of_them in sorted(elements.items())
        if name not in defined and any_of_them != name
    )
    return region, (*values, *same)


def with_values(region: Region, values: Mapping[str, Expr]) -> Region:
    """Returns the region with names replaced by expressions."""
    if not values:
        return region
    return _region_with_change(region, lambda expression: expression.substitute(values))


def names_in(region: Region) -> set[str]:
    """Returns all names in the expressions of a region."""
    names: set[str] = set()

    def note(expression: Expr) -> Expr:
        names.update(expression.names)
        return expression

    _region_with_change(region, note)
    return names


def with_values_in_loop(loop: Loop, values: Mapping[str, Expr]) -> Loop:
    """Returns the loop with names replaced by values, in its header and its body."""
    return _changed_loop(loop, lambda expression: expression.substitute(values))


def _region_with_change(region: Region, change: Change) -> Region:
    nest = None if region.nest is None else _changed_loop(region.nest, change)
    arrays = tuple(_changed_array(array, change) for array in region.arrays)
    outer = tuple(_changed_loop(loop, change) for loop in region.enclosing)
    return replace(region, nest=nest, arrays=arrays, enclosing=outer)


def is_memory_value(atom: Atom) -> bool:
    """Returns whether a term is a value read from memory or returned by a named function."""
    return atom.kind in ("ref", "call") and (atom.label[-1:].isalnum() or atom.label[-1:] == "_")


def _changed_array(array: Array, change: Change) -> Array:
    return replace(array, dims=tuple(_changed_or_none(extent, change) for extent in array.dims))


def _changed_or_none(expression: Expr | None, change: Change) -> Expr | None:
    return None if expression is None else change(expression)


def _changed_loop(loop: Loop, change: Change) -> Loop:
    return replace(
        loop, start=_changed_or_none(loop.start, change),
        bound=_changed_or_none(loop.bound, change), step=_changed_or_none(loop.step, change),
        body=_changed_nodes(loop.body, change),
    )  # fmt: skip


def _changed_nodes(nodes: tuple[Node, ...], change: Change) -> tuple[Node, ...]:
    return tuple(_changed_node(node, change) for node in nodes)


def _changed_node(node: Node, change: Change) -> Node:
    if isinstance(node, Loop):
        return _changed_loop(node, change)
    if isinstance(node, Statement):
        accesses = tuple(
            access._replace(subscripts=tuple(map(change, access.subscripts)))
            for access in node.accesses
        )
        return node._replace(accesses=accesses)
    if isinstance(node, Branch):
        sides = tuple(_changed_nodes(side, change) for side in node.sides)
        return replace(node, sides=sides, test=_changed_or_none(node.test, change))
    return replace(node, body=_changed_nodes(node.body, change))
