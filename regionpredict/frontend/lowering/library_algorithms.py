"""Replaces calls of standard library algorithms, such as `std::sort`, by equivalent loops.

    std::fill(a, a + n, v)

    for (k = 0; k < n; k++)
        a[k] = v;

    qsort(a, n, sizeof *a, order)

    for (w = 1; w < n; w *= 2)
        for (k = 0; k < n; k++) {
            order(a + k, a + k);
            a[k] = a[k];
        }

Sorting needs n log2(n) comparisons and moves (Knuth, The Art of Computer Programming, vol. 3, sec.
5.2.4). Sorting is modeled as merge sort: every pass traverses the array in order and merges runs of
w elements. A linear search is assumed to visit the whole range. A search in a sorted array or a
balanced tree needs log2(n) comparisons with elements at irregular positions (sec. 6.2.1). A search
in a hash table needs about one comparison (sec. 6.4).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    LONG,
    Assign,
    Binary,
    CallExpr,
    Cast,
    Compound,
    CType,
    Decl,
    Expression,
    ExprStmt,
    For,
    If,
    IntLit,
    Name,
    Stmt,
    Unary,
    named_function,
    show,
    without_casts,
)
from regionpredict.frontend.syntax.integer_types import type_of


class _RangeEffect(NamedTuple):
    """The effect of an algorithm on each element of a range.

    `reads` and `writes` are the positions of the arguments that point to the elements read and
    written. The elements of two `writes` arguments are exchanged. `op` combines the elements read:
    `+` for a sum, or `<` for a comparison.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...] = ()
    op: str = ""


_FILLS, _COPIES = _RangeEffect((), (0,)), _RangeEffect((0,), (2,))
_REDUCTIONS, _INSPECTIONS, _UPDATES = (
    _RangeEffect((0,), (), "+"),
    _RangeEffect((0,), (), "<"),
    _RangeEffect((0,), (0,)),
)
# ISO C++ 17, sec. 28 and 29. The range is from argument 0 to argument 1.
_RANGES = {
    **dict.fromkeys(("fill", "iota", "generate", "uninitialized_fill"), _FILLS),
    **dict.fromkeys(("copy", "move", "copy_backward", "copy_if", "remove_copy", "reverse_copy",
                     "replace_copy", "unique_copy", "uninitialized_copy", "transform"), _COPIES),
    **dict.fromkeys(("partial_sum", "inclusive_scan", "exclusive_scan", "adjacent_difference"),
                    _COPIES._replace(op="+")),
    **dict.fromkeys(("accumulate", "reduce"), _REDUCTIONS),
    **dict.fromkeys(("inner_product", "transform_reduce"), _RangeEffect((0, 2), (), "+")),
    **dict.fromkeys(("max_element", "min_element", "minmax_element", "count", "count_if", "find",
                     "find_if", "find_if_not", "any_of", "all_of", "none_of", "is_sorted",
                     "adjacent_find", "for_each"), _INSPECTIONS),
    **dict.fromkeys(("equal", "mismatch", "lexicographical_compare"),
                    _RangeEffect((0, 2), (), "<")),
    **dict.fromkeys(("reverse", "replace", "replace_if", "unique", "remove", "remove_if",
                     "partition", "stable_partition", "nth_element"), _UPDATES),
    "swap_ranges": _RangeEffect((0, 2), (0, 2)),
}  # fmt: skip
# The range starts at argument 0, and argument 1 is its number of elements.
_COUNTED = {"fill_n": _FILLS, "generate_n": _FILLS, "copy_n": _COPIES, "for_each_n": _INSPECTIONS}
_SORTS = frozenset(("sort", "stable_sort", "partial_sort", "make_heap", "sort_heap"))
_SORTS_OF_C = frozenset(("qsort", "mergesort", "heapsort"))
_SEARCHES = frozenset(("lower_bound", "upper_bound", "equal_range", "binary_search", "map::find"))
_LOOKUPS = frozenset(("unordered_map::find",))
ALGORITHMS = frozenset((*_RANGES, *_COUNTED, *_SORTS, *_SEARCHES, *_LOOKUPS))
"""Algorithms of the C++ library, such as `std::fill`. The readers convert a search in a map or a
set to a call with the range of its elements as arguments.
"""


