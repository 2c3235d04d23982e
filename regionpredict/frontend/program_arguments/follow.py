"""Interprets a program from `main` with the given arguments.

Statements are executed in order, and unknown values stay unknown. For an unknown condition, both
branches are executed, and values that differ become unknown. A branch that ends the program is
assumed not to be taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.program_arguments.evaluate import function_at
from regionpredict.frontend.program_arguments.follow_loops import BREAK, LoopInterpreter
from regionpredict.frontend.program_arguments.followed import Entry, InterpretationResult
from regionpredict.frontend.program_arguments.input_files import InputFiles
from regionpredict.frontend.program_arguments.memory import (
    UNKNOWN,
    Address,
    Arguments,
    Memory,
    Place,
    Struct,
    Text,
    Value,
    array_at,
)
from regionpredict.frontend.program_arguments.operators import truth_value
from regionpredict.frontend.program_arguments.signals import (
    ProgramEnd,
    Signal,
    UnknownLoopError,
)
from regionpredict.frontend.program_arguments.written_places import (
    AddressesTaken,
    PossibleWrites,
    WrittenByCalls,
    addresses_taken,
    filled_by,
)
from regionpredict.frontend.requests import project_root
from regionpredict.frontend.syntax import (
    CallExpr,
    Compound,
    CType,
    Decl,
    DeclStmt,
    Directive,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    Jump,
    RangeFor,
    Return,
    Stmt,
    Switch,
    While,
    calls_in,
    case_labels,
    declared_in,
    every_statement,
    has_side_effects,
    is_by_member_pointer,
)
from regionpredict.ir import Span

_MOST_DEPTH = 20


def _run_folders(unit: LinkedUnit) -> tuple[Path, ...]:
    """Returns the folders in which the program may be started, the most likely one first.

    They are the working folder, the source folder of `main`, and its parents up to the root of the
    project.
    """
    own = Path(unit.path).resolve().parent
    top = project_root(own)
    return (Path(), own, *(folder for folder in own.parents if folder.is_relative_to(top)))


class ProgramInterpreter(LoopInterpreter):
    """Executes one run of a program."""

    def __init__(
        self, unit: LinkedUnit, argv: Sequence[str], *, assumed: bool, most_steps: int
    ) -> None:
        written = WrittenByCalls(unit.body_of, unit.bodies)
        super().__init__(argv, written, assumed=assumed, most_steps=most_steps)
        self.unit = unit
        self.files = InputFiles(_run_folders(unit))
        exact = len(argv) > 1  # a run without arguments has only default values
        self.seen = InterpretationResult(read=self.read, exact=exact, files=self.files)
        self.stack: list[Function] = []
        self.names: list[dict[str, Decl]] = []
        self.returned: list[
            list[tuple[Memory, Value]]
        ] = []  # possible returns of each active function
        self._deciding: dict[If, bool] = {}
        self._fills: dict[ExprStmt, PossibleWrites | None] = {}
        self._plain: dict[Decl, bool] = {}
        self._locals: dict[Function, frozenset[Decl]] = {}
        self._objects: dict[Decl, str | None] = {}  # the only object of a variable's class

    @cached_property
    def taken(self) -> AddressesTaken:
        """The memory locations whose address the program takes, so pointers may point to them."""
        found = addresses_taken(
            self.unit.bodies(), lambda decl: self.unit.body_of(decl) is not None
        )
        return found._replace(variables=frozenset(map(self._initialized_global, found.variables)))

    def run(self, main: Function) -> InterpretationResult:
        """Interprets the program from `main` and returns the recorded values."""
        given: tuple[Value, ...] = (len(self.argv), Arguments())
        for parameter, value in zip(main.parameters, given, strict=False):
            self.memory.write(Place(parameter), value)
            self.kept.add(parameter)
        end = self._interpret_function(main)
        if end is not None and end.kind == "end" and end.span is not None:
            self._add_remark(
                f"{end.span.file}:{end.span.line}: with these arguments the program ends"
            )
            self.seen.ended = True
        self.read |= self.options.read
        self.seen.meant = self.meant
        return self.seen

    def remark(self, call: CallExpr, what: str) -> None:
        """Reports code that cannot be executed."""
        self._add_remark(f"{call.span.file}:{call.span.line}: {what}")

    def _add_remark(self, text: str) -> None:
        self.seen.remarks[text] = None

    def _record_start(self, span: Span) -> None:
        """Records the values at the start of a region or a loop."""
        if self.seen.has_entry(span, self.memory):
            return
        shared = {decl.name: decl for decl in self.globals.values()} | self._sole_objects()
        frames = {
            function.name: dict(names)
            for function, names in zip(self.stack, self.names, strict=True)
        }
        entry = Entry(self.memory.copy(), shared | self.names[-1], shared, frames)
        self.seen.add_entry(span, entry, rest=self.inside_long > 0)

    def _sole_objects(self) -> dict[str, Decl]:
        """Returns the objects that have the same name in all functions, including objects of
        callers.
        """
        objects: dict[str, Decl] = {}
        for own in self.names if self.unit.objects else ():
            for decl in own.values():
                if decl not in self._objects:
                    self._objects[decl] = self.unit.objects.get(decl.ctype.class_name)
                name = self._objects[decl]
                if name is not None and (
                    decl.ctype.kind == "struct"
                    or isinstance(self.memory.read(Place(decl)), Address)
                ):
                    objects[name] = decl
        return objects

    # -- functions --------------------------------------------------------------------------------

    def _interpret_function(self, function: Function) -> Signal | None:
        self.stack.append(function)
        self.names.append({parameter.name: parameter for parameter in function.parameters})
        self.returned.append([])
        for initialiser in function.initialisers:
            self.value(initialiser)
        with self._unaffected():
            signal = self._interpret_statement(function.body)
        self.names.pop()
        self.stack.pop()
        for memory, value in self.returned.pop():
            if signal is not None and signal.kind == "end":
                self.memory, signal = memory, Signal("return", value)
                continue
            self._merge_all([memory])
            given = UNKNOWN if signal is None else signal.value
            signal = Signal("return", value if value == given else UNKNOWN)
        if self.stack:
            self.memory.drop(self._locals_of(function))
        return signal

    def _locals_of(self, function: Function) -> frozenset[Decl]:
        """Returns the variables whose lifetime ends with a function."""
        if function not in self._locals:
            inner = {decl for decl in declared_in(function.body) if decl.kind == "local"}
            self._locals[function] = frozenset({*function.parameters, *inner})
        return self._locals[function]

    def _may_return(self, signal: Signal | None, memory: Memory) -> bool:
        """Records the memory at a possible return, and continues on the path without the return."""
        if signal is None or signal.kind != "return":
            return False
        self.returned[-1].append((memory.copy(), signal.value))
        return True

    def first_value(self, decl: Decl) -> Decl:
        """Returns the declaration that gives a variable its first value."""
        return self.unit.variable_of(decl)

    def defines(self, call: CallExpr) -> bool:
        """Whether the program itself defines the called function."""
        return call.decl is not None and self.unit.body_of(call.decl) is not None

    def called(self, call: CallExpr, arguments: list[Value]) -> Value:
        """Interprets a call of a program function or of a function without a visible body."""
        body = self.unit.body_of(call.decl) if call.decl is not None else None
        if call.free:
            self.seen.gaps |= body is not None
            return UNKNOWN
        if body is None or not self._is_executed(body):
            self._record_unknown_use(call, arguments)
            self.seen.gaps |= body not in self.stack and (
                body is not None or call.decl is None or any(map(function_at, arguments))
            )
            if body is not None:
                self.forget_written(self.written.by_functions([body]))
                self.seen.cut |= body not in self.stack
            else:
                self._forget_pointed(call, arguments)
                if call.pointer is not None:
                    self.forget_written(self.written.through_pointer(call))
                    self.seen.cut = True
            for handed in filter(None, map(function_at, arguments)):
                self._interpret_callback(handed)
            return UNKNOWN
        this = self._this_before_call(body)
        for parameter, value, argument in zip(body.parameters, arguments, call.args, strict=False):
            self.memory.forget(Place(parameter))
            if parameter.reference and isinstance(value, (int, float, Text, Struct)):
                self.memory.write(Place(parameter), self._temporary_place(value, parameter.ctype))
            else:
                self.store(Place(parameter), value, parameter.ctype, argument)
        signal = self._interpret_function(body)
        if this is not None:
            self.memory.write(Place(body.parameters[0]), this)
        if signal is not None and signal.kind == "end":
            raise ProgramEnd(signal)
        return UNKNOWN if signal is None else signal.value

    def _is_executed(self, body: Function) -> bool:
        """Whether a function is interpreted at this call. Recursive and very deep calls are not."""
        return body not in self.stack and len(self.stack) <= _MOST_DEPTH

    def _interpret_callback(self, function: Decl) -> None:
        """Applies the effects of a program function that is passed to a function without a body.
        The passed function may be called or not.
        """
        body = self.unit.body_of(function)
        if body is None or not self._is_executed(body):
            return
        before = self.memory.copy()
        for parameter in body.parameters:
            self.memory.forget(Place(parameter))
        self._interpret_function(body)
        self.memory = before.common(self.memory)

    def _temporary_place(self, value: Value, ctype: CType) -> Value:
        """Returns the address of a temporary that a reference is bound to."""
        place = Place(Decl("", "local", ctype.element or CType("unknown"), _NOWHERE))
        self.put(place, value)
        return Address(place)

    def _this_before_call(self, body: Function) -> Value | None:
        """Returns the value of `this` before a call of a method. None for other functions."""
        if not body.parameters or body.parameters[0].name != "this":
            return None
        return self.memory.read(Place(body.parameters[0]))

    def _record_unknown_use(self, call: CallExpr, arguments: Sequence[Value]) -> None:
        if any(isinstance(value, Arguments) for value in arguments):
            self.seen.handed_on = True
            self.remark(call, f"what {call.name}() takes from the arguments is unknown")

    def _forget_pointed(self, call: CallExpr, arguments: Sequence[Value]) -> None:
        """Applies the writes of a function without a visible body, which may change all targets of
        its arguments. A pointer to a method is excluded, since the writes of methods are known.
        """
        for value in arguments[is_by_member_pointer(call) :]:
            if isinstance(value, Address) and value.place.decl not in self.kept:
                self.memory.forget(array_at(value.place))

    # -- statements -------------------------------------------------------------------------------

    def _interpret_statement(self, statement: Stmt) -> Signal | None:
        if self.steps > self.most_steps:
            self.memory.forget_all()
            self._add_remark(f"{self.unit.path}: too long to execute to its end")
            self.seen.gaps = self.seen.cut = True
            return Signal("end")
        try:
            return self._dispatch_statement(statement)
        except ProgramEnd as end:
            return end.signal

    def _dispatch_statement(self, statement: Stmt) -> Signal | None:
        if isinstance(statement, Compound):
            outer = self.names[-1]
            self.names[-1] = dict(outer)
            try:
                return self._interpret_sequence(statement.items)
            finally:
                self.names[-1] = outer
        if isinstance(statement, ExprStmt):
            filled = self._skipped_fill(statement) if self.inside_filling else None
            if filled is not None:
                self.forget_written(filled)
                return None
            self._check_ending_call(statement)
            self.value(statement.expr)
        elif isinstance(statement, DeclStmt):
            for decl in statement.decls:
                self._interpret_declaration(decl)
        elif isinstance(statement, If):
            return self._interpret_if(statement)
        elif isinstance(statement, (For, While)):
            return self._interpret_loop(statement)
        elif isinstance(statement, Switch):
            return self._interpret_switch(statement)
        elif isinstance(statement, Return):
            given = statement.value
            value = UNKNOWN if given is None else self.returned_value(given)
            kind = "end" if len(self.stack) == 1 else "return"
            failed = kind == "end" and truth_value(value)
            return Signal(kind, value, statement.span if failed else None)
        elif isinstance(statement, Jump):
            return self._interpret_jump(statement)
        elif isinstance(statement, Directive):
            return self._interpret_directive(statement)
        elif isinstance(statement, RangeFor):
            self._repeat(statement.body)
        return None

    def _interpret_sequence(self, items: Sequence[Stmt]) -> Signal | None:
        for item in items:
            signal = self._interpret_statement(item)
            if signal is not None:
                return signal
        return None

    def _skipped_fill(self, statement: ExprStmt) -> PossibleWrites | None:
        """Returns the writes of a statement that only assigns a floating-point number, otherwise
        None.

        Such a statement is skipped if one iteration represents a loop that fills arrays.
        """
        if statement not in self._fills:
            self._fills[statement] = filled_by(statement.expr)
        return self._fills[statement]

    def _check_ending_call(self, statement: ExprStmt) -> None:
        call = statement.expr
        if isinstance(call, CallExpr) and call.name in _ENDING:
            status = self.value(call.args[0]) if call.args else UNKNOWN
            failed = call.name in _FAILING or truth_value(status)
            raise ProgramEnd(Signal("end", UNKNOWN, statement.span if failed else None))

    def _interpret_jump(self, statement: Jump) -> Signal | None:
        if statement.kind == "goto":
            self._add_remark(
                f"{statement.span.file}:{statement.span.line}: a goto is not supported"
            )
            self.seen.gaps = self.seen.cut = True
            self.memory.forget_all()
            return Signal("end")
        return Signal(statement.kind)

    def _interpret_declaration(self, decl: Decl) -> None:
        self.names[-1][decl.name] = decl
        if decl.kind == "static":
            return
        self.memory.forget(Place(decl))
        if decl.init is not None and not (
            self.inside_filling and self._is_plain_number(decl, decl.init)
        ):
            self.initialise(Place(decl), decl.ctype, decl.init)

    def _is_plain_number(self, decl: Decl, init: Expression) -> bool:
        """Whether the variable is a floating-point number whose initializer has no side effects. In
        a loop that fills arrays, such a variable is unknown, like an assigned one.
        """
        if decl not in self._plain:
            self._plain[decl] = decl.ctype.kind == "float" and not has_side_effects(init)
        return self._plain[decl]

    def _has_call_or_directive(self, statement: If) -> bool:
        """Whether the statement may call a function of the program or start a parallel region."""
        if statement not in self._deciding:
            self._deciding[statement] = any(
                self.unit.body_of(decl) is not None for decl in calls_in(statement)
            ) or any(isinstance(inner, Directive) for inner in every_statement(statement))
        return self._deciding[statement]

    def _interpret_if(self, statement: If) -> Signal | None:
        if self._has_call_or_directive(statement):
            self._record_start(statement.span)
        condition = self.value(statement.condition)
        test = truth_value(condition)
        self.seen.decided.setdefault(statement.span, set()).add(test)
        if test is not None:
            chosen = statement.then if test else statement.other
            return self._interpret_statement(chosen) if chosen is not None else None
        before = self.memory
        self.memory = before.copy()
        first = self._interpret_statement(statement.then)
        then_memory, self.memory = self.memory, before
        second = self._interpret_statement(statement.other) if statement.other is not None else None
        if first is not None and first.kind == "end":
            return second
        if second is not None and second.kind == "end":
            self.memory = then_memory
            return first
        if first != second and self._may_leave(second, self.memory):
            self.memory = then_memory
            return first
        if first != second and self._may_leave(first, then_memory):
            return second
        self.memory = then_memory.choice(self.memory, condition)
        if first == second:
            return first
        raise UnknownLoopError

    def _may_leave(self, signal: Signal | None, memory: Memory) -> bool:
        return self._may_return(signal, memory) or self._may_jump(signal, memory)

    # -- switch and directives --------------------------------------------------------------------

    def _interpret_switch(self, statement: Switch) -> Signal | None:
        value = self.value(statement.condition)
        items = statement.body.items if isinstance(statement.body, Compound) else (statement.body,)
        if not isinstance(value, (int, float)):
            self._any_case(items)
            return None
        labels = [
            [None if case is None else self.value(case) for case in case_labels(item)]
            for item in items
        ]
        start = next((at for at, own in enumerate(labels) if value in own), None)
        if start is None:
            start = next((at for at, own in enumerate(labels) if None in own), None)
        if start is None:
            return None
        return self._cases_from(items[start:])

    def _cases_from(self, items: Sequence[Stmt]) -> Signal | None:
        """Interprets a `switch` from one of its labels."""
        signal, early = self._with_jumps(lambda: self._interpret_sequence(items), BREAK)
        if signal is not None and signal.kind == "break":
            signal = None
        if early and signal is not None:
            self._may_leave(signal, self.memory)
            self.memory, signal = early.pop(), None
        self._merge_all(early)
        return signal

    def _any_case(self, items: Sequence[Stmt]) -> None:
        """Interprets a `switch` whose label is unknown. Only values that are the same for all
        labels stay known.
        """
        before = self.memory
        any_label = [label for item in items for label in case_labels(item)]
        merged = None if None in any_label else before.copy()
        for at, item in enumerate(items):
            if not case_labels(item):
                continue
            self.memory = before.copy()
            signal = self._cases_from(items[at:])
            if self._may_leave(signal, self.memory):
                continue
            if signal is None or signal.kind != "end":
                merged = self.memory if merged is None else merged.common(self.memory)
        self.memory = before if merged is None else merged

    def _interpret_directive(self, statement: Directive) -> Signal | None:
        body = statement.body
        self.seen.parallel = True
        if statement.pragma.is_loop:
            self._record_start(statement.span)
            if body is not None:
                self.inside_long += 1
                self._repeat(body)
                self.inside_long -= 1
            return None
        if statement.pragma.is_task:
            self._record_start(statement.span)
        return self._interpret_statement(body) if body is not None else None


_NOWHERE = Span("", 0)


_FAILING = frozenset(("abort", "MPI_Abort", "err", "errx"))
_ENDING = _FAILING | {"exit", "_exit", "_Exit", "quick_exit"}
