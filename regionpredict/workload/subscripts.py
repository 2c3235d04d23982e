"""Simplified subscripts of a region's references. They do not depend on sizes.

A region is lowered at dozens of sizes, so each subscript is simplified only once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from regionpredict.analysis.dimensions import without_clamps
from regionpredict.analysis.given_sizes import order_name
from regionpredict.analysis.near_affine import near_affine
from regionpredict.analysis.periodic_subscripts import unwrapped
from regionpredict.ir import Access, Array, Expr, Loop, Region
from regionpredict.ir.expr import Atom
from regionpredict.ir.folding import Number
from regionpredict.ir.once_a_region import once_a_region
from regionpredict.workload.constants import NEAR

T = TypeVar("T")

_Key = tuple[str, int, tuple[int, ...]]
"""A property, a reference, and its enclosing loops, by identity."""


class NestedArray(NamedTuple):
    """An array with its own subscripts of a reference, as a range. It is the array itself, or an
    array whose elements contain it.
    """

    array: Array
    first: int
    end: int


class InOrder(NamedTuple):
    """Subscripts in which tables are replaced by their index, and the names in these indices."""

    subscripts: tuple[Expr, ...]
    picked: frozenset[str]


class Subscripts:
    """The subscripts of one region. `loops` are the loops around a reference, outermost first."""

    def __init__(self, region: Region, orders: Mapping[str, Number] | None = None) -> None:
        """`orders` are the distances of elements that the user gave. The key is `order_name`."""
        self.variables = frozenset(loop.variable for loop in region.loops())
        self._arrays = {array.name: array for array in region.arrays}
        self._lists = dict(region.index_lists)
        self._orders = orders or {}
        self._known: dict[_Key, object] = {}

    def plain(self, access: Access, loops: Sequence[Loop]) -> tuple[Expr, ...]:
        """The subscripts without clamps and wrap-around. A value read from an index list is assumed
        to follow the loop.

        Rows with several entries have most elements in common with neighboring rows, so they move
        by one element per row. A given value (`order_name`) takes precedence.
        """

        def simplified() -> tuple[Expr, ...]:
            return tuple(
                [self._listed(unwrapped(without_clamps(own), loops)) for own in access.subscripts]
            )

        return self._once("plain", access, loops, simplified)

    def nearly(self, access: Access, loops: Sequence[Loop]) -> tuple[Expr, ...]:
        """The `plain` subscripts without divisions, remainders and type conversions."""

        def simplified() -> tuple[Expr, ...]:
            near = int(NEAR.value)
            return tuple([
                unwrapped(without_clamps(near_affine(own, self.variables, near)), loops)
                for own in self.plain(access, loops)
            ])  # fmt: skip

        return self._once("nearly", access, loops, simplified)

    def in_order(self, access: Access, loops: Sequence[Loop]) -> InOrder:
        """The `plain` subscripts in which tables that are constant in the innermost loop are
        replaced by their index.
        """

        def simplified() -> InOrder:
            picked: set[str] = set()
            inner = loops[-1].variable
            own = [in_order(own, inner, picked) for own in self.plain(access, loops)]
            return InOrder(tuple(own), frozenset(picked & self.variables))

        return self._once("in order", access, loops, simplified)

    def address(self, access: Access) -> Expr | None:
        """The byte address. None if a length of the array is unknown."""

        def symbolic() -> Expr | None:
            address = Expr.const(access.offset)
            for array, first, end in self.nested(access):
                stride = Expr.const(array.element_bytes)
                for position in range(end - 1, first - 1, -1):
                    address = address + access.subscripts[position] * stride
                    extent = array.dims[position] if position < len(array.dims) else None
                    if position > first and extent is None:
                        return None
                    stride = stride * extent if extent is not None else stride
            return address

        return self._once("address", access, (), symbolic)

    def element(self, access: Access) -> tuple[tuple[Expr, ...], float]:
        """The data-dependent element, and the offset of a reference from its start in bytes.
        Members of one struct (`q[k[i]].x`) and neighbors (`q[3 * k[i] + 1]`) have the same element.
        """

        def divided() -> tuple[tuple[Expr, ...], float]:
            place: tuple[Expr, ...] = ()
            offset = float(access.offset)
            for array, first, end in self.nested(access):
                if first == end:  # the first element of an array in a struct
                    continue
                *rows, last = access.subscripts[first:end]
                near = last.terms.get((), 0)
                offset += float(near) * array.element_bytes
                moving = last - Expr.const(near)
                if not first or rows or moving.terms:
                    place = (*rows, moving, *place)
            return place, offset

        return self._once("element", access, (), divided)

    def nested(self, access: Access) -> tuple[NestedArray, ...]:
        """The array and the arrays that contain it."""

        def around() -> tuple[NestedArray, ...]:
            nested: list[NestedArray] = []
            array, end = self._arrays[access.array], len(access.subscripts)
            while (outer := self._arrays.get(array.inside)) is not None:
                first = min(len(outer.dims), end)
                nested.append(NestedArray(array, first, end))
                array, end = outer, first
            return (*nested, NestedArray(array, 0, end))

        return self._once("nested", access, (), around)

    def _once(
        self, question: str, access: Access, loops: Sequence[Loop], answer: Callable[[], T]
    ) -> T:
        asked = (question, id(access), tuple(map(id, loops)))
        if asked not in self._known:
            self._known[asked] = answer()
        known: T = self._known[asked]  # type: ignore[assignment]
        return known

    def _listed(self, subscript: Expr) -> Expr:
        return subscript.replace_atoms(self._followed) if "ref" in subscript.kinds else subscript

    def _followed(self, table: Atom) -> Expr | None:
        if table.kind != "ref" or not table.args:
            return None
        apart = self._orders.get(order_name(table.label))
        if apart is not None and len(table.args) == 1:
            return table.args[0] * Expr.const(apart)
        entries = self._lists.get(table.label)
        if entries is None or entries == 1 or len(table.args) > 1:
            return None if entries is None else table.args[0]
        moving = Expr.const(0)
        for monomial, number in table.args[0].terms.items():
            names = {factor for factor, _ in monomial if isinstance(factor, str)}
            if names & self.variables and number % entries == 0:
                moving = moving + Expr({monomial: number // entries})
        return moving


def subscripts_of(region: Region, values: Mapping[str, Number]) -> Subscripts:
    """The subscripts of a region for these values of its names."""
    orders = {name: value for name, value in values.items() if name.endswith(_ORDER)}
    return Subscripts(region, orders) if orders else _without_orders(region)


_ORDER = order_name("")


@once_a_region
def _without_orders(region: Region) -> Subscripts:
    return Subscripts(region)


def in_order(subscript: Expr, inner: str, picked: set[str]) -> Expr:
    """The subscript in which tables that are constant in the loop over `inner` are replaced by
    their index.

    `picked` receives the names in these indices.

    >>> i, j = Expr.name("i"), Expr.name("j")
    >>> names = set()
    >>> row = Expr.atom("ref", i + 1, label="row")
    >>> str(in_order(row * 100 + j, "j", names)), names
    ('100*i + j + 100', {'i'})
    """

    def index_of(table: Atom) -> Expr | None:
        if table.kind != "ref" or len(table.args) != 1 or inner in table.names:
            return None
        picked.update(table.args[0].names)
        return table.args[0]

    return subscript.replace_atoms(index_of)
