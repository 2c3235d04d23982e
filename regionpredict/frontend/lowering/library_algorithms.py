"""Replaces calls of algorithms of the standard libraries by equivalent loops.

    std::fill(a, a + n, v)

    for (k = 0; k < n; k++)
        a[k] = v;

    qsort(a, n, sizeof *a, order)

    for (w = 1; w < n; w *= 2)
        for (k = 0; k < n; k++) {
            order(a + k, a + k);
            a[k] = a[k];
        }

Knuth, The Art of Computer Programming, vol. 3, sec. 5.2.4: sorting needs n log2(n) comparisons and
moves. Every pass traverses the array in order and merges runs of w elements. Other methods need a
similar number. Searches that may end early are counted to the end of the range. A binary search
needs log2(n) comparisons, and the compared elements depend on the values (sec. 6.2.1). A search in
a balanced tree needs the same number. A search in a hash table needs about one (sec. 6.4).
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


class _Range(NamedTuple):
    """The effect of an algorithm on each element of a range.

    The algorithm reads the elements at the pointers in the `reads` arguments, and writes those in
    the `writes` arguments. If there are two `writes` arguments, their elements are exchanged. `op`
    combines the elements that are read. It is `+` for a running total, or a comparison.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...] = ()
    op: str = ""


_FILLS, _COPIES = _Range((), (0,)), _Range((0,), (2,))
_TOTALS, _LOOKS, _MOVES = _Range((0,), (), "+"), _Range((0,), (), "<"), _Range((0,), (0,))
# ISO C++ 17, sec. 28 and 29. The range is from argument 0 to argument 1.
_RANGES = {
    **dict.fromkeys(("fill", "iota", "generate", "uninitialized_fill"), _FILLS),
    **dict.fromkeys(("copy", "move", "copy_backward", "copy_if", "remove_copy", "reverse_copy",
                     "replace_copy", "unique_copy", "uninitialized_copy", "transform"), _COPIES),
    **dict.fromkeys(("partial_sum", "inclusive_scan", "exclusive_scan", "adjacent_difference"),
                    _COPIES._replace(op="+")),
    **dict.fromkeys(("accumulate", "reduce"), _TOTALS),
    **dict.fromkeys(("inner_product", "transform_reduce"), _Range((0, 2), (), "+")),
    **dict.fromkeys(("max_element", "min_element", "minmax_element", "count", "count_if", "find",
                     "find_if", "find_if_not", "any_of", "all_of", "none_of", "is_sorted",
                     "adjacent_find", "for_each"), _LOOKS),
    **dict.fromkeys(("equal", "mismatch", "lexicographical_compare"), _Range((0, 2), (), "<")),
    **dict.fromkeys(("reverse", "replace", "replace_if", "unique", "remove", "remove_if",
                     "partition", "stable_partition", "nth_element"), _MOVES),
    "swap_ranges": _Range((0, 2), (0, 2)),
}  # fmt: skip
# The range begins at argument 0 and has as many elements as argument 1 says.
_COUNTED = {"fill_n": _FILLS, "generate_n": _FILLS, "copy_n": _COPIES, "for_each_n": _LOOKS}
_SORTS = frozenset(("sort", "stable_sort", "partial_sort", "make_heap", "sort_heap"))
_SORTS_OF_C = frozenset(("qsort", "mergesort", "heapsort"))
_SEARCHES = frozenset(("lower_bound", "upper_bound", "equal_range", "binary_search", "map::find"))
_LOOKUPS = frozenset(("unordered_map::find",))
ALGORITHMS = frozenset((*_RANGES, *_COUNTED, *_SORTS, *_SEARCHES, *_LOOKUPS))
"""Algorithms of the C++ library, called as in `std::fill`. A search in a map or a set receives the
range of its elements as arguments.
"""


def is_algorithm(name: str) -> bool:
    """Returns whether a library function with that name traverses ranges of elements."""
    base = name.removeprefix("std::")
    return base in _SORTS_OF_C or (base in ALGORITHMS and base != name)


def algorithm_loops(call: CallExpr, context: Context, frame: Frame) -> Stmt | None:
    """Returns the loops that replace a call in `frame`. Returns None for any other function, or if
    an array is unknown.
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
    loops = _Loops(call, context, frame)
    if name in _SORTS:
        order = call.args[-1] if len(call.args) > 2 and name != "partial_sort" else None
        place = context.pointer(_without_pointer_cast(first), frame)
        return loops.sort(first, length, order) if place is not None else None
    if name in _SEARCHES:
        return loops.search(first, length)
    if name in _LOOKUPS:
        return loops.compare_once(first)
    return loops.over(length, _COUNTED.get(name) or _RANGES[name])


def _sort_of_c(call: CallExpr, context: Context, frame: Frame) -> Stmt | None:
    """Returns the loops of `qsort`. The element size must be known from the array's type."""
    if len(call.args) != 4:
        return None
    base, length, size, order = call.args
    place = context.pointer(_without_pointer_cast(base), frame)
    step = context.value(size, frame).constant
    if place is None or step is None or step <= 0 or place.pointee.bytes != step:
        return None
    return _Loops(call, context, frame).sort(base, length, order)


