"""One number of threads for a whole program, from its regions' hints.

A program has one allocation for all its regions. Each region weighs what one thread would spend
in it; the program's time on n threads is the sum of the weights over the regions' speedups
(Chatzopoulos 2012, ch. 3, shows two regions of one program that want different numbers). Taken
are the fewest threads within the tolerance of the best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regionpredict.machine import Machine
from regionpredict.predict import Prediction

TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class ProgramHint:
    """What to ask for: threads fill one package after the other, as the curves assume, so that
    the fullest package has `cores_per_package` of them. `weighted_by` says how regions were
    weighed, `left_out` names those that have no hint."""

    threads: int
    packages: int
    cores_per_package: int
    weighted_by: str
    regions: int
    left_out: tuple[str, ...]


def program_hint(
    predictions: Sequence[Prediction], machine: Machine,
    seconds: Mapping[str, float] | None = None, tolerance: float = TOLERANCE,
) -> ProgramHint | None:  # fmt: skip
    """The hint for the program; None where no region has one.

    `seconds` holds measured times on one thread by region id. Without them a region weighs its
    predicted time where every region has one, else all weigh the same.
    """
    usable = [
        prediction
        for prediction in predictions
        if prediction.threads and prediction.status != "skipped"
    ]
    left_out = tuple(
        prediction.facts.region.id for prediction in predictions if prediction not in usable
    )
    if not usable:
        return None
    weights, weighted_by = _weights(usable, seconds)
    counts = _counts(usable, machine)
    time = {
        n: sum(
            w / _speedup(prediction, n, machine)
            for w, prediction in zip(weights, usable, strict=True)
        )
        for n in counts
    }
    best = min(time.values())
    threads = min(n for n, spent in time.items() if spent <= (1 + tolerance) * best)
    packages = min(math.ceil(threads / machine.cores_per_package), machine.packages)
    fullest = min(threads, machine.cores_per_package)
    return ProgramHint(threads, packages, fullest, weighted_by, len(usable), left_out)


def _weights(
    usable: Sequence[Prediction], seconds: Mapping[str, float] | None
) -> tuple[list[float], str]:
    if seconds is not None:
        measured = [seconds.get(prediction.facts.region.id, 0.0) for prediction in usable]
        if sum(measured) > 0:
            return measured, "measured time"
    predicted = [_predicted_time(prediction) for prediction in usable]
    if all(time is not None for time in predicted) and sum(time or 0.0 for time in predicted) > 0:
        return [time or 0.0 for time in predicted], "predicted time of one run"
    return [1.0] * len(usable), "equally"


def _predicted_time(prediction: Prediction) -> float | None:
    """Seconds on one thread, where the model gives a time."""
    points = getattr(prediction.derivation, "points", ())
    first = next((point for point in points if point.threads == 1), None)
    time = getattr(first, "seconds", None)
    return float(time) if isinstance(time, (int, float)) else None


def _counts(usable: Sequence[Prediction], machine: Machine) -> list[int]:
    counts = {threads for prediction in usable for threads, _ in prediction.speedup}
    if not counts:
        counts = {k * machine.cores_per_package for k in range(1, machine.packages + 1)}
    return sorted(counts | {min(prediction.threads or 1 for prediction in usable)})


def _speedup(prediction: Prediction, threads: int, machine: Machine) -> float:
    """Of a model without a curve: full speed up to the hinted threads, none more behind."""
    if prediction.speedup:
        below = [(n, value) for n, value in prediction.speedup if n <= threads]
        return max(below)[1] if below else 1.0
    return float(min(threads, prediction.threads or machine.cores))
