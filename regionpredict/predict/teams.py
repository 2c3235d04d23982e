"""Predicts the speedup curve and the hint of a whole parallel region.

The time on p threads consists of one fork, the time of each loop times its number of executions,
and the barriers between loops. The time of a loop includes its barrier unless it is `nowait`.
Excluded work is listed in `assumed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from regionpredict.errors import plural
from regionpredict.machine import Machine
from regionpredict.predict.by_size import HintRange, SizeHint
from regionpredict.predict.constants import WITHIN
from regionpredict.predict.curve import Point, SaturationDerivation
from regionpredict.predict.estimate import CUT, Estimate, Prediction
from regionpredict.predict.hints import hint_on, one_per_core, seats_of
from regionpredict.predict.limiting_factors import bottleneck_of
from regionpredict.predict.machine_uncertainty import UncertainLoop, moves_of
from regionpredict.predict.saturation.region_doubts import figures_doubt
from regionpredict.predict.saturation.team_costs import team_cost
from regionpredict.predict.uncertainty import (
    Bounds,
    Doubt,
    at_threads,
    band_of,
    chance_of,
    confidence_of,
    doubt_of_kind,
    merge_doubts,
    outlook_of,
    weighted_by_share,
    wider_band,
)
from regionpredict.workload import TeamFacts
from regionpredict.workload.assumed_sizes import sizes_origin


class TeamPart(NamedTuple):
    """A loop of a parallel region, and its number of executions per execution of the region."""

    estimate: Estimate
    runs: float


class TeamPoint(NamedTuple):
    """The speedup over one thread on `threads` threads, with the 80 % interval of measured
    speedups.
    """

    threads: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TeamEstimate:
    """The hint of a parallel region: the sockets and threads that it can use.

    `packages` and `threads` are None if no loop has a hint. `points` are the times for every number
    of threads, and empty for a model without times. `seconds` is the time of one execution on one
    thread. `confidence`, `doubts`, `unbound`, `deciding`, `range`, `by_size` and `cut` have the
    same meaning as in an `Estimate`.
    """

    status: str
    points: tuple[Point, ...]
    speedup: tuple[TeamPoint, ...]
    seconds: float | None
    packages: int | None
    threads: int | None
    bottleneck: str | None
    confidence: float
    borderline: bool
    assumed: tuple[str, ...]
    by_size: tuple[SizeHint, ...] = ()
    unbound: tuple[str, ...] = ()
    deciding: tuple[str, ...] = ()
    range: HintRange | None = None
    threads_per_core: int = 1
    shared_core_speedup: float | None = None
    doubts: tuple[Doubt, ...] = ()
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPrediction(TeamEstimate):
    """An estimate with the facts of its parallel region."""

    facts: TeamFacts

    @property
    def total_seconds(self) -> float | None:
        """Returns the time of all executions on one thread."""
        return None if self.seconds is None else self.seconds * self.facts.executions.weight

    @property
    def sizes_from(self) -> str:
        """The least certain source of the parallel region's sizes, one of `SIZE_ORIGINS`."""
        return sizes_origin([member.facts for member in self.facts.members], self.unbound)

    @staticmethod
    def of(estimate: TeamEstimate, facts: TeamFacts) -> TeamPrediction:
        """Combines an estimate with the facts of its parallel region."""
        own = {field.name: getattr(estimate, field.name) for field in fields(TeamEstimate)}
        made = TeamPrediction(**own, facts=facts)
        return replace(made, assumed=tuple(dict.fromkeys(map(made.in_words, made.assumed))))

    def in_words(self, text: str) -> str:
        """Replaces internal names in a text about the parallel region by readable names."""
        for member in self.facts.members:
            text = member.facts.region.in_words(text)
        return text