def is_algorithm(name: str) -> bool:
    """Returns whether `name` is a library algorithm on ranges, such as `std::sort` or `qsort`."""
    base = name.removeprefix("std::")
    return base in _SORTS_OF_C or (base in ALGORITHMS and base != name)


def algorithm_loops(call: CallExpr, context: Context, frame: Frame) -> Stmt | None:
    """Returns loops that are equivalent to a call of an algorithm. Returns None for other functions
    and for unknown arrays.
    """
    name = call.name.removeprefix("std::")
    if not is_algorithm(call.name):
        return None
    if name in _SORTS_OF_C:
        return _sort_of_c(call, context, frame)
    if len(call.args) < 2:
        return None
    first, last = call.args[:2]
    length = last if name in _COUNTED else Binary("-", last, first)
    loops = _LoopBuilder(call, context, frame)
    if name in _SORTS:
        order = call.args[-1] if len(call.args) > 2 and name != "partial_sort" else None
        place = context.address_in(_without_pointer_cast(first), frame)
        return loops.sort(first, length, order) if place is not None else None
    if name in _SEARCHES:
        return loops.search(first, length)
    if name in _LOOKUPS:
        return loops.compare_once(first)
    return loops.traversal_loop(length, _COUNTED.get(name) or _RANGES[name])


def _sort_of_c(call: CallExpr, context: Context, frame: Frame) -> Stmt | None:
    """Returns the loops of a `qsort` call. Returns None unless the element size equals that of the
    array's type.
    """
    if len(call.args) != 4:
        return None
    base, length, size, order = call.args
    place = context.address_in(_without_pointer_cast(base), frame)
    step = context.value(size, frame).constant
    if place is None or step is None or step <= 0 or place.pointee.bytes != step:
        return None
    return _LoopBuilder(call, context, frame).sort(base, length, order)


