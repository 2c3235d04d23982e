"""Where a program sets the integers in its structs and small arrays, so that what one place alone
sets is known wherever it is read.

    void init(struct grid *g, int n) { g->nx = n; }     the one place that sets `nx` of a grid
    dims[0] = 64;                                       that sets the first element of `dims`
    struct grid g = {.nx = 3}; *p = (struct grid){3};   each sets `nx`, and leaves the others zero

So it is in a program, with its `main`; other files may set what a part of one does not. A place
whose address is taken, that is set in any other way than by `=`, or that lies in a struct
which a function without a body is handed, may be set by anybody: it is nobody's one place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from regionpredict.frontend.linking.stored_functions import (
    FunctionCensus,
    FunctionsOfProgram,
    StoredFunctions,
    called_variables,
)
from regionpredict.frontend.linking.struct_types import struct_of, type_of
from regionpredict.frontend.syntax import (
    STEPS,
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
    every_expression,
    every_statement,
    expressions_in,
    initial_values,
    member_named,
    set_place,
)
from regionpredict.ir import Span

_ALL = -1
_LEFT_OUT = ""  # stands for the members that a list does not name
_HARMLESS = frozenset(("free", "printf", "fprintf", "puts"))
_ZEROING = frozenset(("memset", "__builtin_memset", "bzero"))
_COPYING = frozenset(("memcpy", "memmove", "__builtin_memcpy"))


class Stored(NamedTuple):
    """An integer in memory: a member, or the `element` of an array; `declared` as a member or a
    variable of its own there, or, under its symbol, anywhere."""

    name: str
    declared: Span
    element: int = _ALL


class Setting(NamedTuple):
    """Where one is set: in which function, by which of its expressions; or, by a list of initial
    values at no function's, to which number."""

    function: Span
    at: int
    number: int | None = None


_ZERO = Setting(Span("", 0), _ALL, 0)


class StoredSizes(NamedTuple):
    """What the functions of a unit say of the integers in structs and arrays.

    `set_at`: (what, where); `spoilt`: set in other ways, of these `moved` by what it was, and
    `addressed`: (what, where by its address, or one of its elements); `listed`: (struct, member,
    where) of lists of initial values, "" for a struct that is not told, and for the members that
    one leaves out, with the number 0 where these stay zero; `owners`: (member, struct
    that it is in); `inside`: (struct, struct that has one); `lost`: structs that anything may set;
    `handed`: (symbol of a function without a body here, struct that it is handed); `pointed`:
    functions that are named without being called. `has_main`: the program begins here.
    `functions`: those that are
    put into members and tables.
    """

    set_at: frozenset[tuple[Stored, Setting]] = frozenset()
    spoilt: frozenset[Stored] = frozenset()
    moved: frozenset[Stored] = frozenset()
    addressed: frozenset[tuple[Stored, Setting]] = frozenset()
    listed: frozenset[tuple[str, str, Setting]] = frozenset()
    owners: frozenset[tuple[Stored, str]] = frozenset()
    inside: frozenset[tuple[str, str]] = frozenset()
    lost: frozenset[str] = frozenset()
    handed: frozenset[tuple[str, str]] = frozenset()
    pointed: frozenset[str] = frozenset()
    has_main: bool = False
    functions: StoredFunctions = StoredFunctions()


def stored_sizes(
    functions: Iterable[Function], variables: Iterable[Decl], defined: Collection[Decl]
) -> StoredSizes:
    """What these functions, and lists of initial values of `variables`, set; `defined` are the
    functions that have a body in the unit."""
    census = _Census(defined)
    for variable in variables:
        census.variable(variable)
    for function in functions:
        census.look_at(function)
    return StoredSizes(
        frozenset(census.set_at), frozenset(census.spoilt), frozenset(census.moved),
        frozenset(census.addressed), frozenset(census.listed), frozenset(census.owners),
        frozenset(census.inside), frozenset(census.lost), frozenset(census.handed),
        frozenset(census.pointed), census.has_main, census.functions.result(),
    )  # fmt: skip


