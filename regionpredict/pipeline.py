"""The order of the stages: read, analyze, bind sizes, predict.

Each stage takes the frozen value of the previous stage and returns a frozen value. `dump` shows any
of them as text. Nothing here prints or reads the clock. The caller passes a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.callbacks import with_callbacks
from regionpredict.analysis.function_table_arguments import with_passed_tables
from regionpredict.analysis.given_shares import split_by_kind
from regionpredict.analysis.history.data_between import with_data_between
from regionpredict.analysis.history.first_touch import (
    INTERLEAVED,
    UNSEEN,
    Placement,
    placements_of_regions,
)
from regionpredict.analysis.history.first_writes import simulate_first_writes
from regionpredict.analysis.history.last_writes import UNKNOWN, History, histories_of_regions
from regionpredict.analysis.implied_sizes import with_implied
from regionpredict.analysis.possible_callees import with_choices
from regionpredict.analysis.teams import (
    ProgramTeams,
    program_teams,
    serial_loops,
)
from regionpredict.errors import UsageError
from regionpredict.frontend import (
    NO_INPUTS,
    InputPaths,
    Lookups,
    SourceRequest,
    as_built,
    default_frontend,
    files_to_read,
    join,
)
from regionpredict.ir import Program, Span
from regionpredict.isolated_reading import (
    Reading,
    Tell,
    argument_remarks,
    read_alone_isolated,
    read_together,
    region_facts,
    stage_progress,
    withheld_facts,
)
from regionpredict.isolation import LIMITS, Failure, Limits, attempt
from regionpredict.machine import Machine
from regionpredict.machine.thread_places import threads_of_places
from regionpredict.predict import (
    ALL_PARTS,
    NOTHING_RECOMMENDED,
    TO_THE_LETTER,
    Advice,
    DensityForm,
    Estimate,
    Parts,
    Plan,
    Prediction,
    Recommended,
    SerialCode,
    TeamPrediction,
    execution_count_assumptions,
    predict_density,
    predict_saturation,
    predict_team,
    size_target,
    with_open_sizes,
)
from regionpredict.predict.constants import WITHIN
from regionpredict.sizes.address_space_check import with_possible_sizes
from regionpredict.sizes.argument_sizes import not_entered, reached_only
from regionpredict.sizes.name_check import check_names
from regionpredict.sizes.open_evictions import with_open_neighbours
from regionpredict.sizes.trials import (
    Effort,
    KnownTrials,
    ModelOptions,
    OpenSizes,
    RegionTrials,
    SharedTrials,
    Subject,
    TeamLoop,
    hint_of_team,
    open_sizes,
    quick_work,
    work_per_region,
)
from regionpredict.team_advice import AdvisedRegion, advice_of
from regionpredict.time_limit import NO_LIMIT, NOTHING_LEFT_OUT, LeftOut, TimeLimit
from regionpredict.whole_programs import NO_PROGRAMS, serial_code, whole_programs
from regionpredict.workers import processes_for, spread
from regionpredict.workload import (
    CommonSizes,
    TeamFacts,
    Workload,
    statement_table,
    with_typical_sizes,
    workload_of,
)

if TYPE_CHECKING:
    from regionpredict.measure.recording import Recording

STAGES = ("program", "facts", "workload", "prediction")


@dataclass(frozen=True, slots=True)
class Analysis:
    """A program and the facts of its regions.

    `seconds` is the time of each stage in the caller's clock. `lookups` are the file system queries
    of each request. `given` are the numbers that the caller gave for names, and those that follow
    from them. `executions` are the recorded executions of each region, by id. `remarks` are notes
    on the recorded run, the arguments, and files that were not read. `same_build`: the recorded run
    used the same sources and no other sizes. `inputs` are the input files of the programs, and
    those from which headers were generated.
    """

    program: Program
    facts: tuple[RegionFacts, ...]
    seconds: Mapping[str, float]
    lookups: tuple[Lookups | None, ...] = ()
    given: Mapping[str, int] = field(default_factory=dict)
    executions: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    same_build: bool = True
    inputs: InputPaths = NO_INPUTS


class Past(NamedTuple):
    """The history of a region's arrays before it runs: first touch and last writers."""

    placement: Placement = UNSEEN
    history: History = UNKNOWN


