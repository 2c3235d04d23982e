"""Binds the few functions of libclang that the front end calls, directly through ctypes.

The package's own Python bindings take 60 ms to import and several microseconds per node. Here, one
visit returns a whole function body as a flat list in source order.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from ctypes import (
    POINTER,
    Structure,
    addressof,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_longlong,
    c_uint,
    c_ulong,
    c_void_p,
)
from functools import lru_cache
from pathlib import Path
from struct import Struct
from typing import Any

from regionpredict.errors import InputError


class Cursor(Structure):
    """The C struct CXCursor. `data1` is the address of a statement, and `data0` that of a
    declaration.
    """

    _fields_ = (
        ("kind", c_int),
        ("xdata", c_int),
        ("data0", c_void_p),
        ("data1", c_void_p),
        ("data2", c_void_p),
    )


class Location(Structure):
    """CXSourceLocation."""

    _fields_ = (("ptr0", c_void_p), ("ptr1", c_void_p), ("data", c_uint))


class Range(Structure):
    """CXSourceRange."""

    _fields_ = (("ptr0", c_void_p), ("ptr1", c_void_p), ("begin", c_uint), ("end", c_uint))


class RangeList(Structure):
    """CXSourceRangeList."""

    _fields_ = (("count", c_uint), ("ranges", POINTER(Range)))


class String(Structure):
    """CXString."""

    _fields_ = (("data", c_void_p), ("flags", c_uint))


class UnsavedFile(Structure):
    """The C struct CXUnsavedFile, with text that replaces a file."""

    _fields_ = (("name", c_char_p), ("contents", c_char_p), ("length", c_ulong))


class Type(Structure):
    """CXType."""

    _fields_ = (("kind", c_int), ("ptr0", c_void_p), ("ptr1", c_void_p))


PRELUDE = "/regionpredict-prelude.h"  # name of a text in memory that the parser includes first

_VISITOR = ctypes.CFUNCTYPE(c_int, Cursor, Cursor, c_void_p)
_INCLUSION = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Location), c_uint, c_void_p)

_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "clang_createIndex": (c_void_p, [c_int, c_int]),
    "clang_disposeIndex": (None, [c_void_p]),
    "clang_parseTranslationUnit2": (
        c_int,
        [
            c_void_p,
            c_char_p,
            POINTER(c_char_p),
            c_int,
            POINTER(UnsavedFile),
            c_uint,
            c_uint,
            POINTER(c_void_p),
        ],
    ),
    "clang_disposeTranslationUnit": (None, [c_void_p]),
    "clang_getTranslationUnitCursor": (Cursor, [c_void_p]),
    "clang_visitChildren": (c_uint, [Cursor, _VISITOR, c_void_p]),
    "clang_getCursorReferenced": (Cursor, [Cursor]),
    "clang_getCanonicalCursor": (Cursor, [Cursor]),
    "clang_getCursorDefinition": (Cursor, [Cursor]),
    "clang_isCursorDefinition": (c_uint, [Cursor]),
    "clang_getCursorLinkage": (c_int, [Cursor]),
    "clang_getCursorSemanticParent": (Cursor, [Cursor]),
    "clang_CXXConstructor_isCopyConstructor": (c_uint, [Cursor]),
    "clang_CXXConstructor_isMoveConstructor": (c_uint, [Cursor]),
    "clang_CXXMethod_isMoveAssignmentOperator": (c_uint, [Cursor]),
    "clang_Cursor_isBitField": (c_uint, [Cursor]),
    "clang_getCursorType": (Type, [Cursor]),
    "clang_getCanonicalType": (Type, [Type]),
    "clang_getPointeeType": (Type, [Type]),
    "clang_getArrayElementType": (Type, [Type]),
    "clang_getElementType": (Type, [Type]),
    "clang_getArraySize": (c_longlong, [Type]),
    "clang_getResultType": (Type, [Type]),
    "clang_getCursorPrettyPrinted": (String, [Cursor, c_void_p]),
    "clang_getNumArgTypes": (c_int, [Type]),
    "clang_Cursor_getNumArguments": (c_int, [Cursor]),
    "clang_Cursor_getArgument": (Cursor, [Cursor, c_uint]),
    "clang_getArgType": (Type, [Type, c_uint]),
    "clang_isConstQualifiedType": (c_uint, [Type]),
    "clang_isVolatileQualifiedType": (c_uint, [Type]),
    "clang_getTypeDeclaration": (Cursor, [Type]),
    "clang_Type_getNumTemplateArguments": (c_int, [Type]),
    "clang_Type_getValueType": (Type, [Type]),
    "clang_Type_getTemplateArgumentAsType": (Type, [Type, c_uint]),
    "clang_CXXMethod_isDefaulted": (c_uint, [Cursor]),
    "clang_CXXMethod_isStatic": (c_uint, [Cursor]),
    "clang_CXXMethod_isVirtual": (c_uint, [Cursor]),
    "clang_getNumOverloadedDecls": (c_uint, [Cursor]),
    "clang_getOverloadedDecl": (Cursor, [Cursor, c_uint]),
    "clang_getOverriddenCursors": (None, [Cursor, POINTER(POINTER(Cursor)), POINTER(c_uint)]),
    "clang_disposeOverriddenCursors": (None, [POINTER(Cursor)]),
    "clang_getSpecializedCursorTemplate": (Cursor, [Cursor]),
    "clang_Cursor_getNumTemplateArguments": (c_int, [Cursor]),
    "clang_Cursor_getTemplateArgumentKind": (c_int, [Cursor, c_uint]),
    "clang_Cursor_getTemplateArgumentValue": (c_longlong, [Cursor, c_uint]),
    "clang_Cursor_getTemplateArgumentType": (Type, [Cursor, c_uint]),
    "clang_getCursorDisplayName": (String, [Cursor]),
    "clang_Type_getSizeOf": (c_longlong, [Type]),
    "clang_Cursor_isAnonymousRecordDecl": (c_uint, [Cursor]),
    "clang_Type_getOffsetOf": (c_longlong, [Type, c_char_p]),
    "clang_getTypeSpelling": (String, [Type]),
    "clang_getCursorSpelling": (String, [Cursor]),
    "clang_Cursor_getMangling": (String, [Cursor]),
    "clang_getCString": (c_char_p, [String]),
    "clang_disposeString": (None, [String]),
    "clang_getCursorLocation": (Location, [Cursor]),
    "clang_getCursorExtent": (Range, [Cursor]),
    "clang_getExpansionLocation": (
        None,
        [Location, c_void_p, c_void_p, c_void_p, c_void_p],
    ),
    "clang_Location_isInSystemHeader": (c_int, [Location]),
    "clang_getFileName": (String, [c_void_p]),
    "clang_getFile": (c_void_p, [c_void_p, c_char_p]),
    "clang_getSkippedRanges": (POINTER(RangeList), [c_void_p, c_void_p]),
    "clang_getAllSkippedRanges": (POINTER(RangeList), [c_void_p]),
    "clang_disposeSourceRangeList": (None, [POINTER(RangeList)]),
    "clang_getInclusions": (None, [c_void_p, _INCLUSION, c_void_p]),
    "clang_getCursorBinaryOperatorKind": (c_int, [Cursor]),
    "clang_getCursorUnaryOperatorKind": (c_int, [Cursor]),
    "clang_Cursor_Evaluate": (c_void_p, [Cursor]),
    "clang_EvalResult_getKind": (c_int, [c_void_p]),
    "clang_EvalResult_getAsLongLong": (c_longlong, [c_void_p]),
    "clang_EvalResult_getAsDouble": (c_double, [c_void_p]),
    "clang_EvalResult_dispose": (None, [c_void_p]),
    "clang_getEnumConstantDeclValue": (c_longlong, [Cursor]),
    "clang_Cursor_hasVarDeclGlobalStorage": (c_int, [Cursor]),
    "clang_Cursor_getVarDeclInitializer": (Cursor, [Cursor]),
    "clang_getNumDiagnostics": (c_uint, [c_void_p]),
    "clang_getDiagnostic": (c_void_p, [c_void_p, c_uint]),
    "clang_disposeDiagnostic": (None, [c_void_p]),
    "clang_getDiagnosticSeverity": (c_int, [c_void_p]),
    "clang_getDiagnosticSpelling": (String, [c_void_p]),
    "clang_getDiagnosticLocation": (Location, [c_void_p]),
}


def library_path() -> Path | None:
    """Returns the path of libclang's shared library in its Python package. Returns None if the
    package has none for this platform.
    """
    spec = importlib.util.find_spec("clang")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for name in ("libclang.so", "libclang.dylib", "libclang.dll"):
            path = Path(folder) / "native" / name
            if path.exists():
                return path
    return None


@lru_cache(maxsize=1)
def load_libclang() -> Any:
    """Returns libclang as a ctypes library, with typed functions.

    Raises InputError if the platform has no libclang.
    """
    path = library_path()
    if path is None:
        raise InputError("no libclang for this platform", remedy="use --frontend pycparser")
    loaded = ctypes.CDLL(str(path))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    return loaded


def string_text(string: String) -> str:
    """Converts a CXString to a Python string, and frees it."""
    lib = load_libclang()
    raw = lib.clang_getCString(string)
    lib.clang_disposeString(string)
    return raw.decode("utf-8", "replace") if raw else ""


def cursor_name(cursor: Cursor) -> str:
    """Returns the name of the declaration or reference at a cursor, or ""."""
    return string_text(load_libclang().clang_getCursorSpelling(cursor))


def visit(cursor: Cursor, visitor: Callable[[Cursor, Cursor, object], int]) -> None:
    """Calls `visitor(child, parent, None)` for each child of a cursor. The visitor returns 2 to
    visit the children of the child, or 1 to skip them.
    """
    load_libclang().clang_visitChildren(cursor, _VISITOR(visitor), None)


def children_of_kinds(cursor: Cursor, kinds: frozenset[int]) -> list[Cursor]:
    """Returns the direct children of a cursor whose kinds are in `kinds`."""
    matching: list[Cursor] = []

    def keep(child: Cursor, _parent: Cursor, _data: object) -> int:
        if child.kind in kinds:
            matching.append(child)
        return 1

    visit(cursor, keep)
    return matching


def integer_value(cursor: Cursor) -> int | None:
    """Returns the value of a constant integer expression, or of a variable's initializer. Returns
    None for other cursors.
    """
    lib = load_libclang()
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    value = None
    if lib.clang_EvalResult_getKind(result) == 1:
        value = int(lib.clang_EvalResult_getAsLongLong(result))
    lib.clang_EvalResult_dispose(result)
    return value


def floating_value(cursor: Cursor) -> float:
    """Returns the value of a floating-point constant, or 0 if libclang cannot evaluate it."""
    lib = load_libclang()
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return 0.0
    value = float(lib.clang_EvalResult_getAsDouble(result))
    lib.clang_EvalResult_dispose(result)
    return value


class _PositionBuffer(Structure):
    """The output of clang_getExpansionLocation."""

    _fields_ = (("file", c_void_p), ("line", c_uint), ("column", c_uint), ("offset", c_uint))


_Position = tuple[int, int, int, int]


class SourcePositions:
    """Converts source locations to (file handle, line, column, offset), with a reused buffer.

    The handle is 0 if there is no file. A location inside a macro becomes that of the expansion.
    """

    def __init__(self) -> None:
        lib = load_libclang()
        self._extent = lib.clang_getCursorExtent
        self._expand = lib.clang_getExpansionLocation
        # A CXSourceRange starts like the CXSourceLocation of its start, so it can replace it.
        self._expand_begin = lib["clang_getExpansionLocation"]
        self._expand_begin.restype = None
        self._expand_begin.argtypes = [Range, c_void_p, c_void_p, c_void_p, c_void_p]
        self._buffer = _PositionBuffer()
        self._read: Callable[[_PositionBuffer], _Position] = Struct("@PIII").unpack_from
        self._parts = tuple(
            addressof(self._buffer) + getattr(_PositionBuffer, name).offset
            for name in ("file", "line", "column", "offset")
        )

    def read(self, location: Location) -> _Position:
        """Returns the source position of a libclang location."""
        self._expand(location, *self._parts)
        return self._read(self._buffer)

    def start(self, cursor: Cursor) -> _Position:
        """Returns the source position of the first token of a cursor."""
        self._expand_begin(self._extent(cursor), *self._parts)
        return self._read(self._buffer)

    def end(self, cursor: Cursor) -> _Position:
        """Returns the source position after the last token of a cursor."""
        extent = self._extent(cursor)
        return self.read(Location(extent.ptr0, extent.ptr1, extent.end))


def inclusions_in_unit(unit: int) -> list[tuple[int, int, int]]:
    """Returns (file handle, handle of the including file, offset of the #include) for each file
    that was read.

    The main file comes first, with 0 for the file that includes it.
    """
    inclusions_read: list[tuple[int, int, int]] = []
    place = SourcePositions()

    def visit(file: int, stack: Any, depth: int, _data: object) -> None:
        including, offset = 0, 0
        if depth:
            including, _, _, offset = place.read(stack[0])
        inclusions_read.append((file, including, offset))

    load_libclang().clang_getInclusions(unit, _INCLUSION(visit), None)
    return inclusions_read


def included_files(unit: int) -> list[str]:
    """Returns the paths of all files that the parser has read, including system headers."""
    lib = load_libclang()
    paths: list[str] = []

    def visit(file: int, _stack: Any, _depth: int, _data: object) -> None:
        paths.append(string_text(lib.clang_getFileName(file)))

    lib.clang_getInclusions(unit, _INCLUSION(visit), None)
    return [path for path in paths if path and path != PRELUDE]


def parse(
    index: int, path: str, arguments: Sequence[str], options: int,
    unsaved: Mapping[str, str] | None = None,
) -> tuple[int, int]:  # fmt: skip
    """Parses a file, and returns (error code, translation unit handle). The handle is 0 after an
    error.

    `unsaved` maps file names to texts that replace the files. A file named `PRELUDE` is read before
    the main file.
    """
    texts = {os.fsencode(name): text.encode() for name, text in (unsaved or {}).items()}
    argv = [*arguments, *(("-include", PRELUDE) if PRELUDE in (unsaved or {}) else ())]
    array = (c_char_p * len(argv))(*(os.fsencode(word) for word in argv))
    files = (UnsavedFile * len(texts))(
        *(UnsavedFile(n, text, len(text)) for n, text in texts.items())
    )
    unit = c_void_p()
    name = f"./{path}" if path.startswith("-") else path  # otherwise it would be an option
    code = load_libclang().clang_parseTranslationUnit2(
        index, os.fsencode(name), array, len(argv), files, len(texts), options, byref(unit)
    )
    return code, unit.value or 0
