"""What the solver samples compute, in NumPy, at the sizes of the MINI set."""

from __future__ import annotations

import numpy as np
from sample_grids import Outputs, grid, line


def lu() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0) + n * np.eye(n)
    for k in range(n):
        a[k, k + 1 :] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return {"A": a}


def durbin() -> Outputs:
    n = 32
    r = line(n, lambda i: 0.25 / ((i + 1.0) * (i + 1.0)))
    first = np.concatenate([[1.0], r[:-1]])
    toeplitz = first[np.abs(np.subtract.outer(np.arange(n), np.arange(n)))]
    return {"out": np.linalg.solve(toeplitz, -r)}


def dynprog() -> Outputs:
    n, steps = 32, 10
    w = grid(n, n, lambda i, j: (3 * i + 5 * j) % 7 + 1).astype(np.uint32)
    c = np.zeros((n, n), np.uint32)
    for j in range(n):
        for i in reversed(range(j)):
            inner = int(c[i, i + 1 : j].sum()) + int(c[i + 1 : j, j].sum())
            c[i, j] = (int(w[i, j]) + inner) % 2**32
    out = np.uint32(steps * int(c[0, n - 1]) % 2**32)
    return {"out": np.array([out]), "c": c}


def gramschmidt() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: 1.0 / (1 + (i - j) * (i - j)))
    q, r = np.linalg.qr(a)
    signs = np.sign(np.diag(r))
    return {"R": r * signs[:, None], "Q": q * signs}


def ludcmp() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0) + n * np.eye(n)
    return {"x": np.linalg.solve(a, line(n, lambda i: 4.0 + (i + 1.0) / n / 2.0))}


REFERENCES = {
    "durbin": durbin,
    "dynprog": dynprog,
    "gramschmidt": gramschmidt,
    "lu": lu,
    "ludcmp": ludcmp,
}