@dataclass(frozen=True, slots=True)
class Predictions:
    """An analysis with one prediction per region in the same order, one per parallel region, and
    one plan per program, the longest first. `plans` is empty if no parallel region has a time.
    `advice` has the recommended source changes by parallel region, and `pages` the page placement.
    `changes` counts how often one parallel region directly follows another, in all programs.
    `unreached` are the parallel regions that `main` cannot reach, if there is a `main`.
    `recommended` is the recommendation for each program, and `serial` the code outside parallel
    regions, by the file of `main`. `seconds` of each stage, and `region_seconds` by id, are in the
    caller's clock. `left_out` counts what the time limit ended.
    """

    analysis: Analysis
    machine: Machine
    model: str
    predictions: tuple[Prediction, ...]
    pasts: tuple[Past, ...]
    teams: tuple[TeamPrediction, ...]
    plans: tuple[Plan, ...]
    advice: Mapping[str, tuple[Advice, ...]] = field(default_factory=dict)
    pages: str | int = "first-touch"
    changes: Mapping[tuple[str, str], float] = field(default_factory=dict)
    unreached: frozenset[str] = frozenset()
    recommended: Recommended = NOTHING_RECOMMENDED
    serial: Mapping[str, SerialCode] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    region_seconds: Mapping[str, float] = field(default_factory=dict)
    left_out: LeftOut = NOTHING_LEFT_OUT


def _no_progress(stage: str, done: int, pieces: int) -> None:
    """Ignores progress."""


def analyse(
    requests: Sequence[SourceRequest],
    given: Mapping[str, int | float | Fraction],
    *,
    frontend: str | None = None,
    processes: int = 1,
    flows: bool = True,
    limits: Limits = LIMITS,
    clock: Callable[[], float] = lambda: 0.0,
    lines: Mapping[str, tuple[str, int]] | None = None,
    recording: Recording | None = None,
    arguments: Sequence[str] | None = None,
    optional: Collection[str] = (),
    defaults: bool = True,
    tell: Tell = _no_progress,
) -> Analysis:
    """Reads the sources and computes the facts of every region.

    Files that cannot matter for a region are not read (`files_to_read`). `flows` also reads the
    memory effects that decide first touch, for the saturation model. A file that exceeds `limits`
    or crashes its process is left out (RP004). Raises UsageError if no region depends on a `given`
    name, or InputError with the place if `lines` has the name's file and line. Names in `optional`
    may be unused, for sizes of a whole project. A `recording` binds the remaining sizes. Raises
    InputError if it belongs to other sources. `arguments` are the program's command line. Raises
    UsageError if there is no `main`. Without arguments, `main` is followed with its `defaults`,
    like a program started without arguments. `tell` receives the progress of each stage.
    """
    chosen = frontend or default_frontend()
    begin = clock()
    given_sizes = split_by_kind(given)
    built = as_built(requests)
    requests = built.requests
    selection = files_to_read(requests, every=arguments is not None)
    read = selection.read
    reading = Reading(given_sizes, chosen, flows, limits, clock, arguments, defaults)
    if len(requests) == 1:
        asked = [read_alone_isolated(requests[0], reading)]
    else:
        asked = read_together(read, reading, processes, tell)
    remarks = (
        *built.remarks,
        *selection.remarks,
        *argument_remarks(asked, arguments),
    )
    program = join([one_file.part for one_file in asked], chosen)
    both = clock() - begin
    check_names(program, given_sizes.without(optional), lines)
    followed = [file.part.arguments for file in asked if file.part.arguments is not None]
    program, idle = reached_only(program, followed)
    program = replace(
        program, not_entered=not_entered(program, followed),
        followed=bool(followed),
    )  # fmt: skip
    inputs = InputPaths(
        tuple(dict.fromkeys(path for own in followed for path in own.inputs.read)),
        tuple(dict.fromkeys(path for own in followed for path in own.inputs.unread)),
    )
    remarks = (*remarks, *idle, *(f"the program reads {path}" for path in inputs.read))
    sizes = with_implied(program, given_sizes.whole)
    tables_known = with_passed_tables(program.flows)
    meant = with_choices(tables_known, serial_loops(program, sizes))
    program = replace(program, flows=with_callbacks(meant))
    known: dict[Span, list[RegionFacts]] = {}
    for one_file in asked:
        for own in one_file.facts:
            known.setdefault(own.region.span, []).append(own)
    facts = tuple(
        (
            next((own for own in known.get(region.span, ()) if own.region is region), None)
            if len(sizes) == len(given_sizes.whole)
            else None
        )
        or region_facts(region, program.definitions[region.id], sizes)
        for region in program.regions
    )
    executions: Mapping[str, int] = {}
    same_build = True
    if recording is not None:
        # Imported here, because it is slow and few predictions have a recording.
        from regionpredict.sizes.recorded_sizes import with_recorded  # noqa: PLC0415

        macros = {macro for request in requests for macro in request.defines}
        ran = with_recorded(program, facts, sizes, recording, macros)
        program, facts, executions = ran.program, ran.facts, ran.executions
        same_build = ran.same_build and not given and arguments is None
        remarks = (*remarks, *ran.remarks)
    seconds = [sum(one.reading for one in asked), sum(one.asking for one in asked)]
    share = seconds[0] / sum(seconds) if sum(seconds) else 1.0
    lookups: dict[str, Lookups | None] = dict(selection.left)
    lookups.update(
        (file.path, one_file.part.lookups) for file, one_file in zip(read, asked, strict=True)
    )
    return Analysis(
        program, facts, {"read": share * both, "analyse": (1 - share) * both},
        tuple(lookups[request.path] for request in requests), sizes, executions, remarks,
        same_build,
        InputPaths((*inputs.read, *built.sources), (*inputs.unread, *built.absent)),
    )  # fmt: skip


