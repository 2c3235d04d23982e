"""Published cycles of one core for an iteration of small loops, data in the first cache.

Measured by the authors of OSACA with fixed clocks: *cy* of one cache line of eight doubles, over
eight (artifact of Laukemann's thesis, RRZE-HPC/OSACA-Artifact-Appendix, `thesis_analysis_reports`,
last run of each file, the least row whose arrays fit the first cache); the Gauss-Seidel sweep from
Laukemann, Hammer, Hager and Wellein 2019, Table I (RRZE-HPC/OSACA-CP-2019, `orig/out.gs.*`). The
compilers are icc on Cascade Lake and gcc on Zen and ThunderX2, sums with gcc -O3, which may not
reorder. Figures are facts of the cited works; the loops are written here.
"""

from __future__ import annotations

from typing import NamedTuple

N = 1 << 20
LINE = 8.0
"""Iterations that a line of doubles holds."""
CSX, ZEN, TX2 = "cascadelake-gold-6248-snc", "epyc-7451", "thunderx2"

_LOOP = """
void kernel(int n, double q, double *a, double *b, double *c, double *d)
{{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {body}
}}
"""
_SWEEP = """
void kernel(int n, double q, double a[n][n], double b[n][n])
{{
#pragma omp parallel for
  for (int k = 1; k < n - 1; k++)
    for (int i = 1; i < n - 1; i++) {body}
}}
"""
_SUM = """
double kernel(int n, double *a)
{
  double s = 0.0;
#pragma omp parallel for reduction(+:s)
  for (int i = 0; i < n; i++) s += a[i];
  return s;
}
"""
TEXTS = {
    "copy": _LOOP.format(body="a[i] = b[i];"),
    "add": _LOOP.format(body="a[i] = b[i] + c[i];"),
    "update": _LOOP.format(body="a[i] = q * a[i];"),
    "triad": _LOOP.format(body="a[i] = b[i] + q * c[i];"),
    "daxpy": _LOOP.format(body="a[i] = a[i] + q * b[i];"),
    "schoenauer": _LOOP.format(body="a[i] = b[i] + c[i] * d[i];"),
    "sum": _SUM,
    "jacobi": _SWEEP.format(
        body="b[k][i] = 0.25 * (a[k][i-1] + a[k+1][i] + a[k][i+1] + a[k-1][i]);"
    ),
    "gauss-seidel": _SWEEP.format(
        body="a[k][i] = q * (a[k][i-1] + a[k+1][i] + a[k][i+1] + a[k-1][i]);"
    ),
}


class Published(NamedTuple):
    """Cycles of one iteration of a kernel on a machine, as measured by others."""

    kernel: str
    machine: str
    cycles: float


PUBLISHED = tuple(
    Published(kernel, machine, cycles)
    for kernel, by_machine in {
        "copy": {CSX: 1.17 / LINE, ZEN: 4.08 / LINE, TX2: 5.53 / LINE},
        "add": {CSX: 1.57 / LINE, ZEN: 6.03 / LINE, TX2: 10.03 / LINE},
        "update": {CSX: 1.08 / LINE, ZEN: 4.02 / LINE, TX2: 5.50 / LINE},
        "triad": {CSX: 1.75 / LINE, ZEN: 6.02 / LINE, TX2: 9.87 / LINE},
        "daxpy": {CSX: 1.82 / LINE, ZEN: 6.01 / LINE, TX2: 6.56 / LINE},
        "schoenauer": {CSX: 2.17 / LINE, ZEN: 8.02 / LINE, TX2: 11.41 / LINE},
        "sum": {CSX: 32.09 / LINE, ZEN: 24.01 / LINE, TX2: 48.02 / LINE},
        "jacobi": {CSX: 4.58 / LINE},
        "gauss-seidel": {CSX: 2500 / 178.3, ZEN: 2300 / 194.4, TX2: 18.50},
    }.items()
    for machine, cycles in by_machine.items()
)


def iterations(kernel: str, n: int) -> float:
    """Iterations of the innermost loop in one run."""
    return float((n - 2) ** 2) if kernel in ("jacobi", "gauss-seidel") else float(n)
