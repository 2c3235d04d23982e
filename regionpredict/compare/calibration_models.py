"""Computes the correction factors of a machine from the models of single regions.

Each region measured at several sizes has a model with the terms of its prediction (term_models.py).
The model has coefficients for compute, memory and overhead. A factor of the machine is the
geometric mean of this coefficient over all regions. The mean is weighted by the term's share of the
region's time and by Huber's weights (Huber 1964), and regularized toward 1 as in
calibration_factors.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from regionpredict.compare.calibration_factors import ALPHA, HUBER, MOST, FloatArray, Model
from regionpredict.compare.term_models import GROUPS, SizedTime, term_model
from regionpredict.machine.corrections import FACTORS
from regionpredict.predict import points_of

MULTIPLIED: Mapping[str, tuple[str, ...]] = {
    "compute": ("compute",),
    "memory": ("cache", "memory", "scattered"),
    "overhead": ("overhead",),
}
"""The machine factors whose product scales a group of terms."""
LEAST_DEVIATION = 0.1
"""The minimum relative uncertainty of a coefficient. Assumed: twice the 5 % at which times count as
converged.
"""
_ROUNDS = 20


class Coefficient(NamedTuple):
    """The measured factor of a group of terms in one region: its logarithm, and the group's share
    of the region's time, from 0 to 1.
    """

    logarithm: float
    share: float


def coefficients_of_terms(
    model: Model, sample_positions: Sequence[int]
) -> dict[str, list[Coefficient]]:
    """Returns the coefficients of every group of terms, for the regions of the chosen samples with
    at least two sizes.
    """
    coefficient: dict[str, list[Coefficient]] = {name: [] for name in GROUPS}
    for region, times in _sized_times_of_regions(model, sample_positions).items():
        own = term_model(region, times)
        if own is None:
            continue
        for name, factor in own.factors.items():
            share = float(np.mean([
                factor * sum(time.terms.get(term, 0.0) for term in GROUPS[name]) / time.seconds
                for time in times
            ]))  # fmt: skip
            bounded = min(max(factor, 1 / MOST), MOST)
            coefficient[name].append(Coefficient(math.log(bounded), min(share, 1.0)))
    return coefficient


def fit_to_models(model: Model, sample_positions: Sequence[int]) -> FloatArray:
    """Returns the logarithms of the correction factors, in the order of `FACTORS`, from the samples
    at the positions `sample_positions`.
    """
    theta = dict.fromkeys(FACTORS, 0.0)
    for group, known in coefficients_of_terms(model, sample_positions).items():
        for name in MULTIPLIED[group]:
            theta[name] = common_coefficient(known)
    return np.array([theta[name] for name in FACTORS])


def common_coefficient(known: Sequence[Coefficient]) -> float:
    """Returns the robust weighted mean of the coefficients' logarithms. 0 without coefficients.

    >>> one = Coefficient(math.log(2.0), 1.0)
    >>> round(math.exp(common_coefficient([one] * 100)), 2)
    2.0
    >>> common_coefficient([Coefficient(1.0, 0.0)])
    0.0
    """
    logarithms = np.array([coefficient.logarithm for coefficient in known])
    shares = np.array([coefficient.share for coefficient in known])
    if shares.sum() <= 0:
        return 0.0
    value = float(np.average(logarithms, weights=shares))
    for _ in range(_ROUNDS):
        off = np.abs(logarithms - value)
        deviation = max(float(np.sqrt(np.average(off**2, weights=shares))), LEAST_DEVIATION)
        weights = shares * np.minimum(1.0, HUBER * deviation / np.maximum(off, 1e-12))
        value = float((weights * logarithms).sum() / (weights.sum() + ALPHA * deviation**2))
    return value


def _sized_times_of_regions(
    model: Model, sample_positions: Sequence[int]
) -> dict[str, list[SizedTime]]:
    """Returns the measured times of each region, with the terms of the uncorrected prediction."""
    predictions = model.predictions(np.zeros(len(FACTORS)))
    times: dict[str, list[SizedTime]] = {}
    for place in sample_positions:
        sample = model.samples[place]
        prediction = predictions[sample.index]
        iterations = float(prediction.facts.iterations.value or 0)
        terms = {point.threads: point.terms for point in points_of(prediction)}
        times.setdefault(prediction.facts.region.id, []).extend(
            SizedTime(iterations, threads, seconds, terms[threads])
            for threads, seconds in sample.seconds.items()
            if threads in terms
        )
    return times