def predict(
    analysis: Analysis,
    machine: Machine,
    model: str = "density",
    density: DensityForm = TO_THE_LETTER,
    *,
    threads: Sequence[int] = (),
    pages: Placement | None = None,
    within: float = WITHIN.value,
    processes: int = 1,
    parts: Parts = ALL_PARTS,
    advised: bool = True,
    effort: Effort = "normal",
    limit: TimeLimit = NO_LIMIT,
    clock: Callable[[], float] = lambda: 0.0,
    tell: Tell = _no_progress,
) -> Predictions:
    """One prediction per region. A region that is too large for any machine is skipped.

    `pages`, `within` and the enabled `parts` of the model affect the speedup curve only. `density`
    is the variant of the density model. `pages` is the placement of all arrays. None means as in
    the source. Source changes are searched if `advised`. `effort` limits the trials of sizes.
    After the time `limit`, sizes are no longer tried and changes no longer searched. `tell`
    receives the number of started regions.
    """
    _check_threads(threads, machine)
    threads = threads or threads_of_places(machine)
    times = [clock()]
    facts = with_possible_sizes(analysis.facts)
    structure = _program_structure(replace(analysis, facts=facts))
    if analysis.program.followed:
        facts = with_typical_sizes(facts, structure.region_executions)
    common = CommonSizes(facts, size_target(machine), machine.line_bytes)
    if model == "saturation":
        facts = common.regions()
    analysis = replace(analysis, facts=facts)
    found = attempt(_histories, analysis, model, pages)
    pasts = (Past(),) * len(analysis.facts) if isinstance(found, Failure) else found
    structure = structure.with_facts(facts)
    subjects = [
        Subject(facts, analysis.program.definitions[facts.region.id], analysis.given, *past)
        for facts, past in zip(analysis.facts, pasts, strict=True)
    ]
    work = work_per_region(analysis.facts, effort)
    choices = _Choices(model, density, ModelOptions(tuple(threads), within, None, parts, work))
    alike = SharedTrials(machine)  # each process has its own
    estimate = partial(_timed_estimate, clock, limit, machine=machine, choices=choices, alike=alike)
    times.append(clock())
    progress = partial(stage_progress, tell, "predicting", len(subjects))
    made = spread(estimate, subjects, processes_for(len(subjects), processes), progress)
    times.append(clock())
    taken = execution_count_assumptions(structure.teams)
    often = structure.region_executions
    idle = structure.loops_outside | {
        name for name, runs in analysis.executions.items() if not runs and not often.get(name)
    }
    predictions = tuple(
        Prediction.of(
            replace(estimate, assumed=(*estimate.assumed, *taken.get(facts.region.id, ()))),
            facts,
            idle=facts.region.id in idle,
        )
        for _, _, (estimate, facts, *_) in made
    )
    by_id = {
        own.facts.region.id: TeamLoop(
            estimated.estimate,
            RegionTrials(own, estimated.sizes, machine, choices.chosen, estimated.known or {})
            if estimated.sizes
            else None,
        )
        for (_, _, estimated), own in zip(made, subjects, strict=True)
    }
    together = choices.within(limit)
    teams = tuple(
        _team_or_withhold(team, by_id, machine, together.chosen) for team in structure.teams
    )
    alone = attempt(serial_code, analysis.program.serial, structure, analysis.given, machine,
                    common)  # fmt: skip
    serial = {} if isinstance(alone, Failure) else alone
    found_programs = attempt(whole_programs, teams, structure, machine, serial)
    programs = NO_PROGRAMS if isinstance(found_programs, Failure) else found_programs
    times.append(clock())
    advice: dict[str, tuple[Advice, ...]] = {}
    unsearched = 0
    if model == "saturation" and advised:
        known = {prediction.facts.region.id: AdvisedRegion(prediction, *past)
                 for prediction, past in zip(predictions, pasts, strict=True)}  # fmt: skip
        advice, unsearched = advice_of(teams, known, structure, machine, limit, processes=processes)
    return Predictions(
        analysis,
        machine,
        model,
        predictions,
        pasts,
        teams,
        programs.plans,
        advice,
        _page_policy(pages),
        structure.changes, structure.unreached_regions, programs.recommended, serial,
        {stage: after - before for stage, (before, after) in
         zip(("order", "predict", "teams", "advise"), pairwise((*times, clock())), strict=True)},
        {own.facts.region.id: took for (took, *_), own in zip(made, subjects, strict=True)},
        LeftOut(
            sum((late or together is not choices) and own.sizes is not None
                for _, late, own in made),
            unsearched,
        ),
    )  # fmt: skip


