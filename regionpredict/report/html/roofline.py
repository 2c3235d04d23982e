"""The roofline of a node with its regions (Williams, Waterman, Patterson 2009).

Operations per second over floating-point operations per byte of memory traffic, on the hinted
threads. The roof is the limit of the pipes and of memory bandwidth on all cores.
"""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.machine import Machine
from regionpredict.machine.kernels import KERNELS
from regionpredict.predict import Prediction, SaturationDerivation, size_target
from regionpredict.report.document import Block, Drawing, Text
from regionpredict.report.quantities import plural
from regionpredict.workload import statement_table

_DOUBLE = 64  # bits
_ONE = ("fp_add", "fp_mul", "fp_div", "fp_sqrt", "fp_fma")
_LEAST, _MOST = 1 / 64, 64.0  # operations per byte that are always drawn


def roofline(predictions: Sequence[Prediction], machine: Machine) -> list[Block]:
    """The picture and what it leaves out. Empty if no region has a point in it."""
    points = [
        point for prediction in predictions if (point := _point(prediction, machine)) is not None
    ]
    if not points:
        return []
    peak, memory = peak_operations(machine), memory_traffic(machine)
    ridge = peak / memory
    least = min(_LEAST, *(point["x"] for point in points))
    most = max(_MOST, *(point["x"] for point in points))
    lines = [
        {"name": f"memory, {memory / 1e9:.3g} GB/s", "points": _sloped(least, ridge, memory)},
        {"name": f"pipes, {peak / 1e9:.3g} Gflop/s", "points": [[ridge, peak], [most, peak]]},
    ]
    left = len(predictions) - len(points)
    blocks: list[Block] = [{
        "kind": "scatter", "log": True, "kinds": "limited by",
        "x": "floating-point operations per byte of memory traffic",
        "y": "operations per second", "lines": lines, "points": points,
        "title": "Roofline: regions on their hinted threads, below what all cores reach",
    }]  # fmt: skip
    if left:
        blocks.append(Text(f"{plural(left, 'region')} not drawn: without floating-point operations "
                           "or memory traffic, or with unknown sizes."))  # fmt: skip
    return blocks


def _point(prediction: Prediction, machine: Machine) -> Drawing | None:
    if not isinstance(prediction.derivation, SaturationDerivation) or prediction.threads is None:
        return None
    at = {point.threads: point for point in prediction.derivation.points}.get(prediction.threads)
    if at is None or at.memory_bytes <= 0 or at.seconds <= 0:
        return None
    count = 0
    table = statement_table(prediction.facts, machine.line_bytes, size_target(machine))
    for statement in table.statements:
        own = sum(number * (2 if kind == "fp_fma" else 1) for kind, number in statement.operations
                  if kind in _ONE)  # fmt: skip
        if own and statement.executions is None:
            return None
        count += own * (statement.executions or 0)
    if not count:
        return None
    return {
        "name": prediction.facts.region.id,
        "x": count / at.memory_bytes,
        "y": count / at.seconds,
        "kind": prediction.bottleneck or "nothing",
    }


def _sloped(least: float, ridge: float, memory: float) -> list[list[float]]:
    return [[least, least * memory], [ridge, ridge * memory]]


def peak_operations(machine: Machine) -> float:
    """Operations per second of all cores with full vectors of doubles, and with fused operations if
    they are faster.

    A throughput is in cycles between two scalar operations. A vector operation takes no longer than
    a scalar one.
    """
    core = machine.processor
    add, mul, fma = (machine.operation(kind).throughput_cycles.value
                     for kind in ("fp_add", "fp_mul", "fp_fma"))  # fmt: skip
    pipes = core.fp_pipes.value / max(core.fp_add_pipes.value * add, core.fp_mul_pipes.value * mul)
    cycle = max(min(1 / add + 1 / mul, pipes), 2 / fma)
    return cycle * machine.simd_bits / _DOUBLE * machine.clock_hz * machine.cores


def memory_traffic(machine: Machine) -> float:
    """The largest memory bandwidth of all domains over all kernels, in bytes per second. It
    includes lines that are read before a store.
    """
    cores = machine.cores_per_domain
    read_first = machine.write_allocate(cores)
    best = max(
        curve.at(cores) * (1 + read_first * KERNELS[name].allocates / KERNELS[name].application)
        for name, curve in machine.memory.bandwidth.items()
    )
    total = best * machine.domains
    shared = machine.memory.shared_path
    return total if shared is None else min(total, shared.traffic_bytes_per_s.value)
