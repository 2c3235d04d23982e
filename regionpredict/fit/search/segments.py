"""Segments: one model each for stretches of a parameter's range (Shudler 2018, sec. 2.3.2).

An algorithm that changes with the size follows no single model. All stretches of neighbouring
points are modelled by at most one term, and dynamic programming picks the cheapest way to cover
the range with them: each further segment must lower the misfit by more than its price.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.observations import Statistic, summarise
from regionpredict.fit.model.terms import DEFAULT_SPACE, FloatArray, SearchSpace
from regionpredict.fit.search.fitting import fit
from regionpredict.fit.search.options import Options

_PRICE_OF_SEGMENT = 18.0
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Segment:
    """A model and the range of the parameter, `first` to `last` measured value, it holds for."""

    first: float
    last: float
    model: FittedModel


@dataclass(frozen=True, slots=True)
class SegmentedModel:
    """Segments in ascending order; between two of them the change happens somewhere."""

    segments: tuple[Segment, ...]

    @property
    def changes(self) -> tuple[tuple[float, float], ...]:
        """For each change point, the neighbouring measured values between which it lies."""
        pairs = zip(self.segments, self.segments[1:], strict=False)
        return tuple((a.last, b.first) for a, b in pairs)

    def predict(self, value: float) -> float:
        """The value by the segment that `value` lies in; gaps are split in their middle."""
        for segment, following in zip(self.segments, self.segments[1:], strict=False):
            if value <= 0.5 * (segment.last + following.first):
                return segment.model.predict((value,))
        return self.segments[-1].model.predict((value,))

    def __str__(self) -> str:
        return "; ".join(
            f"{s.model} for {s.model.parameters[0]} = {s.first:g} to {s.last:g}"
            for s in self.segments
        )


def fit_segments(
    points: Sequence[Sequence[float]] | Sequence[float],
    values: Sequence[Sequence[float]],
    *,
    parameter: str = "p",
    statistic: Statistic = "mean",
    space: SearchSpace = DEFAULT_SPACE,
    shortest: int = _SHORTEST,
    price: float = _PRICE_OF_SEGMENT,
) -> SegmentedModel:
    """Models one parameter by as many segments as the data support, of `shortest` points or more.

    `price` is what a further segment costs, in units of minus twice a log-likelihood. Raises
    `InputError` as `fit` does, and for several parameters.
    """
    x = np.array([np.atleast_1d(p) for p in points], dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != 1:
        raise InputError("segments have one parameter", remedy="fix the others")
    if len(x) < 2 * shortest:
        model = fit(points, values, parameters=(parameter,), statistic=statistic, space=space)
        return SegmentedModel((Segment(float(x.min()), float(x.max()), model),))
    order = np.argsort(x[:, 0], kind="stable")
    x = x[order]
    ordered = [values[k] for k in order]
    seen = summarise(ordered, statistic)
    dof = seen.dof + len(x) - 2.0
    floor = Options().criterion.noise_floor ** 2
    count = len(x)
    misfit = np.full((count, count + 1), np.inf)
    for start in range(count - shortest + 1):
        for stop in range(start + shortest, count + 1):
            misfit[start, stop] = _misfit(
                x[start:stop, 0], seen.y[start:stop], seen.weights[start:stop], space
            )
    # With repetitions the noise is known; without, that of the best division stands for it.
    chosen = _cheapest(misfit, count, shortest, seen.within + floor, dof, price)
    segments = []
    for start, stop in chosen:
        part = fit(
            x[start:stop].tolist(),
            ordered[start:stop],
            parameters=(parameter,),
            statistic=statistic,
            space=space,
            max_terms=1,
            min_points=shortest,
        )
        segments.append(Segment(float(x[start, 0]), float(x[stop - 1, 0]), part))
    return SegmentedModel(tuple(segments))


def _misfit(x: FloatArray, y: FloatArray, w: FloatArray, space: SearchSpace) -> float:
    """The least weighted sum of squares of a constant and one growing term."""
    compiled = space.compiled(x)
    total = w.sum()
    centred = y - (w @ y) / total
    weighted = w * centred
    mean = compiled.columns @ w / total
    norm = compiled.columns**2 @ w - mean**2 * total
    product = np.maximum(compiled.columns @ weighted, 0.0)
    explained = np.where(norm > 0, product**2 / np.where(norm > 0, norm, 1.0), 0.0)
    return max(float(weighted @ centred - explained.max(initial=0.0)), 0.0)


def _cheapest(
    misfit: FloatArray, count: int, shortest: int, base: float, dof: float, price: float
) -> list[tuple[int, int]]:
    """The division with the lowest cost, for every possible number of segments in turn."""
    most = count // shortest
    best = np.full((most + 1, count + 1), np.inf)
    cut = np.zeros((most + 1, count + 1), dtype=int)
    best[0, 0] = 0.0
    for used in range(1, most + 1):
        for stop in range(shortest, count + 1):
            sums = best[used - 1, :stop] + misfit[:stop, stop]
            cut[used, stop] = int(np.argmin(sums))
            best[used, stop] = float(sums[cut[used, stop]])
    costs = [
        dof * np.log(base + best[used, count]) + price * (used - 1) for used in range(1, most + 1)
    ]
    used, stop = 1 + int(np.argmin(costs)), count
    segments = []
    while used:
        start = int(cut[used, stop])
        segments.append((start, stop))
        used, stop = used - 1, start
    return segments[::-1]
