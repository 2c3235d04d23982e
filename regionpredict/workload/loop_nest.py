"""Data types of a loop nest with numeric loop bounds and affine byte addresses.

References to one array whose addresses differ by a constant form a reference group ("uniformly
generated", Wolf and Lam 1991). For example, `a[i-1]`, `a[i]` and `a[i+1]` are one group. Strides
and offsets of a group determine its footprint in cache lines, so the cost of counting does not
depend on sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple

from regionpredict.ir import Access, Expr
from regionpredict.workload.constants import PROFILE_SAMPLES, UNKNOWN_TRIPS
from regionpredict.workload.derived_number import evaluated
from regionpredict.workload.held_branches import TrueIterations

Env = Mapping[str, float]
"""The values of the variables of outer loops."""
Conditional = Literal["", "values", "elements", "code"]
"""The content of branches in a loop body, in order of increasing difficulty of vectorization."""
Cut = tuple[float, float]
"""The start and the end of the executed part of a loop, as fractions of its iterations."""


@dataclass(frozen=True, slots=True)
class Affine:
    """The affine function `constant + sum(slopes[v] * v)` of loop variables v."""

    constant: float
    slopes: dict[str, float]

    def at(self, env: Env) -> float:
        """Returns the value for given loop variables. A variable without a value counts as 0."""
        total = self.constant
        for name, slope in self.slopes.items():
            total += slope * env.get(name, 0.0)
        return total

    @property
    def names(self) -> frozenset[str]:
        """The loop variables in the form."""
        return frozenset(self.slopes)


@dataclass(frozen=True, slots=True)
class Curved:
    """An expression of loop variables that is not affine: `min(ii + 8, n)`, `i / 2`."""

    expr: Expr
    values: Mapping[str, int | Fraction]
    names: frozenset[str]

    def at(self, env: Env) -> float:
        """Returns the value for given loop variables, which are rounded. NaN if the expression has
        no value.
        """
        bound: dict[str, int | Fraction] = dict(self.values)
        for name in self.names:
            bound[name] = round(env.get(name, 0.0))
        value = evaluated(self.expr, bound)
        return float("nan") if value is None else value


@dataclass(frozen=True, slots=True)
class SubstitutedForm:
    """A function of loop variables in which an affine value replaces one variable."""

    form: Curved | SubstitutedForm | Difference
    variable: str
    value: Affine

    @property
    def names(self) -> frozenset[str]:
        """The loop variables in the form."""
        return self.form.names - {self.variable} | self.value.names

    def at(self, env: Env) -> float:
        """The value for given loop variables. NaN if there is no value."""
        return self.form.at({**env, self.variable: self.value.at(env)})


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a function of loop variables and an affine value."""

    form: Form
    begin: Affine

    @property
    def names(self) -> frozenset[str]:
        """The loop variables in the form."""
        return self.form.names | self.begin.names

    def at(self, env: Env) -> float:
        """The value for given loop variables. NaN if there is no value."""
        return self.form.at(env) - self.begin.at(env)


Form = Affine | Curved | SubstitutedForm | Difference


