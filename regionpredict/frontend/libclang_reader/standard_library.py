"""Converts operations of the standard library's containers and iterators to C.

A container becomes a pointer to its first element, and an iterator a pointer to its element. `v[i]`
and `v.at(i)` become subscripts of a pointer, and `v.end()` becomes `v + v.size()`. Maps and sets
become arrays of their elements (`keyed_containers`). Other operations remain calls on the
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
from regionpredict.library import FILLED_CONTAINER

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
_CONTAINER_FUNCTIONS = _BEGINS | _ENDS | {"size"}
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%"))
_STEPS = {1: {"++": "++", "--": "--"}, 2: {"++": "p++", "--": "p--"}}
_IDENTITY_FUNCTIONS = frozenset(
    ("move", "forward", "as_const", "ref", "cref", "addressof", "launder")
)
_NUMBERS = frozenset(("int", "float"))


def is_container(ctype: CType) -> bool:
    """Returns whether the type is a standard container, which is treated as an array."""
    return ctype.name in _ELEMENTS or ctype.name in KEYED


def copied_elements(
    name: str, args: tuple[Expression, ...], types: tuple[CType, ...], span: Span
) -> Expression | None:
    """Returns a call that copies the elements in an assignment to a container: `v = w`,
    `v.assign(first, last)`.

    Returns None if no elements are copied. The caller adds the original call, which sets the
    length.
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
    """Returns the expression `v.size()`, or a number for containers of fixed length."""
    if ctype.kind == "array" and isinstance(ctype.extent, IntLit):
        return ctype.extent
    return CallExpr("size", None, (container,), span, method=True, free=True)


def constructed_container(
    ctype: CType, args: tuple[Expression, ...], types: tuple[CType, ...], span: Span
) -> Expression | None:
    """Converts the construction of a container to an allocation, and a copy of its elements.

    `vector(n)` becomes a call of `FILLED_CONTAINER`, and a copy becomes
    `memcpy(calloc(n, size), from, n * size)`. A view (`std::span`) becomes the address of its
    elements. Returns None for other types.
    """
    if ctype.element is None or not is_container(ctype) or not args:
        return None
    size = IntLit(ctype.element.bytes)
    begin, other = args[0], types[0]
    values = isinstance(begin, Opaque) and begin.string is None
    listed = other.extent if other.kind == "array" and values else None
    if other.kind == "int" or listed is not None:  # `vector(n)` and `{1, 2, 3}`
        return Cast(ctype, CallExpr(FILLED_CONTAINER, None, (listed or begin, size), span))
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
    else:  # a string literal or a pointer to one
        length = CallExpr("strlen", None, (begin,), span)
    allocated = CallExpr("calloc", None, (length, size), span)
    copied = (allocated, begin, Binary("*", length, size))
    return Cast(ctype, CallExpr("memcpy", None, copied, span))


def pointed_container(container: Expression, ctype: CType, span: Span) -> tuple[Expression, CType]:
    """Returns the container of a method call such as `p->size()` or `v.size()`, and its type."""
    element = ctype.element
    if ctype.kind == "pointer" and not ctype.name and element is not None and is_container(element):
        return dereferenced(container, span), element
    return container, ctype


def standard_method(
    name: str, container: Expression, ctype: CType, args: tuple[Expression, ...], span: Span
) -> Expression | None:
    """Converts a method call on a container to pointer operations. Returns None for other
    methods.
    """
    if ctype.name == "complex":
        half = CType("float", ctype.bits // 2)
        return Cast(half, container) if name in ("real", "imag") and not args else None
    if ctype.name in _OWNERS:
        return container if name == "get" else None
    if name == "operator bool" and ctype.kind == "int":
        return container  # the value of an element of `std::vector<bool>`
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
    """Converts an overloaded operator on iterators, containers or complex numbers to a C operator.
    Returns None for other operators.
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
        return None  # the operator copies or compares elements
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
    """Converts a call of a small library function, such as `std::swap` or `std::next`, to C
    operators. Returns None for other functions.
    """
    if name in _CONTAINER_FUNCTIONS and len(args) == 1:
        ctype = types[0]
        if ctype.kind == "array":
            ctype = ctype._replace(name="std::array")
        if is_container(ctype):
            return standard_method(name, args[0], ctype, (), span)
    if name in ("make_pair", "make_tuple"):
        return Opaque("", args)
    if name == "addressof" and len(args) == 1:
        return address_of(args[0], span)
    if name in _IDENTITY_FUNCTIONS and len(args) == 1:
        return args[0]
    if name in ("real", "imag") and len(args) == 1 and types[0].name == "complex":
        return Cast(CType("float", types[0].bits // 2), args[0])
    numbers = all(ctype.kind in _NUMBERS for ctype in types) and all(map(is_place, args))
    pairs = list(zip(args, types, strict=True))
    # The lowering tracks the values of integer variables, which two assignments would not swap.
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
