"""Computes the values that variables have at directives of a function, for any caller.

    int n = 1;
    while (n < 1000) n *= 2;         executed: n is 1024
    if (wide) n = 2 * m;             joined: n is (wide ? 2*m : 1024)
    #pragma omp parallel for

The interpreter starts at the function instead of `main`. Parameters, members of their structs and
global variables are symbols for their initial values. Results of functions without a body are
unknown. A known value is valid at every execution of its directive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.program_arguments.environment import exact_result
from regionpredict.frontend.program_arguments.follow import ProgramInterpreter
from regionpredict.frontend.program_arguments.library import LIBRARY, WRITING, Handler
from regionpredict.frontend.program_arguments.memory import (
    UNKNOWN,
    Address,
    Memory,
    Place,
    Steps,
    Value,
    as_type,
    in_names,
)
from regionpredict.frontend.program_arguments.signals import Signal, UnknownLoopError
from regionpredict.frontend.program_arguments.written_places import (
    AddressesTaken,
    PossibleWrites,
    WrittenByCalls,
)
from regionpredict.frontend.syntax import (
    CallExpr,
    Compound,
    CType,
    Decl,
    Directive,
    Expression,
    For,
    Function,
    If,
    Index,
    Jump,
    Member,
    Name,
    Stmt,
    Switch,
    Unary,
    Unread,
    While,
    all_expressions,
    case_labels,
    expressions_in,
    inner_statements,
    is_by_member_pointer,
    set_place,
    variable_of,
)
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.ir import Expr, Span

_MOST_STEPS = 20_000  # evaluated expressions per function, including its calls
_ONE_THREAD = frozenset(("single", "master", "masked"))
_NUMBERS = frozenset(("int", "float"))
_IN_FILE = ("global", "static")
_SAVED = frozenset(("setjmp", "_setjmp", "sigsetjmp"))


Symbol = Name | Member | CallExpr
"""The expression whose initial value, at the start of the function, a name represents."""


class NotInterpretedError(Exception):
    """Raised for a function that cannot be executed to its end."""


class FunctionValues:
    """The values of variables at the directives of one function."""

    def __init__(self, function: Function, follower: _FunctionInterpreter) -> None:
        self._memories = follower.memories
        self._unsure = follower.unsure
        self._globals = follower.globals
        self._symbols = follower.symbols

    def value(
        self, site: Directive, use: Name | Member
    ) -> tuple[Expr, Mapping[str, Symbol]] | None:
        """Returns the value of a variable or member at a directive, and the meaning of its names.

        None if the value is unknown, or has not changed since the start of the function.
        """
        value = self._value_at(site, use)
        if value is None or self._has_changed_names(site, value):
            return None
        return value, {name: self._symbols[name].use for name in value.names & self._symbols.keys()}

    def uses_old_values(self, site: Directive, use: Name) -> bool:
        """Whether the value depends on a name that has changed since, as in `m = n; n = 5;`.
        Members are ignored if only a store to an unknown location may have changed them.
        """
        value = self._value_at(site, use)
        if value is None:
            return False
        memory = self._memories[site]
        places = [self._symbols[name].place for name in value.names & self._symbols.keys()]
        kept = [place for place in places if place.steps and memory.read(place) is UNKNOWN]
        return len(kept) < len(places) and self._has_changed_names(site, value)

    def _value_at(self, site: Directive, use: Name | Member) -> Expr | None:
        memory = self._memories.get(site)
        place = None if memory is None else self._location_of(use, memory)
        if memory is None or place is None or self._unsure.has(place):
            return None
        ctype = use.decl.ctype if isinstance(use, Name) else use.field.ctype
        value = in_names(as_type(memory.read(place), ctype))
        own = None if value is None else self._symbols.get(str(value))
        return None if own is not None and own.place == place else value

    def _has_changed_names(self, site: Directive, value: Expr) -> bool:
        """Whether a name in the value has another value at the region."""
        memory = self._memories[site]
        return any(
            name in self._symbols and memory.read(self._symbols[name].place) != Expr.name(name)
            for name in value.names
        )

    def _location_of(self, use: Expression, memory: Memory) -> Place | None:
        """Returns the memory location of a variable, or of a member of a known object."""
        if isinstance(use, Name):
            return Place(self._globals.get(use.decl.symbol or use.decl, use.decl))
        if not isinstance(use, Member) or use.base is None:
            return None
        outer = self._location_of(use.base, memory)
        if outer is not None and use.arrow:
            target = memory.read(outer)
            outer = target.place if isinstance(target, Address) else None
        return None if outer is None else outer.at(use.field.name)


def values_in(unit: LinkedUnit, function: Function) -> FunctionValues | None:
    """Returns the values at the directives of a function. Results are cached.

    None if the function cannot be interpreted: it has `goto`, unreadable code or too much work.
    """
    if function not in unit.values:
        follower = _FunctionInterpreter(unit)
        try:
            follower.follow(function)
            unit.values[function] = FunctionValues(function, follower)
        except (NotInterpretedError, UnknownLoopError):
            unit.values[function] = None
    known: FunctionValues | None = unit.values[function]
    return known


class _UncertainLocations(NamedTuple):
    """Memory locations whose value may differ from the last value stored. They are volatile
    variables, variables that are accessed as another type or set by a closure, and union members.
    """

    variables: set[Decl]
    members: set[str]

    def has(self, place: Place) -> bool:
        """Whether a memory location is uncertain, or part of an uncertain location."""
        return place.decl in self.variables or not self.members.isdisjoint(
            step for step in place.steps if isinstance(step, str)
        )


class _Symbol(NamedTuple):
    """The symbol for the initial value of a memory location, and its expression in the source."""

    place: Place
    use: Symbol


class _FunctionInterpreter(ProgramInterpreter):
    """Interprets one function from its start, including the functions that it calls."""

    library: Mapping[str, Handler] = {
        name: handler for name, handler in LIBRARY.items() if name not in WRITING
    }

    def __init__(self, unit: LinkedUnit) -> None:
        super().__init__(unit, (), assumed=False, most_steps=_MOST_STEPS)
        self.written = WrittenByCalls(unit.body_of, tuple)
        self.unsure = _UncertainLocations(self.retyped, set())
        self.memories: dict[Directive, Memory] = {}
        self.symbols: dict[str, _Symbol] = {}
        self._places: defaultdict[str, dict[Place, int]] = defaultdict(
            dict
        )  # locations with equal names
        self._counters: dict[int, list[Decl]] = {}  # loop counters, by the loop's body
        self._scanned: set[Function] = set()
        self._escaped: set[Decl] = set()  # variables that a pointer may point to
        self._reached: set[str] = set()  # members that a pointer may point to
        self._constant: set[Decl] = set()
        self._pointees: set[Decl] = set()  # target structs of the function's parameters
        self._fields: dict[tuple[str, str, int], Decl] = {}
        if unit.path not in unit.values:
            closures = [body.body for body in unit.bodies() if body.closure]
            unit.values[unit.path] = [decl for body in closures for decl in _variables_set_in(body)]
        self.unsure.variables.update(unit.values[unit.path])

    def follow(self, function: Function) -> None:
        """Records in `memories` the known values at each reached directive."""
        for parameter in function.parameters:
            pointee = parameter.ctype.element
            if parameter.ctype.kind == "int":
                use = Name(parameter, parameter.span)
                self._create_symbol(Place(parameter), parameter.name, use)
            elif parameter.ctype.kind == "pointer" and pointee and pointee.kind == "struct":
                pointee_struct = Decl(f"*{parameter.name}", "local", pointee, parameter.span)
                self._pointees.add(pointee_struct)
                self._escaped.add(pointee_struct)
                self.memory.write(Place(parameter), Address(Place(pointee_struct, (0,))))
        self._scanned.add(function)
        self._scan(function)
        for parameter in function.parameters:
            self._create_member_symbols(parameter)
        self._interpret_function(function)

    def _create_member_symbols(self, parameter: Decl) -> None:
        """Creates symbols for the integers in the struct that a parameter points to."""
        target = self.memory.read(Place(parameter))
        pointee = parameter.ctype.element
        if pointee is None or not isinstance(target, Address):
            return
        for field in self.known_members(pointee):
            if field.ctype.kind == "int":
                use = Member(Name(parameter, parameter.span), field, True, parameter.span)
                self._create_symbol(
                    target.place.at(field.name), f"{parameter.name}->{field.name}", use
                )

    def _create_symbol(self, place: Place, name: str, use: Symbol) -> None:
        """Creates the symbol for the initial value of a memory location."""
        self.memory.write(place, self._new_symbol(place, name, use))

    def _new_symbol(self, place: Place, name: str, use: Symbol) -> Expr:
        places = self._places[name]
        name += "'" * places.setdefault(place, len(places))
        self.symbols[name] = _Symbol(place, use)
        return Expr.name(name)

    @property
    def taken(self) -> AddressesTaken:
        """The memory locations whose address an interpreted function takes, so that pointers may
        point to them.
        """
        return AddressesTaken(frozenset(self._escaped), frozenset(self._reached))

    def read_at(self, place: Place) -> Value:
        """Returns the value at a memory location, or unknown if the location is uncertain."""
        return UNKNOWN if self.unsure.has(place) else super().read_at(place)

    def from_environment(self, call: CallExpr, arguments: Sequence[Value]) -> Value | None:
        """Returns the result of a mathematical function. The environment is unknown."""
        return exact_result(call.name, arguments)

    def called(self, call: CallExpr, arguments: list[Value]) -> Value:
        """Calls a function.

        A function that is not interpreted may write to the target of any pointer.
        """
        body = self.unit.body_of(call.decl) if call.decl is not None else None
        if call.name in _SAVED:
            raise NotInterpretedError
        if not call.free and (body is None or not self._is_executed(body)):
            self._forget_pointed(call, arguments)
            if is_by_member_pointer(call):
                self.forget_written(self.written.through_pointer(call))
            else:
                self._forget_escaped()
            if body is not None:
                self.forget_written(self.written.by_functions([body]))
            return UNKNOWN
        return super().called(call, arguments)

    def store(self, place: Place, value: Value, ctype: CType, source: Expression) -> None:
        """Stores a value and discards other values, since two parameters may alias."""
        if self._pointees and (place.decl in self._pointees or place.decl.kind in _IN_FILE):
            last = place.steps[-1] if place.steps else None
            of_member = isinstance(last, str) and ctype.kind != "struct"
            self.forget_written(
                PossibleWrites(members=frozenset((str(last),))) if of_member
                else PossibleWrites(kinds=frozenset(("any",)))
            )  # fmt: skip
        super().store(place, value, ctype, source)

    def _forget_escaped(self) -> None:
        """Discards all values that invisible code may change."""
        for decl, _ in self.memory.known():
            own = decl.kind in ("local", "parameter") and decl.name.isidentifier()
            if decl not in self._constant and (not own or decl in self._escaped):
                self.memory.keep_if(decl, partial(self._is_initial_value, decl))

    def _is_initial_value(self, decl: Decl, at: Steps, value: Value) -> bool:
        """Whether a value is the symbol for the initial value of its memory location."""
        own = self.symbols.get(str(value)) if isinstance(value, Expr) else None
        return own is not None and own.place == Place(decl, at)

    def _record_start(self, span: Span) -> None:
        """Does nothing, since only values at directives are needed."""

    def _interpret_function(self, function: Function) -> Signal | None:
        if function not in self._scanned:
            self._scanned.add(function)
            self._scan(function)
        return super()._interpret_function(function)

    def _scan(self, function: Function) -> None:
        """Records the addresses that a function takes, and the members that share bytes with other
        members.
        """
        whole: dict[Decl, int] = {}
        for expression in all_expressions(function):
            if isinstance(expression, Unary) and expression.op == "&":
                root = variable_of(expression.operand)
                if root is not None:
                    self._escaped.add(root)
                if isinstance(expression.operand, Member):
                    self._reached.add(expression.operand.field.name)
            elif isinstance(expression, Name):
                if expression.decl.is_volatile:
                    self.unsure.variables.add(expression.decl)
                if expression.decl.ctype.kind == "array":
                    whole[expression.decl] = whole.get(expression.decl, 0) + 1
            elif isinstance(expression, Index) and isinstance(expression.base, Name):
                array = expression.base.decl
                whole[array] = whole.get(array, 0) - 1
            elif isinstance(expression, Member):
                self._note_field(expression)
            inner = isinstance(expression, (Index, Member)) and type_of(expression).kind == "array"
            root = variable_of(expression) if inner else None
            if root is not None:  # a row, or an array in a struct
                self._escaped.add(root)
        self._escaped.update(array for array, uses in whole.items() if uses > 0)
        self._untouched.clear()

    def _note_field(self, use: Member) -> None:
        owner = type_of(use.base).class_name if use.base is not None else ""
        field = use.field
        if self._pointees:
            self._reached.add(field.name)
        if field.is_volatile:
            self.unsure.members.add(field.name)
        place = (owner, field.span.file, field.offset)
        other = self._fields.setdefault(place, field).name
        if other != field.name:
            self.unsure.members.update((other, field.name))

    def known_members(self, ctype: CType) -> Iterable[Decl]:
        """Yields the numeric members of a struct that occur in the interpreted functions."""
        for (owner, _, _), field in self._fields.items():
            if owner == ctype.class_name and field.ctype.kind in _NUMBERS and field.init is None:
                yield field

    def _initialized_global(self, decl: Decl) -> Decl:
        """Returns the declaration of a variable and gives a global variable its initial value.
        Global variables that the program never sets are constants.
        """
        if decl.kind not in _IN_FILE:
            return decl
        earlier = super()._initialized_global(decl)
        if earlier is decl and decl not in self._constant and decl in self.memory.first:
            number = decl.ctype.kind in ("int", "float") and not decl.is_volatile
            if number and (decl.is_const or not self.unit.writers_of(decl)):
                self._constant.add(decl)
            else:
                self.memory.first[decl] = {}
                if decl.ctype.kind == "int" and not decl.is_volatile:
                    name = self._new_symbol(Place(decl), decl.name, Name(decl, decl.span))
                    self.memory.first[decl] = {(): name}
        return earlier

    def _interpret_statement(self, statement: Stmt) -> Signal | None:
        if self.steps > self.most_steps or isinstance(statement, Unread):
            raise NotInterpretedError
        return super()._interpret_statement(statement)

    def _interpret_if(self, statement: If) -> Signal | None:
        """Interprets an `if`. The code after it is interpreted even if the program certainly
        ends.
        """
        signal = super()._interpret_if(statement)
        ended = signal is not None and signal.kind == "end" and len(self.stack) == 1
        return None if ended else signal

    def _unknown_loop(self, loop: For | While) -> None:
        """Interprets a loop with an unknown trip count. Its counters get symbols in its body."""
        if len(self.stack) == 1 and isinstance(loop, For) and loop.increment is not None:
            moved = set(self.unit.effects.of(loop.increment))
            moved -= self.unit.effects.written_in(loop.body) | self._escaped
            self._counters[id(loop.body)] = [decl for decl in moved if decl.kind == "local"]
        super()._unknown_loop(loop)

    def _interpret_any_iteration(self, body: Stmt) -> None:
        counters = self._counters.get(id(body), ())
        names = set[str]()
        for decl in counters:
            place = Place(decl)
            name = self._new_symbol(place, decl.name, Name(decl, decl.span))
            self.memory.write(place, name)
            names |= name.names
        super()._interpret_any_iteration(body)
        for decl, _ in self.memory.known() if counters else ():
            self.memory.keep_if(
                decl, lambda _, value: not isinstance(value, Expr) or names.isdisjoint(value.names)
            )

    def _interpret_switch(self, statement: Switch) -> Signal | None:
        body = statement.body
        items = body.items if isinstance(body, Compound) else (body,)
        if sum(len(case_labels(item)) for item in items) != _labels_in(body):
            raise NotInterpretedError  # a label inside another statement
        return super()._interpret_switch(statement)

    def _interpret_jump(self, statement: Jump) -> Signal | None:
        if statement.kind == "goto":
            raise NotInterpretedError
        return super()._interpret_jump(statement)

    def _interpret_directive(self, statement: Directive) -> Signal | None:
        if len(self.stack) == 1:
            earlier = self.memories.get(statement)
            now = self.memory.copy()
            self.memories[statement] = now if earlier is None else earlier.common(now)
        pragma, body = statement.pragma, statement.body
        words = pragma.kind.split()
        if body is None:
            return None
        if words[0] not in _ONE_THREAD:  # several threads run it, in any order
            self._forget_written(body)
            self._forget_escaped()
        signal = super()._interpret_directive(statement)
        if pragma.own_names or pragma.is_task or "target" in words:
            self._forget_written(body)
        return signal


def _labels_in(statement: Stmt) -> int:
    """Returns the number of labels of a `switch`, without the labels of inner ones."""
    own = len(statement.cases) if isinstance(statement, Compound) else 0
    return own + sum(_labels_in(inner) for inner in inner_statements(statement)
                     if not isinstance(inner, Switch))  # fmt: skip


def _variables_set_in(statement: Stmt) -> Iterator[Decl]:
    """Yields the variables that a statement sets or whose address it takes."""
    for expression in expressions_in(statement):
        root = variable_of(set_place(expression))
        if root is not None:
            yield root
