"""Finds hints that depend on how much cached data other regions of unknown size evict.

The hint is known if one number of threads is good whether nothing, a part, or everything is
evicted. Otherwise, the sizes of the other regions decide the hint, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from regionpredict.analysis.given_sizes import place_of
from regionpredict.analysis.history.last_writes import History
from regionpredict.machine import Machine
from regionpredict.predict import (
    TRIED_SIZES,
    Choice,
    Estimate,
    HintRange,
    OpenHint,
    Point,
    common_threads,
    counters_of,
    points_of,
    range_of,
    rough_curve,
    share_within_loss,
    with_open_sizes,
)
from regionpredict.predict.estimate import CUT_NEIGHBOURS
from regionpredict.sizes.trials import ModelOptions, RegionTrials, WorkBudget, choice_of
from regionpredict.workload import Workload
from regionpredict.workload.assumed_sizes import TEAM_SIZES
from regionpredict.workload.counted_work import work_so_far

_PARTS = (1e9, 4.0, 1.0, 0.25)
"""The tried amounts of evicting data, relative to the largest caches of the whole machine, largest
first. A hint changes only if other regions access about as much data as these caches hold.
"""
_NAMED = 4


def with_open_neighbours(
    estimate: Estimate, workload: Workload, history: History, machine: Machine,
    options: ModelOptions, trials: RegionTrials | None = None,
) -> Estimate:  # fmt: skip
    """Updates an estimate for unknown sizes of other loops in `history`. The estimate is unchanged
    if their evictions cost less than the allowed loss.

    `workload` is the region's workload at the sizes of the estimate. `trials` contains the trials
    of the region, if its own sizes are unknown.
    """
    names = _open_names(history, estimate)
    execution = workload.execution
    also = estimate.threads
    if not names or not workload.contents.own or execution is None or also is None:
        return estimate
    assumed = replace(estimate, assumed=(*estimate.assumed, _assumption_text(names)))
    if estimate.range is not None:
        return (
            assumed
            if trials is None
            else _with_evictions_at_tried_sizes(names, assumed, machine, trials)
        )
    counters = counters_of(workload, execution)  # with any initial cache contents

    def curve(between: float) -> Sequence[Point]:
        contents = workload.contents._replace(between=between)
        pushed = replace(workload, contents=contents)
        return rough_curve(
            pushed, machine, options.threads, extra_threads=also, warm=options.warm,
            parts=options.parts, counters=counters,
        )  # fmt: skip

    points = points_of(estimate)
    asked = [threads for threads, _ in estimate.speedup]
    now = choice_of(points, machine, asked, options.within)
    tried = [now, *_choices_with_evictions(points, curve, machine, options)]
    return (
        estimate
        if len(tried) == 1
        else with_open_sizes(assumed, _hint_over_evictions(names, estimate, tried))
    )


def _choices_with_evictions(
    points: Sequence[Point], curve: Callable[[float], Sequence[Point]], machine: Machine,
    options: ModelOptions,
) -> list[Choice]:  # fmt: skip
    """Returns the choices for large and for smaller evictions, as long as evictions have a cost.
    `points` are the times without eviction.

    Empty if evicting everything costs less than the allowed loss.
    """
    known = {point.threads: point.seconds for point in points}
    tried: list[Choice] = []
    for part in _PARTS:
        slowed = curve(part * _cache_bytes(machine))
        slower = max(
            (p.seconds / before for p in slowed if (before := known.get(p.threads))), default=1.0
        )
        if slower - 1 <= (options.within if part == _PARTS[0] else 0):
            break  # smaller amounts have smaller effects
        tried.append(choice_of(slowed, machine, options.threads, options.within))
    return tried


def _with_evictions_at_tried_sizes(
    names: tuple[str, ...], estimate: Estimate, machine: Machine, trials: RegionTrials
) -> Estimate:
    """Updates an estimate of a region with unknown sizes, if evictions by other regions change the
    hint at one of these sizes. The names of the other regions' sizes are then added.
    """
    own = trials.sizes.size or estimate.deciding
    budget = WorkBudget(trials.chosen.work)
    for size in TRIED_SIZES:
        if not budget.allows_another_trial():
            return replace(estimate, cut=(*estimate.cut, CUT_NEIGHBOURS))
        sizes = dict.fromkeys(own, size)
        trial = trials.at(sizes)
        budget.left -= trials.work(sizes)
        if trial is None:
            continue
        before = work_so_far() - trials.work_of_workload(sizes)
        curve = trials.with_evictions(sizes)
        chosen = trials.chosen
        now = choice_of(trial.points, machine, chosen.threads, chosen.within)
        tried = [now, *_choices_with_evictions(trial.points, curve, machine, chosen)]
        budget.left -= work_so_far() - before
        if not common_threads(tried):
            return replace(
                estimate, unbound=(*estimate.unbound, *names),
                deciding=(*estimate.deciding, *names),
                range=_union_of_ranges(estimate.range, range_of(tried)),
            )  # fmt: skip
    return estimate


def _union_of_ranges(known: HintRange | None, other: HintRange) -> HintRange:
    if known is None:
        return other
    return HintRange(
        (min(known.packages[0], other.packages[0]), max(known.packages[1], other.packages[1])),
        (min(known.threads[0], other.threads[0]), max(known.threads[1], other.threads[1])),
    )


def _open_names(history: History, estimate: Estimate) -> tuple[str, ...]:
    """Returns the unknown sizes of other regions, except the unknown sizes of this region."""
    return tuple(dict.fromkeys(
        name if place_of(name) else f"{part.function}:{name}"
        for part in history.open_between for name in sorted(part.bytes.names)
        if name not in estimate.unbound and name not in TEAM_SIZES
    ))  # fmt: skip


def _assumption_text(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        shown += f" and {len(names) - _NAMED} more"
    return f"data of unknown size evict nothing from the caches ({shown})"


def _cache_bytes(machine: Machine) -> float:
    """Returns the total bytes of all instances of the machine's largest cache."""
    largest = machine.largest_cache
    return largest.size_bytes.value * machine.cores / largest.shared_by_cores.value


def _hint_over_evictions(
    names: tuple[str, ...], estimate: Estimate, tried: list[Choice]
) -> OpenHint:
    """Combines the choices for all tried amounts of eviction to a hint. The first amount is 0."""
    common = common_threads(tried)
    now = tried[0].hint.threads
    share = 1.0 if common else share_within_loss(now, [tried])
    return OpenHint(
        unbound=(*estimate.unbound, *(() if common else names)),
        deciding=frozenset((*estimate.deciding, *(() if common else names))),
        by_size=estimate.by_size,
        range=range_of(tried),
        threads=(now if now in common else min(common)) if common else None,
        margin=min(choice.hint.margin for choice in tried),
        chance=min(choice.chance for choice in tried),
        share=share,
    )
