"""What the stencil samples compute, in NumPy, at the sizes of the MINI set."""

from __future__ import annotations

import numpy as np
from sample_grids import Outputs, grid


def jacobi_2d() -> Outputs:
    a = grid(32, 32, lambda i, j: ((i + 2 * j) % 13) / 13.0)
    for _ in range(2):
        neighbours = a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        a[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + neighbours)
    return {"A": a}


def fdtd_2d() -> Outputs:
    n = 32
    ex = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0)
    ey = grid(n, n, lambda i, j: ((3 * i + j) % 17) / 17.0)
    hz = grid(n, n, lambda i, j: ((i + j) % 11) / 11.0)
    for t in range(2):
        ey[0] = t + 1.0
        ey[1:] -= 0.5 * np.diff(hz, axis=0)
        ex[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}


REFERENCES = {"jacobi-2d": jacobi_2d, "fdtd-2d": fdtd_2d}
