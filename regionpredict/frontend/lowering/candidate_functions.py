"""Selects the function that represents a call with several possible targets.

    static double (*const op[])(double) = {square, root};
    y[i] = op[k](x[i]);                                      root: it costs most

This works if all functions access the same memory, usually none. Their statements then differ only
in operations, and the most expensive function gives an upper bound. If memory differs or is
unknown, no function represents the others. The largest of them then become sides of a condition, as
in `switch (k)` (`call_trees.py`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.constant import Constant
from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.function_pointers import Functions
from regionpredict.frontend.lowering.program_ends import ends_program
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Compound,
    Decl,
    Directive,
    Expression,
    For,
    Function,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    RangeFor,
    Stmt,
    Unary,
    Unread,
    While,
    address_taken,
    assigned_place,
    every_expression,
    expressions_in,
    inner_statements,
    is_memory,
    own_expressions,
    set_place,
    show,
    subexpressions,
)
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.library import (
    ends_run,
    touches_no_memory,
    written_arguments,
)

DIVISION = Constant(
    4.0, "operations", "derived",
    "Fog, Instruction tables: divsd and sqrtsd 13 to 18 cycles on Skylake, addsd and mulsd 4",
)  # fmt: skip
LIBRARY_CALL = Constant(
    20.0, "operations", "assumed", "libm functions are polynomials of about ten terms"
)
INNER_TRIPS = Constant(
    100.0, "iterations", "assumed", "only decides which of several functions is the most expensive"
)
_MOST_CALLS = 12
_RETURNED = frozenset(("int", "float", "void"))  # addresses would affect later accesses
_QUIET = frozenset(("", "sizeof", "this", "{}"))

_Place = tuple[str, bool, tuple[str, ...]]


class _Work(NamedTuple):
    """The approximate number of `operations` of one call, and the `places` in memory that the call
    accesses.

    A place consists of its text, with parameters replaced by their positions, and whether the
    function writes to it.
    """

    operations: float
    places: frozenset[_Place]


_NOTHING = _Work(0.0, frozenset())


class _UnseenError(Exception):
    """Part of a function is not visible, or accesses memory that cannot be compared."""


def representative(unit: LinkedUnit, functions: Functions) -> Decl | None:
    """Returns the most expensive of several functions that access the same memory. Returns None if
    their accesses differ or the list is empty. A single function represents itself.
    """
    if len(functions) < 2:
        return functions[0] if functions else None
    try:
        works = [_work_of_call(unit, decl, ()) for decl in functions]
    except _UnseenError:
        return None
    if len({work.places for work in works}) != 1:
        return None
    most = max(work.operations for work in works)
    return next(
        decl for decl, work in zip(functions, works, strict=True) if work.operations == most
    )


def _work_of_call(unit: LinkedUnit, decl: Decl, calling: tuple[Function, ...]) -> _Work:
    """Returns the work of a call of a function."""
    function = unit.body_of(decl)
    if function is None:
        if (
            unit.ambiguous_places(decl)
            or not touches_no_memory(decl.name)
            or decl.ctype.kind == "pointer"
        ):
            raise _UnseenError
        return _Work(LIBRARY_CALL.value, frozenset())
    if function in calling or len(calling) > _MOST_CALLS or decl.ctype.kind not in _RETURNED:
        raise _UnseenError
    if ends_program(unit, function.body):
        return _NOTHING
    return _Body(unit, function, (*calling, function)).work()


class _Body:
    """Computes the work of one function's body."""

    def __init__(self, unit: LinkedUnit, function: Function, calling: tuple[Function, ...]) -> None:
        self._unit = unit
        self._function = function
        self._calling = calling
        self._position = {decl: at for at, decl in enumerate(function.parameters)}
        self._places: set[_Place] = set()
        inside = list(expressions_in(function.body))
        self._set = set(map(assigned_place, inside))
        self._changing = {
            place.decl for place in map(set_place, inside) if isinstance(place, Name)
        }  # fmt: skip

    def work(self) -> _Work:
        """Returns the work of the whole function."""
        operations = self._statement(self._function.body, in_loop=False)
        return _Work(operations, frozenset(self._places))

    def _statement(self, statement: Stmt, *, in_loop: bool) -> float:
        if isinstance(statement, (Directive, Unread, RangeFor)):
            raise _UnseenError
        if isinstance(statement, Compound) and statement.label:
            raise _UnseenError  # a goto may repeat it
        loops = isinstance(statement, (For, While))
        inside = in_loop or loops
        total = 0.0
        for expression in own_expressions(statement):
            total += self._expression(expression, in_loop=inside)
        for inner in inner_statements(statement):
            total += self._statement(inner, in_loop=inside)
        return total * (_trips(statement) if loops else 1.0)

    def _expression(self, expression: Expression, *, in_loop: bool) -> float:
        total = 0.0
        bases: set[Expression | None] = set()  # bases of places that were already recorded
        for inner in every_expression(expression):
            seen = True
            if isinstance(inner, (Binary, Assign)):
                total += _operations(inner)
            elif isinstance(inner, CallExpr):
                total += self._call(inner)
            elif isinstance(inner, Opaque):
                quiet = inner.text in _QUIET or inner.string is not None
                seen = quiet or inner.text.startswith(".")
            elif isinstance(inner, Unary) and inner.op == "&":
                bases.add(inner.operand)
            elif is_memory(inner):
                bases.update(subexpressions(inner)[:1])
                if inner not in bases:
                    self._record_access(inner, in_loop=in_loop)
            elif isinstance(inner, Name):
                seen = inner in bases or self._is_local_or_plain_number(inner)
            elif isinstance(inner, Cast):
                seen = inner.constructor is None  # its effects are outside the expression
            if not seen:
                raise _UnseenError
        return total

    def _is_local_or_plain_number(self, name: Name) -> bool:
        """Returns whether a variable is local to the function, or a number that the function only
        reads.
        """
        if name.decl.kind not in ("global", "static"):
            return True
        return name.decl.ctype.kind in ("int", "float") and name not in self._set

    def _record_access(self, place: Expression, *, in_loop: bool) -> None:
        """Records an accessed place in memory in a form that can be compared between functions."""
        if _is_local_memory(place):
            return
        sets = place in self._set
        if in_loop or (sets and type_of(place).kind != "float"):
            raise _UnseenError
        others: list[str] = []
        for inner in every_expression(place):
            if isinstance(inner, CallExpr) or set_place(inner) is not None:
                raise _UnseenError
            if isinstance(inner, Name) and inner.decl not in self._position:
                if inner.decl.kind not in ("global", "static"):
                    raise _UnseenError
                others.append(inner.decl.symbol or str(inner.decl.span))
            elif isinstance(inner, Name) and inner.decl in self._changing:
                raise _UnseenError
        text = show(place)
        for decl, at in self._position.items():
            text = re.sub(rf"(?<![\w.>]){re.escape(decl.name)}\b", f"${at}", text)
        self._places.add((text, sets, tuple(others)))

    def _call(self, call: CallExpr) -> float:
        if call.free or (call.pointer is None and ends_run(call.name)):
            return 0.0
        if call.decl is None:
            raise _UnseenError
        written = written_arguments(call.name, len(call.args), call.declared_in)
        if written and self._unit.body_of(call.decl) is None:
            places = (address_taken(call.args[at]) for at in written)
            if not all(place is not None and _is_local_memory(place) for place in places):
                raise _UnseenError
            return LIBRARY_CALL.value
        work = _work_of_call(self._unit, call.decl, self._calling)
        if work.places:
            raise _UnseenError
        return work.operations


def _is_local_memory(place: Expression) -> bool:
    """Returns whether the place belongs to a local variable: an array, or a member of a struct."""
    while isinstance(place, (Index, Member)):
        if isinstance(place, Index) and type_of(place.base).kind != "array":
            return False
        if place.base is None or (isinstance(place, Member) and place.arrow):
            return False
        place = place.base
    if not isinstance(place, Name):
        return False
    decl = place.decl
    return decl.kind == "local" or (decl.kind == "parameter" and decl.ctype.kind == "struct")


def _operations(expression: Binary | Assign) -> float:
    if expression.op in ("=", ",", "&&", "||"):
        return 0.0
    return DIVISION.value if expression.op in ("/", "/=", "%", "%=") else 1.0


def _trips(loop: Stmt) -> float:
    """Returns the number of iterations of a loop with a constant bound. If the bound varies, its
    largest value counts.
    """
    if isinstance(loop, For) and isinstance(loop.condition, Binary):
        bound = loop.condition.right
        if isinstance(bound, IntLit) and bound.value > 0:
            return float(bound.value)
    return INNER_TRIPS.value
