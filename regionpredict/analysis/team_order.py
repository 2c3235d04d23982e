"""Counts the executions of a program's parallel regions, and their order across functions, starting
at `main`.

A *team* is a `parallel` construct with all its work. The counts include loops and calls: a parallel
region in a function that a loop of five iterations calls runs five times. The branches of a
condition are assumed to run in sequence. Each branch is weighted by the share of executions in
which its condition holds, or has full weight if this share is unknown.
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


class _Scope(NamedTuple):
    """A block around an event: a loop, or the iteration of a loop in which the counter is `value`.

    With a `note`, it is a possible target of a call, which runs at most once per iteration of the
    outer loops. A `guard` selects the iterations that satisfy a condition. `early` is the location
    of an early exit.
    """

    span: Span
    value: int | None = None
    note: str = ""
    guard: Guard | None = None
    early: str = ""


class TeamKey(NamedTuple):
    """The key of a parallel region: the location of its `parallel`. For a combined or orphaned
    loop, it is the id of the loop.
    """

    parallel: Span | None
    region: str = ""


def team_of(region: Region) -> TeamKey:
    """Returns the key of the parallel region of a loop, according to the loop's own function."""
    if region.context == "inside" and region.parallel is not None:
        return TeamKey(region.parallel.span)
    return TeamKey(None, region.id)


@dataclass(slots=True)
class TeamOrder:
    """The parallel regions of one program.

    `executions` counts the executions of each parallel region. `members` gives the loops of each
    parallel region with their runs per execution. `changes` counts how often one parallel region
    directly follows another. `main` is the file of the program's `main`, or empty for unreachable
    code. `reached` are the parallel regions that the program reaches, including those in functions
    whose address is taken. `serial` are the loops on one thread, by location. `exclusive` are the
    loops that all threads of a parallel region run one after the other. `partial` says that a
    function on the path was parsed only in part, so that `main` may reach more regions.
    """

    main: str = ""
    executions: dict[TeamKey, Runs] = field(default_factory=dict)
    members: dict[TeamKey, dict[str, Runs]] = field(default_factory=dict)
    changes: dict[tuple[TeamKey, TeamKey], float] = field(default_factory=dict)
    reached: set[TeamKey] = field(default_factory=set)
    serial: dict[Span, Runs] = field(default_factory=dict)
    exclusive: dict[Span, Runs] = field(default_factory=dict)
    partial: bool = False


@dataclass(slots=True)
class _FunctionCounts:
    """The counts for one execution of a function."""

    order: TeamOrder = field(default_factory=TeamOrder)
    first: TeamKey | None = None
    last: TeamKey | None = None


class _Team(NamedTuple):
    key: TeamKey
    depth: int  # number of loops around it in its function
    members: dict[str, Runs]


def team_orders(
    flows: Sequence[Flow], regions: Iterable[Region],
    loops: Mapping[Span, tuple[Loop, Bindings]], guards: Guards = MappingProxyType({}),
    serial: Collection[Span] = (),
) -> tuple[TeamOrder, ...]:  # fmt: skip
    """Follows each program from its `main`. The orders omit loops that are not reached.

    Functions without visible callers do not run if `main` reaches parallel regions. If their
    addresses are taken, they run once after `main`, in the program of the only or nearest `main`
    (`main_of`). All remaining functions form the last order. `loops` are the serial loops with
    known headers, by location. `guards` are the conditions between them. `serial` are the locations
    of loops on one thread.
    """
    walk = _Traversal(flows, regions, loops, guards, frozenset(serial))
    called = called_functions(flows)
    mains = [flow for flow in flows if flow.function == "main"]
    rest = [flow for flow in flows if flow.function != "main" and flow.function not in called]
    if len(mains) < 2:
        return (_order_from(walk, [*mains, *rest], mains[0].span.file if mains else ""),)
    owned = [(flow, main_of(flow, mains)) for flow in rest]
    programs = [
        _order_from(walk, [main, *(flow for flow, owner in owned if owner is main)], main.span.file)
        for main in mains
    ]
    placed = {name for program in programs for own in program.members.values() for name in own}
    left = _order_from(walk, [flow for flow, owner in owned if owner is None], "")
    for key in [key for key, own in left.members.items() if placed.issuperset(own)]:
        del left.members[key], left.executions[key]
    return (*programs, left)


