"""A library's dot product, and a gather of single bytes: one statement each."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from measured import Case, DataSet, rows
from predictor import Code

DOT = """
float dot(long n, const float *x, const float *y)
{
  float s = 0.0f;
#pragma omp parallel for simd schedule(static) reduction(+:s)
  for (long i = 0; i < n; i++)
    s += x[i] * y[i];
  return s;
}
"""
GATHER = """
void gather(unsigned long n, unsigned char *y, const unsigned char *x, const unsigned *p)
{
#pragma omp parallel for
  for (unsigned long i = 0; i < n; i++)
    y[i] = x[p[i]];
}
"""
GATHER_MACHINES = {"2x4 E5540": "nehalem-e5540", "2x6 X5650": "westmere-x5650"}
CORES = 48
"""Beyond them two threads share a core."""


def read_dot(path: Path) -> DataSet:
    """One curve a size, one thread a core."""
    return _dot(path, "dot product", "two packages of 24", shared=False)


def read_dot_on_hardware_threads(path: Path) -> DataSet:
    """One curve a size, up to two threads per core."""
    return _dot(path, "dot product, SMT", "two packages of 24, up to two threads per core",
                shared=True)  # fmt: skip


def _dot(path: Path, name: str, where: str, *, shared: bool) -> DataSet:
    times: dict[int, dict[int, float]] = defaultdict(dict)
    for row in rows(path):
        if shared or int(row["threads"]) <= CORES:
            times[int(row["n"])][int(row["threads"])] = 1e-6 * float(row["median_us"])
    cases = tuple(
        Case(f"{n} elements", Code(DOT, sizes=(("n", n),), pages="interleave"), "cascadelake-2x24",
             dict(sorted(curve.items())), True)
        for n, curve in sorted(times.items())
    )  # fmt: skip
    return DataSet(
        name, f"a library's dot product, {where}, 55 sizes, interleaved pages",
        "dot_cascadelake.csv (ADSALA)", cases, "threads" if shared else "packages", "out",
        "nothing",
    )  # fmt: skip


def read_gather(path: Path) -> DataSet:
    """One curve a size and machine; one thread is a serial program."""
    times: dict[tuple[str, int], dict[int, float]] = defaultdict(dict)
    for row in rows(path):
        n = int(row["n"])
        picoseconds = float(row["avg_ps"])
        times[row["machine"], n][int(row["threads"])] = 1e-12 * picoseconds * n
    cases = tuple(
        Case(
            f"{n} on {machine}",
            # Bound in the order of the processors' numbers, which alternate between packages.
            Code(GATHER, sizes=(("n", n), ("x[]", n)), first_touch="serial", binding="spread"),
            GATHER_MACHINES[machine],
            dict(sorted(curve.items())),
            True,
        )
        for (machine, n), curve in sorted(times.items())
    )  # fmt: skip
    return DataSet(
        "random read", "a gather of bytes over two packages of 4 and of 6, 13 sizes",
        "random_read.csv (suomela/parallel-random-read)", cases, "packages", "out", "nothing",
    )  # fmt: skip
