"""Simplifies the subscripts of a region's references, independently of sizes.

A region is lowered for dozens of sizes, so each simplified subscript is cached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from regionpredict.analysis.dimensions import without_clamps
from regionpredict.analysis.given_sizes import order_name
from regionpredict.analysis.near_affine import near_affine
from regionpredict.analysis.periodic_subscripts import without_wrap_around
from regionpredict.ir import Access, Array, Expr, Loop, Region
from regionpredict.ir.expr import Atom
from regionpredict.ir.folding import Number
from regionpredict.ir.once_a_region import once_a_region
from regionpredict.workload.constants import NEAR

T = TypeVar("T")

_CacheKey = tuple[str, int, tuple[int, ...]]
"""A cache key: the name of a property, the reference's `id`, and the `id` of each enclosing loop.
"""


class NestedArray(NamedTuple):
    """An array of a reference, or an enclosing array of structs, with the range of the reference's
    subscripts that index it.
    """

    array: Array
    first: int
    end: int


class RowsInOrder(NamedTuple):
    """Subscripts in which each index array is replaced by its index, and the names in these
    indices.
    """

    subscripts: tuple[Expr, ...]
    picked: frozenset[str]


class Subscripts:
    """The simplified subscripts of one region. The parameter `loops` of its methods contains the
    loops around a reference, outermost first.
    """

    def __init__(self, region: Region, orders: Mapping[str, Number] | None = None) -> None:
        """`orders` are the distances between consecutive entries of index arrays that the user
        gave, by `order_name`.
        """
        self.variables = frozenset(loop.variable for loop in region.loops())
        self._arrays = {array.name: array for array in region.arrays}
        self._lists = dict(region.index_lists)
        self._orders = orders or {}
        self._known: dict[_CacheKey, object] = {}

    def plain(self, access: Access, loops: Sequence[Loop]) -> tuple[Expr, ...]:
        """Returns the subscripts without clamps and wrap-around. Entries of index arrays are
        assumed to increase with the loop.

        A row of several entries has most elements in common with the next row, so the subscript
        moves by one element per row. A given distance (`order_name`) takes precedence.
        """

        def plain_subscripts() -> tuple[Expr, ...]:
            return tuple(
                [
                    self._without_index_lists(without_wrap_around(without_clamps(own), loops))
                    for own in access.subscripts
                ]
            )

        return self._cached_property("plain", access, loops, plain_subscripts)

    def simplified_subscripts(self, access: Access, loops: Sequence[Loop]) -> tuple[Expr, ...]:
        """Returns the `plain` subscripts without divisions, remainders and type conversions."""

        def affine_subscripts() -> tuple[Expr, ...]:
            near = int(NEAR.value)
            return tuple([
                without_wrap_around(without_clamps(near_affine(own, self.variables, near)), loops)
                for own in self.plain(access, loops)
            ])  # fmt: skip

        return self._cached_property("nearly", access, loops, affine_subscripts)

    def rows_in_order(self, access: Access, loops: Sequence[Loop]) -> RowsInOrder:
        """Returns the `plain` subscripts in which index arrays that are constant in the innermost
        loop are replaced by their index.
        """

        def ordered_rows() -> RowsInOrder:
            picked: set[str] = set()
            inner = loops[-1].variable
            own = [rows_in_order(own, inner, picked) for own in self.plain(access, loops)]
            return RowsInOrder(tuple(own), frozenset(picked & self.variables))

        return self._cached_property("in order", access, loops, ordered_rows)

    def address(self, access: Access) -> Expr | None:
        """Returns the byte address of a reference. None if an array length is unknown."""

        def byte_address() -> Expr | None:
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

        return self._cached_property("address", access, (), byte_address)

    def element(self, access: Access) -> tuple[tuple[Expr, ...], float]:
        """Returns the data-dependent part of a reference's subscripts, and the remaining constant
        offset in bytes.

        Members of one struct (`q[k[i]].x`) and neighbors (`q[3 * k[i] + 1]`) differ only in the
        offset.
        """

        def element_and_offset() -> tuple[tuple[Expr, ...], float]:
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

        return self._cached_property("element", access, (), element_and_offset)

    def nested(self, access: Access) -> tuple[NestedArray, ...]:
        """Returns the array of a reference and the arrays that contain it, innermost first."""

        def nested_arrays() -> tuple[NestedArray, ...]:
            nested: list[NestedArray] = []
            array, end = self._arrays[access.array], len(access.subscripts)
            while (outer := self._arrays.get(array.inside)) is not None:
                first = min(len(outer.dims), end)
                nested.append(NestedArray(array, first, end))
                array, end = outer, first
            return (*nested, NestedArray(array, 0, end))

        return self._cached_property("nested", access, (), nested_arrays)

    def _cached_property(
        self, property_name: str, access: Access, loops: Sequence[Loop], compute: Callable[[], T]
    ) -> T:
        asked = (property_name, id(access), tuple(map(id, loops)))
        if asked not in self._known:
            self._known[asked] = compute()
        known: T = self._known[asked]  # type: ignore[assignment]
        return known

    def _without_index_lists(self, subscript: Expr) -> Expr:
        return (
            subscript.replace_atoms(self._index_of_entry) if "ref" in subscript.kinds else subscript
        )

    def _index_of_entry(self, table: Atom) -> Expr | None:
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
    """Returns the subscripts of a region, with the given distances of index arrays in `values`."""
    orders = {name: value for name, value in values.items() if name.endswith(_ORDER)}
    return Subscripts(region, orders) if orders else _without_orders(region)


_ORDER = order_name("")


@once_a_region
def _without_orders(region: Region) -> Subscripts:
    return Subscripts(region)


def rows_in_order(subscript: Expr, inner: str, picked: set[str]) -> Expr:
    """Returns the subscript in which index arrays that are constant in the loop over `inner` are
    replaced by their index.

    The names in these indices are added to `picked`.

    >>> i, j = Expr.name("i"), Expr.name("j")
    >>> names = set()
    >>> row = Expr.atom("ref", i + 1, label="row")
    >>> str(rows_in_order(row * 100 + j, "j", names)), names
    ('100*i + j + 100', {'i'})
    """

    def index_of(table: Atom) -> Expr | None:
        if table.kind != "ref" or len(table.args) != 1 or inner in table.names:
            return None
        picked.update(table.args[0].names)
        return table.args[0]

    return subscript.replace_atoms(index_of)
