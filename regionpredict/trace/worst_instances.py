"""The worst instances of each kind of wait: time, waiting locations, and cause."""

from __future__ import annotations

import numpy as np

from regionpredict.trace.analysis import Analysis
from regionpredict.trace.profile import Instance
from regionpredict.trace.wait_classes import CAUSED

MOST = 3
"""The number of reported instances per kind of wait."""


def worst_instances(analysis: Analysis, most: int = MOST) -> tuple[Instance, ...]:
    """For each kind of wait, the `most` instances with the longest total wait, the worst first.

    All waits for the same late point form one instance.
    """
    points, trace = analysis.points, analysis.trace
    second = trace.ticks_per_second
    found: list[Instance] = []
    for wait in CAUSED:
        rows = np.flatnonzero((points.kind == wait) & (points.wait > 0))
        if not len(rows):
            continue
        # A wait without a known cause is a separate instance.
        key = np.where(points.cause[rows] >= 0, points.cause[rows], len(points) + rows)
        _, instance = np.unique(key, return_inverse=True)
        waited = np.bincount(instance, weights=points.wait[rows].astype(np.float64))
        for number in np.argsort(-waited, kind="stable")[:most].tolist():
            mine = rows[instance == number]
            longest = int(mine[np.argmax(points.wait[mine])])
            cause = int(points.cause[longest])
            locations = np.unique(points.location[mine])
            found.append(
                Instance(
                    metric=wait.metric,
                    seconds=float(waited[number]) / second,
                    longest_s=float(points.wait[longest]) / second,
                    time_s=float(trace.time[points.event[longest]]) / second,
                    callpath=analysis.names[int(points.node[longest])],
                    waiting=tuple(trace.locations[at] for at in locations.tolist()),
                    late=None if cause < 0 else trace.locations[int(points.location[cause])],
                    late_callpath=(
                        None if cause < 0 else analysis.names[int(points.node[cause])]
                    ),
                )
            )  # fmt: skip
    return tuple(found)