def predict_team(
    facts: TeamFacts,
    estimates: Sequence[Estimate],
    machine: Machine,
    *,
    within: float = WITHIN.value,
) -> TeamPrediction:
    """Predicts a parallel region from the `estimates` of its loops, in order."""
    parts = [TeamPart(estimate, member.runs.weight)
             for estimate, member in zip(estimates, facts.members, strict=True)]  # fmt: skip
    known = [part for part in parts if part.estimate.status != "skipped"]
    notes = [f"{name} has no prediction; its time is excluded" for name in
             (member.facts.region.id for member, part in zip(facts.members, parts, strict=True)
              if part.estimate.status == "skipped")]  # fmt: skip
    notes += _execution_count_notes(facts)
    notes += [_note_on(construct.kind, construct.line)
              for construct in facts.constructs if construct.kind != "barrier"]  # fmt: skip
    if not known:
        estimate = TeamEstimate("skipped", (), (), None, None, None, None, 0.0, False, tuple(notes))
    elif len(parts) == 1 and facts.forks == _first_loop_forks(facts):
        estimate = _estimate_of_single_loop(parts[0].estimate, notes)
    else:
        estimate = _estimate_of_loops(
            facts, known, machine, within, notes, partial=len(known) < len(parts)
        )
    cut = tuple(kind for kind in CUT if any(kind in part.estimate.cut for part in parts))
    return TeamPrediction.of(replace(estimate, cut=cut), facts)


def _note_on(kind: str, line: int) -> str:
    if kind in ("single", "master", "masked", "critical"):
        return f"loops in the {kind} at line {line} count as serial time of the program"
    return f"the time of the {kind} at line {line} is excluded"


def _execution_count_notes(facts: TeamFacts) -> list[str]:
    """Returns notes about assumed numbers of executions, for example if a call has several possible
    targets.
    """
    often = facts.executions
    notes = [f"counted as running {plural(often.weight, 'time')}: {line}" for line in often.assumed]
    for member in facts.members:
        name, runs = member.facts.region.id, member.runs
        notes += [f"{name} is counted as running {runs.weight:g} times in each run: {line}"
                  for line in runs.assumed]  # fmt: skip
    return notes


def execution_count_assumptions(teams: Iterable[TeamFacts]) -> dict[str, tuple[str, ...]]:
    """Returns notes about the assumed number of executions in the program, by region id."""
    taken: dict[str, tuple[str, ...]] = {}
    for team in teams:
        for member in team.members:
            runs = team.executions.times(member.runs)
            taken[member.facts.region.id] = tuple(
                f"counted as running {runs.weight:g} times: {line}" for line in runs.assumed
            )
    return taken


def _first_loop_forks(facts: TeamFacts) -> bool:
    """Whether the first loop starts the threads, so that its time includes the fork."""
    return facts.members[0].facts.region.context == "combined"


def _estimate_of_single_loop(estimate: Estimate, notes: Sequence[str]) -> TeamEstimate:
    points = points_of(estimate)
    return TeamEstimate(
        status=estimate.status,
        points=points,
        speedup=_with_band(estimate.speedup, estimate.band),
        seconds=points[0].seconds if points else None,
        packages=estimate.packages,
        threads=estimate.threads,
        bottleneck=estimate.bottleneck,
        confidence=estimate.confidence,
        borderline=estimate.borderline,
        assumed=(*estimate.assumed, *notes),
        by_size=estimate.by_size,
        unbound=estimate.unbound,
        deciding=estimate.deciding,
        range=estimate.range,
        threads_per_core=estimate.threads_per_core,
        shared_core_speedup=estimate.shared_core_speedup,
        doubts=estimate.doubts,
    )


