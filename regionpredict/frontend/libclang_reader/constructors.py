"""Actions of a C++ constructor before its body.

    grid::grid(int n) : shape(n), nx(n), ny{n} { ... }

It is equivalent to `shape::shape(this, n); this->nx = n; this->ny = n;`. Base classes are followed
by the default values of members (`int nz = 1;`).
"""

from __future__ import annotations

from collections.abc import Callable

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.cursors import (
    BLOCK,
    CONSTRUCTOR,
    FIELD,
    IMPLICIT,
    MEMBER_NAME,
    Node,
    grow,
)
from regionpredict.frontend.libclang_reader.declarations import Declarations
from regionpredict.frontend.syntax import (
    Assign,
    Decl,
    Expression,
    Member,
    Name,
    Opaque,
    address_of,
    constructor_call,
    initial_values,
)
from regionpredict.ir import Span

_NOWHERE = Span("", 0)
_FIELDS = frozenset((FIELD,))


def initialisers(
    tree: Node, this: Decl | None, declarations: Declarations, build: Callable[[Node], Expression]
) -> tuple[Expression, ...]:
    """Returns the actions of a constructor before its body. The result is empty for any other
    function.
    """
    if tree.kind != CONSTRUCTOR or this is None:
        return ()
    own = Name(this, _NOWHERE)
    bases: list[Expression] = []
    given: dict[Decl, Expression] = {}
    field: Decl | None = None
    for node in tree.children:
        if node.kind == MEMBER_NAME:
            field = declarations.referred(node.cursor)
        elif IMPLICIT <= node.kind < BLOCK:
            value = build(node)
            if field is not None:
                given[field] = _member_assignment(own, field, value)
            elif (call := constructor_call(own, value)) is not None:
                bases.append(call)
            field = None
    for member, node in _default_initialisers(tree.cursor, declarations):
        if member not in given:
            given[member] = _member_assignment(own, member, build(node))
    order = {member: at for at, member in enumerate(_members(tree.cursor, declarations))}
    return (*bases, *(given[m] for m in sorted(given, key=lambda m: order.get(m, len(order)))))


def default_member_initialisers(
    constructor: lc.Cursor, declarations: Declarations, build: Callable[[Node], Expression]
) -> tuple[Expression, ...]:
    """Returns the member values of an implicit constructor, with their names."""
    if not is_implicit(constructor):
        return ()
    initialised = _default_initialisers(constructor, declarations)
    return tuple(Opaque(f".{member.name}", (build(node),)) for member, node in initialised)


def is_implicit(method: lc.Cursor) -> bool:
    """Returns whether a method is implicit. Its place is then the name of its class."""
    library = lc.library()
    record = library.clang_getCursorSemanticParent(method)
    at, name = (
        lc.Place().read(library.clang_getCursorLocation(cursor)) for cursor in (method, record)
    )
    return at == name or bool(library.clang_CXXMethod_isDefaulted(method))


def _member_assignment(own: Expression, field: Decl, value: Expression) -> Expression:
    """Returns the assignment `this->field = value`."""
    elements = initial_values(value)
    if elements is not None and len(elements) == 1 and field.ctype.kind in _SCALARS:
        value = elements[0]  # ny{n}
    if field.reference:
        value = address_of(value, _NOWHERE)
    return Assign("=", Member(own, field, True, _NOWHERE), value, _NOWHERE)


_SCALARS = frozenset(("int", "float", "pointer"))


def _members(constructor: lc.Cursor, declarations: Declarations) -> list[Decl]:
    """Returns the members of a constructor's class in declaration order, which is the order of
    initialization.
    """
    record = lc.library().clang_getCursorSemanticParent(constructor)
    return [declarations.of(cursor) for cursor in lc.children(record, _FIELDS)]


def _default_initialisers(
    constructor: lc.Cursor, declarations: Declarations
) -> list[tuple[Decl, Node]]:
    """Returns the members with a default value in the class (`int nz = 1;`), each with this value.

    Arrays and bit fields are excluded, since the value may be their extent.
    """
    library = lc.library()
    initialised = []
    for cursor in lc.children(library.clang_getCursorSemanticParent(constructor), _FIELDS):
        member = declarations.of(cursor)
        if library.clang_Cursor_isBitField(cursor) or member.ctype.kind == "array":
            continue
        inner = [node for node in grow(cursor).children if IMPLICIT <= node.kind < BLOCK]
        if inner:
            initialised.append((member, inner[-1]))
    return initialised
