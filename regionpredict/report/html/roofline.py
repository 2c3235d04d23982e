"""Draws the roofline of a node with its loops (Williams, Waterman, Patterson 2009).

The picture shows operations per second over floating-point operations per byte of memory traffic,
on the hinted threads. The roof is the limit of the pipes and of memory bandwidth on all cores.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.machine import Machine
from regionpredict.predict import Point, Prediction, SaturationDerivation
from regionpredict.predict.roofline import float_operations, memory_traffic, peak_operations
from regionpredict.report.document import Block, Drawing, Text
from regionpredict.report.quantities import plural

_LEAST, _MOST = 1 / 64, 64.0  # operations per byte that are always drawn


def roofline(predictions: Sequence[Prediction], machine: Machine) -> list[Block]:
    """Returns the picture, and a note on omitted loops. Empty if no loop has a point in it."""
    points = [
        point
        for prediction in predictions
        if (point := _region_point(prediction, machine)) is not None
    ]
    if not points:
        return []
    peak, memory = peak_operations(machine), memory_traffic(machine)
    ridge = peak / memory
    least = min(_LEAST, *(point["x"] for point in points))
    most = max(_MOST, *(point["x"] for point in points))
    lines = [
        {
            "name": f"memory, {memory / 1e9:.3g} GB/s",
            "points": [[least, least * memory], [ridge, ridge * memory]],
        },
        {"name": f"pipes, {peak / 1e9:.3g} Gflop/s", "points": [[ridge, peak], [most, peak]]},
    ]
    left = len(predictions) - len(points)
    blocks: list[Block] = [{
        "kind": "scatter", "log": True, "kinds": "limited by",
        "x": "floating-point operations per byte of memory traffic",
        "y": "operations per second", "lines": lines, "points": points,
        "title": "Roofline: loops on their hinted threads, and the limits of all cores",
    }]  # fmt: skip
    if left:
        blocks.append(Text(f"{plural(left, 'loop')} not drawn: without floating-point operations "
                           "or memory traffic, or with unknown sizes."))  # fmt: skip
    return blocks


def _region_point(prediction: Prediction, machine: Machine) -> Drawing | None:
    at = hinted_point(prediction)
    if at is None or at.memory_bytes <= 0 or at.seconds <= 0:
        return None
    count = float_operations(prediction, machine)
    if not count:
        return None
    return {
        "name": prediction.facts.region.id,
        "x": count / at.memory_bytes,
        "y": count / at.seconds,
        "kind": prediction.bottleneck or "nothing",
    }


def hinted_point(prediction: Prediction) -> Point | None:
    """Returns the evaluation of the saturation model on the hinted threads, if there is one."""
    derived = prediction.derivation
    if not isinstance(derived, SaturationDerivation):
        return None
    return next((point for point in derived.points if point.threads == prediction.threads), None)
