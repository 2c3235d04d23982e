"""Groups worksharing loops by parallel region, and counts the executions of each region.

The loops of one `parallel` construct form a *team*. A combined `parallel for` is a team with one
loop. A `for` outside any `parallel` of its function is orphaned, or belongs to the teams that call
the function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from regionpredict.analysis.bindings import Bindings, bind_definitions
from regionpredict.analysis.execution_counts import ONCE, Guard, Guards, Runs, runs_of
from regionpredict.analysis.facts import RegionFacts
from regionpredict.analysis.team_order import (
    TeamKey,
    TeamOrder,
    mark_not_executed,
    team_of,
    team_orders,
)
from regionpredict.ir import Definition, Expr, Loop, ParallelConstruct, Program, Span
from regionpredict.ir.flow import Block, Flow, every_event


class TeamMember(NamedTuple):
    """A loop of a parallel region, and its number of executions per execution of the region."""

    facts: RegionFacts
    runs: Runs


class TeamConstruct(NamedTuple):
    """A construct in a parallel region outside its loops: its `kind` (`barrier`, `single`, ...),
    and its number of executions per execution of the region.

    `waits` says that the construct ends with a barrier.
    """

    kind: str
    waits: bool
    line: int
    runs: Runs


@dataclass(frozen=True, slots=True)
class TeamFacts:
    """One parallel region: its loops in source order, and its executions in the program.

    `span` is the location of the `parallel`. If no `parallel` is visible (`forks` is False), `span`
    is the location of the loop. `constructs` are those in the `parallel` but outside its loops.
    """

    id: str
    span: Span
    function: str
    members: tuple[TeamMember, ...]
    executions: Runs
    construct: ParallelConstruct | None
    constructs: tuple[TeamConstruct, ...]
    forks: bool

    @property
    def size_set_before(self) -> str:
        """The number of threads that manually shared loops assume instead of querying it. Empty if
        any number of threads is correct.
        """
        return next((member.facts.region.team_size for member in self.members
                     if member.facts.region.team_size), "")  # fmt: skip


class ProgramOrder(NamedTuple):
    """The order of parallel regions in one program.

    `executions` maps the ids of the parallel regions, in the order of their first execution, to
    their execution counts. `changes` counts how often one region directly follows another. `main`
    is the file of the program's `main`, or empty for unreachable code. `reached` are the parallel
    regions that the program reaches. `serial` gives the runs of loops on one thread, by location.
    `exclusive` gives the runs per thread of loops that threads run one after the other.
    """

    main: str
    executions: Mapping[str, Runs]
    changes: Mapping[tuple[str, str], float]
    reached: frozenset[str] = frozenset()
    serial: Mapping[Span, Runs] = MappingProxyType({})
    exclusive: Mapping[Span, Runs] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ProgramTeams:
    """The parallel regions of all programs, ordered by file and line, and the programs that contain
    them, one per `main`.
    """

    teams: tuple[TeamFacts, ...]
    programs: tuple[ProgramOrder, ...]

    @property
    def changes(self) -> dict[tuple[str, str], float]:
        """The number of times that one parallel region directly follows another, over all
        programs.
        """
        often: dict[tuple[str, str], float] = {}
        for program in self.programs:
            for pair, times in program.changes.items():
                often[pair] = often.get(pair, 0.0) + times
        return often

    @property
    def region_executions(self) -> dict[str, float]:
        """The number of executions of each region over all programs, by id."""
        often: dict[str, float] = {}
        for team in self.teams:
            for member in team.members:
                name = member.facts.region.id
                own = team.executions.weight * member.runs.weight
                often[name] = often.get(name, 0.0) + own
        return often

    def with_facts(self, facts: Sequence[RegionFacts]) -> ProgramTeams:
        """Returns the same parallel regions with other facts for their loops."""
        by_id = {own.region.id: own for own in facts}
        return replace(self, teams=tuple(
            replace(team, members=tuple(
                member._replace(facts=by_id[member.facts.region.id]) for member in team.members
            ))
            for team in self.teams
        ))  # fmt: skip

    @property
    def unreached_regions(self) -> frozenset[str]:
        """The parallel regions that no `main` reaches. Empty if there is no `main`."""
        if not any(program.main for program in self.programs):
            return frozenset()
        reached = {team for program in self.programs for team in program.reached}
        return frozenset(team.id for team in self.teams if team.id not in reached)

    @property
    def loops_outside(self) -> frozenset[str]:
        """The loops whose parallel regions are all unreachable, although `main` reaches other
        regions.
        """
        runs: dict[str, bool] = {}
        for team in self.teams:
            idle = team.executions.value == 0 and team.id in self.unreached_regions
            for member in team.members:
                name = member.facts.region.id
                runs[name] = runs.get(name, False) or not idle
        return frozenset(name for name, running in runs.items() if not running)


def program_teams(
    program: Program, facts: Sequence[RegionFacts], given: Mapping[str, int],
    recorded: Mapping[str, int] = MappingProxyType({}), *, same_build: bool = True,
) -> ProgramTeams:  # fmt: skip
    """Returns the parallel regions of all programs. Without a `main`, all functions without a
    caller form one program.

    `recorded` gives the runs of regions by id, which take precedence over the source. A run of
    another build (`same_build` is False) counts only for regions whose number of runs is not in the
    source.
    """
    loops = serial_loops(program, given)
    for own in facts:
        loops.update({loop.span: (loop, own.bindings) for loop in own.region.enclosing})
    shares = program.work_shares
    orders = team_orders(
        program.flows, program.regions, loops, guards_of(program, given),
        {nest.region.span for nest in program.serial},
    )  # fmt: skip
    for order in orders:
        mark_not_executed(order, program.not_entered)
        for counts in (order.serial, order.exclusive):
            for place in counts.keys() & shares.keys():
                counts[place] = _scaled_runs(counts[place], shares[place])
    by_id = {own.region.id: own for own in facts}
    members: dict[TeamKey, dict[str, Runs]] = {}
    executions: dict[TeamKey, Runs] = {}
    for order in orders:
        for key, runs in order.members.items():
            members.setdefault(key, dict(runs))
        for key, often in order.executions.items():
            executions[key] = executions[key].plus(often) if key in executions else often
    placed = {name for own in members.values() for name in own}
    for own in facts:
        key = team_of(own.region)
        # If no program reaches the region, its own function gives the number of executions.
        if own.region.id not in placed:
            members.setdefault(key, {})[own.region.id] = _runs_in_function(own)
    functions = _functions_with_teams(program.flows)
    teams = {
        key: with_recorded_runs(
            _team_facts(key, _region_name(key), own, by_id, executions.get(key), functions),
            recorded,
            same_build=same_build,
        )
        for key, own in members.items()
    }
    teams = {key: _weighted_by_work(team, shares) for key, team in teams.items()}
    alone = {key: team.executions for key, team in teams.items() if key not in executions}
    ratios = {
        key: teams[key].executions.weight / runs.weight if runs.weight else 1.0
        for key, runs in executions.items()
    }  # fmt: skip
    seen_to_run = {
        key: teams[key].executions for key, runs in executions.items()
        if not runs.weight and teams[key].executions.weight
    }  # fmt: skip
    programs = [
        _program_order(order, {key: runs for key, runs in seen_to_run.items()
                         if key in order.executions}, ratios)
        for order in orders
    ]  # fmt: skip
    last = programs[-1]
    with_alone = {**last.executions, **{_region_name(key): runs for key, runs in alone.items()}}
    programs[-1] = last._replace(executions=with_alone)
    return ProgramTeams(
        tuple(sorted(teams.values(), key=lambda team: (team.span.file, team.span.line,
                                                       team.span.column))),
        tuple(program for program in programs if program.executions),
    )  # fmt: skip


def _weighted_by_work(team: TeamFacts, shares: Mapping[Span, float]) -> TeamFacts:
    """Returns a parallel region whose loops are weighted by their mean work per execution."""
    own = [shares.get(member.facts.region.span, 1.0) for member in team.members]
    if len(own) == 1:
        return replace(team, executions=_scaled_runs(team.executions, own[0]))
    members = [
        member._replace(runs=_scaled_runs(member.runs, share))
        for member, share in zip(team.members, own, strict=True)
    ]
    return replace(team, members=tuple(members))


def _scaled_runs(runs: Runs, share: float) -> Runs:
    """Converts an execution count to the equivalent number of executions at the selected size."""
    return runs._replace(weight=runs.weight * share)


def _program_order(
    order: TeamOrder, others: Mapping[TeamKey, Runs], ratios: Mapping[TeamKey, float]
) -> ProgramOrder:
    """Returns the order of a program. `others` are parallel regions that the program does not
    reach. `ratios` are the ratios of recorded to derived executions.
    """
    executions = {
        key: runs._replace(value=None, weight=runs.weight * ratios[key])
        if ratios[key] != 1.0 else runs
        for key, runs in order.executions.items()
    }  # fmt: skip
    return ProgramOrder(
        order.main,
        {_region_name(key): runs for key, runs in {**executions, **others}.items()},
        {
            (_region_name(a), _region_name(b)): often * min(ratios[a], ratios[b])
            for (a, b), often in order.changes.items()
        },
        frozenset(_region_name(key) for key in order.reached),
        order.serial,
        order.exclusive,
    )


def with_recorded_runs(
    team: TeamFacts, recorded: Mapping[str, int], *, same_build: bool = True
) -> TeamFacts:
    """Returns a parallel region whose execution count is computed from the recorded executions of
    its loops. If nothing was recorded, the count comes from the source.

    For example, a loop runs twice per execution of a parallel region with six executions, so it
    runs twelve times. Any two of these three numbers determine the third.
    """
    runs = team.executions
    counts = {
        recorded[member.facts.region.id] // member.runs.value
        for member in team.members
        if member.facts.region.id in recorded and member.runs.value
    }
    count = counts.pop() if len(counts) == 1 else None
    if count is not None and runs.value is None:
        runs = runs._replace(value=count, weight=float(count), assumed=())
    elif count not in (None, runs.value) and same_build:
        note = f"as recorded; the source says {runs.value}"
        runs = Runs(None, count, float(count), (note,))
    elif recorded and not any(member.facts.region.id in recorded for member in team.members):
        note = "from the source; the recorded run covers other regions only"
        runs = runs._replace(assumed=(*runs.assumed, note))
    members = [
        member._replace(runs=_runs_in(member, runs.value, recorded)) for member in team.members
    ]
    return replace(team, executions=runs, members=tuple(members))


def _runs_in(member: TeamMember, team_runs: int | None, recorded: Mapping[str, int]) -> Runs:
    """Returns the number of executions of a loop per execution of its parallel region."""
    all_runs = recorded.get(member.facts.region.id)
    if member.runs.value is not None or all_runs is None or not team_runs:
        return member.runs
    each, rest = divmod(all_runs, team_runs)
    each_time = None if rest else each
    return member.runs._replace(value=each_time, weight=all_runs / team_runs, assumed=())


def serial_loops(program: Program, given: Mapping[str, int]) -> dict[Span, tuple[Loop, Bindings]]:
    """Returns the loops that call functions, with values for the names in their headers. The key is
    the location of the loop.
    """
    return {
        loop.loop.span: (loop.loop, bind_definitions(loop.definitions, given))
        for loop in program.loops
    }


def guards_of(program: Program, given: Mapping[str, int]) -> Guards:
    """Returns the conditions around calls and parallel regions, with known values substituted."""
    guards: dict[tuple[Span, int], Guard] = {}
    known: dict[tuple[Definition, ...], Bindings] = {}
    for branch in program.branches:
        if branch.definitions not in known:
            known[branch.definitions] = bind_definitions(branch.definitions, given)
        bindings = known[branch.definitions]
        moved = {name for name, _ in branch.counters}
        numbers = {
            name: Expr.const(bindings.values[name]) for name in branch.condition.names - moved
            if name in bindings.values
        }  # fmt: skip
        # A value from the user for a parameter holds in every call.
        parameters = tuple(own for own in branch.parameters if own[0] not in given)
        handed = {name: numbers.pop(name) for name, _ in parameters if name in numbers}
        guards[branch.span, branch.side] = Guard(
            branch.condition.substitute(numbers), branch.text, branch.counters, branch.span,
            parameters, tuple(handed.items()),
        )  # fmt: skip
    return guards


def _functions_with_teams(flows: Sequence[Flow]) -> dict[Span, str]:
    """Maps each `parallel` to its function. The `parallel` may contain no loop."""
    return {
        event.span: flow.function for flow in flows for event in every_event(flow.body)
        if isinstance(event, Block) and event.kind == "parallel"
    }  # fmt: skip


def _region_name(key: TeamKey) -> str:
    return key.region if key.parallel is None else f"{key.parallel.file}:{key.parallel.line}"


def _runs_in_function(own: RegionFacts) -> Runs:
    """Returns the executions of a loop per execution of its parallel region, within its
    function.
    """
    region = own.region
    depth = region.parallel.depth if region.parallel is not None else len(region.enclosing)
    return runs_of(region.enclosing[depth:], own.bindings)


def _team_facts(
    key: TeamKey, name: str, runs: Mapping[str, Runs], by_id: Mapping[str, RegionFacts],
    executions: Runs | None, functions: Mapping[Span, str],
) -> TeamFacts:  # fmt: skip
    members = [TeamMember(own, runs[own.region.id]) for own in by_id.values()
               if own.region.id in runs]  # fmt: skip
    own = next(
        (member for member in members if team_of(member.facts.region) == key), members[0]
    ).facts
    region = own.region
    construct = region.parallel if team_of(region) == key else None
    if executions is None:
        depth = construct.depth if construct is not None else len(region.enclosing)
        executions = runs_of(region.enclosing[:depth], own.bindings)
    span = key.parallel or region.span
    constructs = construct.synchronisations if construct is not None else ()
    return TeamFacts(
        id=name,
        span=span,
        function=region.function if construct is not None else functions.get(span, region.function),
        members=tuple(members),
        executions=executions,
        construct=construct,
        constructs=tuple(
            TeamConstruct(
                construct.kind,
                construct.waits,
                construct.span.line,
                runs_of(construct.enclosing, own.bindings),
            )
            for construct in constructs
        ),
        forks=key.parallel is not None or region.context == "combined",
    )


__all__ = ["ONCE", "ProgramOrder", "ProgramTeams", "Runs", "TeamConstruct", "TeamFacts",
           "TeamMember", "program_teams", "serial_loops"]  # fmt: skip
