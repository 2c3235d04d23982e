"""How long a prediction takes, start to end, as a ratio to libclang's own parse of the same files.

    python tests/benchmarks/bench_frontend.py [FOLDER [-I DIR] [-D NAME=VALUE] ...]

In each of several rounds, alternating: (a) libclang parses every file of FOLDER once, in one
thread, nothing else; (b) `regionpredict predict FOLDER -m dunnington --format json`, a process of
its own, start-up included, on all cores and with -j 1. For each: median and minimum of the wall
clock, the median of the processor time of all its processes, and the ratios to (a). On a machine
that others use, believe the processor time: two processes that share the work evenly take half of
it. Then where the time goes, the start-up of `--help` over a bare Python's, and one small file.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from regionpredict.cli.source_options import parse_pairs
from regionpredict.frontend import SourceRequest, requests_for
from regionpredict.frontend.libclang_reader import bindings
from regionpredict.frontend.libclang_reader.parsing import arguments

ROOT = Path(__file__).parents[2]
ROUNDS = 7


class Sample(NamedTuple):
    """Seconds of one run: of the wall clock, and of all processors."""

    wall: float
    processor: float


def parse_all(requests: list[SourceRequest]) -> None:
    """libclang alone, with the arguments of the front end and its default options."""
    library = bindings.library()
    index = library.clang_createIndex(0, 0)
    for request in requests:
        _, unit = bindings.parse(index, request.path, arguments(request), 0)
        library.clang_disposeTranslationUnit(unit)
    library.clang_disposeIndex(index)


def run(*arguments: str) -> str:
    """One process of this Python; what it says on standard error."""
    environment = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, *arguments], check=True, capture_output=True, cwd=ROOT, text=True,
        env=environment,
    )  # fmt: skip
    return done.stderr


def used() -> float:
    """Processor seconds so far, of this process and of all that it waited for."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def timed(work: Callable[[], object]) -> Sample:
    """One call."""
    wall, processor = time.perf_counter(), used()
    work()
    return Sample(time.perf_counter() - wall, used() - processor)


def show(name: str, samples: list[Sample], against: list[Sample]) -> None:
    """A line with the times and their ratios to those of `against`."""
    wall = statistics.median(sample.wall for sample in samples)
    least = min(sample.wall for sample in samples)
    processor = statistics.median(sample.processor for sample in samples)
    base = statistics.median(sample.wall for sample in against)
    base_least = min(sample.wall for sample in against)
    base_processor = statistics.median(sample.processor for sample in against)
    print(
        f"{name:<26}{wall:7.3f}{least:9.3f}{processor:11.3f}   "
        f"{wall / base:7.2f}{least / base_least:9.2f}{processor / base_processor:11.2f}"
    )


def options() -> tuple[str, list[str], list[SourceRequest]]:
    """The folder, the options that `predict` is given, and the same as requests."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default=str(ROOT / "npb_samples"))
    parser.add_argument("-I", dest="includes", action="append", default=[])
    parser.add_argument("-D", dest="defines", action="append", default=[])
    given = parser.parse_args()
    passed = [word for one in given.includes for word in ("-I", one)]
    passed += [word for one in given.defines for word in ("-D", one)]
    requests = requests_for([given.folder], parse_pairs(given.defines), given.includes)
    return given.folder, passed, requests


def main() -> None:
    """Runs the rounds and prints the table."""
    folder, passed, requests = options()
    small = str(ROOT / "polybench_samples" / "linear_algebra" / "gemm" / "gemm.c")
    command = ["-m", "regionpredict", "predict", "--no-cache"]
    predict = [*command, folder, *passed, "-m", "dunnington", "--format", "json"]
    parsed, whole, single, bare, helped, one = [], [], [], [], [], []
    parse_all(requests)
    for _ in range(ROUNDS):
        parsed.append(timed(lambda: parse_all(requests)))
        whole.append(timed(lambda: run(*predict)))
        single.append(timed(lambda: run(*predict, "-j", "1")))
        bare.append(timed(lambda: run("-c", "pass")))
        helped.append(timed(lambda: run("-m", "regionpredict", "--help")))
        one.append(timed(lambda: run(*command, small, "-m", "dunnington")))
    lines = sum(Path(request.path).read_bytes().count(b"\n") for request in requests)
    print(f"{folder}: {len(requests)} files, {lines} lines, {len(os.sched_getaffinity(0))} cores")
    print(f"{'':<26}{'wall':>7}{'least':>9}{'processor':>11}   {'ratios to libclang':>20}")
    show("libclang parses", parsed, parsed)
    show("predict, all cores", whole, parsed)
    show("predict -j 1", single, parsed)
    show("bare Python", bare, parsed)
    show("--help", helped, parsed)
    show("one small file", one, parsed)
    stages = run(*predict, "-j", "1", "--timings").splitlines()
    print("of -j 1:", ", ".join(line for line in stages if line.endswith(" s") and ": " in line))


if __name__ == "__main__":
    main()
