"""Fits `regionpredict.predict.uncertainty` to measured curves, for a set that nobody has seen.

Sets of measurements err as a whole: a program is another than was counted, a machine another than
its file says. How far predictions are off is therefore learned over files of measurements, each of
which weighs alike, and what is told of a file is judged by a fit that has not seen it
(`calibrating` does so for bands and confidence). Here is the random walk of curves: the mean of the
measured speedups beside the predicted ones (weighted least squares, Huber's loss), and their
spread. Sets whose figures the machine files hold are no part of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from evaluate import Answered
from measured import Case, DataSet
from predictor import FULL, Answer, machine_named

from regionpredict.predict.uncertainty import SHIPPED, FittedCurves, Spreads, Traits, traits_of

HUBER = 1.5
"""Standard deviations from which on a residual counts in proportion, not squared."""
USUAL = 1.48
"""Standard deviations of a normal distribution in its median distance from the mean."""
MOST = 1.0
"""A squared error a doubling of more than this (a factor of e) is another program's."""
LEAST = 1e-9
"""A variance of less is none."""
FIRMNESS = 0.3
"""Files by whose weight each step towards the spreads is shortened."""
ROUNDS = 60


class Curve(NamedTuple):
    """A case with its answer: traits at the measured numbers of threads, over the least.

    `weight` is its part of its file's weight, which is one: sets of a file weigh alike, and so do
    the cases of a set.
    """

    data: DataSet
    case: Case
    answer: Answer
    traits: tuple[Traits, ...]
    measured: tuple[float, ...]
    weight: float


def curves_of(answered: Sequence[Answered]) -> list[Curve]:
    """The cases of which something can be learned: a choice among numbers of threads."""
    learned = [one for one in answered if one.data.choice != "none" and not one.data.tabulated]
    sets = Counter(one.data.file for one in learned)
    known = []
    for one in learned:
        cases = [(case, answers[FULL.name])
                 for case, answers in zip(one.data.cases, one.answers, strict=True)
                 if len(case.measured) > 1]  # fmt: skip
        for case, answer in cases:
            threads = sorted(case.measured)
            machine = machine_named(case.machine).as_run(binding=case.code.binding)
            traits = traits_of([p for p in answer.points if p.threads in case.measured], machine)
            gains = [math.log(case.measured[threads[0]] / case.measured[t]) for t in threads]
            weight = 1.0 / (len(cases) * sets[one.data.file])
            known.append(Curve(one.data, case, answer, traits, tuple(gains), weight))
    return known


def files_of(curves: Sequence[Curve]) -> list[str]:
    """The files of the curves, each once."""
    return list(dict.fromkeys(one.data.file for one in curves))


def without(curves: Sequence[Curve], file: str) -> list[Curve]:
    """The curves of all other files; all of them where there is no other."""
    return [one for one in curves if one.data.file != file] or list(curves)


class _Points(NamedTuple):
    """Measured speedups over the predicted ones, in logarithms, with their traits.

    `means` has what creep and lost growth stand before, `doublings` those of threads and places.
    """

    error: np.ndarray
    means: np.ndarray
    doublings: np.ndarray
    weight: np.ndarray


def _points(curves: Sequence[Curve]) -> _Points:
    rows = []
    for one in curves:
        others = list(zip(one.traits, one.measured, strict=True))[1:]
        for trait, gain in others:
            rows.append((gain - math.log(trait.speedup), trait.streamed, -trait.grown,
                         *trait.doublings, one.weight / len(others)))  # fmt: skip
    table = np.array(rows)
    return _Points(table[:, 0], table[:, 1:3], table[:, 3:5], table[:, 5])


def walk_of(curves: Sequence[Curve]) -> FittedCurves:
    """What ships with the mean and the spread of these curves."""
    points = _points(curves)
    creep, lost = _means(points)
    residual = points.error - points.means @ np.array([creep, lost])
    length = points.doublings[:, 0]
    squares = np.minimum(residual**2, MOST * np.maximum(length, 1.0))
    variances = np.full(2, max(LEAST, np.average(squares / length, weights=points.weight)))
    for _ in range(ROUNDS):
        variances = np.maximum(LEAST, variances * _towards(squares, points, variances))
    return SHIPPED._replace(
        creep=creep, lost=lost, spreads=Spreads(*map(float, np.sqrt(variances)))
    )


def _towards(squares: np.ndarray, points: _Points, variances: np.ndarray) -> np.ndarray:
    """By what factors the variances go towards those of the squares: where each point's square is
    its variance on average, weighted by what of it comes from each, they stay."""
    whole = points.doublings @ variances
    weights = points.weight[:, None] * points.doublings * variances / whole[:, None]
    ratio = squares / whole
    common = np.average(ratio, weights=points.weight)
    found: np.ndarray = (weights.T @ ratio + FIRMNESS * common) / (weights.sum(axis=0) + FIRMNESS)
    return found


def _means(points: _Points) -> tuple[float, float]:
    """(creep, lost): neither below nothing."""
    length = points.doublings[:, 0]
    kept = np.ones(len(points.error))
    found = np.zeros(2)
    for _ in range(ROUNDS):
        weight = points.weight * kept / length
        left = points.means.T @ (points.means * weight[:, None]) + 1e-9 * np.eye(2)
        found = np.linalg.solve(left, points.means.T @ (weight * points.error))
        off = np.abs(points.error - points.means @ found) / np.sqrt(length)
        usual = max(1e-9, USUAL * quantile(off, points.weight, 0.5))
        kept = np.minimum(1.0, HUBER * usual / np.maximum(1e-9, off))
    return max(0.0, float(found[0])), max(0.0, float(found[1]))


def quantile(values: Collection[float], weights: Collection[float], share: float) -> float:
    """The least of the values that holds this share of the weight.

    >>> quantile([3.0, 1.0, 2.0], [1.0, 1.0, 2.0], 0.75)
    2.0
    """
    known, heavy = np.asarray(values), np.asarray(weights)
    order = np.argsort(known, kind="stable")
    sums = np.cumsum(heavy[order])
    # a sum of weights that should be the share may lie below it by rounding
    at = int(np.searchsorted(sums, share * sums[-1] * (1.0 - 1e-12)))
    return float(known[order][min(at, len(known) - 1)])
