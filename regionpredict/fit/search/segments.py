"""Fits separate models to segments of a parameter's range (Shudler 2018, sec. 2.3.2).

`fit` divides a series without a single suitable model into a few pieces. This module uses as many
segments as the data support, each with its own model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regionpredict.errors import InputError
from regionpredict.fit.model.fitted_model import FittedModel
from regionpredict.fit.model.observations import Statistic, summarise_repetitions
from regionpredict.fit.model.terms import DEFAULT_SPACE, SearchSpace
from regionpredict.fit.search.division import PRICE, SHORTEST, divide_points
from regionpredict.fit.search.fitting import fit
from regionpredict.fit.search.options import Options


@dataclass(frozen=True, slots=True)
class Segment:
    """A model and its range of the parameter, from the measured value `first` to `last`."""

    first: float
    last: float
    model: FittedModel


@dataclass(frozen=True, slots=True)
class SegmentedModel:
    """A model of several segments in ascending order. The behavior changes between segments."""

    segments: tuple[Segment, ...]

    @property
    def changes(self) -> tuple[tuple[float, float], ...]:
        """The pair of neighboring measured values around each change of the behavior."""
        pairs = zip(self.segments, self.segments[1:], strict=False)
        return tuple((a.last, b.first) for a, b in pairs)

    def predict(self, value: float) -> float:
        """Predicts with the segment that contains `value`. Gaps between segments are divided in
        their middle.
        """
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
    shortest: int = SHORTEST,
    price: float = PRICE,
) -> SegmentedModel:
    """Models one parameter by as many segments as the data support, each with at least `shortest`
    points.

    `price` is the cost of another segment, in units of minus twice a log-likelihood. Raises
    `InputError` like `fit`, and for several parameters.
    """
    x = np.array([np.atleast_1d(p) for p in points], dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != 1:
        raise InputError("segments need a single parameter", remedy="fix the others")
    order = np.argsort(x[:, 0], kind="stable")
    x = x[order]
    ordered = [values[k] for k in order]
    observations = summarise_repetitions(ordered, statistic)
    floor = Options().criterion.noise_floor
    chosen, _ = divide_points(
        x[:, 0], observations, space, floor=floor, shortest=shortest, price=price
    )
    if len(chosen) == 1:
        model = fit(
            points, values, parameters=(parameter,), statistic=statistic, space=space, segments=1
        )
        return SegmentedModel((Segment(float(x.min()), float(x.max()), model),))
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
            segments=1,
        )
        segments.append(Segment(float(x[start, 0]), float(x[stop - 1, 0]), part))
    return SegmentedModel(tuple(segments))
