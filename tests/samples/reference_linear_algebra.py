"""What the linear algebra samples compute, in NumPy, at the sizes of the MINI set."""

from __future__ import annotations

import numpy as np
from sample_grids import Outputs, box, grid, line


def gemm() -> Outputs:
    n = 32
    c = grid(n, n, lambda i, j: ((i + j) % 11) / 11.0)
    a = grid(n, n, lambda i, k: ((i + 2 * k) % 13) / 13.0)
    b = grid(n, n, lambda k, j: ((3 * k + j) % 17) / 17.0)
    return {"C": 1.5 * a @ b + 1.25 * c}


def two_mm() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, k: ((i + 2 * k) % 13) / 13.0)
    b = grid(n, n, lambda k, j: ((3 * k + j) % 17) / 17.0)
    c = grid(n, n, lambda j, m: ((j + 5 * m) % 19) / 19.0)
    d = grid(n, n, lambda i, m: ((i + m) % 11) / 11.0)
    return {"D": 1.5 * a @ b @ c + 1.25 * d}


def atax() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0)
    x = line(n, lambda j: 1.0 + j / n)
    return {"y": a.T @ (a @ x)}


def mvt() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0)
    x1 = line(n, lambda i: i / n)
    x2 = line(n, lambda i: (i + 1) / n)
    y1 = line(n, lambda i: (i + 3) / n)
    y2 = line(n, lambda i: (i + 4) / n)
    return {"x1": x1 + a @ y1, "x2": x2 + a.T @ y2}


def three_mm() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, k: ((i + 2 * k) % 13) / 13.0)
    b = grid(n, n, lambda k, j: ((3 * k + j) % 17) / 17.0)
    c = grid(n, n, lambda j, m: ((j + 5 * m) % 19) / 19.0)
    d = grid(n, n, lambda m, p: ((2 * m + 3 * p) % 11) / 11.0)
    return {"G": (a @ b) @ (c @ d)}


def bicg() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((2 * i + 3 * j) % 17) / 17.0)
    r = line(n, lambda i: 1.0 + i / n)
    p = line(n, lambda j: 2.0 - j / n)
    return {"s": a.T @ r, "q": a @ p}


def cholesky() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + j) % 11) / 11.0) + n * np.eye(n)
    return {"A": np.linalg.cholesky(a) + np.triu(a, 1)}


def doitgen() -> Outputs:
    n = 10
    a = box(n, n, n, lambda r, q, p: ((r + 2 * q + 3 * p) % 13) / 13.0)
    c4 = grid(n, n, lambda s, p: ((5 * s + p) % 17) / 17.0)
    return {"A": a @ c4}


def gemver() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0)
    u1 = line(n, lambda i: i / n)
    u2, v1, v2, y, z = (line(n, lambda i, d=d: (i + 1.0) / n / d) for d in (2, 4, 6, 8, 9))
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x = 1.25 * a.T @ y + z
    return {"x": x, "w": 1.5 * a @ x}


def gesummv() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0)
    b = grid(n, n, lambda i, j: ((3 * i + j) % 17) / 17.0)
    x = line(n, lambda i: 1.0 + i / n)
    return {"y": 1.5 * a @ x + 1.25 * b @ x}


def symm() -> Outputs:
    n = 32
    c = grid(n, n, lambda i, j: ((i + j) % 11) / 11.0)
    lower = np.tril(grid(n, n, lambda i, k: ((i + 2 * k) % 13) / 13.0))
    b = grid(n, n, lambda i, j: ((3 * i + j) % 17) / 17.0)
    a = lower + np.tril(lower, -1).T
    return {"C": 1.5 * a @ b + 1.25 * c}


def syr2k() -> Outputs:
    n = 32
    c = grid(n, n, lambda i, j: ((i + j) % 11) / 11.0)
    a = grid(n, n, lambda i, k: ((i + 2 * k) % 13) / 13.0)
    b = grid(n, n, lambda i, k: ((3 * i + k) % 17) / 17.0)
    return {"C": 1.5 * (a @ b.T + b @ a.T) + 1.25 * c}


def syrk() -> Outputs:
    n = 32
    c = grid(n, n, lambda i, j: ((i + j) % 11) / 11.0)
    a = grid(n, n, lambda i, k: ((i + 2 * k) % 13) / 13.0)
    return {"C": 1.5 * a @ a.T + 1.25 * c}


def trisolv() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, j: ((i + 2 * j) % 13) / 13.0) + n * np.eye(n)
    return {"x": np.linalg.solve(np.tril(a), line(n, lambda i: 1.0 + i / n))}


def trmm() -> Outputs:
    n = 32
    a = grid(n, n, lambda i, k: ((i + 2 * k) % 13) / 13.0)
    b = grid(n, n, lambda i, j: ((3 * i + j) % 17) / 17.0)
    unit = np.tril(a, -1) + np.eye(n)
    return {"B": 1.5 * unit.T @ b}


REFERENCES = {
    "2mm": two_mm,
    "3mm": three_mm,
    "atax": atax,
    "bicg": bicg,
    "cholesky": cholesky,
    "doitgen": doitgen,
    "gemm": gemm,
    "gemver": gemver,
    "gesummv": gesummv,
    "mvt": mvt,
    "symm": symm,
    "syr2k": syr2k,
    "syrk": syrk,
    "trisolv": trisolv,
    "trmm": trmm,
}
