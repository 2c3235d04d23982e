"""Converts libclang's calls and overloaded operators to the front ends' syntax tree.

The first argument of a method is the address of its object, and references are passed as addresses.
A call of an accessor is replaced by the lvalue that it returns. Operations of standard containers
and iterators are replaced by pointer operations (`standard_library`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from regionpredict.frontend.libclang_reader import bindings as lc
from regionpredict.frontend.libclang_reader.atomics import (
    atomic_method,
    is_atomic_class,
)
from regionpredict.frontend.libclang_reader.constructors import (
    default_member_initialisers,
    is_implicit,
)
from regionpredict.frontend.libclang_reader.cursors import (
    BINARY,
    CALL,
    CONSTRUCTOR,
    FUNCTIONS,
    IMPLICIT,
    MEMBER,
    METHODS,
    NAME,
    OVERLOADED,
    PARAMETER,
    UNARY,
    WRAPPERS,
    Node,
    unwrap_node,
)
from regionpredict.frontend.libclang_reader.declarations import Declarations
from regionpredict.frontend.libclang_reader.keyed_containers import keyed_method
from regionpredict.frontend.libclang_reader.lock_guards import lock_method
from regionpredict.frontend.libclang_reader.standard_library import (
    KEYED,
    constructed_container,
    copied_elements,
    pointed_container,
    standard_call,
    standard_method,
    standard_operator,
)
from regionpredict.frontend.libclang_reader.templates import instance_name
from regionpredict.frontend.libclang_reader.types import POINTER, container_value_type
from regionpredict.frontend.libclang_reader.virtual_methods import virtual_method_member
from regionpredict.frontend.syntax import (
    Assign,
    Binary,
    CallExpr,
    Cast,
    Compound,
    CType,
    Decl,
    Expression,
    Function,
    Name,
    Opaque,
    Unary,
    address_of,
    atomic_update,
    expressions_in,
    member_initial_values,
    member_path,
    place_of_function,
    with_accessors_inlined,
)
from regionpredict.ir import Span
from regionpredict.library import OUTPUT_OBJECTS, SHARED_COPY

_CALLED = WRAPPERS | {UNARY}
_IMPLICIT = frozenset((IMPLICIT,))
_LONGEST_ACCESSOR = 2000
"""Maximum length in bytes of the source text of an accessor."""
_DEEPEST = 12  # maximum nesting of accessors
_COPIES = frozenset(("__builtin_memcpy", "memcpy"))  # assignments of member arrays


class Bounds(NamedTuple):
    """The pointers that `begin()` and `end()` return, and their type."""

    begin: Expression
    end: Expression
    pointer: CType


class CallBuilder:
    """Builds `CallExpr`s. `build` converts their arguments, and `body_of` returns the function at a
    cursor.
    """

    def __init__(
        self,
        declarations: Declarations,
        build: Callable[[Node], Expression],
        body_of: Callable[[lc.Cursor], Function | None],
    ) -> None:
        self._lib = lc.load_libclang()
        self._declarations = declarations
        self._build = build
        self._body_of = body_of
        self._place = lc.SourcePositions()
        self._accessors: dict[Decl, Function | None] = {}
        self._accessors_being_read: list[Decl] = []
        self.getters: set[tuple[str, str]] = set()  # `.m_n`, `size()`

    def build(self, node: Node) -> Expression:
        """Returns the expression for the call at a node."""
        target = self._lib.clang_getCursorReferenced(node.cursor)
        children = node.children
        name = lc.cursor_name(node.cursor)
        if not name and not self._has_callee(node):
            return Opaque("", tuple(self._build(child) for child in children if child.kind >= 100))
        if not name and children:  # for (f)(x) and (*f)(x), libclang gives no name
            callee = unwrap_node(children[0], _CALLED)
            target = self._lib.clang_getCursorReferenced(callee.cursor)
            if callee.kind in (NAME, MEMBER):
                name = lc.cursor_name(callee.cursor)
        if target.kind not in FUNCTIONS and children:
            only = self._only_overload(children)
            if only is not None:
                target, name = only, lc.cursor_name(only)
        span = self._declarations.span(node.cursor)
        if target.kind == CONSTRUCTOR:
            return self._constructed_value(node, name, target, span)
        if target.kind not in FUNCTIONS:
            return self._call_of_unknown_target(name, children, span)
        decl = self._declarations.declaration(target)
        if any(_is_operator_name(child) for child in children):
            return self._operator_call(name, children, decl, target, span)
        callee_kind = unwrap_node(children[0]).kind if children else 0
        if callee_kind == CALL:  # libclang gives choose(n)(x) the name and target of choose()
            return self._call_of_unknown_target("", children, span)
        if callee_kind == MEMBER:
            return self._method_call(name, children, decl, target, span)
        arguments = tuple(self._build(child) for child in children[1:])
        if self._is_in_system_header(target):
            types = tuple(self._type_of(child) for child in children[1:])
            standard = standard_call(name, arguments, types, span)
            if standard is not None:
                return standard
            if types and types[0].kind in ("pointer", "array") and instance_name(target):
                # An algorithm on a range receives its arguments by value.
                return CallExpr(f"std::{name}", decl, arguments, span)
        return self._call_or_value(name, decl, target, self._by_reference(arguments, target), span)

    def _has_callee(self, node: Node) -> bool:
        """Returns whether a node without a name is a call.

        Otherwise, it is `T(x)` for a template parameter `T`, or an operator whose operands have
        unknown types.
        """
        if not node.children or node.children[0].kind < 100:
            return False
        text = self._declarations.text(node.cursor)
        callee = self._declarations.text(node.children[0].cursor)
        return not text or (
            text.startswith(callee) and text[len(callee) :].lstrip().startswith("(")
        )

    def _only_overload(self, children: list[Node]) -> lc.Cursor | None:
        """Returns the target of a call in a template, if only one function has its name and its
        number of arguments. Returns None otherwise.
        """
        callee = self._lib.clang_getCursorReferenced(unwrap_node(children[0], _CALLED).cursor)
        if callee.kind != OVERLOADED:
            return None
        number = self._lib.clang_getNumOverloadedDecls(callee)
        named = [self._lib.clang_getOverloadedDecl(callee, at) for at in range(number)]
        fitting = [
            cursor for cursor in named if cursor.kind in FUNCTIONS
            and len(lc.children_of_kinds(cursor, frozenset((PARAMETER,)))) == len(children) - 1
        ]  # fmt: skip
        return fitting[0] if len(fitting) == 1 else None

    def bounds(self, node: Node, place: Expression, span: Span) -> Bounds | None:
        """Returns the calls of `begin()` and `end()` for the object `place` of a range loop.

        Returns None if the class is not part of the program, or if they do not return pointers.
        """
        ctype = self._lib.clang_getCursorType(unwrap_node(node, _IMPLICIT).cursor)
        record = self._lib.clang_getTypeDeclaration(self._lib.clang_getCanonicalType(ctype))
        made = []
        for name in ("begin", "end"):
            target = next((
                method for method in lc.children_of_kinds(record, METHODS)
                if lc.cursor_name(method) == name
                and not self._lib.clang_Cursor_getNumArguments(method)
            ), None)  # fmt: skip
            if target is None or self._is_in_system_header(target):
                return None
            if self._lib.clang_getCursorDefinition(target).kind not in METHODS:
                return None
            pointer = self._declarations.return_type(target)
            if pointer.kind != "pointer" or pointer.name:
                return None
            decl = self._declarations.declaration(target)
            arguments = (address_of(place, span),)
            made.append(
                (pointer, self._call_or_value(name, decl, target, arguments, span, method=True))
            )
        (pointer, begin), (_, end) = made
        return Bounds(begin, end, pointer)

    # -- calls by the kind of target --------------------------------------------------------------

    def _call_of_unknown_target(self, name: str, children: list[Node], span: Span) -> Expression:
        """Returns a call whose target is unknown: through a pointer, or dependent on a template
        parameter.
        """
        args = tuple(self._build(child) for child in children[1:])
        written = self._declarations.text(children[0].cursor) if children and not name else ""
        name = name or written or "(pointer)"
        if children and children[0].kind == MEMBER:
            base = self._build(children[0])
            if isinstance(base, Opaque) and base.children:
                args = (address_of(base.children[0], span), *args)
                return CallExpr(name, None, args, span, method=True)
        callee = unwrap_node(children[0], _CALLED) if children else None
        if callee is not None and callee.kind == BINARY and len(callee.children) == 2:
            return self._call_through_member_pointer(callee, args, span)
        held = place_of_function(self._build(callee)) if callee is not None else None
        return CallExpr(name, None, args, span, pointer=held)

    def _call_through_member_pointer(
        self, callee: Node, args: tuple[Expression, ...], span: Span
    ) -> Expression:
        """Returns a call through a pointer to a method: `(p->*f)(x)` or `(v.*f)(x)`."""
        value = self._build(callee.children[0])
        pointer = self._type_of(callee.children[0]).kind == "pointer"
        held = place_of_function(self._build(callee.children[1]))
        name = self._declarations.text(callee.children[1].cursor) or "(pointer)"
        this = value if pointer else address_of(value, span)
        return CallExpr(name, None, (this, *args), span, method=True, pointer=held)

    def _constructed_value(
        self, node: Node, name: str, target: lc.Cursor, span: Span
    ) -> Expression:
        """Returns the value that a constructor call creates: a conversion, a copy, or a new
        object.
        """
        inner = tuple(self._build(c) for c in node.children if c.kind >= 100)
        ctype = self._declarations.type_at(node.cursor)
        number = ctype.kind in ("int", "float")  # std::complex
        if self._is_in_system_header(target) or self._copies_or_moves(target):
            types = tuple(self._type_of(child) for child in node.children if child.kind >= 100)
            copied = not self._lib.clang_CXXConstructor_isMoveConstructor(target)
            if copied and (made := constructed_container(ctype, inner, types, span)):
                return made
            if len(inner) == 1 and copied and _is_counted(ctype) and _is_counted(types[0]):
                return self._counted_copy(inner[0], span)
            if len(inner) == 1 and not number:
                return inner[0]
            plain = Opaque("" if number or not inner else name, inner)
            return Cast(ctype, plain) if number else plain
        args = (Opaque(""), *self._by_reference(inner, target))
        made = CallExpr(name, self._declarations.declaration(target), args, span, method=True)
        function = self._body_of(target)
        members = member_initial_values(function, args) if function is not None else ()
        if members:
            return Cast(ctype, Opaque("{}", members), made)
        if len(inner) == 1 and not number:
            return Cast(ctype, inner[0], made)
        if function is not None and inner and not _is_empty(function):
            return made
        listed = (
            () if inner else default_member_initialisers(target, self._declarations, self._build)
        )
        if listed:
            return Opaque("{}", listed)
        seen = function is not None or not inner
        return Cast(ctype, Opaque("" if seen else name, inner), made)

    def _counted_copy(self, owner: Expression, span: Span) -> Expression:
        """Returns a copied `std::shared_ptr`, with the update of its number of owners."""
        counted = CallExpr(SHARED_COPY, None, (address_of(owner, span),), span)
        return Binary(",", counted, owner)

    def _copies_or_moves(self, constructor: lc.Cursor) -> bool:
        return bool(
            self._lib.clang_CXXConstructor_isCopyConstructor(constructor)
            or self._lib.clang_CXXConstructor_isMoveConstructor(constructor)
        )

    def _method_call(
        self, name: str, children: list[Node], decl: Decl, target: lc.Cursor, span: Span
    ) -> Expression:
        member = unwrap_node(children[0])
        bases = [child for child in member.children if child.kind >= 100]
        arguments = tuple(self._build(child) for child in children[1:])
        before: Expression | None = None
        if bases:
            ctype = self._type_of(bases[0])
            base = self._build(bases[0])
            if self._is_in_system_header(target):
                held, held_type = pointed_container(base, ctype, span)
                standard = (
                    lock_method(name, base, ctype, span)
                    or atomic_method(name, base, ctype, arguments, span)
                    or standard_method(name, held, held_type, arguments, span)
                )
                if standard is None and held_type.name in KEYED:
                    second = self._mapped_value_member(bases[0])
                    standard = keyed_method(name, held, held_type, arguments, second, span)
                if standard is not None:
                    return standard
                types = (held_type, *(self._type_of(child) for child in children[1:]))
                before = copied_elements(name, (held, *arguments), types, span)
            pointer = ctype.kind == "pointer" and not ctype.name
            address = base if pointer else address_of(base, span)
        else:
            this = self._declarations.this
            if this is None or self._lib.clang_CXXMethod_isStatic(target):
                return self._call_or_value(
                    name, decl, target, self._by_reference(arguments, target), span
                )
            address, pointer = Name(this, span), True
        if self._lib.clang_CXXMethod_isStatic(target):
            return self._call_or_value(
                name, decl, target, self._by_reference(arguments, target), span
            )
        args = (address, *self._by_reference(arguments, target))
        if self._lib.clang_CXXMethod_isVirtual(target) and (
            pointer or _is_through_address(address)
        ):
            held = virtual_method_member(target, name, address, self._declarations.span(target))
            return CallExpr(name, None, args, span, method=True, pointer=held)
        call = self._call_or_value(name, decl, target, args, span, method=True)
        return call if before is None else Binary(",", before, call)

    def _operator_call(
        self, name: str, children: list[Node], decl: Decl, target: lc.Cursor, span: Span
    ) -> Expression:
        # An overloaded operator's children are its operands and the operator's name.
        operands = [child for child in children if not _is_operator_name(child)]
        arguments = tuple(self._build(child) for child in operands)
        op = name.removeprefix("operator").strip()
        types = tuple(self._type_of(child) for child in operands)
        before: Expression | None = None
        if self._is_in_system_header(target):
            atomic = types and is_atomic_class(types[0])
            standard = atomic_update(op, arguments[0], arguments[1:], span) if atomic else None
            standard = standard or standard_operator(op, arguments, types, span)
            if standard is None and types and types[0].name in KEYED:
                second = self._mapped_value_member(operands[0])
                standard = keyed_method(op, arguments[0], types[0], arguments[1:], second, span)
            if standard is not None:
                return standard
            moved = self._lib.clang_CXXMethod_isMoveAssignmentOperator(target)
            before = None if moved else copied_elements(name, arguments, types, span)
            if op == "<<" and (stream := _output_object(arguments[0])):
                return CallExpr(stream, decl, arguments, span)
        if target.kind not in METHODS:
            return self._call_or_value(
                name, decl, target, self._by_reference(arguments, target), span
            )
        if op == "=" and len(arguments) == 2 and self._copies_all_members(target):
            return Assign("=", arguments[0], arguments[1], span)
        passed = self._by_reference(arguments[1:], target)
        if _is_closure(types[0]):
            return self._call_or_value(name, decl, target, passed, span)
        address = address_of(arguments[0], span)
        call = self._call_or_value(name, decl, target, (address, *passed), span, method=True)
        return call if before is None else Binary(",", before, call)

    def _mapped_value_member(self, node: Node) -> Decl:
        """Returns the member `second` of the elements of a map, which contains the value."""
        ctype = self._lib.clang_getCanonicalType(
            self._lib.clang_getCursorType(unwrap_node(node, _IMPLICIT).cursor)
        )
        if ctype.kind == POINTER:
            ctype = self._lib.clang_getCanonicalType(self._lib.clang_getPointeeType(ctype))
        mapped = self._lib.clang_Type_getTemplateArgumentAsType(ctype, 1)
        held = self._declarations.read_type(mapped)
        return self._declarations.field(container_value_type(ctype), "second", held)

    def _copies_all_members(self, target: lc.Cursor) -> bool:
        """Returns whether an assignment operator is implicit and copies all members by value."""
        if self._is_in_system_header(target) or not is_implicit(target):
            return False
        function = self._body_of(target)
        if function is None or function.body is None:
            return True
        calls = [e for e in expressions_in(function.body) if isinstance(e, CallExpr)]
        return all(call.name in _COPIES for call in calls)

    # -- accessors and arguments ------------------------------------------------------------------

    def _call_or_value(
        self, name: str, decl: Decl, target: lc.Cursor, args: tuple[Expression, ...], span: Span,
        *, method: bool = False,
    ) -> Expression:  # fmt: skip
        """Returns a call, or the lvalue that the call returns if the function is an accessor."""
        plain = name
        if not self._is_in_system_header(target):
            name = instance_name(target) or name
        call = CallExpr(name, decl, args, span, method)
        function = self._possible_accessor(decl, target)
        if function is None or not (method or function.closure or self._returns_address(target)):
            return call
        value = with_accessors_inlined(function, args)
        if value is not None and method and len(args) == 1:
            ending = member_path(value, args[0])
            if ending:
                self.getters.add((ending, f"{plain}()"))
        return call if value is None else value

    def _possible_accessor(self, decl: Decl, target: lc.Cursor) -> Function | None:
        """Returns the called function if it is short enough for an accessor. Returns None for other
        functions, and while the function is being read.
        """
        if decl in self._accessors:
            return self._accessors[decl]
        definition = self._lib.clang_getCursorDefinition(target)
        if definition.kind not in FUNCTIONS or self._is_in_system_header(definition):
            return None
        if decl in self._accessors_being_read or len(self._accessors_being_read) >= _DEEPEST:
            return None
        begin, end = self._place.start(definition)[3], self._place.end(definition)[3]
        function = None
        if 0 <= end - begin <= _LONGEST_ACCESSOR:
            self._accessors_being_read.append(decl)
            function = self._body_of(target)
            self._accessors_being_read.pop()
        self._accessors[decl] = function
        return function

    def _returns_address(self, target: lc.Cursor) -> bool:
        """Returns whether a function returns a pointer or a reference."""
        result = self._lib.clang_getCanonicalType(
            self._lib.clang_getResultType(self._lib.clang_getCursorType(target))
        )
        return result.kind in (101, 103)

    def _by_reference(
        self, arguments: tuple[Expression, ...], target: lc.Cursor
    ) -> tuple[Expression, ...]:
        flags = self._declarations.passed_by_address(target)
        span = Span("", 0)
        return tuple(
            address_of(value, span) if at < len(flags) and flags[at] else value
            for at, value in enumerate(arguments)
        )

    def _is_in_system_header(self, target: lc.Cursor) -> bool:
        return self._declarations.is_in_system_header(target)

    def _type_of(self, node: Node) -> CType:
        return self._declarations.type_at(unwrap_node(node, _IMPLICIT).cursor)


def _is_empty(function: Function | None) -> bool:
    body = function.body if function is not None else None
    return isinstance(body, Compound) and not body.items


def _is_operator_name(node: Node) -> bool:
    node = unwrap_node(node, _IMPLICIT)
    return node.kind == NAME and lc.cursor_name(node.cursor).startswith("operator")


def _is_counted(ctype: CType) -> bool:
    return ctype.name == "std::shared_ptr"


def _output_object(expression: Expression) -> str:
    """Returns `std::cout` for `std::cout << a << b`. Returns "" for any other stream."""
    while isinstance(expression, CallExpr) and expression.args:
        expression = expression.args[0]
    while isinstance(expression, (Cast, Unary)):
        expression = expression.operand
    name = f"std::{expression.decl.name}" if isinstance(expression, Name) else ""
    return name if name in OUTPUT_OBJECTS else ""


def _is_closure(ctype: CType) -> bool:
    return ctype.name.startswith("(lambda")


def _is_through_address(address: Expression) -> bool:
    """Returns whether an object is accessed through a pointer or reference, so that it may be of a
    derived class.
    """
    own = isinstance(address, Unary) and address.op == "&" and isinstance(address.operand, Name)
    return not own