def _order_from(walk: _Traversal, roots: Sequence[Flow], main: str) -> TeamOrder:
    whole = _FunctionCounts(TeamOrder(main))
    for root in roots:
        summary = walk.summary(root, None)
        if main and root.function != "main":
            summary.order.serial.clear()
            summary.order.exclusive.clear()
        _add_summary(whole, summary, _executions_of_root(root))
        if root.function == "main" or root.pointed:
            whole.order.reached.update(summary.order.executions)
            whole.order.partial |= summary.order.partial
    if main and whole.order.reached:
        _mark_unreachable(whole.order)
    return whole.order


def mark_not_executed(order: TeamOrder, regions: Collection[str]) -> None:
    """Records that parallel regions whose loops are all in `regions` do not run. Has no effect if
    `main` reaches no other regions.
    """
    idle = {key for key, own in order.members.items() if own and set(regions).issuperset(own)}
    if order.main and not idle.issuperset(order.reached):
        order.reached -= idle
        _mark_unreachable(order)


def _mark_unreachable(order: TeamOrder) -> None:
    """Marks parallel regions that `main` cannot reach as not executed, unless code is missing."""
    if order.partial:
        return
    idle = order.executions.keys() - order.reached
    order.executions.update(dict.fromkeys(idle, _IDLE))
    for pair in [pair for pair in order.changes if not idle.isdisjoint(pair)]:
        del order.changes[pair]


def _executions_of_root(flow: Flow) -> Runs:
    """Returns the number of executions of a function without visible callers."""
    if flow.meant:
        return NEVER  # none of the known calls through pointers reaches it
    if not flow.pointed or flow.function == "main":
        return ONCE
    name = flow.function.partition("(")[0]
    note = f"the caller of {name}() through a pointer is unknown, and is assumed to call it once"
    note += " (--sizes-from RUNS gives the number of executions)"
    return Runs(None, None, 1.0, (note,))


def _add_summary(to: _FunctionCounts, other: _FunctionCounts, runs: Runs) -> None:
    """Adds the counts of `other`, multiplied by the number of runs."""
    for key, own in other.order.executions.items():
        _add_team(to.order, key, other.order.members[key], own.times(runs))
    for span, own in other.order.serial.items():
        _add_runs(to.order.serial, span, own.times(runs))
    for span, own in other.order.exclusive.items():
        _add_runs(to.order.exclusive, span, own.times(runs))
    for pair, often in other.order.changes.items():
        to.order.changes[pair] = to.order.changes.get(pair, 0.0) + often * runs.weight


