"""Converts operations on atomic objects of C and C++ to calls of atomic functions.

c++;                  of _Atomic int, std::atomic<int>        atomic_fetch_add(&c, 1)
h[i].fetch_or(m)      of std::atomic<int>                     atomic_fetch_or(&h[i], m)
__atomic_fetch_add(&c, 1, __ATOMIC_RELAXED)                   atomic_fetch_add(&c, 1)
x = c.load();                                                 x = c
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.cursors import NAME, Node, unwrap_node
from regionpredict.frontend.syntax import (
    CallExpr,
    CType,
    Expression,
    Unary,
    address_of,
)
from regionpredict.ir import Span
from regionpredict.library import place_argument

ATOMIC_TYPE = 177  # CXType_Atomic: `_Atomic int`
_POINTER, _INTEGERS = 101, frozenset(range(3, 21))
_MAX_UPDATE_ARGUMENTS = 2  # only compare-and-exchange functions have more arguments
_CLASS = re.compile(
    r"std::(?:__\w+::)*(?:atomic|__atomic_base|__atomic_float|atomic_ref|atomic_flag)\b.*"
)
_FLAG = re.compile(r"std::(?:__\w+::)*atomic_flag")
_UPDATE = re.compile(
    r"_*(?:c11_)?atomic_(exchange|store|fetch_(?:add|sub|and|or|xor|nand|max|min))(?:_n|_explicit)?"
)
_METHODS = re.compile(r"fetch_\w+|exchange|compare_exchange_\w+|store|test_and_set|clear")


def atomic_operation(
    node: Node, first_word: Callable[[], str], build: Callable[[Node], Expression], span: Span
) -> Expression | None:
    """Converts a call of a built-in atomic function, which libclang shows as an unnamed expression.
    Returns None for other expressions.

    The child nodes are the address, the memory order, and values. `first_word` returns the first
    word of the call's text: the function, or a macro. If libclang rejects the call, the first child
    is the function's name.
    """
    first, *rest = node.children
    named = unwrap_node(first)
    if named.kind == NAME and place_argument(lc.cursor_name(named.cursor)) is not None and rest:
        return CallExpr(lc.cursor_name(named.cursor), None, tuple(map(build, rest)), span)
    libclang = lc.load_libclang()
    types = [
        libclang.clang_getCanonicalType(libclang.clang_getCursorType(part.cursor)).kind
        for part in node.children[:2]
    ]
    if len(types) != 2 or types[0] != _POINTER or types[1] not in _INTEGERS:
        return None
    place, values = build(first), tuple(build(part) for part in rest[1:])
    if not values:  # a load
        return Unary("*", place, span)
    update = _UPDATE.fullmatch(first_word())
    name = update.group(1) if update is not None else "fetch_add"
    if len(values) > _MAX_UPDATE_ARGUMENTS:
        name = "compare_exchange_strong"
    return CallExpr(f"atomic_{name}", None, (place, *values[:1]), span)


def is_atomic_object(node: Node) -> bool:
    """Returns whether an expression has a type such as `_Atomic int`."""
    library = lc.load_libclang()
    ctype = library.clang_getCanonicalType(library.clang_getCursorType(node.cursor))
    return bool(ctype.kind == ATOMIC_TYPE)


def is_atomic_class(ctype: CType) -> bool:
    """Returns whether a type is `std::atomic` or a similar class."""
    return _CLASS.fullmatch(ctype.class_name) is not None


def atomic_method(
    name: str, base: Expression, ctype: CType, arguments: Sequence[Expression], span: Span
) -> Expression | None:
    """Converts a method call of `std::atomic` to a call of an atomic function, or to the object's
    value. Returns None for other methods.
    """
    if not is_atomic_class(ctype):
        return None
    pointer = ctype.kind == "pointer" and not ctype.name
    if name == "load" or name.startswith("operator "):  # a conversion
        return Unary("*", base, span) if pointer else base
    if _METHODS.fullmatch(name) is None:
        return None
    place = base if pointer else address_of(base, span)
    kind = "atomic_flag" if _FLAG.fullmatch(ctype.class_name) else "atomic"
    return CallExpr(f"{kind}_{name}", None, (place, *arguments), span)
