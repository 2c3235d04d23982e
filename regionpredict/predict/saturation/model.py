"""The saturation model: predicts a speedup curve from data traffic, bandwidth curves, core time and
overheads.

The time of a thread consists of core time, transfers from caches, waiting for memory, and OpenMP
overhead. Equations and sources are in docs/saturation.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from regionpredict.errors import plural
from regionpredict.machine import Machine
from regionpredict.predict.by_size import OpenHint
from regionpredict.predict.constants import WITHIN
from regionpredict.predict.curve import Point, SaturationDerivation, saturation_point
from regionpredict.predict.density import predict_density
from regionpredict.predict.estimate import CUT_TRAFFIC, Estimate
from regionpredict.predict.hints import hint_on, one_per_core, seats_of
from regionpredict.predict.limiting_factors import bottleneck_of
from regionpredict.predict.saturation.ablation import ALL_PARTS, Parts
from regionpredict.predict.saturation.constants import ASSUMED_DATA
from regionpredict.predict.saturation.deciding_figures import (
    assumed_groups,
    deciding_terms,
    spreads_of,
    unconverged_lines,
)
from regionpredict.predict.saturation.hardware_threads import all_hardware_threads
from regionpredict.predict.saturation.memory_overflow import overflow_note
from regionpredict.predict.saturation.openmp_overheads import atomic_turn
from regionpredict.predict.saturation.region_doubts import judge_hint
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.predict.saturation.superlinear import (
    superlinear_gain,
    superlinear_sentence,
    with_all_work,
)
from regionpredict.predict.uncertainty import (
    at_threads,
    confidence_of,
    doubt_of_kind,
    outlook_of,
)
from regionpredict.workload import (
    CacheContents,
    Diagnostic,
    Execution,
    SizeTarget,
    StatementTable,
    TrafficCounter,
    Workload,
    warm_cache_contents,
)


def size_target(machine: Machine) -> SizeTarget:
    """Returns the amount of data that regions of unknown size are assumed to access on this
    machine.
    """
    size = int(ASSUMED_DATA.value) * machine.largest_cache_bytes
    return SizeTarget(size, "data of ten times the largest cache", machine.cores)


def rough_curve(
    workload: Workload, machine: Machine, threads: Sequence[int] = (), *, extra_threads: int = 1,
    warm: bool | None = None, parts: Parts = ALL_PARTS, counters: Sequence[TrafficCounter] = (),
) -> tuple[Point, ...]:  # fmt: skip
    """Returns the times on one thread and on each number in `threads`. The default numbers are
    powers of two, whole NUMA domains, and `extra_threads`.

    Empty if the region cannot be predicted. `counters` has the same meaning as in `region_time`.
    """
    time = region_time(workload, machine, warm=warm, parts=parts, counters=counters)
    if time is None:
        return ()
    most = min(workload.team_limit or machine.cores, machine.cores)
    asked = threads or (*round_counts(machine, most), extra_threads)
    return time.points(sorted({1, *(count for count in asked if count <= most)}))


def region_time(
    workload: Workload, machine: Machine, *, warm: bool | None = None, parts: Parts = ALL_PARTS,
    counters: Sequence[TrafficCounter] = (),
) -> RegionTime | None:  # fmt: skip
    """Returns an object that computes the time of a region on any number of threads. None if the
    region cannot be predicted.

    `counters` are traffic counters of another region with the same work, which are reused.
    """
    execution = workload.execution
    if execution is None:
        return None
    contents = _initial_contents(workload, execution, warm=warm, parts=parts)
    return RegionTime(
        workload, execution, machine, contents=contents, parts=parts, counters=counters
    )


def known_at_all_sizes(estimate: Estimate, open_hint: OpenHint) -> Estimate:
    """Returns the estimate with a hint that is good at all tried sizes."""
    derivation = estimate.derivation
    if not isinstance(derivation, SaturationDerivation):
        return estimate
    chance = min(open_hint.chance, derivation.chance)
    rest = tuple(other for other in estimate.doubts if other.id != "figures")
    return replace(
        estimate,
        threads=open_hint.threads,
        threads_per_core=1,
        confidence=confidence_of(chance, doubts=rest),
        doubts=rest if chance < derivation.chance else estimate.doubts,
        borderline=min(open_hint.margin, derivation.margin) < derivation.within,
    )  # fmt: skip


def round_counts(machine: Machine, most: int) -> list[int]:
    """Returns numbers of threads up to `most`: powers of two, and whole NUMA domains."""
    counts = {1 << k for k in range(most.bit_length())} | {most}
    return sorted(counts | set(range(machine.cores_per_domain, most, machine.cores_per_domain)))


def predict_saturation(
    workload: Workload,
    machine: Machine,
    *,
    threads: Sequence[int] = (),
    within: float = WITHIN.value,
    warm: bool | None = None,
    parts: Parts = ALL_PARTS,
) -> Estimate:
    """Returns the estimate of one region, with its times on each number of `threads` (default: 1 up
    to all cores).

    `within` is the allowed loss of a hint, relative to the best speed. `warm` says that the region
    was executed before on the same data. With None, this follows from the program. `parts` of the
    model may be disabled for ablations. The estimate also contains the score and the miss
    probability of the density model.
    """
    table, execution = workload.table, workload.execution
    density = predict_density(table, machine)
    if density.status == "skipped" or execution is None:
        return _skipped_estimate(density)
    contents = _initial_contents(workload, execution, warm=warm, parts=parts)
    time = RegionTime(workload, execution, machine, contents=contents, parts=parts)
    most = workload.team_limit
    if most is None:
        most = max((machine.cores, *threads))
    allowed = [count for count in threads if count <= most] or ([most] if threads else [])
    counts = sorted({1, *allowed}) if allowed else list(range(1, min(most, machine.cores) + 1))
    points, lost = with_all_work(time.points(counts))
    outlook = outlook_of(points, machine)
    asked = at_threads(outlook, allowed)
    hint = hint_on(machine, asked, within)
    doubled = None
    if not allowed or any(count > machine.cores for count in allowed):
        doubled = all_hardware_threads(
            workload, machine, hint.packages, contents=contents, parts=parts,
            counters=time.counters,
        )  # fmt: skip
    alone = {expected.threads for expected in one_per_core(machine, asked)}
    seats = seats_of(
        hint, [(p.threads, p.speedup) for p in points if p.threads in alone],
        doubled and (doubled.threads, doubled.speedup), machine, within,
    )  # fmt: skip
    placement = workload.placement
    assumed = [*table.assumed, *workload.guessed, *execution.assumed]
    if most < machine.cores:
        assumed.append(
            f"at most {plural(most, 'thread')}, as the directive at line {table.span.line} says"
        )
    if table.iterations is not None and table.iterations <= 0:
        assumed.append("no iterations: a size is too small")
    if machine.domains > 1 and machine.memory.shared_path is None:
        assumed += placement.assumption_lines
    if not time.far and (note := overflow_note(machine, time.touched)):
        assumed.append(note)
    if time.traffic.keeps_more(hint.threads):
        assumed.append(
            f"data stays in the caches of {plural(hint.threads, 'thread')} between two runs"
        )
    assumed += [f"each write to {writes.array} goes to memory, not to a register"
                for writes in execution.contended if writes.apart is not None]  # fmt: skip
    bottleneck = bottleneck_of(points)
    hinted = next(point for point in points if point.threads == hint.threads)
    deciding = deciding_terms(time, hinted, bottleneck)
    keys = [key for figures in deciding.values() for key in figures]
    assumed += (*assumed_groups(machine, keys), *unconverged_lines(machine, keys))
    spreads = spreads_of(machine, deciding)
    partial = table.status == "partial"
    known = judge_hint(workload, execution, time, points, asked, hinted.threads, spreads, within)
    doubts = known.doubts
    if lost:
        doubts += (doubt_of_kind("lost-work", "threads together do less work than one thread"),)
    shown = {expected.threads for expected in asked}
    superlinear = superlinear_gain(points, time)
    notes = (
        []
        if superlinear is None
        else [table.diagnostic("RP131", superlinear_sentence(superlinear))]
    )
    notes += _cost_of_atomic_arrays(table, time, points[-1].threads)
    return Estimate(
        model="saturation",
        status="partial" if partial else "predicted",
        score=density.score,
        miss_probability=density.miss_probability,
        working_set_bytes=density.working_set_bytes,
        speedup=tuple((p.threads, p.speedup) for p in points if p.threads in shown),
        packages=hint.packages,
        threads=seats.threads,
        threads_per_core=seats.on_a_core,
        shared_core_speedup=seats.speedup,
        bottleneck=bottleneck,
        confidence=confidence_of(known.settled, doubts=doubts),
        doubts=doubts,
        borderline=hint.margin < within,
        assumed=tuple(assumed),
        diagnostics=(*density.diagnostics, *notes),
        derivation=SaturationDerivation(
            points=points,
            core=time.core,
            levels=time.traffic.carried_levels(1),
            full_levels=time.traffic.carried_levels(machine.cores),
            saturation=saturation_point({p.threads: p.speedup for p in points}),
            first_touch=placement.kind,
            placement_reason=placement.reason,
            past=time.transfers.summary(points[-1].threads),
            within=within,
            margin=hint.margin,
            chance=known.chance,
            spreads=spreads,
            doubled=doubled,
            otherwise=known.otherwise,
        ),
        band=known.band,
        superlinear=superlinear,
        cut=(CUT_TRAFFIC,) if time.traffic.cut else (),
    )


def _cost_of_atomic_arrays(
    table: StatementTable, time: RegionTime, threads: int
) -> list[Diagnostic]:
    """Returns a diagnostic for each array that several threads update atomically."""
    turn = atomic_turn(time.machine, threads)
    return [
        table.diagnostic(
            "RP226",
            f"threads contend for {plural(ceil(updates.lines), 'line')} of "
            f"{time.machine.line_bytes} B with atomic updates of {updates.text}: on "
            f"{plural(threads, 'thread')} {updates.moved:.0f} of {updates.updates:.0f} take the "
            f"line from another one, {turn:.0f} cycles each",
        )
        for updates in time.transfers.spread_updates(threads)
        if updates.moved > 0.0
    ]


def _initial_contents(
    workload: Workload, execution: Execution, *, warm: bool | None, parts: Parts
) -> CacheContents:
    """Returns the initial contents of the caches: those that follow from the program, all of the
    region's data (`warm`), or nothing.
    """
    if warm is None and parts.seen_contents:
        return workload.contents
    # Data that the region's only run writes first cannot be cached from a previous run.
    if warm is False or workload.fresh:
        return CacheContents()
    return warm_cache_contents(execution.work.nest)


def _skipped_estimate(density: Estimate) -> Estimate:
    return Estimate(
        model="saturation", status="skipped", score=None, miss_probability=None,
        working_set_bytes=None, speedup=(), packages=None, threads=None, bottleneck=None,
        confidence=0.0, borderline=False, assumed=(), diagnostics=density.diagnostics,
    )  # fmt: skip
