"""The hints of the drawn programs, beside what was measured on 16 cores: `judge_doubtful.py`
prints them by kind, worst first, and how often a confidence holds."""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from doubtful_programs import KINDS, program
from metrics import brier, calibration_error, time_at

from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import analyse, predict

HERE = Path(__file__).resolve().parent
MEASURED = HERE / "doubtful_programs_16_cores.csv"
MACHINE = HERE / "machines" / "sapphirerapids-16-cores.yaml"
MOST_LOSS = 0.25
"""Of the least time: a hint that loses no more is right."""


class Judged(NamedTuple):
    """A hint of `threads` for the program of a seed: `loss` is its time over the least measured."""

    seed: int
    kind: str
    threads: int
    best: int
    loss: float
    confidence: float
    doubts: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Whether the hint costs little."""
        return self.loss <= 1.0 + MOST_LOSS


def judged(kinds: Collection[str] = KINDS) -> list[Judged]:
    """Every measured program of these kinds, as it is predicted now."""
    machine = load(str(MACHINE))
    with MEASURED.open() as file, tempfile.TemporaryDirectory() as folder:
        rows = [row for row in csv.DictReader(file) if row["kind"] in kinds]
        return [_judged(row, machine, Path(folder, "work.c")) for row in rows]


def _judged(row: Mapping[str, str], machine: Machine, source: Path) -> Judged:
    drawn = program(int(row["seed"]))
    seconds = {int(key[8:]): float(row[key]) for key in row if key.startswith("seconds_")}
    source.write_text(drawn.text)
    analysis = analyse(requests_for([str(source)]), {})
    found = predict(analysis, machine, "saturation", advised=False).predictions
    hint = next(one for one in found if one.facts.region.function == "work")
    assert hint.threads is not None and hint.confidence is not None
    best = min(seconds, key=lambda count: seconds[count])
    loss = time_at(seconds, hint.threads) / seconds[best]
    doubts = tuple(sorted(doubt.id for doubt in hint.doubts))
    return Judged(drawn.seed, drawn.kind, hint.threads, best, loss, hint.confidence, doubts)


def main() -> int:
    """Prints every hint, and how often hints of each confidence are right."""
    found = judged()
    for one in sorted(found, key=lambda one: (one.kind, -one.loss)):
        print(
            f"{one.kind:16} {one.seed:4}  {one.threads:2} threads hinted, {one.best:2} best: "
            f"{one.loss:5.2f} of the least time, {one.confidence:4.0%} sure  {' '.join(one.doubts)}"
        )
    for least in (0.0, 0.8):
        known = [one for one in found if one.confidence >= least]
        right = [one.right for one in known]
        sure = [one.confidence for one in known]
        print(
            f"{len(known)} hints at {least:.0%} or more: {sum(right) / len(known):.0%} right, "
            f"ECE {calibration_error(sure, right):.3f}, Brier {brier(sure, right):.3f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
