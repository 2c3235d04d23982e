"""Forecasts beyond the measured points, where no single formula is certain: `Outlook`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from regionpredict.fit.model.terms import FloatArray


@dataclass(frozen=True, slots=True)
class Outlook:
    """The forecast at `k` points. `values` `(k,)` are positive and in the unit of the metric.

    `spread` `(k,)` is the standard deviation of its logarithm. It includes the errors of the same
    forecast at measured points that it did not use, and the disagreement of its forecasters.
    `forecasters` are their names. `opinions` has shape `(f, k)`, with NaN for no opinion, and
    `shares` `(f, k)` are their weights.
    """

    values: FloatArray
    spread: FloatArray
    forecasters: tuple[str, ...]
    opinions: FloatArray
    shares: FloatArray


Forecast = Callable[[FloatArray], Outlook | None]
"""The outlook at points `(k, m)`. None if the formula is almost certain."""
