"""Converts the initializers of a C++ constructor to expressions before its body.

    grid::grid(int n) : shape(n), nx(n), ny{n} { ... }

The initializers become `shape::shape(this, n); this->nx = n; this->ny = n;`. Calls of base class
constructors come first, then members, including default values such as `int nz = 1;`.
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
    build_tree,
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


def member_initialisers(
    tree: Node,
    this_pointer: Decl | None,
    declarations: Declarations,
    build: Callable[[Node], Expression],
) -> tuple[Expression, ...]:
    """Returns the base class calls and member assignments of a constructor. The result is empty for
    any other function.
    """
    if tree.kind != CONSTRUCTOR or this_pointer is None:
        return ()
    this_name = Name(this_pointer, _NOWHERE)
    bases: list[Expression] = []
    assignments: dict[Decl, Expression] = {}
    field: Decl | None = None
    for node in tree.children:
        if node.kind == MEMBER_NAME:
            field = declarations.referenced_declaration(node.cursor)
        elif IMPLICIT <= node.kind < BLOCK:
            value = build(node)
            if field is not None:
                assignments[field] = _member_assignment(this_name, field, value)
            elif (call := constructor_call(this_name, value)) is not None:
                bases.append(call)
            field = None
    for member, node in _default_initialisers(tree.cursor, declarations):
        if member not in assignments:
            assignments[member] = _member_assignment(this_name, member, build(node))
    order = {member: at for at, member in enumerate(_members_of_class(tree.cursor, declarations))}
    return (
        *bases,
        *(assignments[m] for m in sorted(assignments, key=lambda m: order.get(m, len(order)))),
    )


def default_member_initialisers(
    constructor: lc.Cursor, declarations: Declarations, build: Callable[[Node], Expression]
) -> tuple[Expression, ...]:
    """Returns the default values of the members that an implicit constructor sets, each with the
    member's name.
    """
    if not is_implicit(constructor):
        return ()
    initialised = _default_initialisers(constructor, declarations)
    return tuple(Opaque(f".{member.name}", (build(node),)) for member, node in initialised)


def is_implicit(method: lc.Cursor) -> bool:
    """Returns whether a method is implicit or defaulted. An implicit method has the position of its
    class.
    """
    library = lc.load_libclang()
    record = library.clang_getCursorSemanticParent(method)
    at, name = (
        lc.SourcePositions().read(library.clang_getCursorLocation(cursor))
        for cursor in (method, record)
    )
    return at == name or bool(library.clang_CXXMethod_isDefaulted(method))


def _member_assignment(this_name: Expression, field: Decl, value: Expression) -> Expression:
    """Returns the assignment `this->field = value`."""
    elements = initial_values(value)
    if elements is not None and len(elements) == 1 and field.ctype.kind in _SCALARS:
        value = elements[0]  # ny{n}
    if field.reference:
        value = address_of(value, _NOWHERE)
    return Assign("=", Member(this_name, field, True, _NOWHERE), value, _NOWHERE)


_SCALARS = frozenset(("int", "float", "pointer"))


def _members_of_class(constructor: lc.Cursor, declarations: Declarations) -> list[Decl]:
    """Returns the members of a constructor's class in the order of their initialization."""
    record = lc.load_libclang().clang_getCursorSemanticParent(constructor)
    return [declarations.declaration(cursor) for cursor in lc.children_of_kinds(record, _FIELDS)]


def _default_initialisers(
    constructor: lc.Cursor, declarations: Declarations
) -> list[tuple[Decl, Node]]:
    """Returns the members with a default value, such as `int nz = 1;`, each with this value.

    Arrays and bit fields are excluded, since the value may be their extent.
    """
    library = lc.load_libclang()
    initialised = []
    for cursor in lc.children_of_kinds(library.clang_getCursorSemanticParent(constructor), _FIELDS):
        member = declarations.declaration(cursor)
        if library.clang_Cursor_isBitField(cursor) or member.ctype.kind == "array":
            continue
        inner = [node for node in build_tree(cursor).children if IMPLICIT <= node.kind < BLOCK]
        if inner:
            initialised.append((member, inner[-1]))
    return initialised
