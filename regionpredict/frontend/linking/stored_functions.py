"""Finds the functions that a program stores in members of structs and in tables.

        static double (*const op[])(double) = {square, half};        `op` contains square and half
        static const struct ops all[] = {{square}, {half}};          so does `apply` of `struct ops`
        ops->apply = given;                                          `apply` also contains `given`

A member represents all objects of its struct. It may contain any function if its address is taken,
or if its struct is accessed as bytes or in a union. The same applies if its struct is passed to a
function without a body, or if a table is passed as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from regionpredict.frontend.syntax import (
    Assign,
    CallExpr,
    Cast,
    Decl,
    Expression,
    Function,
    Index,
    Member,
    Name,
    Opaque,
    Ternary,
    Unary,
    element_placed,
    every_expression,
    initial_values,
    is_null,
    member_named,
    named_function,
    virtual_table,
    without_casts,
)
from regionpredict.frontend.syntax.integer_types import owner_of, struct_behind, type_of
from regionpredict.ir import Span
from regionpredict.ir.reached import reached

ANY = "*"
WHOLE = "="
Place = tuple[str, str]
"""A struct and its member. The member `*` means all members, and `=` an array element that is
assigned as a whole. The struct is "" if unknown. A table is given by its name, and by the file and
line of its declaration, or "=" for a global table.
"""


class Put(NamedTuple):
    """A stored function, or the number of the expression that stores it in the function at the
    location `by`. `listed` says that the function comes from an initializer.
    """

    place: Place
    function: Decl | None
    by: Span | None = None
    at: int = -1
    listed: bool = True


class StoredFunctions(NamedTuple):
    """The stored functions of one unit.

    `put` are the stored functions. `open_` are the members and tables that may contain any
    function. `elsewhere` are tables declared without a length, as pairs of symbol and struct.
    Another unit contains their initializers.
    """

    put: tuple[Put, ...] = ()
    open_: frozenset[Place] = frozenset()
    elsewhere: frozenset[tuple[str, str]] = frozenset()


def place_of(pointer: Expression) -> Place | None:
    """Returns the struct member or table that a function pointer is read from, or None."""
    while isinstance(pointer, Index):
        pointer = pointer.base
    if isinstance(pointer, Member):
        return owner_of(pointer), pointer.field.name
    return _table_of(pointer.decl) if isinstance(pointer, Name) else None


def _table_of(decl: Decl) -> Place | None:
    if decl.ctype.kind != "array" or decl.ctype.innermost.kind != "pointer":
        return None
    if decl.kind == "parameter":
        return None
    if decl.symbol:
        return "=", decl.symbol
    return f"{decl.span.file}:{decl.span.line}", decl.name


class FunctionCollector:
    """Collects the functions that a unit stores. The collector of sizes passes it all
    expressions.
    """

    def __init__(self) -> None:
        self._put: list[Put] = []
        self._open: set[Place] = set()
        self._elsewhere: set[tuple[str, str]] = set()
        self._placed: set[Expression] = set()  # values in lists for known structs
        self._elements: dict[Expression, int] = {}  # arrays whose subscript has just been visited

    def result(self) -> StoredFunctions:
        """Returns the collected functions."""
        return StoredFunctions(tuple(self._put), frozenset(self._open), frozenset(self._elsewhere))

    def record_method(self, function: Function) -> None:
        """Records a virtual method as a function that is stored for each method that it
        overrides.
        """
        for symbol in function.overrides:
            place = virtual_table(symbol), function.decl.name
            self._put.append(Put(place, function.decl))

    def variable(self, decl: Decl, by: Span | None = None) -> None:
        """Records a variable with its initializer. `by` is the function that contains the
        variable.
        """
        struct = decl.ctype.struct
        if decl.init is None:
            if struct and decl.ctype.kind == "array" and decl.ctype.extent is None and decl.symbol:
                self._elsewhere.add((decl.symbol, struct))
            return
        if struct and decl.ctype.kind == "array" and initial_values(decl.init) is None:
            self._open.add((struct, ANY))  # too long to read
        elif struct:
            self._record_structs(decl.init, struct, in_function=by is not None)
        else:
            table = _table_of(decl)
            if table is not None:
                self._record_list(table, decl.init)

    def expression(self, expression: Expression, by: Span, at: int) -> None:
        """Records the expression with number `at` of a function. Parents precede subexpressions."""
        if isinstance(expression, Assign):
            self._record_assignment(expression, by, at)
            self._record_struct_copy(expression, by, at)
        elif isinstance(expression, Unary):
            if expression.op == "&" and isinstance(expression.operand, (Member, Index)):
                place = place_of(expression.operand)
                if place is not None and _is_pointer(expression.operand):
                    self._open.add(place)
        elif isinstance(expression, Index):
            self._elements[expression.base] = self._elements.get(expression.base, 0) + 1
        elif isinstance(expression, Cast):
            self._record_cast(expression)
        elif isinstance(expression, Opaque) and expression.text.startswith("."):
            self._record_member_of_unknown_struct(expression, by, at)
        if isinstance(expression, (Name, Member, Index)):
            self._record_whole_use(expression)

    # -- lists of initial values ----------------------------------------------------------------

    def _record_structs(self, init: Expression, struct: str, *, in_function: bool) -> None:
        values = initial_values(init)
        for listed in values or ():
            value = element_placed(listed)[1]
            given = member_named(value)
            if given is None:
                if initial_values(value) is not None:
                    self._record_structs(value, struct, in_function=in_function)
                elif _names_functions(value):
                    self._open.add((struct, ANY))
                continue
            name, held = given
            if initial_values(held) is not None:
                self._record_list((struct, name), held)
                self._placed.add(value)
            elif is_null(held):
                self._placed.add(value)
            elif (function := named_function(held)) is not None:
                self._put.append(Put((struct, name), function))
                self._placed.add(value)
            elif not in_function:
                self._open.add((struct, name))

    def _record_list(self, place: Place, listed: Expression) -> None:
        """Records an initializer list for a member or a table. The list contains elements, or the
        members of a nested struct.
        """
        values = initial_values(listed)
        if values is None:
            self._open.add(place)
        for value in (element_placed(value)[1] for value in values or ()):
            given = member_named(value)
            if given is not None:
                self._record_value(("", given[0]), given[1])
            else:
                self._record_value(place, value)

    def _record_value(self, place: Place, value: Expression) -> None:
        """Records a value in an initializer list, which may be another list."""
        function = named_function(value)
        if initial_values(value) is not None:
            self._record_list(place, value)
        elif function is not None:
            self._put.append(Put(place, function))
        elif not is_null(value) and not (isinstance(value, Opaque) and not value.children):
            self._open.add(place)

    def _record_member_of_unknown_struct(self, value: Opaque, by: Span, at: int) -> None:
        """Records `.apply = f` in an initializer of an unknown struct."""
        given = member_named(value)
        if given is None or value in self._placed or is_null(given[1]):
            return
        place = "", given[0]
        function = named_function(given[1])
        if function is not None:
            self._put.append(Put(place, function))
        elif initial_values(given[1]) is not None:
            self._record_list(place, given[1])
        else:
            self._put.append(Put(place, None, by, at))

    # -- expressions ----------------------------------------------------------------------------

    def _record_assignment(self, assign: Assign, by: Span, at: int) -> None:
        place = place_of(assign.left) if isinstance(assign.left, (Member, Index)) else None
        if place is None or not _is_pointer(assign.left) or is_null(assign.right):
            return
        function = named_function(assign.right)
        if assign.op != "=":
            self._open.add(place)
        elif function is not None:
            self._put.append(Put(place, function, listed=False))
        else:
            self._put.append(Put(place, None, by, at, listed=False))

    def _record_struct_copy(self, assign: Assign, by: Span, at: int) -> None:
        """Records `all[i] = all[j]`, which assigns a struct in an array as a whole."""
        if isinstance(assign.left, Index) and (struct := type_of(assign.left).struct):
            self._put.append(Put((struct, WHOLE), None, by, at, listed=False))

    def _record_whole_use(self, expression: Name | Member | Index) -> None:
        """Records a table that is used as a whole, not only as the base of a subscript."""
        if self._elements.get(expression):
            self._elements[expression] -= 1
            return
        if isinstance(expression, Index):
            return
        ctype = expression.field.ctype if isinstance(expression, Member) else expression.decl.ctype
        place = place_of(expression)
        if place is not None and ctype.kind == "array":
            self._open.add(place)

    def _record_cast(self, cast: Cast) -> None:
        struct = struct_behind(cast.operand)
        pointee = cast.ctype.element
        if struct and pointee is not None and pointee.kind in ("int", "float"):
            self._open.add((struct, ANY))


def _is_pointer(place: Expression) -> bool:
    return type_of(place).innermost.kind == "pointer"


def _names_functions(value: Expression) -> bool:
    return any(named_function(inner) is not None for inner in every_expression(value))


class FunctionsOfProgram:
    """Finds the functions that are stored in each member or table, over all units of a run."""

    def __init__(self, units: Sequence[StoredFunctions], passed_structs: Iterable[str],
                 inside: Mapping[str, set[str]], variables: Collection[str]) -> None:  # fmt: skip
        """`passed_structs` are structs passed to functions without a body. `inside` maps each
        struct to the structs that it contains. `variables` are the symbols of structs with an
        initial value.
        """
        self._put: dict[Place, list[tuple[int, Put]]] = {}
        open_: set[Place] = set()
        for number, unit in enumerate(units):
            open_ |= unit.open_
            for put in unit.put:
                self._put.setdefault(put.place, []).append((number, put))
        lost = {struct for struct, member in open_ if member == ANY} | set(passed_structs)
        lost.update(
            struct for unit in units for symbol, struct in unit.elsewhere
            if symbol not in variables
        )  # fmt: skip
        self._open, self._contained_structs = open_, inside
        self._lost: set[str] = set()
        self.mark_unknown(lost)

    def mark_unknown(self, structs: Iterable[str]) -> None:
        """Records that these structs, and the structs inside them, may contain any function."""
        self._lost.update(reached(structs, lambda struct: self._contained_structs.get(struct, ())))

    def places_of(self, function: Decl, home: int) -> list[tuple[int, Place]]:
        """Returns the members and tables that contain a function, each with the unit that stores
        it. Duplicates are kept. A function without a symbol is internal to its unit.
        """
        return [
            (number, put.place) for puts in self._put.values() for number, put in puts
            if put.function is not None and put.function.name == function.name
            and put.function.symbol == function.symbol and (function.symbol or number == home)
        ]  # fmt: skip

    def have_bodies(self, place: Place, defined: Collection[str]) -> bool:
        """Whether all values stored at `place` are functions of the program. `defined` are the
        symbols of functions with a body.
        """
        stored = self.values_at(place)
        return stored is not None and all(
            put.function is not None and (not put.function.symbol or put.function.symbol in defined)
            for _, put in stored
        )

    def values_at(self, place: Place) -> list[tuple[int, Put]] | None:
        """Returns all values stored at `place` with their unit numbers. None if others are
        possible.
        """
        struct, member = place
        if not struct or place in self._open or struct in self._lost or "union" in struct:
            return None
        if ("", member) in self._open and ":" not in struct and struct != "=":
            return None
        return self.visible_values_at(place)

    def visible_values_at(self, place: Place) -> list[tuple[int, Put]]:
        """Returns the values stored at `place` that the sources show, with their unit numbers."""
        struct, member = place
        if ":" in struct or struct == "=":
            return self._put.get(place, [])
        return [*self._put.get(place, []), *self._put.get(("", member), [])]


def values_in(value: Expression) -> tuple[Expression, ...]:
    """Returns the possible values of an expression: both branches of `c ? f : g`."""
    value = without_casts(value)
    if isinstance(value, Ternary):
        return (*values_in(value.then), *values_in(value.other))
    return (value,)


def called_variables(call: CallExpr) -> Iterable[Decl]:
    """Yields the variables from which a call reads its function pointer."""
    if call.pointer is None:
        return
    for inner in every_expression(call.pointer):
        if isinstance(inner, Name):
            yield inner.decl
