"""The syntax tree that both front ends build and `lower` reads. It covers the part of C and C++
that loops need.
Expressions have no types. Types follow from the declarations (`Decl.ctype`) by the same rules for
both front ends. A node is equal only to itself, because equal texts may be at different locations
in the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from regionpredict.frontend.syntax.directive import Pragma
from regionpredict.ir import Span

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform

    @dataclass_transform(eq_default=False, frozen_default=True)
    class _Node:
        """The type of nodes for mypy, which compares named tuples element by element. For unions of
        recursive ones, this takes minutes.
        """

        def _replace(self, **changes: Any) -> Self: ...
else:
    _Node = NamedTuple

_AnyNode = TypeVar("_AnyNode")


_MOST_SIZES = 64  # maximum length of an array whose elements are tracked separately


def _by_identity(node: type[_AnyNode]) -> type[_AnyNode]:
    """Makes two tuples with equal contents unequal. A frozen dataclass would take three times as
    long to create.
    """
    for name in ("__eq__", "__ne__", "__hash__"):
        setattr(node, name, getattr(object, name))
    return node


class CType(_Node):
    """A C type. `kind` is 'int', 'float', 'pointer', 'array', 'struct', 'void' or 'unknown'.

    `bits` is the width of a number, or 8 times the size of a struct if it is known. `element` is
    the element type of a pointer or array. `extent` is an array's length as an expression, or None.
    """

    kind: str
    bits: int = 0
    unsigned: bool = False
    element: CType | None = None
    extent: Expression | None = None
    name: str = ""

    @property
    def has_spelt_extent(self) -> bool:
        """Whether the type contains an array length as unparsed text."""
        if isinstance(self.extent, Opaque):
            return True
        return self.element is not None and self.element.has_spelt_extent

    @property
    def is_option_table(self) -> bool:
        """Whether the type is an array of options for `getopt_long`."""
        names = ("option", "struct option")  # the parsers' names for it
        return self.kind == "array" and self.element is not None and self.element.name in names

    @property
    def holds_sizes(self) -> bool:
        """Whether initial values of this type may contain sizes or functions. This holds for
        structs and for short arrays of integers, structs or pointers.
        """
        if self.kind != "array" or self.element is None:
            return self.kind == "struct"
        few = isinstance(self.extent, IntLit) and self.extent.value <= _MOST_SIZES
        if self.element.kind == "array":
            return few and self.may_hold_functions and self.element.holds_sizes
        return few and self.element.kind in ("int", "struct", "pointer")

    @property
    def may_hold_functions(self) -> bool:
        """Whether the type is an array of structs or pointers, so that its initializer may contain
        functions.
        """
        return (
            self.kind == "array"
            and self.element is not None
            and (self.element.kind in ("struct", "pointer") or self.element.may_hold_functions)
        )

    @property
    def class_name(self) -> str:
        """The class of a variable or of its pointer target. "" if it is not a class."""
        pointee = self.element if self.kind == "pointer" and not self.name else None
        target = pointee if pointee is not None else self
        return target.name if target.kind == "struct" else ""

    @property
    def innermost(self) -> CType:
        """The type of the elements of an array or of nested arrays. Any other type is returned
        unchanged.
        """
        inner = self
        while inner.kind == "array" and inner.element is not None:
            inner = inner.element
        return inner

    @property
    def struct(self) -> str:
        """The name of the struct that a value is, contains or points to. "" if there is none."""
        inner: CType | None = self
        while inner is not None and inner.kind in ("pointer", "array"):
            inner = inner.element
        return inner.name if inner is not None and inner.kind == "struct" else ""

    @property
    def bytes(self) -> int:
        """The size of the type in bytes, or 8 if unknown."""
        if self.kind == "pointer":
            return 8
        if self.kind == "array" and self.element is not None:
            count = self.extent.value if isinstance(self.extent, IntLit) else 1
            return max(1, count) * self.element.bytes
        return max(1, self.bits // 8) if self.bits else 8


UNKNOWN = CType("unknown")
INT = CType("int", 32)
LONG = CType("int", 64)
DOUBLE = CType("float", 64)


class Decl:
    """A declared variable, parameter, field, enumerator or function. It is equal only to itself.

    A C++ `reference` is represented as a pointer that every use dereferences. Its type is a pointer
    type, and `r` in the source is `*r` in the tree. The same holds for `this`, a parameter of every
    method.
    """

    __slots__ = (
        "ctype", "init", "is_atomic", "is_const", "is_volatile", "kind", "name", "never_returns",
        "offset", "owner", "reference", "span", "symbol", "value",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str,
        ctype: CType,
        span: Span,
        *,
        symbol: str = "",
        init: Expression | None = None,
        value: int | None = None,
        reference: bool = False,
        never_returns: bool = False,
        is_const: bool = False,
        offset: int = 0,
        owner: str = "",
    ) -> None:
        self.name = name
        self.kind = kind  # 'global' | 'local' | 'parameter' | 'field' | 'constant' | 'function'
        self.ctype = ctype
        self.span = span
        self.symbol = symbol  # the linker symbol; "" without external linkage
        self.init = init
        self.value = value
        self.reference = reference
        self.never_returns = never_returns  # declared as such: `[[noreturn]]`
        self.is_const = is_const  # declared `const` with a constant number
        self.is_atomic = False  # the variable or its elements are `_Atomic`
        self.is_volatile = False  # declared `volatile`
        self.offset = offset  # of a field: bytes from the start of its struct, 0 if unknown
        self.owner = owner  # of a field: the struct that declares it, "" if its uses show it

    def __repr__(self) -> str:
        return f"Decl({self.name})"


# -- expressions ----------------------------------------------------------------------------------


@_by_identity
class Name(_Node):
    """A use of a declared name."""

    decl: Decl
    span: Span


@_by_identity
class IntLit(_Node):
    """An integer constant with its width in bits. The width is at least that of `int`."""

    value: int
    bits: int = 32
    unsigned: bool = False


@_by_identity
class FloatLit(_Node):
    """A floating constant and its width."""

    bits: int = 64
    value: float = 1.0


@_by_identity
class Unary(_Node):
    """A unary operator: `-x`, `!x`, `~x`, `*p`, `&x`, `++x`, `--x`, `x++`, `x--`. The last two are
    written `p++` and `p--`.
    """

    op: str
    operand: Expression
    span: Span


@_by_identity
class Binary(_Node):
    """A binary operator, `left op right`, including the comma and logical operators."""

    op: str
    left: Expression
    right: Expression


@_by_identity
class Assign(_Node):
    """An assignment `left op right` with `=`, `+=`, ..."""

    op: str
    left: Expression
    right: Expression
    span: Span


@_by_identity
class Ternary(_Node):
    """A conditional expression `condition ? then : other`."""

    condition: Expression
    then: Expression
    other: Expression


@_by_identity
class Index(_Node):
    """An array subscript `base[index]`."""

    base: Expression
    index: Expression
    span: Span


@_by_identity
class Member(_Node):
    """A member access `base.field` or `base->field`."""

    base: Expression | None
    field: Decl
    arrow: bool
    span: Span


@_by_identity
class CallExpr(_Node):
    """A call `name(args)`. `decl` is None for a call through a pointer or of an unknown function.

    For a call through a variable, a member or a table, `pointer` is the expression that contains
    the function. It may also be the call that returns the function. For a `method`, the address of
    its object is the first argument. `free` says that the call has no cost and accesses no memory
    that changes (`v.size()`).
    """

    name: str
    decl: Decl | None
    args: tuple[Expression, ...]
    span: Span
    method: bool = False
    free: bool = False
    pointer: Name | Member | Index | CallExpr | None = None

    @property
    def declared_in(self) -> str:
        """The file that declares the called function. "" if unknown."""
        return self.decl.span.file if self.decl is not None else ""


@_by_identity
class Cast(_Node):
    """A cast `(type) operand`, or a C++ object with the call of its `constructor`."""

    ctype: CType
    operand: Expression
    constructor: CallExpr | None = None


@_by_identity
class Opaque(_Node):
    """An unsupported expression with its supported subexpressions.

    `string` is the value of a string literal. An initializer list has the text `{}`. In the list, a
    designated value (`.nx = 4`) has the text `.nx`. `struct` is the struct of a compound literal
    `(struct grid){3, 4}`, which contains the list.
    """

    text: str
    children: tuple[Expression, ...] = ()
    string: str | None = None
    struct: str = ""


Expression = (
    Name
    | IntLit
    | FloatLit
    | Unary
    | Binary
    | Assign
    | Ternary
    | Index
    | Member
    | CallExpr
    | Cast
    | Opaque
)


# -- statements -----------------------------------------------------------------------------------


@_by_identity
class Compound(_Node):
    """A block `{ ... }`, or the statement after a label.

    For a label of a `switch`, `cases` contains its value, or None for `default`. For any other
    label, `label` is its name.
    """

    items: tuple[Stmt, ...]
    cases: tuple[Expression | None, ...] = ()
    label: str = ""


@_by_identity
class ExprStmt(_Node):
    """An expression evaluated for its effect."""

    expr: Expression
    span: Span


@_by_identity
class DeclStmt(_Node):
    """A declaration statement. Each declared variable has an initializer or None."""

    decls: tuple[Decl, ...]
    span: Span


@_by_identity
class For(_Node):
    """A loop `for (init; condition; increment) body`."""

    init: Stmt | None
    condition: Expression | None
    increment: Expression | None
    body: Stmt
    span: Span
    last_line: int = 0


@_by_identity
class RangeFor(_Node):
    """A C++ loop `for (variable : range) body`."""

    variable: Decl | None
    range: Expression | None
    body: Stmt
    span: Span


@_by_identity
class While(_Node):
    """A loop `while (condition) body`, or `do body while (...)` if `behind` is set."""

    condition: Expression
    body: Stmt
    span: Span
    behind: bool = False


@_by_identity
class If(_Node):
    """A branch `if (condition) then else other`."""

    condition: Expression
    then: Stmt
    other: Stmt | None
    span: Span


@_by_identity
class Switch(_Node):
    """A `switch (condition) body`. The labels in it are `Compound` statements with `cases`."""

    condition: Expression
    body: Stmt
    span: Span


@_by_identity
class Return(_Node):
    """A return statement `return value;`."""

    value: Expression | None
    span: Span


@_by_identity
class Jump(_Node):
    """A jump: `break`, `continue` or `goto`. For `goto`, `label` is its target."""

    kind: str
    span: Span
    label: str = ""


@_by_identity
class Directive(_Node):
    """An OpenMP directive with its statement, which is None for a standalone directive."""

    pragma: Pragma
    body: Stmt | None
    span: Span


@_by_identity
class Unread(_Node):
    """An unsupported statement, such as assembler code or a statement expression."""

    what: str
    children: tuple[Expression, ...]
    span: Span


Stmt = (
    Compound
    | ExprStmt
    | DeclStmt
    | For
    | RangeFor
    | While
    | If
    | Switch
    | Return
    | Jump
    | Directive
    | Unread
)


def virtual_table(symbol: str) -> str:
    """Returns the struct name that represents the virtual table of a method and its overriders."""
    return f"virtual {symbol}"


def is_virtual_table(ctype: CType) -> bool:
    """Whether a type was made by `virtual_table`."""
    return ctype.kind == "struct" and ctype.name.startswith("virtual ")


@_by_identity
class Function(_Node):
    """A function with a body.

    A `closure` is the body of a lambda, which uses the variables around it. `shown` is the readable
    name of a template instance, whose `name` contains types or a lambda. It is "" for any other
    function. `initialisers` are the actions of a constructor before its body: values of members,
    and constructors of base classes. `overrides` are the symbols of a virtual method and of the
    methods that it overrides.
    """

    name: str
    decl: Decl
    parameters: tuple[Decl, ...]
    body: Stmt
    span: Span
    closure: bool = False
    shown: str = ""
    initialisers: tuple[Expression, ...] = ()
    overrides: tuple[str, ...] = ()
