"""Divides iterations into pieces according to a schedule."""

from __future__ import annotations

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload.constants import GUIDED_DIVISOR, MOST_GUIDED_PIECES


def piece_length(iterations: float, threads: int, schedule: Schedule) -> float:
    """Returns the number of consecutive iterations in one piece.

    >>> piece_length(100.0, 4, Schedule("static", None))
    25.0
    """
    if schedule.chunk is not None and schedule.kind != "guided":
        return min(schedule.chunk, iterations)
    return iterations / threads


def piece_count(iterations: float, threads: int, schedule: Schedule) -> float:
    """Returns the total number of pieces of all threads.

    A guided piece is a share of the remaining iterations (`GUIDED_DIVISOR`), but at least the chunk
    size.

    >>> piece_count(100.0, 4, Schedule("dynamic", 30.0))
    4.0
    """
    if schedule.kind == "guided" and schedule.chunk is not None:
        left, number = iterations, 0.0
        while left > 1 and number < MOST_GUIDED_PIECES.value * threads:
            left -= max(schedule.chunk, left / (GUIDED_DIVISOR.value * threads))
            number += 1
        return max(1.0, number)
    if schedule.chunk is None:
        return min(iterations, float(threads))
    own = piece_length(iterations, threads, schedule)
    return -(-iterations // own) if own >= 1 else iterations
