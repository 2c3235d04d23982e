"""Expressions as C text, in one normal form for both front ends."""

from __future__ import annotations

from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Expression,
    FloatLit,
    Index,
    IntLit,
    Member,
    Name,
    Ternary,
    Unary,
)

_PRECEDENCE = {
    ",": 0, "=": 1, "?": 2, "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8, "<": 9,
    ">": 9, "<=": 9, ">=": 9, "<<": 10, ">>": 10, "+": 11, "-": 11, "*": 12, "/": 12, "%": 12,
}  # fmt: skip
_UNARY = 13
_POSTFIX = 14


def show(expression: Expression) -> str:
    """The expression as text: `C[i][j] += alpha*A[i][k]`."""
    return _show(expression)[0]


def _inner(expression: Expression, precedence: int) -> str:
    text, own = _show(expression)
    return text if own >= precedence else f"({text})"


def _show(expression: Expression) -> tuple[str, int]:
    if isinstance(expression, Name):
        return expression.decl.name, _POSTFIX
    if isinstance(expression, IntLit):
        return str(expression.value), _POSTFIX if expression.value >= 0 else _UNARY
    if isinstance(expression, FloatLit):
        return repr(expression.value), _POSTFIX
    if isinstance(expression, Index):
        return f"{_inner(expression.base, _POSTFIX)}[{show(expression.index)}]", _POSTFIX
    if isinstance(expression, Member):
        if expression.base is None:
            return expression.field.name, _POSTFIX
        dot = "->" if expression.arrow else "."
        return f"{_inner(expression.base, _POSTFIX)}{dot}{expression.field.name}", _POSTFIX
    if isinstance(expression, CallExpr):
        return f"{expression.name}({', '.join(map(show, expression.args))})", _POSTFIX
    if isinstance(expression, Unary):
        if expression.op in ("p++", "p--"):
            return _inner(expression.operand, _POSTFIX) + expression.op[1:], _POSTFIX
        return expression.op + _inner(expression.operand, _UNARY), _UNARY
    if isinstance(expression, Cast):
        return f"({type_name(expression.ctype)}){_inner(expression.operand, _UNARY)}", _UNARY
    return _show_operator(expression)


def _show_operator(expression: Expression) -> tuple[str, int]:
    if isinstance(expression, Assign):
        right = _inner(expression.right, 1)
        return f"{_inner(expression.left, 2)} {expression.op} {right}", 1
    if isinstance(expression, Ternary):
        condition, then = _inner(expression.condition, 3), show(expression.then)
        return f"{condition} ? {then} : {_inner(expression.other, 2)}", 2
    if isinstance(expression, Binary):
        own = _PRECEDENCE.get(expression.op, 8)
        left, right = _inner(expression.left, own), _inner(expression.right, own + 1)
        if expression.op == ",":
            return f"{left}, {right}", own
        return f"{left} {expression.op} {right}", own
    return "?", _POSTFIX


def type_name(ctype: CType) -> str:
    """A C name for the type."""
    if ctype.kind == "float":
        return {32: "float", 64: "double"}.get(ctype.bits, "long double")
    if ctype.kind == "int":
        names = {8: "char", 16: "short", 32: "int", 64: "long"}
        return ("unsigned " if ctype.unsigned else "") + names.get(ctype.bits, "int")
    if ctype.kind == "pointer" and ctype.element is not None:
        return type_name(ctype.element) + " *"
    return ctype.name or ctype.kind
