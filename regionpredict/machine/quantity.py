"""A number with its origin: a single value, or a curve over cores or threads."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Literal

Evidence = Literal["measured", "derived", "assumed"]
"""measured: read in the source (a measurement, or a document of the vendor). derived: computed from
such values, as the source explains. assumed: not confirmed.
"""

EVIDENCE: tuple[Evidence, ...] = ("measured", "derived", "assumed")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, evidence and source.

    >>> Quantity(32768, "B", "measured", "vendor's data sheet").whole
    32768
    """

    value: float
    unit: str
    evidence: Evidence
    source: str

    def __float__(self) -> float:
        return float(self.value)

    @property
    def whole(self) -> int:
        """The value as an integer. Counts and sizes are whole numbers."""
        return round(self.value)


def with_unit(shown: str, unit: str) -> str:
    """A value with its unit, in the singular for one.

    >>> with_unit("2", "stores/cycle"), with_unit("1", "stores/cycle"), with_unit("1", "")
    ('2 stores/cycle', '1 store/cycle', '1')
    """
    if shown == "1":
        thing, slash, per = unit.partition("/")
        unit = thing.removesuffix("s") + slash + per
    return f"{shown} {unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Curve:
    """Values by number of cores or threads: `y[i]` at `x[i]`, with linear interpolation.

    `x` starts at 1 and increases strictly. After the last point, the value is constant (`beyond` is
    ``"hold"``, for saturated bandwidth) or proportional to the number of threads
    (``"proportional"``, for threads that use one cache line in turn).

    >>> curve = Curve((1, 2, 4), (10.0, 20.0, 30.0), "B/s", "measured", "likwid-bench")
    >>> curve.at(1), curve.at(3), curve.at(9)
    (10.0, 25.0, 30.0)
    """

    x: tuple[int, ...]
    y: tuple[float, ...]
    unit: str
    evidence: Evidence
    source: str
    beyond: Literal["hold", "proportional"] = "hold"

    def at(self, count: float) -> float:
        """The value for `count` cores or threads (at least 1), in `unit`."""
        x, y = self.x, self.y
        if count <= x[0]:
            return y[0]
        if count >= x[-1]:
            return y[-1] * count / x[-1] if self.beyond == "proportional" else y[-1]
        right = bisect_left(x, count)
        left = right - 1
        share = (count - x[left]) / (x[right] - x[left])
        return y[left] + share * (y[right] - y[left])

    def step(self, number: int) -> float:
        """The value of the last point that is not larger than `number`, for a curve that changes in
        steps.

        >>> Curve((1, 7), (1.0, 0.5), "", "measured", "a report").step(6)
        1.0
        """
        return self.y[bisect_right(self.x, number) - 1]

    @property
    def peak(self) -> float:
        """The largest value of the curve, in `unit`."""
        return max(self.y)

    def scaled(self, factor: float, why: str) -> Curve:
        """The same curve multiplied by `factor`. Its evidence is derived, and `why` is the
        reason.
        """
        return Curve(
            self.x,
            tuple(value * factor for value in self.y),
            self.unit,
            "assumed" if self.evidence == "assumed" else "derived",
            f"{why}: {self.source}",
            self.beyond,
        )
