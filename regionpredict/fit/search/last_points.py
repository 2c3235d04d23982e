"""Forecasts a series of one parameter from its last points, without a search.

* `power N`: a power of the parameter through the last N points
* `damped power 2`: the power through two points, with 0.7 of its exponent
* `curved power`: a power whose exponent continues to change, half as fast as before
* `bent power`: a power whose exponent continues to change as fast as before
* `offset power`: a constant and a power through the last three points
* `line N`: a straight line through the last N points
* `tree`: a line over the logarithm
* `work line`: a line of the value times the parameter
* `last`: the last value
"""

from __future__ import annotations

import numpy as np

from regionpredict.fit.model.terms import FloatArray

_POWERS = (2, 3, 4)
_LINES = (3, 4)
_DAMPED = 0.7  # share of the exponent that continues, between a lasting trend and none
_CURVED = (0.5, 1.0)  # shares of the exponent's last change that continue
_EXPONENTS = (-4.0, 5.0)  # range of the exponent in `offset power`
_BISECTIONS = 50
_LARGEST = 700.0  # exponent of e above which the result would be infinite

NAMES = (
    *(f"power {count}" for count in _POWERS),
    "damped power 2",
    "curved power",
    "bent power",
    "offset power",
    *(f"line {count}" for count in _LINES),
    "tree",
    "work line",
    "last",
)
"""The forecasts, in the order of the rows of `opinions`."""


def forecasts_from_last_points(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """Returns the forecasts at the values `at` `(k,)`, with shape `(len(NAMES), k)`. NaN and
    negative values mean no forecast.

    `x` `(n,)` is ascending and positive, and `y` `(n,)` positive, with at least three points.
    """
    return np.concatenate(
        [
            _power_forecasts(x, y, at),
            _offset_power_forecast(x, y, at)[None],
            _line_forecasts(x, y, at),
        ]
    )


def _power_forecasts(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """Returns the forecasts `(6, k)` of `power`, `damped power`, `curved power` and `bent
    power`.
    """
    a, b, far = np.log(x), np.log(y), np.log(at)
    rows = [
        _line_at(a[-count:], b[-count:], far) if len(x) >= count else np.full(len(at), np.nan)
        for count in _POWERS
    ]
    steepness = np.diff(b[-3:]) / np.diff(a[-3:])
    ahead = far - a[-1]
    rows.append(b[-1] + _DAMPED * steepness[-1] * ahead)
    # Distance from the middle of the last two points to the middle between the last point and the
    # target.
    change = (steepness[1] - steepness[0]) / (0.5 * (a[-1] - a[-3]))
    distance = 0.5 * (far - a[-2])
    rows.extend(b[-1] + (steepness[1] + share * change * distance) * ahead for share in _CURVED)
    return np.asarray(np.exp(np.minimum(np.array(rows), _LARGEST)))


def _offset_power_forecast(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """Returns the forecasts `(k,)` of `c + a*x^b` through the last three points. NaN if the points
    are not monotonic, or `b` is too large.
    """
    first, last = np.log(x[-3] / x[-2]), np.log(x[-1] / x[-2])
    below, above = y[-2] - y[-3], y[-1] - y[-2]
    low, high = _EXPONENTS
    nothing = np.full(len(at), np.nan)
    if below * above <= 0:
        return nothing
    ratio = above / below  # grows with the exponent

    def ratio_of(exponent: float) -> float:
        return float(_integrated_power(exponent, last) / -_integrated_power(exponent, first))

    if not ratio_of(low) < ratio < ratio_of(high):
        return nothing
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if ratio_of(middle) < ratio else (low, middle)
    steps = np.array([_integrated_power(low, step) for step in np.log(at / x[-2]).tolist()])
    return np.asarray(y[-2] + above * steps / _integrated_power(low, last))


def _integrated_power(exponent: float, logarithm: float) -> float:
    """Returns `(e^(b*l) - 1) / b`, or `l` if `b` is zero, for an exponent `b` and a logarithm
    `l`.
    """
    if abs(exponent * logarithm) < 1e-9:
        return logarithm
    return float(np.expm1(min(exponent * logarithm, _LARGEST)) / exponent)


def _line_forecasts(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    """Returns the forecasts `(5, k)` of `line`, `tree`, `work line` and `last`."""
    result = np.full((len(_LINES) + 3, len(at)), np.nan)
    for row, count in enumerate(_LINES):
        if len(x) >= count:
            tail, values = x[-count:], y[-count:]
            result[row] = _line_at(tail, values, at, 1.0 / values**2)
    slope = (y[-1] - y[-2]) / np.log(x[-1] / x[-2])
    result[-3] = y[-1] + slope * np.log(at / x[-1])
    work = x[-2:] * y[-2:]
    result[-2] = (work[1] + (work[1] - work[0]) / (x[-1] - x[-2]) * (at - x[-1])) / at
    result[-1] = y[-1]
    return result


def _line_at(
    x: FloatArray, y: FloatArray, at: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Fits a line to the points by weighted least squares, and returns its values at other
    points.
    """
    w = np.ones(len(x)) if weights is None else weights
    mean, level = (w @ x) / w.sum(), (w @ y) / w.sum()
    slope = (w * (x - mean)) @ (y - level) / ((w * (x - mean)) @ (x - mean))
    return np.asarray(level + slope * (at - mean))