def stored_at(expression: Expression | None) -> Stored | None:
    """The integer that a place is: `s->n`, `dims[0]`, `s->dims[0]`; None for any other."""
    if isinstance(expression, Member) and expression.field.ctype.kind == "int":
        return _of_field(expression.field)
    if not isinstance(expression, Index) or not isinstance(expression.index, IntLit):
        return None
    array = _array(expression.base)
    return None if array is None else array._replace(element=expression.index.value)


def member_in_program(place: Expression) -> str:
    """What a member is called whatever leads to it: `Grid.nx` for `s->grid->nx`, `Grid.dims[0]`;
    "" where its struct has no name, and for what is no member."""
    element = ""
    if isinstance(place, Index) and isinstance(place.index, IntLit):
        element = f"[{place.index.value}]"
        place = place.base
    if not isinstance(place, Member) or place.base is None:
        return ""
    struct = struct_of(type_of(place.base)).removeprefix("struct ")
    return f"{struct}.{place.field.name}{element}" if struct.isidentifier() else ""


class SettingsOfProgram:
    """Answers which integers in structs and arrays one place of a program sets."""

    def __init__(
        self, units: Sequence[StoredSizes], defined: Collection[str],
        variables: Collection[str] = (),
    ) -> None:  # fmt: skip
        """All units of a run; `defined` are the symbols of functions with a body, `variables` those
        of variables with a first value."""
        self._set_at: dict[Stored, set[Setting]] = {}
        self._listed: dict[tuple[str, str], set[Setting]] = {}
        self._owners: dict[Stored, set[str]] = {}
        self._spoilt: set[Stored] = set()
        self._moved = frozenset[Stored]().union(*(unit.moved for unit in units))
        self._addressed: dict[Stored, set[Setting]] = {}
        inside: dict[str, set[str]] = {}
        lost: set[str] = set()
        for unit in units:
            self._spoilt |= unit.spoilt
            lost |= unit.lost
            lost.update(name for symbol, name in unit.handed if symbol not in defined)
            for what, where in unit.set_at:
                self._set_at.setdefault(what, set()).add(where)
            for what, where in unit.addressed:
                self._addressed.setdefault(what, set()).add(where)
            for struct, member, where in unit.listed:
                self._listed.setdefault((struct, member), set()).add(where)
            for what, struct in unit.owners:
                self._owners.setdefault(what, set()).add(struct)
            for inner, outer in unit.inside:
                inside.setdefault(outer, set()).add(inner)
        waiting = list(lost)
        while waiting:
            new = inside.get(waiting.pop(), set()) - lost
            lost |= new
            waiting += new
        self._lost = lost
        handed = {name for unit in units for symbol, name in unit.handed if symbol not in defined}
        self.functions = FunctionsOfProgram(
            [unit.functions for unit in units], handed, inside, variables
        )
        self._pointed = frozenset[str]().union(*(unit.pointed for unit in units))
        self.is_program = any(unit.has_main for unit in units)

    def only_setting(self, what: Stored) -> Setting | None:
        """The one place that sets it; None where there is none, or more may do so: also whoever
        calls what is no program, but a part of one."""
        if not self.is_program:
            return None
        whole = what._replace(element=_ALL)
        if what in self._spoilt or whole in self._spoilt:
            return None
        owners = self._owners.get(whole, set())
        if owners & self._lost:
            return None
        settings = set(self._set_at.get(what, ()))
        listed = self._listed_in(owners, what)
        if owners and (self._listed.get(("", what.name)) or (what != whole and listed)):
            return None
        if what == whole:
            settings |= listed
            lists = self._left_out_of(owners)
            if listed and len(lists) > len(listed):
                return None  # another object of the type has none there
            if not settings and lists and all(where.number == 0 for where in lists):
                return _ZERO
        return next(iter(settings)) if len(settings) == 1 else None

    def settings_of(self, what: Stored) -> set[Setting] | None:
        """The places that set it in the files that are read; None where one makes it anew of what
        it was."""
        whole = what._replace(element=_ALL)
        if what in self._moved or whole in self._moved:
            return None
        return {
            *self._set_at.get(what, ()), *self._addressed.get(whole, ()),
            *self._listed_in(self._owners.get(whole, set()), what),
        }  # fmt: skip

    def is_pointed(self, function: Decl) -> bool:
        """Whether a function may be called through a pointer."""
        return (function.symbol or function.name) in self._pointed

    def _left_out_of(self, owners: set[str]) -> set[Setting]:
        """What the lists of a struct give to the members that they do not name, each once."""
        return set().union(*(self._listed.get((owner, _LEFT_OUT), ()) for owner in owners))

    def _listed_in(self, owners: Iterable[str], what: Stored) -> set[Setting]:
        return set().union(*(self._listed.get((owner, what.name), ()) for owner in owners))


