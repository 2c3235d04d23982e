"""The hints of the samples' regions, beside what was measured on 16 cores: `judge_regions.py`
prints those that cost most, and how often hints are right, by how long a region takes."""

from __future__ import annotations

import csv
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judge_doubtful import MACHINE, MOST_LOSS
from metrics import time_at

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MEASURED = HERE / "regions_16_cores.csv"
SIZES = [f"-D{name}=512" for name in ("NI", "NJ", "NK", "NL", "NM")]
SAMPLES = {
    "polybench_samples": ["-DSTANDARD_DATASET", *SIZES],
    "npb_samples": ["-DCLASS_W", "-Inpb_samples/common"],
}
"""Options for each suite, as it was built to be measured."""
LONGEST_S = (1e-4, float("inf"))
"""Regions up to so long on one thread are judged together."""


class Judged(NamedTuple):
    """A region's hint of `threads`: `loss` is its time over the least measured, `alone` the
    measured seconds on one thread; `speedup` on the most threads, and as predicted."""

    place: str
    threads: int
    best: int
    loss: float
    confidence: float
    alone: float
    speedup: float
    predicted: float

    @property
    def right(self) -> bool:
        """Whether the hint costs little."""
        return self.loss <= 1.0 + MOST_LOSS


def judged() -> list[Judged]:
    """Every measured region of the samples, as it is predicted now."""
    hints = {(hint["file"], hint["line"]): hint for hint in _hints()}
    with MEASURED.open() as file:
        rows = [row for row in csv.DictReader(file) if row["program"] in ("polybench", "npb")]
    pairs = [(row, hints.get((row["file"], int(row["line"])))) for row in rows]
    return [_judged(row, hint) for row, hint in pairs if hint is not None and hint["threads"]]


def _hints() -> Iterator[dict[str, Any]]:
    for folder, options in SAMPLES.items():
        command = [sys.executable, "-m", "regionpredict", "predict", folder, *options]
        done = subprocess.run(
            [*command, "-m", str(MACHINE), "--format", "json"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        yield from json.loads(done.stdout)["regions"]


def _judged(row: dict[str, str], hint: dict[str, Any]) -> Judged:
    seconds = {int(key[8:]): float(row[key]) for key in row if key.startswith("seconds_")}
    most = max(seconds)
    best = min(seconds, key=lambda count: seconds[count])
    curve = {point["threads"]: point["value"] for point in hint["speedup"]}
    return Judged(
        f"{row['file']}:{row['line']} {row['function']}",
        hint["threads"],
        best,
        time_at(seconds, hint["threads"]) / seconds[best],
        hint["confidence"],
        seconds[1],
        seconds[1] / seconds[most],
        curve.get(most, 1.0),
    )


def share_right(known: Sequence[Judged]) -> float:
    """How many of the hints cost little."""
    return sum(one.right for one in known) / len(known)


def main() -> int:
    """Prints the hints that cost most, and the shares that are right."""
    found = judged()
    for one in sorted(found, key=lambda one: -one.loss)[:20]:
        print(
            f"{one.loss:5.2f} of the least time on {one.threads} threads, {one.best} best, "
            f"{one.confidence:.0%} sure; {one.speedup:.1f}x on all, {one.predicted:.1f}x "
            f"predicted  {one.place}"
        )
    least = 0.0
    for longest in LONGEST_S:
        known = [one for one in found if least <= one.alone < longest]
        off = statistics.median(abs(one.predicted / one.speedup - 1.0) for one in known)
        sure = statistics.mean(one.confidence for one in known)
        print(
            f"{len(known)} regions of {1e6 * least:.0f} µs and more: {share_right(known):.0%} "
            f"right, {sure:.0%} sure; speedup on all threads {off:.0%} off (median)"
        )
        least = longest
    return 0


if __name__ == "__main__":
    sys.exit(main())
