"""libclang's declarations -> `Decl`s, each made once and shared by all its uses."""

from __future__ import annotations

from collections.abc import Callable

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.cursors import (
    ENUMERATOR,
    FIELD,
    FUNCTIONS,
    PARAMETER,
    VARIABLE,
)
from regionpredict.frontend.libclang_reader.types import TypeReader
from regionpredict.frontend.syntax import (
    CType,
    Decl,
    Expression,
    IntLit,
)
from regionpredict.ir import Span

NO_SPAN = Span("", 0)
INTERNAL_LINKAGE = 2  # CXLinkage_Internal: `static`
_REFERRED = FUNCTIONS | {VARIABLE, PARAMETER, ENUMERATOR, FIELD, 28}


class Declarations:
    """The declarations met so far, and the names in scope in the function being read."""

    def __init__(self, types: TypeReader, file_name: Callable[[int], str]) -> None:
        self._lib = lc.library()
        self._types = types
        self._file_name = file_name
        self._place = lc.Place()
        self._decls: dict[int, Decl] = {}
        self._cursors: dict[Decl, lc.Cursor] = {}
        self._scope: dict[str, Decl] = {}

    # -- functions ------------------------------------------------------------------------------

    def enter(self) -> None:
        """Begins a function."""
        self._scope = {}

    def leave(self) -> None:
        """Ends it: its names are out of scope."""
        self._scope = {}

    # -- declarations ---------------------------------------------------------------------------

    def declare(self, cursor: lc.Cursor) -> Decl:
        """A parameter or variable that comes into scope."""
        decl = self.of(cursor)
        self._scope[decl.name] = decl
        # An array extent that names a variable is resolved now that its names are in scope.
        if decl.ctype.has_spelt_extent:
            decl.ctype = self._types.resolve(decl.ctype, self._scope.get, decl.span)
        return decl

    def of(self, cursor: lc.Cursor) -> Decl:
        """The declaration at a cursor that declares something."""
        own = cursor.data0 or 0
        decl = self._decls.get(own)
        if decl is not None:
            return decl
        canonical = self._lib.clang_getCanonicalCursor(cursor).data0 or 0
        decl = self._decls.get(canonical)
        if decl is None:
            decl = self._made(cursor)
            self._decls[canonical] = decl
            self._cursors[decl] = cursor
        self._decls[own] = decl
        return decl

    def referred(self, cursor: lc.Cursor) -> Decl | None:
        """The declaration that a name or a member refers to, where it is one of ours."""
        target = self._lib.clang_getCursorReferenced(cursor)
        known = self._decls.get(target.data0) if target.data0 else None
        if known is not None:
            return known
        return self.of(target) if target.kind in _REFERRED else None

    def cursor_of(self, decl: Decl) -> lc.Cursor | None:
        """The cursor that declared it."""
        return self._cursors.get(decl)

    def span(self, cursor: lc.Cursor) -> Span:
        """Where it begins."""
        file, line, column, _ = self._place.start(cursor)
        return Span(self._file_name(file), line, column) if file else NO_SPAN

    def _made(self, cursor: lc.Cursor) -> Decl:
        kind, value = "local", None
        if cursor.kind == PARAMETER:
            kind = "parameter"
        elif cursor.kind == FIELD:
            kind = "field"
        elif cursor.kind == ENUMERATOR:
            kind = "constant"
            value = int(self._lib.clang_getEnumConstantDeclValue(cursor))
        elif cursor.kind in FUNCTIONS:
            kind = "function"
        elif (
            cursor.kind == VARIABLE and self._lib.clang_Cursor_hasVarDeclGlobalStorage(cursor) == 1
        ):
            parent = self._lib.clang_getCursorSemanticParent(cursor)
            kind = "static" if parent.kind in FUNCTIONS else "global"
        ctype = self._types.of(self._lib.clang_getCursorType(cursor))
        span = self.span(cursor)
        decl = Decl(lc.spelling(cursor), kind, ctype, span, value=value)
        if kind in ("function", "global"):
            decl.symbol = self._symbol(cursor)
        if kind == "global":
            decl.init = self._global_initialiser(cursor)
            if ctype.has_spelt_extent:
                decl.ctype = self._types.resolve(ctype, self._scope.get, decl.span)
        return decl

    def _symbol(self, cursor: lc.Cursor) -> str:
        """What a linker knows it by; nothing where it is the unit's own."""
        if self._lib.clang_getCursorLinkage(cursor) == INTERNAL_LINKAGE:
            return ""
        return lc.text(self._lib.clang_Cursor_getMangling(cursor))

    def _global_initialiser(self, cursor: lc.Cursor) -> Expression | None:
        definition = self._lib.clang_getCursorDefinition(cursor)
        if definition.kind != VARIABLE:
            return None
        value = lc.integer(definition)
        return IntLit(value) if value is not None else None

    # -- types ----------------------------------------------------------------------------------

    def type_at(self, cursor: lc.Cursor) -> CType:
        """The type of an expression, its spelt extents read with the names in scope."""
        ctype = self._types.of(self._lib.clang_getCursorType(cursor))
        if ctype.has_spelt_extent:
            ctype = self._types.resolve(ctype, self._scope.get, NO_SPAN)
        return ctype