class SetValue(NamedTuple):
    """The value that an integer in memory is set to, by which expression of which function; a
    number of a list of initial values that belongs to none."""

    value: Expression
    by: Expression
    function: Function | None


class SetPlace(NamedTuple):
    """An integer in memory as the function names it that sets it."""

    place: Expression
    function: Function


def setting_in(trees: Iterable[Function], setting: Setting) -> SetValue | None:
    """What a setting in one of these functions sets."""
    for function in trees:
        if function.span != setting.function:
            continue
        for at, expression in enumerate(_expressions(function)):
            if at != setting.at:
                continue
            if isinstance(expression, Assign):
                return SetValue(expression.right, expression, function)
            given = member_named(expression)
            return None if given is None else SetValue(given[1], expression, function)
    return None


def place_set_in(trees: Iterable[Function], setting: Setting) -> SetPlace | None:
    """The place that a setting in one of these functions sets."""
    for function in trees:
        if function.span == setting.function:
            expression = next(islice(_expressions(function), setting.at, None), None)
            place = set_place(expression) if expression is not None else None
            return SetPlace(place, function) if place is not None else None
    return None


def _expressions(function: Function) -> Iterator[Expression]:
    """All expressions of a function, also what a constructor does in front of its body."""
    first = (every_expression(initialiser) for initialiser in function.initialisers)
    return chain(*first, expressions_in(function.body))


