"""Computes the largest share of data-dependent work that one thread may have.

Two distributions of iteration lengths are supported. With a `ratio` of longest to mean iteration,
some iterations have the maximum length and together `HEAVY_SHARE` of the work. All others are
equal. With an `exponent` a, iterations follow a power law: the longest share x of the iterations
has x^((a-2)/(a-1)) of the work. See Newman 2005, "Power laws, Pareto distributions and Zipf's law",
Contemporary Physics 46, sec. 3.3. The long iterations are assumed to be adjacent, which is the
worst order for static schedules.
"""

from __future__ import annotations

from typing import NamedTuple

from regionpredict.analysis.schedule import Schedule
from regionpredict.analysis.uneven_work import UnevenLoop
from regionpredict.ir import GivenSkew
from regionpredict.workload.constants import GUIDED_DIVISOR, HEAVY_SHARE, SKEW_EXPONENT
from regionpredict.workload.loop_nest import LoopNest, body_executions, in_source_order


class Skew(NamedTuple):
    """The distribution of a data-dependent `share` (0 to 1) of a region's work over its iterations.

    At most one of `ratio` (longest over mean iteration, at least 1) and `exponent` (of a power law,
    above 2) is set. The default is a power law with `SKEW_EXPONENT`.
    """

    share: float
    ratio: float | None = None
    exponent: float | None = None

    @staticmethod
    def given(share: float, skew: GivenSkew) -> Skew:
        """Creates the distribution that the user gave, for a share of the work."""
        value = float(skew.value)
        return Skew(share, value) if skew.kind == "skew" else Skew(share, None, value)

    def heaviest(self, part: float) -> float:
        """Returns the share of the work in the longest iterations. `part` (0 to 1) is their share
        of all iterations.

        >>> Skew(1.0, ratio=9.0).heaviest(0.05), Skew(1.0, exponent=3.0).heaviest(0.25)
        (0.45, 0.5)
        """
        if self.ratio is None:
            exponent = SKEW_EXPONENT.value if self.exponent is None else self.exponent
            return float(part ** ((exponent - 2.0) / (exponent - 1.0)))
        heavy = HEAVY_SHARE.value / max(1.0, self.ratio)
        if part <= heavy:
            return part * max(1.0, self.ratio)
        rest = 1.0 - HEAVY_SHARE.value
        return HEAVY_SHARE.value + rest * (part - heavy) / (1.0 - heavy)

    def __str__(self) -> str:
        if self.ratio is not None:
            return f"the longest iteration takes {self.ratio:.3g} times the mean"
        return f"iterations follow a power law of exponent {self.exponent or SKEW_EXPONENT.value:g}"


def uneven_share(loops: tuple[UnevenLoop, ...], nest: LoopNest) -> float:
    """Returns the share of a nest's statement executions that are inside the given loops, from 0 to
    1.
    """
    runs = body_executions(nest)
    work = [often * max(1, len(loop.statements))
            for loop, (_, often) in zip(nest.loops, runs, strict=True)]  # fmt: skip
    whole = sum(work)
    numbers = {loop.number for loop in loops}
    inside = {
        below.index for loop in nest.loops if loop.index in numbers
        for below in in_source_order(loop)
    }  # fmt: skip
    return sum(work[number] for number in inside) / whole if whole else 0.0


def skewed_share(skew: Skew, iterations: float, threads: int, schedule: Schedule) -> float:
    """Returns the busiest thread's share of the data-dependent work if the long iterations are
    adjacent.

    With a dynamic schedule, a thread may get the longest piece last. Its share is then at most this
    piece and an even part of the rest (Graham 1969, "Bounds on multiprocessing timing anomalies").
    """
    whole = max(1.0, iterations)
    if schedule.kind == "static" and schedule.chunk is None:
        return skew.heaviest(min(1.0, -(-whole // threads) / whole))
    piece = min(1.0, max(1.0, schedule.chunk or 1.0) / whole)
    if schedule.kind == "guided":
        piece = max(piece, 1.0 / (GUIDED_DIVISOR.value * threads))
    longest = skew.heaviest(piece)
    if piece * threads >= 1.0:
        return longest  # one piece per thread
    return longest + (1.0 - longest) / threads
