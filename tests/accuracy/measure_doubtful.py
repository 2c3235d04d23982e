"""Measures the programs of `doubtful_programs` on this host:
`measure_doubtful.py OUT [--threads 1,2] [--count N] [--first SEED] [--seconds S]` appends a row for
each program to a CSV file, in the order of the seeds, and begins none after `S` seconds.

A program's time is that of its fastest run of 40. A process counts only if others left the host
alone beside it, and a time once two such processes agree on it within `AGREE`; where they do not
within `PATIENCE_S`, the program is left out. What is in the file already is not measured again, so
that a busy host can be tried later.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from doubtful_programs import program

from regionpredict.measure.host_activity import disturbance, read_activity, wait_for_quiet

KEYS = ("seed", "kind")
AGREE = 0.05
ROUNDS = 3
PATIENCE_S = 30.0
COMPILE = ("gcc", "-O3", "-march=native", "-fopenmp")


def build(seed: int, folder: Path) -> Path:
    """Compiles a program; the binary."""
    drawn = program(seed)
    sources = {"work.c": drawn.text, "beside.c": drawn.beside or "int nothing;\n"}
    for name, text in sources.items():
        (folder / name).write_text(text)
    binary = folder / "program"
    files = [str(folder / name) for name in sources]
    subprocess.run([*COMPILE, "-o", str(binary), *files, "-lm"], check=True)
    return binary


def measured(binary: Path, threads: Sequence[int]) -> dict[int, float] | None:
    """Seconds by threads; None where the runs do not agree."""
    found: dict[int, list[float]] = {count: [] for count in threads}
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for count in threads:
            if settled(found[count]):
                continue
            seconds = fastest_run(binary, count)
            if seconds is None:
                wait_for_quiet(end - time.monotonic())
            else:
                found[count].append(seconds)
        if all(map(settled, found.values())):
            return {count: min(seconds) for count, seconds in found.items()}
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
        [str(binary)], env=settings, capture_output=True, text=True, check=True, timeout=600
    )
    beside = disturbance(before, read_activity(), _own_seconds() - own)
    return None if beside is not None and beside.much else float(run.stdout.split()[0])


def _own_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(arguments: list[str]) -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("out", type=Path)
    asked.add_argument("--threads", default="1,2")
    asked.add_argument("--count", type=int, default=180)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--seconds", type=float, default=float("inf"))
    given = asked.parse_args(arguments)
    end = time.monotonic() + given.seconds
    threads = [int(count) for count in given.threads.split(",")]
    fields = (*KEYS, *(f"seconds_{count}" for count in threads))
    if not given.out.exists():
        given.out.write_text(",".join(fields) + "\n")
    with given.out.open() as file:
        known = {int(row["seed"]) for row in csv.DictReader(file)}
    seeds = [s for s in range(given.first, given.first + given.count) if s not in known]
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, str(seed)) for seed in seeds]
        for place in places:
            place.mkdir()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            binaries = list(pool.map(build, seeds, places))
        left_out = 0
        for seed, binary in zip(seeds, binaries, strict=True):
            if time.monotonic() > end:
                break
            times = measured(binary, threads)
            if times is None:
                left_out += 1
                continue
            with given.out.open("a") as file:
                row = (seed, program(seed).kind, *(f"{times[count]:.9f}" for count in threads))
                csv.writer(file, lineterminator="\n").writerow(row)
    print(f"{len(seeds)} programs, {left_out} left out: busy, or their runs did not agree")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
