"""Tables of functions that a call hands over, and calls by an element of what was handed over.

static void run_all(const struct test *tests, int n) { for (k = 0; k < n; k++) tests[k].run(); }
run_all(all, 3);                                the functions of the first three elements of `all`
"""

from __future__ import annotations

from regionpredict.frontend.linking import LinkedUnit, is_null, named_function
from regionpredict.frontend.lowering.definitions import writes_in
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.function_tables import TableCall, is_listed
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
    elements_listed,
    expressions_in,
    initial_values,
    member_named,
    without_casts,
)
from regionpredict.ir import Span
from regionpredict.ir.flow import HandedOver, OfHanded, Passed, Table

_MOST_ROWS = 200


def handed_over(unit: LinkedUnit) -> dict[tuple[Span, str], HandedOver]:
    """Of each call that hands over a table of functions, or numbers that may decide what the
    function called does."""
    handed: dict[tuple[Span, str], HandedOver] = {}
    for function in unit.bodies():
        context = Context(unit.body_of, unit.objects)
        for call in expressions_in(function.body):
            if not isinstance(call, CallExpr) or call.decl is None:
                continue
            given = (_table(unit, function, at, arg) for at, arg in enumerate(call.args))
            tables = tuple(table for table in given if table is not None)
            numbers = _numbers(context, call)
            passed = _passed(unit, function, call)
            if tables or numbers or passed:
                handed[call.span, call.name] = HandedOver(tables, numbers, passed)
    return handed


def _numbers(context: Context, call: CallExpr) -> tuple[tuple[int, int], ...]:
    arguments = (context.value(argument, Frame({})).constant for argument in call.args)
    return tuple((at, value) for at, value in enumerate(arguments) if isinstance(value, int))


def _passed(unit: LinkedUnit, function: Function, call: CallExpr) -> tuple[Passed, ...]:
    """The numbers that the caller was handed itself, and does not change."""
    written = writes_in(unit, function)
    passed: list[Passed] = []
    for position, argument in enumerate(call.args):
        name, added = _with_added(without_casts(argument))
        if isinstance(name, Name) and name.decl in function.parameters and (
            name.decl not in written
        ):  # fmt: skip
            passed.append(Passed(position, function.parameters.index(name.decl), added))
    return tuple(passed)


def _with_added(argument: Expression) -> tuple[Expression, int]:
    """`level` and 1 of `level + 1`."""
    if isinstance(argument, Binary) and argument.op in ("+", "-"):
        if isinstance(argument.right, IntLit):
            sign = 1 if argument.op == "+" else -1
            return without_casts(argument.left), sign * argument.right.value
        if isinstance(argument.left, IntLit) and argument.op == "+":
            return without_casts(argument.right), argument.left.value
    return argument, 0


def _table(
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
        if not _of_structs(argument.decl) or argument.decl in writes_in(unit, function):
            return None
        return Table(position, parameter=function.parameters.index(argument.decl))
    rows = _rows(unit, argument.decl)
    return Table(position, rows[first:]) if rows else None


def _of_structs(decl: Decl) -> bool:
    element = decl.ctype.element
    return element is not None and element.kind == "struct"


def _rows(unit: LinkedUnit, table: Decl) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The functions in each element of a table of structs."""
    if table.kind in ("global", "static"):
        table = unit.variable_of(table)
    if table.ctype.kind != "array" or not _of_structs(table) or table.kind == "parameter":
        return ()
    elements = elements_listed(table.init) or {}
    extent = table.ctype.extent
    if not elements or not isinstance(extent, IntLit) or extent.value > _MOST_ROWS:
        return ()
    rows = tuple(_functions_in(elements.get(at)) for at in range(extent.value))
    named = any(name for row in rows for _, name in row)
    return rows if named else ()


def _functions_in(element: Expression | None) -> tuple[tuple[str, str], ...]:
    """By their members the functions, and \"=\" for what is there but no function."""
    functions: list[tuple[str, str]] = []
    for value in initial_values(element) or () if element is not None else ():
        given = member_named(value)
        if given is not None and not is_null(given[1]):
            function = named_function(given[1])
            functions.append((given[0], "=" if function is None else function.name))
    return tuple(functions)


def of_handed(
    unit: LinkedUnit, function: Function, pointer: Expression, asked: TableCall
) -> OfHanded | None:
    """What a call by an element of a parameter means; None where the parameter is no table."""
    table = asked.base.decl
    if table not in function.parameters or not asked.member or not is_listed(unit, pointer):
        return None
    return OfHanded(function.parameters.index(table), asked.member)


def count_of(function: Function, loop: For, counter: Decl) -> int | None:
    """The parameter before which a loop from 0 ends: `n` of `for (int k = 0; k < n; k++)`."""
    test = loop.condition
    if not isinstance(test, Binary) or test.op not in ("<", "!="):
        return None
    left, right = without_casts(test.left), without_casts(test.right)
    if not (isinstance(left, Name) and left.decl is counter and isinstance(right, Name)):
        return None
    return function.parameters.index(right.decl) if right.decl in function.parameters else None
