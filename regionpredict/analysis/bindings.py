"""What numbers do the names of a region stand for: `--set`, the source's own definitions, middles.

A name is bound, in this order, by the caller (`--set ni=4000`), by the source (`int ni = 4000;`,
the argument that every call agrees on), or, for the variable of a serial loop around the region,
by the middle of its range, which is then an assumption that the result names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from regionpredict.analysis.given_sizes import sizes_in
from regionpredict.ir import Definition, Expr, Loop, Region
from regionpredict.ir.expr import Number


@dataclass(frozen=True, slots=True)
class Bindings:
    """Numbers for names; `assumed` tells, a line each, which of them are assumptions."""

    values: Mapping[str, Number]
    assumed: tuple[str, ...] = ()

    def number(self, expression: Expr | None) -> Number | None:
        """The exact value, or None where a name in it has none."""
        return None if expression is None else expression.evaluate(self.values)

    def whole(self, expression: Expr | None) -> int | None:
        """The value rounded down to an integer, and None where it is unknown."""
        value = self.number(expression)
        return None if value is None else int(value // 1)


def bind(region: Region, definitions: tuple[Definition, ...], given: Mapping[str, int]) -> Bindings:
    """Every name of the region that can be given a value.

    >>> from regionpredict.ir import Span
    >>> from regionpredict.ir.region import Region
    >>> place = Span("f.c", 1)
    >>> region = Region("f.c:1", place, "f", "parallel for", (), "combined", 1, None, ())
    >>> n, m = Expr.name("n"), Expr.name("m")
    >>> definitions = (Definition("n", m + 1, place), Definition("m", Expr.const(7), place))
    >>> known = bind(region, definitions, {})
    >>> known.values["n"]
    8
    """
    defined = {definition.name: definition.value for definition in definitions}
    values: dict[str, Number] = dict(sizes_in(region, given))
    _resolve(defined, values)
    used = _used_names(region, defined)
    assumed = []
    for loop in region.enclosing:
        if loop.variable in values:
            continue
        middle = _middle(loop, values)
        if middle is not None:
            values[loop.variable] = middle
            if loop.variable in used:
                assumed.append(
                    f"{loop.variable} = {middle} (the middle of the loop around the region)"
                )
            _resolve(defined, values)
    return Bindings(values, tuple(assumed))


def with_middles(region: Region, values: Mapping[str, Number]) -> dict[str, Number]:
    """The values, and for variables of loops around the region without one, their middles."""
    known = dict(values)
    for loop in region.enclosing:
        if loop.variable not in known and (middle := _middle(loop, known)) is not None:
            known[loop.variable] = middle
    return known


def _middle(loop: Loop, values: Mapping[str, Number]) -> int | None:
    if loop.start is None or loop.bound is None:
        return None
    start, bound = loop.start.evaluate(values), loop.bound.evaluate(values)
    return None if start is None or bound is None else int((start + bound) // 2)


def bind_definitions(definitions: tuple[Definition, ...], given: Mapping[str, int]) -> Bindings:
    """The numbers of the names that `definitions` and the caller speak of."""
    values: dict[str, Number] = dict(given)
    _resolve({definition.name: definition.value for definition in definitions}, values)
    return Bindings(values)


def _resolve(defined: Mapping[str, Expr], values: dict[str, Number]) -> None:
    waiting = [name for name in defined if name not in values]
    progress = True
    while waiting and progress:
        progress = False
        for name in list(waiting):
            value = defined[name].evaluate(values)
            if value is not None:
                values[name] = value if isinstance(value, int) else Fraction(value)
                waiting.remove(name)
                progress = True


def _used_names(region: Region, defined: Mapping[str, Expr]) -> set[str]:
    """The names that the region's own counts depend on, through definitions too."""
    used = set(names_inside(region))
    waiting = list(used)
    while waiting:
        value = defined.get(waiting.pop())
        new = value.names - used if value is not None else frozenset()
        used |= new
        waiting.extend(new)
    return used


def names_inside(region: Region) -> frozenset[str]:
    """The names that the region's loops and subscripts depend on."""
    names: set[str] = set()
    for statement, loops in region.statements():
        for loop in loops:
            names |= _bound_names(loop.start, loop.bound, loop.step)
        for access in statement.accesses:
            for subscript in access.subscripts:
                names |= subscript.names
    for array in region.arrays:
        for extent in array.dims:
            names |= extent.names if extent is not None else frozenset()
    return frozenset(names)


def free_names(region: Region) -> frozenset[str]:
    """The names that the region's loops and subscripts depend on, loop variables left out."""
    own = {loop.variable for loop in region.enclosing}
    own |= {loop.variable for _, loops in region.statements() for loop in loops}
    outer = [_bound_names(loop.start, loop.bound, loop.step) for loop in region.enclosing]
    return names_inside(region).union(*outer) - own


def _bound_names(*bounds: Expr | None) -> frozenset[str]:
    return frozenset().union(*(bound.names for bound in bounds if bound is not None))
