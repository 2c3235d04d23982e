"""What the data mining samples compute, in NumPy, at the sizes of the MINI set."""

from __future__ import annotations

import numpy as np
from sample_grids import Outputs, grid


def correlation() -> Outputs:
    data = grid(32, 32, lambda i, j: ((3 * i + 7 * j + i * j % 5) % 23) / 23.0)
    assert data.std(axis=0).min() > 0.1
    return {"corr": np.corrcoef(data, rowvar=False)}


def covariance() -> Outputs:
    data = grid(32, 32, lambda i, j: ((3 * i + 7 * j + i * j % 5) % 23) / 23.0)
    return {"cov": np.cov(data, rowvar=False)}


REFERENCES = {"correlation": correlation, "covariance": covariance}
