"""Computes the reliability of a region's hint: its probability, the interval of the curve, and the
doubts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.machine import Machine, unconverged_figures
from regionpredict.predict.curve import Point
from regionpredict.predict.limiting_factors import bottleneck_of
from regionpredict.predict.machine_uncertainty import UncertainLoop, moves_of
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.predict.uncertainty import (
    Bounds,
    Doubt,
    ExpectedSpeedup,
    at_threads,
    band_of,
    chance_of,
    chance_without_doubts,
    doubt_of_kind,
    doubts_of_notes,
    outlook_of,
    wider_band,
)
from regionpredict.predict.uncertainty.constants import FEW_FIGURES
from regionpredict.workload import Execution, Workload

_SHOWN = 0.005
"""A factor that lowers the confidence by less than this does not count as a doubt."""

_HELD_UP = frozenset(("serialization", "overhead"))
"""The bottlenecks of a region with more synchronization than computation."""


class HintJudgment(NamedTuple):
    """The reliability of a hint.

    `settled` is the probability that the hint is right for exact machine figures, and `chance` the
    probability with uncertain figures. `band` is the interval of the speedup curve. `otherwise` are
    the times for the other possible distribution of data-dependent work.
    """

    settled: float
    chance: float
    band: tuple[Bounds, ...]
    doubts: tuple[Doubt, ...]
    otherwise: tuple[Point, ...]


def judge_hint(
    workload: Workload, execution: Execution, time: RegionTime, points: Sequence[Point],
    expected_speedups: Sequence[ExpectedSpeedup], threads: int, spreads: Mapping[str, float],
    within: float,
) -> HintJudgment:  # fmt: skip
    """Judges the hint of `threads` threads from the curve `points`.

    `expected_speedups` is the expected speedup at the allowed thread counts, and `spreads` the
    uncertainty of machine figures. `within` is the allowed loss of a hint.
    """
    partial = workload.table.status == "partial"
    doubts = doubts_of_notes(workload.table.diagnostics, partial=partial)
    if workload.team_limit != 1:
        doubts += _shared_line_doubt(workload, execution)
    doubts += _call_cost_doubt(points, threads, doubts)
    doubts += _synchronization_doubts(execution, points, threads, doubts)
    doubts += _calibration_doubt(time.machine)
    otherwise = _other_distribution(time, execution, [point.threads for point in points])
    doubts += _imbalance_doubt(execution, points, otherwise, threads, within)
    settled = chance = chance_of(expected_speedups, threads, within)
    if spreads:
        moves = moves_of([UncertainLoop(points, spreads)], points)
        chance = chance_of(expected_speedups, threads, within, moves)
        doubts += figures_doubt(spreads, settled, chance)
    band = band_of(expected_speedups)
    if otherwise:
        counts = {expected.threads for expected in expected_speedups}
        other = at_threads(outlook_of(otherwise, time.machine), counts)
        band = wider_band(band, band_of(other))
    return HintJudgment(settled, chance, band, doubts, otherwise)


def _shared_line_doubt(workload: Workload, execution: Execution) -> tuple[Doubt, ...]:
    """Returns the doubt about threads that write the same cache line in turn."""
    arrays = sorted(
        {writes.array for writes in execution.contended
         if writes.apart is not None and writes.apart < workload.line_bytes}
    )  # fmt: skip
    if not arrays:
        return ()
    return (
        doubt_of_kind("in-turn", f"threads write one cache line of {', '.join(arrays)} in turn"),
    )


def _call_cost_doubt(
    points: Sequence[Point], threads: int, before: Sequence[Doubt]
) -> tuple[Doubt, ...]:
    """Returns the doubt about calls of functions without source code, which may take longer than
    assumed. It applies if overhead is the reason for a hint of fewer than all threads.
    """
    unseen = any(known.id == "calls" for known in before)
    if not unseen or bottleneck_of(points) not in _HELD_UP or threads >= points[-1].threads:
        return ()
    return (
        doubt_of_kind(
            "call-cost", "calls without source count as a few cycles; long calls scale better"
        ),
    )


def _synchronization_doubts(
    execution: Execution, points: Sequence[Point], threads: int, before: Sequence[Doubt]
) -> tuple[Doubt, ...]:
    """Returns the doubts about synchronization and nested parallel regions. `before` are the doubts
    found so far.
    """
    counts = execution.synchronisation
    found: tuple[Doubt, ...] = ()
    meet = counts.serial_bodies + counts.in_one_place + len(counts.spread)
    if threads == 1:
        if 2 * counts.perhaps > counts.serial_bodies + counts.atomics and meet:
            said = "the frequency of synchronization under a condition is assumed"
            return (doubt_of_kind("condition", said),) if bottleneck_of(points) in _HELD_UP else ()
        return ()
    if counts.inner_teams and not any(known.id == "nested" for known in before):
        found += (doubt_of_kind("nested", "its threads start nested parallel regions"),)
    if meet and bottleneck_of(points) in _HELD_UP:
        said = f"how often {threads} threads meet at locks or atomic updates is assumed"
        found += (doubt_of_kind("contention", said),)
    return found


def _calibration_doubt(machine: Machine) -> tuple[Doubt, ...]:
    """Returns the doubt about a machine calibrated on a busy host, where most figures did not
    converge.
    """
    known, wide = len(machine.spread), len(unconverged_figures(machine))
    if known < FEW_FIGURES.value or wide <= known / 2:
        return ()
    said = (
        f"{known - wide} of {known} measured figures of {machine.name} converged; calibrate again"
    )
    return (doubt_of_kind("calibration", said),)


def _other_distribution(
    time: RegionTime, execution: Execution, counts: Sequence[int]
) -> tuple[Point, ...]:
    """Returns the times for skewed data-dependent work, or for even work if the user gave a skew.
    Empty for work that does not depend on data.
    """
    skew = execution.work.skew
    if skew is None:
        return ()
    other = None if time.profile.skew is not None else skew
    return time.points(counts, time.profile._replace(skew=other))


def _imbalance_doubt(
    execution: Execution, points: Sequence[Point], otherwise: Sequence[Point], threads: int,
    within: float,
) -> tuple[Doubt, ...]:  # fmt: skip
    """Returns the doubt about an unknown distribution of work, if the other distribution costs more
    than the allowed loss.
    """
    work = execution.work
    if not otherwise:
        return ()
    at = next(number for number, point in enumerate(points) if point.threads == threads)
    if work.profile.skew is not None:
        loss = otherwise[at].seconds / min(point.seconds for point in otherwise)
        if loss <= 1.0 + within:
            return ()
        return (doubt_of_kind("imbalance", "the long iterations are assumed to be adjacent"),)
    slower = otherwise[at].seconds / points[at].seconds if points[at].seconds else 1.0
    if slower <= 1.0 + within:
        return ()
    first, *more = work.uneven
    what = f"{first}, and {len(more)} more" if more else first
    variable = work.nest.root.variable
    reason = (
        f"unknown; {what}; up to {slower:.1f}x slower on {threads} threads if {work.skew}. Set it "
        f"with --set 'skew({variable})=LONGEST/MEAN'"
    )
    return (doubt_of_kind("imbalance", reason),)


def figures_doubt(spreads: Mapping[str, float], settled: float, chance: float) -> tuple[Doubt, ...]:
    """Returns the doubt about uncertain machine figures, from the probability that the hint is
    right with exact figures (`settled`) and with uncertain figures (`chance`).
    """
    factor = chance_without_doubts(chance) / chance_without_doubts(settled)
    if factor > 1.0 - _SHOWN:
        return ()
    reason = f"the machine's figures of its {' and '.join(spreads)} are uncertain"
    return (Doubt("figures", factor, reason),)
