"""What the solver samples compute, in NumPy, at the sizes of the MINI set."""

from __future__ import annotations

import numpy as np
from sample_grids import Outputs, grid


def lu() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0) + n * np.eye(n)
    for k in range(n):
        a[k, k + 1 :] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return {"A": a}


REFERENCES = {"lu": lu}
