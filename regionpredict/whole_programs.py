"""`WholePrograms`: a recommendation and a plan for each program.

Input: all parallel regions and the serial code between them. Output: a recommendation per `main`,
and one for all programs together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from regionpredict.analysis import RegionFacts, bind_names
from regionpredict.analysis.execution_counts import Runs
from regionpredict.analysis.facts import facts_of
from regionpredict.analysis.teams import ProgramOrder, ProgramTeams
from regionpredict.errors import InputError
from regionpredict.ir import Region, SerialNest, Span
from regionpredict.machine import Machine
from regionpredict.predict import (
    NO_SERIAL_CODE,
    Plan,
    PlannedTeam,
    Recommendation,
    Recommended,
    SerialCode,
    TeamPrediction,
    changes_between,
    loops_of,
    plan_of,
    recommendation_of,
    rough_curve,
    size_target,
)
from regionpredict.workload import UNKNOWN_TRIPS, CommonSizes, common_names, workload_of


class WholePrograms(NamedTuple):
    """The recommendations, and the plans of the programs that have one, the longest first."""

    recommended: Recommended
    plans: tuple[Plan, ...]


NO_PROGRAMS = WholePrograms(Recommended(), ())


def whole_programs(
    teams: Sequence[TeamPrediction], structure: ProgramTeams, machine: Machine,
    serial: Mapping[str, SerialCode],
) -> WholePrograms:  # fmt: skip
    """The recommendations and plans of the programs. `serial` is the serial code of each program,
    by the file of its `main`.
    """
    each: list[Recommendation] = []
    plans: list[Plan] = []
    for program in structure.programs:
        executions = {name: runs.weight for name, runs in program.executions.items()}
        own = recommendation_of(
            _running_regions(teams, executions), machine, serial.get(program.main, NO_SERIAL_CODE),
            executions=executions, main=program.main,
        )  # fmt: skip
        planned = planned_teams(teams, program)
        changes = changes_between(planned, program.changes)
        most = own.threads if own is not None and own.threads_per_core == 1 else None
        plan = plan_of(planned, changes, machine, program.main, most)
        each += [own] if own is not None else []
        plans += [plan] if plan is not None else []
    each.sort(key=lambda own: -max(spent for _, spent in own.curve))
    plans.sort(key=lambda plan: -plan.best_constant.seconds)
    together = each[0] if len(each) == 1 else together_of(teams, machine, serial)
    return WholePrograms(Recommended(together, tuple(each)), tuple(plans))


def together_of(
    teams: Sequence[TeamPrediction], machine: Machine, serial: Mapping[str, SerialCode],
    measured: Mapping[str, float] | None = None,
) -> Recommendation | None:  # fmt: skip
    """The recommendation for all programs together. `measured` are measured times of loops on one
    thread, in seconds.
    """
    executions = {team.facts.id: team.facts.executions.weight for team in teams}
    executions |= dict.fromkeys(measured_ids(teams, measured or {}), 1.0)
    alone = SerialCode(
        _sums([own.loops for own in serial.values()]),
        tuple(dict.fromkeys(name for own in serial.values() for name in own.unknown)),
        tuple(dict.fromkeys(name for own in serial.values() for name in own.unseen)),
        _sums([own.exclusive for own in serial.values()]),
    )
    running = _running_regions(teams, executions)
    return recommendation_of(running, machine, alone, measured=measured)


def _sums(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Returns the sum of the values of each key."""
    sums: defaultdict[str, float] = defaultdict(float)
    for part in parts:
        for place, seconds in part.items():
            sums[place] += seconds
    return dict(sums)


def measured_ids(teams: Sequence[TeamPrediction], measured: Mapping[str, float]) -> frozenset[str]:
    """The parallel regions with a measured loop."""
    return frozenset(
        team.facts.id for team in teams if any(name in measured for name in loops_of(team))
    )