@dataclass(frozen=True, slots=True)
class LoopHeader:
    """A loop whose `variable` takes `trips` values, from `first` in steps of `step`.

    `index` is the loop's position among the loops of the nest in source order. `first` and the
    exclusive `limit` are functions of outer variables, or None for unknown bounds (`trips` is then
    `UNKNOWN_TRIPS`). Threads share the iterations of `parallel` loops. `depends` are the variables
    in the bounds. `unordered` are scalars that the loop may sum in any order. `counted` says that
    the loop is a `for` without early exits. `conditional` is the content of branches directly in
    the body. It is "" without branches, "values" if branches only set variables, "elements" if they
    access elements that move with the loop, else "code". `share` is the share of outer iterations
    in which the loop runs. It is below 1 if conditions have a given share or depend on the parallel
    loop's variable. `held` are the parallel iterations in which these conditions hold.
    `work` is the number of operations and accesses of the unconditional statements directly in the
    body, at least 1.
    """

    index: int
    variable: str
    first: Form | None
    limit: Form | None
    step: int
    parallel: bool
    depends: frozenset[str]
    line: int
    counted: bool
    conditional: Conditional
    unordered: frozenset[str]
    share: float = field(default=1.0, kw_only=True)
    held: TrueIterations | None = field(default=None, kw_only=True)
    work: float = field(default=1.0, kw_only=True)

    def trips(self, env: Env) -> float:
        """Returns the number of iterations for the outer variables in `env`, at least 0."""
        if self.first is None or self.limit is None:
            return UNKNOWN_TRIPS.value
        distance = (self.limit.at(env) - self.first.at(env)) / self.step
        return 0.0 if not distance > 0 else distance if abs(self.step) == 1 else -(-distance // 1)

    def begin(self, env: Env) -> float:
        """Returns the first value of the loop variable."""
        return 0.0 if self.first is None else self.first.at(env)

    def middle_value(self, env: Env) -> float:
        """Returns the value of the loop variable in the middle of the iterations."""
        return self.begin(env) + self.step * max(0.0, self.trips(env) - 1) / 2

    def section_of(self, env: Env, length: float | None, cut: Cut | None) -> tuple[float, float]:
        """Returns the first value and the number of iterations of a part of the loop.

        `length` is the number of iterations in one thread's piece, or None for all iterations. The
        middle piece represents all pieces. `cut` is the executed part of the piece.
        """
        begin, trips = self.begin(env), self.trips(env)
        if length is not None and length < trips:
            begin += self.step * (trips - length) / 2
            trips = length
        if cut is not None:
            begin += self.step * trips * cut[0]
            trips *= cut[1] - cut[0]
        return begin, trips


@dataclass(frozen=True, slots=True)
class ReferenceGroup:
    """References to one array in one loop body whose byte addresses differ by constants.

    `index` is the group's position among the groups of the nest, and `loops` are the enclosing
    loops, outermost first. `slopes` are the address changes in bytes per unit of each variable.
    `offsets` are the constants in bytes, and `written` contains the offsets of stores. `irregular`
    groups have a data-dependent or non-affine address with a range of `extent` bytes. `private`
    says that every thread has its own array. `accesses` are in source order, `order` are their
    numbers in the region, and `places` are their offsets. `drifts` are the variables with different
    ranges in different threads. `aligned` says that the array starts on a cache line. `exact` gives
    the non-affine byte address of each access as a function of loop variables. `still` are the
    variables of the innermost loops in which irregular addresses are constant.
    """

    index: int
    array: str
    element: int
    slopes: dict[str, float]
    offsets: tuple[float, ...]
    written: tuple[float, ...]
    loops: tuple[LoopHeader, ...]
    irregular: bool
    extent: float
    private: bool
    accesses: tuple[Access, ...]
    order: tuple[int, ...]
    places: tuple[float, ...]
    drifts: frozenset[str] = frozenset()
    aligned: bool = False
    exact: tuple[Form | None, ...] = ()
    still: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NestLoop(LoopHeader):
    """A loop with its contents.

    `groups` are the references directly in the body. `groups_below` also contains the references
    of inner loops. `bounds_below` are the variables in bounds of inner loops. `moves_only` says
    that iterations differ only in the position of each array's accesses. Then no inner bound, and
    no distance between two affine accesses to an array, depends on the loop. `statements` are the
    statements directly in the body: (number in the region, executed share of iterations).
    """

    children: tuple[NestLoop, ...]
    groups: tuple[ReferenceGroup, ...]
    groups_below: tuple[ReferenceGroup, ...]
    bounds_below: frozenset[str]
    moves_only: bool
    statements: tuple[tuple[int, float], ...]


def with_contents(
    header: LoopHeader, children: tuple[NestLoop, ...], groups: tuple[ReferenceGroup, ...],
    statements: tuple[tuple[int, float], ...],
) -> NestLoop:  # fmt: skip
    """Returns a loop with this header and these contents."""
    below, bounds = list(groups), frozenset[str]()
    for child in children:
        below += child.groups_below
        bounds |= child.depends | child.bounds_below
    steps: dict[str, float] = {}
    moves_only = header.variable not in bounds and all(
        steps.setdefault(group.array, step) == step
        for group in below if not group.irregular
        for step in (group.slopes.get(header.variable, 0.0),)
    )  # fmt: skip
    return NestLoop(
        header.index, header.variable, header.first, header.limit, header.step, header.parallel,
        header.depends, header.line, header.counted, header.conditional, header.unordered,
        children, groups, tuple(below), bounds, moves_only, statements,
        share=header.share, held=header.held, work=header.work,
    )  # fmt: skip


def in_source_order(loop: NestLoop) -> list[NestLoop]:
    """Returns the loop and all loops inside it, in source order."""
    loops = [loop]
    for child in loop.children:
        loops += in_source_order(child)
    return loops


class GuardedWork(NamedTuple):
    """Statements under a condition on the parallel loop's variable.

    `work` is the number of their operations and accesses. `loops` are the loops between the
    parallel loop and them.
    """

    held: TrueIterations
    work: float
    loops: tuple[LoopHeader, ...]

    def at(self, env: Env) -> float:
        """The work in the iteration of the parallel loop that `env` describes."""
        inside, work = dict(env), self.work * self.held.share * self.held.at(env)
        for loop in self.loops:
            work *= loop.trips(inside)
            inside[loop.variable] = loop.middle_value(inside)
        return work


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A region as a loop nest. `loops` are in source order, starting with the worksharing loop.

    `parallel` are the loops whose iterations the threads share, outermost first. `assumed` has one
    line of text per assumed bound or extent, and `unbound` lists the names that replace them.
    `guarded` are statements that run in some ranges of the parallel loop only.
    """

    loops: tuple[NestLoop, ...]
    parallel: tuple[NestLoop, ...]
    assumed: tuple[str, ...]
    unbound: tuple[str, ...]
    guarded: tuple[GuardedWork, ...] = ()

    @property
    def root(self) -> NestLoop:
        """The worksharing loop."""
        return self.loops[0]

    def groups(self) -> Iterator[ReferenceGroup]:
        """Every reference group, in the source order of loops."""
        for loop in self.loops:
            yield from loop.groups


def innermost_iterations(loops: Iterable[NestLoop], env: Env) -> float:
    """Returns the number of innermost iterations of `loops`, with each outer variable in the middle
    of its range.
    """
    total = 0.0
    for loop in loops:
        trips = loop.trips(env)
        middle = loop.begin(env) + loop.step * max(0.0, trips - 1) / 2
        inside = {**env, loop.variable: middle}
        share = loop.share if loop.held is None else loop.share * loop.held.at(env)
        total += share * trips * max(1.0, innermost_iterations(loop.children, inside))
    return total


def operations_of(loops: Iterable[NestLoop], env: Env) -> float:
    """The approximate number of operations of `loops`, with each loop at the middle of its outer
    loops.
    """
    total = 0.0
    for loop in loops:
        trips = loop.trips(env)
        inside = {**env, loop.variable: loop.middle_value(env)}
        share = loop.share if loop.held is None else loop.share * loop.held.at(env)
        total += share * trips * (loop.work + operations_of(loop.children, inside))
    return total


def address_shift(group: ReferenceGroup, variable: str) -> float:
    """Returns the bytes by which a group's addresses move if `variable` increases by 1, directly
    and through the starts of inner loops.

    An inner loop counts only if its length is nearly constant: a block (`j = i; j < i + 8`), or
    rows of equal length. In triangular loops, accesses from different starts overlap.
    """
    follows = {variable: 1.0}
    for loop in group.loops:
        if (
            loop.variable != variable
            and isinstance(loop.first, Affine)
            and _has_constant_length(loop)
        ):
            moved = sum(slope * follows.get(name, 0.0) for name, slope in loop.first.slopes.items())
            if moved:
                follows[loop.variable] = moved
    return sum(slope * follows.get(name, 0.0) for name, slope in group.slopes.items())


def _has_constant_length(loop: LoopHeader) -> bool:
    """Whether a loop's length is independent of its start, except for an end such as
    `min(i + 8, n)`.
    """
    if not isinstance(loop.first, Affine) or loop.limit is None:
        return False
    if isinstance(loop.limit, Affine):
        return loop.limit.slopes == loop.first.slopes
    return loop.first.slopes.keys() <= loop.limit.names


def executed_shares(nest: LoopNest) -> tuple[float, ...]:
    """Returns, for every loop, the share of its iterations that run under all enclosing conditions
    with given shares.
    """
    shares: list[float] = []

    def visit(loop: NestLoop, outer_share: float) -> None:
        shares.append(outer_share * loop.share)
        for child in loop.children:
            visit(child, outer_share * loop.share)

    visit(nest.root, 1.0)
    return tuple(shares)


def body_executions(nest: LoopNest) -> tuple[tuple[float, float], ...]:
    """Returns the trip count and the number of body executions of every loop, with outer variables
    in the middle of their ranges.

    If the parallel variable selects between two bounds, as in `i < n / 10 ? 1000 : 1`, both results
    are means over samples along the parallel loop.
    """
    root = nest.root
    if not any(_is_selected(loop.limit, root.variable) for loop in nest.loops):
        return tuple(_executions_at(nest, root.middle_value({})))
    samples, last = int(PROFILE_SAMPLES.value), max(0.0, root.trips({}) - 1)
    found = [
        _executions_at(nest, root.begin({}) + root.step * (sample + 0.5) / samples * last)
        for sample in range(samples)
    ]
    return tuple(
        (sum(trips for trips, _ in one) / samples, sum(runs for _, runs in one) / samples)
        for one in zip(*found, strict=True)
    )


def _is_selected(limit: Form | None, variable: str) -> bool:
    return isinstance(limit, Curved) and variable in limit.names and "select" in limit.expr.kinds


def _executions_at(nest: LoopNest, place: float) -> list[tuple[float, float]]:
    """Returns trip counts and body executions for one value of the parallel loop's variable."""
    executions: list[tuple[float, float]] = []

    def visit(loop: NestLoop, env: dict[str, float], outer_executions: float) -> None:
        trips = loop.trips(env)
        middle = place if loop is nest.root else loop.middle_value(env)
        runs = outer_executions * loop.share * trips
        executions.append((trips, runs))
        for child in loop.children:
            visit(child, {**env, loop.variable: middle}, runs)

    visit(nest.root, {}, 1.0)
    return executions