def _page_policy(pages: Placement | None) -> str | int:
    """The page placement of the option --pages."""
    if pages is None or (pages.kind != INTERLEAVED.kind and pages.domain is None):
        return "first-touch"
    return pages.kind if pages.domain is None else pages.domain


def _program_structure(analysis: Analysis) -> ProgramTeams:
    """The parallel regions of the program. After an internal error, without an order."""
    own = partial(program_teams, facts=analysis.facts, given=analysis.given,
                  recorded=analysis.executions, same_build=analysis.same_build)  # fmt: skip
    structure = attempt(own, analysis.program)
    if isinstance(structure, Failure):
        return own(replace(analysis.program, flows=(), loops=(), branches=()))
    return structure


def _team_or_withhold(
    facts: TeamFacts, by_id: Mapping[str, TeamLoop], machine: Machine, options: ModelOptions
) -> TeamPrediction:
    """The prediction of a parallel region. After an internal error, one without a hint."""
    team = attempt(_predict_team, facts, by_id, machine, options)
    if isinstance(team, Failure):
        loops = [by_id[member.facts.region.id].estimate for member in facts.members]
        skipped = [replace(estimate, status="skipped") for estimate in loops]
        none = predict_team(facts, skipped, machine, within=options.within)
        return replace(none, assumed=(*none.assumed, team.reason))
    return team


def _predict_team(
    facts: TeamFacts, by_id: Mapping[str, TeamLoop], machine: Machine, options: ModelOptions
) -> TeamPrediction:
    """The prediction of a parallel region. If it has several loops, their unknown sizes are varied
    together.
    """
    loops = [by_id[member.facts.region.id] for member in facts.members]
    team = predict_team(facts, [loop.estimate for loop in loops], machine, within=options.within)
    if team.unbound or not team.points:
        return team
    hint = hint_of_team(facts, loops, team.points, machine, options)
    return team if hint is None else with_open_sizes(team, hint)


def predict_region(
    facts: RegionFacts,
    machine: Machine,
    model: str = "saturation",
    density: DensityForm = TO_THE_LETTER,
    *,
    threads: Sequence[int] = (),
    within: float = WITHIN.value,
    warm: bool | None = None,
    placement: Placement = UNSEEN,
    history: History = UNKNOWN,
    parts: Parts = ALL_PARTS,
) -> Prediction:
    """The prediction of one region, given the history of its arrays.

    `warm`: the region has run before on the same data. None: as its history says. Other arguments
    as for `predict`.
    """
    choices = _Choices(model, density, ModelOptions(tuple(threads), within, warm, parts))
    subject = Subject(facts, (), {}, placement, history)
    alike = SharedTrials(machine)
    made = _estimate_region(subject, machine=machine, choices=choices, alike=alike)
    return Prediction.of(made.estimate, facts)


