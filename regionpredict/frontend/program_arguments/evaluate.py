"""Evaluates expressions of an interpreted program, as far as values are known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from regionpredict.frontend.program_arguments.environment import environment_value
from regionpredict.frontend.program_arguments.input_files import InputFiles
from regionpredict.frontend.program_arguments.input_streams import (
    INPUT_STREAM,
    open_stream,
    stream_value,
)
from regionpredict.frontend.program_arguments.library import LIBRARY, Caller, Handler
from regionpredict.frontend.program_arguments.memory import (
    UNKNOWN,
    Address,
    Arguments,
    Contents,
    Memory,
    Place,
    Struct,
    Text,
    Value,
    array_at,
    as_type,
    choice,
    in_names,
    short,
)
from regionpredict.frontend.program_arguments.operators import (
    add_distance,
    apply_binary,
    apply_unary,
    truth_value,
)
from regionpredict.frontend.program_arguments.options import OptionScan
from regionpredict.frontend.program_arguments.written_places import (
    AddressesTaken,
    PossibleWrites,
    forget_written,
    written_to,
)
from regionpredict.frontend.syntax import (
    INCREMENT_OPERATORS,
    Assign,
    Binary,
    CallExpr,
    Cast,
    CType,
    Decl,
    Expression,
    FloatLit,
    Index,
    IntLit,
    Member,
    Name,
    Opaque,
    Ternary,
    Unary,
    constructor_call,
    elements_listed,
    initial_values,
    member_named,
)
from regionpredict.frontend.syntax import UNKNOWN as OF_ANY_TYPE
from regionpredict.frontend.syntax.binary_operators import called_by_name
from regionpredict.frontend.syntax.integer_types import type_of
from regionpredict.ir import Span

_NOWHERE = Opaque("")
_NUMBERS = frozenset(("int", "float"))
_COMPARED_A_STEP = 100  # compared variables that count as one step
_MOST_ZEROS = 64  # maximum length of an array whose omitted elements are stored as zeros


class Evaluator(Caller, ABC):
    """Evaluates expressions over a memory, and applies their side effects to it."""

    library: Mapping[str, Handler] = LIBRARY

    def __init__(self, argv: Sequence[str], *, assumed: bool = False) -> None:
        self.argv = tuple(argv)
        self.assumed = assumed  # the environment is assumed to have no variables and files
        self.memory = Memory()
        self.files = InputFiles()
        self.options = OptionScan(self.argv)
        self.option_text: Value = UNKNOWN
        self.read: set[int] = set()  # the arguments that the program reads
        self.kept: set[Decl] = set()  # variables that functions without a body do not change
        self.globals: dict[str | Decl, Decl] = {}
        self._evaluated = 0  # number of evaluated expressions
        self.meant: dict[Span, set[str]] = {}  # targets of calls through pointers, "" if unknown
        self.retyped: set[Decl] = set()  # variables whose bytes are also accessed as another type
        self._rows: dict[Expression, bool] = {}
        # The variables that a repeated write leaves unchanged.
        self._untouched: dict[PossibleWrites, dict[Decl, Contents]] = {}

    @property
    def steps(self) -> int:
        """The work so far: the number of evaluated expressions. Comparisons of memories are
        converted to the same unit.
        """
        return self._evaluated + self.memory.copied.variables // _COMPARED_A_STEP

    @property
    @abstractmethod
    def taken(self) -> AddressesTaken:
        """The memory locations whose address the program takes, so that pointers may point to
        them.
        """

    @abstractmethod
    def first_value(self, decl: Decl) -> Decl:
        """Returns the declaration that gives a variable its first value."""

    @abstractmethod
    def called(self, call: CallExpr, arguments: list[Value]) -> Value:
        """Returns the result of a call of a function outside the C library."""

    @abstractmethod
    def defines(self, call: CallExpr) -> bool:
        """Whether the called function is part of the program."""

    def from_environment(self, call: CallExpr, arguments: Sequence[Value]) -> Value | None:
        """Returns the result of a function that queries the environment. None for other
        functions.
        """
        read = stream_value(self.files, self.memory, call, arguments, assumed=self.assumed)
        if read is not None:
            return read
        return environment_value(call, arguments, self.memory, assumed=self.assumed)

    def value(self, expression: Expression | None) -> Value:
        """Evaluates an expression and applies its side effects."""
        self._evaluated += 1
        handler = self._VALUES.get(type(expression))
        return UNKNOWN if handler is None else handler(self, expression)

    def _member_value(self, expression: Member) -> Value:
        place = self.place(expression)
        ctype = expression.field.ctype
        return UNKNOWN if place is None else as_type(self._value_in_memory(place, ctype), ctype)

    def _literal_value(self, expression: Opaque) -> Value:
        """Returns the value of a string literal."""
        return UNKNOWN if expression.string is None else Text(expression.string)

    def _cast_value(self, cast: Cast) -> Value:
        inner = cast.operand
        if isinstance(inner, Opaque) and inner.text == "new":
            return self._new_object(cast.ctype, inner.children)
        if cast.ctype.name == "std::basic_string" and isinstance(inner, CallExpr):
            copied = self.value(inner.args[1]) if inner.name == "memcpy" else UNKNOWN
            if isinstance(copied, Text):
                return copied
        if constructor_call(_NOWHERE, cast) is not None:
            made = Place(Decl("", "local", cast.ctype, Span("", 0)))
            self._construct(made, cast)
            return Struct(frozenset(self.memory.inside(made).items()))
        return as_type(self._as_pointer(self.value(inner), cast.ctype), cast.ctype)

    def _new_object(self, ctype: CType, elements: Sequence[Expression]) -> Value:
        """Creates the object of `new grid(n)` or `new int[n]`, and returns its address."""
        made = Place(Decl("(new)", "local", ctype.element or OF_ANY_TYPE, Span("", 0)))
        constructed = [self._construct(made, value) for value in elements]
        return Address(made if any(constructed) else made.at(0))

    def _construct(self, place: Place, value: Expression) -> bool:
        """Constructs an object of a class at a memory location.

        Returns False for any other value, which is then evaluated.
        """
        call = constructor_call(_NOWHERE, value)
        if call is None:
            self.value(value)
            return False
        self.memory.forget(place)
        self.called(call, [Address(place), *map(self.value, call.args[1:])])
        return True

    # -- memory locations -------------------------------------------------------------------------

    def place(self, expression: Expression | None) -> Place | None:
        """Returns the memory location of an lvalue. None if unknown."""
        if isinstance(expression, Name):
            return Place(self._initialized_global(expression.decl))
        if isinstance(expression, Cast):
            return self.place(expression.operand)
        if isinstance(expression, Index):
            index = self.value(expression.index)
            outer = self.place(expression.base) if self._is_row(expression.base) else None
            if outer is not None:
                return outer.at(index) if isinstance(index, int) else None
            moved = add_distance(self.value(expression.base), index)
            return moved.place if isinstance(moved, Address) else None
        if isinstance(expression, Unary) and expression.op == "*":
            base = self.value(expression.operand)
            return base.place if isinstance(base, Address) else None
        if isinstance(expression, Member) and expression.base is not None:
            if expression.arrow:
                base = self.value(expression.base)
                return base.place.at(expression.field.name) if isinstance(base, Address) else None
            outer = self.place(expression.base)
            return None if outer is None else outer.at(expression.field.name)
        return None

    def _initialized_global(self, decl: Decl) -> Decl:
        """Returns the declaration that represents a variable. A global variable gets its initial
        value at its first use.
        """
        if decl.kind not in ("global", "static"):
            return decl
        key = decl.symbol or decl
        if key in self.globals:
            return self.globals[key]
        self.globals[key] = decl
        here, self.memory = self.memory, Memory(first=self.memory.first, copied=self.memory.copied)
        init = self.first_value(decl).init
        if init is not None:
            self.initialise(Place(decl), decl.ctype, init)
        elif not decl.symbol and decl.ctype.kind in ("int", "float"):  # static
            self.memory.write(Place(decl), 0, decl.ctype)
        begins = self.memory.values.get(decl, {})
        self.memory = here
        self.memory.first[decl] = begins
        return decl

    def initialise(self, place: Place, ctype: CType, init: Expression) -> None:
        """Stores the value of an initializer at a memory location."""
        elements = initial_values(init)
        if constructor_call(_NOWHERE, init) is not None:
            self._construct(place, init)
        elif isinstance(init, Opaque) and init.text == INPUT_STREAM and init.children:
            name = self.value(init.children[0])
            open_stream(self.files, self.memory, place, name, assumed=self.assumed)
        elif elements is None:
            value = self.value(init)
            self.store(place, value, type_of(init) if ctype is OF_ANY_TYPE else ctype, init)
        elif ctype.kind == "array" and ctype.element is not None:
            listed = elements_listed(init)
            length = ctype.extent.value if isinstance(ctype.extent, IntLit) else _MOST_ZEROS + 1
            if listed is not None and length <= _MOST_ZEROS and ctype.element.kind in _NUMBERS:
                for number in range(length):
                    self.memory.write(place.at(number), 0, ctype.element)
            for number, child in (listed or {}).items():
                self.initialise(place.at(number), ctype.element, child)
        elif ctype.kind in ("struct", "unknown"):
            self._initialise_members(place, ctype, elements)

    def known_members(self, ctype: CType) -> Iterable[Decl]:
        """Returns the known numeric members of a struct."""
        return ()

    def _initialise_members(
        self, place: Place, ctype: CType, elements: Sequence[Expression]
    ) -> None:
        """Applies `{.nx = 3, .ny = 4}`. A value without a name is ignored, since its target is
        unknown. Members that are not in the list are zero.
        """
        for field in self.known_members(ctype):
            self.memory.write(place.at(field.name), 0, field.ctype)
        for given in map(member_named, elements):
            if given is not None:
                self.initialise(place.at(given[0]), OF_ANY_TYPE, given[1])

    def returned_value(self, expression: Expression) -> Value:
        """Evaluates the return value of a function. For a struct, it includes all members."""
        elements = initial_values(expression)
        if elements is not None:
            place: Place | None = self._temporary_struct(elements, type_of(expression))
        elif constructor_call(_NOWHERE, expression) is not None:
            return self.value(expression)
        elif type_of(expression).kind == "struct" and not isinstance(expression, CallExpr):
            place = self.place(expression)
        else:
            return self.value(expression)
        return UNKNOWN if place is None else Struct(frozenset(self.memory.inside(place).items()))

    def _temporary_struct(self, elements: Sequence[Expression], ctype: CType) -> Place:
        """Creates an unnamed struct from a list of values."""
        made = Place(Decl("", "local", ctype, Span("", 0)))
        self._initialise_members(made, ctype, elements)
        return made

    def store(self, place: Place, value: Value, ctype: CType, source: Expression) -> None:
        """Stores a value at a memory location. For a struct, all values inside are stored."""
        elements = initial_values(source) if ctype.kind == "struct" else None
        if elements is not None:  # they may use current values: `g = (grid){g.ny, g.nx};`
            made = self._temporary_struct(elements, ctype)
            self.memory.forget(place)
            self.memory.move(made, place, ctype)
            return
        self.memory.forget(place)
        if isinstance(value, Struct):
            self.put(place, value)
            return
        origin = self.place(source) if ctype.kind == "struct" else None
        if origin is not None:
            for steps, inner in self.memory.inside(origin).items():
                self.memory.write(Place(place.decl, (*place.steps, *steps)), inner)
            return
        self.memory.write(place, self._as_pointer(value, ctype), ctype)

    def put(self, place: Place, value: Value, ctype: CType | None = None) -> None:
        """Stores a number, an address, or the contents of a struct at a memory location whose
        contents are unknown.
        """
        inside = value.inside if isinstance(value, Struct) else (((), value),)
        for steps, inner in inside:
            self.memory.write(Place(place.decl, (*place.steps, *steps)), inner, ctype)

    def _value_in_memory(self, place: Place, ctype: CType) -> Value:
        value = self.read_at(place)
        if value is UNKNOWN and ctype.kind == "array":
            return Address(place.at(0))
        return value

    def read_at(self, place: Place) -> Value:
        """Returns the value at a memory location. Unknown if its bytes have several types."""
        return UNKNOWN if place.decl in self.retyped else self.memory.read(place)

    def _as_pointer(self, value: Value, ctype: CType) -> Value:
        """Converts an address to a pointer of another type. Unknown if the element sizes differ."""
        if not isinstance(value, Address) or ctype.element is None:
            return value
        pointee = value.place.decl.ctype
        for step in value.place.steps:
            pointee = pointee.element if isinstance(step, int) and pointee.element else OF_ANY_TYPE
        pointee = pointee.innermost
        if {pointee.kind, ctype.element.kind} <= _NUMBERS and (
            (pointee.kind, pointee.bits) != (ctype.element.kind, ctype.element.bits)
        ):
            self.retyped.add(value.place.decl)
            return UNKNOWN
        return value

    def _name_value(self, name: Name) -> Value:
        decl = name.decl
        own = self.memory.values.get(decl)
        if own and () in own and decl not in self.retyped:  # the most frequent case
            return own[()]
        if decl.kind == "global" and self.argv and decl.name in ("optarg", "optind"):
            return self.option_text if decl.name == "optarg" else self.options.index
        if decl.kind == "function":
            return Address(Place(decl))
        if decl.value is not None:
            return decl.value
        return self._value_in_memory(Place(self._initialized_global(decl)), decl.ctype)

    # -- operators --------------------------------------------------------------------------------

    def _assignment_value(self, assign: Assign) -> Value:
        value = self.value(assign.right)
        place, ctype = self.place(assign.left), type_of(assign.left)
        if assign.op != "=":
            before = UNKNOWN if place is None else self._value_in_memory(place, ctype)
            value = apply_binary(Binary(assign.op[:-1], assign.left, assign.right), before, value)
        if place is not None:
            self.store(place, value, ctype, assign.right)
        else:
            self._write_unknown_target(assign.left)
        return as_type(value, ctype)

    def _write_unknown_target(self, target: Expression) -> None:
        """Applies a write to an unknown element or an unknown object."""
        part = target
        while isinstance(part, Index):
            whole = self._array_of(part)
            if whole is not None:
                self.memory.forget(whole)
                return
            if not self._is_row(part.base):
                break  # a pointer with an unknown target
            part = part.base
        self.forget_written(written_to(target))

    def forget_written(self, written: PossibleWrites) -> None:
        """Discards all values that a write may have changed."""
        if written.variables:
            variables = frozenset(map(self._initialized_global, written.variables))
            written = written._replace(variables=variables)
        untouched = self._untouched.setdefault(written, {})
        forget_written(self.memory, written, self.taken, untouched)

    def _array_of(self, element: Index) -> Place | None:
        """Returns the array that contains an element. None if unknown."""
        base = self.value(element.base)
        if isinstance(base, Address):
            return array_at(base.place)
        return self.place(element.base) if type_of(element.base).kind == "array" else None

    def _unary_value(self, expression: Unary) -> Value:
        operand, op = expression.operand, expression.op
        if op == "&":
            if isinstance(operand, Index):
                base = self.value(operand.base)
                if isinstance(base, (Arguments, Text)):
                    return add_distance(base, self.value(operand.index))
            place = self.place(operand)
            return UNKNOWN if place is None else Address(place)
        if op in INCREMENT_OPERATORS:
            place = self.place(operand)
            value = UNKNOWN if place is None else self._value_in_memory(place, type_of(operand))
            changed = add_distance(value, 1 if op.endswith("++") else -1)
            if place is not None:
                self.store(place, changed, type_of(operand), operand)
            else:
                self._write_unknown_target(operand)
            return value if op.startswith("p") else changed
        value = self.value(operand)
        if op == "*":
            return value if function_at(value) is not None else self._element_value(value, 0)
        if op == "!" and (test := truth_value(value)) is not None:
            return int(not test)
        return apply_unary(expression, value)

    def _index_value(self, expression: Index) -> Value:
        if self._is_row(expression) or self._is_row(expression.base):
            place = self.place(expression)
            return UNKNOWN if place is None else self._value_in_memory(place, type_of(expression))
        return self._element_value(self.value(expression.base), self.value(expression.index))

    def _is_row(self, expression: Expression) -> bool:
        """Whether the expression is an element of an array of arrays."""
        if type(expression) is not Index:
            return False
        if expression not in self._rows:
            self._rows[expression] = type_of(expression).kind == "array"
        return self._rows[expression]

    def _element_value(self, base: Value, index: Value) -> Value:
        """Returns the element `base[index]`."""
        moved = add_distance(base, index)
        if isinstance(moved, Arguments):
            return self.argument(moved.first)
        if isinstance(moved, Text):
            self.record_read(moved)
            if not 0 <= moved.offset <= len(moved.text):
                return UNKNOWN
            return ord(moved.text[moved.offset]) if moved.offset < len(moved.text) else 0
        if isinstance(moved, Address):
            value = self.read_at(moved.place)
            inner = moved.place.at(0)
            nested = value is UNKNOWN and self.memory.inside(inner)
            return Address(inner) if nested else value
        return UNKNOWN

    def argument(self, number: int) -> Value:
        """Returns `argv[number]`: a string, or a null pointer after the last argument."""
        if 0 <= number < len(self.argv):
            at = self.options.order[number]
            return Text(self.argv[at], 0, at)
        return 0 if number == len(self.argv) else UNKNOWN

    def record_read(self, value: Value) -> None:
        """Records that the program reads a string."""
        if isinstance(value, Text) and value.argument is not None:
            self.read.add(value.argument)

    def _binary_value(self, expression: Binary) -> Value:
        op = expression.op
        left = self.value(expression.left)
        if op in ("&&", "||"):
            first = truth_value(left)
            if first is not None and first == (op == "||"):
                return int(first)
            before = self.memory.copy()
            right = self.value(expression.right)
            second = truth_value(right)
            if first is None:
                self.memory = before.common(self.memory)
            if second is not None and second == (op == "||"):
                return int(second)
            both = first is not None and second is not None
            return int(bool(second)) if both else apply_binary(expression, left, right)
        right = self.value(expression.right)
        if op == ",":
            return right
        if isinstance(left, Text) and isinstance(right, Text) and op in ("==", "!="):
            self.record_read(left)  # these are `std::string`, since pointers are rarely compared
            self.record_read(right)
            return int((left.rest == right.rest) == (op == "=="))
        return apply_binary(expression, left, right)

    def _ternary_value(self, expression: Ternary) -> Value:
        condition = self.value(expression.condition)
        test = truth_value(condition)
        if test is not None:
            return self.value(expression.then if test else expression.other)
        before = self.memory.copy()
        then = self.value(expression.then)
        then_memory, self.memory = self.memory, before
        other = self.value(expression.other)
        self.memory = then_memory.choice(self.memory, condition)
        return choice(condition, then, other, label="")

    def _call_value(self, call: CallExpr) -> Value:
        if call.decl is None and call.pointer is not None:
            meant = function_at(self.value(call.pointer))
            self.meant.setdefault(call.span, set()).add("" if meant is None else meant.name)
            if meant is not None:
                call = call._replace(name=meant.name, decl=meant)
        handler = self.library.get(call.name)
        if handler is not None and not self.defines(call):
            return handler(self, call)
        arguments = [self.value(argument) for argument in call.args]
        if not self.defines(call):
            from_system = self.from_environment(call, arguments)
            if from_system is not None:
                return from_system
            operands = [value for value in map(in_names, arguments) if value is not None]
            made = called_by_name(call.name, operands)
            if made is not None and len(operands) == len(arguments):
                return short(made)
        return self.called(call, arguments)

    # A table by expression type is faster than a chain of tests.
    _VALUES: ClassVar[dict[type, Callable[[Evaluator, Any], Value]]] = {
        IntLit: lambda _, literal: literal.value,
        FloatLit: lambda _, literal: literal.value,
        Name: _name_value,
        Cast: _cast_value,
        Assign: _assignment_value,
        Unary: _unary_value,
        Binary: _binary_value,
        Ternary: _ternary_value,
        Index: _index_value,
        Member: _member_value,
        CallExpr: _call_value,
        Opaque: _literal_value,
    }


def function_at(value: Value) -> Decl | None:
    """Returns the function at an address. None for any other value."""
    if not isinstance(value, Address) or value.place.steps:
        return None
    return value.place.decl if value.place.decl.kind == "function" else None
