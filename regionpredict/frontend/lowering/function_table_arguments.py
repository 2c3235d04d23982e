"""Finds tables of functions that calls pass as arguments, and calls through their elements.

static void run_all(const struct test *tests, int n) { for (k = 0; k < n; k++) tests[k].run(); }
run_all(all, 3);                                the functions of the first three elements of `all`
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.float_conditions import exact_number
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.function_tables import (
    TableCall,
    is_set_by_initializers,
    table_rows,
)
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.syntax import (
    Binary,
    CallExpr,
    Decl,
    Expression,
    For,
    Function,
    Index,
    IntLit,
    Name,
    Unary,
    expressions_in,
    without_casts,
)
from regionpredict.ir import Expr, Span
from regionpredict.ir.flow import CallThroughTableParameter, Passed, PassedArguments, Table
from regionpredict.ir.folding import Number

_DERIVING_OPERATORS = frozenset(
    ("select", "not", "eq", "ne", "lt", "le", "and", "or", "min", "max")
)
"""Operators that may occur in passed numbers. Sums and products are excluded."""


def passed_tables(unit: LinkedUnit) -> dict[tuple[Span, str], PassedArguments]:
    """Returns, for each call that passes a table of functions or constant numbers, these arguments.
    The arguments may select the target of a call.
    """
    passed_tables_found: dict[tuple[Span, str], PassedArguments] = {}
    for function in unit.bodies():
        context = Context(unit)
        for call in expressions_in(function.body):
            if not isinstance(call, CallExpr) or call.decl is None:
                continue
            given = (_passed_table(unit, function, at, arg) for at, arg in enumerate(call.args))
            tables = tuple(table for table in given if table is not None)
            values = [context.value(argument, Frame({})) for argument in call.args]
            numbers = _constant_numbers(unit, values, call)
            passed = _derived_from_parameters(unit, context, values, function, call)
            if tables or numbers or passed:
                passed_tables_found[call.span, call.name] = PassedArguments(tables, numbers, passed)
    return passed_tables_found


def _constant_numbers(
    unit: LinkedUnit, values: Sequence[Expr], call: CallExpr
) -> tuple[tuple[int, Number], ...]:
    numbers: list[tuple[int, Number]] = []
    for at, (argument, value) in enumerate(zip(call.args, values, strict=True)):
        whole = value.constant
        if isinstance(whole, int):
            numbers.append((at, whole))
        elif _may_be_constant(argument) and _parameter_kind(unit, call, at) == "float":
            exact = exact_number(argument)
            numbers += [(at, exact)] if exact is not None else []
    return tuple(numbers)


def _derived_from_parameters(
    unit: LinkedUnit, context: Context, values: Sequence[Expr], function: Function, call: CallExpr
) -> tuple[Passed, ...]:
    """Returns the arguments that a caller computes from its own unchanged parameters."""
    named = context.declarations()
    passed: list[Passed] = []
    for position, value in enumerate(values):
        passed_tables_found = [
            (name, named[name][0]) for name in sorted(value.names) if name in named
        ]
        own = all(decl in function.parameters and not unit.is_set(decl, function)
                  for _, decl in passed_tables_found)  # fmt: skip
        if not passed_tables_found or len(passed_tables_found) < len(value.names) or not own:
            continue
        kept = _parameter_kind(unit, call, position) != "int" or all(
            decl.ctype.kind != "float" for _, decl in passed_tables_found
        )
        if kept and value.kinds <= _DERIVING_OPERATORS:
            places = tuple(
                (name, function.parameters.index(decl)) for name, decl in passed_tables_found
            )
            passed.append(Passed(position, value, places))
    return tuple(passed)


def _may_be_constant(argument: Expression) -> bool:
    """Returns whether the argument may be a constant. A variable that is not `const` is none."""
    return not isinstance(argument, Name) or argument.decl.is_const


def _parameter_kind(unit: LinkedUnit, call: CallExpr, position: int) -> str:
    """Returns the type kind of a parameter, such as "int" or "float". Returns "" if the called
    function has no visible body.
    """
    called = unit.body_of(call.decl) if call.decl is not None else None
    known = called is not None and position < len(called.parameters)
    return called.parameters[position].ctype.kind if called is not None and known else ""


def _passed_table(
    unit: LinkedUnit, function: Function, position: int, argument: Expression
) -> Table | None:
    first = 0
    argument = without_casts(argument)
    if isinstance(argument, Unary) and argument.op == "&" and isinstance(argument.operand, Index):
        element = argument.operand
        argument = Binary("+", element.base, element.index)
    if isinstance(argument, Binary) and argument.op == "+" and isinstance(argument.right, IntLit):
        first, argument = argument.right.value, without_casts(argument.left)
    if not isinstance(argument, Name):
        return None
    if argument.decl in function.parameters and not first:
        if not _is_array_of_structs(argument.decl) or unit.is_set(argument.decl, function):
            return None
        return Table(position, parameter=function.parameters.index(argument.decl))
    rows = table_rows(unit, argument.decl) if _is_array_of_structs(argument.decl) else ()
    if not any(name for row in rows for name in row.values()):
        return None
    return Table(position, tuple(tuple(row.items()) for row in rows[first:]))


def _is_array_of_structs(decl: Decl) -> bool:
    element = decl.ctype.element
    return element is not None and element.kind == "struct"


def table_parameter_targets(
    unit: LinkedUnit, function: Function, pointer: Expression, element: TableCall
) -> CallThroughTableParameter | None:
    """Returns the description of a call through an element of a table parameter. Returns None if
    the pointer is not such an element.
    """
    table = element.base.decl
    if (
        table not in function.parameters
        or not element.member
        or not is_set_by_initializers(unit, pointer)
    ):
        return None
    return CallThroughTableParameter(function.parameters.index(table), element.member)


def bound_parameter(function: Function, loop: For, counter: Decl) -> int | None:
    """Returns the position of the parameter that bounds a loop: `n` in `for (int k = 0; k < n;
    k++)`. Returns None for other bounds.
    """
    test = loop.condition
    if not isinstance(test, Binary) or test.op not in ("<", "!="):
        return None
    left, right = without_casts(test.left), without_casts(test.right)
    if not (isinstance(left, Name) and left.decl is counter and isinstance(right, Name)):
        return None
    return function.parameters.index(right.decl) if right.decl in function.parameters else None