def _estimate_of_loops(
    facts: TeamFacts,
    parts: Sequence[TeamPart],
    machine: Machine,
    within: float,
    notes: Sequence[str],
    *,
    partial: bool,
) -> TeamEstimate:
    curves = [points_of(part.estimate) for part in parts]
    points = team_points(facts, curves, [part.runs for part in parts], machine)
    assumed = tuple(dict.fromkeys(line for part in parts for line in part.estimate.assumed))
    partial = partial or any(part.estimate.status == "partial" for part in parts)
    status = "partial" if partial else "predicted"
    if not points:
        most = max((part.estimate for part in parts), key=lambda estimate: estimate.threads or 0)
        return TeamEstimate(
            status, (), (), None, most.packages, most.threads, most.bottleneck,
            min(part.estimate.confidence for part in parts), most.borderline, (*assumed, *notes),
        )  # fmt: skip
    outlook = outlook_of(points, machine)
    shown = at_threads(outlook, {threads for threads, _ in parts[0].estimate.speedup})
    hint = hint_on(machine, shown, within)
    moves = moves_of(_uncertain_loops(parts), points)
    settled = chance_of(shown, hint.threads, within)
    chance = chance_of(shown, hint.threads, within, moves) if moves else settled
    doubts = _weighted_doubts(parts, hint.threads, partial=partial)
    doubts += figures_doubt(_spread_terms(parts), settled, chance)
    band = band_of(shown)
    worst = [
        derivation.otherwise or derivation.points for derivation in _derivations_of_parts(parts)
    ]
    if any(derivation.otherwise for derivation in _derivations_of_parts(parts)):
        others = team_points(facts, worst, [part.runs for part in parts], machine)
        counts = {expected.threads for expected in shown}
        band = wider_band(band, band_of(at_threads(outlook_of(others, machine), counts)))
    speeds = {point.threads: point.speedup for point in points}
    doubled = _on_all_hardware_threads(facts, parts, machine)
    seats = seats_of(
        hint,
        [(expected.threads, speeds[expected.threads]) for expected in one_per_core(machine, shown)],
        (doubled.threads, points[0].seconds / doubled.seconds)
        if doubled is not None
        and doubled.threads == hint.packages * machine.cores_per_package * machine.threads_per_core
        else None,
        machine,
        within,
    )
    return TeamEstimate(
        status=status, points=points,
        speedup=_with_band(
            [(expected.threads, speeds[expected.threads]) for expected in shown], band
        ),
        seconds=points[0].seconds, packages=hint.packages, threads=seats.threads,
        threads_per_core=seats.on_a_core, shared_core_speedup=seats.speedup,
        bottleneck=bottleneck_of(points),
        confidence=confidence_of(settled, doubts=doubts), doubts=doubts,
        borderline=hint.margin < within, assumed=(*assumed, *notes),
    )  # fmt: skip


def _derivations_of_parts(parts: Sequence[TeamPart]) -> list[SaturationDerivation]:
    made = (part.estimate.derivation for part in parts)
    return [derivation for derivation in made if isinstance(derivation, SaturationDerivation)]


def _spread_terms(parts: Sequence[TeamPart]) -> dict[str, float]:
    return {
        term: spread for derivation in _derivations_of_parts(parts)
        for term, spread in derivation.spreads.items()
    }  # fmt: skip


def _weighted_doubts(
    parts: Sequence[TeamPart], threads: int, *, partial: bool
) -> tuple[Doubt, ...]:
    """Returns the doubts of all loops, weighted by the loops' shares of the time."""
    times = [
        part.runs * next((p.seconds for p in points_of(part.estimate) if p.threads == threads), 0.0)
        for part in parts
    ]
    whole = sum(times)
    doubts = merge_doubts(
        weighted_by_share(
            (known for known in part.estimate.doubts if known.id not in _OF_THE_WHOLE),
            spent / whole if whole else 1.0,
        )
        for part, spent in zip(parts, times, strict=True)
    )
    if partial and all(part.estimate.status != "partial" for part in parts):
        doubts += (doubt_of_kind("unread", "not all of its loops have a prediction"),)
    return doubts


_OF_THE_WHOLE = frozenset(("figures", "sizes"))
"""Doubts that apply to all loops of a parallel region together."""


def _uncertain_loops(parts: Sequence[TeamPart]) -> list[UncertainLoop]:
    """Returns the loops with times, together with the uncertainty of machine figures."""
    return [
        UncertainLoop(part.estimate.derivation.points, part.estimate.derivation.spreads, part.runs)
        for part in parts
        if isinstance(part.estimate.derivation, SaturationDerivation)
    ]


