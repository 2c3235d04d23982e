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
    every_expression,
    expressions_in,
    inner_statements,
    own_expressions,
    set_place,
    show,
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
    """The approximate `operations` of one call, and the `places` in memory that it accesses.

    A place has its text, with parameters replaced by their positions, and whether the function
    writes to it.
    """

    operations: float
    places: frozenset[_Place]


_NOTHING = _Work(0.0, frozenset())


def representative(unit: LinkedUnit, functions: Functions) -> Decl | None:
    """The most expensive of several functions that access the same memory. None if they do not, or
    if there is none. A single function represents itself.
    """
    if len(functions) < 2:
        return functions[0] if functions else None
    works = [_of_call(unit, decl, ()) for decl in functions]
    known = [work for work in works if work is not None]
    if len(known) < len(works) or len({work.places for work in known}) != 1:
        return None
    most = max(work.operations for work in known)
    return next(
        decl for decl, work in zip(functions, known, strict=True) if work.operations == most
    )


def _of_call(unit: LinkedUnit, decl: Decl, calling: tuple[Function, ...]) -> _Work | None:
    """The effect of a call of a function. None if unknown."""
    function = unit.body_of(decl)
    if function is None:
        if unit.rivals(decl) or not touches_no_memory(decl.name) or decl.ctype.kind == "pointer":
            return None
        return _Work(LIBRARY_CALL.value, frozenset())
    if function in calling or len(calling) > _MOST_CALLS or decl.ctype.kind not in _RETURNED:
        return None
    if ends_program(unit, function.body):
        return _NOTHING
    return _Body(unit, function, (*calling, function)).work()


class _Body:
    """One function's statements."""

    def __init__(self, unit: LinkedUnit, function: Function, calling: tuple[Function, ...]) -> None:
        self._unit = unit
        self._function = function
        self._calling = calling
        self._position = {decl: at for at, decl in enumerate(function.parameters)}
        self._places: set[_Place] = set()
        set_or_passed = [
            (place, inner) for inner in expressions_in(function.body)
            if (place := set_place(inner)) is not None
        ]  # fmt: skip
        self._set = {place for place, inner in set_or_passed if not _is_address(inner)}
        self._changing = {place.decl for place, _ in set_or_passed if isinstance(place, Name)}

    def work(self) -> _Work | None:
        """The effects of the whole function. None if part of it is not visible."""
        operations = self._statement(self._function.body, in_loop=False)
        return None if operations is None else _Work(operations, frozenset(self._places))

    def _statement(self, statement: Stmt, *, in_loop: bool) -> float | None:
        if isinstance(statement, (Directive, Unread, RangeFor)):
            return None
        if isinstance(statement, Compound) and statement.label:
            return None  # a goto may repeat it
        loops = isinstance(statement, (For, While))
        total = 0.0
        for expression in own_expressions(statement):
            operations = self._expression(expression, in_loop=in_loop or loops)
            if operations is None:
                return None
            total += operations
        for inner in inner_statements(statement):
            operations = self._statement(inner, in_loop=in_loop or loops)
            if operations is None:
                return None
            total += operations
        return total * (_trips(statement) if loops else 1.0)

    def _expression(self, expression: Expression, *, in_loop: bool) -> float | None:
        total = 0.0
        bases: set[Expression | None] = set()  # bases of places that were already recorded
        for inner in every_expression(expression):
            operations: float | None = 0.0
            if isinstance(inner, (Binary, Assign)):
                operations = _operations(inner)
            elif isinstance(inner, CallExpr):
                operations = self._call(inner)
            elif isinstance(inner, Opaque):
                quiet = inner.text in _QUIET or inner.string is not None
                operations = 0.0 if quiet or inner.text.startswith(".") else None
            elif isinstance(inner, Unary) and inner.op == "&":
                bases.add(inner.operand)
            elif isinstance(inner, (Index, Member)) or (
                isinstance(inner, Unary) and inner.op == "*"
            ):
                base = inner.operand if isinstance(inner, Unary) else inner.base
                bases.add(base)
                if inner not in bases and not self._touch(inner, in_loop=in_loop):
                    return None
            elif isinstance(inner, Name):
                operations = 0.0 if inner in bases or self._is_plain(inner) else None
            elif isinstance(inner, Cast) and inner.constructor is not None:
                return None  # its effects are outside the expression
            if operations is None:
                return None
            total += operations
        return total

    def _is_plain(self, name: Name) -> bool:
        """Whether a variable is the function's own, or a number that it only reads."""
        if name.decl.kind not in ("global", "static"):
            return True
        return name.decl.ctype.kind in ("int", "float") and name not in self._set

    def _touch(self, place: Index | Member | Unary, *, in_loop: bool) -> bool:
        """Records the identity of a place in memory. False if it cannot be compared with another
        function's."""
        if _is_own(place):
            return True
        sets = place in self._set
        if in_loop or (sets and type_of(place).kind != "float"):
            return False
        others: list[str] = []
        for inner in every_expression(place):
            if isinstance(inner, CallExpr) or set_place(inner) is not None:
                return False
            if isinstance(inner, Name) and inner.decl not in self._position:
                if inner.decl.kind not in ("global", "static"):
                    return False
                others.append(inner.decl.symbol or str(inner.decl.span))
            elif isinstance(inner, Name) and inner.decl in self._changing:
                return False
        text = show(place)
        for decl, at in self._position.items():
            text = re.sub(rf"(?<![\w.>]){re.escape(decl.name)}\b", f"${at}", text)
        self._places.add((text, sets, tuple(others)))
        return True

    def _call(self, call: CallExpr) -> float | None:
        if call.free or (call.pointer is None and ends_run(call.name)):
            return 0.0
        if call.decl is None:
            return None
        written = written_arguments(call.name, len(call.args), call.declared_in)
        if written and self._unit.body_of(call.decl) is None:
            own = all(_is_own_address(call.args[at]) for at in written)
            return LIBRARY_CALL.value if own else None
        work = _of_call(self._unit, call.decl, self._calling)
        return None if work is None or work.places else work.operations


def _is_address(expression: Expression) -> bool:
    return isinstance(expression, Unary) and expression.op == "&"


def _is_own(place: Expression) -> bool:
    """Whether the place is in a local variable: an array, or a member of a struct."""
    while isinstance(place, (Index, Member)):
        if isinstance(place, Member) and place.arrow:
            return False
        if isinstance(place, Index) and type_of(place.base).kind != "array":
            return False
        if place.base is None:
            return False
        place = place.base
    if not isinstance(place, Name):
        return False
    decl = place.decl
    return decl.kind == "local" or (decl.kind == "parameter" and decl.ctype.kind == "struct")


def _is_own_address(argument: Expression) -> bool:
    return isinstance(argument, Unary) and argument.op == "&" and _is_own(argument.operand)


def _operations(expression: Binary | Assign) -> float:
    if expression.op in ("=", ",", "&&", "||"):
        return 0.0
    return DIVISION.value if expression.op in ("/", "/=", "%", "%=") else 1.0


def _trips(loop: Stmt) -> float:
    """The number of iterations of a loop that ends at a number, at its largest value."""
    if isinstance(loop, For) and isinstance(loop.condition, Binary):
        bound = loop.condition.right
        if isinstance(bound, IntLit) and bound.value > 0:
            return float(bound.value)
    return INNER_TRIPS.value
