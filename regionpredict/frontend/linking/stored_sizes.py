"""Finds assignments to integers in structs and small arrays. If an integer is assigned at exactly
one place, its value is known wherever it is read.

    void init(struct grid *g, int n) { g->nx = n; }     the one place that sets `nx` of a grid
        void init(struct grid *g, int n) { g->nx = n; }     sets `nx` of a grid
        dims[0] = 64;                                       sets the first element of `dims`
        struct grid g = {.nx = 3}; *p = (struct grid){3};   each sets `nx` and zeroes other members

This holds for a program with a `main`, because callers of a library may assign more values. An
integer is excluded if its address is taken or if anything other than `=` changes it. It is also
excluded if its struct is passed to a function without a body.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from regionpredict.frontend.linking.stored_functions import (
    FunctionCollector,
    Place,
    StoredFunctions,
    called_variables,
    place_of,
)
from regionpredict.frontend.syntax import (
    INCREMENT_OPERATORS,
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Decl,
    DeclStmt,
    Expression,
    FloatLit,
    Function,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    Return,
    Unary,
    all_expressions,
    element_placed,
    every_expression,
    every_statement,
    initial_values,
    is_by_member_pointer,
    is_null,
    member_named,
    subexpressions,
    without_casts,
)
from regionpredict.frontend.syntax.integer_types import owner_of, struct_behind, type_of
from regionpredict.ir import Span

ALL = -1  # the whole array, or an initializer as a whole
OMITTED_MEMBERS = ""  # represents the members that an initializer list omits
_HARMLESS = frozenset(("free", "printf", "fprintf", "puts"))
_ZEROING = frozenset(("memset", "__builtin_memset", "bzero"))
_COPYING = frozenset(("memcpy", "memmove", "__builtin_memcpy"))


class Stored(NamedTuple):
    """An integer in memory: a struct member, or the `element` of an array.

    `declared` is the location of the struct or variable declaration. A global variable has an empty
    location, and `name` is its symbol.
    """

    name: str
    declared: Span
    element: int = ALL


class AssignmentSite(NamedTuple):
    """The source location of an assignment: a function and the number of its expression, or a
    number in a global initializer. `element` is the index in an array initializer.
    """

    function: Span
    at: int
    number: int | None = None
    element: int = -1


class StoredSizes(NamedTuple):
    """The assignments of integers in structs and arrays in the functions of a unit.

    `set_at`: (target, assignment). `spoilt`: integers that are set in an unknown way. `moved`:
    (target, assignment) of updates from the old value. `addressed`: (target, expression) of taken
    addresses. `kept`: (target, symbol of the function that gets its address, or ""). `whole`:
    (struct, assignment of the whole struct). `listed`: (struct, member, initializer), with "" for
    an unknown struct, 0 for members that stay zero, and `grid[1]` or `box.nx` for nested members.
    `owners`: (member, its struct). `inside`: (struct, containing struct, member). `lost`: structs
    with unknown assignments. `handed`: (function without a body, struct passed, call). `through`:
    (function pointer, struct passed, call). `pointed`: functions named outside calls. `has_main`:
    the unit defines `main`. `functions`: functions stored in members and tables.
    """

    set_at: frozenset[tuple[Stored, AssignmentSite]] = frozenset()
    spoilt: frozenset[Stored] = frozenset()
    moved: frozenset[tuple[Stored, AssignmentSite]] = frozenset()
    addressed: frozenset[tuple[Stored, AssignmentSite]] = frozenset()
    kept: frozenset[tuple[Stored, str]] = frozenset()
    whole: frozenset[tuple[str, AssignmentSite]] = frozenset()
    listed: frozenset[tuple[str, str, AssignmentSite]] = frozenset()
    owners: frozenset[tuple[Stored, str]] = frozenset()
    inside: frozenset[tuple[str, str, str]] = frozenset()
    lost: frozenset[str] = frozenset()
    handed: frozenset[tuple[str, str, AssignmentSite]] = frozenset()
    through: frozenset[tuple[Place, str, AssignmentSite]] = frozenset()
    pointed: frozenset[str] = frozenset()
    has_main: bool = False
    functions: StoredFunctions = StoredFunctions()

    def places(self) -> Iterator[AssignmentSite]:
        """Yields the source locations of all assignments in functions, with repetitions."""
        for pairs in (self.set_at, self.moved, self.addressed, self.whole):
            yield from (where for _, where in pairs)
        for triples in (self.listed, self.handed, self.through):
            yield from (where for _, _, where in triples)


def stored_sizes(
    functions: Iterable[Function], variables: Iterable[Decl], defined: Collection[Decl]
) -> StoredSizes:
    """Collects the assignments in `functions` and in initializers of `variables`. `defined` are the
    functions with a body in the unit.
    """
    census = _AssignmentCollector(defined)
    for variable in variables:
        census.variable(variable)
    for function in functions:
        census.visit(function)
    return StoredSizes(
        frozenset(census.set_at), frozenset(census.spoilt), frozenset(census.moved),
        frozenset(census.addressed), frozenset(census.kept), frozenset(census.whole),
        frozenset(census.listed), frozenset(census.owners), frozenset(census.inside),
        frozenset(census.lost), frozenset(census.handed), frozenset(census.through),
        frozenset(census.pointed), census.has_main, census.functions.result(),
    )  # fmt: skip


def stored_at(expression: Expression | None) -> Stored | None:
    """Returns the integer of `s->n`, `dims[0]` or `s->dims[0]`. None for any other expression."""
    if isinstance(expression, Member) and expression.field.ctype.kind == "int":
        return _stored_field(expression.field)
    if not isinstance(expression, Index) or not isinstance(expression.index, IntLit):
        return None
    array = _array_of_expression(expression.base)
    return None if array is None else array._replace(element=expression.index.value)


def member_in_program(place: Expression) -> str:
    """Returns the name of a member with its struct: `Grid.nx` for `s->grid->nx`, `Grid.dims[0]`. ""
    for unnamed structs and for other expressions.
    """
    element = ""
    if isinstance(place, Index) and isinstance(place.index, IntLit):
        element = f"[{place.index.value}]"
        place = place.base
    if not isinstance(place, Member) or place.base is None:
        return ""
    struct = owner_of(place).removeprefix("struct ")
    return f"{struct}.{place.field.name}{element}" if struct.isidentifier() else ""


class _AssignmentCollector:
    def __init__(self, defined: Collection[Decl]) -> None:
        self.set_at: set[tuple[Stored, AssignmentSite]] = set()
        self.spoilt: set[Stored] = set()
        self.moved: set[tuple[Stored, AssignmentSite]] = set()
        self.addressed: set[tuple[Stored, AssignmentSite]] = set()
        self.kept: set[tuple[Stored, str]] = set()
        self.whole: set[tuple[str, AssignmentSite]] = set()
        self.listed: set[tuple[str, str, AssignmentSite]] = set()
        self.owners: set[tuple[Stored, str]] = set()
        self.inside: set[tuple[str, str, str]] = set()
        self.lost: set[str] = set()
        self.handed: set[tuple[str, str, AssignmentSite]] = set()
        self.through: set[tuple[Place, str, AssignmentSite]] = set()
        self.pointed: set[str] = set()
        self.has_main = False
        self.functions = FunctionCollector()
        self._defined = defined
        self._visited: set[Decl] = set()
        # Arrays whose enclosing subscript was visited. They are counted, since several subscripts
        # may share the node of a name.
        self._elements: Counter[Expression] = Counter()
        # Values in initializer lists, with their struct and the path to the member: `box.`.
        self._structs: dict[Expression, tuple[str, str]] = {}
        self._receivers: dict[Expression, str] = {}  # arguments, with the called function

    def visit(self, function: Function) -> None:
        self.has_main |= function.name == "main"
        getter = _returned_reference(function)
        self.functions.record_method(function)
        for statement in every_statement(function.body):
            if isinstance(statement, DeclStmt):
                for decl in statement.decls:
                    self._visited.add(decl)  # a `static` one also has its list here
                    self._structs.update(self._initial_values(decl, function.span))
                    self.functions.variable(decl, function.span)
            elif isinstance(statement, Return):
                self._structs.update(self._listed_values(statement.value, function.decl.ctype))
        for at, expression in enumerate(all_expressions(function)):
            self._record_expression(expression, AssignmentSite(function.span, at), getter)

    def variable(self, decl: Decl) -> None:
        """Records a global variable with its initializer."""
        if decl in self._visited:
            return
        self._visited.add(decl)
        self.functions.variable(decl)
        if decl.init is not None:
            for value, (struct, leading) in self._initial_values(decl, decl.span).items():
                self._record_value(struct, leading, value, AssignmentSite(decl.span, ALL))
            for inner in every_expression(decl.init):
                if isinstance(inner, Name):
                    self._record_name(inner.decl)

    def _record_name(self, decl: Decl) -> None:
        """Records the name of a function that is stored instead of being called."""
        if decl.kind in ("global", "static"):
            self.variable(decl)
        elif decl.kind == "function":
            self.pointed.add(decl.symbol or decl.name)

    # -- lists of initial values ----------------------------------------------------------------

    def _initial_values(self, decl: Decl, where: Span) -> dict[Expression, tuple[str, str]]:
        """Returns the values in a variable's initializer list, and the members that they
        initialize.
        """
        array = _global_array(decl)
        if array is not None and decl.init is not None:
            self._record_array_elements(array, initial_values(decl.init), where)
        listed = self._listed_values(decl.init, decl.ctype)
        self._record_omitted_members(
            decl.ctype.struct, listed, AssignmentSite(decl.span, ALL), own=decl.kind == "local"
        )
        return listed

    def _record_omitted_members(
        self, struct: str, listed: Iterable[Expression], where: AssignmentSite, *, own: bool
    ) -> None:
        """Records that an initializer omits members, which it then sets to zero. `own` says that
        the struct is a local variable.
        """
        if not all(map(_is_zero, map(_value_for_member, listed))):
            # In C++, a member may have an initial value in its class. Variables outside functions
            # may be set by files that are not read.
            number = 0 if own and where.function.file.endswith(".c") else None
            self.listed.add((struct, OMITTED_MEMBERS, where._replace(number=number)))

    def _listed_values(
        self, initializer: Expression | None, ctype: CType
    ) -> dict[Expression, tuple[str, str]]:
        """Returns the values in a list that initializes a whole object, and the members that they
        initialize.
        """
        values = initial_values(initializer) if initializer is not None else None
        struct = ctype.struct
        if values is None or not struct:
            return {}
        if ctype.kind == "array":
            self.lost.add(struct)  # several objects
            return {}
        for value in values:
            if member_named(value) is None and not _is_zero(value):
                self.lost.add(struct)
        return dict.fromkeys(values, (struct, ""))

    def _record_temporary(self, literal: Opaque, where: AssignmentSite) -> None:
        """Records a temporary struct, as in `run(&(Config){.nx = 64});`."""
        values = initial_values(literal) or ()
        if literal.struct and values and not any(value in self._structs for value in values):
            listed = self._listed_values(literal, CType("struct", name=literal.struct))
            self._structs.update(listed)
            # Each literal is a separate assignment.
            initializer = AssignmentSite(where.function, ALL, element=where.at)
            self._record_omitted_members(literal.struct, listed, initializer, own=True)

    def _record_array_elements(
        self, array: Stored, values: tuple[Expression, ...] | None, where: Span
    ) -> None:
        for number, value in enumerate(values or ()):
            if not isinstance(value, IntLit):
                self.spoilt.add(array)
            elif value.value or len(values or ()) > 1:
                element = array._replace(element=number)
                self.set_at.add((element, AssignmentSite(where, number, value.value)))
        if values is None:
            self.spoilt.add(array)

    def _record_value(
        self, struct: str, leading: str, value: Expression, where: AssignmentSite
    ) -> None:
        """Records `.nx = 3` in a list for a struct, or for a nested struct with the path `box.`."""
        given = member_named(value)
        if given is None or _is_zero(given[1]):
            return
        name = leading + given[0]
        inner = initial_values(given[1])
        if inner is not None:
            self._record_member_list(struct, name, inner, where)
            return
        if where.at == ALL and not _is_scalar(given[1]):
            self.lost.add(struct)
        self._record_listed(struct, name, given[1], where)

    def _record_member_list(
        self, struct: str, name: str, values: tuple[Expression, ...], where: AssignmentSite
    ) -> None:
        """Records an initializer list for a member that is a struct or an array."""
        at = 0
        for listed in values:
            placed, value = element_placed(listed)
            at = at if placed is None else placed
            if member_named(value) is not None and where.at == ALL:
                self._record_value(struct, f"{name}.", value, where)
            elif member_named(value) is not None:
                self._structs[value] = struct, f"{name}."
            elif initial_values(value) is not None:
                self.listed.add((struct, f"{name}[]", where))  # these are not supported
            elif not _is_zero(value):
                self._record_listed(struct, f"{name}[{at}]", value, where._replace(element=at))
            at += 1

    def _record_listed(
        self, struct: str, name: str, value: Expression, where: AssignmentSite
    ) -> None:
        if where.at == ALL:
            number = value.value if isinstance(value, IntLit) else None
            where = where._replace(number=number)  # without a number, the target is unknown
        self.listed.add((struct, name, where))

    # -- expressions ----------------------------------------------------------------------------

    def _record_expression(
        self, expression: Expression, where: AssignmentSite, getter: Expression | None
    ) -> None:
        self.functions.expression(expression, where.function, where.at)
        if isinstance(expression, Assign):
            self._record_assignment(expression, where)
            self._structs.update(self._listed_values(expression.right, type_of(expression.left)))
        elif isinstance(expression, Unary):
            if expression.op in INCREMENT_OPERATORS:
                self.moved.update(
                    (integer, where) for integer in self._mark_unknown(expression.operand)
                )
            elif expression.op == "&" and expression is not getter:
                spoilt = self._mark_unknown(expression.operand)
                self.addressed.update((integer, where) for integer in spoilt)
                symbol = self._receivers.get(expression, "")
                self.kept.update((integer, symbol) for integer in spoilt)
        elif isinstance(expression, Index):
            self._elements[expression.base] += 1
        elif isinstance(expression, Member):
            self._record_member(expression)
        elif isinstance(expression, Name):
            self._record_name(expression.decl)
        elif isinstance(expression, CallExpr):
            self._record_call(expression, where)
        elif isinstance(expression, Cast):
            self._record_cast(expression)
        elif isinstance(expression, Opaque) and expression.text.startswith("."):
            self._record_value(*self._structs.get(expression, ("", "")), expression, where)
        elif isinstance(expression, Opaque) and expression.struct:
            self._record_temporary(expression, where)
        if isinstance(expression, (Name, Member)):
            array = _array_of_expression(expression)
            if self._elements[expression]:
                self._elements[expression] -= 1
            elif array is not None:
                self.spoilt.add(array)  # passed as the address of its first element

    def _record_assignment(self, assign: Assign, where: AssignmentSite) -> None:
        integer = stored_at(assign.left)
        struct = _assigned_struct(assign.left)
        if struct:
            self.whole.add((struct, where))
        if integer is not None and assign.op == "=":
            self.set_at.add((integer, where))
        elif assign.op == "=":
            self.addressed.update((integer, where) for integer in self._mark_unknown(assign.left))
        else:
            self.moved.update((integer, where) for integer in self._mark_unknown(assign.left))

    def _mark_unknown(self, place: Expression) -> set[Stored]:
        """Records that an integer is set in an unknown way, and returns it."""
        integer = stored_at(place)
        if integer is None and isinstance(place, Index):
            integer = _array_of_expression(place.base)
        spoilt = set() if integer is None else {integer._replace(element=ALL)}
        self.spoilt |= spoilt
        return spoilt

    def _record_member(self, member: Member) -> None:
        owner = owner_of(member)
        if "union" in owner or "<" in owner:  # instances of a template share their text
            self.lost.add(owner)
        own = member.field.ctype.struct
        if own and member.field.ctype.kind != "pointer":
            self.inside.add((own, owner, member.field.name))
        self.owners.add((_stored_field(member.field), owner))

    def _record_call(self, call: CallExpr, where: AssignmentSite) -> None:
        for variable in called_variables(call):
            self._record_name(variable)
        if call.free or call.name in _HARMLESS or call.decl in self._defined:
            return
        symbol = call.decl.symbol if call.decl is not None else ""
        # A call through a pointer to a method reaches only methods of the program.
        handed = call.args[is_by_member_pointer(call) :]
        addresses = (a for a in map(without_casts, handed) if isinstance(a, Unary))
        self._receivers.update(dict.fromkeys(addresses, symbol))
        structs = list(map(struct_behind, handed))
        zeroed = call.name in _ZEROING and (len(call.args) < 3 or _is_zero(call.args[1]))
        copied = call.name in _COPYING and len(structs) > 1 and structs[0] == structs[1]
        if zeroed or copied:  # or another object of the same type
            self.whole.update((struct, where) for struct in structs[:1] if struct)
            return
        structs.append(struct_behind(call))  # the function may set the struct that it returns
        place = place_of(call.pointer) if call.decl is None and call.pointer is not None else None
        if place is not None:
            self.through.update((place, struct, where) for struct in structs if struct)
        else:
            self.handed.update((symbol, struct, where) for struct in structs if struct)

    def _record_cast(self, cast: Cast) -> None:
        """Records a struct that is accessed as bytes or as numbers."""
        struct = struct_behind(cast.operand)
        pointee = cast.ctype.element
        if struct and pointee is not None and pointee.kind in ("int", "float"):
            self.lost.add(struct)


def _returned_reference(function: Function) -> Expression | None:
    """Returns `&this->n` if a function only returns this reference. Calls of this method are
    replaced by the member itself.
    """
    returned = [s for s in every_statement(function.body) if isinstance(s, Return)]
    if len(returned) != 1 or (not function.decl.reference and not _is_method(function)):
        return None
    return returned[0].value


def _is_method(function: Function) -> bool:
    return bool(function.parameters) and function.parameters[0].name == "this"


def _is_zero(value: Expression) -> bool:
    values = initial_values(without_casts(value))
    if values is not None:
        return all(_is_zero(_value_for_member(inner)) for inner in values)
    return is_null(value)


def _assigned_struct(place: Expression) -> str:
    """Returns the struct that an assignment sets as a whole, or through a pointer of another type:
    `*(int *)grid = 4`. "" for any other target.
    """
    ctype = type_of(place)
    while isinstance(place, Index) or (isinstance(place, Unary) and place.op == "*"):
        place = subexpressions(place)[0]
    if isinstance(place, Cast) and ctype.kind != "struct":
        return struct_behind(place)
    return ctype.name if ctype.kind == "struct" else ""


def _is_scalar(value: Expression) -> bool:
    """Whether an initializer value is neither a struct nor an array."""
    plain = (IntLit, FloatLit, Name, Unary, Binary)
    return all(
        isinstance(inner, plain) or (isinstance(inner, Opaque) and inner.string is not None)
        for inner in every_expression(value)
    )


def _value_for_member(value: Expression) -> Expression:
    """Returns the value that an initializer gives to a member, by name or position."""
    given = member_named(value)
    return value if given is None else given[1]


def _stored_field(field: Decl) -> Stored:
    return Stored(field.name, field.span)


def _global_array(decl: Decl) -> Stored | None:
    """Returns a global array or array member of integers. None for any other declaration."""
    element = decl.ctype.element
    if decl.ctype.kind != "array" or element is None or element.kind != "int":
        return None
    if decl.kind == "field":
        return _stored_field(decl)
    if decl.kind not in ("global", "static"):
        return None
    return Stored(decl.symbol, Span("", 0)) if decl.symbol else Stored(decl.name, decl.span)


def _array_of_expression(expression: Expression) -> Stored | None:
    if isinstance(expression, Member):
        return _global_array(expression.field)
    return _global_array(expression.decl) if isinstance(expression, Name) else None
