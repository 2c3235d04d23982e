"""Every labelled number of a model by its key in the file, for checks and counts."""

from __future__ import annotations

from collections.abc import Iterator

from regionpredict.machine.model import Machine
from regionpredict.machine.quantity import Curve, Evidence, Quantity

_NAMES = {
    "domains_per_package": "numa_domains_per_package",
    "clock_hz": "clock",
    "simd_bits": "simd",
    "size_bytes": "size",
    "page_bytes": "page",
    "line_bytes": "line",
    "associativity": "ways",
    "shared_by_cores": "cores",
    "latency_cycles": "latency",
    "throughput_cycles": "throughput",
    "remote_latency_cycles": "remote_latency",
    "peak_bytes_per_s": "peak",
    "traffic_bytes_per_s": "traffic",
}


def quantities(machine: Machine) -> Iterator[tuple[str, Evidence, str]]:
    """Key, evidence and source of every number, in the file's order, without the weights."""
    parts: list[tuple[str, object]] = [("node", machine.node)]
    parts += [("processor", machine.processor)]
    parts += [(f"caches[{place}]", cache) for place, cache in enumerate(machine.caches)]
    parts += [("memory", machine.memory)]
    if machine.memory.shared_path is not None:
        parts += [("memory.shared_path", machine.memory.shared_path)]
    parts += [(f"operations.{kind}", value) for kind, value in machine.operations.items()]
    parts += [("openmp", machine.overheads)]
    for prefix, part in parts:
        for name in part.__slots__:  # type: ignore[attr-defined]
            value = getattr(part, name)
            key = f"{prefix}.{_NAMES.get(name, name)}"
            if isinstance(value, Quantity | Curve):
                yield key, value.evidence, value.source
            elif isinstance(value, dict):
                for kernel, curve in value.items():
                    yield f"{key}.{kernel}", curve.evidence, curve.source
    for name, factor in machine.corrections.factors.items():
        yield f"corrections.factors.{name}", factor.evidence, factor.source


def evidence_counts(machine: Machine) -> dict[Evidence, int]:
    """How many numbers of the model are measured, derived, assumed."""
    counts: dict[Evidence, int] = {"measured": 0, "derived": 0, "assumed": 0}
    for _, evidence, _ in quantities(machine):
        counts[evidence] += 1
    return counts
