"""Predicts a region, or the loops of a parallel region, for several values of unknown sizes.

A trial is the prediction for one set of values. Each unknown name is varied alone, while the other
names have their assumed values. Names in loop bounds are also varied together, as one common size.
Names without effect are varied again for other values of the names with effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from regionpredict.analysis import RegionFacts, SymbolicFacts, bind_names, symbolic_facts
from regionpredict.analysis.given_sizes import with_given_trips
from regionpredict.analysis.history.first_touch import Placement
from regionpredict.analysis.history.last_writes import History
from regionpredict.analysis.location_free_regions import (
    location_free_definitions,
    location_free_placement,
    location_free_region,
)
from regionpredict.errors import InputError
from regionpredict.ir import Definition
from regionpredict.machine import Machine
from regionpredict.predict import (
    Choice,
    Estimate,
    OpenHint,
    Parts,
    Point,
    at_threads,
    choice_on,
    choices_at_tried_sizes,
    choices_by_name,
    counters_of,
    open_hint,
    outlook_of,
    points_of,
    rough_curve,
    size_target,
    team_points,
    with_thresholds,
)
from regionpredict.predict.constants import (
    LEAST_TRIALS_WORK,
    QUICK_SHARE,
    RUN_TRIALS_WORK,
    STATEMENT_WORK,
    TRIAL_WORK,
    TRIALS_WORK,
)
from regionpredict.workload import TeamFacts, TrafficCounter, Workload, workload_of
from regionpredict.workload.assumed_sizes import TEAM_SIZES, bound_sizes
from regionpredict.workload.counted_work import work_so_far

_LEAST_ITERATIONS = 2  # fewer iterations cannot be distributed


Effort = Literal["quick", "normal", "full"]
"""The amount of optional work of a prediction."""


class ModelOptions(NamedTuple):
    """The options of the saturation model.

    `threads` are the considered numbers of threads (empty for all). `within` is the maximum loss of
    speed of a hint. `warm` says whether caches contain the data at the start. `parts` are the
    enabled parts of the model. `work` is the budget for trials of one region.
    """

    threads: tuple[int, ...]
    within: float
    warm: bool | None
    parts: Parts
    work: float = TRIALS_WORK.value

    @property
    def limited(self) -> bool:
        """Whether counting has a budget."""
        return self.work < math.inf


def work_per_region(facts: Sequence[RegionFacts], effort: Effort) -> float:
    """Returns the budget for trials of one region. The budget decreases with the number of regions
    that have unknown names.
    """
    if effort == "full":
        return math.inf
    opened = sum(bool({*own.bindings.unbound(own.free_names)} - TEAM_SIZES) for own in facts)
    share = RUN_TRIALS_WORK.value / max(1, opened)
    work = min(TRIALS_WORK.value, max(LEAST_TRIALS_WORK.value, share))
    return work * QUICK_SHARE.value if effort == "quick" else work


def quick_work(work: float) -> float:
    """Returns the budget for trials of one region after a time limit: the budget of the effort
    `quick`, but at most `work`.
    """
    return min(work, TRIALS_WORK.value * QUICK_SHARE.value)


class Subject(NamedTuple):
    """A region with the given values of names, the placement of pages, and the last writes of its
    arrays.
    """

    facts: RegionFacts
    definitions: tuple[Definition, ...]
    given: Mapping[str, int]
    placement: Placement
    history: History


class Trial(NamedTuple):
    """The prediction of a region for one set of sizes: times on selected numbers of threads, and
    the number of iterations.
    """

    points: tuple[Point, ...]
    iterations: int | None


@dataclass(frozen=True, slots=True)
class OpenSizes:
    """The unknown sizes of a region.

    `size` contains the names that share the common size, and `names` contains all unknown names.
    `assumed` gives the assumed value of each name. Every trial includes the time on `also` threads,
    the number of the current hint. `runs` says that the loop has iterations at the assumed values.
    """

    size: tuple[str, ...]
    names: tuple[str, ...]
    assumed: Mapping[str, int]
    also: int
    runs: bool = True


class TrialResult(NamedTuple):
    """A trial and its cost in counted work. The trial is None for impossible sizes."""

    trial: Trial | None
    work: float


class _Counted(NamedTuple):
    """The workload of a trial, and the counters of its memory traffic."""

    workload: Workload
    counters: Sequence[TrafficCounter]


_TriedValues = frozenset[tuple[str, int]]
KnownTrials = dict[_TriedValues, TrialResult]
"""A cache of trials by the values of the unknown sizes."""


@dataclass(slots=True)
class WorkBudget:
    """The remaining budget of one search over sizes. Cached trials cost as much as new ones, so
    that results do not depend on previous searches.
    """

    left: float
    cut: bool = False

    def allows_another_trial(self) -> bool:
        """Whether the budget allows another trial. If not, the search is marked as incomplete."""
        refused = self.left <= 0
        self.cut |= refused
        return not refused


def open_sizes(
    subject: Subject, workload: Workload, estimate: Estimate, machine: Machine, within: float
) -> OpenSizes | None:
    """Returns the unknown sizes of a region. None if all sizes are known or if the region has no
    hint.

    `workload` and `estimate` belong to the assumed sizes.
    """
    if workload.execution is None or estimate.threads is None:
        return None
    facts = subject.facts
    names = [name for name in facts.bindings.unbound(facts.free_names) if name not in TEAM_SIZES]
    lengths = _unknown_origins(workload.execution.work.nest.unbound, subject)
    unbound = [name for name in lengths if name not in names]
    if not names and not unbound:
        return None
    size = workload.open_size.names if workload.open_size is not None else ()
    values = bound_sizes(facts, size_target(machine), machine.line_bytes).values
    assumed = {name: int(values[name]) for name in names}
    runs = all(loop.trips({}) > 0 for loop in workload.execution.work.nest.parallel[:1])
    asked = [threads for threads, _ in estimate.speedup]
    hinted = choice_of(points_of(estimate), machine, asked, within).hint.threads
    return OpenSizes(size, (*names, *unbound), assumed, hinted, runs)


def _unknown_origins(names: Sequence[str], subject: Subject) -> list[str]:
    """Replaces each name by the unknown names in its definition, without duplicates.

    After `x = malloc(8 * n)`, the length of x follows from n, so `n` replaces `x[]`. Names without
    a definition remain.
    """
    made = {definition.name: definition.value for definition in subject.definitions}
    values = subject.facts.bindings.values
    origins: dict[str, None] = {}
    for name in names:
        waiting, met = [name], set[str]()
        ends: dict[str, None] = {}
        while waiting:
            origin = waiting.pop(0)
            if origin in met or origin in values:
                continue
            met.add(origin)
            value = made.get(origin)
            if value is None:
                ends[origin] = None
            elif value.has_unreadable_part:
                break  # the definition contains unreadable code
            else:
                waiting += sorted(value.names)
        else:
            origins.update(ends or {name: None})
            continue
        origins[name] = None
    return list(origins)


@dataclass(slots=True)
class RegionTrials:
    """The trials of one region. Each trial runs once and is stored in `known`.

    Symbolic facts are computed once for each set of names with values. `keeps_counts` stores the
    traffic counters of trials for `with_evictions`, until `forget_counts` is called.
    """

    subject: Subject
    sizes: OpenSizes
    machine: Machine
    chosen: ModelOptions
    known: KnownTrials = field(default_factory=dict)
    keeps_counts: bool = False
    _counted: dict[_TriedValues, _Counted] = field(default_factory=dict, init=False)
    _facts: dict[frozenset[str], SymbolicFacts] = field(default_factory=dict, init=False)

    def at(self, sizes: Mapping[str, int]) -> Trial | None:
        """Returns the trial with these values for some names, and assumed values for the others.

        Returns None for impossible sizes: the data exceed the memory, or the loop has fewer than
        two iterations.
        """
        key = frozenset(sizes.items())
        if key not in self.known:
            before = work_so_far()
            trial = self._run_trial(sizes)
            self.known[key] = TrialResult(trial, self.fixed_work + work_so_far() - before)
        return self.known[key].trial

    @property
    def fixed_work(self) -> float:
        """The fixed cost of a trial, without counting references and footprints."""
        statements = len(self.subject.facts.statements)
        return max(TRIAL_WORK.value, STATEMENT_WORK.value * statements)

    def work(self, sizes: Mapping[str, int]) -> float:
        """Returns the cost of a finished trial in counted work."""
        return self.known[frozenset(sizes.items())].work

    def common(self, size: int) -> Trial | None:
        """Returns the trial with one value for all names of the common size."""
        return self.at(dict.fromkeys(self.sizes.size, size))

    def with_evictions(self, sizes: Mapping[str, int]) -> Callable[[float], tuple[Point, ...]]:
        """Returns a function that computes the times of this region for the given sizes, from the
        bytes that other regions access between its executions.
        """
        counted = self._counted.get(frozenset(sizes.items()))
        if counted is None:
            made = self._workload_at(sizes)
            if made is None or made[0].execution is None or not made[0].contents.own:
                return lambda _: ()
            counted = _Counted(made[0], counters_of(made[0], made[0].execution))
        workload, counters = counted  # valid for any initial cache contents

        def curve(between: float) -> tuple[Point, ...]:
            contents = workload.contents._replace(between=between)
            return self._predicted_times(replace(workload, contents=contents), counters)

        return curve

    def work_of_workload(self, sizes: Mapping[str, int]) -> float:
        """Returns the cost of the workload for `with_evictions`. Cached results cost as much as new
        ones.
        """
        kept = frozenset(sizes.items()) in self._counted
        return self.work(sizes) if kept else self.fixed_work

    def forget_counts(self) -> None:
        """Frees the stored traffic counters."""
        self._counted.clear()

    def _run_trial(self, sizes: Mapping[str, int]) -> Trial | None:
        made = self._workload_at(sizes)
        if made is None or made[0].execution is None:
            return None
        workload, iterations = made
        counters = counters_of(workload, made[0].execution)
        points = self._predicted_times(workload, counters)
        if self.keeps_counts and workload.contents.own and self.subject.history.open_between:
            for counter in counters:
                counter.forget_trace()
            self._counted[frozenset(sizes.items())] = _Counted(workload, counters)
        return Trial(points, iterations) if points else None

    def _predicted_times(
        self, workload: Workload, counters: Sequence[TrafficCounter] = ()
    ) -> tuple[Point, ...]:
        """Returns the predicted times of a workload. Empty for sizes beyond 64 bits."""
        try:
            return rough_curve(
                workload, self.machine, self.chosen.threads, extra_threads=self.sizes.also,
                warm=self.chosen.warm, parts=self.chosen.parts, counters=counters,
            )  # fmt: skip
        except InputError:
            return ()

    def _workload_at(self, sizes: Mapping[str, int]) -> tuple[Workload, int | None] | None:
        """Returns the workload of the region for these sizes, and its number of iterations. None
        for impossible sizes.
        """
        subject, machine = self.subject, self.machine
        common = len({*sizes.values()}) == 1 and {*sizes} == {*self.sizes.size}
        if not common:  # a common size also determines assumed values
            sizes = {**self.sizes.assumed, **sizes}
        facts = self._facts_at(sizes)
        if facts is None:
            return None
        try:
            workload = workload_of(
                facts, size_target(machine), machine.line_bytes, placement=subject.placement,
                history=subject.history.at(sizes),
            )  # fmt: skip
        except InputError:  # beyond 64 bits
            return None
        workload = replace(workload, limited=self.chosen.limited)
        return workload, facts.iterations.value

    def _facts_at(self, sizes: Mapping[str, int]) -> RegionFacts | None:
        """Returns the facts of the region for these sizes. None for impossible sizes."""
        source, machine = self._facts_with(sizes), self.machine
        given = {**self.subject.given, **sizes}
        facts = source.at(bind_names(source.region, self.subject.definitions, given))
        iterations, touched = facts.iterations.value, facts.working_set.value
        memory = machine.memory.size_bytes
        if iterations is not None and iterations < _LEAST_ITERATIONS:
            return None
        if memory is not None and (touched or 0) > machine.domains * memory.value:
            return None
        return facts

    def _facts_with(self, sizes: Mapping[str, int]) -> SymbolicFacts:
        """Returns the symbolic facts of the region in which these names have values."""
        names = frozenset(sizes)
        known = self._facts.get(names)
        if known is None:
            region = with_given_trips(self.subject.facts.region, sizes)
            known = self._facts[names] = symbolic_facts(region)
        return known

    def choice(self, sizes: Mapping[str, int]) -> Choice | None:
        """Returns the hint of a trial, with all numbers of threads that are equally good."""
        trial = self.at(sizes)
        if trial is None:
            return None
        return choice_of(trial.points, self.machine, self.chosen.threads, self.chosen.within)

    def iterations(self, size: int) -> int | None:
        """Returns the number of parallel iterations for one value of the common size."""
        sizes = dict.fromkeys(self.sizes.size, size)
        if frozenset(sizes.items()) in self.known:
            trial = self.at(sizes)
            return None if trial is None else trial.iterations
        facts = self._facts_at(sizes)  # a trial also counts the traffic
        return None if facts is None else facts.iterations.value

    def hint_over_sizes(self, estimate: Estimate) -> OpenHint:
        """Returns the hint over all tried sizes. `estimate` belongs to the assumed sizes."""
        asked = [threads for threads, _ in estimate.speedup]
        now = choice_of(points_of(estimate), self.machine, asked, self.chosen.within)
        sizes = self.sizes
        budget = WorkBudget(self.chosen.work)

        def ask(values: Mapping[str, int]) -> Choice | None:
            choice = self.choice(values)
            budget.left -= self.work(values)
            return choice

        here = {sizes.assumed[name] for name in sizes.size if name in sizes.assumed}
        return _hint_over_sizes(
            sizes.names, now, sizes.size, ask, self.iterations, budget, runs=sizes.runs,
            assumed_size=here.pop() if len(here) == 1 and sizes.runs else None,
        )  # fmt: skip


@dataclass(slots=True)
class SharedTrials:
    """The trials of all regions of one program, on one machine, with one set of given sizes.

    Regions that differ only in their source locations share their trials.
    """

    machine: Machine
    _known: dict[tuple[object, ...], RegionTrials] = field(default_factory=dict, init=False)

    def region_trials(
        self, subject: Subject, sizes: OpenSizes, options: ModelOptions
    ) -> RegionTrials:
        """Returns the trials of a region, shared with all equal regions."""
        if any(":" in name for name in (*sizes.size, *sizes.names, *subject.given)):
            # A size refers to a source location or a function, so no other region is equal.
            return RegionTrials(subject, sizes, self.machine, options, keeps_counts=True)
        history = subject.history
        alike = subject._replace(
            facts=replace(subject.facts, region=location_free_region(subject.facts.region)),
            definitions=location_free_definitions(subject.definitions),
            placement=location_free_placement(subject.placement),
        )
        key = (
            alike.facts.region, alike.definitions, alike.placement, history.fresh,
            tuple(history.last.items()), history.repeats, history.untouched, history.bytes_between,
            history.open_between, sizes.size, sizes.names, tuple(sizes.assumed.items()), sizes.also,
        )  # fmt: skip
        trials = self._known.get(key)
        if trials is None:
            trials = RegionTrials(alike, sizes, self.machine, options, keeps_counts=True)
            self._known[key] = trials
        return trials


def _hint_over_sizes(
    names: tuple[str, ...], current_choice: Choice, size: tuple[str, ...],
    ask: Callable[[Mapping[str, int]], Choice | None], iterations: Callable[[int], int | None],
    budget: WorkBudget, *, runs: bool = True, assumed_size: int | None = None,
) -> OpenHint:  # fmt: skip
    """Returns the hint over all sizes within the `budget`.

    Trials first search the sizes at which the number of sockets changes, then vary single names,
    then search the sizes at which only threads change. `current_choice` is the choice at the
    assumed sizes, and is used if the loop `runs` there. `assumed_size` is the assumed common size,
    if it exists.
    """

    def common(value: int) -> Choice | None:
        return ask(dict.fromkeys(size, value))

    together, refused = (
        choices_at_tried_sizes(common, budget.allows_another_trial) if size else ({}, ())
    )
    if together and assumed_size is not None:
        together = dict(sorted({**together, assumed_size: current_choice}.items()))
    together = with_thresholds(together, common, budget.allows_another_trial, of_packages=True)
    others = [name for name in names if size != (name,)]
    by_name = choices_by_name(
        sorted(others, key=lambda name: name not in size), ask, budget.allows_another_trial
    )
    untried = [name for name in others if name not in by_name]
    together = with_thresholds(together, common, budget.allows_another_trial)
    if len(others) < len(names):
        by_name[size[0]] = together
    hint = open_hint(
        names, current_choice, size, together, by_name, iterations, ask,
        budget.allows_another_trial, untried, impossible_sizes=refused, now_runs=runs,
    )  # fmt: skip
    return hint._replace(cut=budget.cut)


def choice_of(
    points: Sequence[Point], machine: Machine, threads: Collection[int], within: float
) -> Choice:
    """Returns the best choice among these numbers of threads, or among all if no time for these
    numbers is known.
    """
    outlook = at_threads(outlook_of(points, machine), threads)
    return choice_on(machine, outlook, within)


class TeamLoop(NamedTuple):
    """The estimate of a loop in a parallel region, and the trials of the loop's unknown sizes."""

    estimate: Estimate
    trials: RegionTrials | None


