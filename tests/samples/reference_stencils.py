"""What the stencil samples compute, in NumPy, at the sizes of the MINI set."""

from __future__ import annotations

import numpy as np
from sample_grids import Array, Outputs, box, grid, line


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


def jacobi_1d() -> Outputs:
    a = line(500, lambda i: (3 * (i % 101) + 2) % 17 / 17.0)
    for _ in range(2):
        a[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
    return {"A": a}


def seidel_2d() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0)
    for _ in range(2):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = a[i - 1 : i + 2, j - 1 : j + 2].sum() / 9.0
    return {"A": a}


def adi() -> Outputs:
    n, rate = 32, 0.75
    u = np.zeros((n, n))
    u[1:-1, 1:-1] = grid(n, n, lambda i, j: 1.0 + ((i + 2 * j) % 13) / 13.0)[1:-1, 1:-1]
    second = np.diag(np.full(n - 3, 1.0), 1) + np.diag(np.full(n - 3, 1.0), -1)
    second -= 2.0 * np.eye(n - 2)
    implicit = np.eye(n - 2) - rate * second
    explicit = np.eye(n - 2) + rate * second
    inner = u[1:-1, 1:-1]
    for _ in range(2):
        along_rows = np.linalg.solve(implicit, (explicit @ inner).T).T
        inner = np.linalg.solve(implicit, along_rows @ explicit)
    u[1:-1, 1:-1] = inner
    return {"u": u}


def _losses(n: int) -> tuple[Array, Array]:
    loss = line(n, lambda i: 0.25 * ((2.0 * i - n + 1.0) / n) ** 4)
    return 1.0 - loss, 1.0 + loss


def fdtd_apml() -> Outputs:
    c, mui, ch = 32, 0.5, 0.3
    ex = box(c, c + 1, c + 1, lambda z, y, x: ((z + 2 * y + 3 * x) % 13) / 13.0)
    ey = box(c, c + 1, c + 1, lambda z, y, x: ((3 * z + y + 2 * x) % 17) / 17.0)
    bz = box(c, c + 1, c + 1, lambda z, y, x: ((z + y + x) % 11) / 11.0)
    hz = box(c, c + 1, c + 1, lambda z, y, x: ((2 * z + 3 * y + x) % 19) / 19.0)
    ex_edge = grid(c, c + 1, lambda z, x: ((z + 5 * x) % 7) / 7.0)
    ey_edge = grid(c, c + 1, lambda z, y: ((5 * z + y) % 7) / 7.0)
    zm, zp = (profile[:, None, None] for profile in _losses(c))
    ym, yp = (profile[:, None] for profile in _losses(c + 1))
    xm, xp = _losses(c + 1)
    curl = -np.diff(ex, axis=1, append=ex_edge[:, None, :])
    curl += np.diff(ey, axis=2, append=ey_edge[:, :, None])
    after = ym / yp * bz - ch / yp * curl
    return {"bz": after, "hz": xm / xp * hz + mui / xp * (zp * after - zm * bz)}


REFERENCES = {
    "adi": adi,
    "fdtd-2d": fdtd_2d,
    "fdtd-apml": fdtd_apml,
    "jacobi-1d": jacobi_1d,
    "jacobi-2d": jacobi_2d,
    "seidel-2d": seidel_2d,
}
