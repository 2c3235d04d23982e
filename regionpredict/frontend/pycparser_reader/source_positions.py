"""Finds the first and last token of pycparser's nodes. pycparser gives only one token per node.

The coordinate of a node is the index of a token (`CToken.column`). The neighboring tokens determine
the start of an expression, a declaration or a statement, as in libclang.
"""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from regionpredict.frontend.pycparser_reader.token_rewriting import CToken
from regionpredict.frontend.pycparser_reader.tokens import Spot
from regionpredict.ir import Span

_PREFIX = frozenset(("(", "*", "&", "+", "-", "~", "!", "++", "--"))
_HEADED = frozenset(("for", "if", "while", "switch"))
_TAGGED = frozenset(("struct", "union", "enum"))
_POSTFIX = frozenset(("[", ".", "->", "(", "++", "--"))
_DECLARATORS = (c_ast.Decl, c_ast.Typedef, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)
_NOWHERE = Spot("", 0, 0, 0)


class Places:
    """Finds the source positions of nodes from the tokens of a file. `partner` gives the matching
    brackets.
    """

    def __init__(
        self, tokens: list[CToken], partner: list[int], attributes: dict[int, int] | None = None
    ) -> None:
        self.tokens = tokens
        self.partner = partner
        self.attributes = attributes or {}

    def index(self, node: Any) -> int:
        """Returns the index of the token that pycparser gives for a node, or -1."""
        coord = getattr(node, "coord", None)
        return coord.column if coord is not None and coord.column is not None else -1

    def name_index(self, node: Any) -> int:
        """Returns the token index of the name that a node declares."""
        while isinstance(node, _DECLARATORS):
            node = node.type
        return self.index(node)

    def spot(self, index: int) -> Spot:
        """Returns the source position of a token, with its byte offset."""
        return self.tokens[index].spot if 0 <= index < len(self.tokens) else _NOWHERE

    def span(self, index: int) -> Span:
        """Returns the source position of a token as a `Span`."""
        spot = self.spot(index)
        return Span(spot.file, spot.line, spot.column)

    def attribute(self, node: Any) -> int | None:
        """Returns the alignment in bytes that an attribute of a declaration or struct sets, or 0
        for packed. Returns None without an attribute.
        """
        if not self.attributes:
            return None
        if isinstance(node, (c_ast.Struct, c_ast.Union)):
            at = self.index(node)
            while at < len(self.tokens) - 1 and self.tokens[at].value != "{":
                at += 1
            candidates = [self.attributes.get(i) for i in range(self.index(node) - 2, at)]
            closing = self.partner[at] if 0 <= at < len(self.partner) else -1
            candidates.append(self.attributes.get(closing) if closing >= 0 else None)
        else:
            name = self.name_index(node)
            candidates = [self.attributes.get(i) for i in range(name, self._semicolon(name))]
            before = self.declaration_start(name)
            candidates += [self.attributes.get(i) for i in range(before - 1, name)]
        alignments = [candidate for candidate in candidates if candidate is not None]
        return max(alignments) if alignments else None

    # -- expressions ----------------------------------------------------------------------------

    def expression_start(self, node: Any) -> int:
        """Returns the index of the first token of an expression, without enclosing parentheses."""
        if isinstance(node, (c_ast.ArrayRef, c_ast.StructRef, c_ast.FuncCall)):
            return self._operand_start(node.name)
        if isinstance(node, c_ast.UnaryOp):
            if node.op in ("p++", "p--"):
                return self._operand_start(node.expr)
            if node.op in ("sizeof", "_Alignof"):
                return self.index(node)
            return self._operator_start(node)
        if isinstance(node, (c_ast.BinaryOp, c_ast.Assignment, c_ast.TernaryOp)):
            left = node.cond if isinstance(node, c_ast.TernaryOp) else (
                node.left if isinstance(node, c_ast.BinaryOp) else node.lvalue
            )  # fmt: skip
            return self.expression_start(left)
        if isinstance(node, c_ast.ExprList) and node.exprs:
            return self.expression_start(node.exprs[0])
        return self.index(node)

    def _operator_start(self, node: Any) -> int:
        start = self.expression_start(node.expr)
        at = start
        while at > 0 and self.tokens[at - 1].value == "(" and node.op != "(":
            at -= 1
        if at > 0 and self.tokens[at - 1].value == node.op:
            return at - 1
        return start

    def _operand_start(self, base: Any) -> int:
        """Returns the index of the first token of the operand of `[`, `.`, `->` or a call,
        including parentheses.
        """
        start = self.expression_start(base)
        if isinstance(base, c_ast.ID):
            plain = start + 1 < len(self.tokens) and self.tokens[start + 1].value in _POSTFIX
        else:
            plain = isinstance(base, (c_ast.ArrayRef, c_ast.FuncCall))
        if plain or (isinstance(base, c_ast.UnaryOp) and base.op[0] == "p"):
            return start
        while start > 0 and self.tokens[start - 1].value == "(":
            closing = self.partner[start - 1]
            if closing < 0 or closing + 1 >= len(self.tokens):
                break
            if self.tokens[closing + 1].value not in _POSTFIX:
                break
            start -= 1
        return start

    def statement_start(self, node: Any) -> int:
        """Returns the index of the first token of an expression statement, including
        parentheses.
        """
        start = self.expression_start(node)
        while start > 0 and self.tokens[start - 1].value in _PREFIX:
            before = self.tokens[start - 2].value if start > 1 else ""
            if self.tokens[start - 1].value == "(" and before in _HEADED:
                break
            start -= 1
        return start

    # -- declarations ---------------------------------------------------------------------------

    def declaration_start(self, index: int, until: str = "") -> int:
        """Returns the index of the first token of the declaration whose name or type is at `index`.

        `until` contains the tokens that end the previous declaration: `,` between parameters, and
        `)` before K&R parameters.
        """
        at = index
        while at > 0:
            before = self.tokens[at - 1]
            value = before.value
            if value in (";", "{") or value in until:
                break
            if value == "}":
                opening = self.partner[at - 1]
                if opening < 0 or not self._is_members_or_list(opening):
                    break
                at = opening
            elif value in (")", "]"):
                if self.partner[at - 1] < 0:
                    break
                at = self.partner[at - 1]
            elif value in ("(", "["):
                # Only a parenthesis of a declarator, as in `double (*p)[n]`, is skipped.
                if self.tokens[at].value not in ("*", "("):
                    break
                at -= 1
            else:
                at -= 1
        return at

    def _is_members_or_list(self, opening: int) -> bool:
        """Returns whether a `{` starts the members of a struct or an initializer list, as opposed
        to a block.
        """
        before = self.tokens[opening - 1] if opening > 0 else None
        if before is None:
            return False
        if before.value in _TAGGED or before.value in ("=", ",", "{"):
            return True
        tag = self.tokens[opening - 2].value if opening > 1 else ""
        return before.type in ("ID", "TYPEID") and tag in _TAGGED

    # -- ends -----------------------------------------------------------------------------------

    def end(self, node: Any) -> int:
        """Returns the index of the last token of a statement."""
        if isinstance(node, c_ast.Compound):
            return max(self.index(node), self.partner[self.index(node)])
        if isinstance(node, (c_ast.For, c_ast.While, c_ast.Switch)):
            return self.end(node.stmt)
        if isinstance(node, c_ast.If):
            return self.end(node.iffalse if node.iffalse is not None else node.iftrue)
        if isinstance(node, c_ast.Label):
            return self.end(node.stmt)
        if isinstance(node, (c_ast.Case, c_ast.Default)):
            return self.end(node.stmts[-1]) if node.stmts else self._semicolon(self.index(node))
        if isinstance(node, c_ast.DoWhile):
            return self._semicolon(self.end(node.stmt) + 1)
        return self._semicolon(self.index(node))

    def _semicolon(self, at: int) -> int:
        while 0 <= at < len(self.tokens) - 1 and self.tokens[at].value != ";":
            jump = self.partner[at]
            at = jump + 1 if jump > at else at + 1
        return at