class _Traversal:
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
        self.known: dict[tuple[Span, str, Numbers], _FunctionCounts] = {}
        self.members: dict[tuple[Span, str, Numbers], dict[str, Runs]] = {}
        self.stack: list[Flow] = []
        self.arguments: list[Mapping[int, Number]] = []
        self.entered: set[tuple[Span, str, Numbers]] = set()
        self.cut: set[tuple[Span, str]] = set()  # recursive functions that are not followed further

    def summary(self, flow: Flow, team: _Team | None, numbers: Numbers = ()) -> _FunctionCounts:
        """Returns the counts for one execution of a function with these arguments. Within a
        parallel region `team`, the loops of the function are added to its members.
        """
        summary = _FunctionCounts(TeamOrder(partial=flow.partial))
        self.stack.append(flow)
        self.arguments.append(dict(numbers))
        self._add_events(flow, flow.body, [], team, summary)
        self.arguments.pop()
        self.stack.pop()
        return summary

    def _add_events(
        self, flow: Flow, events: Sequence[Event], nest: list[_Scope], team: _Team | None,
        counts: _FunctionCounts,
    ) -> None:  # fmt: skip
        reports = [
            event.span for event in events if isinstance(event, Block) and _writes_message(event)
        ]
        for event in events:
            if isinstance(event, CallEvent):
                self._add_call(flow, event, nest, team, counts)
            elif isinstance(event, Block):
                before = dict(counts.order.serial) if event.span in reports else None
                self._add_block(flow, event, nest, team, counts)
                if before is not None and reports.count(event.span) == 1:
                    guard = self.guards.get((event.span, event.side))
                    if guard and not guard.with_arguments(self.arguments[-1]).is_decided:
                        counts.order.serial = before

    def _add_block(
        self,
        flow: Flow,
        block: Block,
        nest: list[_Scope],
        team: _Team | None,
        counts: _FunctionCounts,
    ) -> None:
        if block.kind == "share":
            for region in self.regions.get(block.span, ()):
                self._add_region(region, nest, team, counts)
        elif block.kind == "parallel" and team is None:
            own = _Team(TeamKey(block.span), len(nest), {})
            self._add_events(flow, block.body, nest, own, counts)
            if own.members:
                self._add_parallel_region(own, nest, counts)
        elif block.kind == "one" and team is not None:
            self._add_events(flow, block.body, nest, team, counts)
            self._add_calls_of_one_thread(flow, block.body, nest, counts.order)
        elif block.kind == "exclusive" and team is not None:
            inside = _FunctionCounts()
            self._add_events(flow, block.body, nest, team, inside)
            self._add_calls_of_one_thread(flow, block.body, nest, inside.order)
            for span, runs in inside.order.serial.items():
                _add_runs(counts.order.exclusive, span, runs)
        elif block.kind == "loop":
            self._add_loop(flow, block, nest, team, counts)
        elif block.kind == "turn":
            around = _Scope(block.span, block.value)
            self._add_events(flow, block.body, [*nest, around], team, counts)
        elif block.kind == "choice":
            self._add_call_target(flow, block, nest, team, counts)
        elif block.kind == "branch" and (block.span, block.side) in self.guards:
            guard = self.guards[block.span, block.side].with_arguments(self.arguments[-1])
            # An undecided early return is assumed to handle an error, so it is not taken.
            if block.note != BEHIND_RETURN or guard.is_decided:
                nest = [*nest, _Scope(block.span, guard=guard)]
            self._add_events(flow, block.body, nest, team, counts)
        else:
            self._add_events(flow, block.body, nest, team, counts)

    def _add_calls_of_one_thread(
        self, flow: Flow, events: Sequence[Event], nest: list[_Scope], order: TeamOrder
    ) -> None:
        """Adds the serial loops of functions that a `single` or `master` calls. The other threads
        wait for them.
        """
        for event in events:
            if isinstance(event, CallEvent):
                self._add_serial_loops_of_call(flow, event, nest, order)
            elif (
                isinstance(event, Block)
                and event.kind in ("loop", "branch")
                and event.span not in self.serial
            ):
                inner = [*nest, _Scope(event.span)] if event.kind == "loop" else nest
                self._add_calls_of_one_thread(flow, event.body, inner, order)

    def _add_serial_loops_of_call(
        self, flow: Flow, call: CallEvent, nest: list[_Scope], order: TeamOrder
    ) -> None:
        """Adds the serial loops of a called function."""
        callee = self.callees.of(flow, call.function, call.file)
        if callee is None:
            return
        numbers = self.deciding.deciding_arguments(flow, call, callee, self.arguments[-1])
        runs = self._executions(nest)
        if self._can_be_followed(callee, numbers, runs):
            called, more = self._summary_of(callee, numbers)
            for span, own in called.order.serial.items():
                _add_runs(order.serial, span, own.times(runs.times(more)))

    def _add_call_target(
        self,
        flow: Flow,
        block: Block,
        nest: list[_Scope],
        team: _Team | None,
        counts: _FunctionCounts,
    ) -> None:
        """Adds a possible target of a call. The target is called in any iteration of the outer
        loops, or in a known iteration.
        """
        around = _Scope(block.span, note=block.note)
        inner = [around if (loop.span, loop.value, loop.guard) == (block.span, None, None) else loop
                 for loop in nest]  # fmt: skip
        inner = inner if around in inner else [*inner, around]
        self._add_events(flow, block.body, inner, team, counts)

    def _add_loop(
        self,
        flow: Flow,
        block: Block,
        nest: list[_Scope],
        team: _Team | None,
        counts: _FunctionCounts,
    ) -> None:
        inner = [*nest, _Scope(block.span, early=block.note)]
        inside = _FunctionCounts(order=counts.order)
        before = dict(counts.order.serial)
        self._add_events(flow, block.body, inner, team, inside)
        if inside.first is None or inside.last is None:
            if block.span in self.serial:
                counts.order.serial = before  # replaces the loops in the functions that it calls
                _add_runs(counts.order.serial, block.span, self._executions(nest))
            return
        back = self._executions(inner).weight - self._executions(nest).weight
        _add_transition(counts, inside.last, inside.first, back)
        self._append_in_order(counts, inside.first, inside.last, nest)

    def _add_region(
        self, region: Region, nest: list[_Scope], team: _Team | None, counts: _FunctionCounts
    ) -> None:
        if team is not None and region.context != "combined":
            runs = self._runs_per_team(nest, team.depth)
            team.members[region.id] = team.members.get(region.id, NEVER).plus(runs)
        elif team is None or team.key.parallel == region.span:
            self._add_parallel_region(
                _Team(team_of(region), len(nest), {region.id: ONCE}), nest, counts
            )

    def _add_parallel_region(
        self, team: _Team, nest: list[_Scope], counts: _FunctionCounts
    ) -> None:
        _add_team(counts.order, team.key, team.members, self._executions(nest[: team.depth]))
        self._append_in_order(counts, team.key, team.key, nest)

    def _append_in_order(
        self, counts: _FunctionCounts, first: TeamKey, last: TeamKey, nest: list[_Scope]
    ) -> None:
        if counts.last is not None:
            _add_transition(counts, counts.last, first, self._executions(nest).weight)
        counts.first = counts.first or first
        counts.last = last

    def _add_call(
        self,
        flow: Flow,
        call: CallEvent,
        nest: list[_Scope],
        team: _Team | None,
        counts: _FunctionCounts,
    ) -> None:
        callee = self.callees.of(flow, call.function, call.file)
        if callee is None:
            if call.span in self.serial:
                _add_runs(counts.order.serial, call.span, self._executions(nest))
            return
        numbers = self.deciding.deciding_arguments(flow, call, callee, self.arguments[-1])
        runs = self._executions(nest) if team is None else self._runs_per_team(nest, team.depth)
        if not self._can_be_followed(callee, numbers, runs):
            return
        if team is not None:
            for region, own in self._members_of(callee, numbers).items():
                team.members[region] = team.members.get(region, NEVER).plus(own.times(runs))
            return
        called, more = self._summary_of(callee, numbers)
        _add_summary(counts, called, runs.times(more))
        counts.order.partial |= called.order.partial
        if called.first is not None and called.last is not None:
            self._append_in_order(counts, called.first, called.last, nest)

    def _can_be_followed(self, callee: Flow, numbers: Numbers, runs: Runs) -> bool:
        """Whether a call is followed. A recursive call is followed if its depth is known: the
        arguments change and determine whether it calls again.
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

    def _summary_of(self, callee: Flow, numbers: Numbers) -> tuple[_FunctionCounts, Runs]:
        """Returns the counts for one execution of a function, and a factor. The factor carries a
        note for a recursion of unknown depth.
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
        return self.known[key], _recursion_note(callee)

    def _members_of(self, callee: Flow, numbers: Numbers) -> dict[str, Runs]:
        """Returns the loops that one call of a function adds to the calling parallel region."""
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
        more = _recursion_note(callee)
        return {region: own.times(more) for region, own in self.members[key].items()}

    def _runs_per_team(self, nest: Sequence[_Scope], depth: int) -> Runs:
        """Returns the number of executions inside these loops per execution of the parallel region
        at nesting `depth`. It is an average if it depends on a loop around the parallel region.
        """
        outside = {around.span for around in nest[:depth]}
        guards = [around.guard for around in nest[depth:] if around.guard is not None]
        if not any(span in outside for guard in guards for _, span in guard.counters):
            return self._executions(nest[depth:])
        whole, teams = self._executions(nest), self._executions(nest[:depth])
        value = None
        if whole.value is not None and teams.value:
            each, rest = divmod(whole.value, teams.value)
            value = None if rest else each
        weight = whole.weight / teams.weight if teams.weight else 0.0
        return Runs(None, value, weight, whole.assumed)

    def _executions(self, nest: Sequence[_Scope]) -> Runs:
        """Returns the number of executions of the body of these loops, which are in one
        function.
        """
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
        notes += [_early_exit_note(around) for around in nest if around.early]
        guards = [around.guard for around in nest if around.guard is not None]
        runs = guarded_runs([*known, *unknown], bindings, guards)
        if not notes:
            return runs
        return runs.times(Runs(None, None, 1.0, tuple(dict.fromkeys(notes))))


