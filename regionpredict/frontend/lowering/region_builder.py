"""Lowers the syntax tree of one worksharing loop to a `Region`.

Before, as C, and after, as the IR dump shows it:

    #pragma omp parallel for              region f.c:3 parallel for in scale
    for (int i = 0; i < n; i++)             for i from 0 while < n step 1
        a[i] *= s;                            a[i] *= s        fp_mul 1; read a[i]; write a[i]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.call_trees import CallTrees
from regionpredict.frontend.lowering.clause_names import (
    collapsed_loops,
    private_variables,
    reduction_variables,
)
from regionpredict.frontend.lowering.early_leaves import ends_loop, with_exits_as_branches
from regionpredict.frontend.lowering.followed_calls import CallInliner, InliningResult
from regionpredict.frontend.lowering.frame import Frame, Pointer
from regionpredict.frontend.lowering.library_calls import initial_fill
from regionpredict.frontend.lowering.loop_exits import (
    has_second_condition,
    last_goto_back,
    may_end_early,
    runs_once,
)
from regionpredict.frontend.lowering.loop_headers import (
    Header,
    has_constant_step,
    outer_loop,
    read_header,
    trips_of,
    unsigned_bits,
    with_type_arithmetic,
)
from regionpredict.frontend.lowering.loop_recurrences import (
    LoopWithoutInit,
    TrialEvaluator,
    repeated_by_goto,
    solve_recurrence,
    written_by,
)
from regionpredict.frontend.lowering.operand_paths import Paths
from regionpredict.frontend.lowering.operations import Tally
from regionpredict.frontend.lowering.parallel_constructs import ParallelSite, parallel_construct
from regionpredict.frontend.lowering.program_ends import ends_program
from regionpredict.frontend.lowering.shared_names import shared_names
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.variable_values import VariableValues, in_declaration_order
from regionpredict.frontend.syntax import (
    CallExpr,
    Compound,
    Decl,
    DeclStmt,
    Directive,
    Expression,
    ExprStmt,
    For,
    Function,
    If,
    Name,
    Pragma,
    RangeFor,
    Return,
    Stmt,
    Switch,
    Unary,
    Unread,
    While,
    declared_in,
    every_expression,
    every_statement,
    expressions_in,
    first_span,
    leaves_loop,
    show,
)
from regionpredict.ir import Branch, Diagnostic, Expr, Loop, Node, Region, Span, Synchronisation
from regionpredict.ir.expr import ZERO

_NO_EARLY_EXIT = "not left before"
_CRITICAL_NAME = re.compile(r"\bcritical *\( *(\w+)")
MOST_NESTED_BRANCHES = 200
"""Maximum nesting of branches. Each `else if` and each early `continue` adds a level."""
_WITHOUT_SYNCHRONISATION = frozenset(
    ("simd", "parallel", "unroll", "tile", "for", "taskgroup", "target", "teams")
)


class SiteReachedError(Exception):
    """Raised when lowering reaches the requested loop or call. `frame` has the values there."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame


class RegionBuilder:
    """Lowers one worksharing loop to a `Region`.

    `trial` gives the variable values for a trial run. A trial run skips loops, and stops at the
    loop or call `site`.
    """

    def __init__(
        self, unit: LinkedUnit, function: Function, pragma: Pragma, span: Span, trees: CallTrees,
        trial: Context | None = None, site: For | CallExpr | None = None,
    ) -> None:  # fmt: skip
        self.unit = unit
        self.function = function
        self.pragma = pragma
        self.span = span
        self.context = trial or Context(unit)
        self.only_values = trial is not None
        self.site = site
        self.diagnostics: dict[tuple[str, str], Diagnostic] = {}
        self.statements = 0
        self.effects = unit.effects
        self.values = VariableValues(self.context, self.effects)
        self.calls = CallInliner(unit, self.context, function, self, trees, is_task=pragma.is_task)
        self._in_switch = False
        self._branches = 0  # number of enclosing branches
        self.simd: Pragma | None = pragma if "simd" in pragma.kind.split() else None

    # -- entry point ----------------------------------------------------------------------------

    def build(
        self, loop: For | RangeFor | None, context: str, enclosing: tuple[For, ...],
        team: ParallelSite | None = None, *, preceding: Stmt | None = None,
        initial_values: Mapping[Decl, Expr] = MappingProxyType({}),
    ) -> Region:  # fmt: skip
        """Returns the region of `loop`. If `loop` is None, the region only contains a diagnostic.

        `preceding` are the statements before the loop that each thread executes. `initial_values`
        are the values of variables before these statements.
        """
        frame = Frame({})
        outer = tuple(outer_loop(around, self.context, frame) for around in enclosing)
        if preceding is not None and isinstance(loop, For):
            frame.env.update(initial_values)
            for decl in in_declaration_order(
                declared_in(loop)
            ):  # variables of the loop keep their plain names
                self.context.name_of(decl)
            frame = self.values_before(loop, preceding, frame) or frame
        parallel = parallel_construct(team, self.context, frame) if team is not None else None
        nest: Loop | None = None
        if loop is None:
            self.report(
                "RP101", self.span, "no loop could be read under this directive: region skipped"
            )
        else:
            self.calls.loop = loop
            self.context.private.update(declared_in(loop))
            self.context.private_names.update(private_variables(self.pragma))
            node = (
                self._lower_for(loop, frame)
                if isinstance(loop, For)
                else self._lower_range_for(loop, frame)
            )
            nest = next((n for n in reversed(node) if isinstance(n, Loop)), None)
            if nest is not None and nest.exits and isinstance(loop, For):
                # A worksharing loop has no `break` (OpenMP 5.2, sec. 4.4.1).
                nest = replace(nest, exits=has_second_condition(loop))
            self._report_syntax_errors(loop)
            if nest is not None and nest.trips is None:
                self.report("RP102", nest.span, "the number of iterations is unknown")
        return Region(
            id=f"{self.span.file}:{self.span.line}",
            span=self.span,
            function=self.function.shown or self.function.name,
            directive=self.pragma.kind,
            clauses=self.pragma.clauses,
            context=context,
            collapse=self._collapse_depth(),
            nest=nest,
            arrays=tuple(self.context.arrays[name] for name in sorted(self.context.arrays)),
            enclosing=outer,
            diagnostics=tuple(self.diagnostics.values()),
            parallel=parallel,
            instance=self.function.name if self.function.shown else "",
            shared=shared_names(
                self.context, self.pragma, self.span, team, self.unit.threadprivate
            ),
            reassociates=self.unit.reassociates,
        )

    def _report_syntax_errors(self, loop: For | RangeFor) -> None:
        last = loop.last_line if isinstance(loop, For) else loop.span.line
        inside = [
            e for e in self.unit.errors
            if e.file == loop.span.file and loop.span.line <= e.line <= last
        ]  # fmt: skip
        if inside:
            self.report(
                "RP111",
                inside[0],
                "syntax error inside this region; statements may be missing",
            )

    def _collapse_depth(self) -> int:
        number = collapsed_loops(self.pragma, self.context, self.span)
        if number is None:
            self.report("RP102", self.span, "the number of collapsed loops is unknown")
        return number or 1

    def report(self, rule: str, span: Span, message: str) -> None:
        """Adds a diagnostic to this region, unless the region already has it."""
        self.diagnostics.setdefault((rule, message), Diagnostic(rule, span, message))

    # -- trial runs, which only update variable values --------------------------------------------

    def _trial_builder(self, site: For | CallExpr | None = None) -> RegionBuilder:
        """Returns a builder for trial runs, which only updates variable values and skips loops."""
        trees = self.calls.trees
        trial = RegionBuilder(
            self.unit, self.function, self.pragma, self.span, trees, self.context, site
        )
        trial.calls.continue_from(self.calls)
        return trial

    def values_before(self, site: For | CallExpr, begin: Stmt, frame: Frame) -> Frame | None:
        """Returns the variable values at a loop or call inside the statement `begin`. Returns None
        if execution does not reach it.
        """
        try:
            self._trial_builder(site).lower(begin, frame)
        except SiteReachedError as met:
            self.context.private.update(declared_in(begin))
            return met.frame
        return None

    def _skip_loop(self, loop: For | While | RangeFor, frame: Frame) -> list[Node]:
        """Makes all variables unknown that a loop may change, inside the loop and after it."""
        if isinstance(loop, For):
            self.lower(loop.init, frame)
        self.values.forget_changed(loop, self.effects.written_in(loop), frame)
        if self.site is not None and _is_in_loop(loop, self.site):
            for decl in _header_variables(loop):  # a loop counter is represented by its name
                frame.env.pop(decl, None)
            self.lower(loop.body, frame)
        return []

    # -- loops ----------------------------------------------------------------------------------

    def _lower_for(self, loop: For, frame: Frame) -> list[Node]:
        before = self._apply_initializer(loop, frame)
        header = read_header(loop, self.context, frame)
        if header is not None:
            steady = has_constant_step(loop, header, self.effects) and not self.values.may_store(
                loop
            )
            header = with_type_arithmetic(loop, header, self.context, frame) if steady else None
        if header is None:
            return [*before, *self._lower_without_constant_step(loop, frame)]
        if may_end_early(loop):
            carried = self._lower_recurrence(loop, "for", frame)
            if carried is not None:
                return [*before, carried]
        name = self._loop_name(header.decl, frame)
        self.values.forget_stored(loop, frame)
        written = set(self.effects.written_in(loop.body))
        if loop.increment is not None:  # an increment such as `i++, k++` changes other variables
            written |= self.effects.of(loop.increment).keys() - {header.decl}
        simd, self.simd = self.simd, None
        trips = trips_of(header)
        outside = dict(frame.env)
        self.context.open_loops.append(name)
        frame.env[header.decl] = self._loop_value(header, name)
        self._enter_iteration(loop, written, header, name, outside, frame)
        body = self.lower(loop.body, frame)
        self.context.open_loops.pop()
        self.values.forget_stored(loop, frame)
        self.values.set_after_loop(loop, written, trips, outside, frame)
        self.values.set_counter_after_loop(loop, header, trips, frame)
        node = Loop(
            name, header.start, header.bound, header.comparison, header.step, tuple(body),
            loop.span, exits=may_end_early(loop),
            unordered=reduction_variables(simd), unsigned_bits=unsigned_bits(header),
        )  # fmt: skip
        return [*before, node]

    def _lower_without_constant_step(self, loop: For, frame: Frame) -> list[Node]:
        """Lowers a loop without a constant step. A known number of iterations is unrolled.

        An example is the loop over the stages of a Fourier transform, `for (s = 256; s > 1; s /=
        2)`, whose inner loops have different bounds in each stage.
        """
        iterations = self.values.known_iterations(loop, frame)
        if iterations is None:
            return [
                self._lower_recurrence(loop, "for", frame)
                or self._lower_uncounted(loop, "for", frame)
            ]
        nodes: list[Node] = []
        for _ in range(iterations):
            nodes += self.lower(loop.body, frame)
            if loop.increment is not None:
                self.values.apply_writes(loop.increment, frame)
        return nodes

    def _loop_name(self, decl: Decl, frame: Frame) -> str:
        base = self.context.name_of(decl, frame.depth)
        name = base
        while name in self.context.open_loops:
            name += "'"
        return name

    @staticmethod
    def _loop_value(header: Header, name: str) -> Expr | Pointer:
        if header.pointer is not None:
            return header.pointer.plus(Expr.name(name))
        return Expr.name(name)

    def _apply_initializer(self, loop: For, frame: Frame) -> list[Node]:
        """Applies all assignments of a loop's initializer, such as `s = 0` in `for (s = 0, i = 0;
        ...)`.
        """
        if isinstance(loop.init, ExprStmt):
            self.values.apply_writes(loop.init.expr, frame)
        elif isinstance(loop.init, DeclStmt):
            for decl in loop.init.decls:
                self.values.set_variable(decl, decl.init, frame)
        return []

    def _enter_iteration(
        self, loop: For, written: Collection[Decl], header: Header, name: str,
        outside: dict[Decl, Expr | Pointer], frame: Frame,
    ) -> None:  # fmt: skip
        """Sets the values of the body's variables at the start of an iteration.

        A variable with a constant increment per iteration (`k++`) is a linear function of the
        iteration number. Any other variable that the body assigns is unknown until its assignment.
        """
        step = header.step.constant if header.step is not None else None
        for decl in in_declaration_order(written):
            if decl is header.decl:
                continue
            advance = (
                self.values.increment_per_iteration(loop, decl, frame)
                if step and header.start is not None
                else None
            )
            start = outside.get(decl)
            if start is None and advance is not None and decl.ctype.kind in ("int", "pointer"):
                start = self.values.initial_value(decl, frame)
            if advance is not None and start is not None and step and header.start is not None:
                passed = (Expr.name(name) - header.start) * Expr.const(1).over(abs(int(step)))
                moved = passed * advance if step > 0 else -passed * advance
                frame.env[decl] = start + moved if isinstance(start, Expr) else start.plus(moved)
            else:
                self.values.forget(decl, frame)

    def _lower_recurrence(
        self, loop: For | While, kind: str, frame: Frame, condition_span: Span | None = None
    ) -> Node | None:
        """Lowers a loop whose number of iterations follows from a recurrence of its variables.
        Returns None if the recurrence is unknown.

        `condition_span` is the position of the condition if it differs from that of the loop.
        """
        if loop.condition is None or not self.context.open_loops:
            return None
        increment = loop.increment if isinstance(loop, For) else None
        condition_last = isinstance(loop, While) and loop.behind
        name = f"{kind}@{loop.span.line}"
        while name in self.context.open_loops:
            name += "'"
        repeated = LoopWithoutInit(loop.condition, loop.body, increment, condition_last)
        trial = self._trial_builder()

        def evaluate(expression: Expression, at: Frame) -> Expr:
            value = self.context.value(expression, at)
            trial._lower_expression(expression, loop.span, at, "condition")
            return value

        steps = TrialEvaluator(trial.lower, evaluate)
        carried = solve_recurrence(repeated, name, self.unit, self.context, frame, steps)
        if carried is None:
            return None
        outside = dict(frame.env)
        self.values.forget_stored(loop, frame)
        self.context.open_loops.append(name)
        self._set_values_after(carried.inside, Expr.name(name), repeated, outside, frame)
        body: list[Node] = []
        if kind == "for":
            self.values.apply_writes(loop.condition, frame)
        elif not condition_last:
            body += self._lower_expression(loop.condition, loop.span, frame, "condition")
        body += self.lower(loop.body, frame)
        if condition_last:
            body += self._lower_expression(
                loop.condition, condition_span or loop.span, frame, "condition"
            )
        self.context.open_loops.pop()
        self.values.forget_stored(loop, frame)
        self._set_values_after(carried.after, carried.trips, repeated, outside, frame)
        return Loop(name, ZERO, carried.trips, "<", Expr.const(1), tuple(body), loop.span)

    def _set_values_after(
        self, known_values: Mapping[Decl, Expr], number: Expr, loop: LoopWithoutInit,
        outside: dict[Decl, Expr | Pointer], frame: Frame,
    ) -> None:  # fmt: skip
        """Sets the loop's variables to their values after `number` iterations. `known_values`
        contains the known values.
        """
        for decl in in_declaration_order({*written_by(loop, self.effects), *known_values}):
            start = outside.get(decl)
            advance = self.values.increment_in_iteration(loop.body, loop.increment, decl, frame)
            if decl in known_values:
                frame.env[decl] = known_values[decl]
            elif isinstance(start, Pointer) and advance is not None:
                frame.env[decl] = start.plus(number * advance)
            else:
                self.values.forget(decl, frame)

    def _lower_uncounted(self, loop: For | While, kind: str, frame: Frame) -> Node:
        written = set(self.effects.written_in(loop.body))
        increment = loop.increment if isinstance(loop, For) else None
        if increment is not None:
            written |= self.effects.of(increment).keys()

        def lower_iteration() -> list[Node]:
            body: list[Node] = []
            if loop.condition is not None:
                body += self._lower_expression(loop.condition, loop.span, frame, "condition")
            body += self.lower(loop.body, frame)
            if increment is not None:
                body += self._lower_expression(increment, loop.span, frame, "assign")
            return body

        self.report("RP105", loop.span, f"the iterations of this inner {kind} loop are not counted")
        name = f"{kind}@{loop.span.line}"
        node = self.uncounted_loop(name, loop, written, frame, lower_iteration, loop.span)
        return replace(node, exits=leaves_loop(loop.body))

    def uncounted_loop(
        self, name: str, repeated: Stmt, written: Collection[Decl], frame: Frame,
        lower_iteration: Callable[[], list[Node]], span: Span, kind: str = "while",
    ) -> Loop:  # fmt: skip
        """Returns a loop with an unknown number of iterations. `lower_iteration` lowers one
        iteration, which may assign the variables in `written`.
        """
        self.context.open_loops.append(name)
        self.values.forget_changed(repeated, written, frame)
        body = lower_iteration()
        self.context.open_loops.pop()
        self.values.forget_changed(repeated, written, frame)
        return Loop(name, None, None, "", None, tuple(body), span, kind)

    def _lower_range_for(self, loop: RangeFor, frame: Frame) -> list[Node]:
        text = show(loop.range) if loop.range is not None else "range"
        name = loop.variable.name if loop.variable is not None else "element"
        position = f"{name}@{loop.span.line}"
        written = self.effects.written_in(loop.body)
        self.context.open_loops.append(position)
        self.values.forget_changed(loop, written, frame)
        if loop.variable is not None:
            frame.env[loop.variable] = self.context.varying(name)
        self.report(
            "RP106", loop.span, f"the elements of {text} are not understood: their places are"
            " unknown",
        )  # fmt: skip
        body = self.lower(loop.body, frame)
        self.context.open_loops.pop()
        self.values.forget_changed(loop, written, frame)
        size = f"size({text})"
        moves = self.context.changes_in_loops(loop.range, frame)
        bound = self.context.varying(size) if moves else Expr.name(size)
        return [
            Loop(position, ZERO, bound, "<", Expr.const(1), tuple(body), loop.span, "range",
                 leaves_loop(loop.body))
        ]  # fmt: skip

    # -- statements -----------------------------------------------------------------------------

    def lower(self, statement: Stmt | None, frame: Frame) -> list[Node]:
        """Lowers a statement and its parts to IR nodes."""
        if statement is None:
            return []
        if statement is self.site:
            raise SiteReachedError(frame)
        if isinstance(statement, While) and runs_once(statement):
            return self.lower(statement.body, frame)  # do { ... } while (0)
        if self.only_values and isinstance(statement, (For, While, RangeFor)):
            return self._skip_loop(statement, frame)
        if isinstance(statement, Compound):
            return self._lower_statements(statement.items, frame)
        if isinstance(statement, ExprStmt):
            return self._lower_expression(statement.expr, statement.span, frame, "assign")
        if isinstance(statement, DeclStmt):
            return self._lower_declarations(statement, frame)
        if isinstance(statement, For):
            return self._lower_for(statement, frame)
        if isinstance(statement, If):
            return self._lower_if(statement, frame)
        if isinstance(statement, While):
            return [
                self._lower_recurrence(statement, "while", frame)
                or self._lower_uncounted(statement, "while", frame)
            ]
        if isinstance(statement, RangeFor):
            return self._lower_range_for(statement, frame)
        return self._lower_other_statement(statement, frame)

    def _lower_statements(self, items: tuple[Stmt, ...], frame: Frame) -> list[Node]:
        """Lowers statements in order. Statements that a backward `goto` repeats become a loop."""
        nodes: list[Node] = []
        items, rest = with_exits_as_branches(items, in_loop=self.calls.in_loop)
        at = 0
        while at < len(items):
            end = last_goto_back(items, at)
            if end is None:
                nodes += self.lower(items[at], frame)
                at += 1
                continue
            block = Compound(items[at : end + 1])
            nodes.append(self._lower_goto_loop(block, frame))
            at = end + 1
        if rest is not None:
            nodes.append(
                self.lower_branches(_NO_EARLY_EXIT, [rest], first_span(rest) or self.span, frame)
            )
        return nodes

    def _lower_goto_loop(self, block: Compound, frame: Frame) -> Node:
        """Lowers statements that end with a `goto` back to the first of them to a loop."""
        span = first_span(block) or self.span
        again = repeated_by_goto(block)
        if again is not None:
            loop = While(again.condition, again.body, span, behind=True)
            carried = self._lower_recurrence(loop, "goto", frame, first_span(block.items[-1]))
            if carried is not None:
                return carried
        self.report("RP105", span, "the repetitions of a goto back to this line are not counted")
        written = self.effects.written_in(block)

        def lower_iteration() -> list[Node]:
            return [node for item in block.items for node in self.lower(item, frame)]

        return self.uncounted_loop(
            f"goto@{span.line}", block, written, frame, lower_iteration, span
        )

    def _lower_other_statement(self, statement: Stmt, frame: Frame) -> list[Node]:
        if isinstance(statement, Switch):
            test = self._lower_expression(statement.condition, statement.span, frame, "condition")
            outer, self._in_switch = self._in_switch, True
            sides = [statement.body]
            branch = self.lower_branches(show(statement.condition), sides, statement.span, frame)
            self._in_switch = outer
            return [*test, branch]
        if isinstance(statement, Return):
            if statement.value is None or _is_whole_object(statement.value):
                return []
            given = self._lower_expression(statement.value, statement.span, frame, "return")
            self.calls.record_result(statement.value, frame)
            return given
        if isinstance(statement, Directive):
            return self._lower_directive(statement, frame)
        if isinstance(statement, Unread):
            self.report(
                "RP106",
                statement.span,
                f"{statement.what} is not supported; its effect is ignored",
            )
            nodes: list[Node] = []
            for expression in statement.children:
                nodes += self._lower_expression(expression, statement.span, frame, "assign")
            return nodes
        return []

    def _lower_directive(self, statement: Directive, frame: Frame) -> list[Node]:
        directive_tokens = statement.pragma.kind.split()
        if (
            self.pragma.is_task
            and statement.pragma.is_task
            and not self._may_run_at_once(statement)
        ):
            return [Synchronisation("task", (), statement.span)]  # the task has its own region
        self.simd = statement.pragma if "simd" in directive_tokens else None
        body = self.lower(statement.body, frame)
        if directive_tokens[0] in _WITHOUT_SYNCHRONISATION and "parallel" not in directive_tokens:
            return body
        named = _CRITICAL_NAME.search(statement.pragma.text)
        lock = named[1] if named is not None else ""
        return [Synchronisation(directive_tokens[0], tuple(body), statement.span, lock)]

    def _may_run_at_once(self, task: Directive) -> bool:
        """Returns whether a clause limits the depth of a recursion whose calls are tasks. Deeper
        tasks run at once, as part of the task that creates them.
        """
        limited = task.pragma.clause("if") or task.pragma.clause("final")
        return limited is not None and self.calls.trees.is_recursive(self.function)

    def _lower_if(self, statement: If, frame: Frame) -> list[Node]:
        test = self._lower_expression(statement.condition, statement.span, frame, "condition")
        if ends_program(self.unit, statement.then):
            return [*test, *self.lower(statement.other, frame)]
        if ends_program(self.unit, statement.other):
            return [*test, *self.lower(statement.then, frame)]
        hook = self.calls.optional_call(statement.condition, statement.then)
        if hook is not None:
            return [*test, *self.lower(statement.other, frame)]
        sides = [statement.then] + ([statement.other] if statement.other is not None else [])
        value = self.values.condition_value(statement.condition, frame)
        if value.constant is not None:
            return [
                *test,
                *self.lower(statement.then if value.constant else statement.other, frame),
            ]
        branch = self.lower_branches(show(statement.condition), sides, statement.span, frame, value)
        ending = tuple(
            number for number, side in enumerate(sides)
            if self.calls.in_loop and ends_loop(side, breaks=not self._in_switch)
        )  # fmt: skip
        return [*test, replace(branch, kind="if", ending=ending)]

    def lower_branches(
        self, condition: str, sides: list[Stmt], span: Span, frame: Frame, test: Expr | None = None
    ) -> Branch:
        """Lowers the branches of a condition, and merges the values that they assign.

        `test` is the symbolic value of the condition, if known. A variable with different values in
        two branches then becomes a conditional expression.
        """
        if self._branches == MOST_NESTED_BRANCHES:
            what = f"a branch inside {MOST_NESTED_BRANCHES} others is not understood"
            self.report("RP106", span, f"{what}; its effect is left out")
            for decl in in_declaration_order(
                {d for side in sides for d in self.effects.written_in(side)}
            ):
                self.values.forget(decl, frame)
            return Branch(condition, tuple(() for _ in sides), span)
        self._branches += 1
        before = dict(frame.env)
        lowered: list[tuple[Node, ...]] = []
        ends: list[dict[Decl, Expr | Pointer]] = []
        for side in sides:
            inner = frame._replace(env=dict(before))
            lowered.append(tuple(self.lower(side, inner)))
            ends.append(inner.env)
        self._branches -= 1
        if len(sides) == 1:
            ends.append(before)
        for decl in in_declaration_order({d for end in ends for d in end}):
            held = [end.get(decl) for end in ends]
            chosen = self.values.select(test, *held) if len(held) == 2 else None
            if chosen is not None:
                frame.env[decl] = chosen
            elif isinstance(held[0], Pointer) and held[0].array == getattr(held[-1], "array", ""):
                frame.env[decl] = held[0]
            else:
                self.values.forget(decl, frame)
        return Branch(condition, tuple(lowered), span, test=test)

    def _lower_declarations(self, statement: DeclStmt, frame: Frame) -> list[Node]:
        nodes: list[Node] = []
        for decl in statement.decls:
            self.context.private.add(decl)
            if decl.init is None or decl.kind == "static":
                continue
            before = len(nodes)
            tally = self._new_tally(statement.span, frame, nodes)
            self.values.record_addresses(decl.init)
            tally.declared(decl, tally.visit(decl.init))
            text = f"{decl.name} = {show(decl.init)}"
            self._add_statement(tally, text, "declare", nodes, before)
            self.values.declare_variable(decl, decl.init, frame)
            self.values.apply_stores(decl.init, frame)
            fill = initial_fill(Name(decl, decl.span), decl.init)
            if fill is not None:
                nodes += self._lower_expression(fill, fill.span, frame, "assign")
        return nodes

    def _lower_expression(
        self, expression: Expression, span: Span, frame: Frame, role: str
    ) -> list[Node]:
        nodes: list[Node] = []
        tally = self._new_tally(span, frame, nodes)
        self.values.record_addresses(expression)
        ctype = tally.visit(expression)
        if role == "return":
            self.calls.returned = ctype
            self.calls.operands.add_result(tally.paths)
        self._add_statement(tally, show(expression), role, nodes, 0)
        self.values.apply_writes(expression, frame)
        self.values.apply_stores(expression, frame)
        return nodes

    def _new_tally(self, span: Span, frame: Frame, nodes: list[Node]) -> Tally:
        def follow(call: CallExpr, at: Frame, is_conditional: bool) -> InliningResult:
            if call is self.site:
                raise SiteReachedError(at)
            if not is_conditional:
                return self.calls.inline_call(call, at, nodes)
            inside: list[Node] = []
            before = dict(at.env)
            ctype = self.calls.inline_call(call, at, inside)
            for decl in in_declaration_order(
                {d for d, held in at.env.items() if held != before.get(d)}
            ):
                self.values.forget(decl, at)
            if inside:
                nodes.append(Branch(show(call), (tuple(inside),), call.span))
            return ctype

        return Tally(self.context, frame, span, follow, self.calls.operands)

    def _add_statement(
        self, tally: Tally, text: str, role: str, nodes: list[Node], first: int
    ) -> None:
        self.statements += 1
        for call in tally.calls:
            self.calls.report_unseen(call)
        for what in tally.unsupported:
            self.report("RP106", tally.span, f"part of this statement is not supported: {what}")
        inlined = len(nodes) > first
        idle = not (tally.operations or tally.accesses or tally.writes or tally.calls)
        if role in ("assign", "return") and inlined and idle:
            return  # the statements of the inlined function replace the call
        if tally.calls and role == "assign" and not tally.accesses and not tally.writes:
            role = "call"
        nodes.append(tally.statement(text, role))

    def lower_argument(
        self, argument: Expression, span: Span, frame: Frame
    ) -> tuple[list[Node], Paths]:
        """Lowers an argument of an inlined call. Returns its nodes and its dependency paths."""
        nodes: list[Node] = []
        tally = self._new_tally(span, frame, nodes)
        calls = any(isinstance(inner, CallExpr) for inner in every_expression(argument))
        if calls or self.context.address_in(argument, frame) is None:
            tally.visit(argument)
        if tally.operations or tally.accesses or tally.calls:
            self._add_statement(tally, show(argument), "assign", nodes, len(nodes))
        return nodes, tally.paths


def _is_in_loop(loop: Stmt, site: For | CallExpr) -> bool:
    """Returns whether the loop contains the statement or call `site`."""
    return any(inner is site for inner in (*every_statement(loop), *expressions_in(loop)))


def _header_variables(loop: Stmt) -> set[Decl]:
    """Returns the variables in the increment of a `for` loop."""
    if not isinstance(loop, For) or loop.increment is None:
        return set()
    return {inner.decl for inner in every_expression(loop.increment) if isinstance(inner, Name)}


def _is_whole_object(value: Expression) -> bool:
    """Returns whether the returned value is an object by reference, as in `return *this`, which
    copies no data.
    """
    if not isinstance(value, Unary) or value.op != "*" or not isinstance(value.operand, Name):
        return False
    decl = value.operand.decl
    return decl.name == "this" or (decl.reference and decl.ctype.class_name != "")
