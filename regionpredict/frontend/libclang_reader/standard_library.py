"""Converts the standard library's containers, iterators and small functions to C.

A container is the address of its first element (`types.py`), and so is an iterator. `v[i]` and
`v.at(i)` become `v[i]` of a pointer, and `v.end()` becomes `v + v.size()`. The elements of a map or
a set become those of an array (`keyed_containers`). Other operations remain calls on the
container's memory.
"""

from __future__ import annotations

from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Expression,
    Index,
    IntLit,
    Name,
    Opaque,
    Unary,
    address_of,
    dereferenced,
    is_place,
)
from regionpredict.ir import Span

_ELEMENTS = frozenset((
    "std::vector", "std::valarray", "std::span", "std::array", "std::basic_string",
    "std::basic_string_view", "std::deque", "std::list", "std::queue", "std::stack",
    "std::priority_queue",
))  # fmt: skip
HASHED = frozenset(f"std::unordered_{kind}" for kind in ("map", "multimap", "set", "multiset"))
KEYED = HASHED | {"std::map", "std::multimap", "std::set", "std::multiset"}
"""Maps and sets."""
_VIEWS = frozenset(("std::span", "std::basic_string_view"))
_OWNERS = frozenset(("std::unique_ptr", "std::shared_ptr"))
_BEGINS = frozenset(("begin", "cbegin", "data", "c_str"))
_ENDS = frozenset(("end", "cend"))
_OF_CONTAINERS = _BEGINS | _ENDS | {"size"}
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%"))
_STEPS = {1: {"++": "++", "--": "--"}, 2: {"++": "p++", "--": "p--"}}
_SAME = frozenset(("move", "forward", "as_const", "ref", "cref", "addressof", "launder"))
_NUMBERS = frozenset(("int", "float"))


def is_container(ctype: CType) -> bool:
    """Returns whether the type is a container. Its elements are read like those of an array."""
    return ctype.name in _ELEMENTS or ctype.name in KEYED


def copied_elements(
    name: str, args: tuple[Expression, ...], types: tuple[CType, ...], span: Span
) -> Expression | None:
    """Returns the copies that an assignment to a container makes: `v = w`, `v.assign(first, last)`.

    None if it makes no copies. The caller adds the call itself, which sets the length.
    """
    element = types[0].element
    if element is None or not is_container(types[0]) or types[0].name in _VIEWS:
        return None
    if name == "operator=" and len(args) == 2 and is_container(types[1]):
        end = Binary("+", args[1], size_of(args[1], types[1], span))
        return CallExpr("std::copy", None, (args[1], end, args[0]), span)
    if name == "assign" and len(args) == 3 and types[1].kind == "int":
        return CallExpr("std::fill_n", None, args, span)
    if name in ("assign", "insert") and len(args) > 2 and types[-1].kind == "pointer":
        return CallExpr("std::copy", None, (*args[-2:], args[0]), span)
    return None


def size_of(container: Expression, ctype: CType, span: Span) -> Expression:
    """Returns the value of `v.size()`. It is a number for containers of fixed length."""
    if ctype.kind == "array" and isinstance(ctype.extent, IntLit):
        return ctype.extent
    return CallExpr("size", None, (container,), span, method=True, free=True)


def constructed_container(
    ctype: CType, args: tuple[Expression, ...], types: tuple[CType, ...], span: Span
) -> Expression | None:
    """Returns a new container. It contains a copy of other elements if it is constructed from them.

    `vector(n)` is `calloc(n, size)`, and a copy is `memcpy(calloc(n, size), from, n * size)`. A
    view (`std::span`) is the address of its elements.
    """
    if ctype.element is None or not is_container(ctype) or not args:
        return None
    size = IntLit(ctype.element.bytes)
    begin, other = args[0], types[0]
    values = isinstance(begin, Opaque) and begin.string is None
    listed = other.extent if other.kind == "array" and values else None
    if other.kind == "int" or listed is not None:  # `vector(n)` and `{1, 2, 3}`
        return Cast(ctype, CallExpr("calloc", None, (listed or begin, size), span))
    if other.kind not in ("pointer", "array"):
        return None
    if ctype.name in _VIEWS:
        return begin
    if is_container(other):
        length = size_of(begin, other, span)
    elif len(args) > 1 and types[1].kind == "pointer":
        length = Binary("-", args[1], begin)
    elif len(args) > 1 and types[1].kind == "int":
        length = args[1]
    else:  # a text up to its last character
        length = CallExpr("strlen", None, (begin,), span)
    made = CallExpr("calloc", None, (length, size), span)
    copied = (made, begin, Binary("*", length, size))
    return Cast(ctype, CallExpr("memcpy", None, copied, span))


