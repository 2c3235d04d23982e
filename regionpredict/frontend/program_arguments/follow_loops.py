"""Interprets the loops of a program, either iteration by iteration or with one representative
iteration.

If the number of iterations is unknown or too large, only values that the loop does not change are
known after the loop.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from regionpredict.frontend.program_arguments.evaluate import Evaluator
from regionpredict.frontend.program_arguments.followed import InterpretationResult
from regionpredict.frontend.program_arguments.input_files import READERS
from regionpredict.frontend.program_arguments.loop_rounds import (
    Header,
    header_of,
    only_fills,
    own_counters,
    variables_updated_in,
    without_counters,
)
from regionpredict.frontend.program_arguments.memory import Memory, Place, Value
from regionpredict.frontend.program_arguments.operators import truth_value
from regionpredict.frontend.program_arguments.signals import (
    Jumps,
    LongLoopError,
    Signal,
    UnknownLoopError,
)
from regionpredict.frontend.program_arguments.written_places import (
    PossibleWrites,
    WrittenByCalls,
    is_float_element,
)
from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    Expression,
    For,
    Stmt,
    While,
    expressions_in,
    inner_statements,
    own_parts,
    set_place,
    without_casts,
)
from regionpredict.ir import Span

_MOST_STEPS = 500_000  # maximum number of evaluated expressions, which takes a few seconds
_MOST_TOGETHER = 2_000_000  # the limit for all programs of a run together
_LEAST_STEPS = 50_000  # the limit per program is at least this
_MOST_ROUNDS = 200  # maximum iterations of one loop
_MOST_LOOP_STEPS = 10_000  # maximum expressions in one loop; above, one iteration represents all
_MOST_SHORT_STEPS = 100_000  # like _MOST_LOOP_STEPS, for loops with few iterations
_FEW_ROUNDS = 32  # iterations of all short loops of a nest in a representative iteration
_MOST_PASSES = 20  # maximum passes over a loop until nothing changes
_MOST_FILLING_STEPS = 1_000  # like _MOST_LOOP_STEPS, for loops that only fill arrays


BREAK = frozenset(("break",))
_CONTINUE = frozenset(("continue",))


class _State(NamedTuple):
    """The state that determines how a loop continues. `met` counts the events so far."""

    memory: Memory
    option_text: Value
    met: tuple[int, ...]


class _Running(NamedTuple):
    """A loop that is interpreted iteration by iteration. It began at the step `begin` and may take
    until the step `most`. It has at least `rounds` iterations. 0 if unknown.
    """

    loop: For | While
    begin: int
    most: int
    rounds: int


class _Changes(NamedTuple):
    """The changes of a statement, and of the functions that it calls.

    `grown` are the variables that are updated from their old value. `targets` are the targets of
    assignments. It excludes numbers in arrays and addresses that are passed to functions. Their
    effect follows from their types (`written`).
    """

    written: PossibleWrites
    grown: frozenset[Decl]
    targets: tuple[Expression, ...]


def steps_of_each(programs: int) -> int:
    """Returns the maximum number of steps for each of several programs.

    >>> steps_of_each(1), steps_of_each(10), steps_of_each(100)
    (500000, 200000, 50000)
    """
    return min(_MOST_STEPS, max(_LEAST_STEPS, _MOST_TOGETHER // programs))


class LoopInterpreter(Evaluator):
    """Interprets loops. A subclass interprets the other statements."""

    seen: InterpretationResult

    def __init__(
        self, argv: Sequence[str], written: WrittenByCalls, *, assumed: bool, most_steps: int
    ) -> None:
        super().__init__(argv, assumed=assumed)
        self.written = written
        self.most_steps = most_steps
        self.long_loops: set[Span] = set()  # loops with too many steps
        self._headers: dict[For | While, Header | None] = {}
        self._filling: dict[For | While, bool] = {}
        self._reading: dict[For | While, bool] = {}
        self._changes: dict[Stmt, _Changes] = {}
        self.jumps: list[Jumps] = []  # one entry per enclosing loop and switch
        self.inside_filling = 0  # enclosing array-filling loops with a representative iteration
        self.inside_long = 0  # enclosing long loops of the current statement
        # The memory locations that a loop changes. Kept until the outermost loop ends.
        self._changed: dict[int, set[Place]] = {}
        self.rounds_inside = 1  # total iterations of the enclosing short loops in a long one
        self._running: list[_Running] = []  # enclosing loops in the same function

    @abstractmethod
    def _interpret_statement(self, statement: Stmt) -> Signal | None:
        """Interprets a statement. Returns the jump that ends it, such as `break`."""

    @abstractmethod
    def _record_start(self, span: Span) -> None:
        """Records the values at the start of a region or a loop."""

    @abstractmethod
    def _may_return(self, signal: Signal | None, memory: Memory) -> bool:
        """Records the memory at a possible return, and continues on the path without the return."""

    def _interpret_loop(self, loop: For | While) -> Signal | None:
        if isinstance(loop, For) and loop.init is not None:
            self._interpret_statement(loop.init)
        self._record_start(loop.span)
        rounds = self._trip_count(loop)
        short = rounds is not None and rounds * self.rounds_inside <= _FEW_ROUNDS
        filling = self._only_fills(loop)
        long = (filling or self.inside_long) and not (short and not (filling and self.inside_long))
        if long or loop.span in self.long_loops:
            self._long_loop(loop)
            return None
        before = self.memory.copy()
        recorded = self.seen.entries_so_far()
        # At most half of the remaining steps, so that code after a long loop is interpreted, too.
        few = (short or self._reads_input(loop)) and not self.inside_long
        most = _MOST_FILLING_STEPS if filling else _MOST_SHORT_STEPS if few else _MOST_LOOP_STEPS
        most = min(self.steps + most, (self.steps + self.most_steps) // 2)
        around = self.rounds_inside
        if self.inside_long and rounds:
            self.rounds_inside *= max(rounds, 1)
        try:
            return self._interpret_iterations(loop, most, rounds)
        except UnknownLoopError:
            self.memory = before
            self.seen.forget_entries_after(recorded)  # the representative iteration replaces them
            self._unknown_loop(loop)
        except LongLoopError as long_loop:
            if long_loop.loop is not loop:
                raise
            self.memory = before.common(
                self.memory
            )  # values that the first iterations left unchanged
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

    def _interpret_iterations(
        self, loop: For | While, most: int, rounds: int | None
    ) -> Signal | None:
        """Interprets a loop iteration by iteration, up to a total number of steps.

        `rounds` is the number of iterations according to the loop's header.
        """
        if rounds is not None and rounds > _MOST_ROUNDS:
            raise LongLoopError(loop)
        counters = own_counters(loop)
        # A second iteration may show that the others are idle.
        least = min(rounds or 0, 2) if counters else rounds or 0
        self._running.append(_Running(loop, self.steps, most, least))
        try:
            return self._interpret_up_to(loop, most, rounds, counters)
        finally:
            self._running.pop()

    def _interpret_up_to(
        self, loop: For | While, most: int, rounds: int | None, counters: frozenset[Decl]
    ) -> Signal | None:
        begin = self.steps
        first = isinstance(loop, While) and loop.behind
        before: _State | None = None
        idle = False
        for done in range(_MOST_ROUNDS + 1):  # the last pass evaluates the condition only
            if not first:
                test = True if loop.condition is None else truth_value(self.value(loop.condition))
                if test is None:
                    raise UnknownLoopError
                if not test:
                    return None
            first = False
            signal = None if idle else self._interpret_iteration(loop.body)
            if signal is not None and signal.kind == "break":
                return None
            if signal is not None and signal.kind != "continue":
                return signal
            if counters and not idle:
                after = self._iteration_state(counters)
                idle, before = after is not None and after == before, after
            if isinstance(loop, For) and loop.increment is not None:
                self.value(loop.increment)
            if self.steps > most:
                break
            if (
                rounds and not idle and (done or not counters)
            ):  # a second iteration may show that it is idle
                each = (self.steps - begin) / (done + 1)
                if begin + rounds * each > most:
                    break
                if done:
                    self._leave_long_nest(rounds * each)
        raise LongLoopError(loop)

    def _leave_long_nest(self, steps: float) -> None:
        """Ends the outermost enclosing loop that takes too long if the current loop takes this
        number of steps in each of its iterations.
        """
        too_long = None
        for outer in reversed(self._running[:-1]):
            steps *= max(1, outer.rounds)
            if outer.rounds and outer.begin + steps > outer.most:
                too_long = outer.loop
        if too_long is not None:
            raise LongLoopError(too_long)

    @contextmanager
    def _unaffected(self) -> Iterator[None]:
        """Interprets code whose steps do not end the enclosing loops."""
        around, self._running = self._running, []
        try:
            yield
        finally:
            self._running = around

    def _interpret_iteration(self, body: Stmt) -> Signal | None:
        """Interprets a loop's body once. Returns the jump that ends it."""
        signal, early = self._with_jumps(lambda: self._interpret_statement(body), _CONTINUE)
        if early and signal is not None and signal.kind != "continue":
            raise UnknownLoopError
        self._merge_all(early)
        return signal

    def _interpret_any_iteration(self, body: Stmt) -> None:
        """Interprets the body of a loop with an unknown number of iterations."""
        with self._unaffected():
            signal, early = self._with_jumps(
                lambda: self._interpret_statement(body), _CONTINUE | BREAK
            )
        self._may_return(signal, self.memory)
        self._merge_all(early)

    def _with_jumps(
        self, run: Callable[[], Signal | None], kinds: frozenset[str]
    ) -> tuple[Signal | None, list[Memory]]:
        """Interprets the body of a loop or `switch`. Returns the jump that ends it, and the
        memories at early exits that may happen.
        """
        self.jumps.append(Jumps(kinds, []))
        try:
            signal = run()
        finally:
            early = self.jumps.pop().memories
        return signal, early

    def _merge_all(self, others: Sequence[Memory]) -> None:
        for other in others:
            self.memory = self.memory.common(other)

    def _may_jump(self, signal: Signal | None, memory: Memory) -> bool:
        """Records the values at a `continue` or `break` that may happen, and continues on the path
        without the jump.
        """
        if signal is None:
            return False
        for jumps in reversed(self.jumps):
            if signal.kind in jumps.kinds:
                jumps.memories.append(memory.copy())
                return True
            if (
                jumps.kinds != BREAK
            ):  # a loop, since a `continue` in a `switch` belongs to the enclosing loop
                break
        return False

    def _trip_count(self, loop: For | While) -> int | None:
        """Returns the iteration count of a loop without early exits, at its start, or None."""
        if loop not in self._headers:
            self._headers[loop] = header_of(loop)
        header = self._headers[loop]
        if header is None:
            return None
        begin, end = self.value(header.counter), self.value(header.bound)
        if not isinstance(begin, int) or not isinstance(end, int):
            return None
        return -((begin - end) // header.step)

    def _iteration_state(self, counters: frozenset[Decl]) -> _State | None:
        """Returns everything that determines the effect of an iteration, except the loop's
        counters.
        """
        memory = without_counters(self.memory, counters)
        if memory is None:
            return None
        scan = self.options
        met = len(self.globals), len(self.long_loops), scan.index, scan.inside
        return _State(memory, self.option_text, met)

    def _unknown_loop(self, loop: For | While) -> None:
        """Interprets a loop with an unknown number of iterations.

        Values that no iteration changes stay known.
        """
        if self._only_fills(loop):
            self._forget_written(loop)
            self.inside_filling += 1
            try:
                self._representative_iteration(loop.body)
            finally:
                self.inside_filling -= 1
            return
        increment = loop.increment if isinstance(loop, For) else None
        self._repeat(loop.body, (loop.condition, increment))

    def _repeat(self, body: Stmt, header_expressions: Sequence[Expression | None] = ()) -> None:
        """Interprets a body repeatedly until only values remain that it does not change.

        An inner loop runs again in each iteration of the outer loop. Values that it changed in its
        first execution are then unknown, so that the cost is not exponential in the nesting depth.
        """
        outermost, changed = not self._changed, self._changed.setdefault(id(body), set())
        self.memory.forget_values(changed)
        recorded = self.seen.entries_so_far()
        for _ in range(_MOST_PASSES):
            before = self.memory.copy()
            self.seen.forget_entries_after(
                recorded
            )  # recorded in passes with too many known values
            self._interpret_any_iteration(body)
            for expression in header_expressions:
                self.value(expression)
            self.memory = before.common(self.memory)
            if self.memory == before:
                break
            changed |= before.known_only_here(self.memory)
        else:
            self.seen.forget_entries_after(recorded)
            self._forget_written(body)
            self._representative_iteration(body)
        if outermost:
            self._changed.clear()

    def _representative_iteration(self, body: Stmt) -> None:
        """Interprets one iteration that represents all. Everything that an iteration writes is
        unknown at its start.
        """
        before = self.memory.copy()
        self._interpret_any_iteration(body)
        self.memory = before.common(self.memory)

    def _only_fills(self, loop: For | While) -> bool:
        """Whether a loop writes only its own variables and floating-point numbers, which are rarely
        sizes.
        """
        if loop not in self._filling:
            changes = self._changes_in(loop)
            self._filling[loop] = only_fills(loop, changes.written, changes.grown)
        return self._filling[loop]

    def _reads_input(self, loop: For | While) -> bool:
        """Whether a loop reads a file with known text, and therefore ends at the end of the
        file.
        """
        if not self.files.read:
            return False
        if loop not in self._reading:
            self._reading[loop] = any(
                isinstance(expression, CallExpr) and expression.name in READERS
                for expression in expressions_in(loop)
            )
        return self._reading[loop]

    def _forget_written(self, statement: Stmt) -> None:
        changes = self._changes_in(statement)
        self.forget_written(changes.written)
        for place in map(self.place, changes.targets):
            if place is not None and place.decl not in self.kept:
                self.memory.forget(place)

    def _changes_in(self, statement: Stmt) -> _Changes:
        """Returns the changes of a statement and of the functions that it calls. Results are
        cached.
        """
        if statement not in self._changes:
            parts = list(own_parts(statement))
            passed = {
                id(without_casts(argument)) for call in parts
                if isinstance(call, CallExpr) and self.defines(call) for argument in call.args
            }  # fmt: skip
            targets = [
                target for expression in parts if id(expression) not in passed
                and (target := set_place(expression)) is not None
                and not is_float_element(target)
            ]  # fmt: skip
            changes = _Changes(self.written.by(parts), variables_updated_in(parts), tuple(targets))
            for inner in map(self._changes_in, inner_statements(statement)):
                changes = _Changes(
                    changes.written.union(inner.written),
                    changes.grown | inner.grown, changes.targets + inner.targets,
                )  # fmt: skip
            self._changes[statement] = changes
        return self._changes[statement]
