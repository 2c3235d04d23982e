"""Follows a program from `main` on with the arguments that it will be given.

Statements are executed one after the other, with every value that is not known left unknown. Where
a condition is not known, both sides are followed, and what differs is unknown behind; a side that
ends the program is taken not to be entered. Behind a loop whose end is not known, or far, only that
is known what no round changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.program_arguments.evaluate import (
    Evaluator,
    function_at,
    truth,
    type_of,
)
from regionpredict.frontend.program_arguments.followed import Entry, Followed
from regionpredict.frontend.program_arguments.loop_rounds import (
    header_of,
    only_fills,
    own_counters,
    without_counters,
)
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
from regionpredict.frontend.program_arguments.signals import (
    LongLoopError,
    ProgramEnd,
    Signal,
    UnknownLoopError,
)
from regionpredict.frontend.program_arguments.written_places import (
    Taken,
    Written,
    WrittenByCalls,
    addresses_taken,
    forget_written,
)
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
    expressions_in,
    set_place,
)
from regionpredict.ir import Span

_MOST_STEPS = 500_000  # expressions: some seconds
_MOST_ROUNDS = 200  # of one loop
_MOST_LOOP_STEPS = 10_000  # expressions in the rounds of one loop: one with more stands for all
_MOST_SHORT_STEPS = 100_000  # as _MOST_LOOP_STEPS, of loops that have few rounds for sure
_FEW_ROUNDS = 32  # of all loops of a nest that are followed in a round that stands for all
_MOST_PASSES = 20  # over a loop until nothing changes any more
_MOST_DEPTH = 20
_MOST_FILLING_STEPS = 1_000  # as _MOST_LOOP_STEPS, of loops that only fill arrays


class _State(NamedTuple):
    """What decides how a program goes on; `met` are numbers that grow with what was met."""

    memory: Memory
    option_text: Value
    met: tuple[int, ...]


class Follower(Evaluator):
    """One run of a program."""

    def __init__(self, unit: LinkedUnit, argv: Sequence[str], *, assumed: bool = False) -> None:
        super().__init__(argv, assumed=assumed)
        self.unit = unit
        self.seen = Followed(read=self.read)
        self.written = WrittenByCalls(unit.body_of, unit.bodies, type_of)
        self.stack: list[Function] = []
        self.names: list[dict[str, Decl]] = []
        self.returned: list[list[tuple[Memory, Value]]] = []  # of each function, so far
        self.long_loops: set[Span] = set()  # those that were too long to be run
        self._deciding: dict[If, bool] = {}
        self._filling: dict[For | While, bool] = {}
        self._writes: dict[Stmt, Written] = {}
        self._targets: dict[Stmt, tuple[Expression, ...]] = {}
        self._locals: dict[Function, frozenset[Decl]] = {}
        self.inside_long = 0  # how many such loops stand around what is being followed
        self._changed: dict[int, set[Place]] = {}  # what a loop changes, while an outer one is run
        self.rounds_inside = 1  # of the short loops around it within such a one, together

    @cached_property
    def taken(self) -> Taken:
        """What pointers may point to."""
        found = addresses_taken(
            self.unit.bodies(), lambda decl: self.unit.body_of(decl) is not None
        )
        return found._replace(variables=frozenset(map(self._meet, found.variables)))

    def run(self, main: Function) -> Followed:
        """Follows the program from `main` on."""
        given: tuple[Value, ...] = (len(self.argv), Arguments())
        for parameter, value in zip(main.parameters, given, strict=False):
            self.memory.write(Place(parameter), value)
            self.kept.add(parameter)
        end = self._function(main)
        if end is not None and end.kind == "end" and end.span is not None:
            self._say(f"{end.span.file}:{end.span.line}: with these arguments the program ends")
            self.seen.ended = True
        self.read |= self.options.read
        self.seen.meant = self.meant
        return self.seen

    def remark(self, call: CallExpr, what: str) -> None:
        """Tells of something that cannot be followed."""
        self._say(f"{call.span.file}:{call.span.line}: {what}")

    def _say(self, text: str) -> None:
        self.seen.remarks[text] = None

    def _enter(self, span: Span) -> None:
        """Notes the values where a region or a loop begins; behind the first few times, those that
        are the same ever after."""
        if self.seen.has_entry(span, self.memory):
            return
        shared = {decl.name: decl for decl in self.globals.values()} | self._sole_objects()
        self.seen.add_entry(span, Entry(self.memory.copy(), shared | self.names[-1], shared))

    def _sole_objects(self) -> dict[str, Decl]:
        """The objects that go by one name in all functions, also those of the callers."""
        objects: dict[str, Decl] = {}
        if not self.unit.objects:
            return objects
        for own in self.names:
            for decl in own.values():
                name = self.unit.objects.get(decl.ctype.class_name)
                here = decl.ctype.kind == "struct" or isinstance(
                    self.memory.read(Place(decl)), Address
                )
                if name is not None and here:
                    objects[name] = decl
        return objects

    # -- functions --------------------------------------------------------------------------------

    def _function(self, function: Function) -> Signal | None:
        self.stack.append(function)
        self.names.append({parameter.name: parameter for parameter in function.parameters})
        self.returned.append([])
        for initialiser in function.initialisers:
            self.value(initialiser)
        signal = self._statement(function.body)
        self.names.pop()
        self.stack.pop()
        for memory, value in self.returned.pop():
            if signal is not None and signal.kind == "end":
                self.memory, signal = memory, Signal("return", value)
                continue
            self._merge(memory)
            given = UNKNOWN if signal is None else signal.value
            signal = Signal("return", value if value == given else UNKNOWN)
        if self.stack:
            self.memory.drop(self._locals_of(function))
        return signal

    def _locals_of(self, function: Function) -> frozenset[Decl]:
        """The variables that end with a function."""
        if function not in self._locals:
            inner = {decl for decl in declared_in(function.body) if decl.kind == "local"}
            self._locals[function] = frozenset({*function.parameters, *inner})
        return self._locals[function]

    def _may_return(self, signal: Signal | None, memory: Memory) -> bool:
        """Notes what is there where a function may return, and goes on on another way."""
        if signal is None or signal.kind != "return":
            return False
        self.returned[-1].append((memory.copy(), signal.value))
        return True

    def first_value(self, decl: Decl) -> Decl:
        """The declaration that gives a variable its first value."""
        return self.unit.variable_of(decl)

    def defines(self, call: CallExpr) -> bool:
        """Whether the program itself has the function that is called."""
        return call.decl is not None and self.unit.body_of(call.decl) is not None

    def called(self, call: CallExpr, arguments: list[Value]) -> Value:
        """A function of the program's own, or one that is not seen."""
        body = self.unit.body_of(call.decl) if call.decl is not None else None
        if call.free:
            self.seen.gaps |= body is not None
            return UNKNOWN
        if body is None or body in self.stack or len(self.stack) > _MOST_DEPTH:
            self._handed_on(call, arguments)
            self.seen.gaps |= body not in self.stack and (
                body is not None or call.decl is None or any(map(function_at, arguments))
            )
            if body is not None:
                self._forget(self.written.by_functions([body]))
                self.seen.cut |= body not in self.stack
            else:
                self._forget_pointed(arguments)
                if call.pointer is not None:
                    self._forget(self.written.through_pointer(call))
                    self.seen.cut = True
            for handed in filter(None, map(function_at, arguments)):
                self._may_be_called(handed)
            return UNKNOWN
        this = self._this_of(body)
        for parameter, value, argument in zip(body.parameters, arguments, call.args, strict=False):
            self.memory.forget(Place(parameter))
            if parameter.reference and isinstance(value, (int, float, Text, Struct)):
                self.memory.write(Place(parameter), self._without_place(value, parameter.ctype))
            else:
                self.store(Place(parameter), value, parameter.ctype, argument)
        signal = self._function(body)
        if this is not None:
            self.memory.write(Place(body.parameters[0]), this)
        if signal is not None and signal.kind == "end":
            raise ProgramEnd(signal)
        return UNKNOWN if signal is None else signal.value

    def _may_be_called(self, function: Decl) -> None:
        """A function that is not seen was handed one of the program's own."""
        body = self.unit.body_of(function)
        if body is None or body in self.stack or len(self.stack) > _MOST_DEPTH:
            return
        before = self.memory.copy()
        for parameter in body.parameters:
            self.memory.forget(Place(parameter))
        self._function(body)
        self.memory = before.common(self.memory)

    def _without_place(self, value: Value, ctype: CType) -> Value:
        """The address of a value that has none, which a reference is bound to."""
        place = Place(Decl("", "local", ctype.element or CType("unknown"), _NOWHERE))
        self.put(place, value)
        return Address(place)

    def _this_of(self, body: Function) -> Value | None:
        """The object whose method is running, where one of the same class is called."""
        if not body.parameters or body.parameters[0].name != "this":
            return None
        return self.memory.read(Place(body.parameters[0]))

    def _handed_on(self, call: CallExpr, arguments: Sequence[Value]) -> None:
        if any(isinstance(value, Arguments) for value in arguments):
            self.seen.handed_on = True
            self.remark(call, f"what {call.name}() takes from the arguments is not followed")

    def _forget_pointed(self, arguments: Sequence[Value]) -> None:
        """A function that is not seen may write to whatever its arguments point to."""
        for value in arguments:
            if isinstance(value, Address) and value.place.decl not in self.kept:
                self.memory.forget(array_at(value.place))

    # -- statements -------------------------------------------------------------------------------

    def _statement(self, statement: Stmt) -> Signal | None:
        if self.steps > _MOST_STEPS:
            self.memory.forget_all()
            self._say(f"{self.unit.path}: too long to be followed to its end")
            self.seen.gaps = self.seen.cut = True
            return Signal("end")
        try:
            return self._execute(statement)
        except ProgramEnd as end:
            return end.signal

    def _execute(self, statement: Stmt) -> Signal | None:
        if isinstance(statement, Compound):
            outer = self.names[-1]
            self.names[-1] = dict(outer)
            try:
                return self._sequence(statement.items)
            finally:
                self.names[-1] = outer
        if isinstance(statement, ExprStmt):
            self._ending_call(statement)
            self.value(statement.expr)
        elif isinstance(statement, DeclStmt):
            for decl in statement.decls:
                self._declare(decl)
        elif isinstance(statement, If):
            return self._if(statement)
        elif isinstance(statement, (For, While)):
            return self._loop(statement)
        elif isinstance(statement, Switch):
            return self._switch(statement)
        elif isinstance(statement, Return):
            given = statement.value
            value = UNKNOWN if given is None else self.returned_value(given)
            kind = "end" if len(self.stack) == 1 else "return"
            failed = kind == "end" and truth(value)
            return Signal(kind, value, statement.span if failed else None)
        elif isinstance(statement, Jump):
            return self._jump(statement)
        elif isinstance(statement, Directive):
            return self._directive(statement)
        elif isinstance(statement, RangeFor):
            self._repeat(statement.body)
        return None

    def _sequence(self, items: Sequence[Stmt]) -> Signal | None:
        for item in items:
            signal = self._statement(item)
            if signal is not None:
                return signal
        return None

    def _ending_call(self, statement: ExprStmt) -> None:
        call = statement.expr
        if isinstance(call, CallExpr) and call.name in _ENDING:
            status = self.value(call.args[0]) if call.args else UNKNOWN
            failed = call.name in _FAILING or truth(status)
            raise ProgramEnd(Signal("end", UNKNOWN, statement.span if failed else None))

    def _jump(self, statement: Jump) -> Signal | None:
        if statement.kind == "goto":
            self._say(f"{statement.span.file}:{statement.span.line}: a goto is not followed")
            self.seen.gaps = self.seen.cut = True
            self.memory.forget_all()
            return Signal("end")
        return Signal(statement.kind)

    def _declare(self, decl: Decl) -> None:
        self.names[-1][decl.name] = decl
        if decl.kind == "static":
            return
        self.memory.forget(Place(decl))
        if decl.init is not None:
            self.initialise(Place(decl), decl.ctype, decl.init)

    def _decides(self, statement: If) -> bool:
        """Whether it may call a function of the program, or begin a team."""
        if statement not in self._deciding:
            self._deciding[statement] = any(
                self.unit.body_of(decl) is not None for decl in calls_in(statement)
            ) or any(isinstance(inner, Directive) for inner in every_statement(statement))
        return self._deciding[statement]

    def _if(self, statement: If) -> Signal | None:
        if self._decides(statement):
            self._enter(statement.span)
        test = truth(self.value(statement.condition))
        self.seen.decided.setdefault(statement.span, set()).add(test)
        if test is not None:
            chosen = statement.then if test else statement.other
            return self._statement(chosen) if chosen is not None else None
        before = self.memory
        self.memory = before.copy()
        first = self._statement(statement.then)
        behind, self.memory = self.memory, before
        second = self._statement(statement.other) if statement.other is not None else None
        if first is not None and first.kind == "end":
            return second
        if second is not None and second.kind == "end":
            self.memory = behind
            return first
        if first != second and self._may_return(second, self.memory):
            self.memory = behind
            return first
        if first != second and self._may_return(first, behind):
            return second
        self._merge(behind)
        if first == second:
            return first
        raise UnknownLoopError({signal.kind for signal in (first, second) if signal is not None})

    def _merge(self, other: Memory) -> None:
        self.memory = self.memory.common(other)

    # -- loops ------------------------------------------------------------------------------------

    def _loop(self, loop: For | While) -> Signal | None:
        if isinstance(loop, For) and loop.init is not None:
            self._statement(loop.init)
        self._enter(loop.span)
        rounds = self._rounds_of(loop)
        short = rounds is not None and rounds * self.rounds_inside <= _FEW_ROUNDS
        filling = self._only_fills(loop)
        if ((self.inside_long or filling) and not short) or loop.span in self.long_loops:
            self._long_loop(loop)
            return None
        before = self.memory.copy()
        # At most half of what is left: what follows a long loop is followed, too.
        few = short and not self.inside_long
        most = _MOST_FILLING_STEPS if filling else _MOST_SHORT_STEPS if few else _MOST_LOOP_STEPS
        most = min(self.steps + most, (self.steps + _MOST_STEPS) // 2)
        around = self.rounds_inside
        if self.inside_long and rounds:
            self.rounds_inside *= max(rounds, 1)
        try:
            return self._rounds(loop, most)
        except UnknownLoopError:
            self.memory = before
            self._unknown_loop(loop)
        except LongLoopError:
            self.memory = before.common(self.memory)  # what its first rounds left as it was
            self.long_loops.add(loop.span)
            self._long_loop(loop)
        finally:
            self.rounds_inside = around
        return None

    def _long_loop(self, loop: For | While) -> None:
        around, self.rounds_inside = self.rounds_inside, 1
        self.inside_long += 1
        self._unknown_loop(loop)
        self.inside_long -= 1
        self.rounds_inside = around

    def _rounds(self, loop: For | While, most: int) -> Signal | None:
        if self._is_long(loop):
            raise LongLoopError
        first = isinstance(loop, While) and loop.behind
        counters = own_counters(loop)
        before: _State | None = None
        idle = False
        for _ in range(_MOST_ROUNDS + 1):  # the last one tells that there are no more
            if not first:
                test = True if loop.condition is None else truth(self.value(loop.condition))
                if test is None:
                    raise UnknownLoopError
                if not test:
                    return None
            first = False
            signal = None if idle else self._statement(loop.body)
            if signal is not None and signal.kind == "break":
                return None
            if signal is not None and signal.kind != "continue":
                return signal
            if counters and not idle:
                behind = self._state(counters)
                idle, before = behind is not None and behind == before, behind
            if isinstance(loop, For) and loop.increment is not None:
                self.value(loop.increment)
            if self.steps > most:
                break
        raise LongLoopError

    def _is_long(self, loop: For | While) -> bool:
        """Whether a loop has too many rounds for sure, where it begins."""
        rounds = self._rounds_of(loop)
        return rounds is not None and rounds > _MOST_ROUNDS

    def _rounds_of(self, loop: For | While) -> int | None:
        """How many rounds a loop has that nothing leaves early, where it begins; None where that is
        not known."""
        header = header_of(loop)
        if header is None:
            return None
        begin, end = self.value(header.counter), self.value(header.bound)
        if not isinstance(begin, int) or not isinstance(end, int):
            return None
        return -((begin - end) // header.step)

    def _state(self, counters: frozenset[Decl]) -> _State | None:
        """All that decides what a round of a loop does, but for its counters."""
        memory = without_counters(self.memory, counters)
        if memory is None:
            return None
        scan = self.options
        met = len(self.globals), len(self.long_loops), scan.index, scan.inside
        return _State(memory, self.option_text, met)

    def _unknown_loop(self, loop: For | While) -> None:
        """A loop of which nobody knows how often it runs: what no round changes stays known."""
        if self._only_fills(loop):
            self._forget_written(loop)
            self._once(loop.body)
            return
        increment = loop.increment if isinstance(loop, For) else None
        self._repeat(loop.body, (loop.condition, increment))

    def _repeat(self, body: Stmt, beside: Sequence[Expression | None] = ()) -> None:
        """Passes over a body until what is left is what no pass changes.

        An inner loop is come to again in each pass over the outer one: what it changed the first
        time is forgotten at once from then on, so that a nest does not take passes to the power of
        its depth.
        """
        outermost, changed = not self._changed, self._changed.setdefault(id(body), set())
        self.memory.forget_values(changed)
        for _ in range(_MOST_PASSES):
            before = self.memory.copy()
            try:
                self._may_return(self._statement(body), self.memory)
            except UnknownLoopError:
                self._forget_written(body)
            for expression in beside:
                self.value(expression)
            self.memory = before.common(self.memory)
            if self.memory == before:
                break
            changed |= before.beyond(self.memory)
        else:
            self._forget_written(body)
        if outermost:
            self._changed.clear()

    def _forget(self, written: Written) -> None:
        forget_written(self.memory, written._replace(
            variables=frozenset(map(self._meet, written.variables))
        ), self.taken)  # fmt: skip

    def _once(self, body: Stmt) -> None:
        """One round for all, where what they write was forgotten before."""
        before = self.memory.copy()
        try:
            self._may_return(self._statement(body), self.memory)
        except UnknownLoopError:
            self._forget_written(body)
        self.memory = before.common(self.memory)

    def _only_fills(self, loop: For | While) -> bool:
        """Whether a loop writes nothing but floating-point numbers, which hardly ever tell sizes,
        and variables of its own."""
        if loop not in self._filling:
            self._filling[loop] = only_fills(loop, self._written_in(loop))
        return self._filling[loop]

    def _forget_written(self, statement: Stmt) -> None:
        self._forget(self._written_in(statement))
        for place in self._written(statement):
            if place.decl not in self.kept:
                self.memory.forget(place)

    def _written_in(self, statement: Stmt) -> Written:
        """What a statement writes, with all that it calls: found once."""
        if statement not in self._writes:
            self._writes[statement] = self.written.by(expressions_in(statement))
        return self._writes[statement]

    def _written(self, statement: Stmt) -> list[Place]:
        if statement not in self._targets:
            targets = map(set_place, expressions_in(statement))
            self._targets[statement] = tuple(target for target in targets if target is not None)
        places = map(self.place, self._targets[statement])
        return [place for place in places if place is not None]

    # -- switch and directives --------------------------------------------------------------------

    def _switch(self, statement: Switch) -> Signal | None:
        value = self.value(statement.condition)
        items = statement.body.items if isinstance(statement.body, Compound) else (statement.body,)
        if not isinstance(value, (int, float)):
            self._any_case(items)
            return None
        labels = [[self._label(case) for case in case_labels(item)] for item in items]
        start = next((at for at, own in enumerate(labels) if value in own), None)
        if start is None:
            start = next((at for at, own in enumerate(labels) if None in own), None)
        if start is None:
            return None
        signal = self._cases_from(items[start:])
        return None if signal is not None and signal.kind == "break" else signal

    def _cases_from(self, items: Sequence[Stmt]) -> Signal | None:
        before = self.memory.copy()
        try:
            return self._sequence(items)
        except UnknownLoopError as error:
            if "continue" in error.kinds:
                raise
        self.memory = before
        for item in items:
            self._forget_written(item)
        return None

    def _any_case(self, items: Sequence[Stmt]) -> None:
        """Nobody knows at which label it begins: known is what all have behind."""
        before = self.memory
        behind = before.copy()
        for at, item in enumerate(items):
            if not case_labels(item):
                continue
            self.memory = before.copy()
            signal = self._cases_from(items[at:])
            if signal is not None and signal.kind == "continue":
                raise UnknownLoopError({"continue"})
            if self._may_return(signal, self.memory):
                continue
            if signal is None or signal.kind != "end":
                behind = behind.common(self.memory)
        self.memory = behind

    def _label(self, case: Expression | None) -> Value | None:
        return None if case is None else self.value(case)

    def _directive(self, statement: Directive) -> Signal | None:
        body = statement.body
        self.seen.parallel = True
        if statement.pragma.is_loop:
            self._enter(statement.span)
            if body is not None:
                self.inside_long += 1
                self._repeat(body)
                self.inside_long -= 1
            return None
        if statement.pragma.is_task:
            self._enter(statement.span)
        return self._statement(body) if body is not None else None


_NOWHERE = Span("", 0)


_FAILING = frozenset(("abort", "MPI_Abort", "err", "errx"))
_ENDING = _FAILING | {"exit", "_exit", "_Exit", "quick_exit"}
