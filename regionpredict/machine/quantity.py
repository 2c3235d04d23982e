"""Numbers with unit, evidence and source: single values, and curves over cores or threads."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Literal

Evidence = Literal["measured", "derived", "assumed"]
"""The evidence of a number.

`measured` numbers are in the source: a measurement or a document of the vendor. `derived` numbers
are computed from such numbers. `assumed` numbers are not confirmed.
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
        """The value of a count or a size, rounded to an integer."""
        return round(self.value)


def with_unit(shown: str, unit: str) -> str:
    """Formats a value with its unit. The unit of 1 is singular.

    >>> with_unit("2", "stores/cycle"), with_unit("1", "stores/cycle"), with_unit("1", "")
    ('2 stores/cycle', '1 store/cycle', '1')
    """
    if shown == "1":
        thing, slash, per = unit.partition("/")
        unit = thing.removesuffix("s") + slash + per
    return f"{shown} {unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Curve:
    """A piecewise linear function of the number of cores or threads, with values `y[i]` at `x[i]`.

    `x` starts at 1 and increases strictly. Beyond the last point, the value is constant
    (``"hold"``, for saturated bandwidth) or proportional to the number of threads
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
        """Returns the value for `count` cores or threads (at least 1), in `unit`."""
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
        """Returns the value of the last point up to `number`, as for a step function.

        >>> Curve((1, 7), (1.0, 0.5), "", "measured", "a report").step(6)
        1.0
        """
        return self.y[bisect_right(self.x, number) - 1]

    @property
    def peak(self) -> float:
        """The largest value of the curve, in `unit`."""
        return max(self.y)

    def scaled(self, factor: float, reason: str) -> Curve:
        """Returns the curve multiplied by `factor`, as a derived curve with the reason `reason`."""
        return Curve(
            self.x,
            tuple(value * factor for value in self.y),
            self.unit,
            "assumed" if self.evidence == "assumed" else "derived",
            f"{reason}: {self.source}",
            self.beyond,
        )
