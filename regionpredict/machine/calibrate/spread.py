"""The uncertainty of each figure in a machine file, from its samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from regionpredict.machine.calibrate.core_figures import core_figures
from regionpredict.machine.calibrate.plan import (
    CLOCK,
    FORESEEN,
    MEMORY_LEVEL,
    UNFORESEEN,
)
from regionpredict.machine.calibrate.samples import relative_interval, typical
from regionpredict.machine.detect.topology import Topology

MOST = 9.99
"""The largest relative interval that a machine file contains."""


def spreads(topology: Topology, samples: Mapping[str, list[float]]) -> dict[str, float]:
    """Returns half of the 95 % confidence interval divided by the value, by the figure's key in the
    machine file.

    For a table, the result is the widest interval relative to the table's largest value, because
    small values need not be precise.
    """
    wide: dict[str, float] = {}
    largest: dict[str, float] = {}
    for key, kept in samples.items():
        if not kept:
            continue
        value = typical(kept)
        for figure in _figures(topology, key):
            half = min(relative_interval(kept), MOST) * value
            wide[figure] = max(wide.get(figure, 0.0), half)
            largest[figure] = max(largest.get(figure, 0.0), value)
    shares = {figure: min(half / largest[figure], MOST) for figure, half in wide.items()}
    factor = [relative_interval(samples.get(key, [])) for key in (FORESEEN, UNFORESEEN)]
    if all(samples.get(key) for key in (FORESEEN, UNFORESEEN)):
        shares["density.latency_factor"] = min(
            sum(factor), MOST
        )  # of a quotient: at most the sum of both
    for key, made in core_figures(topology, samples).items():
        if made.half:  # integers have none
            shares[f"processor.{key}"] = min(made.half / made.value, MOST)
    return shares


def _figures(topology: Topology, key: str) -> Iterator[str]:
    """Yields the keys in the machine file whose figures depend on a measurement."""
    cache_indices = {cache.level: place for place, cache in enumerate(topology.caches)}
    kind, *arguments = key.split("/")
    if key == CLOCK:
        yield "node.clock"
    elif kind == CLOCK:
        yield "node.turbo"
    elif kind == "latency":
        yield _figure_name(int(arguments[0]), cache_indices, "latency")
    elif kind == "bandwidth":
        yield _figure_name(int(arguments[0]), cache_indices, f"bandwidth.{arguments[1]}")
    elif kind == "capacity":
        yield _figure_name(int(arguments[0]), cache_indices, "size")
    elif kind == "operation":
        yield f"operations.{arguments[0]}.{arguments[1]}"
    elif kind == "openmp":
        yield f"openmp.{arguments[0]}"
    elif kind == "llvm":
        yield f"openmp.llvm.{arguments[0]}"
    elif kind == "node":
        yield "memory.shared_path.traffic"
    elif kind == "link":
        yield "memory.link"


def _figure_name(level: int, cache_indices: Mapping[int, int], name: str) -> str:
    return f"memory.{name}" if level == MEMORY_LEVEL else f"caches[{cache_indices[level]}].{name}"
