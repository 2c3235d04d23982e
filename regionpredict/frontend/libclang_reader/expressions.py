"""libclang's expressions -> the front ends' syntax tree."""

from __future__ import annotations

from collections.abc import Callable

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.cursors import (
    BLOCK,
    CONSTRUCTOR,
    FUNCTIONS,
    IMPLICIT,
    MEMBER,
    NAME,
    SUBSCRIPT,
    UNARY,
    WRAPPERS,
    Node,
    unwrapped,
)
from regionpredict.frontend.libclang_reader.declarations import NO_SPAN, Declarations
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Cast,
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
)
from regionpredict.frontend.text import string_value
from regionpredict.ir import Span

_BINARY = (
    "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=",
    "&", "^", "|", "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=",
    ",",
)  # fmt: skip
_UNARY = (
    "", "p++", "p--", "++", "--", "&", "*", "+", "-", "~", "!", "__real", "__imag",
    "__extension__", "co_await",
)  # fmt: skip
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))
_ASSIGNS = frozenset(op for op in _BINARY if op.endswith("=")) - _COMPARISONS
_FLOAT = 21  # CXType_Float
_IMPLICIT = frozenset((IMPLICIT,))
_CALLED = WRAPPERS | {UNARY}
# What an expression that is not understood is called in a diagnostic.
_CONSTRUCTS = {
    109: "", 118: "", 119: "{}", 121: "statement expression",
    122: "_Generic", 120: "label address", 132: "this",
    133: "throw", 134: "new", 135: "delete", 144: "lambda",
}  # fmt: skip


