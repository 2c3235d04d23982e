"""The loop nest in numbers. Loops have numeric bounds, and references have affine addresses.

References to one array whose addresses differ by a constant form a reference group ("uniformly
generated", Wolf and Lam 1991). For example, `a[i-1]`, `a[i]` and `a[i+1]` are one stream. Its
strides determine the footprint in whole cache lines, so the cost of counting does not depend on
sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from regionpredict.ir import Access, Expr
from regionpredict.workload.constants import PROFILE_SAMPLES, UNKNOWN_TRIPS
from regionpredict.workload.derived_number import evaluated
from regionpredict.workload.held_branches import TrueIterations

Env = Mapping[str, float]
"""The values of the variables of outer loops."""
Conditional = Literal["", "values", "elements", "code"]
"""The contents of branches in a loop body. They say how difficult vectorization is."""
Cut = tuple[float, float]
"""The start and the end of the executed part of a loop's iterations, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Affine:
    """The form `constant + sum(slopes[v] * v)` over loop variables."""

    constant: float
    slopes: dict[str, float]

    def at(self, env: Env) -> float:
        """The value for given loop variables. A missing one counts as 0."""
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
        """The value at rounded loop variables. NaN if there is no value."""
        bound: dict[str, int | Fraction] = dict(self.values)
        for name in self.names:
            bound[name] = round(env.get(name, 0.0))
        value = evaluated(self.expr, bound)
        return float("nan") if value is None else value


@dataclass(frozen=True, slots=True)
class Substituted:
    """A form in which an affine value replaces one of the variables."""

    form: Curved | Substituted | Less
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
class Less:
    """A form minus an affine value."""

    form: Form
    begin: Affine

    @property
    def names(self) -> frozenset[str]:
        """The loop variables in the form."""
        return self.form.names | self.begin.names

    def at(self, env: Env) -> float:
        """The value for given loop variables. NaN if there is no value."""
        return self.form.at(env) - self.begin.at(env)


Form = Affine | Curved | Substituted | Less


