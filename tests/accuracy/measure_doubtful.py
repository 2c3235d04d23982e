"""Measures the programs of `doubtful_programs` on 1 and 2 threads of this host:
`measure_doubtful.py OUT [COUNT [FIRST]]` appends a row for each program to a CSV file.

A program's time is that of its fastest run of 40. A process counts only if others left the host
alone beside it, and a time once two such processes agree on it within `AGREE`; where they do not
within `PATIENCE_S`, the program is left out. What is in the file already is not measured again, so
that a busy host can be tried later.
"""

from __future__ import annotations

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from doubtful_programs import program

from regionpredict.measure.host_activity import disturbance, read_activity, wait_for_quiet

FIELDS = ("seed", "kind", "seconds_1", "seconds_2")
AGREE = 0.05
ROUNDS = 3
PATIENCE_S = 30.0
COMPILE = ("gcc", "-O3", "-march=native", "-fopenmp")
THREADS = (1, 2)


def measured(seed: int, folder: Path) -> dict[int, float] | None:
    """Seconds by threads; None where the runs do not agree."""
    drawn = program(seed)
    sources = {"work.c": drawn.text, "beside.c": drawn.beside or "int nothing;\n"}
    for name, text in sources.items():
        (folder / name).write_text(text)
    binary = folder / "program"
    files = [str(folder / name) for name in sources]
    subprocess.run([*COMPILE, "-o", str(binary), *files, "-lm"], check=True)
    found: dict[int, list[float]] = {threads: [] for threads in THREADS}
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        wait_for_quiet(end - time.monotonic())
        for threads in THREADS:
            seconds = None if settled(found[threads]) else fastest_run(binary, threads)
            found[threads] += [] if seconds is None else [seconds]
        if all(map(settled, found.values())):
            return {threads: min(seconds) for threads, seconds in found.items()}
    return None


def settled(seconds: list[float]) -> bool:
    """Whether the two fastest of enough processes agree."""
    if len(seconds) < ROUNDS:
        return False
    first, second, *_ = sorted(seconds)
    return second <= (1.0 + AGREE) * first


def fastest_run(binary: Path, threads: int) -> float | None:
    """What one process prints on so many threads; None where others disturbed it."""
    settings = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "close"}
    before, own = read_activity(), _own_seconds()
    run = subprocess.run(
        [str(binary)], env=settings, capture_output=True, text=True, check=True, timeout=120
    )
    beside = disturbance(before, read_activity(), _own_seconds() - own)
    return None if beside is not None and beside.much else float(run.stdout.split()[0])


def _own_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(arguments: list[str]) -> int:
    path = Path(arguments[0])
    count = int(arguments[1]) if len(arguments) > 1 else 180
    first = int(arguments[2]) if len(arguments) > 2 else 0
    known = set[int]()
    if path.exists():
        with path.open() as file:
            known = {int(row["seed"]) for row in csv.DictReader(file)}
    else:
        path.write_text(",".join(FIELDS) + "\n")
    left_out = 0
    for seed in range(first, first + count):
        if seed in known:
            continue
        with tempfile.TemporaryDirectory() as folder:
            times = measured(seed, Path(folder))
        if times is None:
            left_out += 1
            continue
        with path.open("a") as file:
            row = (seed, program(seed).kind, *(f"{times[threads]:.9f}" for threads in THREADS))
            csv.writer(file, lineterminator="\n").writerow(row)
    print(f"{count} programs, {left_out} left out: busy, or their runs did not agree")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
