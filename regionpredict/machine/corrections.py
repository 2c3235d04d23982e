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
CORRECTIONS = (*_PROVENANCE, "factors", "density", "cross_validated")

DENSITY_FACTORS = ("hit", "streaming", "scattered")
"""Weights of the density model that a factor multiplies: hits, streaming misses, and misses that
wait for their line (latency and irregular)."""


class Score(NamedTuple):
    """A score of the uncorrected and of the corrected model, on programs left out of the fit."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Corrections:
    """Factors (by a name of `FACTORS`, each above 0) and where they come from.

    `measurements` names the files, `programs`, `regions` and `runs` count what was fitted,
    `cross_validated` maps names of `SCORES` to shares. `density` are factors of the density model's
    weights, by a name of `DENSITY_FACTORS`, `thresholds` its boundaries (empty: as they were).
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
        """The factor of that name; 1 where the file has none."""
        known = self.factors.get(name)
        return known.value if known is not None else 1.0


def read_corrections(section: Section | None, packages: int) -> Corrections:
    """The section as values; raises InputError at a wrong or missing entry."""
    if section is None:
        return Corrections()
    density: dict[str, Quantity] = {}
    bounds: tuple[Quantity, ...] = ()
    if "density" in section:
        weights = section.inner("density", (*DENSITY_FACTORS, "thresholds"))
        density = {name: weights.quantity(name, "") for name in DENSITY_FACTORS if name in weights}
        bounds = read_thresholds(weights, packages)
    factors: dict[str, Quantity] = {}
    if "factors" in section:
        inner = section.inner("factors", FACTORS)
        factors = {name: inner.quantity(name, "") for name in FACTORS if name in inner}
    return Corrections(
        factors=factors,
        density=density,
        thresholds=bounds,
        date=section.required("date").scalar(),
        measurements=section.required("measurements").scalar(),
        programs=section.quantity("programs", "", whole=True).whole,
        regions=section.quantity("regions", "", whole=True).whole,
        runs=section.quantity("runs", "", whole=True).whole,
        cross_validated=_scores(section),
    )


def read_thresholds(section: Section, packages: int) -> tuple[Quantity, ...]:
    """The scores at which one more package is hinted: one fewer than the packages, rising."""
    if "thresholds" not in section:
        return ()
    item = section.entries["thresholds"]
    found = tuple(section.labels.quantity(one, "") for one in item.sequence())
    values = [one.value for one in found]
    if len(values) != packages - 1 or values != sorted(set(values)) or values[-1:] > [1.0]:
        raise item.error(
            f"{item.where} must be {packages - 1} rising scores up to 1, for {packages} packages",
            "write thresholds: [0.5] for two packages",
        )
    return found


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
