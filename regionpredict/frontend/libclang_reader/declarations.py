"""Converts libclang's declarations to `Decl`s. All uses of a declaration share one `Decl`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from regionpredict.frontend.headers import SHIPPED, is_system_path
from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.cursors import (
    BASE,
    ENUMERATOR,
    FIELD,
    FUNCTION_TEMPLATE,
    FUNCTIONS,
    METHODS,
    PARAMETER,
    STRUCT,
    TRANSLATION_UNIT,
    UNNAMED_ATTRIBUTE,
    UNNAMED_DECLARATION,
    VARIABLE,
    Node,
)
from regionpredict.frontend.libclang_reader.types import TypeReader
from regionpredict.frontend.syntax import (
    CType,
    Decl,
    Expression,
    Index,
    IntLit,
    Member,
    Name,
    Unary,
    address_of,
    unread_list,
)
from regionpredict.frontend.text import SourceText
from regionpredict.ir import Span

NO_SPAN = Span("", 0)
INTERNAL_LINKAGE = 2  # CXLinkage_Internal: `static`
_WORD = re.compile(rb"\w+")
_FUNCTION_TYPES = frozenset((110, 111))  # CXType_FunctionNoProto, CXType_FunctionProto
_ATTRIBUTES = frozenset((UNNAMED_ATTRIBUTE,))
_MEMBERS = frozenset((FIELD, STRUCT, 3, 4, BASE))  # possible first members of a list
_MAY_REFER = frozenset((PARAMETER, VARIABLE, FIELD, UNNAMED_DECLARATION))
_REFERRED = FUNCTIONS | {VARIABLE, PARAMETER, ENUMERATOR, FIELD, 28}


class Declarations:
    """The converted declarations of a file, and the names in scope in the current function."""

    def __init__(
        self, types: TypeReader, file_name: Callable[[int], str],
        sources: Mapping[int, SourceText], first_value: Callable[[lc.Cursor], Expression | None],
    ) -> None:  # fmt: skip
        self._lib = lc.load_libclang()
        self._first_value = first_value
        self._types = types
        self._file_name = file_name
        self._sources = sources
        self._place = lc.SourcePositions()
        self._decls: dict[int, Decl] = {}
        self._cursors: dict[Decl, lc.Cursor] = {}
        self.this: Decl | None = None  # `this` in the current function
        self._this: dict[int, Decl] = {}
        self._by_address: dict[int, tuple[bool, ...]] = {}
        self._scope: dict[str, Decl] = {}
        self._outer: list[tuple[dict[str, Decl], Decl | None]] = []

    # -- functions ------------------------------------------------------------------------------

    def enter(self, this_pointer: Decl | None) -> None:
        """Starts a new scope for a function, also while another function is being read."""
        self._outer.append((self._scope, self.this))
        self._scope, self.this = {}, this_pointer

    def leave(self) -> None:
        """Ends the scope of the current function."""
        self._scope, self.this = self._outer.pop()

    # -- declarations ---------------------------------------------------------------------------

    def declare(self, cursor: lc.Cursor) -> Decl:
        """Adds a parameter or variable to the current scope."""
        decl = self.declaration(cursor)
        self._scope[decl.name] = decl
        # The names in a variable array extent are in scope here.
        if decl.ctype.has_spelt_extent:
            decl.ctype = self._types.resolve(
                decl.ctype, partial(self._resolve_name, cursor), decl.span
            )
        return decl

    def _resolve_name(self, cursor: lc.Cursor, name: str) -> Decl | None:
        """Returns the declaration of a name in an array extent, from the current function or from
        an enclosing scope.
        """
        own = self._scope.get(name)
        if own is not None:
            return own
        while cursor.kind != TRANSLATION_UNIT:
            parent = self._lib.clang_getCursorSemanticParent(cursor)
            if parent.kind == cursor.kind or not parent.data0:
                return None
            cursor = parent
        for variable in lc.children_of_kinds(cursor, frozenset((VARIABLE,))):
            if lc.cursor_name(variable) == name:
                return self.declaration(variable)
        return None

    def declaration(self, cursor: lc.Cursor) -> Decl:
        """Returns the `Decl` for the cursor of a declaration."""
        own = cursor.data0 or 0
        decl = self._decls.get(own)
        if decl is not None:
            return decl
        canonical = self._lib.clang_getCanonicalCursor(cursor).data0 or 0
        decl = self._decls.get(canonical)
        if decl is None:
            decl = self._create_declaration(cursor)
            self._decls[canonical] = decl
            self._cursors[decl] = cursor
        self._decls[own] = decl
        return decl

    def is_in_system_header(self, cursor: lc.Cursor) -> bool:
        """Returns whether a declaration is in a system header, as opposed to the headers shipped
        with this package.
        """
        location = self._lib.clang_getCursorLocation(cursor)
        file = self._place.read(location)[0]
        name = self._file_name(file) if file else ""
        if name.startswith(SHIPPED):
            return False
        return bool(self._lib.clang_Location_isInSystemHeader(location)) or is_system_path(name)

    def referenced_declaration(self, cursor: lc.Cursor) -> Decl | None:
        """Returns the declaration to which a name or member expression refers. Returns None if it
        is unknown.
        """
        target = self._lib.clang_getCursorReferenced(cursor)
        known = self._decls.get(target.data0) if target.data0 else None
        if known is not None:
            return known
        return self.declaration(target) if target.kind in _REFERRED else None

    def cursor_of(self, decl: Decl) -> lc.Cursor | None:
        """Returns the libclang cursor of a declaration."""
        return self._cursors.get(decl)

    def span(self, cursor: lc.Cursor) -> Span:
        """Returns the source position of the start of a cursor."""
        file, line, column, _ = self._place.start(cursor)
        return Span(self._file_name(file), line, column) if file else NO_SPAN

    def text(self, cursor: lc.Cursor) -> str:
        """Returns the source text of a cursor in one line. The result is empty in a macro
        expansion.
        """
        file, _, _, begin = self._place.start(cursor)
        known, end = self._sources.get(file), self._place.end(cursor)[3]
        return "" if known is None else " ".join(known.data[begin:end].decode().split())

    def first_word(self, cursor: lc.Cursor) -> str:
        """Returns the first word of an expression's text. In a macro's expansion, it is the
        macro's name.
        """
        file, _, _, begin = self._place.start(cursor)
        known = self._sources.get(file)
        found = _WORD.match(known.data, begin) if known is not None else None
        return found.group().decode() if found else ""

    def _create_declaration(self, cursor: lc.Cursor) -> Decl:
        kind, value, offset, owner = "local", None, 0, ""
        if cursor.kind == PARAMETER:
            kind = "parameter"
        elif cursor.kind == FIELD:
            kind = "field"
            offset, owner = self._byte_offset(cursor), self._owner_of_member(cursor)
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
        full = self._lib.clang_getCursorType(cursor)
        ctype = self._types.read(full)
        target = self._types.reference_target(full) if cursor.kind in _MAY_REFER else None
        if target is not None:
            ctype = CType("pointer", 64, element=target)
        span = self.span(cursor)
        name = lc.cursor_name(cursor)
        decl = Decl(
            name, kind, ctype, span, value=value, reference=target is not None,
            never_returns=kind == "function" and self._never_returns(cursor),
            is_const=cursor.kind == VARIABLE and self._is_const(full, ctype), offset=offset,
            owner=owner,
        )  # fmt: skip
        decl.is_volatile = bool(
            self._lib.clang_isVolatileQualifiedType(self._lib.clang_getCanonicalType(full))
        )
        if kind in ("function", "global"):
            decl.symbol = self._linker_symbol(cursor)
        if kind == "global":
            if ctype.kind == "array" and ctype.extent is None:  # the initializer gives its length
                decl.ctype = self._defined_type(cursor) or ctype
            decl.init = self._global_initialiser(cursor, decl)
            if ctype.has_spelt_extent:
                decl.ctype = self._types.resolve(ctype, self._scope.get, decl.span)
        return decl

    def _defined_type(self, cursor: lc.Cursor) -> CType | None:
        definition = self._lib.clang_getCursorDefinition(cursor)
        if definition.kind != VARIABLE:
            return None
        return self._types.read(self._lib.clang_getCursorType(definition))

    def _is_const(self, full: lc.Type, ctype: CType) -> bool:
        """Returns whether a type is a `const` number type without `volatile`."""
        canonical = self._lib.clang_getCanonicalType(full)
        return (
            ctype.kind in ("int", "float")
            and bool(self._lib.clang_isConstQualifiedType(canonical))
            and not self._lib.clang_isVolatileQualifiedType(canonical)
        )

    def _byte_offset(self, field: lc.Cursor) -> int:
        """Returns the offset in bytes of a member from the start of its struct, or of the named
        struct around an unnamed one.
        """
        struct = self._lib.clang_getCursorSemanticParent(field)
        while self._lib.clang_Cursor_isAnonymousRecordDecl(struct):
            struct = self._lib.clang_getCursorSemanticParent(struct)
        ctype = self._lib.clang_getCursorType(struct)
        return max(
            0, int(self._lib.clang_Type_getOffsetOf(ctype, lc.cursor_name(field).encode())) // 8
        )

    def _owner_of_member(self, field: lc.Cursor) -> str:
        """Returns the name of the struct or class that declares a member."""
        struct = self._lib.clang_getCursorSemanticParent(field)
        ctype = self._types.read(self._lib.clang_getCursorType(struct))
        return ctype.name if ctype.kind == "struct" else ""

    def _never_returns(self, function: lc.Cursor) -> bool:
        """Returns whether a function is declared with a `noreturn` attribute or `_Noreturn`."""
        ctype = self._lib.clang_getCursorType(function)
        if "noreturn" in lc.string_text(self._lib.clang_getTypeSpelling(ctype)):
            return True
        if not lc.children_of_kinds(function, _ATTRIBUTES):
            return False
        printed = lc.string_text(self._lib.clang_getCursorPrettyPrinted(function, None))
        return "noreturn" in printed.partition("{")[0].lower()

    def declare_binding(self, node: Node) -> tuple[Decl, tuple[Decl, ...]]:
        """Declares the names of a structured binding, and a variable for its object.

        `auto &[key, value] = *it;` is `auto &object = *it;`, `auto &key = object.first;` and
        `auto &value = object.second;`.
        """
        decl_of_object = self.declare(node.cursor)
        whole = self._lib.clang_getCursorType(node.cursor)
        refers = whole.kind in (103, 104)
        record = self._lib.clang_getPointeeType(whole) if refers else whole
        place: Expression = Name(decl_of_object, NO_SPAN)
        if decl_of_object.reference:
            place = Unary("*", place, NO_SPAN)
        names = []
        cursors = [c.cursor for c in node.children if c.kind == UNNAMED_DECLARATION]
        members = self.members(record)
        for at, cursor in enumerate(cursors):
            ctype = self.type_at(cursor)
            if self._types.read(record).kind == "array":
                part: Expression = Index(place, IntLit(at), NO_SPAN)
            elif len(members) == len(cursors):
                part = Member(place, members[at], False, NO_SPAN)
            else:  # a class of the standard library, such as `std::pair`
                name = ("first", "second")[at] if len(cursors) == 2 else f"get<{at}>"
                part = Member(place, self.field(record, name, ctype), False, NO_SPAN)
            by_address = refers and ctype.kind in ("int", "float", "struct")
            decl = Decl(
                lc.cursor_name(cursor), "local",
                CType("pointer", 64, element=ctype) if by_address else ctype, self.span(cursor),
                init=address_of(part, NO_SPAN) if by_address else part, reference=by_address,
            )  # fmt: skip
            self._decls[cursor.data0 or 0] = decl
            self._scope[decl.name] = decl
            names.append(decl)
        return decl_of_object, tuple(names)

    def field(self, record: lc.Type, name: str, ctype: CType) -> Decl:
        """Returns the member of a class with this name. If libclang does not show it, the result is
        a new member of type `ctype`.
        """
        declared = self._lib.clang_getTypeDeclaration(self._lib.clang_getCanonicalType(record))
        for member in lc.children_of_kinds(declared, frozenset((FIELD,))):
            if lc.cursor_name(member) == name:
                return self.declaration(member)
        return Decl(name, "field", ctype, NO_SPAN)

    def members(self, ctype: lc.Type) -> list[Decl]:
        """Returns the members of a struct in order, up to the first unnamed one."""
        record = self._lib.clang_getTypeDeclaration(self._lib.clang_getCanonicalType(ctype))
        members: list[Decl] = []
        if record.kind != STRUCT:
            return members
        for member in lc.children_of_kinds(record, _MEMBERS):
            if member.kind == FIELD:
                members += [self.declaration(member)] if lc.cursor_name(member) else []
            elif member.kind == BASE or not lc.cursor_name(member):
                break
        return members

    def _linker_symbol(self, cursor: lc.Cursor) -> str:
        """Returns the linker symbol of a declaration, or "" for internal linkage."""
        if self._lib.clang_getCursorLinkage(cursor) == INTERNAL_LINKAGE:
            return ""
        return lc.string_text(self._lib.clang_Cursor_getMangling(cursor))

    def _global_initialiser(self, cursor: lc.Cursor, decl: Decl) -> Expression | None:
        definition = self._lib.clang_getCursorDefinition(cursor)
        if definition.kind != VARIABLE:
            if not decl.is_const:
                return None
            definition = cursor  # the declaration of a static member has its value
        if (
            decl.ctype.is_option_table
            or decl.ctype.holds_sizes
            or self._is_function_pointer(cursor)
        ):
            canonical = self._lib.clang_getCanonicalCursor(cursor).data0 or 0
            self._decls[canonical] = decl  # the initializer may refer to the variable
            return self._first_value(definition)
        if decl.is_const and decl.ctype.kind == "float":
            return self._first_value(definition)
        if decl.ctype.may_hold_functions and self._is_initialised(definition):
            return unread_list()
        value = lc.integer_value(definition)
        return IntLit(value) if value is not None else None

    def _is_initialised(self, variable: lc.Cursor) -> bool:
        return bool(self._lib.clang_Cursor_getVarDeclInitializer(variable).data0)

    def _is_function_pointer(self, variable: lc.Cursor) -> bool:
        ctype = self._lib.clang_getCanonicalType(self._lib.clang_getCursorType(variable))
        return self._lib.clang_getPointeeType(ctype).kind in _FUNCTION_TYPES

    def is_closure(self, method: lc.Cursor) -> bool:
        """Returns whether the method is the body of a lambda."""
        if method.kind not in METHODS and method.kind != FUNCTION_TEMPLATE:
            return False
        if lc.cursor_name(method) != "operator()":
            return False
        parent = self._lib.clang_getCursorSemanticParent(method)
        ctype = self._lib.clang_getCursorType(parent)
        return "(lambda at" in lc.string_text(self._lib.clang_getTypeSpelling(ctype))

    def this_parameter(self, method: lc.Cursor) -> Decl | None:
        """Returns the parameter `this` of a method, which all methods of a class share. Returns
        None for other functions.
        """
        while self.is_closure(method):  # a lambda uses the `this` of the enclosing method
            closure = self._lib.clang_getCursorSemanticParent(method)
            method = self._lib.clang_getCursorSemanticParent(closure)
        if method.kind not in METHODS or self._lib.clang_CXXMethod_isStatic(method):
            return None
        record = self._lib.clang_getCanonicalCursor(self._lib.clang_getCursorSemanticParent(method))
        key = int(record.data0 or 0)
        if key not in self._this:
            ctype = self._types.read(self._lib.clang_getCursorType(record))
            if ctype.kind != "struct":
                ctype = CType("struct", 0, name=lc.cursor_name(record))
            pointer = CType("pointer", 64, element=ctype)
            self._this[key] = Decl("this", "parameter", pointer, self.span(record), reference=True)
        return self._this[key]

    def passed_by_address(self, function: lc.Cursor) -> tuple[bool, ...]:
        """Returns, for each parameter of a function, whether its argument is passed by address."""
        key = int(function.data0 or 0)
        if key not in self._by_address:
            ctype = self._lib.clang_getCursorType(function)
            self._by_address[key] = tuple(
                self._types.reference_target(self._lib.clang_getArgType(ctype, at)) is not None
                for at in range(max(0, self._lib.clang_getNumArgTypes(ctype)))
            )
        return self._by_address[key]

    def return_type(self, function: lc.Cursor) -> CType:
        """Returns the return type of a function."""
        return self._types.read(
            self._lib.clang_getResultType(self._lib.clang_getCursorType(function))
        )

    # -- types ----------------------------------------------------------------------------------

    def type_at(self, cursor: lc.Cursor) -> CType:
        """Returns the type of the expression at a cursor, with variable array extents resolved."""
        return self.read_type(self._lib.clang_getCursorType(cursor))

    def read_type(self, clang_type: lc.Type) -> CType:
        """Converts a libclang type, with variable array extents resolved in the current scope."""
        ctype = self._types.read(clang_type)
        if ctype.has_spelt_extent:
            ctype = self._types.resolve(ctype, self._scope.get, NO_SPAN)
        return ctype
