"""The section `corrections` of a machine file: what measurements of regions made of the models.

Written by `regionpredict calibrate --from`; the factors multiply terms of the saturation model,
and are 1 where a file has none. Thresholds of the density model are in the section `density`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from regionpredict.machine.quantity import Quantity

if TYPE_CHECKING:  # the section's defaults are made of the model, which holds these
    from regionpredict.machine.section import Section

FACTORS = ("compute", "cache", "memory", "scattered", "overhead")
"""What a factor multiplies: core time, time for lines from the caches, time for lines from memory
(the reciprocal of bandwidth), latency of lines that no prefetcher foresees, costs of OpenMP."""

SCORES = ("speedup_error", "time_error", "hint_success", "density_success")
"""Cross-validated scores: median relative error of the speedup and of the time, share of right
hints of the saturation and of the density model."""

_PROVENANCE = ("date", "measurements", "programs", "regions", "runs")
CORRECTIONS = (*_PROVENANCE, "factors", "cross_validated")


class Score(NamedTuple):
    """A score of the uncorrected and of the corrected model, on programs left out of the fit."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Corrections:
    """Factors (by a name of `FACTORS`, each above 0) and where they come from.

    `measurements` names the files, `programs`, `regions` and `runs` count what was fitted,
    `cross_validated` maps names of `SCORES` to shares.
    """

    factors: Mapping[str, Quantity] = field(default_factory=dict)
    date: str = ""
    measurements: str = ""
    programs: int = 0
    regions: int = 0
    runs: int = 0
    cross_validated: Mapping[str, Score] = field(default_factory=dict)

    def factor(self, name: str) -> float:
        """The factor of that name; 1 where the file has none."""
        known = self.factors.get(name)
        return known.value if known is not None else 1.0


def read_corrections(section: Section | None) -> Corrections:
    """The section as values; raises InputError at a wrong or missing entry."""
    if section is None:
        return Corrections()
    factors: dict[str, Quantity] = {}
    if "factors" in section:
        inner = section.inner("factors", FACTORS)
        factors = {name: inner.quantity(name, "") for name in FACTORS if name in inner}
    return Corrections(
        factors=factors,
        date=section.required("date").scalar(),
        measurements=section.required("measurements").scalar(),
        programs=section.quantity("programs", "", whole=True).whole,
        regions=section.quantity("regions", "", whole=True).whole,
        runs=section.quantity("runs", "", whole=True).whole,
        cross_validated=_scores(section),
    )


def _scores(section: Section) -> dict[str, Score]:
    if "cross_validated" not in section:
        return {}
    inner = section.inner("cross_validated", SCORES)
    found: dict[str, Score] = {}
    for name in SCORES:
        if name in inner:
            pair = inner.inner(name, ("before", "after"))
            numbers = (
                pair.labels.number(pair.required(key), "", low=-1e-12)
                for key in ("before", "after")
            )
            found[name] = Score(*numbers)
    return found
