"""The section `corrections` of a machine file: correction factors from measured regions.

`regionpredict calibrate --from` writes it. The factors scale terms of the saturation model. They
are 1 if the section is missing. Thresholds of the density model are in the section `density`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from regionpredict.machine.quantity import Quantity

FACTORS = ("compute", "cache", "memory", "scattered", "overhead")
"""The terms that the factors scale: core time, time for lines from the caches, time for lines from
memory (the reciprocal of bandwidth), latency of lines without prefetching, and costs of OpenMP.
"""

SCORES = ("speedup_error", "time_error", "hint_success", "density_success")
"""The cross-validated scores: the median relative errors of the speedup and of the time, and the
shares of right hints of both models.
"""

DENSITY_FACTORS = ("hit", "streaming", "scattered")
"""The weights of the density model that a factor scales: hits, streaming misses, and misses that
wait for their line (latency and irregular).
"""


class Score(NamedTuple):
    """A score of the uncorrected and of the corrected model, for programs that were left out of the
    fit.
    """

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Corrections:
    """The factors, by a name of `FACTORS` and each above 0, and their origin.

    `measurements` are the names of the files. `programs`, `regions` and `runs` count the fitted
    data. `cross_validated` maps names of `SCORES` to shares. `density` are factors of the density
    model's weights, by a name of `DENSITY_FACTORS`. `thresholds` are its boundaries (empty:
    unchanged).
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
        """The factor with that name, or 1."""
        known = self.factors.get(name)
        return known.value if known is not None else 1.0
