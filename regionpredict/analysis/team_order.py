"""The order and the number of executions of a program's parallel regions, across functions,
starting at `main`.

A *team* is a `parallel` construct with all its work. Loops and calls count: a team in a function
that a loop of five iterations calls runs five times. The branches of a condition are assumed to run
in sequence. Each counts with the share of executions in which its condition holds, or fully if that
is undecided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.analysis.bindings import Bindings
from regionpredict.analysis.callees import Callees, main_of
from regionpredict.analysis.deciding_numbers import DecidingNumbers, Numbers
from regionpredict.analysis.execution_counts import NEVER, ONCE, Guard, Guards, Runs, guarded_runs
from regionpredict.ir import Expr, Loop, Region, Span
from regionpredict.ir.expr import ONE
from regionpredict.ir.flow import BEHIND_RETURN, Block, CallEvent, Event, Flow, called_functions
from regionpredict.ir.folding import Number
from regionpredict.library import MESSAGES

_MAX_DEPTH = 60
_IDLE = NEVER._replace(assumed=("main apparently does not reach it",))


class _Around(NamedTuple):
    """A repetition of an event. It is a loop, or one iteration of a loop in which the counter is
    `value`. With a `note`, it is a possible target of a call, which runs at most once each time. A
    `guard` selects the values that fulfill it. `early` is the place of an early exit.
    """

    span: Span
    value: int | None = None
    note: str = ""
    guard: Guard | None = None
    early: str = ""


class TeamKey(NamedTuple):
    """The key of a team: the place of its `parallel`. For a loop that starts a team or is orphaned,
    it is the loop's id.
    """

    parallel: Span | None
    region: str = ""


def team_of(region: Region) -> TeamKey:
    """The key of the parallel region of a loop, according to its own function."""
    if region.context == "inside" and region.parallel is not None:
        return TeamKey(region.parallel.span)
    return TeamKey(None, region.id)


@dataclass(slots=True)
class TeamOrder:
    """One program. `executions` counts the executions of each parallel region, and `members` gives
    its loops with their runs per execution. `changes` counts how often one parallel region directly
    follows another. `main` is the file of its `main`. It is empty for unreachable code. `reached`
    are the parallel regions that the program reaches, including functions whose address is taken.
    `serial` are the loops on one thread, by place. `partial` says that a function on the path was
    read only in part, so `main` may reach more regions.
    """

    main: str = ""
    executions: dict[TeamKey, Runs] = field(default_factory=dict)
    members: dict[TeamKey, dict[str, Runs]] = field(default_factory=dict)
    changes: dict[tuple[TeamKey, TeamKey], float] = field(default_factory=dict)
    reached: set[TeamKey] = field(default_factory=set)
    serial: dict[Span, Runs] = field(default_factory=dict)
    partial: bool = False


@dataclass(slots=True)
class _Summary:
    """The counts for one run of a function."""

    order: TeamOrder = field(default_factory=TeamOrder)
    first: TeamKey | None = None
    last: TeamKey | None = None


class _Team(NamedTuple):
    key: TeamKey
    depth: int  # number of enclosing loops in its function
    members: dict[str, Runs]


def team_orders(
    flows: Sequence[Flow], regions: Iterable[Region],
    loops: Mapping[Span, tuple[Loop, Bindings]], guards: Guards = MappingProxyType({}),
    serial: Collection[Span] = (),
) -> tuple[TeamOrder, ...]:  # fmt: skip
    """Follows each program from its `main`. Loops that are not reached have no parallel region
    here.

    Functions without visible callers do not run if `main` reaches others. If their addresses are
    taken, they run once after it, in the program of the only or nearest `main` (`main_of`). All
    remaining functions form the last order. `loops` are the serial loops with known headers, by
    place. `guards` are the conditions between them. `serial` are the places of loops on one thread.
    """
    walk = _Walk(flows, regions, loops, guards, frozenset(serial))
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
        if main and root.function != "main":
            summary.order.serial.clear()
        _add(whole, summary, _executions_of_root(root))
        if root.function == "main" or root.pointed:
            whole.order.reached.update(summary.order.executions)
            whole.order.partial |= summary.order.partial
    if main and whole.order.reached:
        _without_idle(whole.order)
    return whole.order


def leave_out(order: TeamOrder, regions: Collection[str]) -> None:
    """Records that parallel regions with only these loops do not run. Has no effect if `main`
    reaches no other regions.
    """
    idle = {key for key, own in order.members.items() if own and set(regions).issuperset(own)}
    if order.main and not idle.issuperset(order.reached):
        order.reached -= idle
        _without_idle(order)


def _without_idle(order: TeamOrder) -> None:
    """Marks parallel regions that `main` cannot reach as not executed, unless part of the program
    is missing.
    """
    if order.partial:
        return
    idle = order.executions.keys() - order.reached
    order.executions.update(dict.fromkeys(idle, _IDLE))
    for pair in [pair for pair in order.changes if not idle.isdisjoint(pair)]:
        del order.changes[pair]


def _executions_of_root(flow: Flow) -> Runs:
    """The number of executions of a function without visible callers."""
    if flow.meant:
        return NEVER  # for example, in a table with another called element
    if not flow.pointed or flow.function == "main":
        return ONCE
    name = flow.function.partition("(")[0]
    note = f"the caller of {name}() through a pointer is unknown, and is assumed to call it once"
    note += " (--sizes-from RUNS gives the number of executions)"
    return Runs(None, None, 1.0, (note,))


def _add(to: _Summary, other: _Summary, runs: Runs) -> None:
    """Adds the events of `other`, multiplied by this number of runs."""
    for key, own in other.order.executions.items():
        _add_team(to.order, key, other.order.members[key], own.times(runs))
    for span, own in other.order.serial.items():
        _add_serial(to.order, span, own.times(runs))
    for pair, often in other.order.changes.items():
        to.order.changes[pair] = to.order.changes.get(pair, 0.0) + often * runs.weight


class _Walk:
    def __init__(
        self, flows: Sequence[Flow], regions: Iterable[Region],
        loops: Mapping[Span, tuple[Loop, Bindings]], guards: Guards, serial: frozenset[Span],
    ) -> None:  # fmt: skip
        self.guards = guards
        self.serial = serial
        self.callees = Callees(flows)
        self.regions: dict[Span, list[Region]] = {}
        for region in regions:
            self.regions.setdefault(region.span, []).append(region)
        self.loops = loops
        self.deciding = DecidingNumbers(flows, self.callees, guards)
        self.known: dict[tuple[Span, str, Numbers], _Summary] = {}
        self.members: dict[tuple[Span, str, Numbers], dict[str, Runs]] = {}
        self.stack: list[Flow] = []
        self.given: list[Mapping[int, Number]] = []
        self.entered: set[tuple[Span, str, Numbers]] = set()
        self.cut: set[tuple[Span, str]] = set()  # recursions that are cut off

    def summary(self, flow: Flow, team: _Team | None, numbers: Numbers = ()) -> _Summary:
        """The counts for one run of a function by one thread with these arguments. In a team, the
        regions of the function belong to the team's members.
        """
        summary = _Summary(TeamOrder(partial=flow.partial))
        self.stack.append(flow)
        self.given.append(dict(numbers))
        self._events(flow, flow.body, [], team, summary)
        self.given.pop()
        self.stack.pop()
        return summary

    def _events(
        self, flow: Flow, events: Sequence[Event], nest: list[_Around], team: _Team | None,
        into: _Summary,
    ) -> None:  # fmt: skip
        reports = [
            event.span for event in events if isinstance(event, Block) and _writes_message(event)
        ]
        for event in events:
            if isinstance(event, CallEvent):
                self._call(flow, event, nest, team, into)
            elif isinstance(event, Block):
                before = dict(into.order.serial) if event.span in reports else None
                self._block(flow, event, nest, team, into)
                if before is not None and reports.count(event.span) == 1:
                    guard = self.guards.get((event.span, event.side))
                    if guard is not None and not guard.with_arguments(self.given[-1]).is_decided:
                        into.order.serial = before

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
        elif block.kind == "branch" and (block.span, block.side) in self.guards:
            guard = self.guards[block.span, block.side].with_arguments(self.given[-1])
            # An undecided early return is assumed to handle an error, so it is not taken.
            if block.note != BEHIND_RETURN or guard.is_decided:
                nest = [*nest, _Around(block.span, guard=guard)]
            self._events(flow, block.body, nest, team, into)
        else:
            self._events(flow, block.body, nest, team, into)

    def _choice(
        self, flow: Flow, block: Block, nest: list[_Around], team: _Team | None, into: _Summary
    ) -> None:
        """Adds the possible targets of a call. Each is called in any iteration of the outer loops,
        or in a known iteration.
        """
        around = _Around(block.span, note=block.note)
        inner = [around if (loop.span, loop.value, loop.guard) == (block.span, None, None) else loop
                 for loop in nest]  # fmt: skip
        inner = inner if around in inner else [*inner, around]
        self._events(flow, block.body, inner, team, into)

    def _loop(
        self, flow: Flow, block: Block, nest: list[_Around], team: _Team | None, into: _Summary
    ) -> None:
        inner = [*nest, _Around(block.span, early=block.note)]
        inside = _Summary(order=into.order)
        before = dict(into.order.serial)
        self._events(flow, block.body, inner, team, inside)
        if inside.first is None or inside.last is None:
            if team is None and block.span in self.serial:
                into.order.serial = before  # includes its calls
                _add_serial(into.order, block.span, self._runs(nest))
            return
        back = self._runs(inner).weight - self._runs(nest).weight
        _follows(into, inside.last, inside.first, back)
        self._next(into, inside.first, inside.last, nest)

    def _region(
        self, region: Region, nest: list[_Around], team: _Team | None, into: _Summary
    ) -> None:
        if team is not None and region.context != "combined":
            runs = self._runs_per_team(nest, team.depth)
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
        self, flow: Flow, call: CallEvent, nest: list[_Around], team: _Team | None, into: _Summary
    ) -> None:
        callee = self.callees.of(flow, call.function, call.file)
        if callee is None:
            return
        numbers = self.deciding.deciding_arguments(flow, call, callee, self.given[-1])
        runs = self._runs(nest) if team is None else self._runs_per_team(nest, team.depth)
        if not self._can_be_followed(callee, numbers, runs):
            return
        if team is not None:
            for region, own in self._members_of(callee, numbers).items():
                team.members[region] = team.members.get(region, NEVER).plus(own.times(runs))
            return
        called, more = self._summary_of(callee, numbers)
        _add(into, called, runs.times(more))
        into.order.partial |= called.order.partial
        if called.first is not None and called.last is not None:
            self._next(into, called.first, called.last, nest)

    def _can_be_followed(self, callee: Flow, numbers: Numbers, runs: Runs) -> bool:
        """Whether a call is followed. A recursion is followed if its depth is known, so its
        arguments must change and decide the next call.
        """
        if callee not in self.stack and len(self.stack) <= _MAX_DEPTH:
            return True
        if runs.value == 0:
            return False
        deeper = numbers and runs.value is not None and len(self.stack) <= _MAX_DEPTH
        if deeper and (callee.span, callee.function, numbers) not in self.entered:
            return True
        self.cut.add((callee.span, callee.function))
        return False

    def _summary_of(self, callee: Flow, numbers: Numbers) -> tuple[_Summary, Runs]:
        """The counts for one run of a function, and the additional runs. There are additional runs
        only for a recursion of unknown depth.
        """
        key = (callee.span, callee.function, numbers)
        if key not in self.known:
            self.entered.add(key)
            self.known[key] = self.summary(callee, None, numbers)
            self.entered.remove(key)
        if key[:2] not in self.cut:
            return self.known[key], ONCE
        if numbers and callee not in self.stack:
            return self._summary_of(callee, ())
        return self.known[key], _repeated(callee)

    def _members_of(self, callee: Flow, numbers: Numbers) -> dict[str, Runs]:
        """The loops that one call of a function adds to the parallel region that calls it."""
        key = (callee.span, callee.function, numbers)
        if key not in self.members:
            team = _Team(TeamKey(None), 0, {})
            self.entered.add(key)
            self.summary(callee, team, numbers)
            self.entered.remove(key)
            self.members[key] = team.members
        if key[:2] not in self.cut:
            return self.members[key]
        if numbers and callee not in self.stack:
            return self._members_of(callee, ())
        more = _repeated(callee)
        return {region: own.times(more) for region, own in self.members[key].items()}

    def _runs_per_team(self, nest: Sequence[_Around], depth: int) -> Runs:
        """The number of runs inside these loops for each run of the team at a given depth. It is an
        average if a loop around the team decides.
        """
        outside = {around.span for around in nest[:depth]}
        guards = [around.guard for around in nest[depth:] if around.guard is not None]
        if not any(span in outside for guard in guards for _, span in guard.counters):
            return self._runs(nest[depth:])
        whole, teams = self._runs(nest), self._runs(nest[:depth])
        value = None
        if whole.value is not None and teams.value:
            each, rest = divmod(whole.value, teams.value)
            value = None if rest else each
        weight = whole.weight / teams.weight if teams.weight else 0.0
        return Runs(None, value, weight, whole.assumed)

    def _runs(self, nest: Sequence[_Around]) -> Runs:
        """The number of executions of the body of these loops, which are in one function."""
        known, unknown, bindings = [], [], Bindings({})
        for around in nest:
            without_header = around.note or around.guard is not None
            header = None if without_header else self.loops.get(around.span)
            if header is not None:
                loop, bindings = header
                known.append(loop if around.value is None else _one_iteration(loop, around.value))
            elif around.value is None and not without_header:
                line = around.span.line
                unknown.append(Loop(f"loop@{line}", None, None, "", None, (), around.span))
        notes = [around.note for around in nest if around.note]
        notes += [_left_early(around) for around in nest if around.early]
        guards = [around.guard for around in nest if around.guard is not None]
        runs = guarded_runs([*known, *unknown], bindings, guards)
        if not notes:
            return runs
        return runs.times(Runs(None, None, 1.0, tuple(dict.fromkeys(notes))))


def _writes_message(block: Block) -> bool:
    """Whether a branch of a condition writes a message.

    Such a branch is assumed to be rare if its condition is undecided and only this branch has
    serial loops.
    """
    return block.kind == "branch" and any(
        isinstance(event, CallEvent) and event.function in MESSAGES for event in block.body
    )


def _repeated(callee: Flow) -> Runs:
    name = callee.function.partition("(")[0]
    return Runs(None, None, 1.0, (f"{name}() is recursive, which is ignored",))


def _left_early(around: _Around) -> str:
    line = around.early.rpartition(":")[2]
    return (
        f"the loop at {around.span.short} may end at the break in line {line}, and is assumed to "
        "continue"
    )


def _add_team(order: TeamOrder, key: TeamKey, members: dict[str, Runs], runs: Runs) -> None:
    """Adds executions of a parallel region. The counts of its members are averages if it does not
    always call the same function.
    """
    before = order.executions.get(key, NEVER)
    order.executions[key] = before.plus(runs)
    known = order.members.setdefault(key, members)
    if known is members or known == members or not before.weight + runs.weight:
        return
    order.members[key] = {
        region: _averaged(known.get(region, NEVER), before, members.get(region, NEVER), runs)
        for region in {**known, **members}
    }


def _add_serial(order: TeamOrder, span: Span, runs: Runs) -> None:
    order.serial[span] = order.serial.get(span, NEVER).plus(runs)


def _one_iteration(loop: Loop, value: int) -> Loop:
    """A loop reduced to the iteration with this value of its counter."""
    at = Expr.const(value)
    return replace(loop, start=at, bound=at, comparison="<=", step=ONE)


def _averaged(first: Runs, often: Runs, other: Runs, more: Runs) -> Runs:
    """The average of the number of runs in `first`, and of those in `other` for the additional
    runs.
    """
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
