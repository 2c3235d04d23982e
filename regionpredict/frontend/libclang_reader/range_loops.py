"""Converts `for (double &x : v)` over contiguous memory to a counted loop.

for (std::size_t x@7 = 0; x@7 < v.size(); ++x@7) { double &x = v[x@7]; ... }
"""

from __future__ import annotations

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


def counts(container: Expression | None, ctype: CType) -> bool:
    """Whether a range of that type is an array or a container with contiguous elements."""
    if container is None or not is_place(container):
        return False
    return is_container(ctype) or (ctype.kind == "array" and ctype.extent is not None)


def counted_loop(
    variable: Decl, container: Expression, ctype: CType, body: Stmt, span: Span, last_line: int
) -> For:
    """The loop over the positions of `container`; `variable` is the element at each."""
    position = Decl(f"{variable.name}@{span.line}", "local", LONG, span, init=IntLit(0))
    at = Name(position, span)
    element = Index(container, at, span)
    variable.init = address_of(element, span) if variable.reference else element
    size = size_of(container, ctype, span)
    inside = Compound((DeclStmt((variable,), span), body))
    step = Unary("++", at, span)
    return For(DeclStmt((position,), span), Binary("<", at, size), step, inside, span, last_line)
