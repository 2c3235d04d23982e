"""Selects the function that represents a call with several possible targets.

    static double (*const op[])(double) = {square, root};
    y[i] = op[k](x[i]);                                      root, the most expensive

All functions must access the same memory, usually none. The functions then differ only in
operations, and the most expensive one gives an upper bound. If their memory accesses differ or are
unknown, no function represents the others. The largest functions then become branches of a
condition, as in `switch (k)` (`call_trees.py`).
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
_COMPARABLE_RESULTS = frozenset(("int", "float", "void"))  # returned addresses change accesses
_WITHOUT_EFFECT = frozenset(("", "sizeof", "this", "{}"))

_MemoryPlace = tuple[str, bool, tuple[str, ...]]


class _FunctionCost(NamedTuple):
    """The approximate number of `operations` of one call, and the memory `places` that it accesses.

    A place is the text of an lvalue with parameters replaced by their positions, whether the
    function writes it, and its global variables.
    """

    operations: float
    places: frozenset[_MemoryPlace]


_NOTHING = _FunctionCost(0.0, frozenset())


class _NotComparableError(Exception):
    """Raised if the memory accesses of a function are unknown or cannot be compared."""


def most_expensive_function(unit: LinkedUnit, functions: Functions) -> Decl | None:
    """Returns the most expensive of several functions that access the same memory. Returns None if
    their accesses differ or are unknown, or if the list is empty.
    """
    if len(functions) < 2:
        return functions[0] if functions else None
    try:
        costs = [_cost_of_call(unit, decl, ()) for decl in functions]
    except _NotComparableError:
        return None
    if len({cost.places for cost in costs}) != 1:
        return None
    most = max(cost.operations for cost in costs)
    return next(
        decl for decl, cost in zip(functions, costs, strict=True) if cost.operations == most
    )


def _cost_of_call(unit: LinkedUnit, decl: Decl, call_stack: tuple[Function, ...]) -> _FunctionCost:
    """Returns the approximate cost and the memory accesses of one call of a function."""
    function = unit.body_of(decl)
    if function is None:
        if (
            unit.ambiguous_places(decl)
            or not touches_no_memory(decl.name)
            or decl.ctype.kind == "pointer"
        ):
            raise _NotComparableError
        return _FunctionCost(LIBRARY_CALL.value, frozenset())
    if (
        function in call_stack
        or len(call_stack) > _MOST_CALLS
        or decl.ctype.kind not in _COMPARABLE_RESULTS
    ):
        raise _NotComparableError
    if ends_program(unit, function.body):
        return _NOTHING
    return _FunctionBody(unit, function, (*call_stack, function)).cost_and_accesses()


class _FunctionBody:
    """Computes the cost of one function's body."""

    def __init__(
        self, unit: LinkedUnit, function: Function, call_stack: tuple[Function, ...]
    ) -> None:
        self._unit = unit
        self._function = function
        self._call_stack = call_stack
        self._position = {decl: at for at, decl in enumerate(function.parameters)}
        self._places: set[_MemoryPlace] = set()
        inside = list(expressions_in(function.body))
        self._set = set(map(assigned_place, inside))
        self._changing = {
            place.decl for place in map(set_place, inside) if isinstance(place, Name)
        }  # fmt: skip

    def cost_and_accesses(self) -> _FunctionCost:
        """Returns the cost and the memory accesses of one execution of the function."""
        operations = self._add_statement(self._function.body, in_loop=False)
        return _FunctionCost(operations, frozenset(self._places))

    def _add_statement(self, statement: Stmt, *, in_loop: bool) -> float:
        if isinstance(statement, (Directive, Unread, RangeFor)):
            raise _NotComparableError
        if isinstance(statement, Compound) and statement.label:
            raise _NotComparableError  # a `goto` may repeat the block
        loops = isinstance(statement, (For, While))
        inside = in_loop or loops
        total = 0.0
        for expression in own_expressions(statement):
            total += self._add_expression(expression, in_loop=inside)
        for inner in inner_statements(statement):
            total += self._add_statement(inner, in_loop=inside)
        return total * (_assumed_trips(statement) if loops else 1.0)

    def _add_expression(self, expression: Expression, *, in_loop: bool) -> float:
        total = 0.0
        bases: set[Expression | None] = set()  # subexpressions of lvalues that were recorded
        for inner in every_expression(expression):
            comparable = True
            if isinstance(inner, (Binary, Assign)):
                total += _operations_in(inner)
            elif isinstance(inner, CallExpr):
                total += self._call(inner)
            elif isinstance(inner, Opaque):
                has_no_effect = inner.text in _WITHOUT_EFFECT or inner.string is not None
                comparable = has_no_effect or inner.text.startswith(".")
            elif isinstance(inner, Unary) and inner.op == "&":
                bases.add(inner.operand)
            elif is_memory(inner):
                bases.update(subexpressions(inner)[:1])
                if inner not in bases:
                    self._record_access(inner, in_loop=in_loop)
            elif isinstance(inner, Name):
                comparable = inner in bases or self._is_local_or_plain_number(inner)
            elif isinstance(inner, Cast):
                comparable = inner.constructor is None  # its effects are outside the expression
            if not comparable:
                raise _NotComparableError
        return total

    def _is_local_or_plain_number(self, name: Name) -> bool:
        """Returns whether a variable is local to the function, or a global number that it only
        reads.
        """
        if name.decl.kind not in ("global", "static"):
            return True
        return name.decl.ctype.kind in ("int", "float") and name not in self._set

    def _record_access(self, place: Expression, *, in_loop: bool) -> None:
        """Records a memory access as text that can be compared between functions: `$0[3]` for the
        fourth element of the first parameter.
        """
        if _is_local_memory(place):
            return
        sets = place in self._set
        if in_loop or (sets and type_of(place).kind != "float"):
            raise _NotComparableError
        others: list[str] = []
        for inner in every_expression(place):
            if isinstance(inner, CallExpr) or set_place(inner) is not None:
                raise _NotComparableError
            if isinstance(inner, Name) and inner.decl not in self._position:
                if inner.decl.kind not in ("global", "static"):
                    raise _NotComparableError
                others.append(inner.decl.symbol or str(inner.decl.span))
            elif isinstance(inner, Name) and inner.decl in self._changing:
                raise _NotComparableError
        text = show(place)
        for decl, at in self._position.items():
            text = re.sub(rf"(?<![\w.>]){re.escape(decl.name)}\b", f"${at}", text)
        self._places.add((text, sets, tuple(others)))

    def _call(self, call: CallExpr) -> float:
        if call.free or (call.pointer is None and ends_run(call.name)):
            return 0.0
        if call.decl is None:
            raise _NotComparableError
        written = written_arguments(call.name, len(call.args), call.declared_in)
        if written and self._unit.body_of(call.decl) is None:
            places = (address_taken(call.args[at]) for at in written)
            if not all(place is not None and _is_local_memory(place) for place in places):
                raise _NotComparableError
            return LIBRARY_CALL.value
        cost = _cost_of_call(self._unit, call.decl, self._call_stack)
        if cost.places:
            raise _NotComparableError
        return cost.operations


def _is_local_memory(place: Expression) -> bool:
    """Returns whether an lvalue belongs to a local array or struct."""
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


def _operations_in(expression: Binary | Assign) -> float:
    if expression.op in ("=", ",", "&&", "||"):
        return 0.0
    return DIVISION.value if expression.op in ("/", "/=", "%", "%=") else 1.0


def _assumed_trips(loop: Stmt) -> float:
    """Returns the constant bound of a loop as its number of iterations, or an assumed number of
    iterations.
    """
    if isinstance(loop, For) and isinstance(loop.condition, Binary):
        bound = loop.condition.right
        if isinstance(bound, IntLit) and bound.value > 0:
            return float(bound.value)
    return INNER_TRIPS.value
