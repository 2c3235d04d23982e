"""Lists the figures of a machine with their keys in the file, evidence and uncertainty.

A prediction lists the assumed figures that it used, such as ``memory.latency`` or
``processor.issue_width``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from regionpredict.machine.model import Machine
from regionpredict.machine.quantity import Curve, Evidence, Quantity, with_unit

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
    "link_bytes_per_s": "link",
}


def figures(machine: Machine) -> Iterator[tuple[str, Quantity | Curve]]:
    """Yields the key and the value of every figure in file order, except weights of the density
    model.
    """
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
                yield key, value
            elif isinstance(value, dict):
                for kernel, curve in value.items():
                    yield f"{key}.{kernel}", curve
    for runtime, tables in machine.by_runtime.items():
        for name in tables.__slots__:
            own: Quantity | Curve = getattr(tables, name)
            if own != getattr(machine.overheads, name):
                yield f"openmp.{runtime}.{name}", own
    for name, factor in machine.corrections.factors.items():
        yield f"corrections.factors.{name}", factor


def weights(machine: Machine) -> Iterator[tuple[str, Quantity]]:
    """Yields the key and the value of every weight of the density model."""
    density = machine.density
    yield "density.hit", density.hit
    yield "density.latency_factor", density.latency_factor
    for kind, weight in density.operation.items():
        yield f"density.operation.{kind}", weight
    for (access, pattern), weight in density.miss.items():
        yield f"density.miss.{access}_{pattern}", weight


def evidence_counts(machine: Machine) -> dict[Evidence, int]:
    """Returns the numbers of measured, derived and assumed figures of a machine."""
    counts: dict[Evidence, int] = {"measured": 0, "derived": 0, "assumed": 0}
    for _, figure in figures(machine):
        counts[figure.evidence] += 1
    return counts


def assumed_figures(machine: Machine, keys: Iterable[str]) -> tuple[str, ...]:
    """A line for each assumed figure among `keys`, in order and without duplicates.

    A key without a figure in the machine (a kernel without its own table) is ignored.

    >>> from regionpredict.machine import load
    >>> print(*assumed_figures(load("a64fx"), ["memory.latency", "node.clock"]), sep="\\n")
    memory.latency = 252 cycles (assumed: usual for the part; no source confirms it)
    """
    return tuple(
        f"{key}{_value_text(figure)} (assumed: {figure.source})"
        for key, figure in _assumed_line(machine, keys)
    )


def assumed_keys(machine: Machine, keys: Iterable[str]) -> tuple[str, ...]:
    """Returns the keys of assumed figures among `keys`, in order and without duplicates."""
    return tuple(key for key, _ in _assumed_line(machine, keys))


def _assumed_line(machine: Machine, keys: Iterable[str]) -> list[tuple[str, Quantity | Curve]]:
    known = _by_key(machine)
    named = [(key, known[key]) for key in dict.fromkeys(keys) if key in known]
    return [(key, figure) for key, figure in named if figure.evidence == "assumed"]


SETTLED = 0.05
"""The relative 95 % interval (half-width) above which a figure has not converged."""


class UnconvergedFigure(NamedTuple):
    """The key of a figure that has not converged, and half of its 95 % interval divided by the
    value (`spread`).
    """

    key: str
    spread: float


def unconverged_figures(machine: Machine) -> tuple[UnconvergedFigure, ...]:
    """Returns the measured figures that have not converged, least certain first."""
    known = _by_key(machine)
    wide = [
        UnconvergedFigure(key, spread) for key, spread in machine.spread.items()
        if spread > SETTLED and key in known and known[key].evidence == "measured"
    ]  # fmt: skip
    return tuple(sorted(wide, key=lambda unconverged: (-unconverged.spread, unconverged.key)))


@lru_cache(maxsize=8)
def _by_key(machine: Machine) -> Mapping[str, Quantity | Curve]:
    return {**dict(figures(machine)), **dict(weights(machine))}


def _value_text(figure: Quantity | Curve) -> str:
    """Formats the value of a single number. Empty for a curve."""
    if isinstance(figure, Curve):
        return ""
    return f" = {with_unit(f'{figure.value:.4g}', figure.unit)}"
