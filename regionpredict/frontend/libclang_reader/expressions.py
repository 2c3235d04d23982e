"""Converts libclang's expressions to the front ends' syntax tree."""

from __future__ import annotations

from collections.abc import Callable

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.atomics import (
    atomic_operation,
    is_atomic_object,
)
from regionpredict.frontend.libclang_reader.calls import Bounds, CallBuilder
from regionpredict.frontend.libclang_reader.cursors import (
    BLOCK,
    IMPLICIT,
    MEMBER,
    MEMBER_NAME,
    NAME,
    SUBSCRIPT,
    UNARY,
    WRAPPERS,
    Node,
    unwrap_node,
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
    Function,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    Ternary,
    Unary,
    address_of,
    atomic_update,
    member_of,
    with_members_named,
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
_INCREMENTS = frozenset(("++", "--", "p++", "p--"))
_FLOAT = 21  # CXType_Float
_UNSIGNED = frozenset((8, 9, 10, 11))  # short, int, long, long long
_LONG = frozenset((10, 11, 18, 19))
_IMPLICIT = frozenset((IMPLICIT,))
_UNSUPPORTED = "an expression of this kind"  # in diagnostics
# Names of unsupported expressions in diagnostics, by cursor kind.
_CONSTRUCTS = {
    109: "", 118: "", 121: "statement expression",
    122: "_Generic", 120: "label address", 132: "this",
    133: "throw", 134: "new", 144: "lambda",
}  # fmt: skip


class ExpressionBuilder:
    """Builds `Expression`s from libclang's nodes.

    `on_block` receives the statements inside an expression, and whether they run at once. The
    statements of a lambda run when it is called. `body_of` returns the function at a cursor, which
    is needed to inline accessors.
    """

    def __init__(
        self,
        declarations: Declarations,
        on_block: Callable[[Node, bool], None],
        body_of: Callable[[lc.Cursor], Function | None],
    ) -> None:
        self._lib = lc.load_libclang()
        self._declarations = declarations
        self._on_block = on_block
        self._calls = CallBuilder(declarations, self.build, body_of)
        self._names: dict[Decl, Name] = {}
        self._builders: dict[int, Callable[[Node], Expression]] = {
            100: self._build_wrapper,
            101: self._build_name,
            102: self._build_member,
            103: self._calls.build,
            106: self._build_integer,
            107: self._build_floating,
            109: self._build_string,
            108: lambda node: FloatLit(64),  # an imaginary constant
            110: self._build_integer,
            111: self._build_wrapper,
            112: self._build_unary,
            113: self._build_index,
            114: self._build_binary,
            115: self._build_binary,
            116: self._build_ternary,
            117: self._build_cast,
            118: self._build_compound_literal,
            119: self._build_initializer_list,
            121: self._build_statement_expression,
            123: lambda node: IntLit(0),  # `NULL` in C++, `__null`
            124: self._build_cast,
            126: self._build_cast,
            127: self._build_cast,
            128: self._build_cast,
            130: self._build_integer,
            131: lambda node: IntLit(0),  # `nullptr`
            132: self._build_this,
            134: self._build_new,
            135: self._build_delete,
            136: self._build_sizeof,
            144: self._build_lambda,
        }

    def build(self, node: Node) -> Expression:
        """Converts the expression at a node. An unsupported expression becomes an `Opaque`."""
        while node.kind in WRAPPERS and len(node.children) == 1:
            node = node.children[0]
        build = self._builders.get(node.kind)
        return build(node) if build else self._build_opaque(node)

    def bounds(self, node: Node, place: Expression, span: Span) -> Bounds | None:
        """Returns the calls of `begin()` and `end()` for the object `place` of a range loop."""
        return self._calls.bounds(node, place, span)

    def getters(self) -> frozenset[tuple[str, str]]:
        """Returns the accessor methods read so far, with their members: (`.m_n`, `size()`)."""
        return frozenset(self._calls.getters)

    def is_decrement(self, node: Node) -> bool:
        """Returns whether the expression is `j--`, which may be a loop's condition as well as its
        increment.
        """
        node = unwrap_node(node)
        if node.kind != UNARY:
            return False
        return _UNARY[self._lib.clang_getCursorUnaryOperatorKind(node.cursor)] == "p--"

    def may_be_condition(self, node: Node) -> bool:
        """Returns whether the expression may be the condition of a loop."""
        node = unwrap_node(node)
        if node.kind != 114:
            return node.kind in (NAME, MEMBER, SUBSCRIPT)
        op = _BINARY[self._lib.clang_getCursorBinaryOperatorKind(node.cursor)]
        return op in _COMPARISONS or op in ("&&", "||")

    def _build_opaque(self, node: Node) -> Expression:
        inner = tuple(self.build(child) for child in node.children if child.kind >= 100)
        return Opaque(_CONSTRUCTS.get(node.kind, _UNSUPPORTED), inner)

    def _build_compound_literal(self, node: Node) -> Expression:
        inner = tuple(self.build(child) for child in node.children if child.kind >= 100)
        ctype = self._declarations.type_at(node.cursor)
        return Opaque("", inner, struct=ctype.name if ctype.kind == "struct" else "")

    def _build_initializer_list(self, node: Node) -> Expression:
        elements = [child for child in node.children if child.kind >= IMPLICIT]
        members = self._declarations.members(self._lib.clang_getCursorType(node.cursor))
        listed = [self._build_initializer_value(value) for value in elements]
        return Opaque("{}", with_members_named(listed, members))

    def _build_initializer_value(self, node: Node) -> Expression:
        """Converts a value in an initializer list. `.nx = 4` and `[3] = 4` become an `Opaque`."""
        names = [child for child in node.children if child.kind == MEMBER_NAME]
        if node.kind == IMPLICIT and not names and len(node.children) == 2:
            number, held = (self.build(child) for child in node.children)
            return Opaque("[]" if isinstance(number, IntLit) else _UNSUPPORTED, (number, held))
        if len(names) != 1 or len(node.children) != 2:
            return self.build(node)
        return Opaque(f".{lc.cursor_name(names[0].cursor)}", (self.build(node.children[1]),))

    def _build_lambda(self, node: Node) -> Expression:
        for child in node.children:
            if child.kind == BLOCK:
                self._on_block(child, False)
        return Opaque("lambda")

    def _build_string(self, node: Node) -> Expression:
        return Opaque("", string=string_value(lc.cursor_name(node.cursor)))

    def _build_statement_expression(self, node: Node) -> Expression:
        """Converts a GNU statement expression without a value, such as `({ if (!x) fail(); })`. The
        statements are added to the enclosing block.
        """
        block = node.children[-1] if node.children else None
        if block is None or not block.children or block.children[-1].kind < BLOCK:
            return self._build_opaque(node)
        self._on_block(block, True)
        return Opaque("")

    def _build_wrapper(self, node: Node) -> Expression:
        if node.children:
            atomic = atomic_operation(
                node,
                lambda: self._declarations.first_word(node.cursor),
                self.build,
                self._declarations.span(node.cursor),
            )
            return self._build_opaque(node) if atomic is None else atomic
        ctype = self._declarations.type_at(node.cursor)
        if ctype.kind == "float":  # `T()`
            return FloatLit(ctype.bits, lc.floating_value(node.cursor))
        return self._build_integer(node)

    # -- names ----------------------------------------------------------------------------------

    def _build_name(self, node: Node) -> Expression:
        if node.children and not lc.cursor_name(node.cursor):  # `N` of a template <int N>
            return self.build(node.children[-1])
        decl = self._declarations.referenced_declaration(node.cursor)
        return self._build_use(decl) if decl is not None else Opaque(lc.cursor_name(node.cursor))

    def _build_use(self, decl: Decl) -> Expression:
        if decl.value is not None:
            return IntLit(decl.value)
        if decl.reference:
            return Unary("*", Name(decl, NO_SPAN), NO_SPAN)
        name = self._names.get(decl)  # all uses of a variable share one node
        if name is None:
            name = self._names[decl] = Name(decl, NO_SPAN)
        return name

    def _build_member(self, node: Node) -> Expression:
        member = self._declared_member(node)
        return Unary("*", member, NO_SPAN) if _is_declared_reference(member) else member

    def _declared_member(self, node: Node) -> Expression:
        """Converts a member access. A reference member is treated as a pointer."""
        field = self._declarations.referenced_declaration(node.cursor)
        bases = [child for child in node.children if child.kind >= 100]
        base = self.build(bases[0]) if bases else None
        if field is None:
            return Opaque(lc.cursor_name(node.cursor), (base,) if base is not None else ())
        if field.kind == "function":
            return Opaque(field.name, (base,) if base is not None else ())
        if field.kind != "field":  # a static member
            return self._build_use(field)
        if base is None:
            this = self._declarations.this
            arrow = this is not None
            return Member(Name(this, NO_SPAN) if this is not None else None, field, arrow, NO_SPAN)
        # The base's own type shows whether it is a pointer or an array that decays to one.
        arrow = bool(bases) and self._declarations.type_at(bases[0].cursor).kind in (
            "pointer",
            "array",
        )
        if _is_reference(base):
            return member_of(base, field, NO_SPAN, arrow=arrow)
        return Member(base, field, arrow, NO_SPAN)

    def _build_this(self, _node: Node) -> Expression:
        this = self._declarations.this
        return Name(this, NO_SPAN) if this is not None else Opaque("this")

    # -- constants ------------------------------------------------------------------------------

    def _build_integer(self, node: Node) -> Expression:
        value = lc.integer_value(node.cursor)
        if value is None:
            return Opaque("?")
        kind = self._lib.clang_getCursorType(node.cursor).kind
        unsigned = kind in _UNSIGNED
        return IntLit(
            value % (1 << 64) if unsigned else value, 64 if kind in _LONG else 32, unsigned
        )

    def _build_sizeof(self, node: Node) -> Expression:
        value = lc.integer_value(node.cursor)
        return IntLit(value, 64, unsigned=True) if value is not None else Opaque("sizeof")

    def _build_floating(self, node: Node) -> Expression:
        kind = self._lib.clang_getCursorType(node.cursor).kind
        return FloatLit(32 if kind == _FLOAT else 64, lc.floating_value(node.cursor))

    # -- operators ------------------------------------------------------------------------------

    def _build_unary(self, node: Node) -> Expression:
        op = _UNARY[self._lib.clang_getCursorUnaryOperatorKind(node.cursor)]
        operand = self.build(node.children[0]) if node.children else Opaque("?")
        if op in _INCREMENTS and is_atomic_object(node.children[0]):
            update = atomic_update(op, operand, (), self._declarations.span(node.cursor))
            return update or Unary(op, operand, NO_SPAN)
        if op in ("+", "__extension__", "__real"):
            return operand
        if op == "-" and isinstance(operand, IntLit):
            return operand._replace(value=-operand.value)
        if op == "-" and isinstance(operand, FloatLit):
            return FloatLit(operand.bits, -operand.value)
        if op == "*" and isinstance(operand, Unary) and operand.op == "&":
            return operand.operand
        if op == "&" and _is_reference(operand):
            return address_of(operand, NO_SPAN)
        span = self._declarations.span(node.cursor) if op == "*" else NO_SPAN
        return Unary(op, operand, span)

    def _build_index(self, node: Node) -> Expression:
        if len(node.children) != 2:
            return self._build_opaque(node)
        return self._build_subscript(node, self._declarations.span(node.cursor))

    def _build_subscript(self, node: Node, span: Span) -> Expression:
        """Converts a chain of subscripts `a[i][j]`, which all start at the source position
        `span`.
        """
        base, index = node.children
        inner = unwrap_node(base, _IMPLICIT)
        if inner.kind == SUBSCRIPT and len(inner.children) == 2:
            built = self._build_subscript(inner, span)
        else:
            built = self.build(base)
        return Index(built, self.build(index), span)

    def _build_new(self, node: Node) -> Expression:
        """Converts `new T[n]` to `malloc(n * sizeof(T))`. For a class, `new T(...)` keeps the
        constructor call.
        """
        ctype = self._declarations.type_at(node.cursor)
        parts = [child for child in node.children if child.kind >= 100]
        element = ctype.element
        several = bool(parts) and self._declarations.type_at(parts[0].cursor).kind == "int"
        if element is None or not element.bytes or not (several or (
            not parts and element.kind in ("int", "float", "pointer")
        )):  # fmt: skip
            return Cast(ctype, self._build_opaque(node))
        size: Expression = IntLit(element.bytes, 64)
        if several:
            size = Binary("*", self.build(parts[0]), size)
        span = self._declarations.span(node.cursor)
        return Cast(ctype, CallExpr("malloc", None, (size,), span))

    def _build_delete(self, node: Node) -> Expression:
        """Converts `delete p` to `free(p)`."""
        freed = tuple(self.build(child) for child in node.children)
        return CallExpr("free", None, freed, self._declarations.span(node.cursor))

    def _build_binary(self, node: Node) -> Expression:
        if len(node.children) != 2:
            return self._build_opaque(node)
        op = _BINARY[self._lib.clang_getCursorBinaryOperatorKind(node.cursor)]
        left, right = self.build(node.children[0]), self.build(node.children[1])
        if op in _ASSIGNS:
            if is_atomic_object(node.children[0]):
                span = self._declarations.span(node.cursor)
                return atomic_update(op, left, (right,), span) or Assign(op, left, right, NO_SPAN)
            return Assign(op, left, right, NO_SPAN)
        return Binary(op, left, right)

    def _build_ternary(self, node: Node) -> Expression:
        if len(node.children) != 3:
            return self._build_opaque(node)
        condition, then, other = (self.build(child) for child in node.children)
        return Ternary(condition, then, other)

    def _build_cast(self, node: Node) -> Expression:
        # For a type such as `double (*)[n]`, the extents are children before the operand.
        operands = [child for child in node.children if child.kind >= 100]
        if not operands:
            return self._build_opaque(node)
        return Cast(self._declarations.type_at(node.cursor), self.build(operands[-1]))


def _is_reference(expression: Expression) -> bool:
    """Returns whether the expression is an implicit dereference of a reference."""
    if not isinstance(expression, Unary) or expression.op != "*":
        return False
    return _is_declared_reference(expression.operand)


def _is_declared_reference(expression: Expression) -> bool:
    """Returns whether the expression is a variable or a member of reference type."""
    return (isinstance(expression, Name) and expression.decl.reference) or (
        isinstance(expression, Member) and expression.field.reference
    )