def serial_code(
    nests: Sequence[SerialNest], structure: ProgramTeams, given: Mapping[str, int],
    machine: Machine, common: CommonSizes,
) -> dict[str, SerialCode]:  # fmt: skip
    """Predicts the loops that threads do not share, by the file of the program's `main`.

    Unknown sizes have the same assumed values as in parallel regions.
    """
    running = {span for program in structure.programs
               for counts in (program.serial, program.exclusive)
               for span, runs in counts.items() if runs.weight}  # fmt: skip
    loops = [(nest, facts_of(nest.region, bind_names(nest.region, nest.definitions, given)))
             for nest in nests if nest.region.span in running]  # fmt: skip
    names = [common_names(facts) for _, facts in loops]
    assumed = common.values({of_all for own in names for of_all in own.values()})
    alone = {}
    for (nest, facts), own in zip(loops, names, strict=True):
        sizes = {name: assumed[of_all] for name, of_all in own.items() if of_all in assumed}
        alone[nest.region.span] = _seconds_on_one_thread(nest, facts, machine, given, sizes)
    unseen = {nest.region.span: _unknown_callees(nest.region) for nest, _ in loops}
    return {program.main: _serial_code(program, alone, unseen) for program in structure.programs}


def _serial_code(
    program: ProgramOrder, alone: Mapping[Span, float | None],
    unseen: Mapping[Span, Sequence[str]],
) -> SerialCode:  # fmt: skip
    """The serial code of a program. `alone` gives the time of one execution of each loop."""

    def times(counts: Mapping[Span, Runs]) -> dict[str, float]:
        return _sums({span.short: runs.weight * (alone.get(span) or 0.0)}
                     for span, runs in counts.items() if runs.weight)  # fmt: skip

    often = [span for span, runs in (*program.serial.items(), *program.exclusive.items())
             if runs.weight]  # fmt: skip
    return SerialCode(
        times(program.serial),
        tuple(dict.fromkeys(span.short for span in often if alone.get(span) is None)),
        tuple(dict.fromkeys(
            name for span in often if alone.get(span) is not None for name in unseen.get(span, ())
        )),
        times(program.exclusive),
    )  # fmt: skip


def _unknown_callees(region: Region) -> list[str]:
    """The called functions whose body and memory effects are unknown. C++ operators are left out,
    since they are short.
    """
    names = {
        call.name for statement, _ in region.statements() for call in statement.calls if call.memory
    }
    return sorted(name for name in names if not name.startswith("operator"))


def _seconds_on_one_thread(
    nest: SerialNest, facts: RegionFacts, machine: Machine, given: Mapping[str, int],
    sizes: Mapping[str, int],
) -> float | None:  # fmt: skip
    """Seconds of one execution of a loop on one thread. None if its number of iterations is
    unknown.

    `given` sizes take precedence over assumed `sizes`. Inner loops of unknown size have as many
    iterations as loops that depend on data.
    """
    if facts.status == "skipped":
        return None
    trips = nest.region.nest.trips if nest.region.nest is not None else None
    known = {**sizes, **given}
    bindings = bind_names(nest.region, nest.definitions, known) if sizes else facts.bindings
    if bindings.number(trips) is None:
        return None
    unknown = bindings.unbound(facts.free_names)
    if unknown:
        known = {**dict.fromkeys(unknown, int(UNKNOWN_TRIPS.value)), **known}
        bindings = bind_names(nest.region, nest.definitions, known)
    if bindings is not facts.bindings:
        facts = facts_of(nest.region, bindings)
    try:
        workload = workload_of(facts, size_target(machine), machine.line_bytes)
    except InputError:  # sizes beyond all memory
        return None
    points = () if workload.guessed else rough_curve(workload, machine, (1,))
    return points[0].seconds - points[0].terms["overhead"] if points else None


def _running_regions(
    teams: Sequence[TeamPrediction], executions: Mapping[str, float]
) -> list[TeamPrediction]:
    """The parallel regions that run, without those nested in others, whose time includes them. If
    none is known to run, all of them.
    """
    here = [team for team in teams if team.facts.id in executions]
    running = [team for team in here if executions[team.facts.id]] or here
    around = {team.facts.span for team in running if team.status != "skipped"}
    return [
        team for team in running
        if not all(member.facts.region.nested_in in around for member in team.facts.members)
    ]  # fmt: skip


def planned_teams(
    teams: Sequence[TeamPrediction], program: ProgramOrder
) -> tuple[PlannedTeam, ...]:
    """The parallel regions of a program that run, in order, as input of a plan."""
    by_id = {team.facts.id: team for team in teams}
    executions = {name: runs.weight for name, runs in program.executions.items()}
    running = {team.facts.id for team in _running_regions(teams, executions)}
    return tuple(
        PlannedTeam(
            name,
            weight,
            {point.threads: point.seconds for point in by_id[name].points}
            if by_id[name].threads is not None
            else {},
        )
        for name, weight in executions.items() if name in running
    )  # fmt: skip