def _writes_message(block: Block) -> bool:
    """Whether a branch of a condition prints a message.

    Such a branch is assumed to be rare if its condition is undecided and only this branch has
    serial loops.
    """
    return block.kind == "branch" and any(
        isinstance(event, CallEvent) and event.function in MESSAGES for event in block.body
    )


def _recursion_note(callee: Flow) -> Runs:
    name = callee.function.partition("(")[0]
    return Runs(None, None, 1.0, (f"{name}() is recursive, which is ignored",))


def _early_exit_note(around: _Scope) -> str:
    line = around.early.rpartition(":")[2]
    return (
        f"the loop at {around.span.short} may end at the break in line {line}, and is assumed to "
        "continue"
    )


def _add_team(order: TeamOrder, key: TeamKey, members: dict[str, Runs], runs: Runs) -> None:
    """Adds executions of a parallel region. If the region does not always call the same function,
    the counts of its members are averages.
    """
    before = order.executions.get(key, NEVER)
    order.executions[key] = before.plus(runs)
    known = order.members.setdefault(key, members)
    if known is members or known == members or not before.weight + runs.weight:
        return
    order.members[key] = {
        region: _average_runs(known.get(region, NEVER), before, members.get(region, NEVER), runs)
        for region in {**known, **members}
    }


def _add_runs(counts: dict[Span, Runs], span: Span, runs: Runs) -> None:
    counts[span] = counts.get(span, NEVER).plus(runs)


def _one_iteration(loop: Loop, value: int) -> Loop:
    """Returns a loop reduced to the iteration with this value of its counter."""
    at = Expr.const(value)
    return replace(loop, start=at, bound=at, comparison="<=", step=ONE)


def _average_runs(first: Runs, often: Runs, other: Runs, more: Runs) -> Runs:
    """Returns the average of two counts: `first`, which applies `often` times, and `other`, which
    applies `more` times.
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


def _add_transition(counts: _FunctionCounts, first: TeamKey, then: TeamKey, often: float) -> None:
    changes = counts.order.changes
    if first != then and often > 0:
        changes[first, then] = changes.get((first, then), 0.0) + often
