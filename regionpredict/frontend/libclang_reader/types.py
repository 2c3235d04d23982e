"""Converts libclang's types to `CType`.

Containers and iterators of the standard library are converted to the type of their memory. A
`std::vector<T>` is a pointer to `T`, a `std::array<T, n>` an array, and a `std::complex<T>` is C's
`T _Complex`. Maps and sets are pointers to their elements.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.atomics import ATOMIC_TYPE
from regionpredict.frontend.syntax import (
    UNKNOWN,
    CType,
    Decl,
    IntLit,
    Opaque,
)
from regionpredict.frontend.text import (
    parse_expression,
)
from regionpredict.ir import Span

# CXTypeKind of the integers, with their widths under LP64.
_INTEGERS = {
    3: (8, True), 4: (8, True), 5: (8, True), 6: (16, True), 7: (32, True), 8: (16, True),
    9: (32, True), 10: (64, True), 11: (64, True), 12: (128, True), 13: (8, False),
    14: (8, False), 15: (32, False), 16: (16, False), 17: (32, False), 18: (64, False),
    19: (64, False), 20: (128, False), 106: (32, False),
}  # fmt: skip
_FLOATS = {21: 32, 22: 64, 23: 128, 30: 128, 31: 16, 32: 16}
_BOOL = 3  # CXType_Bool
POINTER = 101  # CXType_Pointer
MEMBER_POINTER = 117  # CXType_MemberPointer
_MAX_DEPTH = 8
_EXTENT_WORDS = re.compile(r"\b(?:static|const|volatile|restrict)\b\s*")
_QUALIFIERS = re.compile(r"^(?:(?:const|volatile|restrict) )+")
# Inline namespaces of library versions, such as `std::__1`, are ignored.
_STANDARD = re.compile(
    r"(?:std|__gnu_cxx)::(?:__\w+::)*(?P<name>vector|array|valarray|span|complex|unique_ptr"
    r"|basic_string|basic_string_view|shared_ptr|deque|list|queue|stack|priority_queue"
    r"|(?:unordered_)?(?:multi)?(?:map|set)"
    r"|__normal_iterator|__wrap_iter|_Deque_iterator|_List_(?:const_)?iterator|_Rb_tree_(?:const_)?iterator"
    r"|_Node_(?:const_)?iterator|__(?:hash_)?(?:list|map|tree)_(?:const_)?iterator)<"
)
_BIT = "std::_Bit_reference"
_KEYED = re.compile(r"(?:unordered_)?(?:multi)?(?:map|set)")
_FIRST_EXTENT = re.compile(r"\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]")


class TypeReader:
    """Converts libclang's types to `CType`s, and caches the results."""

    def __init__(self) -> None:
        self._lib = lc.load_libclang()
        self._known: dict[tuple[int, int | None], CType] = {}

    def read(self, ctype: lc.Type, depth: int = 0) -> CType:
        """Converts a type. A variable array length remains text (`Opaque`) until `resolve` is
        called.
        """
        canonical = self._lib.clang_getCanonicalType(ctype)
        key = (canonical.kind, canonical.ptr0)
        known = self._known.get(key)
        if known is None:
            known = self._describe_type(canonical, depth)
            self._known[key] = known
        return known

    def _describe_type(self, ctype: lc.Type, depth: int) -> CType:
        kind = ctype.kind
        if kind in _INTEGERS:
            bits, unsigned = _INTEGERS[kind]
            return CType("int", bits, unsigned)
        if kind in _FLOATS:
            return CType("float", _FLOATS[kind])
        if kind == 100:  # complex: two numbers
            element = self.read(self._lib.clang_getElementType(ctype), depth + 1)
            return CType("float", 2 * element.bits, name="complex")
        if depth > _MAX_DEPTH:
            return UNKNOWN
        if kind in (POINTER, 103, 104, MEMBER_POINTER):
            element = self.read(self._lib.clang_getPointeeType(ctype), depth + 1)
            if kind in (103, 104):
                return element  # a reference is used like its target
            return CType("pointer", 64, element=element)
        if kind in (112, 114, 115, 116):
            return self._array_type(ctype, kind, depth)
        if kind == 105:
            size = self._lib.clang_Type_getSizeOf(ctype)
            name = lc.string_text(self._lib.clang_getTypeSpelling(ctype))
            name = _QUALIFIERS.sub("", name)
            if name == _BIT:
                return CType("int", 8, True)
            match = _STANDARD.match(name)
            standard = self._type_of_memory(match["name"], ctype, depth) if match else None
            return standard or CType("struct", 8 * max(0, size), name=name)
        if kind == 113:
            element = self.read(self._lib.clang_getElementType(ctype), depth + 1)
            size = max(0, self._lib.clang_Type_getSizeOf(ctype))
            return CType(element.kind, 8 * size or element.bits, name="vector")
        if kind == 2:
            return CType("void")
        if kind == ATOMIC_TYPE:
            return self.read(self._lib.clang_Type_getValueType(ctype), depth + 1)
        if kind in (110, 111):  # a function has its return type
            return self.read(self._lib.clang_getResultType(ctype), depth + 1)
        return UNKNOWN

    def _type_of_memory(self, name: str, ctype: lc.Type, depth: int) -> CType | None:
        """Returns the type of the memory that a container or smart pointer refers to. Returns None
        if it is unknown.
        """
        if self._lib.clang_Type_getNumTemplateArguments(ctype) < 1:
            return None
        first = self._lib.clang_Type_getTemplateArgumentAsType(ctype, 0)
        if _KEYED.fullmatch(name):
            first = container_value_type(ctype)
        element = self.read(first, depth + 1)
        if name == "complex":
            return CType("float", 2 * element.bits, name="complex")
        if name in ("__normal_iterator", "__wrap_iter"):
            return element if element.kind == "pointer" else None
        if name.endswith("iterator"):
            return CType("pointer", 64, element=element)
        if name == "array":
            size, element_size = (
                self._lib.clang_Type_getSizeOf(ctype),
                self._lib.clang_Type_getSizeOf(first),
            )
            extent = (
                IntLit(int(size) // int(element_size)) if size > 0 and element_size > 0 else None
            )
            return CType("array", 64, element=element, extent=extent, name="std::array")
        if name == "vector" and self._lib.clang_getCanonicalType(first).kind == _BOOL:
            element = CType("int", 8, True)  # an access to a bit reads or writes its byte
        if name in ("unique_ptr", "shared_ptr") and element.kind == "array":
            element = element.element or UNKNOWN
        return CType("pointer", 64, element=element, name=f"std::{name}")

    def reference_target(self, ctype: lc.Type) -> CType | None:
        """Returns the target type of a reference that is treated as an address. Returns None for
        other types.

        A reference to a constant number is treated as its value. A reference to a pointer, array or
        container is treated as this address, except for strings, which may be reassigned.
        """
        canonical = self._lib.clang_getCanonicalType(ctype)
        if canonical.kind not in (103, 104):
            return None
        target = self._lib.clang_getPointeeType(canonical)
        element = self.read(target)
        if element.kind == "struct":
            return element
        changes = element.kind in ("int", "float") or element.name == "std::basic_string"
        return element if changes and not self._lib.clang_isConstQualifiedType(target) else None

    def _array_type(self, ctype: lc.Type, kind: int, depth: int) -> CType:
        element = self.read(self._lib.clang_getArrayElementType(ctype), depth + 1)
        if kind == 112:
            extent = IntLit(int(self._lib.clang_getArraySize(ctype)))
            return CType("array", 64, element=element, extent=extent)
        if kind == 114:
            return CType("array", 64, element=element)
        spelling = lc.string_text(self._lib.clang_getTypeSpelling(ctype))
        match = _FIRST_EXTENT.search(spelling)
        extent_text = _EXTENT_WORDS.sub("", match.group(1)) if match else ""
        return CType("array", 64, element=element, extent=Opaque(extent_text))

    def resolve(self, ctype: CType, lookup: Callable[[str], Decl | None], span: Span) -> CType:
        """Returns the type with its array lengths as expressions. `lookup` returns the declaration
        of a name.
        """
        if ctype.element is None or not ctype.has_spelt_extent:
            return ctype
        element = self.resolve(ctype.element, lookup, span)
        extent = ctype.extent
        if isinstance(extent, Opaque):
            extent = parse_expression(extent.text, lookup, span)
        return ctype._replace(element=element, extent=extent)


def container_value_type(ctype: lc.Type) -> lc.Type:
    """Returns the element type of a map or a set, which is the argument of its allocator type."""
    lib = lc.load_libclang()
    number = lib.clang_Type_getNumTemplateArguments(ctype)
    allocator = lib.clang_Type_getTemplateArgumentAsType(ctype, number - 1)
    held: lc.Type = lib.clang_Type_getTemplateArgumentAsType(allocator, 0)
    return held
