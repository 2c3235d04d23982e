"""In what order a program's teams run and how often, across functions, from `main` on.

A team is the threads of one `parallel` construct, and all that they do until its end. Loops and
calls count: a team in a function that a loop of five iterations calls runs five times. The sides
of a branch are taken to run one after the other, each every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from regionpredict.analysis.bindings import Bindings
from regionpredict.analysis.callees import Callees, main_of
from regionpredict.analysis.facts import count_of_loops
from regionpredict.analysis.iterations import executions
from regionpredict.constant import Constant
from regionpredict.ir import Expr, Loop, Region, Span
from regionpredict.ir.flow import Block, Event, Flow, Handed, called_functions

ASSUMED_TRIPS = Constant(
    10.0, "iterations", "assumed", "a serial loop whose trip count is not known repeats its teams"
)
_MAX_DEPTH = 60


class Runs(NamedTuple):
    """How often something runs: symbolic and as a number, None where that is not known.

    `weight` is the number, with `ASSUMED_TRIPS` for each loop that is not known.
    """

    expr: Expr | None
    value: int | None
    weight: float

    def times(self, other: Runs) -> Runs:
        """Each of these runs that often."""
        expr = None
        if self.expr is not None and other.expr is not None:
            expr = self.expr * other.expr
        value = None
        if self.value is not None and other.value is not None:
            value = self.value * other.value
        return Runs(expr, value, self.weight * other.weight)

    def plus(self, other: Runs) -> Runs:
        """These and the others."""
        expr = None
        if self.expr is not None and other.expr is not None:
            expr = self.expr + other.expr
        value = None
        if self.value is not None and other.value is not None:
            value = self.value + other.value
        return Runs(expr, value, self.weight + other.weight)

    def at(self, values: Mapping[str, int | Fraction]) -> float:
        """The number with these values for names; the weight where they do not tell."""
        if self.value is not None or self.expr is None:
            return self.weight
        number = self.expr.evaluate(values)
        return self.weight if number is None else max(0.0, float(number))


ONCE = Runs(Expr.const(1), 1, 1.0)
NEVER = Runs(Expr.const(0), 0, 0.0)


def runs_of(loops: Sequence[Loop], bindings: Bindings) -> Runs:
    """How often the body of a nest (outermost first) runs.

    >>> from regionpredict.ir.expr import ONE, ZERO
    >>> outer = Loop("t", ZERO, Expr.name("nt"), "<", ONE, (), Span("f.c", 1))
    >>> runs_of((outer,), Bindings({"nt": 7}))[1:], runs_of((outer,), Bindings({}))[1:]
    ((7, 7.0), (None, 10.0))
    """
    if not loops:
        return ONCE
    count = count_of_loops(executions(tuple(loops)), bindings)
    if count.value is not None:
        return Runs(count.expr, count.value, float(count.value))
    weight = 1.0
    for loop in loops:
        trips = bindings.whole(loop.trips)
        weight *= ASSUMED_TRIPS.value if trips is None else max(0, trips)
    return Runs(count.expr, None, weight)


class TeamKey(NamedTuple):
    """A team: the place of its `parallel`, or the id of a loop that starts it or stands alone."""

    parallel: Span | None
    region: str = ""


def team_of(region: Region) -> TeamKey:
    """The team that a region is in by its own function."""
    if region.context == "inside" and region.parallel is not None:
        return TeamKey(region.parallel.span)
    return TeamKey(None, region.id)


@dataclass(slots=True)
class TeamOrder:
    """One program: `executions` of each team, its `members` with their runs in one of them, and
    `changes`: how often the second of two teams is the next after the first. `main` is the file of
    its `main`, empty of what no `main` comes to.
    """

    main: str = ""
    executions: dict[TeamKey, Runs] = field(default_factory=dict)
    members: dict[TeamKey, dict[str, Runs]] = field(default_factory=dict)
    changes: dict[tuple[TeamKey, TeamKey], float] = field(default_factory=dict)


@dataclass(slots=True)
class _Summary:
    """One run of a function."""

    order: TeamOrder = field(default_factory=TeamOrder)
    first: TeamKey | None = None
    last: TeamKey | None = None


class _Team(NamedTuple):
    key: TeamKey
    depth: int  # loops of the function around it
    members: dict[str, Runs]


def team_orders(
    flows: Sequence[Flow], regions: Iterable[Region],
    loops: Mapping[Span, tuple[Loop, Bindings]],
) -> tuple[TeamOrder, ...]:  # fmt: skip
    """Follows each program from its `main`; regions that none comes to have no team here.

    Functions that nobody is seen to call run after `main`: the only one, or the nearest
    (`main_of`). What is left then is the last order. `loops` are the serial ones whose headers are
    known, by their places.
    """
    walk = _Walk(flows, regions, loops)
    called = called_functions(flows)
    mains = [flow for flow in flows if flow.function == "main"]
    rest = [flow for flow in flows if flow.function != "main" and flow.function not in called]
    if len(mains) < 2:
        return (_order(walk, [*mains, *rest], mains[0].span.file if mains else ""),)
    owned = [(flow, main_of(flow, mains)) for flow in rest]
    programs = [
        _order(walk, [main, *(flow for flow, owner in owned if owner is main)], main.span.file)
        for main in mains
    ]
    placed = {name for program in programs for own in program.members.values() for name in own}
    left = _order(walk, [flow for flow, owner in owned if owner is None], "")
    for key in [key for key, own in left.members.items() if placed.issuperset(own)]:
        del left.members[key], left.executions[key]
    return (*programs, left)


def _order(walk: _Walk, roots: Sequence[Flow], main: str) -> TeamOrder:
    whole = _Summary(TeamOrder(main))
    for root in roots:
        _add(whole, walk.summary(root, None), ONCE)
    return whole.order


def _add(to: _Summary, other: _Summary, runs: Runs) -> None:
    """Adds what happens in so many runs of `other`."""
    for key, own in other.order.executions.items():
        to.order.executions[key] = to.order.executions.get(key, NEVER).plus(own.times(runs))
        to.order.members.setdefault(key, other.order.members[key])
    for pair, often in other.order.changes.items():
        to.order.changes[pair] = to.order.changes.get(pair, 0.0) + often * runs.weight


class _Walk:
    def __init__(
        self, flows: Sequence[Flow], regions: Iterable[Region],
        loops: Mapping[Span, tuple[Loop, Bindings]],
    ) -> None:  # fmt: skip
        self.callees = Callees(flows)
        self.regions: dict[Span, list[Region]] = {}
        for region in regions:
            self.regions.setdefault(region.span, []).append(region)
        self.loops = loops
        self.known: dict[tuple[Span, str], _Summary] = {}
        self.members: dict[tuple[Span, str], dict[str, Runs]] = {}
        self.stack: list[Flow] = []

    def summary(self, flow: Flow, team: _Team | None) -> _Summary:
        """One run of a function by one thread; of a team, the regions go to its members."""
        summary = _Summary()
        self.stack.append(flow)
        self._events(flow, flow.body, [], team, summary)
        self.stack.pop()
        return summary

    def _events(
        self, flow: Flow, events: Sequence[Event], nest: list[Span], team: _Team | None,
        into: _Summary,
    ) -> None:  # fmt: skip
        for event in events:
            if isinstance(event, Handed):
                self._call(flow, event, nest, team, into)
            elif isinstance(event, Block):
                self._block(flow, event, nest, team, into)

    def _block(
        self, flow: Flow, block: Block, nest: list[Span], team: _Team | None, into: _Summary
    ) -> None:
        if block.kind == "share":
            for region in self.regions.get(block.span, ()):
                self._region(region, nest, team, into)
        elif block.kind == "parallel" and team is None:
            own = _Team(TeamKey(block.span), len(nest), {})
            self._events(flow, block.body, nest, own, into)
            if own.members:
                self._team(own, nest, into)
        elif block.kind == "loop":
            self._loop(flow, block, nest, team, into)
        else:
            self._events(flow, block.body, nest, team, into)

    def _loop(
        self, flow: Flow, block: Block, nest: list[Span], team: _Team | None, into: _Summary
    ) -> None:
        inner = [*nest, block.span]
        inside = _Summary(order=into.order)
        self._events(flow, block.body, inner, team, inside)
        if inside.first is None or inside.last is None:
            return
        back = self._runs(inner).weight - self._runs(nest).weight
        _follows(into, inside.last, inside.first, back)
        self._next(into, inside.first, inside.last, nest)

    def _region(self, region: Region, nest: list[Span], team: _Team | None, into: _Summary) -> None:
        if team is not None and region.context != "combined":
            runs = self._runs(nest[team.depth :])
            team.members[region.id] = team.members.get(region.id, NEVER).plus(runs)
        elif team is None or team.key.parallel == region.span:
            self._team(_Team(team_of(region), len(nest), {region.id: ONCE}), nest, into)

    def _team(self, team: _Team, nest: list[Span], into: _Summary) -> None:
        order = into.order
        runs = self._runs(nest[: team.depth])
        order.executions[team.key] = order.executions.get(team.key, NEVER).plus(runs)
        order.members.setdefault(team.key, team.members)
        self._next(into, team.key, team.key, nest)

    def _next(self, into: _Summary, first: TeamKey, last: TeamKey, nest: list[Span]) -> None:
        if into.last is not None:
            _follows(into, into.last, first, self._runs(nest).weight)
        into.first = into.first or first
        into.last = last

    def _call(
        self, flow: Flow, call: Handed, nest: list[Span], team: _Team | None, into: _Summary
    ) -> None:
        callee = self.callees.of(flow, call.function)
        if callee is None or callee in self.stack or len(self.stack) > _MAX_DEPTH:
            return
        if team is not None:
            runs = self._runs(nest[team.depth :])
            for region, own in self._members_of(callee).items():
                team.members[region] = team.members.get(region, NEVER).plus(own.times(runs))
            return
        key = (callee.span, callee.function)
        if key not in self.known:
            self.known[key] = self.summary(callee, None)
        called = self.known[key]
        _add(into, called, self._runs(nest))
        if called.first is not None and called.last is not None:
            self._next(into, called.first, called.last, nest)

    def _members_of(self, callee: Flow) -> dict[str, Runs]:
        """The regions that one call of a function adds to the team that calls it."""
        key = (callee.span, callee.function)
        if key not in self.members:
            team = _Team(TeamKey(None), 0, {})
            self.summary(callee, team)
            self.members[key] = team.members
        return self.members[key]

    def _runs(self, nest: Sequence[Span]) -> Runs:
        """How often the body of these loops of one function runs."""
        headers = [self.loops.get(span) for span in nest]
        known = [header for header in headers if header is not None]
        bindings = known[-1][1] if known else Bindings({})
        unknown = [
            Loop(f"loop@{span.line}", None, None, "", None, (), span)
            for span, header in zip(nest, headers, strict=True) if header is None
        ]  # fmt: skip
        return runs_of([*(loop for loop, _ in known), *unknown], bindings)


def _follows(into: _Summary, first: TeamKey, then: TeamKey, often: float) -> None:
    changes = into.order.changes
    if first != then and often > 0:
        changes[first, then] = changes.get((first, then), 0.0) + often
