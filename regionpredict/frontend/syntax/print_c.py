"""Formats expressions as C text, in one normal form for both front ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regionpredict.frontend.syntax.nodes import (
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
from regionpredict.frontend.syntax.predicates import is_virtual

_PRECEDENCE = {
    ",": 0, "=": 1, "?": 2, "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8, "<": 9,
    ">": 9, "<=": 9, ">=": 9, "<<": 10, ">>": 10, "+": 11, "-": 11, "*": 12, "/": 12, "%": 12,
}  # fmt: skip
_UNARY = 13
_POSTFIX = 14


def show(expression: Expression) -> str:
    """Formats an expression: `C[i][j] += alpha*A[i][k]`."""
    return _format(expression)[0]


def _format(expression: Expression) -> tuple[str, int]:
    formatter = _FORMATTERS.get(type(expression))
    return formatter(expression) if formatter is not None else ("?", _POSTFIX)


def _format_operand(expression: Expression, precedence: int) -> str:
    text, own = _format(expression)
    return text if own >= precedence else f"({text})"


def _index(e: Index) -> tuple[str, int]:
    return f"{_format_operand(e.base, _POSTFIX)}[{_format(e.index)[0]}]", _POSTFIX


def _member(e: Member) -> tuple[str, int]:
    if e.base is None:
        return e.field.name, _POSTFIX
    dot = "->" if e.arrow else "."
    base = e.base
    if is_virtual(e) and isinstance(base, Cast):  # `shape->area`
        base = base.operand
    if isinstance(base, Name) and base.decl.reference:
        if base.decl.name == "this":
            return e.field.name, _POSTFIX
        dot = "."
    return f"{_format_operand(base, _POSTFIX)}{dot}{e.field.name}", _POSTFIX


def _unary(e: Unary) -> tuple[str, int]:
    if e.op in ("p++", "p--"):
        return _format_operand(e.operand, _POSTFIX) + e.op[1:], _POSTFIX
    if e.op == "*" and isinstance(e.operand, Name) and e.operand.decl.reference:
        name = e.operand.decl.name
        return ("*this", _UNARY) if name == "this" else (name, _POSTFIX)
    return e.op + _format_operand(e.operand, _UNARY), _UNARY


def _assign(e: Assign) -> tuple[str, int]:
    right = _format_operand(e.right, 1)
    return f"{_format_operand(e.left, 2)} {e.op} {right}", 1


def _ternary(e: Ternary) -> tuple[str, int]:
    condition, then = _format_operand(e.condition, 3), show(e.then)
    return f"{condition} ? {then} : {_format_operand(e.other, 2)}", 2


def _binary(e: Binary) -> tuple[str, int]:
    own = _PRECEDENCE.get(e.op, 8)
    left, right = _format_operand(e.left, own), _format_operand(e.right, own + 1)
    if e.op == ",":
        return f"{left}, {right}", own
    return f"{left} {e.op} {right}", own


# A table is fast. Every reference and every statement is formatted.
_FORMATTERS: dict[type, Callable[[Any], tuple[str, int]]] = {
    Name: lambda e: (e.decl.name, _POSTFIX),
    IntLit: lambda e: (str(e.value), _POSTFIX if e.value >= 0 else _UNARY),
    FloatLit: lambda e: (repr(e.value), _POSTFIX),
    Index: _index,
    Member: _member,
    CallExpr: lambda e: (f"{e.name}({', '.join(map(show, e.args))})", _POSTFIX),
    Unary: _unary,
    Cast: lambda e: (f"({type_name(e.ctype)}){_format_operand(e.operand, _UNARY)}", _UNARY),
    Assign: _assign,
    Ternary: _ternary,
    Binary: _binary,
}


def type_name(ctype: CType) -> str:
    """Returns the C name of a type."""
    if ctype.kind == "float":
        return {32: "float", 64: "double"}.get(ctype.bits, "long double")
    if ctype.kind == "int":
        names = {8: "char", 16: "short", 32: "int", 64: "long"}
        return ("unsigned " if ctype.unsigned else "") + names.get(ctype.bits, "int")
    if ctype.kind == "pointer" and ctype.element is not None:
        return type_name(ctype.element) + " *"
    return ctype.name or ctype.kind
