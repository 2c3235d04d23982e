"""Converts pycparser's expressions to the front ends' syntax tree."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from pycparser import c_ast

from regionpredict.frontend.pycparser_reader.constants import floating, literal
from regionpredict.frontend.pycparser_reader.source_positions import Places
from regionpredict.frontend.pycparser_reader.token_rewriting import IMAGINARY, OMITTED
from regionpredict.frontend.pycparser_reader.types import Scope, TypeReader
from regionpredict.frontend.syntax import (
    DOUBLE,
    INT,
    UNKNOWN,
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Decl,
    Expression,
    FloatLit,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    Ternary,
    Unary,
    atomic_update,
    place_of_function,
    show,
)
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.frontend.text import string_value
from regionpredict.ir import Span

_NO_SPAN = Span("", 0)
_FLOAT = CType("float", 32)
_UNSUPPORTED = "an expression of this kind"  # in diagnostics
_UNNAMED = {
    IMAGINARY: "imaginary constant", OMITTED: _UNSUPPORTED, "__func__": "", "__FUNCTION__": "",
    "__PRETTY_FUNCTION__": "",
}  # fmt: skip
_VOID = CType("void")
_MATH = frozenset(
    [
        "sqrt",
        "fabs",
        "pow",
        "exp",
        "log",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "floor",
        "ceil",
        "fmod",
        "fmin",
        "fmax",
        "round",
        "trunc",
        "cbrt",
        "hypot",
        "copysign",
        "huge_val",
        "inf",
        "nan",
    ]
)
_LIBRARY = {
    "abort": _VOID, "exit": _VOID, "free": _VOID, "trap": _VOID, "unreachable": _VOID,
    "prefetch": _VOID, "expect": CType("int", 64), "strlen": CType("int", 64, True),
    **dict.fromkeys(("malloc", "calloc", "realloc", "memset", "memcpy", "memmove", "alloca",
                     "assume_aligned"),
                    CType("pointer", 64, element=_VOID)),
}  # fmt: skip


def library_type(name: str) -> CType:
    """Returns the return type of an undeclared function: that of a library function of this name,
    or `int`.
    """
    bare = name.removeprefix("__builtin_")
    if bare in _LIBRARY:
        return _LIBRARY[bare]
    if bare in _MATH:
        return DOUBLE
    return _FLOAT if bare[-1:] == "f" and bare[:-1] in _MATH else INT


def _is_atomic(place: Expression) -> bool:
    """Returns whether an expression is an `_Atomic` variable, or an element of an array of such
    variables.
    """
    while isinstance(place, Index):
        place = place.base
    return isinstance(place, Name) and place.decl.is_atomic


class ExpressionBuilder:
    """Builds `Expression`s from pycparser's nodes. Undeclared functions are added to `implicit`."""

    def __init__(self, places: Places, types: Callable[[], TypeReader], implicit: Scope) -> None:
        self.places = places
        self._types = types
        self._implicit = implicit
        self._builders: dict[type, Callable[[Any, Scope], Expression]] = {
            c_ast.ID: self._build_name,
            c_ast.Constant: self._build_constant,
            c_ast.UnaryOp: self._build_unary,
            c_ast.BinaryOp: self._build_binary,
            c_ast.Assignment: self._build_assignment,
            c_ast.TernaryOp: self._build_ternary,
            c_ast.ArrayRef: self._build_index,
            c_ast.StructRef: self._build_member,
            c_ast.FuncCall: self._build_call,
            c_ast.Cast: self._build_cast,
            c_ast.ExprList: self._build_comma,
            c_ast.InitList: self._build_initializer_list,
            c_ast.NamedInitializer: self._build_designated,
            c_ast.CompoundLiteral: self._build_compound_literal,
            c_ast.Compound: self._build_statement_expression,
            c_ast.GenericSelection: lambda node, scope: Opaque("_Generic"),
        }

    def build(self, node: Any, scope: Scope) -> Expression:
        """Converts the expression at a node. An unsupported expression becomes an `Opaque`."""
        builder = self._builders.get(type(node))
        return builder(node, scope) if builder else Opaque(_UNSUPPORTED)

    def _build_name(self, node: Any, scope: Scope) -> Expression:
        decl = scope.find(node.name)
        if decl is None:
            return Opaque(_UNNAMED.get(node.name, node.name))
        if decl.value is not None:
            return IntLit(decl.value)
        return Name(decl, _NO_SPAN)

    def _build_constant(self, node: Any, scope: Scope) -> Expression:
        if node.type == "string":
            return Opaque("", string=string_value(node.value))
        if node.type == "char" or "int" in node.type:
            value = literal(node)
            if not isinstance(value, int):
                return Opaque(_UNSUPPORTED)
            long = "long" in node.type or value >= 1 << 32
            # A hexadecimal constant beyond int is unsigned, and a decimal one is long.
            plain = node.value[:1] != "0"
            fits = value < 1 << 31 or "unsigned" in node.type
            return IntLit(value, 64 if long or (plain and not fits) else 32,
                          "unsigned" in node.type or not (fits or plain))  # fmt: skip
        if node.type == "float":
            (rounded,) = struct.unpack("f", struct.pack("f", _finite(floating(node.value))))
            return FloatLit(32, rounded)
        return FloatLit(64, floating(node.value))

    def _build_unary(self, node: Any, scope: Scope) -> Expression:
        if node.op in ("sizeof", "_Alignof"):
            value = self._types().size_of(node.expr, scope, alignment=node.op != "sizeof")
            return IntLit(value, 64, unsigned=True) if value is not None else Opaque("sizeof")
        operand = self.build(node.expr, scope)
        if node.op == "+":
            return operand
        if node.op == "-" and isinstance(operand, IntLit):
            return operand._replace(value=-operand.value)
        if node.op == "-" and isinstance(operand, FloatLit):
            return FloatLit(operand.bits, -operand.value)
        if node.op == "*" and isinstance(operand, Unary) and operand.op == "&":
            return operand.operand
        if _is_atomic(operand):
            update = atomic_update(node.op, operand, (), self._span(node))
            if update is not None:
                return update
        span = self._span(node) if node.op == "*" else _NO_SPAN
        return Unary(node.op, operand, span)

    def _span(self, node: Any) -> Span:
        return self.places.span(self.places.expression_start(node))

    def _build_binary(self, node: Any, scope: Scope) -> Expression:
        # A long sum is deeply nested on the left, so its left operands are visited iteratively.
        chain = [node]
        while isinstance(chain[-1].left, c_ast.BinaryOp):
            chain.append(chain[-1].left)
        result = self.build(chain[-1].left, scope)
        for item in reversed(chain):
            result = Binary(item.op, result, self.build(item.right, scope))
        return result

    def _build_assignment(self, node: Any, scope: Scope) -> Expression:
        left, right = self.build(node.lvalue, scope), self.build(node.rvalue, scope)
        if _is_atomic(left):
            update = atomic_update(node.op, left, (right,), self._span(node))
            if update is not None:
                return update
        return Assign(node.op, left, right, _NO_SPAN)

    def _build_ternary(self, node: Any, scope: Scope) -> Expression:
        return Ternary(
            self.build(node.cond, scope),
            self.build(node.iftrue, scope),
            self.build(node.iffalse, scope),
        )

    def _build_index(self, node: Any, scope: Scope) -> Expression:
        base, index = self.build(node.name, scope), self.build(node.subscript, scope)
        return Index(base, index, self._span(node))

    def _build_member(self, node: Any, scope: Scope) -> Expression:
        base = self.build(node.name, scope)
        ctype = type_of(base)
        arrow = node.type == "->"
        if arrow or ctype.kind in ("pointer", "array"):
            ctype = ctype.element or UNKNOWN
        field = self._types().field(ctype, node.field.name)
        if field is None:
            return Opaque(node.field.name, (base,))
        return Member(base, field, arrow, _NO_SPAN)

    def _build_call(self, node: Any, scope: Scope) -> Expression:
        callee = node.name
        while isinstance(callee, c_ast.UnaryOp) and callee.op == "*":
            callee = callee.expr
        arguments = list(node.args.exprs) if node.args is not None else []
        if isinstance(callee, c_ast.ID) and callee.name == "__builtin_va_arg":
            return self.build(arguments[0], scope)
        if isinstance(callee, c_ast.ID) and callee.name == "offsetof":
            return Opaque(_UNSUPPORTED)
        args = tuple(self.build(argument, scope) for argument in arguments)
        span = self._span(node)
        if isinstance(callee, c_ast.ID):
            decl = scope.find(callee.name) or self._implicit_function(callee.name, span)
            if decl.kind == "function":
                return CallExpr(callee.name, decl, args, span)
        called = self.build(callee, scope)
        name = show(called)
        if isinstance(callee, c_ast.ID):
            name = callee.name
        elif isinstance(callee, c_ast.StructRef):
            name = callee.field.name
        return CallExpr(name, None, args, span, pointer=place_of_function(called))

    def _implicit_function(self, name: str, span: Span) -> Decl:
        ctype = library_type(name)
        decl = Decl(name, "function", ctype, span, symbol=name)
        self._implicit.names[name] = decl
        return decl

    def _build_cast(self, node: Any, scope: Scope) -> Expression:
        self._types().define(node.to_type, scope)
        return Cast(self._types().read(node.to_type, scope), self.build(node.expr, scope))

    def _build_comma(self, node: Any, scope: Scope) -> Expression:
        parts = [self.build(item, scope) for item in node.exprs]
        result = parts[0]
        for part in parts[1:]:
            result = Binary(",", result, part)
        return result

    def _build_initializer_list(self, node: Any, scope: Scope) -> Expression:
        return Opaque("{}", tuple(self.build(item, scope) for item in node.exprs or ()))

    def _build_designated(self, node: Any, scope: Scope) -> Expression:
        inner = [item for item in node.name if not isinstance(item, c_ast.ID)]
        parts = [self.build(getattr(item, "expr", item), scope) for item in (*inner, node.expr)]
        member = _UNSUPPORTED
        if len(node.name) == 1:
            member = "[]" if inner else f".{node.name[0].name}"
        return Opaque(member, tuple(parts))

    def _build_compound_literal(self, node: Any, scope: Scope) -> Expression:
        self._types().define(node.type, scope)
        ctype = self._types().read(node.type, scope)
        elements = self._types().with_members_named(self.build(node.init, scope), ctype)
        struct = ctype.name if ctype.kind == "struct" else ""
        return Opaque("", (elements,), struct=struct)

    def _build_statement_expression(self, node: Any, scope: Scope) -> Expression:
        return Opaque("statement expression", (self._statement_in_expression(node, Scope(scope)),))

    def _statement_in_expression(self, node: Any, scope: Scope) -> Expression:
        """Converts a statement inside an expression to an `Opaque`, which ignores its effects."""
        inner_expressions: list[Expression] = []
        for _, child in node.children():
            if isinstance(child, c_ast.Decl) and child.name:
                self._types().define(child.type, scope)
                ctype = self._types().read(child.type, scope)
                scope.names[child.name] = Decl(child.name, "local", ctype, self._span(child))
                inner_expressions.append(Opaque(_UNSUPPORTED))
            elif isinstance(child, c_ast.Compound) or type(child) not in self._builders:
                inner_expressions.append(self._statement_in_expression(child, scope))
            else:
                inner_expressions.append(self.build(child, scope))
        return Opaque(_UNSUPPORTED, tuple(inner_expressions))


def _finite(value: float) -> float:
    return max(-3.4028234663852886e38, min(3.4028234663852886e38, value))
