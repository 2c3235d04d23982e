"""Stores all translation units of a run and resolves declarations to definitions.

A definition in the same unit or a `static` one takes precedence. Among definitions in other
units, the one in the nearest file counts (`nearest_files`). If two files are equally near, the
declaration is not resolved.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple

from regionpredict.frontend.linking.class_objects import sole_objects
from regionpredict.frontend.linking.kept_arguments import KeptArguments
from regionpredict.frontend.linking.packed_unit import Body, PackedUnit, Trees
from regionpredict.frontend.linking.pointer_calls import pointer_uses
from regionpredict.frontend.linking.program_settings import (
    AssignmentTarget,
    IntegerAssignment,
    SettingsOfProgram,
    assignment_in,
    assignment_target_in,
    expression_of,
)
from regionpredict.frontend.linking.running_totals import RunningTotal, running_totals
from regionpredict.frontend.linking.stored_functions import WHOLE, Place, Put, place_of
from regionpredict.frontend.linking.stored_sizes import AssignmentSite, Stored
from regionpredict.frontend.syntax import (
    CallExpr,
    Changes,
    Decl,
    Effects,
    Expression,
    Function,
    Index,
    IntLit,
    Member,
    Name,
    calls_in,
    changes_in,
    expressions_in,
)
from regionpredict.frontend.text import IDENTIFIER, written_at
from regionpredict.ir import Span
from regionpredict.ir.nearest_files import folder_of, nearest_files

_MOST_SETTINGS = 64  # maximum number of assignments to a member that are followed
_SOURCES = frozenset((".c", ".cc", ".cpp", ".cxx", ".C", ".c++"))


class StoredValue(NamedTuple):
    """A value that is stored in a struct member or array element, and the function that stores it.

    `function` is None if an initializer stores the value. `listed` is True if the value comes from
    an initializer list and is not moved afterwards.
    """

    value: Expression
    function: Function | None
    listed: bool = False


class ProgramUnits:
    """The translation units of a run. The syntax trees of a unit are unpacked at its first use."""

    def __init__(self, units: Sequence[PackedUnit]) -> None:
        self._units = units
        self._loaded: dict[int, Trees] = {}
        self._views: dict[int, LinkedUnit] = {}
        self._defined: dict[Decl, Function] = {}
        self._calls: dict[Function, dict[Decl, list[CallExpr]]] = {}
        self._changes: dict[Function, Changes] = {}
        self._put_values: dict[
            tuple[Place, tuple[tuple[int, Put], ...]], list[StoredValue] | None
        ] = {}
        self._definers: dict[str, list[int]] = {}
        self._variables: dict[str, list[int]] = {}
        self._naming: dict[str, list[int]] = {}
        self._homes: dict[Decl, int | None] = {}
        self._contents: dict[int, set[Decl]] = {}
        self._mentions: dict[int, dict[bytes, list[Body]]] = {}
        self._beginning: dict[int, dict[Span, list[Function]]] = {}
        self._named: dict[int, dict[tuple[str, str], Decl]] = {}
        self._all_sets: dict[Stored, list[tuple[Function, Expression]] | None] = {}
        for number, unit in enumerate(units):
            for symbol in unit.defines:
                self._definers.setdefault(symbol, []).append(number)
            for symbol in unit.variables:
                self._variables.setdefault(symbol, []).append(number)
            for name in unit.names:
                self._naming.setdefault(name, []).append(number)
        self.directives = Counter[str]()  # by folder
        for unit in units:
            self.directives[folder_of(unit.path)] += unit.directives

    def linked_unit(self, number: int) -> LinkedUnit:
        """Returns the unit `number` with its declarations resolved."""
        if number not in self._views:
            self._views[number] = LinkedUnit(self, number)
        return self._views[number]

    def syntax_trees(self, number: int) -> Trees:
        """Returns the syntax trees of the unit `number`. Results are cached."""
        if number not in self._loaded:
            trees = self._unpacked_trees(number)
            # A definition in another unit takes precedence over a library model of the function.
            elsewhere = {name for name in trees.modelled if self.defining_units(name)}
            defined = {decl: f for decl, f in trees.defined.items() if decl.name not in elsewhere}
            self._loaded[number] = trees = trees._replace(defined=defined)
            self._defined.update(trees.defined)
        return self._loaded[number]

    def _unpacked_trees(self, number: int) -> Trees:
        return self._units[number].trees()

    def definition_of(self, decl: Decl) -> Function | None:
        """Returns the definition of a function, or None if no loaded unit defines it."""
        return self._defined.get(decl)

    def home(self, decl: Decl) -> int | None:
        """Returns the loaded unit that contains an internal (`static`) name, or None."""
        if decl not in self._homes:
            self._homes[decl] = next(
                (number for number in self._loaded if decl in self._names_used_in_unit(number)),
                None,
            )
        return self._homes[decl]

    def _names_used_in_unit(self, number: int) -> set[Decl]:
        """Returns the functions that a unit defines and the variables that it uses."""
        if number not in self._contents:
            trees = self._loaded[number]
            self._contents[number] = set(trees.defined).union(
                expression.decl for body in trees.bodies
                for expression in expressions_in(body.function.body)
                if isinstance(expression, Name) and expression.decl is not None
            )  # fmt: skip
        return self._contents[number]

    def path(self, number: int) -> str:
        """Returns the source file of the unit `number`."""
        return self._units[number].path

    def definition(self, number: int, symbol: str) -> Span | None:
        """Returns the location of the external function `symbol` in a unit. None if the unit does
        not define the function.
        """
        return self._units[number].defines.get(symbol)

    def defining_units(self, symbol: str) -> Sequence[int]:
        """Returns the units that define the external function `symbol`."""
        return self._definers.get(symbol, ())

    def initializing_units(self, symbol: str) -> Sequence[int]:
        """Returns the units that initialize the external variable `symbol`."""
        return self._variables.get(symbol, ())

    def units_with_word(self, name: str) -> Sequence[int]:
        """Returns the units with a function that contains the word `name`."""
        return self._naming.get(name, ())

    def functions_with_word(self, number: int, name: str) -> Sequence[Body]:
        """Returns the functions of a unit whose text contains the first word of `name`."""
        if number not in self._mentions:
            self._mentions[number] = words = defaultdict[bytes, list[Body]](list)
            for body in self.syntax_trees(number).bodies:
                for word in set(IDENTIFIER.findall(body.text)):
                    words[word].append(body)
        word = IDENTIFIER.search(name.encode())
        return self._mentions[number].get(word[0], ()) if word else ()

    def calls_in(self, function: Function) -> dict[Decl, list[CallExpr]]:
        """Returns the calls in a function, by called function. Results are cached."""
        if function not in self._calls:
            self._calls[function] = calls_in(function.body)
        return self._calls[function]

    def changes_in(self, function: Function) -> Changes:
        """Returns the variables that a function changes. Results are cached."""
        if function not in self._changes:
            self._changes[function] = changes_in(function.body)
        return self._changes[function]

    def sets(self, function: Function, decl: Decl) -> bool:
        """Whether `function` assigns the variable `decl` or takes its address."""
        return bool(self.changes_in(function).setting(decl))

    @cached_property
    def sole_objects(self) -> dict[str, str]:
        """Maps each class that has exactly one object to the name of the object."""
        return sole_objects(unit.objects for unit in self._units)

    @cached_property
    def stored_integer_assignments(self) -> SettingsOfProgram:
        """The integers in structs and arrays that the program assigns at exactly one place."""
        symbols = {symbol for unit in self._units for symbol in unit.defines}
        return SettingsOfProgram([unit.stored for unit in self._units], symbols, self._variables)

    def set_once(self, integer: Stored) -> IntegerAssignment | None:
        """Returns the value of the only assignment to a stored integer, or None."""
        setting = self.stored_integer_assignments.only_setting(integer)
        if setting is None:
            return None
        if setting.number is not None:
            number = IntLit(setting.number, 64)
            return IntegerAssignment(number, number, None)
        return assignment_in(self._functions_at_assignment(setting), setting)

    def only_assignment_to(self, integer: Stored) -> list[AssignmentTarget] | None:
        """Returns the only assignment to a stored integer. Empty if there is no assignment. None if
        several assignments are possible.
        """
        settings = self.stored_integer_assignments.settings_of(integer)
        if settings is None or len(settings) > 1:
            return None
        places = [
            assignment_target_in(self._functions_at_assignment(setting), setting)
            for setting in settings
        ]
        known = [place for place in places if place is not None]
        return known if len(known) == len(settings) else None

    def all_assignments_to(self, integer: Stored) -> list[tuple[Function, Expression]] | None:
        """Returns all expressions that may be assigned to a stored integer, each with its function.
        None if the integer may have other values.
        """
        if integer not in self._all_sets:
            self._all_sets[integer] = self._find_all_assignments_to(integer)
        return self._all_sets[integer]

    def _find_all_assignments_to(self, integer: Stored) -> list[tuple[Function, Expression]] | None:
        settings = self.stored_integer_assignments.all_settings_of(integer)
        if settings is None or len(settings) > _MOST_SETTINGS:
            return None
        found: list[tuple[Function, Expression]] = []
        for setting in settings:
            known = expression_of(self._functions_at_assignment(setting), setting)
            if known is None:
                return None
            found.append(known)
        return found

    def _functions_at_assignment(self, setting: AssignmentSite) -> Sequence[Function]:
        """Returns the functions that contain an assignment, in the first unit with this source
        location. Several functions are instances of one template.
        """
        number = self._unit_of_assignment.get(setting)
        return () if number is None else self._functions_starting_at(number, setting.function)

    @cached_property
    def _unit_of_assignment(self) -> dict[AssignmentSite, int]:
        """Maps each assignment to the first unit that contains its source location."""
        units: dict[AssignmentSite, int] = {}
        for number, unit in enumerate(self._units):
            for where in unit.stored.places():
                units.setdefault(where, number)
        return units

    def _functions_starting_at(self, number: int, span: Span) -> Sequence[Function]:
        """Returns the functions of a unit that start at `span`, such as instances of a template."""
        if number not in self._beginning:
            self._beginning[number] = functions = defaultdict[Span, list[Function]](list)
            for body in self.syntax_trees(number).bodies:
                functions[body.function.span].append(body.function)
        return self._beginning[number].get(span, ())

    def calls_through(self, function: Decl, home: int) -> list[tuple[Function, CallExpr]]:
        """Returns the calls of a function through struct members. Empty if the function may also be
        called through other pointers. `home` is the requesting unit, which is needed for internal
        functions.
        """
        functions = self.stored_integer_assignments.functions
        put = (
            functions.places_of(function, home)
            if self.stored_integer_assignments.is_program
            else []
        )
        places = {place for _, place in put}
        if not put or any(functions.values_at(place) is None for place in places):
            return []
        words = {function.name, *(member for _, member in places)}
        numbers = {number for word in words for number in self.units_with_word(word)}
        uses = []
        for number in sorted(numbers | {home, *(number for number, _ in put)}):
            trees = self.syntax_trees(number)
            bodies = (body.function for body in trees.bodies)
            uses.append(pointer_uses(bodies, trees.variables, function, places))
        known = sum(use.named for use in uses) == len(put) and not any(use.read for use in uses)
        return [call for use in uses for call in use.calls] if known else []

    def has_pointer(self, function: Decl) -> bool:
        """Whether a function may be called through a pointer."""
        return self.stored_integer_assignments.has_pointer(function)

    def functions_at(self, pointer: Expression) -> list[StoredValue] | None:
        """Returns all values that the program stores in the function pointer `pointer`. None if the
        pointer may have other values.
        """
        place = place_of(pointer)
        stored = (
            self.stored_integer_assignments.functions.values_at(place)
            if place is not None
            else None
        )
        if place is None or stored is None or not self._only_program_assigns(pointer):
            return None
        return self._stored_values(place, stored)

    def some_functions_at(self, pointer: Expression) -> list[StoredValue]:
        """Returns the values that the sources store in `pointer`, even if it may have others."""
        place = place_of(pointer)
        if place is None:
            return []
        return (
            self._stored_values(
                place, self.stored_integer_assignments.functions.visible_values_at(place)
            )
            or []
        )

    def _stored_values(
        self, place: Place, stored: Iterable[tuple[int, Put]]
    ) -> list[StoredValue] | None:
        """Returns the values that units store. None if the location of a value is not found."""
        key = place, tuple(stored)
        if key not in self._put_values:
            self._put_values[key] = self._find_stored_values(place, key[1])
        return self._put_values[key]

    def _find_stored_values(
        self, place: Place, stored: Iterable[tuple[int, Put]]
    ) -> list[StoredValue] | None:
        values: list[StoredValue] = []
        moved = bool(self.stored_integer_assignments.functions.values_at((place[0], WHOLE)))
        for number, put in stored:
            if put.function is not None:
                named = Name(self._declaration_in_unit(number, put.function), Span("", 0))
                values.append(StoredValue(named, None, put.listed and not moved))
            elif put.by is not None:
                functions = self._functions_starting_at(number, put.by)
                setting = assignment_in(functions, AssignmentSite(put.by, put.at))
                if setting is None:
                    return None
                values.append(StoredValue(setting.value, setting.function))
        return values

    def _declaration_in_unit(self, number: int, function: Decl) -> Decl:
        """Returns the declaration of the same function in the trees of a unit. It is a different
        object if the unit was read again.
        """
        if number not in self._named:
            self._named[number] = named = dict[tuple[str, str], Decl]()
            for decl in self.syntax_trees(number).defined:
                named.setdefault((decl.name, decl.symbol), decl)
        return self._named[number].get((function.name, function.symbol), function)

    def _only_program_assigns(self, pointer: Expression) -> bool:
        """Whether only the program assigns `pointer`. A caller of a library may set struct members
        that a header declares.
        """
        while isinstance(pointer, Index):
            pointer = pointer.base
        if not isinstance(pointer, Member) or self.stored_integer_assignments.is_program:
            return True
        if PurePath(pointer.field.span.file).suffix in _SOURCES:
            return True
        base: Expression | None = pointer
        while isinstance(base, (Index, Member)):
            if isinstance(base, Member) and base.arrow:
                return False
            base = base.base
        return isinstance(base, Name) and not base.decl.symbol and base.decl.kind != "parameter"


class _UnpackedUnit(ProgramUnits):
    """A single unit whose syntax trees are already available and need no unpacking."""

    def __init__(self, path: str, trees: Trees) -> None:
        super().__init__(
            [PackedUnit(path, {}, frozenset(), frozenset(), b"", trees.objects, trees.stored)]
        )
        self._own = trees

    def _unpacked_trees(self, number: int) -> Trees:
        return self._own


def linked_alone(path: str, trees: Trees) -> LinkedUnit:
    """Returns a unit that is linked without knowledge of other units."""
    return _UnpackedUnit(path, trees).linked_unit(0)


class LinkedUnit:
    """A unit of a program with its declarations resolved. It gives access to the whole program.

    `functions` are the functions with OpenMP directives. `directives`, `errors`, `reassociates`,
    `threadprivate` and `getters` come from the parser. `objects` maps a class to the name of its
    only object. `lengths` are the lengths of containers in members. `effects` caches the side
    effects of expressions and statements. `values` caches the results of executed functions.
    """

    def __init__(self, program: ProgramUnits, number: int) -> None:
        self._program = program
        self._number = number
        own = self._own = program.syntax_trees(number)
        self._bodies: dict[Decl, Function | None] = dict(own.defined)
        self._calls: dict[Decl, list[tuple[Function, CallExpr]]] = {}
        self._setters: dict[str, list[Function]] = {}
        self._writers: dict[Decl, list[Function]] = {}
        self.path = program.path(number)
        self.functions, self.directives, self.errors = own.functions, own.directives, own.errors
        self.reassociates, self.threadprivate = own.reassociates, own.threadprivate
        self.getters, self.lengths = own.getters, own.lengths
        self.objects: Mapping[str, str] = program.sole_objects
        self.effects = Effects(KeptArguments(self.body_of).leaves_integer_unchanged)
        self.values: dict[Function | str, Any] = {}
        # These methods give the same results for all units of the program.
        self.changes_in = program.changes_in
        self.set_once, self.only_assignment_to = program.set_once, program.only_assignment_to
        self.all_assignments_to = program.all_assignments_to
        self.has_pointer = program.has_pointer
        self.functions_at = program.functions_at
        self.some_functions_at = program.some_functions_at

    @cached_property
    def totals(self) -> Mapping[Decl, RunningTotal]:
        """The arrays that the unit fills with prefix sums."""
        return running_totals(self.bodies(), self.effects)

    def bodies(self) -> list[Function]:
        """Returns all functions of the unit that may be called."""
        return [body.function for body in self._own.bodies]

    # -- choice of the definition ---------------------------------------------------------------

    def _nearest_units(self, numbers: Iterable[int]) -> list[int]:
        """Returns the units whose files are nearest to the current one in the folder tree."""
        by_path = {self._program.path(number): number for number in numbers}
        here = self._program.path(self._number)
        files = nearest_files(here, list(by_path), self._program.directives)
        return [by_path[file] for file in files]

    def _possible_definers(self, symbol: str) -> list[int]:
        """Returns the units that may define the function `symbol`. Only one unit is returned if all
        of them include the definition from the same header.
        """
        units = self._nearest_units(self._program.defining_units(symbol))
        spans = {self._program.definition(number, symbol) for number in units}
        return units[:1] if len(spans) == 1 else units

    def body_of(self, decl: Decl) -> Function | None:
        """Returns the definition of a function from any unit. None if no source contains it."""
        if decl not in self._bodies:
            self._bodies[decl] = self._find_body(decl)
        return self._bodies[decl]

    def _find_body(self, decl: Decl) -> Function | None:
        own = self._program.definition_of(decl)
        if own is not None:
            return own
        units = (
            self._possible_definers(decl.symbol) if decl.kind == "function" and decl.symbol else []
        )
        if len(units) != 1:
            return None
        defined = self._program.syntax_trees(units[0]).defined
        return next(
            (f for declaration, f in defined.items() if declaration.symbol == decl.symbol), None
        )

    def ambiguous_places(self, decl: Decl) -> tuple[Span, ...]:
        """Returns the source locations of a function's definitions, if several are equally near."""
        units = (
            self._possible_definers(decl.symbol) if decl.kind == "function" and decl.symbol else []
        )
        spans = [self._program.definition(number, decl.symbol) for number in units]
        return tuple(span for span in spans if span is not None) if len(units) > 1 else ()

    def variable_of(self, decl: Decl) -> Decl:
        """Returns the declaration of a variable that contains its initial value."""
        if decl.init is not None or not decl.symbol:
            return decl
        units = self._nearest_units(self._program.initializing_units(decl.symbol))
        if len(units) != 1:
            return decl
        variables = self._program.syntax_trees(units[0]).variables
        return next((variable for variable in variables if variable.symbol == decl.symbol), decl)

    # -- uses -----------------------------------------------------------------------------------

    def _other_units_using(self, decl: Decl) -> list[int]:
        if not decl.symbol:
            return []
        return [
            number for number in self._program.units_with_word(decl.name) if number != self._number
        ]

    def _unit_of_users(self, decl: Decl) -> LinkedUnit:
        """Returns the unit that looks up uses of `decl`. For a `static` declaration, it is the unit
        that contains the declaration.
        """
        home = None if decl.symbol else self._program.home(decl)
        return self if home is None else self._program.linked_unit(home)

    def calls_of(self, decl: Decl) -> list[tuple[Function, CallExpr]]:
        """Returns the direct calls of a function, with their callers."""
        view = self._unit_of_users(decl)
        if view is not self:
            return view.calls_of(decl)
        if decl not in self._calls:
            self._calls[decl] = list(self._find_calls(decl))
        return self._calls[decl]

    def calls_through(self, decl: Decl) -> list[tuple[Function, CallExpr]]:
        """Returns the calls of a function through struct members, with their callers."""
        view = self._unit_of_users(decl)
        if view is not self:
            return view.calls_through(decl)
        return self._program.calls_through(decl, self._number)

    def _find_calls(self, decl: Decl) -> Iterable[tuple[Function, CallExpr]]:
        meant = self.body_of(decl)
        for number in sorted((self._number, *self._other_units_using(decl))):
            view = self._program.linked_unit(number)
            for body in self._program.functions_with_word(number, decl.name):
                for called, calls in self._program.calls_in(body.function).items():
                    if called is decl or (
                        decl.symbol
                        and called.symbol == decl.symbol
                        and _is_same_function(view.body_of(called), meant)
                    ):
                        for call in calls:
                            yield body.function, call

    def writers_of(self, decl: Decl) -> list[Function]:
        """Returns the functions that may set the global variable `decl`."""
        view = self._unit_of_users(decl)
        if view is not self:
            return view.writers_of(decl)
        if decl not in self._writers:
            self._writers[decl] = self._find_writers(decl)
        return self._writers[decl]

    def _find_writers(self, decl: Decl) -> list[Function]:
        name = decl.name.encode()
        functions = [
            body.function for body in self._own.bodies
            if name in body.text
            and (written_at(body.text, decl.name) or self._program.sets(body.function, decl))
        ]  # fmt: skip
        for number in self._other_units_using(decl):
            functions += [
                body.function for body in self._program.syntax_trees(number).bodies
                if name in body.text and self._program.sets(body.function, decl)
            ]  # fmt: skip
        return functions

    def setters_of(self, field: Decl) -> list[Function]:
        """Returns the functions that may set a member with the name of `field`."""
        name = field.name
        if name not in self._setters:
            functions = self._functions_assigning(self._number, name)
            for number in self._program.units_with_word(name):
                if number != self._number:
                    own = {function.span for function in functions}
                    others = self._functions_assigning(number, name)
                    functions += [other for other in others if other.span not in own]
            self._setters[name] = functions
        return self._setters[name]

    def _functions_assigning(self, number: int, name: str) -> list[Function]:
        """Returns the functions of a unit whose text may assign something called `name`."""
        bodies = self._program.functions_with_word(number, name)
        return [body.function for body in bodies if written_at(body.text, name)]

    def arguments_passed_to(
        self, parameter: Decl, function: Function
    ) -> list[tuple[Function, CallExpr, Expression]]:
        """Returns the arguments that other functions pass for a parameter, with the calls. Empty if
        there are no calls, or if a call has too few arguments.
        """
        position = function.parameters.index(parameter)
        calls = [
            (caller, call) for caller, call in self.calls_of(function.decl)
            if caller.decl is not function.decl
        ]  # fmt: skip
        if any(position >= len(call.args) for _, call in calls):
            return []
        return [(caller, call, call.args[position]) for caller, call in calls]

    def is_set(self, decl: Decl, function: Function) -> bool:
        """Whether a function assigns a variable or takes its address."""
        return bool(self.changes_in(function).setting(decl))

    def assigned_values(
        self, decl: Decl, function: Function
    ) -> list[tuple[Expression, Function]] | None:
        """Returns the values that are assigned to a local variable of `function` or to a global
        variable, each with its function. None if the variable may have other values.
        """
        shared = decl.kind in ("global", "static")
        init = self.variable_of(decl).init if shared else None
        values = [] if init is None else [(init, function)]
        for setter in self.writers_of(decl) if shared else [function]:
            own = self.changes_in(setter).values_of(decl)
            if own is None:
                return None
            values += [(value, setter) for value, _ in own]
        return values


def _is_same_function(function: Function | None, other: Function | None) -> bool:
    """Whether two definitions are the same function. A function in a header is parsed again in
    each unit.
    """
    if function is None or other is None:
        return function is other
    return function is other or function.span == other.span