class ExpressionBuilder:
    """Builds `Expression`s; `on_lambda` is handed the body of each lambda met."""

    def __init__(self, declarations: Declarations, on_lambda: Callable[[Node], None]) -> None:
        self._lib = lc.library()
        self._declarations = declarations
        self._on_lambda = on_lambda
        self._names: dict[Decl, Name] = {}
        self._table: dict[int, Callable[[Node], Expression]] = {
            100: self._wrapper,
            101: self._name,
            102: self._member,
            103: self._call,
            106: self._integer,
            107: self._floating,
            109: self._string,
            108: lambda node: FloatLit(64),  # an imaginary constant
            110: self._integer,
            111: self._wrapper,
            112: self._unary,
            113: self._index,
            114: self._binary,
            115: self._binary,
            116: self._ternary,
            117: self._cast,
            118: self._opaque,
            121: self._statement_expression,
            124: self._cast,
            126: self._cast,
            127: self._cast,
            128: self._cast,
            130: self._integer,
            136: self._sizeof,
            144: self._lambda,
        }

    def build(self, node: Node) -> Expression:
        """The expression at a node; `Opaque` for one that is not understood."""
        while node.kind in WRAPPERS and len(node.children) == 1:
            node = node.children[0]
        build = self._table.get(node.kind)
        return build(node) if build else self._opaque(node)

    def compares(self, node: Node) -> bool:
        """Whether it looks like the condition of a loop."""
        node = unwrapped(node)
        if node.kind != 114:
            return node.kind in (NAME, MEMBER, SUBSCRIPT)
        op = _BINARY[self._lib.clang_getCursorBinaryOperatorKind(node.cursor)]
        return op in _COMPARISONS or op in ("&&", "||")

    def _opaque(self, node: Node) -> Expression:
        inner = tuple(self.build(child) for child in node.children if child.kind >= 100)
        return Opaque(_CONSTRUCTS.get(node.kind, "an expression of this kind"), inner)

    def _lambda(self, node: Node) -> Expression:
        for child in node.children:
            if child.kind == BLOCK:
                self._on_lambda(child)
        return Opaque("lambda")

    def _string(self, node: Node) -> Expression:
        return Opaque("", string=string_value(lc.spelling(node.cursor)))

    def _statement_expression(self, node: Node) -> Expression:
        """`({ if (!x) fail(); })`, without a value: its statements stand beside its own one."""
        block = node.children[-1] if node.children else None
        if block is None or not block.children or block.children[-1].kind < BLOCK:
            return self._opaque(node)
        self._on_lambda(block)
        return Opaque("")

    def _wrapper(self, node: Node) -> Expression:
        return self._integer(node) if not node.children else self._opaque(node)

    # -- names ----------------------------------------------------------------------------------

    def _name(self, node: Node) -> Expression:
        decl = self._declarations.referred(node.cursor)
        if decl is None:
            return Opaque(lc.spelling(node.cursor))
        if decl.value is not None:
            return IntLit(decl.value)
        name = self._names.get(decl)  # all uses are the same value: made once
        if name is None:
            name = self._names[decl] = Name(decl, NO_SPAN)
        return name

    def _member(self, node: Node) -> Expression:
        field = self._declarations.referred(node.cursor)
        bases = [child for child in node.children if child.kind >= 100]
        base = self.build(bases[0]) if bases else None
        if field is None:
            return Opaque(lc.spelling(node.cursor), (base,) if base is not None else ())
        if field.kind == "function":
            return Opaque(field.name, (base,) if base is not None else ())
        # A pointer, or an array that decays to one: the base's own type says so.
        arrow = bool(bases) and self._declarations.type_at(bases[0].cursor).kind in (
            "pointer",
            "array",
        )
        return Member(base, field, arrow, NO_SPAN)

    def _call(self, node: Node) -> Expression:
        target = self._lib.clang_getCursorReferenced(node.cursor)
        children = node.children
        name = lc.spelling(node.cursor)
        if not name and not children:
            return Opaque("")  # T(): the value of a type that is not known yet
        if not name and children:  # (f)(x), (*f)(x): the library looks through no parentheses
            callee = unwrapped(children[0], _CALLED)
            target = self._lib.clang_getCursorReferenced(callee.cursor)
            if callee.kind in (NAME, MEMBER):
                name = lc.spelling(callee.cursor)
        decl = self._declarations.of(target) if target.kind in FUNCTIONS else None
        span = self._declarations.span(node.cursor)
        if decl is not None and name.startswith("operator"):
            return self._operator(name, children, decl, span)
        if decl is not None and target.kind == CONSTRUCTOR:  # a conversion or a copy
            inner = tuple(self.build(c) for c in children if c.kind >= 100)
            return inner[0] if len(inner) == 1 else Opaque(name, inner)
        args = tuple(self.build(c) for c in children[1:])
        method = False
        if children and children[0].kind == MEMBER:
            base = self.build(children[0])
            if isinstance(base, Opaque):  # a method's object is its first operand
                args = base.children + args
                method = bool(base.children)
        return CallExpr(name or "(pointer)", decl, args, span, method)

    def _operator(self, name: str, children: list[Node], decl: Decl, span: Span) -> Expression:
        # An overloaded operator's children are its operands with the operator's name among them.
        operands = [self.build(c) for c in children if not _names_operator(c)]
        op = name[len("operator") :].strip()
        if op in ("[]", "()") and len(operands) >= 2:
            result: Expression = operands[0]
            for index in operands[1:]:
                result = Index(result, index, span)
            return result
        if op.endswith("=") and op not in ("==", "!=", "<=", ">=") and len(operands) == 2:
            return Assign(op, operands[0], operands[1], span)
        if len(operands) == 2 and op in ("+", "-", "*", "/", "%", *_COMPARISONS):
            return Binary(op, operands[0], operands[1])
        if len(operands) == 1 and op in ("*", "-", "++", "--", "!"):
            return Unary(op, operands[0], span)
        return CallExpr(name, decl, tuple(operands), span)

    # -- constants ------------------------------------------------------------------------------

    def _integer(self, node: Node) -> Expression:
        value = lc.integer(node.cursor)
        return IntLit(value) if value is not None else Opaque("?")

    def _sizeof(self, node: Node) -> Expression:
        value = lc.integer(node.cursor)
        return IntLit(value) if value is not None else Opaque("sizeof")

    def _floating(self, node: Node) -> Expression:
        kind = self._lib.clang_getCursorType(node.cursor).kind
        return FloatLit(32 if kind == _FLOAT else 64, lc.floating(node.cursor))

    # -- operators ------------------------------------------------------------------------------

    def _unary(self, node: Node) -> Expression:
        op = _UNARY[self._lib.clang_getCursorUnaryOperatorKind(node.cursor)]
        operand = self.build(node.children[0]) if node.children else Opaque("?")
        if op in ("+", "__extension__", "__real"):
            return operand
        if op == "-" and isinstance(operand, IntLit):
            return IntLit(-operand.value)
        if op == "-" and isinstance(operand, FloatLit):
            return FloatLit(operand.bits, -operand.value)
        span = self._declarations.span(node.cursor) if op == "*" else NO_SPAN
        return Unary(op, operand, span)

    def _index(self, node: Node) -> Expression:
        if len(node.children) != 2:
            return self._opaque(node)
        return self._subscripted(node, self._declarations.span(node.cursor))

    def _subscripted(self, node: Node, span: Span) -> Expression:
        """`a[i][j]`: all links of the chain begin where it begins, so that is read once."""
        base, index = node.children
        inner = unwrapped(base, _IMPLICIT)
        if inner.kind == SUBSCRIPT and len(inner.children) == 2:
            built = self._subscripted(inner, span)
        else:
            built = self.build(base)
        return Index(built, self.build(index), span)

    def _binary(self, node: Node) -> Expression:
        if len(node.children) != 2:
            return self._opaque(node)
        op = _BINARY[self._lib.clang_getCursorBinaryOperatorKind(node.cursor)]
        left, right = self.build(node.children[0]), self.build(node.children[1])
        if op in _ASSIGNS:
            return Assign(op, left, right, NO_SPAN)
        return Binary(op, left, right)

    def _ternary(self, node: Node) -> Expression:
        if len(node.children) != 3:
            return self._opaque(node)
        condition, then, other = (self.build(child) for child in node.children)
        return Ternary(condition, then, other)

    def _cast(self, node: Node) -> Expression:
        # The extents of a type like `double (*)[n]` are children too, in front of the operand.
        operands = [child for child in node.children if child.kind >= 100]
        if not operands:
            return self._opaque(node)
        return Cast(self._declarations.type_at(node.cursor), self.build(operands[-1]))


def _names_operator(node: Node) -> bool:
    node = unwrapped(node, _IMPLICIT)
    return node.kind == NAME and lc.spelling(node.cursor).startswith("operator")
