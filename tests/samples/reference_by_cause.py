"""What the samples of one effect each compute, in NumPy, at the sizes of the MINI set."""

from __future__ import annotations

import numpy as np
from sample_grids import Array, Outputs, grid, line


def short_region() -> Outputs:
    return {"a": line(16, lambda i: i + 50.0 * (i % 5 + 1))}


def many_barriers() -> Outputs:
    return {"a": line(64, lambda i: i + 50.0)}


def serial_first_touch() -> Outputs:
    return {"a": line(1000, lambda i: i % 1024 + 3.0 * (i % 256))}


def triangular_imbalance() -> Outputs:
    matrix = np.tril(grid(32, 32, lambda i, j: (i + 2 * j) % 13))
    return {"y": matrix @ line(32, lambda i: i % 9 + 1)}


def false_sharing() -> Outputs:
    return {"a": line(100, lambda i: i + 10.0 * (i % 5 + 1))}


def _shuffled(n: int) -> Array:
    index, state = list(range(n)), 42
    for i in range(n - 1, 0, -1):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        other = (state >> 33) % (i + 1)
        index[i], index[other] = index[other], index[i]
    return np.array(index)


def random_gather() -> Outputs:
    x = line(1000, lambda i: i % 1000)
    return {"y": line(1000, lambda i: i % 10) + x + x[_shuffled(1000)]}


def reduction() -> Outputs:
    return {"sum": np.array([sum(i % 7 * (i % 5) for i in range(1000))])}


def stream_triad() -> Outputs:
    return {"a": line(1000, lambda i: i % 1024 + 3.0 * (i % 256))}


def interleaved_pages() -> Outputs:
    return {"a": line(2048, lambda i: i % 1024 + 3.0 * (i % 256))}


def far_link() -> Outputs:
    return reduction()


def cold_cache() -> Outputs:
    return {"a": line(100, lambda i: i % 1024 + 7.0 * (i % 256))}


def hardware_threads() -> Outputs:
    # a -> a/2 + 1 comes nearer to 2 by half at each step.
    return {"a": grid(16, 8, lambda i, lane: 2.0 + ((i + lane) % 64 - 2.0) / 2.0**50)}


def uneven_regions() -> Outputs:
    def halved(start: Array, steps: int) -> Array:
        return 2.0 + (start - 2.0) / 2.0**steps  # a -> a/2 + 1, at the sizes without rounding

    return {
        "a": halved(line(1000, lambda i: i % 1024 + 3.0 * (i % 256)), 10),
        "x": halved(line(40, lambda i: i % 32), 200),
        "d": np.full(8, 2.0),
    }


REFERENCES = {
    "uneven_regions": uneven_regions,
    "interleaved_pages": interleaved_pages,
    "far_link": far_link,
    "cold_cache": cold_cache,
    "hardware_threads": hardware_threads,
    "short_region": short_region,
    "many_barriers": many_barriers,
    "serial_first_touch": serial_first_touch,
    "triangular_imbalance": triangular_imbalance,
    "false_sharing": false_sharing,
    "random_gather": random_gather,
    "reduction": reduction,
    "stream_triad": stream_triad,
}
