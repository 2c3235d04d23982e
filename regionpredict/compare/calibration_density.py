"""Weights and decision thresholds of the density model from measured package counts.

The thesis takes its weights from data sheets, and divides the scores [0, 1] into equal areas
(Chatzopoulos 2012, sec. 4.2, 6.4). Each area is one number of packages. The fit chooses three
factors (for hits, streaming misses and latency misses) and the boundaries between the areas.
Operations keep their weights, since only ratios matter. The choice maximizes the number of regions
with the measured packages, by a grid search over factors and dynamic programming over boundaries.
Factors other than 1 and unequal areas have a penalty, so that few regions have little effect. The
score is cross-validated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from regionpredict.compare.calibration import SURE, folds_of, share_of_resamplings
from regionpredict.compare.calibration_factors import FloatArray
from regionpredict.compare.calibration_samples import Samples, hints_of
from regionpredict.compare.success import Rate, baselines, wilson
from regionpredict.compare.verdicts import compare
from regionpredict.machine import Corrections, Machine, Quantity
from regionpredict.machine.corrections import DENSITY_FACTORS, Score
from regionpredict.predict import DensityDerivation, Prediction
from regionpredict.predict.density import equal_thresholds, packages_for

GRID = (0.25, 0.5, 1.0, 2.0, 4.0)
PRICE = 0.25
"""The number of additional right hints that justifies a factor of two. A factor of four needs four
times as many.
"""
SHIFT = 2.0
"""The number of additional right hints that justifies moving a boundary by one unit of score."""


def with_density(corrections: Corrections, calibration: DensityCalibration) -> Corrections:
    """Adds the density model's scores to the corrections, and its factors if they help."""
    pair = Score(calibration.before.share or 0.0, calibration.after.share or 0.0)
    scored = replace(
        corrections, cross_validated={**corrections.cross_validated, "density_success": pair}
    )
    if not calibration.helps:
        return scored

    def measured(value: float) -> Quantity:
        return Quantity(value, "", "measured", corrections.measurements)

    named = zip(DENSITY_FACTORS, calibration.fitted.factors, strict=True)
    return replace(
        scored,
        density={name: measured(factor) for name, factor in named if factor != 1},
        thresholds=tuple(measured(bound) for bound in calibration.fitted.thresholds),
    )


class Region(NamedTuple):
    """Sums over a region's statements in cycles, and the number of packages that the region needs
    by measurement. `scattered` are latency and irregular misses.
    """

    operations: float
    hits: float
    streaming: float
    scattered: float
    needed: int


class Fit(NamedTuple):
    """Factors in the order of `DENSITY_FACTORS`, and ascending boundaries, one fewer than
    packages.
    """

    factors: tuple[float, float, float]
    thresholds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DensityCalibration:
    """The result of a fit, with cross-validated success.

    `predicted` are the packages of each region, by a fit that leaves out its program. `sure` is the
    share of resamplings of the programs in which the success rate rises.
    """

    fitted: Fit
    before: Rate
    after: Rate
    trivial: Mapping[str, Rate]
    predicted: tuple[int, ...]
    sure: float
    folds: int

    @property
    def helps(self) -> bool:
        """Whether the fit increases the right hints of left-out programs with enough confidence."""
        return self.after.right > self.before.right and self.sure >= SURE


def calibrate_density(
    predictions: Sequence[Prediction], machine: Machine, samples: Samples,
    *, tolerance: float = 0.1,
) -> DensityCalibration | None:  # fmt: skip
    """Fits and scores the density model's factors and boundaries. None if the measurements do not
    distinguish packages (one package, or only one measured).

    `predictions` are those of the density model, in the order of the samples' indices.
    """
    if machine.packages < 2:
        return None
    usable = [
        sample for sample in samples.samples
        if isinstance(predictions[sample.index].derivation, DensityDerivation)
    ]  # fmt: skip
    comparison = compare(
        hints_of(predictions, machine), [sample.summary for sample in usable], tolerance=tolerance,
        statistic=samples.statistic,
    )  # fmt: skip
    if comparison.unit != "packages":
        return None
    regions, names, before = [], [], []
    for sample, verdict in zip(usable, comparison.verdicts, strict=True):
        prediction = predictions[sample.index]
        if verdict.needed is None or prediction.packages is None:
            continue
        regions.append(_region_sums(prediction, verdict.needed))
        names.append(sample.program)
        before.append(prediction.packages)
    if len(set(names)) < 2:
        return None
    predicted = [0] * len(regions)
    folds = folds_of(names)
    for train, test in folds:
        fit = fit_density([regions[i] for i in train], machine.packages)
        for place in test:
            predicted[place] = packages_of_region(fit, regions[place], machine.packages)
    needed = np.array([region.needed for region in regions])
    right = np.array(predicted) == needed
    was = np.array(before) == needed
    return DensityCalibration(
        fitted=fit_density(regions, machine.packages),
        before=wilson(int(was.sum()), len(regions)),
        after=wilson(int(right.sum()), len(regions)),
        trivial=baselines(comparison),
        predicted=tuple(predicted),
        sure=share_of_resamplings(
            names, lambda resample: bool(right[resample].sum() > was[resample].sum())
        ),
        folds=len(folds),
    )


