"""Parses C expressions in text: array lengths in types, and arguments of clauses and options."""

from __future__ import annotations

import re
from collections.abc import Callable

from regionpredict.frontend.syntax import (
    Binary,
    Decl,
    Expression,
    FloatLit,
    IntLit,
    Name,
    Opaque,
    Ternary,
    Unary,
)
from regionpredict.ir import Span

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|\d+\.\d*(?:[eE][+-]?\d+)?|\d+)[uUlLfF]*|([A-Za-z_]\w*)|"
    r"(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>()?:!~&|^,]))"
)
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


class _Parser:
    def __init__(self, text: str, resolve: Callable[[str], Decl | None], span: Span) -> None:
        self.text = text
        self.resolve = resolve
        self.span = span
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if not match:
                raise ValueError(text)
            kind = "number" if match.group(1) else "name" if match.group(2) else "op"
            self.tokens.append((kind, match.group(1) or match.group(2) or match.group(3)))
            at = match.end()
        self.at = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, text: str) -> None:
        if self.peek()[1] != text:
            raise ValueError(self.text)
        self.at += 1

    def expression(self, minimum: int = 0) -> Expression:
        left = self.primary()
        while True:
            op = self.peek()[1]
            precedence = _PRECEDENCE.get(op)
            if op == "?" and minimum == 0:
                self.at += 1
                then = self.expression()
                self.take(":")
                return Ternary(left, then, self.expression())
            if precedence is None or precedence < minimum or self.peek()[0] != "op":
                return left
            self.at += 1
            left = Binary(op, left, self.expression(precedence + 1))

    def primary(self) -> Expression:
        kind, text = self.peek()
        self.at += 1
        if kind == "number":
            return IntLit(int(text, 0)) if not set(text) & set(".") else FloatLit()
        if kind == "name":
            decl = self.resolve(text)
            return Name(decl, self.span) if decl is not None else Opaque(text)
        if text == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if text in ("-", "+", "!", "~"):
            operand = self.primary()
            return operand if text == "+" else Unary(text, operand, self.span)
        raise ValueError(self.text)


def parse_expression(text: str, resolve: Callable[[str], Decl | None], span: Span) -> Expression:
    """Parses the expression in `text`. `resolve` finds the names. Unsupported text becomes
    `Opaque`.

    >>> product = parse_expression("2*(3+4)", lambda name: None, Span("f.c", 1))
    >>> product.op, product.left.value, product.right.op
    ('*', 2, '+')
    """
    try:
        parser = _Parser(text, resolve, span)
        result = parser.expression()
    except (ValueError, RecursionError):
        return Opaque(text)
    return result if parser.peek()[0] == "end" else Opaque(text)