class _Loops:
    """Builds the loops of one call."""

    def __init__(self, call: CallExpr, context: Context, frame: Frame) -> None:
        self._call, self._context, self._frame = call, context, frame
        self._at = call.span
        base = call.name.removeprefix("std::")
        self._element = Decl(f"{base}@{self._at.line}", "local", LONG, self._at)

    def _saved_length(self, length: Expression) -> Expression:
        """Returns a new variable that contains the current length."""
        held = Decl(f"length of {self._element.name}", "local", LONG, self._at)
        self._frame.env[held] = self._context.value(length, self._frame)
        return Name(held, self._at)

    def over(self, length: Expression, form: _Range) -> Stmt | None:
        """One pass over the elements. Returns None if an array is unknown."""
        positions = sorted({*form.reads, *form.writes})
        if len(self._call.args) <= positions[-1]:
            return None
        elements = {}
        for position in positions:
            element = self._element_at(self._call.args[position])
            if element is None:
                return None
            elements[position] = element
        read = [elements[position] for position in form.reads]
        value: Expression = read[0] if read else self._call.args[-1]
        for other in read[1:]:
            value = Binary("*" if form.op == "+" else "<", value, other)
        body: list[Stmt] = []
        if form.op == "+":
            total = Decl(f"total of {self._element.name}", "local", type_of(read[0]), self._at)
            body.append(self._does(Assign("+=", Name(total, self._at), value, self._at)))
            value = Name(total, self._at)
        elif not form.writes:
            body.append(self._does(value if len(read) > 1 else Binary("<", value, value)))
        values = [value] if len(form.writes) < 2 else read[::-1]
        for at, stored in zip(form.writes, values, strict=False):
            body.append(self._does(Assign("=", elements[at], stored, self._at)))
        return self._for_loop(self._element, 0, length, self._one_more(self._element),
                             Compound(tuple(body)))  # fmt: skip

    def sort(self, base: Expression, length: Expression, order: Expression | None) -> Stmt | None:
        """Returns the passes of a sort by merging. Returns None if the array is unknown."""
        element = self._element_at(base)
        if element is None:
            return None
        address = Unary("&", element, self._at)
        compared: Expression = Binary("<", element, element)
        if order is not None:
            by_address = self._call.name.removeprefix("std::") in _SORTS_OF_C
            handed = address if by_address else element
            compared = _call_of_comparison(order, (handed, handed), self._call)
        length = self._saved_length(length)
        body = Compound((self._does(compared),
                         self._does(Assign("=", element, element, self._at))))  # fmt: skip
        one_pass = self._for_loop(self._element, 0, length, self._one_more(self._element), body)
        width = Decl(f"passes of {self._element.name}", "local", LONG, self._at)
        elements = self._context.value(length, self._frame).constant
        if elements is not None:  # otherwise it would be repeated for each pass
            passes = IntLit(max(0, math.ceil(elements) - 1).bit_length())
            return self._for_loop(width, 0, passes, self._one_more(width), one_pass)
        doubled = Assign("*=", Name(width, self._at), IntLit(2), self._at)
        return self._for_loop(width, 1, length, doubled, one_pass)

    def search(self, base: Expression, length: Expression) -> Stmt | None:
        """Returns the steps of a binary search. Returns None if the array is unknown."""
        element = self._element_at(base)
        if element is None:
            return None
        step = Decl(f"step of {self._element.name}", "local", LONG, self._at)
        here = Name(self._element, self._at)
        start = self._does(Assign("=", here, IntLit(0), self._at))
        onwards = self._does(Assign("+=", here, Name(step, self._at), self._at))
        body = If(Binary("<", element, self._call.args[-1]), onwards, None, self._at)
        doubled = Assign("*=", Name(step, self._at), IntLit(2), self._at)
        return Compound((start, self._for_loop(step, 1, self._saved_length(length), doubled, body)))

    def compare_once(self, base: Expression) -> Stmt | None:
        """One comparison with an element. Returns None if the array is unknown."""
        element = self._element_at(base)
        if element is None:
            return None
        self._frame.env[self._element] = self._context.varying(self._call.name)
        return self._does(Binary("==", element, self._call.args[-1]))

    def _element_at(self, base: Expression) -> Unary | None:
        """Returns the element at the loop's variable in the array that starts at `base`."""
        base = _without_pointer_cast(base)
        place: Pointer | None = self._context.pointer(base, self._frame)
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
        start = self._does(Assign("=", Name(variable, self._at), IntLit(begin), self._at))
        inside = Binary("<", Name(variable, self._at), end)
        return For(start, inside, advance, body, self._at)

    def _does(self, expression: Expression) -> ExprStmt:
        return ExprStmt(expression, self._at)

    def _one_more(self, variable: Decl) -> Expression:
        return Unary("p++", Name(variable, self._at), self._at)


def _without_pointer_cast(expression: Expression) -> Expression:
    """Returns the operand of a cast of a pointer."""
    while isinstance(expression, Cast) and expression.ctype.kind == "pointer":
        expression = expression.operand
    return expression


def _call_of_comparison(
    order: Expression, elements: tuple[Expression, ...], call: CallExpr
) -> CallExpr:
    """Returns the call of the comparison function, or a call of an unknown function if there is
    none.
    """
    meant = named_function(order)
    if meant is not None:
        return CallExpr(meant.name, meant, elements, call.span)
    order = without_casts(order)
    variable = order if isinstance(order, Name) else None
    name = variable.decl.name if variable is not None else f"the comparison of {call.name}()"
    return CallExpr(name, None, elements, call.span, pointer=variable)
