"""BT, FT, SP and EP of the NAS benchmarks on three machines; our own samples of them.

The loops of one time step are added up; what runs once is left out. Sizes: from the operations of
a class (NPB reports) over the measured times, the table's small, medium and large problems of
Cascade Lake are B, C and D, those of the Opteron and the Xeon C. The samples stop at C, which
stands in for D: both are far beyond the caches.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from measured import Case, DataSet, rows
from predictor import Code

EP = """
#include <math.h>
enum { PAIRS = 65536, RINGS = 10 };
static double next(double x)
{
  double high = (double)(int)(0x1p-23 * x), low = x - 0x1p23 * high;
  double sum = 145.0 * low + 4354965.0 * high;
  double rest = sum - 0x1p23 * (double)(int)(0x1p-23 * sum);
  double whole = 0x1p23 * rest + 4354965.0 * low;
  return whole - 0x1p46 * (double)(int)(0x1p-46 * whole);
}
void pairs(long blocks, double *sums, double *rings)
{
  double x = 0.0, y = 0.0, q[RINGS] = {0};
#pragma omp parallel for reduction(+:x, y, q[:RINGS]) schedule(static)
  for (long block = 0; block < blocks; block++) {
    double numbers[2 * PAIRS], seed = 271828183.0 + 2.0 * block;
    for (int i = 0; i < 2 * PAIRS; i++) {
      seed = next(seed);
      numbers[i] = 0x1p-46 * seed;
    }
    for (int i = 0; i < PAIRS; i++) {
      double u = 2.0 * numbers[2 * i] - 1.0, v = 2.0 * numbers[2 * i + 1] - 1.0;
      double t = u * u + v * v;
      if (t <= 1.0) {
        double factor = sqrt(-2.0 * log(t) / t);
        double a = factor * u, b = factor * v;
        q[(int)fmax(fabs(a), fabs(b))] += 1.0;
        x += a;
        y += b;
      }
    }
  }
  sums[0] = x; sums[1] = y;
  for (int i = 0; i < RINGS; i++) rings[i] = q[i];
}
"""
FILES = {
    "bt": ("bt.c", "rhs.c", "solve.c", "initial.c", "forcing.c", "verify.c", "fields.h"),
    "sp": ("sp.c", "rhs.c", "solve.c", "transform.c", "initial.c", "forcing.c", "verify.c"),
    "ft": ("ft.c", "stockham.c"),
}
STEP = {
    "bt": frozenset({"bt.c", "rhs.c", "solve.c"}),
    "sp": frozenset({"sp.c", "rhs.c", "solve.c", "transform.c"}),
    "ft": frozenset({"evolve", "fft_x", "fft_y", "fft_z", "checksum"}),
}
CASCADE_LAKE_CORES = 56


def program(name: str, npb_class: str) -> Code:
    """The regions of one time step of a sample."""
    if name == "ep":
        return Code(EP, sizes=(("blocks", 1 << 16),))
    files = tuple(f"npb_samples/{name}/{file}" for file in FILES[name] if file.endswith(".c"))
    return Code("", files, ((f"CLASS_{npb_class}", "1"),), only=STEP[name])


def read_cascade_lake(path: Path) -> DataSet:
    """Close binding to cores, one thread a core; speedups are over 4 threads."""
    return _cascade_lake(path, "BT and FT", "", "close", CASCADE_LAKE_CORES)


def read_spread(path: Path) -> DataSet:
    """The same with threads over both packages."""
    return _cascade_lake(
        path, "BT and FT, spread", ", threads spread", "spread", CASCADE_LAKE_CORES
    )


def read_hardware_threads(path: Path) -> DataSet:
    """Close binding on all cores, with one thread on each and with two."""
    return _cascade_lake(
        path, "BT and FT, SMT", ", one or two threads per core", "close", 2 * CASCADE_LAKE_CORES,
        least=CASCADE_LAKE_CORES,
    )  # fmt: skip


def _cascade_lake(
    path: Path, name: str, how: str, binding: str, most: int, least: int = 1
) -> DataSet:
    times: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    limit = 4500.0  # a run that reached the time limit
    for row in rows(path):
        threads, seconds = int(row["threads"]), float(row["time_s"])
        wanted = row["bind"] == binding and row["places"] == "cores"
        if wanted and least <= threads <= most and seconds < limit:
            times[row["program"][:2], row["size"]][threads] = seconds
    letters = {"smlprob": "B", "medprob": "C", "lrgprob": "C"}
    cases = tuple(
        Case(f"{program_name} {size}",
             replace(program(program_name, letters[size]), binding=binding), "cascadelake-2x28",
             dict(sorted(curve.items())))
        for (program_name, size), curve in sorted(times.items())
    )  # fmt: skip
    return DataSet(
        name, f"two NAS programs, 3 sizes, two packages of 28{how}",
        "openmp_programs_cascadelake.csv (gregbolet/omp_benchmarks)", cases,
        "packages" if most == CASCADE_LAKE_CORES else "threads", "out", "nothing",
        saturates=least == 1,
    )  # fmt: skip


def read_opteron_xeon(path: Path) -> DataSet:
    """Each number of cores; hardware threads beyond the cores are left out."""
    machines = {"amd": ("opteron-4x12", 48), "xeon": ("broadwell-e5-2630v4", 10)}
    times: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for row in rows(path):
        if row["app"] in ("bt", "sp", "ep") and int(row["cores"]) <= machines[row["system"]][1]:
            times[row["system"], row["app"]][int(row["cores"])] = float(row["time_s"])
    cases = tuple(
        Case(f"{name} on {machines[system][0]}", program(name, "C"), machines[system][0],
             dict(sorted(curve.items())))
        for (system, name), curve in sorted(times.items())
    )  # fmt: skip
    return DataSet(
        "BT, SP and EP", "three NAS programs on 48 and on 10 cores",
        "multicore_programs.csv (dloghin/multicores-time-energy, CC-BY-4.0)", cases, "threads",
        "out", "nothing",
    )  # fmt: skip


def read_xeon_hardware_threads(path: Path) -> DataSet:
    """All cores of the Xeon, with one thread on each and with two."""
    times: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows(path):
        if row["system"] == "xeon" and row["app"] in ("bt", "sp", "ep") and int(row["cores"]) in (
            10, 20
        ):  # fmt: skip
            times[row["app"]][int(row["cores"])] = float(row["time_s"])
    cases = tuple(
        Case(name, program(name, "C"), "broadwell-e5-2630v4", dict(sorted(curve.items())))
        for name, curve in sorted(times.items()) if len(curve) > 1
    )  # fmt: skip
    return DataSet(
        "BT, SP and EP, SMT", "three NAS programs on 10 cores, one or two threads per core",
        "multicore_programs.csv (dloghin/multicores-time-energy, CC-BY-4.0)", cases, "threads",
        "out", "nothing", saturates=False,
    )  # fmt: skip
