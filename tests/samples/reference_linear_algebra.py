"""What the linear algebra samples compute, in NumPy, at the sizes of the MINI set."""

from __future__ import annotations

from sample_grids import Outputs, grid, line


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


REFERENCES = {"gemm": gemm, "2mm": two_mm, "atax": atax, "mvt": mvt}