@dataclass(frozen=True, slots=True)
class LoopHeader:
    """A loop with numeric bounds. Its `variable` takes `trips` values, from `start` in steps of
    `step`.

    `index` is its position among the loops of the nest in source order. `first` and `limit` are
    forms over the outer loops' variables, with `limit` exclusive in the direction of `step`. Both
    are None for unknown bounds (`trips` is then `UNKNOWN_TRIPS`). `parallel` loops share their
    iterations among the threads. `depends` are the variables in its bounds. `unordered` are scalars
    that it may sum in any order. `counted`: a `for` without early exits. `conditional` is the
    content of branches directly in its body. It is "" for none, "values" if they only set variables
    of the loop, "elements" if they access elements that move with it, else "code". `share` is the
    share of outer iterations in which it runs. It is 1 unless conditions have a given share or
    depend on the parallel loop's variable. `held` are the ranges along that loop.
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

    def trips(self, env: Env) -> float:
        """The number of iterations for the outer loops' values in `env`, at least 0."""
        if self.first is None or self.limit is None:
            return UNKNOWN_TRIPS.value
        distance = (self.limit.at(env) - self.first.at(env)) / self.step
        return 0.0 if not distance > 0 else distance if abs(self.step) == 1 else -(-distance // 1)

    def begin(self, env: Env) -> float:
        """The first value of the variable."""
        return 0.0 if self.first is None else self.first.at(env)

    def middle(self, env: Env) -> float:
        """The value of the variable in the middle of the iterations."""
        return self.begin(env) + self.step * max(0.0, self.trips(env) - 1) / 2

    def section(self, env: Env, length: float | None, cut: Cut | None) -> tuple[float, float]:
        """(first value, iterations) of a part of the loop.

        `length` is the number of iterations in one thread's piece. None means all iterations. The
        middle piece represents all. `cut` is the executed part of the piece.
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
    """References to one array in one loop body. Their byte addresses differ by constants.

    `index` is its position among the groups of the nest, and `loops` are the loops around it,
    outermost first. `slopes` are the address changes in bytes per unit of each variable, `offsets`
    the constants in bytes, and `written` those that are stored to. `irregular` groups have a
    data-dependent or non-affine address, and `extent` is the range in bytes. `private`: every
    thread has its own array. `accesses` are in source order, `order` are their numbers in the
    region, and `places` their offsets. `drifts` are the variables in which threads are at different
    positions. `aligned`: the array is declared with its extents, and starts on a cache line.
    `exact` gives the byte address by access if it is not affine or only approximated, and depends
    only on loop variables. `still` are the variables of the innermost loops in which irregular
    addresses are constant.
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

    `groups` are the references directly in its body. `groups_below` are those at any depth,
    starting with its own. `bounds_below` are the variables in bounds of inner loops. `statements`
    are the direct statements: (number in the region, share of the iterations that execute it).
    """

    children: tuple[NestLoop, ...]
    groups: tuple[ReferenceGroup, ...]
    groups_below: tuple[ReferenceGroup, ...]
    bounds_below: frozenset[str]
    statements: tuple[tuple[int, float], ...]


def with_contents(
    header: LoopHeader, children: tuple[NestLoop, ...], groups: tuple[ReferenceGroup, ...],
    statements: tuple[tuple[int, float], ...],
) -> NestLoop:  # fmt: skip
    """A loop with this header and these contents."""
    below, bounds = list(groups), frozenset[str]()
    for child in children:
        below += child.groups_below
        bounds |= child.depends | child.bounds_below
    return NestLoop(
        header.index, header.variable, header.first, header.limit, header.step, header.parallel,
        header.depends, header.line, header.counted, header.conditional, header.unordered,
        children, groups, tuple(below), bounds, statements, share=header.share, held=header.held,
    )  # fmt: skip


def in_source_order(loop: NestLoop) -> list[NestLoop]:
    """The loop and all loops inside it."""
    loops = [loop]
    for child in loop.children:
        loops += in_source_order(child)
    return loops


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A region in numbers. It contains all loops in source order, starting with the worksharing
    loop.

    `parallel` are the loops whose iterations the threads share, outermost first. `assumed` has one
    line for each assumed bound or extent, and `unbound` lists the names to set for them.
    """

    loops: tuple[NestLoop, ...]
    parallel: tuple[NestLoop, ...]
    assumed: tuple[str, ...]
    unbound: tuple[str, ...]

    @property
    def root(self) -> NestLoop:
        """The worksharing loop."""
        return self.loops[0]

    def groups(self) -> Iterator[ReferenceGroup]:
        """Every reference group, in the source order of loops."""
        for loop in self.loops:
            yield from loop.groups


def innermost_iterations(loops: Iterable[NestLoop], env: Env) -> float:
    """The number of innermost iterations of `loops`, with each loop at the middle of its outer
    loops.
    """
    total = 0.0
    for loop in loops:
        trips = loop.trips(env)
        middle = loop.begin(env) + loop.step * max(0.0, trips - 1) / 2
        inside = {**env, loop.variable: middle}
        share = loop.share if loop.held is None else loop.share * loop.held.at(env)
        total += share * trips * max(1.0, innermost_iterations(loop.children, inside))
    return total


def moved_with(group: ReferenceGroup, variable: str) -> float:
    """The number of bytes by which a group's addresses move with the variable of an outer loop,
    directly and through the starts of inner loops.

    An inner loop counts only if its length is about constant: a block (`j = i; j < i + 8`), or rows
    of one length. In a triangle, accesses from different starts overlap.
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
    """Whether a loop's length does not depend on its start. An end such as `min(i + 8, n)` is
    ignored.
    """
    if not isinstance(loop.first, Affine) or loop.limit is None:
        return False
    if isinstance(loop.limit, Affine):
        return loop.limit.slopes == loop.first.slopes
    return loop.first.slopes.keys() <= loop.limit.names


def shares_of_runs(nest: LoopNest) -> tuple[float, ...]:
    """For every loop, the share of its iterations that remains under conditions with given
    shares.
    """
    shares: list[float] = []

    def visit(loop: NestLoop, around: float) -> None:
        shares.append(around * loop.share)
        for child in loop.children:
            visit(child, around * loop.share)

    visit(nest.root, 1.0)
    return tuple(shares)


def body_executions(nest: LoopNest) -> tuple[tuple[float, float], ...]:
    """The trip count and the number of executions of the body of every loop, with outer loops at
    their middle.

    The variable of the parallel loop may select between two bounds, as in `i < n / 10 ? 1000 : 1`.
    The middle then has only one of them. Both results are then means over samples along the
    parallel loop.
    """
    root = nest.root
    if not any(_is_chosen(loop.limit, root.variable) for loop in nest.loops):
        return tuple(_executions_at(nest, root.middle({})))
    samples, last = int(PROFILE_SAMPLES.value), max(0.0, root.trips({}) - 1)
    found = [
        _executions_at(nest, root.begin({}) + root.step * (sample + 0.5) / samples * last)
        for sample in range(samples)
    ]
    return tuple(
        (sum(trips for trips, _ in one) / samples, sum(runs for _, runs in one) / samples)
        for one in zip(*found, strict=True)
    )


def _is_chosen(limit: Form | None, variable: str) -> bool:
    return isinstance(limit, Curved) and variable in limit.names and "select" in limit.expr.kinds


def _executions_at(nest: LoopNest, place: float) -> list[tuple[float, float]]:
    """The trip counts and body executions at one position of the parallel loop's variable."""
    executions: list[tuple[float, float]] = []

    def visit(loop: NestLoop, env: dict[str, float], around: float) -> None:
        trips = loop.trips(env)
        middle = place if loop is nest.root else loop.middle(env)
        runs = around * loop.share * trips
        executions.append((trips, runs))
        for child in loop.children:
            visit(child, {**env, loop.variable: middle}, runs)

    visit(nest.root, {}, 1.0)
    return executions