def hint_of_team(
    facts: TeamFacts, loops: Sequence[TeamLoop], now: Sequence[Point], machine: Machine,
    options: ModelOptions,
) -> OpenHint | None:  # fmt: skip
    """Returns the hint of a parallel region over all unknown sizes of its loops. None if all sizes
    are known.

    `loops` are in the order of `facts.members`. `now` are the region's times at the assumed sizes.
    """
    opened = [loop.trials.sizes for loop in loops if loop.trials is not None]
    names = tuple(sorted({name for sizes in opened for name in sizes.names}))
    if not names or not now:
        return None
    size = tuple(sorted({name for sizes in opened for name in sizes.size}))

    budget = WorkBudget(options.work * len(opened))

    def ask(sizes: Mapping[str, int]) -> Choice | None:
        curves, runs = [], []
        for member, loop in zip(facts.members, loops, strict=True):
            if loop.estimate.status == "skipped":
                continue
            points: Sequence[Point] = points_of(loop.estimate)
            if loop.trials is not None and (own := _sizes_of_loop(sizes, loop.trials.sizes)):
                trial = loop.trials.at(own)
                budget.left -= loop.trials.work(own)
                if trial is None:
                    return None
                points = trial.points
            curves.append(points)
            runs.append(member.runs.at({**member.facts.bindings.values, **sizes}))
        points = team_points(facts, curves, runs, machine)
        return choice_of(points, machine, options.threads, options.within)

    def iterations(value: int) -> int | None:
        first = loops[0].trials
        return None if first is None else first.iterations(value)

    choice = choice_of(now, machine, options.threads, options.within)
    return _hint_over_sizes(names, choice, size, ask, iterations, budget)


def _sizes_of_loop(trial_sizes: Mapping[str, int], sizes: OpenSizes) -> dict[str, int]:
    return {name: value for name, value in trial_sizes.items() if name in sizes.names}
