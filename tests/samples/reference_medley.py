"""What the medley samples compute, in NumPy, at the sizes of the MINI set."""

from __future__ import annotations

import numpy as np
from sample_grids import Outputs, grid


def floyd_warshall() -> Outputs:
    n = 32
    path = grid(n, n, lambda i, j: 1.0 + (7 * i + 11 * j + i * j % 19) % 101)
    np.fill_diagonal(path, 0.0)
    # By doubling the number of edges, not by adding nodes one at a time.
    for _ in range(5):
        path = (path[:, :, None] + path[None, :, :]).min(axis=1)
    return {"path": path}


def reg_detect() -> Outputs:
    grid_size, length = 2, 32
    path = grid(grid_size, grid_size, lambda j, i: np.fix(i * (j - 1) / grid_size))
    for j in range(grid_size):
        for i in range(j, grid_size):
            diagonal = [(i - back + 1) * (j - back + 1) for back in range(j + 1)]
            path[j, i] = length * sum(diagonal)
    return {"path": path}


REFERENCES = {"floyd-warshall": floyd_warshall, "reg_detect": reg_detect}
