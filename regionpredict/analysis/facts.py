"""Computes all facts of a region and stores them in one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from regionpredict.analysis.bindings import Bindings, free_names
from regionpredict.analysis.conflicts import conflict_diagnostics
from regionpredict.analysis.dimensions import array_dimensions, counted_arrays
from regionpredict.analysis.footprint import may_be_less, touched_bytes, working_set
from regionpredict.analysis.iterations import Executions, executions_in_loops, iterations_of
from regionpredict.analysis.patterns import access_pattern
from regionpredict.analysis.reuse import reuse_of_access
from regionpredict.ir import Access, Diagnostic, Expr, Loop, Region, Statement


class Count(NamedTuple):
    """A number as an expression in the program's names, and its value if all names have values.

    `expr` is valid if all expressions in `holds` are nonnegative. `value` is always valid.
    `at_most` says that both are upper bounds, because a loop may end early or the accessed elements
    are unknown. `expr` may be None although `value` is known, if the expression is too long or
    inexact at this size.
    """

    expr: Expr | None
    value: int | None
    holds: tuple[Expr, ...] = ()
    at_most: bool = False

    def __str__(self) -> str:
        shown = str(self.expr) if self.expr is not None else "unknown"
        if self.value is not None and self.expr is None:
            shown = str(self.value)
        elif self.value is not None and shown != str(self.value):
            shown = f"{shown} = {self.value}"
        shown = f"at most {shown}" if self.at_most else shown
        return f"{shown} (where {self.conditions})" if self.holds else shown

    @property
    def conditions(self) -> str:
        """The conditions as text: `w >= 0 and n >= w + 1`. Empty if `expr` is always valid."""
        return " and ".join(_as_inequality(guard) for guard in self.holds)


def _as_inequality(expression: Expr) -> str:
    """Formats the condition that an expression is nonnegative: `n >= w + 1` for `n - w - 1`."""
    left = Expr({m: c for m, c in expression.terms.items() if c > 0})
    return f"{left} >= {left - expression}"


class AccessFact(NamedTuple):
    """One reference. `reuse` is 'hit' or 'miss', and `pattern` is 'streaming', 'latency' or
    'irregular'.

    `counted` says whether the reference's array has the largest number of dimensions in the region.
    """

    access: Access
    reuse: str
    pattern: str
    counted: bool


class StatementFact(NamedTuple):
    """One statement with its enclosing loops, and its number of executions per run of the
    region.
    """

    statement: Statement
    loops: tuple[Loop, ...]
    executions: Count
    accesses: tuple[AccessFact, ...]


class ArrayFact(NamedTuple):
    """One array with its number of effective dimensions. `counted` says whether it has the largest
    number of dimensions in the region.
    """

    name: str
    dims: int
    counted: bool
    accesses: tuple[AccessFact, ...]


@dataclass(frozen=True, slots=True)
class RegionFacts:
    """The facts of one region from the source.

    `status` is 'complete', 'partial' (some code is not supported) or 'skipped' (no loop could be
    read). `working_set` is in bytes. `free_names` are the names that the region's loops and
    subscripts depend on, without loop variables.
    """

    region: Region
    status: str
    iterations: Count
    working_set: Count
    statements: tuple[StatementFact, ...]
    arrays: tuple[ArrayFact, ...]
    bindings: Bindings
    diagnostics: tuple[Diagnostic, ...]
    free_names: frozenset[str]


class _SymbolicStatement(NamedTuple):
    """A statement with its loops and references. `runs` is the index of its number of executions in
    the region's `executions`.
    """

    statement: Statement
    loops: tuple[Loop, ...]
    runs: int
    accesses: tuple[AccessFact, ...]


@dataclass(frozen=True, slots=True)
class SymbolicFacts:
    """The facts of one region for all sizes. `at` substitutes values for sizes.

    Create this object once per region to try many sizes.
    """

    region: Region
    status: str
    iterations: Executions
    working_set: Expr | None
    executions: tuple[Executions, ...]
    statements: tuple[_SymbolicStatement, ...]
    arrays: tuple[ArrayFact, ...]
    assumed: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    free_names: frozenset[str]
    _counted: dict[tuple[object, ...], Count] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def at(self, bindings: Bindings) -> RegionFacts:
        """Returns all facts of the region for the values in `bindings`."""
        counts = [
            self._cached_loop_count(at, runs, bindings) for at, runs in enumerate(self.executions)
        ]
        statements = tuple(
            StatementFact(place.statement, place.loops, counts[place.runs], place.accesses)
            for place in self.statements
        )
        iterations = self._cached_loop_count(-1, self.iterations, bindings)
        size = self.working_set
        return RegionFacts(
            region=self.region,
            status=self.status,
            iterations=iterations,
            working_set=_working_set(self.region, size, iterations, bindings),
            statements=statements,
            arrays=self.arrays,
            bindings=replace(bindings, assumed=(*bindings.assumed, *self.assumed)),
            diagnostics=self.diagnostics,
            free_names=self.free_names,
        )

    def _cached_loop_count(self, number: int, runs: Executions, bindings: Bindings) -> Count:
        """Evaluates `count_of_loops`. Results are cached by the values of the names that occur in
        loop bounds, since many other names do not affect them.
        """
        values = tuple(bindings.values.get(name) for name in sorted(runs.depends_on))
        key = (number, values)
        count = self._counted.get(key)
        if count is None:
            count = self._counted[key] = count_of_loops(runs, bindings)
        return count


def symbolic_facts(region: Region) -> SymbolicFacts:
    """Returns all facts of a region that do not depend on the values of its names."""
    dims = array_dimensions(region)
    counted = counted_arrays(region, dims)
    arrays = {array.name: array for array in region.arrays}
    statements = []
    by_array: dict[str, list[AccessFact]] = {name: [] for name in dims}
    numbers: dict[tuple[int, ...], int] = {}
    runs: list[Executions] = []
    for statement, loops, key in region.placed_statements():
        accesses = []
        for access in statement.accesses:
            counts = access.array in counted
            judged = reuse_of_access(access, loops, dims[access.array]) if counts else "hit"
            kind = access_pattern(access, arrays[access.array], loops)
            fact = AccessFact(access, judged, kind, counts)
            accesses.append(fact)
            by_array[access.array].append(fact)
        if key not in numbers:
            numbers[key] = len(runs)
            runs.append(executions_in_loops(loops))
        statements.append(_SymbolicStatement(statement, loops, numbers[key], tuple(accesses)))
    shown = tuple(
        ArrayFact(name, dims[name], name in counted, tuple(by_array[name])) for name in sorted(dims)
    )
    size, unknown = working_set(region)
    early = _notes_on_early_exits(region)
    several = [note.message for note in region.diagnostics if note.id in ("RP117", "RP123")]
    notes = [*_notes_on_unknowns(region, unknown, shown), *early]
    return SymbolicFacts(
        region=region,
        status=_region_status(region, has_statements=bool(statements)),
        iterations=iterations_of(region),
        working_set=size,
        executions=tuple(runs),
        statements=tuple(statements),
        arrays=shown,
        assumed=(*(_TO_THE_END.format(note.span.line) for note in early), *several),
        diagnostics=(*region.diagnostics, *notes),
        free_names=free_names(region),
    )


def facts_of(region: Region, bindings: Bindings) -> RegionFacts:
    """Returns all facts of one region for the values in `bindings`. See `checked_facts`."""
    return symbolic_facts(region).at(bindings)


def checked_facts(region: Region, bindings: Bindings) -> RegionFacts:
    """Returns all facts of one region, with diagnostics about data races and contention.

    The diagnostics are the same for all sizes unless trip counts are very small. To try many sizes,
    use `facts_of`.
    """
    facts = facts_of(region, bindings)
    trips = bindings.whole(region.nest.trips) if region.nest is not None else None
    return replace(facts, diagnostics=(*facts.diagnostics, *conflict_diagnostics(region, trips)))


def count_of(expression: Expr | None, bindings: Bindings) -> Count:
    """Returns an expression with its value, which is at least zero."""
    value = bindings.whole(expression)
    return Count(expression, None if value is None else max(0, value))


def count_of_loops(runs: Executions, bindings: Bindings) -> Count:
    """Returns a number of executions with its value."""
    return Count(runs.expr, runs.value(bindings), runs.holds, runs.at_most)


def _working_set(region: Region, size: Expr | None, trips: Count, bindings: Bindings) -> Count:
    """Returns the bytes as an expression that is valid for large sizes, and the exact value for the
    given sizes if they are known.

    The expression is omitted if its value differs from the exact value.
    """
    if trips.value == 0:
        # Two sides of an empty box may both be negative, which makes their product positive.
        return Count(size, 0)
    if size is None:  # with index tables, only the lengths of arrays are known
        accessed_bytes = touched_bytes(region, bindings) if region.nest is not None else None
        return Count(
            None,
            accessed_bytes,
            at_most=accessed_bytes is not None and may_be_less(region, bindings),
        )
    symbolic = count_of(size, bindings)
    if symbolic.value is None:
        return symbolic
    symbolic = symbolic._replace(at_most=may_be_less(region, bindings))
    exact = touched_bytes(region, bindings)
    if exact is None or exact == symbolic.value:
        return symbolic
    shown = Expr.const(exact) if size.constant is not None else None
    return Count(shown, exact, at_most=symbolic.at_most)


_TO_THE_END = "the loop at line {} runs to its end, though it may be left early"


def _notes_on_early_exits(region: Region) -> list[Diagnostic]:
    """Returns a diagnostic for every counted loop that may end before its bound."""
    return [
        Diagnostic("RP114", loop.span, "may be left early: its iterations are an upper bound")
        for loop in region.loops() if loop.exits and loop.bound is not None
    ]  # fmt: skip


# Rules about code that is omitted from a region. An unknown number of iterations (RP105) is not
# included: it is an unknown size, and the loop's contents are known.
INCOMPLETE = frozenset(("RP102", "RP106", "RP108", "RP111", "RP113"))
"""The rules for regions that are not completely supported."""


def _region_status(region: Region, *, has_statements: bool) -> str:
    if region.nest is None:
        return "skipped"
    rules = {note.id for note in region.diagnostics}
    understood = region.nest.trips is not None and not rules & INCOMPLETE
    return "complete" if understood and has_statements else "partial"


def _notes_on_unknowns(
    region: Region, unknown: tuple[str, ...], arrays: tuple[ArrayFact, ...]
) -> list[Diagnostic]:
    notes = []
    if unknown:
        names = ", ".join(dict.fromkeys(unknown))
        notes.append(Diagnostic("RP104", region.span, f"the accessed part of {names} is unknown"))
    if region.nest is not None and not arrays and not unknown:
        notes.append(Diagnostic("RP107", region.span, "no array reference in this region"))
    return notes
