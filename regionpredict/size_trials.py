"""A region, or the loops of one `parallel`, over sizes that nobody gave.

Every name without a value is tried by itself, the others as assumed; several names that bound loops
are tried together, too, as one size. Each trial is what the region would be
predicted as with these values given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.analysis import RegionFacts, bind, facts_of
from regionpredict.analysis.bindings import free_names
from regionpredict.analysis.given_sizes import with_given_trips
from regionpredict.analysis.history.first_touch import Placement
from regionpredict.analysis.history.last_writes import History
from regionpredict.errors import InputError
from regionpredict.ir import Definition
from regionpredict.machine import Machine
from regionpredict.predict import (
    SIZES_OF_ONE,
    Choice,
    Estimate,
    OpenHint,
    Parts,
    Point,
    choice_from,
    choices_by_size,
    open_hint,
    points_of,
    rough_curve,
    size_target,
    team_points,
)
from regionpredict.workload import TeamFacts, Workload, workload_of
from regionpredict.workload.assumed_sizes import bound_sizes

_LEAST_ITERATIONS = 2  # fewer are nothing to share


class Chosen(NamedTuple):
    """What is asked of the saturation model: numbers of threads (empty: all), what a hint may lose,
    whether the data were used before, and the parts that are on."""

    threads: tuple[int, ...]
    within: float
    warm: bool
    parts: Parts


class Subject(NamedTuple):
    """A region as it is predicted: what is known of its names, and of its arrays before it runs."""

    facts: RegionFacts
    definitions: tuple[Definition, ...]
    given: Mapping[str, int]
    placement: Placement
    history: History


class Trial(NamedTuple):
    """A region with sizes given: its times on round numbers of threads, and its iterations."""

    points: tuple[Point, ...]
    iterations: int | None


@dataclass(frozen=True, slots=True)
class OpenSizes:
    """The sizes of a region that nobody gave.

    `size` are the names that a common size stands for, `names` all; `assumed` has their values.
    Every trial tells the time on `also` threads.
    """

    size: tuple[str, ...]
    names: tuple[str, ...]
    assumed: Mapping[str, int]
    also: int


KnownTrials = dict[tuple[str | None, int], Trial | None]
"""The trials that were made, by name and size."""


def open_sizes(
    subject: Subject, workload: Workload, estimate: Estimate, machine: Machine
) -> OpenSizes | None:
    """The sizes of a region that nobody gave; None where all are known, or it has no hint.

    `workload` and `estimate` are those at the assumed sizes.
    """
    if workload.execution is None or estimate.threads is None:
        return None
    facts = subject.facts
    values = bound_sizes(facts, size_target(machine), machine.line_bytes).values
    names = sorted(free_names(facts.region) - facts.bindings.values.keys())
    unbound = [name for name in workload.execution.work.nest.unbound if name not in names]
    if not names and not unbound:
        return None
    size = workload.open_size.names if workload.open_size is not None else ()
    roots = _roots(size, subject.definitions)
    names = [name for name in names if name in roots or name not in size]
    assumed = {name: int(values[name]) for name in names}
    return OpenSizes(roots, (*names, *unbound), assumed, estimate.threads)


def _roots(names: Sequence[str], definitions: Sequence[Definition]) -> tuple[str, ...]:
    """The names that no definition makes of the others."""
    made = {one.name for one in definitions if one.name in names and one.value.names <= {*names}}
    return tuple(name for name in names if name not in made) or tuple(names)


@dataclass(slots=True)
class RegionTrials:
    """A region with values for its open sizes, each trial made once: it adds to `known`."""

    subject: Subject
    sizes: OpenSizes
    machine: Machine
    chosen: Chosen
    known: KnownTrials = field(default_factory=dict)

    def at(self, name: str | None, size: int) -> Trial | None:
        """The region with a value for one name, the others as assumed; `None`: the common size.

        None where no program has it: its data fit no memory, or the loop has nothing to share.
        """
        sizes = self.sizes
        if name is None and len(sizes.size) == 1:
            name = sizes.size[0]
        if (name, size) not in self.known:
            if name is None:
                values = dict.fromkeys(sizes.size, size)
            elif sizes.size == (name,):
                values = {name: size}  # other guesses may follow from it
            else:
                values = {**sizes.assumed, name: size}
            self.known[name, size] = self._tried(values)
        return self.known[name, size]

    def _tried(self, values: Mapping[str, int]) -> Trial | None:
        subject, machine = self.subject, self.machine
        region = with_given_trips(subject.facts.region, values)
        facts = facts_of(region, bind(region, subject.definitions, {**subject.given, **values}))
        iterations, touched = facts.iterations.value, facts.working_set.value
        memory = machine.memory.size_bytes
        if iterations is not None and iterations < _LEAST_ITERATIONS:
            return None
        if memory is not None and (touched or 0) > machine.domains * memory.value:
            return None
        try:
            workload = workload_of(
                facts, size_target(machine), machine.line_bytes, placement=subject.placement,
                history=subject.history,
            )  # fmt: skip
            points = rough_curve(
                workload, machine, self.chosen.threads, also=self.sizes.also,
                warm=self.chosen.warm, parts=self.chosen.parts,
            )  # fmt: skip
        except InputError:  # beyond 64 bits
            return None
        return Trial(points, iterations) if points else None

    def choice(self, name: str | None, size: int) -> Choice | None:
        """The hint of a trial, with all that is as good."""
        trial = self.at(name, size)
        return None if trial is None else _choice(trial.points, self.machine, self.chosen)

    def iterations(self, size: int) -> int | None:
        """Iterations that the threads share, at a common size."""
        trial = self.at(None, size)
        return None if trial is None else trial.iterations

    def tried(self, estimate: Estimate) -> OpenHint:
        """What the hint is over all sizes; `estimate` is that at the assumed ones."""
        now = choice_from(estimate.speedup, self.machine.cores_filled_first, self.chosen.within)
        sizes = self.sizes
        return _tried(sizes.names, now, sizes.size, self.choice, self.iterations)


def _tried(
    names: tuple[str, ...], now: Choice, size: tuple[str, ...],
    ask: Callable[[str | None, int], Choice | None], iterations: Callable[[int], int | None],
) -> OpenHint:  # fmt: skip
    together = choices_by_size(lambda value: ask(None, value)) if size else {}
    apart: dict[str, Mapping[int, Choice]] = {}
    for name in names:
        if size == (name,):
            apart[name] = together
            continue
        own = {value: ask(name, value) for value in SIZES_OF_ONE}
        apart[name] = {value: choice for value, choice in own.items() if choice is not None}
    return open_hint(names, now, size, together, apart, iterations)


def _choice(points: Sequence[Point], machine: Machine, chosen: Chosen) -> Choice:
    curve = [(point.threads, point.speedup) for point in points]
    asked = [point for point in curve if point[0] in chosen.threads]
    return choice_from(asked or curve, machine.cores_filled_first, chosen.within)


class TeamLoop(NamedTuple):
    """A loop of a team: its estimate, and trials of its sizes where some are open."""

    estimate: Estimate
    trials: RegionTrials | None


def team_tried(
    facts: TeamFacts, loops: Sequence[TeamLoop], now: Sequence[Point], machine: Machine,
    chosen: Chosen,
) -> OpenHint | None:  # fmt: skip
    """What a team's hint is over all sizes of its loops, in the order of its members.

    `now` are its times at the assumed sizes. None where all are known.
    """
    opened = [loop.trials.sizes for loop in loops if loop.trials is not None]
    names = tuple(sorted({name for sizes in opened for name in sizes.names}))
    if not names or not now:
        return None
    size = tuple(sorted({name for sizes in opened for name in sizes.size}))

    def ask(name: str | None, value: int) -> Choice | None:
        curves, runs = [], []
        given = dict.fromkeys(size if name is None else (name,), value)
        for member, loop in zip(facts.members, loops, strict=True):
            if loop.estimate.status == "skipped":
                continue
            points: Sequence[Point] = points_of(loop.estimate)
            if loop.trials is not None and _concerns(name, loop.trials.sizes):
                trial = loop.trials.at(name, value)
                if trial is None:
                    return None
                points = trial.points
            curves.append(points)
            runs.append(member.runs.at({**member.facts.bindings.values, **given}))
        return _choice(team_points(facts, curves, runs, machine), machine, chosen)

    def iterations(value: int) -> int | None:
        first = loops[0].trials
        return None if first is None else first.iterations(value)

    return _tried(names, _choice(now, machine, chosen), size, ask, iterations)


def _concerns(name: str | None, sizes: OpenSizes) -> bool:
    return bool(sizes.size) if name is None else name in sizes.names
