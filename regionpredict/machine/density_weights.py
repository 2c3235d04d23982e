"""Computes the density model's weights from a machine's figures (Chatzopoulos 2012, sec. 4.2.1 and
4.2.2).

The thesis gives no table of weights. docs/machines.md explains these choices:

- The weight of an operation is its latency. The weight of a hit is the latency of the first cache.
- The weight of a streaming read miss is the number of cycles for which an 8-byte element occupies
  one core's share of the memory path: `cores_per_package * 8 B * clock / bandwidth`. The bandwidth
  is that of one socket, or of the node if all sockets share one path.
- A write has twice the weight of a read, because its line is read first and written back later.
- A latency miss has `latency_factor` times the weight of a streaming miss, because a core that
  waits for each line requests fewer lines. An irregular miss has the weight of a latency miss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from regionpredict.machine.corrections import Corrections
from regionpredict.machine.model import Cache, DensityWeights, Memory, Node, Operation
from regionpredict.machine.quantity import Evidence, Quantity

ELEMENT_BYTES = 8
WRITE_FACTOR = 2.0


def weights(
    node: Node,
    caches: tuple[Cache, ...],
    memory: Memory,
    operations: Mapping[str, Operation],
    latency_factor: Quantity,
) -> DensityWeights:
    """Computes the weights of the density model from a machine's figures, in cycles."""
    streaming = streaming_read(node, memory)
    miss: dict[tuple[str, str], Quantity] = {}
    for kind, factor in (("read", 1.0), ("write", WRITE_FACTOR)):
        again = "" if kind == "read" else ", twice: read for ownership and written back"
        miss[kind, "streaming"] = _scaled(streaming, factor, streaming.source + again)
        for pattern in ("latency", "irregular"):
            miss[kind, pattern] = _scaled(
                streaming,
                factor * latency_factor.value,
                f"{latency_factor.value:.3g} of a streaming {kind} miss ({latency_factor.source})",
                latency_factor.evidence,
            )
    first = caches[0].latency_cycles
    return DensityWeights(
        operation={
            kind: Quantity(
                operation.latency_cycles.value,
                "cycles",
                _weaker_evidence("derived", operation.latency_cycles.evidence),
                f"latency: {operation.latency_cycles.source}",
            )
            for kind, operation in operations.items()
        },
        hit=Quantity(
            first.value,
            "cycles",
            _weaker_evidence("derived", first.evidence),
            f"latency of the first-level cache: {first.source}",
        ),
        miss=miss,
        latency_factor=latency_factor,
    )


def corrected(weights: DensityWeights, corrections: Corrections) -> DensityWeights:
    """Multiplies the weights by measured factors, and replaces the boundaries by measured ones."""
    if not corrections.density and not corrections.thresholds:
        return weights

    def times(quantity: Quantity, name: str) -> Quantity:
        factor = corrections.density.get(name)
        if factor is None:
            return quantity
        source = f"{factor.value:g} ({factor.source}) times: {quantity.source}"
        return Quantity(quantity.value * factor.value, quantity.unit, "measured", source)

    miss = {
        (kind, pattern): times(weight, "streaming" if pattern == "streaming" else "scattered")
        for (kind, pattern), weight in weights.miss.items()
    }
    return replace(
        weights,
        hit=times(weights.hit, "hit"),
        miss=miss,
        thresholds=corrections.thresholds or weights.thresholds,
    )


def streaming_read(node: Node, memory: Memory) -> Quantity:
    """Returns the cycles in which one core's share of the memory path transfers an 8-byte element,
    if one socket is active.
    """
    if memory.shared_path is not None:
        ceiling = memory.shared_path.traffic_bytes_per_s
        bandwidth, evidence, source = ceiling.value, ceiling.evidence, ceiling.source
        of_what = "the node's one path"
    else:
        curve = memory.curve("load")
        bandwidth = node.domains_per_package.value * curve.peak
        evidence, source = curve.evidence, curve.source
        of_what = "a package"
    cycles = node.cores_per_package.value * ELEMENT_BYTES * node.clock_hz.value / bandwidth
    return Quantity(
        cycles,
        "cycles",
        _weaker_evidence("derived", evidence),
        f"cores of a package x 8 B x clock / {bandwidth / 1e9:.3g} GB/s of {of_what}: {source}",
    )


def _scaled(base: Quantity, factor: float, source: str, evidence: Evidence = "derived") -> Quantity:
    return Quantity(
        base.value * factor, base.unit, _weaker_evidence(base.evidence, evidence), source
    )


def _weaker_evidence(first: Evidence, second: Evidence) -> Evidence:
    """Returns the evidence of a value computed from two others: assumed if one of them is assumed,
    else derived.
    """
    return "assumed" if "assumed" in (first, second) else "derived"