def _on_all_hardware_threads(
    facts: TeamFacts, parts: Sequence[TeamPart], machine: Machine
) -> Point | None:
    """Returns the time of one execution with all hardware threads of some sockets. None unless all
    loops have such a time for the same sockets.
    """
    known = [
        part.estimate.derivation.doubled for part in parts
        if isinstance(part.estimate.derivation, SaturationDerivation)
    ]  # fmt: skip
    curves = [[point] for point in known if point is not None]
    if len(curves) < len(parts) or len({point.threads for (point,) in curves}) > 1:
        return None
    return team_points(facts, curves, [part.runs for part in parts], machine)[0]


def points_of(estimate: Estimate) -> tuple[Point, ...]:
    """Returns the times by number of threads. Empty for a model without times."""
    return (
        estimate.derivation.points if isinstance(estimate.derivation, SaturationDerivation) else ()
    )


def seconds_alone(estimate: Estimate) -> float | None:
    """Returns the seconds of one execution on one thread. None for a model without times."""
    return next((point.seconds for point in points_of(estimate) if point.threads == 1), None)


def team_points(
    facts: TeamFacts, loops: Sequence[Sequence[Point]], runs: Sequence[float], machine: Machine
) -> tuple[Point, ...]:
    """Returns the time of one execution of a parallel region, for each number of threads for which
    all loops have times.

    `loops` are the times of each loop, and `runs` the executions of each loop.
    """
    curves = [{point.threads: point for point in points} for points in loops]
    counts = sorted(set.intersection(*(set(curve) for curve in curves)))
    made: list[Point] = []
    for threads in counts:
        terms = dict.fromkeys(curves[0][threads].terms, 0.0)
        for curve, often in zip(curves, runs, strict=True):
            for name, seconds in curve[threads].terms.items():
                terms[name] += often * seconds
        terms["overhead"] += _own_overhead(facts, machine, threads)
        total = sum(terms.values())
        base = made[0].seconds if made else total
        label = max(terms, key=lambda name: terms[name])
        widest = max((curve[threads] for curve in curves), key=lambda point: point.requesting)
        moved = sum(
            often * curve[threads].memory_bytes for curve, often in zip(curves, runs, strict=True)
        )
        made.append(Point(threads, total, base / total if total else 1.0, label, terms,
                          widest.requesting, widest.bandwidth, moved))  # fmt: skip
    return tuple(made)


def team_curve(
    facts: TeamFacts, loops: Sequence[Sequence[Point]], machine: Machine
) -> tuple[Point, ...]:
    """Returns the times of one execution of a parallel region from the times of its `loops`, in
    order.

    Loops without times are excluded. The result is empty if all loops are excluded.
    """
    known = [
        (points, member.runs.weight)
        for points, member in zip(loops, facts.members, strict=True) if points
    ]  # fmt: skip
    if len(loops) == 1 and facts.forks == _first_loop_forks(facts):
        return tuple(loops[0])
    curves, runs = [points for points, _ in known], [often for _, often in known]
    return team_points(facts, curves, runs, machine) if known else ()


def _own_overhead(facts: TeamFacts, machine: Machine, threads: int) -> float:
    """Returns the seconds for one fork and for synchronization between the loops."""
    cycles = team_cost(machine, "fork_join", threads) if facts.forks else 0.0
    waits = sum(construct.runs.weight for construct in facts.constructs if construct.waits)
    cycles += waits * team_cost(machine, "barrier", threads)
    return machine.corrections.factor("overhead") * cycles / machine.clock_hz


def _with_band(
    speedup: Sequence[tuple[int, float]], band: Sequence[Bounds]
) -> tuple[TeamPoint, ...]:
    return tuple(
        TeamPoint(threads, value, *bounds)
        for (threads, value), bounds in zip(speedup, band, strict=True)
    )


def region_seconds(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction]
) -> dict[str, float]:
    """Returns the time of all executions of each region in the program on one thread, in seconds.
    Regions without a time are excluded.
    """
    runs: dict[str, float] = {}
    for team in teams:
        for member in team.facts.members:
            name = member.facts.region.id
            weight = team.facts.executions.weight * member.runs.weight
            runs[name] = runs.get(name, 0.0) + weight
    return {
        prediction.facts.region.id: runs[prediction.facts.region.id]
        * points_of(prediction)[0].seconds
        for prediction in predictions
        if points_of(prediction) and prediction.facts.region.id in runs
    }
