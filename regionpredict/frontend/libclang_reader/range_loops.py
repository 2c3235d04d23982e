"""Converts `for (double &x : v)` over contiguous memory to a counted loop.

for (std::size_t x@7 = 0; x@7 < v.size(); ++x@7) { double &x = v[x@7]; ... }

For a range of the program's own class, the loop runs from its `begin()` to its `end()`.
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


def has_positions(container: Expression | None, ctype: CType) -> bool:
    """Returns whether a range of that type is an array or a container with contiguous elements."""
    if container is None or not is_place(container):
        return False
    return is_container(ctype) or (ctype.kind == "array" and ctype.extent is not None)


def counted_loop(
    variable: Decl, container: Expression, ctype: CType, body: Stmt, span: Span, last_line: int
) -> For:
    """Returns the loop over the positions of `container`. `variable` is the element at each
    position.
    """
    position = Decl(f"{variable.name}@{span.line}", "local", LONG, span, init=IntLit(0))
    at = Name(position, span)
    element = Index(container, at, span)
    _refer(variable, element, span)
    size = size_of(container, ctype, span)
    inside = Compound((DeclStmt((variable,), span), body))
    step = Unary("++", at, span)
    return For(DeclStmt((position,), span), Binary("<", at, size), step, inside, span, last_line)


def range_object(value: Expression, ctype: CType, span: Span) -> tuple[Expression, Decl | None]:
    """Returns the object that a range loop iterates over, and its declaration if the loop creates
    it.
    """
    if is_place(value):
        return value, None
    made = Decl(f"range@{span.line}", "local", ctype, span, init=value)
    return Name(made, span), made


def pointer_loop(
    variable: Decl, made: Decl | None, bounds: Bounds, body: Stmt, span: Span, last_line: int
) -> Stmt:
    """Returns the loop from `bounds.begin` to `bounds.end`. `made` is the object, if the loop
    creates it.

    `for (int x : g.row(u))` is `row r = g.row(u); int *x@7 = r.begin(), *end@7 = r.end();` and a
    `while (x@7 != end@7)` around `int x = *x@7++`.
    """
    at = Decl(f"{variable.name}@{span.line}", "local", bounds.pointer, span, init=bounds.begin)
    end = Decl(f"end@{span.line}", "local", bounds.pointer, span, init=bounds.end)
    here = Name(at, span)
    _refer(variable, Unary("*", here, span), span)
    inside = Compound((DeclStmt((variable,), span), body))
    test, step = Binary("!=", here, Name(end, span)), Unary("++", here, span)
    loop = For(DeclStmt((at, end), span), test, step, inside, span, last_line)
    return loop if made is None else Compound((DeclStmt((made,), span), loop))


def _refer(variable: Decl, element: Expression, span: Span) -> None:
    """Initializes the variable of a loop with an element or its address."""
    variable.init = address_of(element, span) if variable.reference else element
