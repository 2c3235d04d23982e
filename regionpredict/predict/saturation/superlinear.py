"""Finds superlinear speedups: the smallest number of threads, and the reason.

With perfect scaling, each of p threads takes 1/p of the time. A thread takes less if the caches of
more threads hold the data, or if more memory bandwidth is available.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.predict.curve import Point, Superlinear
from regionpredict.predict.saturation.constants import SUPERLINEAR
from regionpredict.predict.saturation.memory_overflow import overflowing_share
from regionpredict.predict.saturation.region_time import RegionTime


def superlinear_gain(points: Sequence[Point], time: RegionTime) -> Superlinear | None:
    """Returns the first speedup, relative to the first point, that exceeds the number of threads.
    None without such a speedup. `time` is the model that computed the points.
    """
    first = points[0]
    for point in points[1:]:
        if point.speedup > SUPERLINEAR.value * point.threads / first.threads:
            return Superlinear(
                point.threads, point.speedup, _reason_for_superlinear(first, point, time)
            )
    return None


def with_all_work(points: Sequence[Point]) -> tuple[tuple[Point, ...], bool]:
    """Returns the points with a linear speedup where threads together compute too little, and
    whether there was such a point.

    The thread count may change the work, as in blocks of n / p elements with quadratic work. The
    total then decreases by the factor p at most. Any smaller total is an error in the count.
    """
    first, kept = points[0], []
    for point in points:
        more = point.threads / first.threads
        least = first.terms.get("compute", 0.0) / (SUPERLINEAR.value * more * more)
        if point.terms.get("compute", 0.0) < least and point.speedup > more:
            scale = first.seconds / more / point.seconds
            terms = {name: scale * seconds for name, seconds in point.terms.items()}
            kept.append(point._replace(seconds=scale * point.seconds, speedup=more, terms=terms))
        else:
            kept.append(point)
    return tuple(kept), any(own is not before for own, before in zip(kept, points, strict=True))


def superlinear_sentence(gain: Superlinear) -> str:
    """Returns the message about a superlinear speedup.

    >>> superlinear_sentence(Superlinear(8, 9.5, "eight caches hold the data"))
    'from 8 threads, the speedup exceeds their number (9.5 times): eight caches hold the data'
    """
    return (
        f"from {gain.threads} threads, the speedup exceeds their number "
        f"({gain.speedup:.3g} times): {gain.reason}"
    )


def _reason_for_superlinear(first: Point, point: Point, time: RegionTime) -> str:
    """Returns the reason of a superlinear speedup: the term of the time that decreased most."""
    divided = point.threads / first.threads
    lost = {name: seconds - divided * point.terms[name] for name, seconds in first.terms.items()}
    term = max(lost, key=lambda name: lost[name])
    if term not in ("cache", "memory-bandwidth"):
        return f"{term} takes each thread less than its share"
    before, after = (_moved_bytes(time, threads) for threads in (first.threads, point.threads))
    gone = [more - less for more, less in zip(before, after, strict=True)]
    level = max(range(len(gone)), key=lambda at: gone[at])
    if gone[level] > 0:
        return (
            f"the L{level + 1} caches of {point.threads} threads hold what those of fewer do not: "
            f"{_amount_text(after[level])} are moved below them, "
            f"on one thread {_amount_text(before[level])}"
        )
    if overflowing_share(time.machine, time.touched, first.threads):
        return f"the memory of more domains holds the data from {point.threads} threads on"
    return "the threads use several domains"


def _moved_bytes(time: RegionTime, threads: int) -> list[float]:
    """Returns the bytes that move between each cache and the next level."""
    return [level.total for level in time.traffic.levels(threads)]


def _amount_text(size: float) -> str:
    """Formats bytes in MiB, GiB or TiB.

    >>> _amount_text(3 * 2**20), _amount_text(4290 * 2**20)
    ('3 MiB', '4.19 GiB')
    """
    size /= 2**20
    for unit in ("MiB", "GiB"):
        if size < 1000:  # larger values would need an exponent for three digits
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"