class _Census:
    def __init__(self, defined: Collection[Decl]) -> None:
        self.set_at: set[tuple[Stored, Setting]] = set()
        self.spoilt: set[Stored] = set()
        self.moved: set[Stored] = set()
        self.addressed: set[tuple[Stored, Setting]] = set()
        self.listed: set[tuple[str, str, Setting]] = set()
        self.owners: set[tuple[Stored, str]] = set()
        self.inside: set[tuple[str, str]] = set()
        self.lost: set[str] = set()
        self.handed: set[tuple[str, str]] = set()
        self.pointed: set[str] = set()
        self.has_main = False
        self.functions = FunctionCensus()
        self._defined = defined
        self._met: set[Decl] = set()
        # Arrays whose name a subscript follows, where it comes next; nodes of names are shared.
        self._elements: Counter[Expression] = Counter()
        self._structs: dict[Expression, str] = {}  # values of lists, and the struct they are for

    def look_at(self, function: Function) -> None:
        self.has_main |= function.name == "main"
        getter = _place_given(function)
        for statement in every_statement(function.body):
            if isinstance(statement, DeclStmt):
                for decl in statement.decls:
                    self._met.add(decl)  # a `static` one has its list here, as the others
                    self._structs.update(self._initial(decl, function.span))
                    self.functions.variable(decl, function.span)
            elif isinstance(statement, Return):
                self._structs.update(self._literal(statement.value, function.decl.ctype))
        for at, expression in enumerate(_expressions(function)):
            self._expression(expression, Setting(function.span, at), getter)

    def variable(self, decl: Decl) -> None:
        """A global variable with its first value."""
        if decl in self._met:
            return
        self._met.add(decl)
        self.functions.variable(decl)
        if decl.init is not None:
            for value, struct in self._initial(decl, decl.span).items():
                self._value(struct, value, Setting(decl.span, _ALL))
            for inner in every_expression(decl.init):
                if isinstance(inner, Name):
                    self._named(inner.decl)

    def _named(self, decl: Decl) -> None:
        """What stands somewhere, and is no function that is called there."""
        if decl.kind in ("global", "static"):
            self.variable(decl)
        elif decl.kind == "function":
            self.pointed.add(decl.symbol or decl.name)

    # -- lists of initial values ----------------------------------------------------------------

    def _initial(self, decl: Decl, where: Span) -> dict[Expression, str]:
        """The values of a variable's list, and the struct that they are for."""
        array = _of_array(decl)
        if array is not None and decl.init is not None:
            self._elements_listed(array, initial_values(decl.init), where)
        listed = self._literal(decl.init, decl.ctype)
        if listed and not all(map(_is_zero, map(_held, listed))):
            # In C++ a member may have a first value where its class is declared; what is known
            # outside a function may be set by files that are not read.
            number = 0 if decl.kind == "local" and decl.span.file.endswith(".c") else None
            left_out = Setting(decl.span, _ALL, number)
            self.listed.add((struct_of(decl.ctype), _LEFT_OUT, left_out))
        return listed

    def _literal(self, made: Expression | None, ctype: CType | None) -> dict[Expression, str]:
        """The values of a list that makes all of such a value, and the struct that they are for."""
        values = initial_values(made) if made is not None else None
        struct = struct_of(ctype)
        if values is None or not struct:
            return {}
        if ctype is not None and ctype.kind == "array":
            self.lost.add(struct)  # many of them
            return {}
        for value in values:
            if member_named(value) is None and not _is_zero(value):
                self.lost.add(struct)
        return dict.fromkeys(values, struct)

    def _elements_listed(
        self, array: Stored, values: tuple[Expression, ...] | None, where: Span
    ) -> None:
        for number, value in enumerate(values or ()):
            if not isinstance(value, IntLit):
                self.spoilt.add(array)
            elif value.value or len(values or ()) > 1:
                element = array._replace(element=number)
                self.set_at.add((element, Setting(where, number, value.value)))
        if values is None:
            self.spoilt.add(array)

    def _value(self, struct: str, value: Expression, where: Setting) -> None:
        """`.nx = 3` of a list."""
        given = member_named(value)
        if given is None or _is_zero(given[1]):
            return
        if where.at == _ALL:
            number = given[1].value if isinstance(given[1], IntLit) else None
            if not _is_scalar(given[1]):
                self.lost.add(struct)
            where = where._replace(number=number)  # without one, it is not known what is set
        self.listed.add((struct, given[0], where))

    # -- expressions ----------------------------------------------------------------------------

    def _expression(
        self, expression: Expression, where: Setting, getter: Expression | None
    ) -> None:
        self.functions.expression(expression, where.function, where.at)
        if isinstance(expression, Assign):
            self._set(expression, where)
            self._structs.update(self._literal(expression.right, type_of(expression.left)))
        elif isinstance(expression, Unary):
            if expression.op in STEPS:
                self.moved |= self._spoil(expression.operand)
            elif expression.op == "&" and expression is not getter:
                self.addressed.update((what, where) for what in self._spoil(expression.operand))
        elif isinstance(expression, Index):
            self._elements[expression.base] += 1
        elif isinstance(expression, Member):
            self._member(expression)
        elif isinstance(expression, Name):
            self._named(expression.decl)
        elif isinstance(expression, CallExpr):
            self._call(expression)
        elif isinstance(expression, Cast):
            self._cast(expression)
        elif isinstance(expression, Opaque) and expression.text.startswith("."):
            self._value(self._structs.get(expression, ""), expression, where)
        if isinstance(expression, (Name, Member)):
            array = _array(expression)
            if self._elements[expression]:
                self._elements[expression] -= 1
            elif array is not None:
                self.spoilt.add(array)  # handed on as the address of its first element

    def _set(self, assign: Assign, where: Setting) -> None:
        what = stored_at(assign.left)
        if what is not None and assign.op == "=":
            self.set_at.add((what, where))
        elif assign.op == "=":
            self.addressed.update((what, where) for what in self._spoil(assign.left))
        else:
            self.moved |= self._spoil(assign.left)

    def _spoil(self, place: Expression) -> set[Stored]:
        """It is set in a way that tells nothing; what that is."""
        what = stored_at(place)
        if what is None and isinstance(place, Index):
            what = _array(place.base)
        spoilt = set() if what is None else {what._replace(element=_ALL)}
        self.spoilt |= spoilt
        return spoilt

    def _member(self, member: Member) -> None:
        owner = struct_of(type_of(member.base)) if member.base is not None else ""
        if "union" in owner or "<" in owner:  # instances of a template share their text
            self.lost.add(owner)
        own = struct_of(member.field.ctype)
        if own and member.field.ctype.kind != "pointer":
            self.inside.add((own, owner))
        self.owners.add((_of_field(member.field), owner))

    def _call(self, call: CallExpr) -> None:
        for variable in called_variables(call):
            self._named(variable)
        if call.free or call.name in _HARMLESS or call.decl in self._defined:
            return
        structs = [struct_of(type_of(argument)) for argument in call.args]
        if call.name in _ZEROING and (len(call.args) < 3 or _is_zero(call.args[1])):
            return
        if call.name in _COPYING and len(structs) > 1 and structs[0] == structs[1]:
            return  # another of the same
        structs.append(struct_of(type_of(call)))  # what it gives back, it may have set
        symbol = call.decl.symbol if call.decl is not None else ""
        self.handed.update((symbol, struct) for struct in structs if struct)

    def _cast(self, cast: Cast) -> None:
        """A struct seen as bytes, or as numbers."""
        struct = struct_of(type_of(cast.operand))
        pointee = cast.ctype.element
        if struct and pointee is not None and pointee.kind in ("int", "float"):
            self.lost.add(struct)


