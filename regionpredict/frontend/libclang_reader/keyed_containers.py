"""Converts operations on the standard library's maps and sets to searches in arrays.

`m.find(k)` becomes a search in the array `m` of `m.size()` elements, with log2(n) comparisons for a
tree and one for a hash table. The compared elements depend on the key. `m[k]` becomes the member
`second` of the element found.
"""

from __future__ import annotations

from regionpredict.frontend.libclang_reader.standard_library import HASHED, size_of
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    CType,
    Decl,
    Expression,
    Member,
    Unary,
)
from regionpredict.ir import Span

_FINDS = frozenset(("find", "lower_bound", "upper_bound"))
_TESTS = frozenset(("count", "contains"))
_SELECTS = frozenset(("[]", "operator[]", "at"))


def keyed_method(
    name: str, container: Expression, ctype: CType, args: tuple[Expression, ...],
    second: Decl, span: Span,
) -> Expression | None:  # fmt: skip
    """Converts a method call on a map or a set to a search in an array. Returns None for other
    methods.

    `second` is the member of a map's elements that contains the value.
    """
    if len(args) != 1:
        return None
    end = Binary("+", container, size_of(container, ctype, span))
    found = _search_call(container, end, ctype, args[0], span)
    if name in _FINDS:
        return found
    if name in _TESTS:
        return Binary("!=", found, end)
    if name in _SELECTS:
        return Member(Unary("*", found, span), second, False, span)
    if name == "insert":
        return Assign("=", Unary("*", found, span), args[0], span)
    return None


def _search_call(
    container: Expression, end: Expression, ctype: CType, key: Expression, span: Span
) -> Expression:
    kind = "unordered_map" if ctype.name in HASHED else "map"
    result = CType("pointer", 64, element=ctype.element)
    name = f"std::{kind}::find"
    function = Decl(name, "function", result, span)
    return CallExpr(name, function, (container, end, key), span)