def pointed_container(container: Expression, ctype: CType, span: Span) -> tuple[Expression, CType]:
    """Returns the container of a method call `p->size()` or `v.size()`, and the container's
    type.
    """
    held = ctype.element
    if ctype.kind == "pointer" and not ctype.name and held is not None and is_container(held):
        return dereferenced(container, span), held
    return container, ctype


def standard_method(
    name: str, container: Expression, ctype: CType, args: tuple[Expression, ...], span: Span
) -> Expression | None:
    """Returns a method call expressed through addresses. Returns None if it is not supported."""
    if ctype.name == "complex":
        half = CType("float", ctype.bits // 2)
        return Cast(half, container) if name in ("real", "imag") and not args else None
    if ctype.name in _OWNERS:
        return container if name == "get" else None
    if name == "operator bool" and ctype.kind == "int":
        return container  # an element of `std::vector<bool>`
    if not is_container(ctype):
        return None
    if name in _BEGINS and not args:
        return container
    if name in _ENDS and not args:
        return Binary("+", container, size_of(container, ctype, span))
    if name in ("size", "length"):
        return size_of(container, ctype, span)
    if name == "empty":
        return Binary("==", size_of(container, ctype, span), IntLit(0))
    if ctype.name in KEYED:
        return None
    if name in ("at", "operator[]") and len(args) == 1:
        return Index(container, args[0], span)
    if name in ("front", "top"):
        return Index(container, IntLit(0), span)
    if name == "back":
        last = Binary("-", size_of(container, ctype, span), IntLit(1))
        return Index(container, last, span)
    return None


def standard_operator(
    op: str, args: tuple[Expression, ...], types: tuple[CType, ...], span: Span
) -> Expression | None:
    """Returns an operator on addresses or complex numbers as a C operator. Returns None for any
    other operator.
    """
    if any(ctype.kind not in ("int", "float", "pointer", "array") for ctype in types):
        return None
    if op == "[]" and len(args) == 2 and types[0].name not in KEYED:
        return Index(args[0], args[1], span)
    if op in ("*", "->") and len(args) == 1:
        return Unary("*", args[0], span) if op == "*" else args[0]
    if op in ("++", "--"):
        return Unary(_STEPS[len(args)][op], args[0], span)
    if any(map(is_container, types)):
        return None  # a copy of some or all elements
    if op == "-" and len(args) == 1:
        return Unary("-", args[0], span)
    if op in _COMPARISONS or (op in _ARITHMETIC and len(args) == 2):
        return Binary(op, args[0], args[1])
    if op.endswith("=") and len(args) == 2:
        return Assign(op, args[0], args[1], span)
    return None


def standard_call(
    name: str, args: tuple[Expression, ...], types: tuple[CType, ...], span: Span
) -> Expression | None:
    """Returns a function call expressed through addresses and assignments. Returns None if it is
    not supported.
    """
    if name in _OF_CONTAINERS and len(args) == 1:
        ctype = types[0]
        if ctype.kind == "array":
            ctype = ctype._replace(name="std::array")
        if is_container(ctype):
            return standard_method(name, args[0], ctype, (), span)
    if name in ("make_pair", "make_tuple"):
        return Opaque("", args)
    if name == "addressof" and len(args) == 1:
        return address_of(args[0], span)
    if name in _SAME and len(args) == 1:
        return args[0]
    if name in ("real", "imag") and len(args) == 1 and types[0].name == "complex":
        return Cast(CType("float", types[0].bits // 2), args[0])
    numbers = all(ctype.kind in _NUMBERS for ctype in types) and all(map(is_place, args))
    pairs = list(zip(args, types, strict=True))
    # The lowering tracks the values of integer variables, and two writes in sequence cannot swap
    # them.
    counters = all(isinstance(expression, Name) and t.kind == "int" for expression, t in pairs)
    if name == "swap" and len(args) == 2 and numbers and not counters:
        there = Assign("=", args[0], args[1], span)
        return Binary(",", there, Assign("=", args[1], args[0], span))
    if name in ("next", "prev") and args and types[0].kind == "pointer":
        step = args[1] if len(args) > 1 else IntLit(1)
        return Binary("+" if name == "next" else "-", args[0], step)
    if name == "distance" and len(args) == 2 and types[0].kind == "pointer":
        return Binary("-", args[1], args[0])
    return None
