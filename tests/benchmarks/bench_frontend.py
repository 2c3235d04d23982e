"""How long analysis and prediction take, as a ratio to libclang's own parse of the same files.

    python tests/benchmarks/bench_frontend.py [FOLDER]

For each of several rounds, alternating: (a) libclang parses every file of FOLDER once, nothing
else; (b) `regionpredict predict FOLDER -m dunnington` as a process of its own, start-up included.
Prints minima and medians, and the ratios; then the start-up of `--help` over a bare Python's, and
the time of one small file.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from regionpredict.frontend import clang, libclang, requests_for

ROOT = Path(__file__).parents[2]
ROUNDS = 7


def parse_all(folder: str) -> None:
    """libclang alone, with the arguments and options that the front end uses."""
    library = libclang.library()
    index = library.clang_createIndex(0, 0)
    for request in requests_for([folder]):
        _, unit = libclang.parse(index, request.path, clang.arguments(request), 0)
        library.clang_disposeTranslationUnit(unit)
    library.clang_disposeIndex(index)


def run(*arguments: str) -> None:
    """One process."""
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, cwd=ROOT)


def seconds(work: Callable[[], None]) -> float:
    """Wall-clock seconds of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def show(name: str, samples: list[float], against: list[float]) -> None:
    """A line with minimum, median and both ratios."""
    low, middle = min(samples), statistics.median(samples)
    print(
        f"{name:<34} min {low:6.3f} s  median {middle:6.3f} s  "
        f"ratio {low / min(against):5.2f} (min) {middle / statistics.median(against):5.2f} (median)"
    )


def main() -> None:
    """Runs the rounds and prints the table."""
    folder = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "npb_samples")
    small = str(ROOT / "polybench_samples" / "linear_algebra" / "gemm" / "gemm.c")
    predict = ["-m", "regionpredict", "predict", folder, "-m", "dunnington", "--format", "json"]
    parsed, whole, single, bare, helped, one = [], [], [], [], [], []
    parse_all(folder)
    for _ in range(ROUNDS):
        parsed.append(seconds(lambda: parse_all(folder)))
        whole.append(seconds(lambda: run(*predict)))
        single.append(seconds(lambda: run(*predict, "-j", "1")))
        bare.append(seconds(lambda: run("-c", "pass")))
        helped.append(seconds(lambda: run("-m", "regionpredict", "--help")))
        one.append(
            seconds(lambda: run("-m", "regionpredict", "predict", small, "-m", "dunnington"))
        )
    show("libclang parses", parsed, parsed)
    show("predict, all cores", whole, parsed)
    show("predict, one core (-j 1)", single, parsed)
    show("bare Python", bare, bare)
    show("--help", helped, bare)
    show("one small file", one, bare)
    print(f"--help over bare Python: {statistics.median(helped) - statistics.median(bare):.3f} s")


if __name__ == "__main__":
    main()