class _LoopBuilder:
    """Builds the loops that replace one call."""

    def __init__(self, call: CallExpr, context: Context, frame: Frame) -> None:
        self._call, self._context, self._frame = call, context, frame
        self._at = call.span
        base = call.name.removeprefix("std::")
        self._element = Decl(f"{base}@{self._at.line}", "local", LONG, self._at)

    def _saved_length(self, length: Expression) -> Expression:
        """Returns a new variable with the current value of `length`, which the loops may change."""
        held = Decl(f"length of {self._element.name}", "local", LONG, self._at)
        self._frame.env[held] = self._context.value(length, self._frame)
        return Name(held, self._at)

    def traversal_loop(self, length: Expression, effect: _RangeEffect) -> Stmt | None:
        """Returns a loop that applies `effect` to each element. Returns None if an array is
        unknown.
        """
        positions = sorted({*effect.reads, *effect.writes})
        if len(self._call.args) <= positions[-1]:
            return None
        elements = {}
        for position in positions:
            element = self._element_at(self._call.args[position])
            if element is None:
                return None
            elements[position] = element
        read = [elements[position] for position in effect.reads]
        value: Expression = read[0] if read else self._call.args[-1]
        for other in read[1:]:
            value = Binary("*" if effect.op == "+" else "<", value, other)
        body: list[Stmt] = []
        if effect.op == "+":
            total = Decl(f"total of {self._element.name}", "local", type_of(read[0]), self._at)
            body.append(
                self._expression_statement(Assign("+=", Name(total, self._at), value, self._at))
            )
            value = Name(total, self._at)
        elif not effect.writes:
            body.append(
                self._expression_statement(value if len(read) > 1 else Binary("<", value, value))
            )
        values = [value] if len(effect.writes) < 2 else read[::-1]
        for at, stored in zip(effect.writes, values, strict=False):
            body.append(self._expression_statement(Assign("=", elements[at], stored, self._at)))
        return self._for_loop(self._element, 0, length, self._increment_statement(self._element),
                             Compound(tuple(body)))  # fmt: skip

    def sort(self, base: Expression, length: Expression, order: Expression | None) -> Stmt | None:
        """Returns the loops of a merge sort, one iteration of the outer loop per pass. Returns None
        if the array is unknown.
        """
        element = self._element_at(base)
        if element is None:
            return None
        address = Unary("&", element, self._at)
        compared: Expression = Binary("<", element, element)
        if order is not None:
            by_address = self._call.name.removeprefix("std::") in _SORTS_OF_C
            operand = address if by_address else element
            compared = _call_of_comparison(order, (operand, operand), self._call)
        length = self._saved_length(length)
        body = Compound(
            (
                self._expression_statement(compared),
                self._expression_statement(Assign("=", element, element, self._at)),
            )
        )
        one_pass = self._for_loop(
            self._element, 0, length, self._increment_statement(self._element), body
        )
        width = Decl(f"passes of {self._element.name}", "local", LONG, self._at)
        elements = self._context.value(length, self._frame).constant
        if elements is not None:  # a loop with doubling steps would be unrolled
            passes = IntLit(max(0, math.ceil(elements) - 1).bit_length())
            return self._for_loop(width, 0, passes, self._increment_statement(width), one_pass)
        doubled = Assign("*=", Name(width, self._at), IntLit(2), self._at)
        return self._for_loop(width, 1, length, doubled, one_pass)

    def search(self, base: Expression, length: Expression) -> Stmt | None:
        """Returns the loop of a binary search. Returns None if the array is unknown."""
        element = self._element_at(base)
        if element is None:
            return None
        step = Decl(f"step of {self._element.name}", "local", LONG, self._at)
        here = Name(self._element, self._at)
        start = self._expression_statement(Assign("=", here, IntLit(0), self._at))
        onwards = self._expression_statement(Assign("+=", here, Name(step, self._at), self._at))
        body = If(Binary("<", element, self._call.args[-1]), onwards, None, self._at)
        doubled = Assign("*=", Name(step, self._at), IntLit(2), self._at)
        return Compound((start, self._for_loop(step, 1, self._saved_length(length), doubled, body)))

    def compare_once(self, base: Expression) -> Stmt | None:
        """Returns one comparison with an element of a hash table. Returns None if it is unknown."""
        element = self._element_at(base)
        if element is None:
            return None
        self._frame.env[self._element] = self._context.varying(self._call.name)
        return self._expression_statement(Binary("==", element, self._call.args[-1]))

    def _element_at(self, base: Expression) -> Unary | None:
        """Returns the array element at the loop variable, where `base` is the array's address.
        Returns None if the array is unknown.
        """
        base = _without_pointer_cast(base)
        place: Pointer | None = self._context.address_in(base, self._frame)
        if place is None or place.array not in self._context.arrays:
            return None
        array = Decl(show(base), "local", CType("pointer", element=place.pointee), self._at)
        self._frame.env[array] = place
        return Unary("*", Binary("+", Name(array, self._at), Name(self._element, self._at)),
                     self._at)  # fmt: skip

    def _for_loop(
        self, variable: Decl, begin: int, end: Expression, advance: Expression, body: Stmt
    ) -> For:
        # An assignment, not an initializer, because an initial value without other assignments
        # counts as constant.
        start = self._expression_statement(
            Assign("=", Name(variable, self._at), IntLit(begin), self._at)
        )
        inside = Binary("<", Name(variable, self._at), end)
        return For(start, inside, advance, body, self._at)

    def _expression_statement(self, expression: Expression) -> ExprStmt:
        return ExprStmt(expression, self._at)

    def _increment_statement(self, variable: Decl) -> Expression:
        return Unary("p++", Name(variable, self._at), self._at)


def _without_pointer_cast(expression: Expression) -> Expression:
    """Returns an expression without its pointer casts."""
    while isinstance(expression, Cast) and expression.ctype.kind == "pointer":
        expression = expression.operand
    return expression


def _call_of_comparison(
    order: Expression, elements: tuple[Expression, ...], call: CallExpr
) -> CallExpr:
    """Returns the call of a comparison function on two elements. The function may be unknown."""
    function = named_function(order)
    if function is not None:
        return CallExpr(function.name, function, elements, call.span)
    order = without_casts(order)
    variable = order if isinstance(order, Name) else None
    name = variable.decl.name if variable is not None else f"the comparison of {call.name}()"
    return CallExpr(name, None, elements, call.span, pointer=variable)
