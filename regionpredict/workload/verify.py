"""Checks that the results of a workload are consistent. A contradiction is a bug."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload.cache_traffic import CacheLevel
from regionpredict.workload.constants import ROUNDING, TRAFFIC_SLACK
from regionpredict.workload.iteration_pieces import piece_count, piece_length
from regionpredict.workload.thread_nest import distribute_nest, parallel_trips
from regionpredict.workload.work_distribution import largest_share, piece_weights
from regionpredict.workload.workload import Work, Workload


class InconsistentWorkloadError(Exception):
    """Raised for a contradiction between results. The message is `location: contradiction`."""


def verify(workload: Workload, *, threads: Sequence[int] = (), caches: Sequence[int] = ()) -> None:
    """Cross-checks the results of a workload. Raises InconsistentWorkloadError for a contradiction.

    Hits and misses must add up to the counted references. Each statement must occur in the loops
    once. The pieces of each number of `threads` must add up to the iterations. A larger one of the
    `caches` must not move more bytes than a smaller one.
    """
    faults = [*_table_faults(workload)]
    execution = workload.execution
    if execution is not None:
        works = (execution.work, *(body.work for body in execution.serial))
        stand = sum(len(loop.statements) for work in works for loop in work.nest.loops)
        if stand != len(workload.table.statements):
            faults.append(f"{stand} statements in loops of {len(workload.table.statements)}")
        for work in works:
            for count in threads:
                faults += _piece_faults(work, count, workload.schedule)
            faults += _traffic_faults(workload, work, sorted(caches))
    if faults:
        raise InconsistentWorkloadError(f"{workload.table.span}: {faults[0]}")


def _table_faults(workload: Workload) -> Iterable[str]:
    for row in workload.table.statements:
        counted = [reference for reference in row.references if reference.counted]
        hits = sum(reference.reuse == "hit" for reference in counted)
        misses = sum(reference.reuse == "miss" for reference in counted)
        if hits + misses != len(counted):
            yield f"line {row.line}: {hits} hits and {misses} misses of {len(counted)} references"


def _piece_faults(work: Work, threads: int, schedule: Schedule) -> Iterable[str]:
    profile = work.profile
    share = largest_share(profile, threads, schedule)
    if not 1.0 / threads <= share * (1.0 + ROUNDING.value) or share > 1.0:
        yield f"the largest share of {threads} threads is {share}"
    if profile.weights:
        total, parts = sum(profile.weights), sum(piece_weights(profile.weights, threads))
        if not math.isclose(total, parts, rel_tol=ROUNDING.value):
            yield f"the pieces of {threads} threads weigh {parts} of {total}"
    iterations = profile.iterations
    if schedule.kind != "guided":
        number = piece_count(iterations, threads, schedule)
        length = piece_length(iterations, threads, schedule)
        covered = iterations / length * (1.0 - ROUNDING.value)
        if length >= 1.0 and not number - 1 <= covered <= number:
            yield f"{number} pieces of {length} are not {iterations} iterations"
    dealt = distribute_nest(work.nest, threads, schedule)
    shared = math.prod(parallel_trips(work.nest))
    run = dealt.iterations * dealt.threads
    if shared >= 1.0 and not math.isclose(run, shared, rel_tol=ROUNDING.value):
        yield f"{dealt.threads} threads run {run} of {shared} iterations"


def _traffic_faults(workload: Workload, work: Work, caches: Sequence[int]) -> Iterable[str]:
    counter = workload.traffic_of(work)
    totals = [counter.traffic([CacheLevel(float(size), 1)], 1)[0].total for size in caches]
    for (small, more), (large, less) in pairwise(zip(caches, totals, strict=True)):
        if less > more * (1.0 + TRAFFIC_SLACK.value):
            yield f"a cache of {large} bytes moves {less:.6g} bytes, one of {small} {more:.6g}"