def _place_given(function: Function) -> Expression | None:
    """`&this->n` of a method that only returns a reference to it: calls name the place itself."""
    returned = [s for s in every_statement(function.body) if isinstance(s, Return)]
    if len(returned) != 1 or (not function.decl.reference and not _is_method(function)):
        return None
    return returned[0].value


def _is_method(function: Function) -> bool:
    return bool(function.parameters) and function.parameters[0].name == "this"


def _is_zero(value: Expression) -> bool:
    while isinstance(value, Cast):
        value = value.operand
    values = initial_values(value)
    if values is not None:
        return all(_is_zero(_held(inner)) for inner in values)
    return isinstance(value, IntLit) and value.value == 0


def _is_scalar(value: Expression) -> bool:
    """Whether a value of a list makes no struct or array of its own."""
    plain = (IntLit, FloatLit, Name, Unary, Binary)
    return all(
        isinstance(inner, plain) or (isinstance(inner, Opaque) and inner.string is not None)
        for inner in every_expression(value)
    )


def _held(value: Expression) -> Expression:
    """What a value of a list gives, to a member by its name or by its position."""
    given = member_named(value)
    return value if given is None else given[1]


def _of_field(field: Decl) -> Stored:
    return Stored(field.name, field.span)


def _of_array(decl: Decl) -> Stored | None:
    """A global array of integers."""
    element = decl.ctype.element
    if decl.ctype.kind != "array" or element is None or element.kind != "int":
        return None
    if decl.kind == "field":
        return _of_field(decl)
    if decl.kind not in ("global", "static"):
        return None
    return Stored(decl.symbol, Span("", 0)) if decl.symbol else Stored(decl.name, decl.span)


def _array(expression: Expression) -> Stored | None:
    if isinstance(expression, Member):
        return _of_array(expression.field)
    return _of_array(expression.decl) if isinstance(expression, Name) else None
