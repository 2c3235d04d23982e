"""In what order a program's teams run and how often, across functions, from `main` on.

A team is the threads of one `parallel` construct, and all that they do until its end. Loops and
calls count: a team in a function that a loop of five iterations calls runs five times. The sides
of a branch are taken to run one after the other, each every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

    `weight` is the number, with `ASSUMED_TRIPS` for each loop that is not known; where `assumed`
    says, a line each, what is not known of the functions that are called, it is the most.
    """

    expr: Expr | None
    value: int | None
    weight: float
    assumed: tuple[str, ...] = ()

    def times(self, other: Runs) -> Runs:
        """Each of these runs that often."""
        expr = None
        if self.expr is not None and other.expr is not None:
            expr = self.expr * other.expr
        value = None
        if self.value is not None and other.value is not None:
            value = self.value * other.value
        return Runs(expr, value, self.weight * other.weight, self._assumed_with(other))

    def plus(self, other: Runs) -> Runs:
        """These and the others."""
        expr = None
        if self.expr is not None and other.expr is not None:
            expr = self.expr + other.expr
        value = None
        if self.value is not None and other.value is not None:
            value = self.value + other.value
        return Runs(expr, value, self.weight + other.weight, self._assumed_with(other))

    def _assumed_with(self, other: Runs) -> tuple[str, ...]:
        if not self.assumed or not other.assumed:
            return self.assumed or other.assumed
        return tuple(dict.fromkeys((*self.assumed, *other.assumed)))

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
    >>> runs_of((outer,), Bindings({"nt": 7}))[1:3], runs_of((outer,), Bindings({}))[1:3]
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


