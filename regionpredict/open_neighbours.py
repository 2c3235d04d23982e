"""A region whose data others push out of the caches by as much as sizes without a value say.

Its hint stands where some number of threads is good whether nothing is pushed out, everything, or
a part. Where none is, the sizes of the others decide it as its own would.
"""

from __future__ import annotations

from dataclasses import replace

from regionpredict.analysis.history.last_writes import History
from regionpredict.machine import Machine
from regionpredict.predict import (
    Choice,
    Estimate,
    OpenHint,
    common_threads,
    counters_of,
    points_of,
    range_of,
    rough_curve,
    with_open_sizes,
)
from regionpredict.size_trials import Chosen, choice_of
from regionpredict.workload import Workload

_PARTS = (1e9, 4.0, 1.0, 0.25)
"""How much is pushed out, as parts of the largest caches of the whole machine (assumed: a hint
turns where others have about as much as these hold): first everything."""
_NAMED = 4


def with_open_neighbours(
    estimate: Estimate, workload: Workload, history: History, machine: Machine, chosen: Chosen
) -> Estimate:
    """The estimate with what sizes of others make of it, which `history` leaves open: as it is
    where all that they can push out costs no more than a hint may lose.

    `workload` is the region's at the sizes of the estimate.
    """
    names = _names(history, estimate)
    execution = workload.execution
    if not names or not workload.contents.own or not estimate.speedup or execution is None:
        return estimate
    told = replace(estimate, assumed=(*estimate.assumed, _said(names)))
    if estimate.threads is None:
        return told
    points = points_of(estimate)
    known = {point.threads: point.seconds for point in points}
    asked = [threads for threads, _ in estimate.speedup]
    tried = [choice_of(points, machine, asked, chosen.within)]
    counters = counters_of(workload, execution)  # whatever is in the caches when it begins
    for part in _PARTS:
        contents = workload.contents._replace(between=part * _cache_bytes(machine))
        curve = rough_curve(
            replace(workload, contents=contents), machine, chosen.threads, also=estimate.threads,
            warm=chosen.warm, parts=chosen.parts, counters=counters,
        )  # fmt: skip
        slower = max(
            (p.seconds / before for p in curve if (before := known.get(p.threads))), default=1.0
        )
        if slower - 1 <= (chosen.within if part == _PARTS[0] else 0):
            break  # less changes less
        tried.append(choice_of(curve, machine, chosen.threads, chosen.within))
    if len(tried) == 1:
        return estimate
    return with_open_sizes(told, _over(names, estimate, tried))


def _names(history: History, estimate: Estimate) -> tuple[str, ...]:
    """The sizes of others, those that the region has tried itself left out."""
    return tuple(dict.fromkeys(
        f"{part.function}:{name}"
        for part in history.open_between for name in sorted(part.bytes.names)
        if name not in estimate.unbound
    ))  # fmt: skip


def _said(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        shown += f" and {len(names) - _NAMED} more"
    return f"nothing is pushed out of the caches by data whose size is open ({shown})"


def _cache_bytes(machine: Machine) -> float:
    """Of all the machine's largest caches together."""
    largest = machine.largest_cache
    return largest.size_bytes.value * machine.cores / largest.shared_by_cores.value


def _over(names: tuple[str, ...], estimate: Estimate, tried: list[Choice]) -> OpenHint:
    """What the hint is over all that may be pushed out; the first that was tried is nothing."""
    common = common_threads(tried)
    now = tried[0].hint.threads
    return OpenHint(
        unbound=(*estimate.unbound, *(() if common else names)),
        deciding=frozenset((*estimate.deciding, *(() if common else names))),
        by_size=estimate.by_size,
        range=range_of(tried),
        threads=(now if now in common else min(common)) if common else None,
        margin=min(choice.hint.margin for choice in tried),
        chance=min(choice.chance for choice in tried),
    )
