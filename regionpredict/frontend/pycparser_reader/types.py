"""Converts the types in pycparser's declarations to `CType`, and evaluates constant expressions
(LP64).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pycparser import c_ast

from regionpredict.frontend.pycparser_reader.constants import (
    literal,
    literal_type,
    string_length,
)
from regionpredict.frontend.pycparser_reader.token_rewriting import VECTORS
from regionpredict.frontend.syntax import (
    INT,
    UNKNOWN,
    CType,
    Decl,
    Expression,
    IntLit,
    Name,
    Opaque,
    element_placed,
    initial_values,
    member_named,
    with_members_named,
)
from regionpredict.frontend.syntax.binary_operators import exact_result
from regionpredict.frontend.syntax.integer_types import type_of, whole
from regionpredict.ir import Span

_MAX_DEPTH = 8


class Layout(NamedTuple):
    """The size and alignment of a type in bytes. A size of 0 means unknown."""

    size: int
    alignment: int


class Tag:
    """A struct or union type with its members."""

    __slots__ = ("_fields", "_layout", "name", "node", "offsets", "scope")

    def __init__(self, node: Any, scope: Scope, name: str) -> None:
        self.node = node
        self.scope = scope
        self.name = name
        self.offsets: dict[Any, int] = {}  # offset in bytes of each member, if known
        self._layout: Layout | None = None
        self._fields: dict[str, Decl] | None = None


class Scope:
    """The variables, type names and tags declared in one block. `parent` is the enclosing scope."""

    __slots__ = ("names", "parent", "tags", "typedefs")

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Decl] = {}
        self.typedefs: dict[str, tuple[Any, Scope] | CType] = {}
        self.tags: dict[str, Tag] = {}

    def find(self, name: str) -> Decl | None:
        """Returns the declaration to which a name refers in this scope."""
        scope: Scope | None = self
        while scope is not None:
            decl = scope.names.get(name) or scope.declared_on_demand(name)
            if decl is not None:
                return decl
            scope = scope.parent
        return None

    def declared_on_demand(self, name: str) -> Decl | None:
        """Returns a declaration that is created at its first use. A block has none."""
        return None

    def find_typedef(self, name: str) -> tuple[Scope, Any] | None:
        """Returns the scope and the definition of a type name. Returns None for other names."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.typedefs:
                return scope, scope.typedefs[name]
            scope = scope.parent
        return None

    def find_tag(self, name: str) -> Tag | None:
        """Returns the struct or union with this tag."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.tags:
                return scope.tags[name]
            scope = scope.parent
        return None


def has_qualifier(node: Any, word: str) -> bool:
    """Returns whether the declared object, or the element of a declared array, has a qualifier such
    as `volatile`.
    """
    while isinstance(node, c_ast.ArrayDecl):
        node = node.type
    return isinstance(node, c_ast.TypeDecl) and word in node.quals


class TypeReader:
    """Converts pycparser's types. `express` converts variable array lengths to expressions."""

    def __init__(
        self,
        express: Callable[[Any, Scope], Expression],
        span_of: Callable[[Any], Span],
        attribute_of: Callable[[Any], int | None],
    ) -> None:
        self._express = express
        self._span_of = span_of
        self._attribute_of = attribute_of  # returns an alignment in bytes, or 0 for packed
        self._by_node: dict[c_ast.Node, Tag] = {}
        self._by_name: dict[str, list[Tag]] = {}
        self._typedefs: dict[tuple[c_ast.Node, Scope], CType] = {}

    # -- definitions ----------------------------------------------------------------------------

    def define(self, node: Any, scope: Scope, typedef: str = "") -> None:
        """Adds every struct, union and enumerator that a declaration's type defines to `scope`."""
        while isinstance(node, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl,
                                c_ast.Typename)):  # fmt: skip
            if isinstance(node, c_ast.FuncDecl) and node.args is not None:
                for parameter in node.args.params:
                    self.define(getattr(parameter, "type", None), scope)
            if not isinstance(node, (c_ast.TypeDecl, c_ast.Typename)):
                typedef = ""
            node = node.type
        if isinstance(node, (c_ast.Struct, c_ast.Union)):
            self._define_tag(node, scope, typedef)
        elif isinstance(node, c_ast.Enum) and node.values is not None:
            self._define_enumerators(node, scope)

    def _define_tag(self, node: Any, scope: Scope, typedef: str) -> None:
        if node in self._by_node:
            return
        if node.decls is None:
            if node.name and scope.find_tag(node.name) is None:
                self._add_tag(node, scope, typedef)
            return
        self._add_tag(node, scope, typedef)
        for member in node.decls:
            self.define(getattr(member, "type", None), scope)

    def _add_tag(self, node: Any, scope: Scope, typedef: str) -> Tag:
        keyword = "struct" if isinstance(node, c_ast.Struct) else "union"
        name = f"{keyword} {node.name}" if node.name else typedef
        if not name:
            name = f"{keyword} (unnamed at {self._span_of(node)})"
        tag = Tag(node, scope, name)
        self._by_node[node] = tag
        self._by_name.setdefault(name, []).append(tag)
        if node.name:
            scope.tags[node.name] = tag
        return tag

    def _define_enumerators(self, node: Any, scope: Scope) -> None:
        value = -1
        for enumerator in node.values.enumerators:
            if enumerator.value is not None:
                value_given = self.constant(enumerator.value, scope)
                value = value_given if value_given is not None else value + 1
            else:
                value += 1
            scope.names[enumerator.name] = Decl(
                enumerator.name, "constant", INT, self._span_of(enumerator), value=value
            )

    # -- types ----------------------------------------------------------------------------------

    def read(self, node: Any, scope: Scope, depth: int = 0) -> CType:
        """Converts the type of a declarator or type name."""
        if isinstance(node, (c_ast.TypeDecl, c_ast.Typename)):
            return self.read(node.type, scope, depth)
        if isinstance(node, c_ast.IdentifierType):
            return self._read_named_type(node.names, scope, depth)
        if depth > _MAX_DEPTH:
            return UNKNOWN
        if isinstance(node, c_ast.PtrDecl):
            return CType("pointer", 64, element=self.read(node.type, scope, depth + 1))
        if isinstance(node, c_ast.ArrayDecl):
            element = self.read(node.type, scope, depth + 1)
            return CType("array", 64, element=element, extent=self._array_length(node.dim, scope))
        if isinstance(node, c_ast.FuncDecl):  # a function has its return type
            return self.read(node.type, scope, depth + 1)
        if isinstance(node, (c_ast.Struct, c_ast.Union)):
            tag = self._tag_of_node(node, scope)
            return CType("struct", 8 * self._layout_of(tag).size, name=tag.name)
        if isinstance(node, c_ast.Enum):
            return INT
        if isinstance(node, c_ast.TypeOf):
            inner = node.expr
            if isinstance(inner, c_ast.Typename):
                return self.read(inner, scope, depth)
            return type_of(self._express(inner, scope))
        return UNKNOWN

    def _array_length(self, node: Any, scope: Scope) -> Expression | None:
        if node is None:
            return None
        value = self.constant(node, scope)
        if value is not None:
            return IntLit(value)
        if isinstance(node, c_ast.ID) and node.name == "*":
            return None
        return self._express(node, scope)

    def _tag_of_node(self, node: Any, scope: Scope) -> Tag:
        tag = self._by_node.get(node)
        if tag is None and node.name:
            tag = scope.find_tag(node.name)
        if tag is None:
            self.define(node, scope)
            tag = self._by_node.get(node) or self._add_tag(node, scope, "")
        return tag

    def _read_named_type(self, names: list[str], scope: Scope, depth: int = 0) -> CType:
        arithmetic = _arithmetic_type(names)
        if arithmetic is not None:
            return arithmetic
        typedef = scope.find_typedef(names[-1])
        if typedef is None:
            return UNKNOWN
        content = typedef[1]
        if isinstance(content, CType):
            return content
        if content not in self._typedefs or depth:
            ctype = self.read(content[0], content[1], depth)
            if depth:
                return ctype
            self._typedefs[content] = ctype
        return self._typedefs[content]

    def is_const(self, node: Any, scope: Scope) -> bool:
        """Returns whether a declarator declares a `const` number without `volatile`."""
        if not isinstance(node, c_ast.TypeDecl) or "volatile" in node.quals:
            return False
        if "const" in node.quals:
            return self.read(node, scope).kind in ("int", "float")
        names = node.type.names if isinstance(node.type, c_ast.IdentifierType) else []
        typedef = scope.find_typedef(names[-1]) if names else None
        if typedef is None or isinstance(typedef[1], CType):
            return False
        return self.is_const(*typedef[1])

    # -- sizes ----------------------------------------------------------------------------------

    def layout(self, ctype: CType) -> Layout | None:
        """Returns the size and alignment of a type. Returns None if they are unknown at compile
        time.
        """
        if ctype.kind in ("int", "float") and ctype.bits:
            half = ctype.bits // 16 if ctype.name == "complex" else ctype.bits // 8
            return Layout(ctype.bits // 8, half)
        if ctype.kind == "pointer":
            return Layout(8, 8)
        if ctype.kind == "array" and ctype.element is not None:
            inner = self.layout(ctype.element)
            if inner is None or not isinstance(ctype.extent, IntLit):
                return None
            return Layout(inner.size * ctype.extent.value, inner.alignment)
        if ctype.kind == "struct":
            tag = self._tag_of_type(ctype)
            return self._layout_of(tag) if tag is not None else None
        return Layout(1, 1) if ctype.kind == "void" else None

    def _layout_of(self, tag: Tag) -> Layout:
        if tag.node.decls is None:
            full = tag.scope.find_tag(tag.node.name)
            if full is None or full is tag or full.node.decls is None:
                return Layout(0, 1)
            return self._layout_of(full)
        if tag._layout is None:
            tag._layout = Layout(0, 1)  # ends the recursion for a struct that contains itself
            tag._layout = self._compute_layout(tag)
        return tag._layout

    def _compute_layout(self, tag: Tag) -> Layout:
        union = isinstance(tag.node, c_ast.Union)
        requested = self._attribute_of(tag.node)
        packed = requested == 0
        bits, widest, alignment = 0, 0, requested or 1
        tag.offsets.clear()
        for member in tag.node.decls:
            if not isinstance(member, c_ast.Decl):
                continue
            size, align = self._member_layout(member.type, tag.scope)
            align = 1 if packed else max(align, self._attribute_of(member) or 1)
            width = self.constant(member.bitsize, tag.scope) if member.bitsize is not None else None
            start = 0 if union else bits
            if width is None:
                start = -(-start // (8 * align)) * 8 * align
                end = start + 8 * size
            elif width == 0:
                start = end = -(-start // (8 * align)) * 8 * align
            else:
                if start % (8 * size) + width > 8 * size:
                    start = -(-start // (8 * align)) * 8 * align
                end = start + width
            tag.offsets[member] = start // 8
            if member.name or width is None:
                alignment = max(alignment, align)
            bits, widest = end, max(widest, end)
        size = -(-widest // 8)
        return Layout(-(-size // alignment) * alignment, alignment)

    def _member_layout(self, node: Any, scope: Scope) -> Layout:
        # Without `read`, which would recurse into the target of a pointer to the same struct.
        if isinstance(node, (c_ast.TypeDecl, c_ast.Typename)):
            return self._member_layout(node.type, scope)
        if isinstance(node, c_ast.PtrDecl):
            return Layout(8, 8)
        if isinstance(node, c_ast.ArrayDecl):
            inner = self._member_layout(node.type, scope)
            count = self.constant(node.dim, scope) if node.dim is not None else 0
            return Layout(inner.size * max(0, count or 0), inner.alignment)
        if isinstance(node, (c_ast.Struct, c_ast.Union)):
            return self._layout_of(self._tag_of_node(node, scope))
        if isinstance(node, c_ast.IdentifierType) and _arithmetic_type(node.names) is None:
            typedef = scope.find_typedef(node.names[-1])
            if typedef is not None and not isinstance(typedef[1], CType):
                inner = self._member_layout(typedef[1][0], typedef[1][1])
                return Layout(
                    inner.size, max(inner.alignment, self._attribute_of(typedef[1][0]) or 1)
                )
        return self.layout(self.read(node, scope)) or Layout(4, 4)

    # -- members --------------------------------------------------------------------------------

    def field(self, ctype: CType, name: str) -> Decl | None:
        """Returns the member of a struct or union with this name, also inside unnamed nested
        structs.
        """
        tag = self._tag_of_type(ctype)
        if tag is None or tag.node.decls is None:
            return None
        if tag._fields is None:
            tag._fields = dict(self._fields_of(tag, 0))
        return tag._fields.get(name)

    def with_members_named(self, init: Expression, ctype: CType) -> Expression:
        """Returns an initializer list with member names added to its values: `{.x = 1}` for
        `{1}`.
        """
        elements = initial_values(init)
        if elements is None:
            return init
        if ctype.kind == "array" and ctype.element is not None:
            element = ctype.element
            return Opaque("{}", tuple(self._element_named(value, element) for value in elements))
        members = self._members(ctype)
        named: list[Expression] = []
        for value in with_members_named(elements, members):
            value_given = member_named(value)
            field = self.field(ctype, value_given[0]) if value_given is not None else None
            if value_given is not None and field is not None:
                inner = self.with_members_named(value_given[1], field.ctype)
                named.append(Opaque(f".{value_given[0]}", (inner,)))
            else:
                named.append(value)
        return Opaque("{}", tuple(named))

    def _element_named(self, value: Expression, ctype: CType) -> Expression:
        placed, held = element_placed(value)
        named = self.with_members_named(held, ctype)
        return named if placed is None else Opaque("[]", (IntLit(placed), named))

    def _members(self, ctype: CType) -> list[Decl]:
        """Returns the members of a struct in order, up to the first unnamed one."""
        tag = self._tag_of_type(ctype)
        members: list[Decl] = []
        if tag is None or tag.node.decls is None or not isinstance(tag.node, c_ast.Struct):
            return members
        for node in tag.node.decls:
            if isinstance(node, c_ast.Decl) and node.name is None and node.bitsize is not None:
                continue  # an unnamed bit field has no value
            field = self.field(ctype, node.name) if getattr(node, "name", None) else None
            if field is None:
                break
            members.append(field)
        return members

    def _tag_of_type(self, ctype: CType) -> Tag | None:
        """Returns the definition of a struct type. If several blocks define structs of this name,
        the size decides.
        """
        candidates = self._by_name.get(ctype.name, [])
        defined = [tag for tag in candidates if tag.node.decls is not None]
        for tag in defined:
            if 8 * self._layout_of(tag).size == ctype.bits:
                return tag
        known = defined or candidates
        return known[-1] if known else None

    def _fields_of(self, tag: Tag, begin: int) -> Iterator[tuple[str, Decl]]:
        """Yields the members of a struct with their names, also of unnamed nested structs. `begin`
        is the offset of the struct in bytes.
        """
        self._layout_of(tag)
        for member in tag.node.decls:
            if not isinstance(member, c_ast.Decl):
                continue
            offset = begin + tag.offsets.get(member, 0)
            if member.name:
                ctype, span = self.read(member.type, tag.scope), self._span_of(member)
                yield member.name, Decl(member.name, "field", ctype, span, offset=offset)
            elif isinstance(member.type, (c_ast.Struct, c_ast.Union)):
                yield from self._fields_of(self._tag_of_node(member.type, tag.scope), offset)

    # -- constant expressions -------------------------------------------------------------------

    def constant(self, node: Any, scope: Scope) -> int | None:
        """Returns the value of an integer constant expression. Returns None for any other
        expression.
        """
        value = self._evaluate(node, scope)
        return int(value) if isinstance(value, int) else None

    def _evaluate(self, node: Any, scope: Scope) -> int | float | None:
        if isinstance(node, c_ast.Constant):
            return literal(node)
        if isinstance(node, c_ast.ID):
            decl = scope.find(node.name)
            return decl.value if decl is not None else None
        if isinstance(node, c_ast.UnaryOp):
            return self._evaluate_unary(node, scope)
        if isinstance(node, c_ast.BinaryOp):
            left, right = self._evaluate(node.left, scope), self._evaluate(node.right, scope)
            if node.op == "&&" and left == 0 and left is not None:
                return 0
            if node.op == "||" and left:
                return 1
            if left is None or right is None:
                return None
            return exact_result(node.op, left, right)
        if isinstance(node, c_ast.TernaryOp):
            test = self._evaluate(node.cond, scope)
            if test is None:
                return None
            return self._evaluate(node.iftrue if test else node.iffalse, scope)
        if isinstance(node, c_ast.Cast):
            return self._evaluate_cast(node, scope)
        return None

    def _evaluate_cast(self, node: Any, scope: Scope) -> int | float | None:
        value = self._evaluate(node.expr, scope)
        ctype = self.read(node.to_type, scope)
        if value is None:
            return None
        if ctype.kind == "float":
            return float(value)
        return whole(int(value), ctype) if ctype.kind == "int" else None

    def _evaluate_unary(self, node: Any, scope: Scope) -> int | float | None:
        if node.op in ("sizeof", "_Alignof"):
            return self.size_of(node.expr, scope, alignment=node.op != "sizeof")
        value = self._evaluate(node.expr, scope)
        if value is None or node.op not in ("-", "+", "~", "!"):
            return None
        if node.op == "!":
            return int(not value)
        if node.op == "~":
            return ~value if isinstance(value, int) else None
        return -value if node.op == "-" else value

    def size_of(self, node: Any, scope: Scope, *, alignment: bool = False) -> int | None:
        """Returns the value of `sizeof` or `_Alignof`, if it is known at compile time."""
        if isinstance(node, c_ast.Typename):
            ctype = self.read(node, scope)
        elif isinstance(node, c_ast.Constant) and node.type == "string":
            return string_length(node.value)
        elif isinstance(node, c_ast.Constant):
            ctype = literal_type(node)
        else:
            expression = self._express(node, scope)
            ctype = type_of(expression)
            passed = isinstance(expression, Name) and expression.decl.kind == "parameter"
            if passed and ctype.kind == "array":  # an array parameter is a pointer
                ctype = CType("pointer", 64, element=ctype.element)
        layout = self.layout(ctype)
        if layout is None:
            return None
        return layout.alignment if alignment else layout.size


def _arithmetic_type(names: list[str]) -> CType | None:
    """Returns the arithmetic type for specifiers such as `unsigned long`. Returns None for a type
    name.
    """
    specifiers = set(names)
    if "_Complex" in specifiers and len(specifiers) > 1 and not specifiers & {"double", "float"}:
        part = _arithmetic_type([name for name in names if name != "_Complex"])
        return CType("float", 2 * part.bits, name="complex") if part is not None else None
    if (
        "double" in specifiers
        or "float" in specifiers
        or ("_Complex" in specifiers and len(specifiers) == 1)
    ):
        bits = 32 if "float" in specifiers else 128 if "long" in specifiers else 64
        if "_Complex" in specifiers:
            return CType("float", 2 * bits, name="complex")
        return CType("float", bits)
    if "void" in specifiers:
        return CType("void")
    if "_Bool" in specifiers:
        return CType("int", 8, True)
    unsigned = "unsigned" in specifiers
    if "char" in specifiers:
        return CType("int", 8, unsigned)
    if "short" in specifiers:
        return CType("int", 16, unsigned)
    if "long" in specifiers:
        return CType("int", 64, unsigned)
    if "__int128" in specifiers:
        return CType("int", 128, unsigned)
    if specifiers & {"int", "unsigned", "signed"}:
        return CType("int", 32, unsigned)
    if names[-1] in VECTORS:
        bits = 64 if names[-1] == VECTORS[0] else 128
        return CType("float" if names[-1] in VECTORS[1:3] else "int", bits, name="vector")
    return CType("pointer", 64, element=UNKNOWN) if "__builtin_va_list" in specifiers else None
