"""LULESH over two packages, and its loops one by one inside a domain (RRZE LULESH-AD)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from lulesh_kernels import KERNELS
from lulesh_sources import MATERIALS, lulesh_source
from measured import Case, DataSet, rows
from predictor import Code

MACHINE = "icelake-8360y"
THREADS = (1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72)
"""Of the 72 measured numbers, those that are asked: the whole program is 50 loops."""

STEPS = 300
"""Of the measured runs; their compiler, icpc -O3, may reorder sums (its default)."""


def read_program(path: Path) -> DataSet:
    """One curve a size over both packages; speedups are over the program of one thread."""
    speed: dict[int, dict[int, float]] = defaultdict(dict)
    for row in rows(path):
        speed[int(row["size"])][int(row["threads"])] = float(row["FOM_z_per_s"])
    text, alone = lulesh_source(), lulesh_source(alone=True)
    cases = tuple(
        Case(
            str(size),
            Code(
                text,
                sizes=(("n", size), ("m", size**3 // MATERIALS)),
                one_thread=alone,
                reassociates=True,
            ),
            MACHINE,
            {threads: 1.0 / rates[threads] for threads in THREADS if threads in rates},
        )
        for size, rates in sorted(speed.items())
    )
    return DataSet(
        "LULESH", "a program over two packages of 36, 7 sizes",
        "lulesh_scaling.csv (RRZE LULESH-AD)", cases, "packages", "out", "nothing",
    )  # fmt: skip


def read_kernels(path: Path) -> DataSet:
    """One curve a loop, size 350, on the 18 cores of one domain."""
    times: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows(path):
        if row["size"] == "350" and "18-core domain" in row["machine"]:
            times[row["kernel"]][int(row["threads"])] = float(row["time_s"])
    size = 350
    cases = tuple(
        Case(
            name,
            Code(KERNELS[name], sizes=_sizes(KERNELS[name], size), reassociates=True),
            MACHINE,
            {threads: time / STEPS for threads, time in sorted(curve.items())},
            True,
        )
        for name, curve in times.items()
    )
    return DataSet(
        "LULESH loops", "22 loops inside one domain of 18",
        "lulesh_kernels.csv (RRZE LULESH-AD, kernel analysis)", cases, "threads", "out", "nothing",
    )  # fmt: skip


def _sizes(text: str, size: int) -> tuple[tuple[str, int], ...]:
    """The edge where the loops run over elements or nodes, the elements of one material, which
    follow one another in its list in runs of about forty.
    """
    sizes = []
    if "< n*n*n" in text or "< (n+1)" in text:
        sizes.append(("n", size))
    if "< m;" in text:
        sizes.append(("m", size**3 // MATERIALS))
    if "[list[" in text or "= list[" in text:
        sizes.append(("list[+1]", 1))
    return tuple(sizes)
