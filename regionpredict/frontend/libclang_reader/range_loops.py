"""Converts a range loop over contiguous memory, such as `for (double &x : v)`, to a counted loop.

for (std::size_t x@7 = 0; x@7 < v.size(); ++x@7) { double &x = v[x@7]; ... }

For a class of the program, the loop runs from its `begin()` to its `end()`.
"""

from __future__ import annotations

from regionpredict.frontend.libclang_reader.calls import Bounds
from regionpredict.frontend.libclang_reader.standard_library import is_container, size_of
from regionpredict.frontend.syntax import (
    LONG,
    Binary,
    Compound,
    CType,
    Decl,
    DeclStmt,
    Expression,
    For,
    Index,
    IntLit,
    Name,
    Stmt,
    Unary,
    address_of,
    is_place,
)
from regionpredict.ir import Span


def is_indexable(container: Expression | None, ctype: CType) -> bool:
    """Returns whether a range is an array or a standard container, whose elements have indices."""
    if container is None or not is_place(container):
        return False
    return is_container(ctype) or (ctype.kind == "array" and ctype.extent is not None)


def counted_loop(
    variable: Decl, container: Expression, ctype: CType, body: Stmt, span: Span, last_line: int
) -> For:
    """Returns a loop over the indices of `container`, in which `variable` is the current
    element.
    """
    position = Decl(f"{variable.name}@{span.line}", "local", LONG, span, init=IntLit(0))
    at = Name(position, span)
    element = Index(container, at, span)
    _bind_loop_variable(variable, element, span)
    size = size_of(container, ctype, span)
    inside = Compound((DeclStmt((variable,), span), body))
    step = Unary("++", at, span)
    return For(DeclStmt((position,), span), Binary("<", at, size), step, inside, span, last_line)


def range_object(value: Expression, ctype: CType, span: Span) -> tuple[Expression, Decl | None]:
    """Returns the object over which a range loop iterates. For a temporary object, also returns the
    declaration of a variable.
    """
    if is_place(value):
        return value, None
    created = Decl(f"range@{span.line}", "local", ctype, span, init=value)
    return Name(created, span), created


def pointer_loop(
    variable: Decl, created: Decl | None, bounds: Bounds, body: Stmt, span: Span, last_line: int
) -> Stmt:
    """Returns a loop with a pointer from `bounds.begin` to `bounds.end`. `created` is the variable
    of a temporary object.

    `for (int x : g.row(u))` becomes `row r = g.row(u); int *x@7 = r.begin(), *end@7 = r.end();` and
    `for (; x@7 != end@7; ++x@7)` around `int x = *x@7`.
    """
    at = Decl(f"{variable.name}@{span.line}", "local", bounds.pointer, span, init=bounds.begin)
    end = Decl(f"end@{span.line}", "local", bounds.pointer, span, init=bounds.end)
    here = Name(at, span)
    _bind_loop_variable(variable, Unary("*", here, span), span)
    inside = Compound((DeclStmt((variable,), span), body))
    test, step = Binary("!=", here, Name(end, span)), Unary("++", here, span)
    loop = For(DeclStmt((at, end), span), test, step, inside, span, last_line)
    return loop if created is None else Compound((DeclStmt((created,), span), loop))


def _bind_loop_variable(variable: Decl, element: Expression, span: Span) -> None:
    """Initializes the variable of a range loop with an element, or with its address for a
    reference.
    """
    variable.init = address_of(element, span) if variable.reference else element
