"""Estimates the noise of repetitions: its size, and its dependence on the value.

The noise of run times is proportional to the value, the noise of timers and short counters is
constant, and many metrics have both. The spread of the repetitions at each point selects one of the
three, if it differs clearly from proportional noise. To limit the effect of outliers, all summaries
except the mean use the median deviation.
"""

from __future__ import annotations

import numpy as np

from regionpredict.fit.model.terms import FloatArray

_NORMAL_MAD = 1.4826  # ratio of standard and median deviation of a normal distribution
# The additional factor of the median deviation for few repetitions (Croux and Rousseeuw 1992). For
# ten or more repetitions, it is n / (n - 0.8).
_FEW = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}
_HICCUP = 8.0  # distance in standard deviations above which a repetition may be excluded
_HICCUP_SHARE = 0.5  # minimum distance of an excluded repetition relative to the value
_CLEARLY = 8.0  # minimum gain, in twice the log-likelihood, of noise that is not proportional
# Tried ratios of constant to proportional noise at the largest value. The last is constant noise.
_CONSTANT_PARTS = np.array([[0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 0.0]]).T ** 2


def robust_squares(data: FloatArray) -> FloatArray:
    """Returns the sum of squares about the center over the last axis, estimated from the median
    deviation.
    """
    count = data.shape[-1]
    if count < 2:
        return np.zeros(data.shape[:-1])
    middle = np.median(data, axis=-1, keepdims=True)
    deviation = np.median(np.abs(data - middle), axis=-1)
    factor = _NORMAL_MAD * (_FEW.get(count) or count / (count - 0.8))
    return np.asarray((count - 1) * (factor * deviation) ** 2)


def without_hiccups(data: FloatArray) -> FloatArray | None:
    """Returns the block `(n, r)` with NaN for extreme repetitions. The result is None if no
    repetition is extreme.

    The remaining repetitions of a point have the median and the minimum of a sample with one
    ordinary repetition more or less.
    """
    count = data.shape[-1]
    if count < 3:
        return None
    middle = np.median(data, axis=-1)
    if float(middle.min()) <= 0:
        return None
    variance = float(np.median(robust_squares(data) / middle**2)) / (count - 1)
    reach = max(_HICCUP * np.sqrt(variance), _HICCUP_SHARE) * middle
    far = np.abs(data - middle[:, None]) > reach[:, None]
    return np.where(far, np.nan, data) if far.any() else None


def noise_scales(y: FloatArray, squares: FloatArray, dof: FloatArray | float) -> FloatArray | None:
    """Returns the squared scale of the noise `(n,)`, normalized at the largest value. None means
    proportional noise, with the scale `y`.

    `y` `(n,)` are positive. `squares` `(n,)` are the sums of squares of the repetitions, and `dof`
    their degrees of freedom at each point. Proportional, constant or mixed noise is selected by
    maximum likelihood.
    """
    own = y * y
    freedom = np.broadcast_to(np.asarray(dof, dtype=np.float64), y.shape)
    top = float(own.max())
    shapes = own + _CONSTANT_PARTS * top
    shapes[-1] = top
    size = (squares / shapes).sum(1, keepdims=True) / freedom.sum()
    costs = np.log(size * shapes) @ freedom
    best = int(costs.argmin())
    if costs[0] - costs[best] < _CLEARLY:
        return None
    return np.asarray(shapes[best] * (top / shapes[best].max()))