def region_workload(
    facts: RegionFacts, machine: Machine, placement: Placement = UNSEEN,
    history: History = UNKNOWN,
) -> Workload:  # fmt: skip
    """The workload of one region. The machine gives the cache line size and the size of the largest
    cache.
    """
    return workload_of(
        facts, size_target(machine), machine.line_bytes, placement=placement, history=history
    )


class _Choices(NamedTuple):
    """The model and its options."""

    model: str
    density: DensityForm
    chosen: ModelOptions

    def within(self, limit: TimeLimit) -> _Choices:
        """The options with a small budget for trials, if the time limit is reached."""
        if not limit.reached:
            return self
        return self._replace(chosen=self.chosen._replace(work=quick_work(self.chosen.work)))


class _Estimated(NamedTuple):
    """A region's estimate, its unknown sizes, and their trials."""

    estimate: Estimate
    facts: RegionFacts
    sizes: OpenSizes | None = None
    known: KnownTrials | None = None


def _timed_estimate(
    clock: Callable[[], float], limit: TimeLimit, subject: Subject, *, machine: Machine,
    choices: _Choices, alike: SharedTrials,
) -> tuple[float, bool, _Estimated]:  # fmt: skip
    """The computation time of a region's estimate, whether it began after the time limit, and the
    estimate.
    """
    begin = clock()
    chosen = choices.within(limit)
    made = _estimate_or_withhold(subject, machine=machine, choices=chosen, alike=alike)
    return clock() - begin, chosen is not choices, made


def _estimate_or_withhold(
    subject: Subject, *, machine: Machine, choices: _Choices, alike: SharedTrials
) -> _Estimated:
    """The estimate of a region. After an internal error, the estimate of the region without
    contents.
    """
    estimate = partial(_estimate_region, machine=machine, choices=choices, alike=alike)
    made = attempt(estimate, subject)
    if isinstance(made, Failure):
        facts = withheld_facts(subject.facts, made.reason)
        return estimate(Subject(facts, subject.definitions, subject.given, UNSEEN, UNKNOWN))
    return made


def _estimate_region(
    subject: Subject, *, machine: Machine, choices: _Choices, alike: SharedTrials
) -> _Estimated:
    facts, chosen = subject.facts, choices.chosen
    if choices.model != "saturation":
        form = choices.density
        target = size_target(machine) if form.by_executions else None
        table = statement_table(facts, machine.line_bytes, target)
        return _Estimated(predict_density(table, machine, form, threads=chosen.threads), facts)
    workload = region_workload(facts, machine, subject.placement, subject.history)
    workload = replace(workload, limited=chosen.limited)
    estimate = predict_saturation(
        workload, machine, threads=chosen.threads, within=chosen.within, warm=chosen.warm,
        parts=chosen.parts,
    )  # fmt: skip
    sizes = open_sizes(subject, workload, estimate, machine, chosen.within)
    trials = None if sizes is None else alike.region_trials(subject, sizes, chosen)
    if trials is not None:
        estimate = with_open_sizes(estimate, trials.hint_over_sizes(estimate))
    estimate = with_open_neighbours(estimate, workload, subject.history, machine, chosen, trials)
    if trials is None:
        return _Estimated(estimate, facts, sizes)
    trials.forget_counts()
    return _Estimated(estimate, facts, sizes, trials.known)


def _histories(analysis: Analysis, model: str, pages: Placement | None) -> tuple[Past, ...]:
    """The history of every region's arrays, which only the saturation model needs."""
    if model != "saturation":
        return tuple(Past() for _ in analysis.facts)
    followed = simulate_first_writes(analysis.program.flows)
    placed = placements_of_regions(analysis.program, followed)
    if pages is not None:
        placed = (pages,) * len(analysis.facts)
    written = with_data_between(histories_of_regions(analysis.program, followed), analysis.facts)
    return tuple(Past(*pair) for pair in zip(placed, written, strict=True))


def _check_threads(threads: Sequence[int], machine: Machine) -> None:
    most = machine.hardware_threads
    wrong = [count for count in threads if not 1 <= count <= most]
    if wrong:
        each = (
            "one a core" if machine.threads_per_core == 1 else f"{machine.cores} with one per core"
        )
        raise UsageError(
            f"--threads: {wrong[0]} threads on {machine.name}",
            remedy=f"choose from 1 to {most}, {each}",
        )