def _region_sums(prediction: Prediction, needed: int) -> Region:
    derivation = prediction.derivation
    assert isinstance(derivation, DensityDerivation)
    sums = dict.fromkeys(("operations", *DENSITY_FACTORS), 0.0)
    for statement in derivation.statements:
        for term in statement.terms:
            sums[_KIND.get(term.kind, "scattered")] += term.value
    return Region(sums["operations"], sums["hit"], sums["streaming"], sums["scattered"], needed)


_KIND = {
    "operation": "operations",
    "hit": "hit",
    "miss that hits": "hit",
    "streaming miss": "streaming",
}


def score_with_factors(factors: Sequence[float], region: Region) -> float:
    """Computes equation 4.1 with the weights multiplied by the factors.

    >>> score_with_factors((1.0, 1.0, 1.0), Region(1.0, 2.0, 1.0, 0.0, 1))
    0.5
    """
    return float(_region_scores(factors, _region_table([region]))[0])


def packages_of_region(fit: Fit, region: Region, packages: int) -> int:
    """Returns the number of packages of a region, by the factors and boundaries of a fit."""
    return packages_for(score_with_factors(fit.factors, region), packages, fit.thresholds)


def fit_density(regions: Sequence[Region], packages: int) -> Fit:
    """Returns the factors and boundaries that maximize right regions minus the penalty."""
    table = _region_table(regions)
    needed = np.array([region.needed for region in regions])
    best: tuple[float, Fit] | None = None
    for factors in sorted(
        itertools.product(GRID, repeat=len(DENSITY_FACTORS)), key=_factor_penalty
    ):
        bounds, gained = best_thresholds(_region_scores(factors, table), needed, packages)
        value = gained - _factor_penalty(factors)
        if best is None or value > best[0] + 1e-9:
            best = value, Fit((factors[0], factors[1], factors[2]), bounds)
    assert best is not None
    return best[1]


def _factor_penalty(factors: Sequence[float]) -> float:
    return PRICE * sum(math.log2(factor) ** 2 for factor in factors)


def _region_table(regions: Sequence[Region]) -> FloatArray:
    return np.array([region[:4] for region in regions], dtype=np.float64)


def _region_scores(factors: Sequence[float], table: FloatArray) -> FloatArray:
    good = table[:, 0] + factors[0] * table[:, 1]
    bad = factors[1] * table[:, 2] + factors[2] * table[:, 3]
    whole = np.where(good + bad > 0, good + bad, 1.0)
    return np.maximum(0.0, (good - bad) / whole)


def best_thresholds(
    scores: FloatArray, needed: np.ndarray[tuple[int], np.dtype[np.int64]], packages: int
) -> tuple[tuple[float, ...], float]:
    """Returns the ascending boundaries that maximize the right decisions minus `SHIFT` per unit of
    movement, and this maximum.

    Candidates are the boundaries of equal areas, and the midpoints between neighboring scores.
    Dynamic programming over areas finds the best combination.
    """
    equal = equal_thresholds(packages)
    if not equal:
        return (), float((needed == 1).sum())
    distinct = np.unique(scores)
    cuts = np.unique(np.concatenate([(distinct[1:] + distinct[:-1]) / 2, equal]))
    cuts = cuts[cuts > 0]
    # below[k, i]: regions that need k + 1 packages and score less than cuts[i]
    below = np.array(
        [np.searchsorted(np.sort(scores[needed == k + 1]), cuts) for k in range(packages)],
        dtype=np.float64,
    )
    value = below[0] - SHIFT * np.abs(cuts - equal[0])
    value[len(cuts) - len(equal) + 1 :] = -np.inf  # leaves room for the boundaries above this one
    choices = []
    for area in range(1, packages - 1):
        before = value - below[area]
        leader = np.maximum.accumulate(before)
        where = np.array([int(np.argmax(before[: i + 1])) for i in range(len(cuts))])
        moved = np.full(len(cuts), -np.inf)
        moved[1:] = leader[:-1] + below[area][1:] - SHIFT * np.abs(cuts[1:] - equal[area])
        choices.append(where)
        value = moved
    last = packages - 1
    value = value + (needed == packages).sum() - below[last]
    place = int(np.argmax(value))
    gained = float(value[place])
    cut_indices = [place]
    for where in reversed(choices):
        place = int(where[place - 1])
        cut_indices.append(place)
    return tuple(float(cuts[i]) for i in reversed(cut_indices)), gained