class _Around(NamedTuple):
    """What repeats an event: a loop, the turn of one with its counter at `value`, or, with a
    `note`, a call that may mean another function: at most once each time."""

    span: Span
    value: int | None = None
    note: str = ""


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
    its `main`, empty of what no `main` comes to; `reached` are the teams that it is seen to come
    to, or that a function has whose address is taken.
    """

    main: str = ""
    executions: dict[TeamKey, Runs] = field(default_factory=dict)
    members: dict[TeamKey, dict[str, Runs]] = field(default_factory=dict)
    changes: dict[tuple[TeamKey, TeamKey], float] = field(default_factory=dict)
    reached: set[TeamKey] = field(default_factory=set)


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
        summary = walk.summary(root, None)
        _add(whole, summary, _of_root(root))
        if root.function == "main" or root.pointed:
            whole.order.reached.update(summary.order.executions)
    return whole.order


def _of_root(flow: Flow) -> Runs:
    """How often a function runs that nobody is seen to call."""
    if flow.meant:
        return NEVER  # of a table, say, of which another part is called
    if not flow.pointed or flow.function == "main":
        return ONCE
    name = flow.function.partition("(")[0]
    note = f"what calls {name}() through a pointer is not seen, and is taken to do so once"
    return Runs(None, None, 1.0, (note,))


def _add(to: _Summary, other: _Summary, runs: Runs) -> None:
    """Adds what happens in so many runs of `other`."""
    for key, own in other.order.executions.items():
        _add_team(to.order, key, other.order.members[key], own.times(runs))
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
        self, flow: Flow, events: Sequence[Event], nest: list[_Around], team: _Team | None,
        into: _Summary,
    ) -> None:  # fmt: skip
        for event in events:
            if isinstance(event, Handed):
                self._call(flow, event, nest, team, into)
            elif isinstance(event, Block):
                self._block(flow, event, nest, team, into)

    def _block(
        self, flow: Flow, block: Block, nest: list[_Around], team: _Team | None, into: _Summary
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
        elif block.kind == "turn":
            around = _Around(block.span, block.value)
            self._events(flow, block.body, [*nest, around], team, into)
        elif block.kind == "choice":
            self._choice(flow, block, nest, team, into)
        else:
            self._events(flow, block.body, nest, team, into)

    def _choice(
        self, flow: Flow, block: Block, nest: list[_Around], team: _Team | None, into: _Summary
    ) -> None:
        """What may be called: in any turn of the loops around, or in one of those of its own."""
        around = _Around(block.span, note=block.note)
        inner = [around if loop == _Around(block.span) else loop for loop in nest]
        inner = inner if around in inner else [*inner, around]
        self._events(flow, block.body, inner, team, into)

    def _loop(
        self, flow: Flow, block: Block, nest: list[_Around], team: _Team | None, into: _Summary
    ) -> None:
        inner = [*nest, _Around(block.span)]
        inside = _Summary(order=into.order)
        self._events(flow, block.body, inner, team, inside)
        if inside.first is None or inside.last is None:
            return
        back = self._runs(inner).weight - self._runs(nest).weight
        _follows(into, inside.last, inside.first, back)
        self._next(into, inside.first, inside.last, nest)

    def _region(
        self, region: Region, nest: list[_Around], team: _Team | None, into: _Summary
    ) -> None:
        if team is not None and region.context != "combined":
            runs = self._runs(nest[team.depth :])
            team.members[region.id] = team.members.get(region.id, NEVER).plus(runs)
        elif team is None or team.key.parallel == region.span:
            self._team(_Team(team_of(region), len(nest), {region.id: ONCE}), nest, into)

    def _team(self, team: _Team, nest: list[_Around], into: _Summary) -> None:
        _add_team(into.order, team.key, team.members, self._runs(nest[: team.depth]))
        self._next(into, team.key, team.key, nest)

    def _next(self, into: _Summary, first: TeamKey, last: TeamKey, nest: list[_Around]) -> None:
        if into.last is not None:
            _follows(into, into.last, first, self._runs(nest).weight)
        into.first = into.first or first
        into.last = last

    def _call(
        self, flow: Flow, call: Handed, nest: list[_Around], team: _Team | None, into: _Summary
    ) -> None:
        callee = self.callees.of(flow, call.function, call.file)
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

    def _runs(self, nest: Sequence[_Around]) -> Runs:
        """How often the body of these loops of one function runs."""
        known, unknown, bindings = [], [], Bindings({})
        for span, value, note in nest:
            header = None if note else self.loops.get(span)
            if header is not None:
                loop, bindings = header
                known.append(loop if value is None else _turn(loop, value))
            elif value is None and not note:
                unknown.append(Loop(f"loop@{span.line}", None, None, "", None, (), span))
        runs = runs_of([*known, *unknown], bindings)
        notes = tuple(dict.fromkeys(around.note for around in nest if around.note))
        return runs.times(Runs(None, None, 1.0, notes)) if notes else runs


def _add_team(order: TeamOrder, key: TeamKey, members: dict[str, Runs], runs: Runs) -> None:
    """Adds runs of a team; its members are what they are on average, where a function that it
    calls is not always the same."""
    before = order.executions.get(key, NEVER)
    order.executions[key] = before.plus(runs)
    known = order.members.setdefault(key, members)
    if known is members or known == members or not before.weight + runs.weight:
        return
    order.members[key] = {
        region: _on_average(known.get(region, NEVER), before, members.get(region, NEVER), runs)
        for region in {**known, **members}
    }


def _turn(loop: Loop, value: int) -> Loop:
    """A loop of one iteration, in which its counter has this value."""
    at = Expr.const(value)
    return replace(loop, start=at, bound=at, comparison="<=", step=Expr.const(1))


def _on_average(first: Runs, often: Runs, other: Runs, more: Runs) -> Runs:
    """How often it runs each time, if `first` so often and `other` in what comes in addition."""
    if first == other:
        return first
    whole = first.times(often).plus(other.times(more))
    times = often.plus(more)
    value = None
    if whole.value is not None and times.value:
        each, rest = divmod(whole.value, times.value)
        value = None if rest else each
    return Runs(None, value, whole.weight / times.weight, whole.assumed)


def _follows(into: _Summary, first: TeamKey, then: TeamKey, often: float) -> None:
    changes = into.order.changes
    if first != then and often > 0:
        changes[first, then] = changes.get((first, then), 0.0) + often
