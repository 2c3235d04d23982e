"""What machine files hold of synchronisation and of old machines' memory: a barrier, STREAM."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from measured import Case, DataSet, rows
from predictor import Code, machine_named

BARRIERS = {
    "Skylake-SP 20 cores": "skylake-gold-6148",
    "EPYC Naples 24 cores": "epyc-7451",
    "ThunderX2 32 cores": "thunderx2",
}
TURNS = 100
WAIT = f"""
void wait(int p, double *a)
{{
#pragma omp parallel
  for (int r = 0; r < {TURNS}; r++) {{
#pragma omp for schedule(static)
    for (int t = 0; t < p; t++)
      a[8*t] += 1.0;
  }}
}}
"""
TRIAD = """
void triad(long n, double q, double *a, double *b, double *c)
{
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; i++) a[i] = b[i] + q * c[i];
}
"""
STREAM_MACHINES = {"2xE5405": "clovertown"}
STREAM_SIZE = 20_000_000
COUNTS = {"triad_MBps_1": 1, "2": 2, "3": 3, "4": 4, "8": 8}


def read_barriers(path: Path) -> DataSet:
    """Seconds of so many barriers, by threads of one package."""
    cycles: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows(path):
        if row["machine"] in BARRIERS:
            cycles[row["machine"]][int(row["threads"])] = float(row["cycles"])
    cases = []
    for name, curve in sorted(cycles.items()):
        machine = machine_named(BARRIERS[name])
        for threads in (2, 4, 8, 12, 16, 20, 24, 32):
            if threads in curve:
                seconds = TURNS * curve[threads] / machine.clock_hz
                code = Code(WAIT, sizes=(("p", threads),))
                cases.append(
                    Case(f"{threads} on {BARRIERS[name]}", code, BARRIERS[name],
                         {threads: seconds}, True)
                )  # fmt: skip
    return DataSet(
        "barriers", "a barrier by threads, one package", "barrier_cycles.csv (RRZE SC19-ECM-AA)",
        tuple(cases), "none", "in", "the barrier tables of the machine files",
        tabulated=True,
    )  # fmt: skip


def read_stream(path: Path) -> DataSet:
    """The front-side-bus machine of the table; no model of the others ships."""
    cases = []
    for row in rows(path):
        name = STREAM_MACHINES.get(row["processor"])
        if name is None:
            continue
        times = {
            threads: 24.0 * STREAM_SIZE / (1e6 * float(row[column]))
            for column, threads in COUNTS.items()
            if row[column]
        }
        code = Code(TRIAD, sizes=(("n", STREAM_SIZE),))
        cases.append(Case(row["processor"], code, name, times, True))
    return DataSet(
        "STREAM triad", "a front-side-bus machine of 2 x 4", "stream_triad.csv (stream-scaling)",
        tuple(cases), "packages", "in", "the memory table of clovertown",
        tabulated=True,
    )  # fmt: skip
