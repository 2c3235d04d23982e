"""Processor time of a prediction over all thread counts: `bench_saturation.py [MACHINE ...]`.

Prints, for every machine (all that ship if none is given), the median and the worst regions of
both sample folders, after parsing; least of five turns.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from pathlib import Path

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import analyse, predict_region

ROOT = Path(__file__).parents[2]
FOLDERS = ("polybench_samples", "npb_samples")
TURNS = 5
WORST = 3


def milliseconds(facts: RegionFacts, machine: Machine) -> float:
    """The least processor time of one prediction, in ms."""
    least = float("inf")
    for _ in range(TURNS):
        begin = time.process_time()
        predict_region(facts, machine)
        least = min(least, time.process_time() - begin)
    return 1e3 * least


def main() -> int:
    """Prints a line a machine and folder; returns the exit code."""
    names = sys.argv[1:] or sorted(path.stem for path in (ROOT / "machines").glob("*.yaml"))
    regions = {
        folder: analyse(requests_for((str(ROOT / folder),), [], [], ""), {}).facts
        for folder in FOLDERS
    }
    gc.disable()
    print(f"{'machine':<28}{'samples':<20}{'regions':>8}{'median':>9}   worst, in ms")
    for name in names:
        machine = load(name)
        for folder, facts in regions.items():
            slowest = sorted(
                ((milliseconds(known, machine), known.region.id) for known in facts), reverse=True
            )
            median = statistics.median(spent for spent, _ in slowest)
            worst = "  ".join(f"{spent:.1f} {Path(where).name}" for spent, where in slowest[:WORST])
            print(f"{name:<28}{folder:<20}{len(slowest):>8}{median:>9.2f}   {worst}")
            gc.collect()
    return 0


if __name__ == "__main__":
    sys.exit(main())
