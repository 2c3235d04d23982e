"""Loops that the threads of a `parallel` share by thread number, without a directive.

    #pragma omp parallel
    {
        int t = omp_get_thread_num(), p = omp_get_num_threads();
        int first = t * n / p, last = (t + 1) * n / p;
        for (int i = first; i < last; i++)      for i from 0 while < n, schedule(static) nowait
            a[i] = 0.0;
    }

Candidates are loops whose header depends on the thread number (`thread_numbers`), also in called
functions. The statements before a loop are lowered only for the values that they assign.
`thread_partition` then checks whether the header distributes a range among the threads. If it does
not, each thread has its own iterations:

    for (int i = 0; i < 1000 * omp_get_thread_num(); i++)

Such a loop is placed inside a loop over the threads with schedule(static,1). The loop is unchanged
if its header depends on values other than the thread number and shared values.
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
    header_of,
    shared_loop,
    shortened,
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
    """A loop that threads share by thread number, as a region, and the `parallel` that starts these
    threads.
    """

    loop: For
    region: Region
    definitions: tuple[Definition, ...]
    parallel: Span


class _Threads(NamedTuple):
    """The part of a `parallel` that is in one function.

    `body` is the body of the `parallel` or of a called function. For a called function, `team` is
    None, and `handed` gives the values of the parameters in terms of `THREAD_NUMBER`, `TEAM` and
    the callers' names. `taken` lists the names of the number of threads. `directive` is the
    `parallel`, and `size` is its constant number of threads.
    """

    function: Function
    body: Stmt
    directive: Directive
    team: ParallelSite | None
    around: tuple[For, ...]
    handed: Mapping[Decl, Expr]
    taken: Mapping[Decl, frozenset[str]]
    size: int | None
    depth: int = 0


def manually_shared_loops(
    unit: LinkedUnit, function: Function, numbers: ThreadNumbers, trees: CallTrees
) -> Iterator[ManuallySharedLoop]:
    """Yields the loops that the threads of the function's `parallel` constructs share, also in
    called functions.
    """
    for threads in _parallels(unit, function, function.body, ()):
        if numbers.calls_thread_number(threads.body):
            yield from _Search(unit, numbers, trees, threads).loops(threads.body, threads.around)


def _parallels(
    unit: LinkedUnit, function: Function, statement: Stmt, loops: tuple[For, ...]
) -> Iterator[_Threads]:
    if isinstance(statement, Directive) and _starts_team(statement.pragma):
        if statement.body is not None:
            team = ParallelSite(statement, len(loops))
            nothing: Mapping[Decl, Any] = MappingProxyType({})
            yield _Threads(function, statement.body, statement, team, loops, nothing, nothing,
                           _fixed_size(unit, statement))  # fmt: skip
        return
    if isinstance(statement, For):
        loops = (*loops, statement)
    for inner in inner_statements(statement):
        yield from _parallels(unit, function, inner, loops)


def _starts_team(pragma: Pragma) -> bool:
    directive_tokens = pragma.kind.split()
    return (
        "parallel" in directive_tokens and not pragma.is_loop and "sections" not in directive_tokens
    )


def _fixed_size(unit: LinkedUnit, directive: Directive) -> int | None:
    value = _requested_size(Context(unit), directive).constant
    return value if isinstance(value, int) else None


def _requested_size(context: Context, directive: Directive) -> Expr:
    """Returns the value of `num_threads` in the names of a region. The maximum number of threads if
    the clause is missing.
    """
    clause = directive.pragma.clause("num_threads")
    if clause is None or not clause.text:
        return Expr.name(_MOST_THREADS)
    declared = {name: decl for name, (decl, _) in context.named().items()}
    written = parse_expression(clause.text, declared.get, directive.span)
    return context.value(written, Frame({}))


class _Search:
    """Finds the loops that the threads share in one function."""

    def __init__(
        self, unit: LinkedUnit, numbers: ThreadNumbers, trees: CallTrees, threads: _Threads
    ) -> None:
        self.unit = unit
        self.numbers = numbers
        self.trees = trees
        self.threads = threads
        moved = [decl for decl, value in threads.handed.items() if THREAD_NUMBER in value.names]
        self.moved = numbers.dependent_variables(threads.body, moved)

    def loops(self, statement: Stmt, around: tuple[For, ...]) -> Iterator[ManuallySharedLoop]:
        """Yields the outermost shared loops that have no directive."""
        if isinstance(statement, Directive):
            return
        if isinstance(statement, For):
            if self.numbers.header_depends(statement, self.moved):
                shared = self._region_of_loop(statement, around)
                if shared is not None:
                    yield shared
                return
            around = (*around, statement)
        for inner in own_parts(statement):
            if isinstance(inner, CallExpr) and self.numbers.may_depend(inner, self.moved):
                yield from self._loops_in_callee(inner)
        for below in inner_statements(statement):
            yield from self.loops(below, around)

    def _loops_in_callee(self, call: CallExpr) -> Iterator[ManuallySharedLoop]:
        """Yields the loops in a function that the threads call."""
        threads = self.threads
        function = self.unit.body_of(call.decl) if call.decl is not None else None
        if function is None or threads.depth >= _MAX_CALLS:
            return
        builder = self._builder(call.span)
        context = builder.context
        frame = builder.values_at(call, threads.body, Frame(dict(threads.handed)))
        if frame is None:
            return
        arguments = {
            parameter: context.value(argument, frame)
            for parameter, argument in zip(function.parameters, call.args, strict=False)
            if parameter.ctype.kind == "int"
        }
        of_team = self._thread_count_values(context)
        handed = {
            parameter: _in_caller_names(value.substitute(of_team), threads)
            for parameter, value in arguments.items()
        }
        inside = threads._replace(
            function=function, body=function.body, team=None, around=(), handed=handed,
            taken={name: self._count_names(value, of_team) for name, value in arguments.items()},
            depth=threads.depth + 1,
        )  # fmt: skip
        yield from _Search(self.unit, self.numbers, self.trees, inside).loops(function.body, ())

    def _count_names(self, value: Expr, of_team: Mapping[str, Expr]) -> frozenset[str]:
        """Returns the names of the number of threads in a value, including those that are passed to
        this function.
        """
        before = self.threads.taken.values() if TEAM in value.names else ()
        return frozenset(value.names & of_team.keys()).union(*before)

    def _region_of_loop(self, loop: For, around: tuple[For, ...]) -> ManuallySharedLoop | None:
        """Returns the loop as a region of all threads. Returns None if they do not share it."""
        threads, span = self.threads, loop.span
        builder = self._builder(span)
        context = "orphaned" if threads.team is None else "inside"
        region = builder.build(loop, context, around, threads.team, behind=threads.body)
        if region.nest is None:
            return None
        of_team = self._thread_count_values(builder.context)
        handed = {builder.context.name_of(decl): value for decl, value in threads.handed.items()}
        shared = shared_loop(region.nest, {**of_team, **handed}, threads.size)
        if shared is None:
            return self._region_of_own_loops(loop, around)
        nest, partition = shared
        bounds = header_of(nest)
        assert bounds is not None
        if threads.team is None:
            whole = _in_parameters(bounds, partition, handed, threads.size)
            if whole is None:
                return None
            partition = partition._replace(whole=whole)
        names = [builder.context.name_of(decl) for decl in threads.taken]
        of_callers = [
            taken for name, taken in zip(names, threads.taken.values(), strict=True)
            if name in bounds.names
        ]  # fmt: skip
        taken = sorted((bounds.names & of_team.keys()).union(*of_callers))
        if not taken and threads.size is not None:
            taken = [str(threads.size)]
        region = _with_whole(region, nest, partition, taken)
        site = threads.directive if threads.team is not None else None
        defined = definitions_of(self.unit, threads.function, builder.context, site)
        defined = with_one_thread(region, defined)
        return ManuallySharedLoop(loop, region, defined, threads.directive.span)

    def _builder(self, span: Span) -> RegionBuilder:
        pragma = Pragma("for", (Clause("nowait"),), 0, 0, span.line, span.column, "")
        return RegionBuilder(self.unit, self.threads.function, pragma, span, self.trees)

    def _region_of_own_loops(self, loop: For, around: tuple[For, ...]) -> ManuallySharedLoop | None:
        """Returns the region if each thread has its own loop: a loop over the threads with the loop
        inside. Returns None if the header depends on other unknown values.
        """
        threads, span = self.threads, loop.span
        builder = self._builder(span)
        context = "orphaned" if threads.team is None else "inside"
        region = builder.build(
            loop, context, around, threads.team, behind=threads.body, holds=threads.handed
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
        taken = TEAM if threads.size is None else str(threads.size)
        message = (
            "the thread number selects the work: read as one iteration per thread, "
            f"schedule(static,1); the number of threads must be {taken}"
        )
        region = replace(
            with_used_arrays(region),
            nest=every,
            clauses=(Clause("schedule", "static,1"), *region.clauses),
            diagnostics=(*region.diagnostics, Diagnostic("RP116", region.span, message)),
            by_hand=True,
            team_size=taken,
        )
        site = threads.directive if threads.team is not None else None
        defined = definitions_of(self.unit, threads.function, builder.context, site)
        return ManuallySharedLoop(loop, region, defined, threads.directive.span)

    def _thread_count_values(self, context: Context) -> dict[str, Expr]:
        """Replacements for names that depend on the number of threads, as in
        `nt = omp_get_max_threads();`.
        """
        threads = self.threads
        if threads.team is None:
            return {_MOST_THREADS: Expr.name(TEAM)}
        defined = definitions_of(self.unit, threads.function, context, threads.directive)
        asked = _requested_size(context, threads.directive)
        alone = len(asked.names) == 1 and asked == Expr.name(next(iter(asked.names)))
        return sizes_of_team(defined, *(asked.names if alone else ()))


def sizes_of_team(defined: tuple[Definition, ...], *asked: str) -> dict[str, Expr]:
    """Replacements for names that depend on the number of threads, `TEAM`.

    `asked` are other names for the number of threads, such as the one in `num_threads`.
    """
    known = {definition.name: definition.value for definition in defined}
    bindings = dict.fromkeys((_MOST_THREADS, *asked), Expr.name(TEAM))
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


def _in_caller_names(value: Expr, threads: _Threads) -> Expr:
    """Renames the variables of a value so that their names are unique among functions. The caller's
    names are unchanged.
    """
    own = {name for name in value.names - {THREAD_NUMBER, TEAM} if " in " not in name}
    return value.substitute({name: Expr.name(f"{name} in {threads.function.name}") for name in own})


def _in_parameters(
    bounds: ThreadBounds, partition: Partition, handed: Mapping[str, Expr], size: int | None
) -> ThreadBounds | None:
    """Returns the whole range in the function's own names. A parameter that is constant for one
    thread is replaced by that constant. Returns None if the callers' names are needed.
    """
    if partition.whole.names <= {name for name in bounds.names if name not in handed}:
        return partition.whole
    if size is not None:
        return None
    alone = {THREAD_NUMBER: Expr.const(0), TEAM: Expr.const(1), _MOST_THREADS: Expr.const(1)}
    made = {name: shortened(value.substitute(alone)) for name, value in handed.items()}
    numbers = {name: value for name, value in made.items() if value.constant is not None}
    return bounds.with_replacements({**alone, **numbers})


def _with_whole(region: Region, nest: Loop, partition: Partition, taken: Sequence[str]) -> Region:
    """Returns the region of all threads.

    `taken` are the names of the number of threads that occur in the bounds.
    """
    whole = partition.whole
    schedule = partition.schedule
    message = f"threads share this loop by thread number: read as schedule({schedule}) nowait"
    if taken:
        message += f"; run it with the number of threads in {' and '.join(taken)}"
    return replace(
        with_used_arrays(region),
        nest=replace(nest, start=whole.start, bound=whole.bound, step=whole.step),
        clauses=(Clause("schedule", schedule), *region.clauses),
        diagnostics=(*region.diagnostics, Diagnostic("RP116", region.span, message)),
        by_hand=True,
        team_size=" and ".join(taken),
    )


def with_used_arrays(region: Region) -> Region:
    """Returns the region without arrays that are accessed only by statements before its loop."""
    memories = region.memories()
    used = {access.array for statement, _ in region.statements() for access in statement.accesses}
    used |= {memories[name] for name in used if name in memories}
    return replace(region, arrays=tuple(array for array in region.arrays if array.name in used))


def with_one_thread(region: Region, defined: tuple[Definition, ...]) -> tuple[Definition, ...]:
    """Returns the definitions for a team of one thread. In such a team, thread 0 has the whole
    range.
    """
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
