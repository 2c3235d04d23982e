"""Teams of random programs: counted by running them, team after team."""

from __future__ import annotations

from collections import Counter
from itertools import count, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.analysis import Bindings
from regionpredict.analysis.team_order import TeamKey, team_orders
from regionpredict.ir import Expr, Loop, Region, Span
from regionpredict.ir.expr import ONE, ZERO
from regionpredict.ir.flow import Block, CallEvent, Event, Flow


class Made:
    """A random program: functions that call those before them, loops of one to three turns."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines = count(1)
        self.regions: list[Region] = []
        self.turns: dict[Span, int] = {}
        self.bodies: dict[str, tuple[Event, ...]] = {}
        # Functions of loops alone may be called by a team, others start teams.
        for number in range(draw(st.integers(0, 2))):
            self.bodies[f"part{number}"] = self.events(2, [*self.bodies], teams=False)
        for number in range(draw(st.integers(0, 2))):
            self.bodies[f"step{number}"] = self.events(2, [*self.bodies], teams=True)
        self.bodies["main"] = self.events(3, [*self.bodies], teams=True)

    def events(self, depth: int, callees: list[str], *, teams: bool) -> tuple[Event, ...]:
        return tuple(
            self.event(depth, callees, teams=teams) for _ in range(self.draw(st.integers(0, 3)))
        )

    def event(self, depth: int, callees: list[str], *, teams: bool) -> Event:
        span = Span("f.c", next(self.lines))
        kinds = ["share"] + ["loop", "branch"] * (depth > 0) + ["call"] * bool(callees)
        kind = self.draw(st.sampled_from(kinds + ["parallel"] * (teams and depth > 0)))
        if kind == "share":
            region = f"f.c:{span.line}"
            self.regions.append(Region(region, span, "f", "for", (), "orphaned", 1, None, ()))
            return Block("share", (), span)
        if kind == "call":
            return CallEvent(self.draw(st.sampled_from(callees)), (), ("r",), span)
        if kind == "loop":
            self.turns[span] = self.draw(st.integers(1, 3))
        if kind == "parallel":  # which no team is inside of
            callees, teams = [name for name in callees if name.startswith("part")], False
        return Block(kind, self.events(depth - 1, callees, teams=teams), span)

    def flows(self) -> list[Flow]:
        return [Flow(name, (), body, Span(f"{name}.c", 1)) for name, body in self.bodies.items()]

    def run(self) -> tuple[list[TeamKey], dict[TeamKey, Counter[str]]]:
        """The teams one after the other, and how often each loop runs in one run of them."""
        order: list[TeamKey] = []
        members: dict[TeamKey, Counter[str]] = {}

        def go(events: tuple[Event, ...], team: Counter[str] | None) -> None:
            for event in events:
                if isinstance(event, CallEvent):
                    go(self.bodies[event.function], team)
                    continue
                assert isinstance(event, Block)
                if event.kind == "share":
                    region = f"f.c:{event.span.line}"
                    if team is not None:
                        team[region] += 1
                    else:
                        order.append(TeamKey(None, region))
                        members[order[-1]] = Counter([region])
                elif event.kind == "parallel":
                    inside: Counter[str] = Counter()
                    go(event.body, inside)
                    if inside:
                        order.append(TeamKey(event.span))
                        members[order[-1]] = inside
                else:
                    for _ in range(self.turns.get(event.span, 1)):
                        go(event.body, team)

        go(self.bodies["main"], None)
        return order, members


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_teams_of_random_programs(data: st.DataObject) -> None:
    """Programs of which nothing but `main` is run of its own accord."""
    made = Made(data.draw)
    waiting, used = ["main"], {"main"}
    while waiting:
        inside = every(made.bodies[waiting.pop()])
        called = {one.function for one in inside if isinstance(one, CallEvent)} - used
        used |= called
        waiting += called
    loops = {
        span: (Loop("t", ZERO, Expr.const(turns), "<", ONE, (), span), Bindings({}))
        for span, turns in made.turns.items()
    }
    flows = [flow for flow in made.flows() if flow.function in used]
    reached = {event.span for flow in flows for event in every(flow.body)}
    regions = [region for region in made.regions if region.span in reached]
    (order,) = team_orders(flows, regions, loops)
    run, members = made.run()
    executions = Counter(run)
    assert {key: runs.value for key, runs in order.executions.items()} == executions
    assert {key: runs.weight for key, runs in order.executions.items()} == executions
    changes = Counter(pair for pair in pairwise(run) if pair[0] != pair[1])
    assert order.changes == changes
    told = {
        key: {region: runs.value for region, runs in own.items()}
        for key, own in order.members.items()
    }
    assert told == members
    assert order.main == "main.c"


def every(events: tuple[Event, ...]) -> list[Event]:
    """The events and those inside."""
    inside = [one for event in events if isinstance(event, Block) for one in every(event.body)]
    return [*events, *inside]
