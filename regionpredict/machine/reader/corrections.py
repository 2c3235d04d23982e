"""Reads the section `corrections` of a machine file, and the thresholds of the density model."""

from __future__ import annotations

from regionpredict.machine.corrections import (
    DENSITY_FACTORS,
    FACTORS,
    SCORES,
    Corrections,
    Score,
)
from regionpredict.machine.quantity import Quantity
from regionpredict.machine.reader.section import Section

_PROVENANCE = ("date", "measurements", "programs", "regions", "runs")
CORRECTIONS = (*_PROVENANCE, "factors", "density", "cross_validated")


def read_corrections(section: Section | None, packages: int) -> Corrections:
    """Reads the section `corrections`. Raises InputError for an invalid or missing entry."""
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
    """Reads the scores above which the density model's hint has another socket, in ascending
    order.
    """
    if "thresholds" not in section:
        return ()
    item = section.entries["thresholds"]
    thresholds = tuple(section.labels.quantity(score, "") for score in item.sequence())
    scores = [score.value for score in thresholds]
    if len(scores) != packages - 1 or scores != sorted(set(scores)) or scores[-1:] > [1.0]:
        raise item.error(
            f"{item.where} must be a list of {packages - 1} increasing scores of at most 1, for "
            f"{packages} packages",
            "write thresholds: [0.5] for two packages",
        )
    return thresholds


def _scores(section: Section) -> dict[str, Score]:
    if "cross_validated" not in section:
        return {}
    inner = section.inner("cross_validated", SCORES)
    scores: dict[str, Score] = {}
    for name in SCORES:
        if name in inner:
            pair = inner.inner(name, ("before", "after"))
            numbers = (
                pair.labels.number(pair.required(key), "", low=-1e-12)
                for key in ("before", "after")
            )
            scores[name] = Score(*numbers)
    return scores
