"""Regions of one program by how many threads they want, and where these lie.

    python tests/benchmarks/bench_pinning.py HOST.yaml [THREADS [DATASET]] [--repeat N]

The benchmark of Chatzopoulos 2012, chapter 3, in form: the four regions of the sample
`uneven_regions`, measured with threads next to each other (close), far apart (spread), and one to
each second-level cache first (caches), beside what is predicted for threads that lie close. Prints
a table: the fewest threads within 10 % of the best, and the speedup on the most.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from regionpredict.measure.store import read_campaign
from regionpredict.measure.summary import RegionSummary, summarise

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "polybench_samples" / "by_cause" / "uneven_regions" / "uneven_regions.c"
BINDINGS = ("close", "spread", "caches")
TOLERANCE = 0.1
KERNELS = "kernel_"


def tool(*words: str) -> str:
    """What a command of the package prints."""
    line = [sys.executable, "-m", "regionpredict", *words]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout


def wanted(times: dict[int, float]) -> int:
    """The fewest threads whose time is within the tolerance of the best."""
    best = min(times.values())
    return min(count for count, seconds in times.items() if seconds <= (1 + TOLERANCE) * best)


def cell(summary: RegionSummary) -> str:
    """What a region wants, and its speedup on the most threads."""
    times = {count: timing.seconds for count, timing in summary.timings.items()}
    return f"{wanted(times)} ({times[min(times)] / times[max(times)]:.2f}x)"


def main() -> None:
    parser = argparse.ArgumentParser(description="Threads that regions want, by where they lie.")
    parser.add_argument("machine")
    parser.add_argument("threads", nargs="?", default="1,2")
    parser.add_argument("dataset", nargs="?", default="STANDARD")
    parser.add_argument("--repeat", default="5")
    told = parser.parse_args()
    macro = f"{told.dataset}_DATASET"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = str(folder / "uneven_regions")
        tool("cc", "--", "gcc", "-O3", "-march=native", "-g", "-fopenmp", f"-D{macro}",
             str(SAMPLE), "-o", program, "-lm")  # fmt: skip
        asked = ("-D", macro, "-m", told.machine, "--threads", told.threads, "--format", "json")
        hints = json.loads(tool("predict", str(SAMPLE), *asked))
        measured = {}
        for binding in BINDINGS:
            file = folder / f"{binding}.jsonl"
            tool("measure", "--threads", told.threads, "--bind", binding, "--repeat", told.repeat,
                 "--quiet-wait", "10s",
                 "-o", str(file), "--", program)  # fmt: skip
            measured[binding] = {
                summary.last.line: summary for summary in summarise(read_campaign(file))
            }
    print(f"| region | predicted | {' | '.join(BINDINGS)} |")
    print("| --- " * (2 + len(BINDINGS)) + "|")
    for region in hints["regions"]:
        if not region["function"].startswith(KERNELS):
            continue
        most = region["speedup"][-1]["value"]
        cells = [cell(measured[binding][region["line"]]) for binding in BINDINGS]
        shown = region["function"].removeprefix(KERNELS)
        print(f"| `{shown}` | {region['threads']} ({most:.2f}x) | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
