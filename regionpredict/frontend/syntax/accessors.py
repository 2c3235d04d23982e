"""Replaces calls of accessor functions by the member that they return: `d.x(i)`, `m(i, j)`.

double &x(int i) { return m_x[i]; }          d.x(i) = 0.0      ->  d.m_x[i] = 0.0
int size() const { return m_n; }             i < d.size()      ->  i < d.m_n
double &at(int i, int j)                     m.at(2, j)        ->  m.p[2 * m.nx + j]
{ const int k = i * nx + j; return p[k]; }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from regionpredict.frontend.syntax.addresses import substituted
from regionpredict.frontend.syntax.nodes import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Compound,
    Decl,
    DeclStmt,
    Expression,
    ExprStmt,
    FloatLit,
    Function,
    If,
    IntLit,
    Member,
    Name,
    Opaque,
    Return,
    Stmt,
    Ternary,
    Unary,
)
from regionpredict.frontend.syntax.predicates import assigned_place, without_casts
from regionpredict.frontend.syntax.traversal import ends_here, every_expression

# Functions that failed assertions call. A correct run does not call them.
_ASSERTION = frozenset(("__assert_fail", "__assert", "__assert_rtn", "_wassert", "abort"))


def with_accessors_inlined(function: Function, args: tuple[Expression, ...]) -> Expression | None:
    """Returns the value of a call with its arguments substituted. None if the result could differ.

    The function must consist of assertions, names for parts of its value, and one `return`. An
    argument that the function uses twice must have no cost and no side effects.
    """
    value = _only_return(function.body)
    if value is None or len(args) != len(function.parameters):
        return None
    return _substituted(value, dict(zip(function.parameters, args, strict=True)))


def _substituted(value: Expression, given: Mapping[Decl, Expression]) -> Expression | None:
    """Replaces names in a value by their values. Returns None if this could change the result."""
    inside = list(every_expression(value))
    uses = Counter(e.decl for e in inside if isinstance(e, Name))
    if any(uses[decl] != 1 and not _has_no_cost(part) for decl, part in given.items()):
        return None
    changed = {place.decl for e in inside if isinstance(place := assigned_place(e), Name)}
    return None if changed & given.keys() else substituted(value, given)


def member_initial_values(
    constructor: Function, args: tuple[Expression, ...]
) -> tuple[Expression, ...]:
    """Returns the initial values of members, such as `.p = a + i`. Empty unless the constructor
    only initializes members and at least one of them is a pointer.
    """
    given: list[Expression] = []
    handed = dict(zip(constructor.parameters[1:], args[1:], strict=False))  # without the object
    if _flattened(constructor.body) or len(args) != len(constructor.parameters):
        return ()
    for setting in constructor.initialisers:
        if not isinstance(setting, Assign) or not isinstance(setting.left, Member):
            return ()
        value = _substituted(setting.right, handed)
        if value is None:
            return ()
        given.append(Opaque(f".{setting.left.field.name}", (value,)))
    pointers = any(
        isinstance(setting, Assign) and isinstance(setting.left, Member)
        and setting.left.field.ctype.kind == "pointer" for setting in constructor.initialisers
    )  # fmt: skip
    return tuple(given) if pointers else ()


def member_path(value: Expression, address: Expression) -> str:
    """Returns the path of a member: `.m_n` for the value `d.m_n` and the address `&d`, or
    `.m_x.size()`. "" for any other value.
    """
    if isinstance(value, Cast):
        return member_path(value.operand, address)
    if isinstance(value, CallExpr) and value.free and len(value.args) == 1:
        inner = member_path(value.args[0], address)
        return f"{inner}.{value.name}()" if inner else ""
    if not isinstance(value, Member) or value.base is None:
        return ""
    reached = value.base is address if value.arrow else _is_object_at(address, value.base)
    if reached:
        return f".{value.field.name}"
    inner = member_path(value.base, address)
    return f"{inner}.{value.field.name}" if inner and not value.arrow else ""


def _is_object_at(address: Expression, place: Expression) -> bool:
    return isinstance(address, Unary) and address.op == "&" and address.operand is place


def _only_return(body: Stmt) -> Expression | None:
    """Returns the result of a function without other effects. Local names are substituted, as in
    `const int k = i * nx + j; return p[k];`.
    """
    *before, last = [item for item in _flattened(body) if not _is_assertion(item)] or [body]
    value = last.value if isinstance(last, Return) else None
    for statement in reversed(before):
        if value is None or not isinstance(statement, DeclStmt):
            return None
        for decl in reversed(statement.decls):
            if decl.kind == "static":
                continue  # a static object keeps its name
            if decl.init is None or decl.ctype.kind not in ("int", "pointer"):
                return None
            if decl.ctype.kind == "pointer" and _contains_call(decl.init):
                return None  # an allocation is a side effect
            part = Cast(decl.ctype, decl.init) if decl.ctype.kind == "int" else decl.init
            value = None if value is None else _substituted(value, {decl: part})
    return value


def _contains_call(value: Expression) -> bool:
    return any(isinstance(inside, CallExpr) for inside in every_expression(value))


def _flattened(body: Stmt) -> list[Stmt]:
    if isinstance(body, Compound):
        return [inner for item in body.items for inner in _flattened(item)]
    return [body]


def _is_assertion(statement: Stmt) -> bool:
    """Whether a statement is an assertion: `assert(i < n)` in any expansion of the macro, including
    an empty one, or `if (i >= n) throw std::out_of_range("i");`.
    """
    if isinstance(statement, If):
        *_, last = _flattened(statement.then) or [statement.then]
        return (
            statement.other is None
            and isinstance(last, ExprStmt)
            and _is_failed_assertion(last.expr)
        )
    if not isinstance(statement, ExprStmt):
        return False
    bare = without_casts(statement.expr)
    if isinstance(bare, IntLit):
        return True
    return isinstance(bare, (Ternary, Binary)) and any(
        map(_is_failed_assertion, every_expression(bare))
    )


def _is_failed_assertion(expression: Expression) -> bool:
    asserted = isinstance(expression, CallExpr) and expression.name in _ASSERTION
    return asserted or ends_here(expression)


def _has_no_cost(argument: Expression) -> bool:
    """Whether the argument is a name, a constant, an address, or a sum or product of these.

    It contains no load, call or side effect.
    """
    if isinstance(argument, (Name, IntLit, FloatLit)):
        return True
    if isinstance(argument, Cast):
        return _has_no_cost(argument.operand)
    if isinstance(argument, Binary):
        sum_ = argument.op in ("+", "-", "*")
        return sum_ and _has_no_cost(argument.left) and _has_no_cost(argument.right)
    if isinstance(argument, Member):
        return argument.base is None or _has_no_cost(argument.base)
    if isinstance(argument, Unary):
        if argument.op == "&":
            return not any(isinstance(e, (CallExpr, Assign)) for e in every_expression(argument))
        return argument.op in ("*", "-") and isinstance(argument.operand, Name)
    return False
