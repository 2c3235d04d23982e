"""Finds loops that the threads of a parallel region share by thread number, without a directive.

    #pragma omp parallel
    {
        int t = omp_get_thread_num(), p = omp_get_num_threads();
        int first = t * n / p, last = (t + 1) * n / p;
        for (int i = first; i < last; i++)      for i from 0 while < n, schedule(static) nowait
            a[i] = 0.0;
    }

Candidates are loops whose header depends on the thread number, also in called functions. The
statements before a loop are lowered only for the values that they assign. `thread_partition` then
checks whether the header distributes a range among the threads. Otherwise, each thread has its own
iterations:

    for (int i = 0; i < 1000 * omp_get_thread_num(); i++)

Such a loop is placed inside a loop over the threads with schedule(static,1). A loop whose header
also depends on other private values is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from regionpredict.frontend.linking import LinkedUnit
from regionpredict.frontend.lowering.call_trees import CallTrees
from regionpredict.frontend.lowering.definitions import definitions_of
from regionpredict.frontend.lowering.frame import Frame
from regionpredict.frontend.lowering.invariant_values import names_in
from regionpredict.frontend.lowering.parallel_constructs import ParallelSite
from regionpredict.frontend.lowering.region_builder import RegionBuilder
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.frontend.lowering.thread_numbers import ThreadNumbers
from regionpredict.frontend.lowering.thread_partition import (
    TEAM,
    Partition,
    ThreadBounds,
    shared_loop,
    simplify_conditionals,
    thread_bounds,
)
from regionpredict.frontend.syntax import (
    CallExpr,
    Decl,
    Directive,
    For,
    Function,
    Pragma,
    Stmt,
    inner_statements,
    own_parts,
)
from regionpredict.frontend.text import parse_expression
from regionpredict.ir import Clause, Definition, Diagnostic, Expr, Loop, Region, Span
from regionpredict.ir.arithmetic import arithmetic
from regionpredict.ir.region import THREAD_NUMBER

_MOST_THREADS = "omp_get_max_threads()"  # the default number of threads
_ARITHMETIC = frozenset(("floordiv", "mod", "min", "max"))  # beyond sums and products
_MAX_CALLS = 3  # maximum nesting of calls from the `parallel` to the loop


class ManuallySharedLoop(NamedTuple):
    """A loop that threads share by thread number, its region, and the position of the `parallel`
    directive.
    """

    loop: For
    region: Region
    definitions: tuple[Definition, ...]
    parallel: Span


class _ThreadsInFunction(NamedTuple):
    """The part of a parallel region that is in one function.

    `body` is the body of the `parallel` construct or of a called function. For a called function,
    `team` is None, and `parameter_values` gives the parameters in terms of `THREAD_NUMBER`, `TEAM`
    and the callers' names. `thread_count_names` lists, per parameter, the names of the number of
    threads in its value. `size` is the number of threads if it is constant.
    """

    function: Function
    body: Stmt
    directive: Directive
    team: ParallelSite | None
    enclosing: tuple[For, ...]
    parameter_values: Mapping[Decl, Expr]
    thread_count_names: Mapping[Decl, frozenset[str]]
    size: int | None
    depth: int = 0


def manually_shared_loops(
    unit: LinkedUnit, function: Function, numbers: ThreadNumbers, trees: CallTrees
) -> Iterator[ManuallySharedLoop]:
    """Yields the loops that the threads of the function's parallel regions share by thread number,
    also in called functions.
    """
    for threads in _parallel_constructs_in(unit, function, function.body, ()):
        if numbers.calls_thread_number(threads.body):
            yield from _SharedLoopSearch(unit, numbers, trees, threads).loops(
                threads.body, threads.enclosing
            )


def _parallel_constructs_in(
    unit: LinkedUnit, function: Function, statement: Stmt, loops: tuple[For, ...]
) -> Iterator[_ThreadsInFunction]:
    if isinstance(statement, Directive) and _starts_threads(statement.pragma):
        if statement.body is not None:
            team = ParallelSite(statement, len(loops))
            nothing: Mapping[Decl, Any] = MappingProxyType({})
            yield _ThreadsInFunction(function, statement.body, statement, team, loops, nothing,
                                     nothing, _fixed_size(unit, statement))  # fmt: skip
        return
    if isinstance(statement, For):
        loops = (*loops, statement)
    for inner in inner_statements(statement):
        yield from _parallel_constructs_in(unit, function, inner, loops)


def _starts_threads(pragma: Pragma) -> bool:
    directive_tokens = pragma.kind.split()
    return "parallel" in directive_tokens and not pragma.is_loop


def _fixed_size(unit: LinkedUnit, directive: Directive) -> int | None:
    value = _requested_size(Context(unit), directive).constant
    return value if isinstance(value, int) else None


def _requested_size(context: Context, directive: Directive) -> Expr:
    """Returns the value of the `num_threads` clause. Without the clause, it is
    `omp_get_max_threads()`.
    """
    clause = directive.pragma.clause("num_threads")
    if clause is None or not clause.text:
        return Expr.name(_MOST_THREADS)
    declared = {name: decl for name, (decl, _) in context.declarations().items()}
    written = parse_expression(clause.text, declared.get, directive.span)
    return context.value(written, Frame({}))


class _SharedLoopSearch:
    """Finds the loops that the threads share in one function."""

    def __init__(
        self,
        unit: LinkedUnit,
        numbers: ThreadNumbers,
        trees: CallTrees,
        threads: _ThreadsInFunction,
    ) -> None:
        self.unit = unit
        self.numbers = numbers
        self.trees = trees
        self.threads = threads
        moved = [
            decl for decl, value in threads.parameter_values.items() if THREAD_NUMBER in value.names
        ]
        self.moved = numbers.dependent_variables(threads.body, moved)

    def loops(self, statement: Stmt, enclosing: tuple[For, ...]) -> Iterator[ManuallySharedLoop]:
        """Yields the outermost loops without a directive that the threads share."""
        if isinstance(statement, Directive):
            return
        if isinstance(statement, For):
            if self.numbers.header_depends(statement, self.moved):
                shared = self._region_of_loop(statement, enclosing)
                if shared is not None:
                    yield shared
                return
            enclosing = (*enclosing, statement)
        for inner in own_parts(statement):
            if isinstance(inner, CallExpr) and self.numbers.may_depend(inner, self.moved):
                yield from self._loops_in_callee(inner)
        for below in inner_statements(statement):
            yield from self.loops(below, enclosing)

    def _loops_in_callee(self, call: CallExpr) -> Iterator[ManuallySharedLoop]:
        """Yields the shared loops in a function that the threads call."""
        threads = self.threads
        function = self.unit.body_of(call.decl) if call.decl is not None else None
        if function is None or threads.depth >= _MAX_CALLS:
            return
        builder = self._region_builder_for(call.span)
        context = builder.context
        frame = builder.values_before(call, threads.body, Frame(dict(threads.parameter_values)))
        if frame is None:
            return
        arguments = {
            parameter: context.value(argument, frame)
            for parameter, argument in zip(function.parameters, call.args, strict=False)
            if parameter.ctype.kind == "int"
        }
        count_values = self._thread_count_values(context)
        parameter_values = {
            parameter: _with_function_names(value.substitute(count_values), threads)
            for parameter, value in arguments.items()
        }
        inside = threads._replace(
            function=function, body=function.body, team=None, enclosing=(),
            parameter_values=parameter_values,
            thread_count_names={
                name: self._count_names(value, count_values) for name, value in arguments.items()
            },
            depth=threads.depth + 1,
        )  # fmt: skip
        yield from _SharedLoopSearch(self.unit, self.numbers, self.trees, inside).loops(
            function.body, ()
        )

    def _count_names(self, value: Expr, count_values: Mapping[str, Expr]) -> frozenset[str]:
        """Returns the names in a value that mean the number of threads, including those that
        callers pass.
        """
        before = self.threads.thread_count_names.values() if TEAM in value.names else ()
        return frozenset(value.names & count_values.keys()).union(*before)

    def _region_of_loop(self, loop: For, enclosing: tuple[For, ...]) -> ManuallySharedLoop | None:
        """Returns the region of a shared loop. Returns None if the threads do not share the
        loop.
        """
        threads, span = self.threads, loop.span
        builder = self._region_builder_for(span)
        context = "orphaned" if threads.team is None else "inside"
        region = builder.build(loop, context, enclosing, threads.team, preceding=threads.body)
        if region.nest is None:
            return None
        count_values = self._thread_count_values(builder.context)
        parameter_values = {
            builder.context.name_of(decl): value for decl, value in threads.parameter_values.items()
        }
        shared = shared_loop(region.nest, {**count_values, **parameter_values}, threads.size)
        if shared is None:
            return self._region_of_own_loops(loop, enclosing)
        nest, partition = shared
        bounds = thread_bounds(nest)
        assert bounds is not None
        if threads.team is None:
            whole = _whole_range(bounds, partition, parameter_values, threads.size)
            if whole is None:
                return None
            partition = partition._replace(whole=whole)
        names = [builder.context.name_of(decl) for decl in threads.thread_count_names]
        of_callers = [
            count_names
            for name, count_names in zip(names, threads.thread_count_names.values(), strict=True)
            if name in bounds.names
        ]  # fmt: skip
        thread_count_names = sorted((bounds.names & count_values.keys()).union(*of_callers))
        if not thread_count_names and threads.size is not None:
            thread_count_names = [str(threads.size)]
        region = _with_whole_range(region, nest, partition, thread_count_names)
        site = threads.directive if threads.team is not None else None
        defined = definitions_of(self.unit, threads.function, builder.context, site)
        defined = with_one_thread_definitions(region, defined)
        return ManuallySharedLoop(loop, region, defined, threads.directive.span)

    def _region_builder_for(self, span: Span) -> RegionBuilder:
        pragma = Pragma("for", (Clause("nowait"),), 0, 0, span.line, span.column, "")
        return RegionBuilder(self.unit, self.threads.function, pragma, span, self.trees)

    def _region_of_own_loops(
        self, loop: For, enclosing: tuple[For, ...]
    ) -> ManuallySharedLoop | None:
        """Returns a region for a loop in which each thread has its own iterations. The region is a
        loop over the threads that contains the loop. Returns None for an unsupported header.
        """
        threads, span = self.threads, loop.span
        builder = self._region_builder_for(span)
        context = "orphaned" if threads.team is None else "inside"
        region = builder.build(
            loop,
            context,
            enclosing,
            threads.team,
            preceding=threads.body,
            initial_values=threads.parameter_values,
        )
        nest = region.nest
        if nest is None or nest.start is None or nest.bound is None:
            return None
        nest = replace(nest, start=arithmetic(nest.start), bound=arithmetic(nest.bound))
        if nest.start is None or nest.trips is None:
            return None
        atoms = nest.start.kinds | nest.trips.kinds
        if not atoms <= _ARITHMETIC or THREAD_NUMBER not in nest.start.names | nest.trips.names:
            return None
        size = Expr.name(TEAM) if threads.size is None else Expr.const(threads.size)
        every = Loop(THREAD_NUMBER, Expr.const(0), size, "<", Expr.const(1), (nest,), span)
        thread_count_names = TEAM if threads.size is None else str(threads.size)
        message = (
            "the thread number selects the work: read as one iteration per thread, "
            f"schedule(static,1); the number of threads must be {thread_count_names}"
        )
        region = replace(
            with_used_arrays(region),
            nest=every,
            clauses=(Clause("schedule", "static,1"), *region.clauses),
            diagnostics=(*region.diagnostics, Diagnostic("RP116", region.span, message)),
            by_hand=True,
            team_size=thread_count_names,
        )
        site = threads.directive if threads.team is not None else None
        defined = definitions_of(self.unit, threads.function, builder.context, site)
        return ManuallySharedLoop(loop, region, defined, threads.directive.span)

    def _thread_count_values(self, context: Context) -> dict[str, Expr]:
        """Returns values in terms of `TEAM` for names that depend on the number of threads, as in
        `nt = omp_get_max_threads();`.
        """
        threads = self.threads
        if threads.team is None:
            return {_MOST_THREADS: Expr.name(TEAM)}
        defined = definitions_of(self.unit, threads.function, context, threads.directive)
        requested = _requested_size(context, threads.directive)
        alone = len(requested.names) == 1 and requested == Expr.name(next(iter(requested.names)))
        return thread_count_replacements(defined, *(requested.names if alone else ()))


def thread_count_replacements(defined: tuple[Definition, ...], *requested: str) -> dict[str, Expr]:
    """Returns values in terms of `TEAM` for names that depend on the number of threads.

    `requested` are other names for the number of threads, such as the one in `num_threads`.
    """
    known = {definition.name: definition.value for definition in defined}
    bindings = dict.fromkeys((_MOST_THREADS, *requested), Expr.name(TEAM))
    for _ in known:  # each pass resolves another name of a chain
        new = {
            name: made
            for name, value in known.items()
            if name not in bindings and TEAM in (made := value.substitute(bindings)).names
        }
        if not new:
            break
        bindings.update(new)
    return bindings


def _with_function_names(value: Expr, threads: _ThreadsInFunction) -> Expr:
    """Adds the function's name to the variables in a value (`n in solve`), so that names are unique
    among functions.
    """
    own = {name for name in value.names - {THREAD_NUMBER, TEAM} if " in " not in name}
    return value.substitute({name: Expr.name(f"{name} in {threads.function.name}") for name in own})


def _whole_range(
    bounds: ThreadBounds,
    partition: Partition,
    parameter_values: Mapping[str, Expr],
    size: int | None,
) -> ThreadBounds | None:
    """Returns the iteration range of all threads in the function's own names.

    A parameter that is constant for one thread is replaced by that constant. Returns None if the
    range needs the callers' names.
    """
    if partition.whole.names <= {name for name in bounds.names if name not in parameter_values}:
        return partition.whole
    if size is not None:
        return None
    alone = {THREAD_NUMBER: Expr.const(0), TEAM: Expr.const(1), _MOST_THREADS: Expr.const(1)}
    made = {
        name: simplify_conditionals(value.substitute(alone))
        for name, value in parameter_values.items()
    }
    numbers = {name: value for name, value in made.items() if value.constant is not None}
    return bounds.with_replacements({**alone, **numbers})


def _with_whole_range(
    region: Region, nest: Loop, partition: Partition, thread_count_names: Sequence[str]
) -> Region:
    """Returns the region with the iteration range of all threads and its schedule.

    `thread_count_names` are the names in the loop bounds that mean the number of threads.
    """
    whole = partition.whole
    schedule = partition.schedule
    message = f"threads share this loop by thread number: read as schedule({schedule}) nowait"
    if thread_count_names:
        message += f"; run it with the number of threads in {' and '.join(thread_count_names)}"
    return replace(
        with_used_arrays(region),
        nest=replace(nest, start=whole.start, bound=whole.bound, step=whole.step),
        clauses=(Clause("schedule", schedule), *region.clauses),
        diagnostics=(*region.diagnostics, Diagnostic("RP116", region.span, message)),
        by_hand=True,
        team_size=" and ".join(thread_count_names),
    )


def with_used_arrays(region: Region) -> Region:
    """Returns the region without the arrays that its loop does not access."""
    memories = region.memories()
    used = {access.array for statement, _ in region.statements() for access in statement.accesses}
    used |= {memories[name] for name in used if name in memories}
    return replace(region, arrays=tuple(array for array in region.arrays if array.name in used))


def with_one_thread_definitions(
    region: Region, defined: tuple[Definition, ...]
) -> tuple[Definition, ...]:
    """Adds the definitions for one thread: its number is 0, and the number of threads is 1."""
    known = {definition.name for definition in defined}
    said = names_in(region).union(*(definition.value.names for definition in defined))
    return (
        *defined,
        *(
            Definition(name, Expr.const(value), region.span)
            for name, value in ((THREAD_NUMBER, 0), (TEAM, 1), (_MOST_THREADS, 1))
            if name in said - known
        ),
    )
