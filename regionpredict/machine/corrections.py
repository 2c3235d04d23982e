"""The section `corrections` of a machine file: correction factors from measured regions.

`regionpredict calibrate --from` writes this section. The factors scale terms of the saturation
model, and are 1 without the section. Thresholds of the density model are in its entry `density`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.machine.quantity import Quantity

FACTORS = ("compute", "cache", "memory", "scattered", "overhead")
"""The names of the factors by the scaled term: core time, transfers from caches, transfers from
memory, latency without prefetching, and OpenMP overhead.
"""

SCORES = ("speedup_error", "time_error", "hint_success", "density_success")
"""The names of the cross-validated scores: median relative errors of speedup and time, and shares
of right hints of both models.
"""

DENSITY_FACTORS = ("hit", "streaming", "scattered")
"""The names of the scaled weights of the density model: hits, streaming misses, and scattered
(latency and irregular) misses.
"""


class Score(NamedTuple):
    """A cross-validated score of the uncorrected model (`before`) and of the corrected model
    (`after`).
    """

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Corrections:
    """The correction factors of a machine, and the measurements from which they were fitted.

    `factors` has positive factors by a name of `FACTORS`. `measurements` are the names of the
    files. `programs`, `regions` and `runs` count the fitted data. `cross_validated` maps names of
    `SCORES` to scores. `density` has factors by a name of `DENSITY_FACTORS`. `thresholds` replace
    the density model's boundaries, unless empty.
    """

    factors: Mapping[str, Quantity] = field(default_factory=dict)
    density: Mapping[str, Quantity] = field(default_factory=dict)
    thresholds: tuple[Quantity, ...] = ()
    date: str = ""
    measurements: str = ""
    programs: int = 0
    regions: int = 0
    runs: int = 0
    cross_validated: Mapping[str, Score] = field(default_factory=dict)

    def factor(self, name: str) -> float:
        """Returns the factor of this name, or 1 for a missing factor."""
        known = self.factors.get(name)
        return known.value if known is not None else 1.0
