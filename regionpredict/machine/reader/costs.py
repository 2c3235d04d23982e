"""Reads the sections `operations`, `openmp`, `density` and `spread` of a machine file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from regionpredict.machine.model import (
    ACCESS_KINDS,
    ACCESS_PATTERNS,
    RUNTIMES,
    DensityWeights,
    Node,
    Operation,
)
from regionpredict.machine.quantity import Curve, Quantity
from regionpredict.machine.reader import defaults
from regionpredict.machine.reader.corrections import read_thresholds
from regionpredict.machine.reader.section import Section

OPENMP = (
    "fork_join",
    "barrier",
    "reduction",
    "dynamic_chunk",
    "atomic",
    "critical",
    "first_touch",
    "first_touch_beyond",
    "line_transfer",
    "bulk_transfer",
    "team_change",
    "first_team",
)
FAR_LINE = "far_line"
OPENMP_KEYS = (*OPENMP, FAR_LINE, *RUNTIMES)
SPREAD = "spread"
_MEASURED = ("node.", "processor.", "caches[", "memory.", "operations.", "openmp.", "density.")
Key = TypeVar("Key")
DENSITY = ("operation", "hit", "miss", "latency_factor", "thresholds")
OPERATIONS = tuple(defaults.OPERATION_CYCLES)


def read_operations(section: Section | None, defaulted: list[str]) -> dict[str, Operation]:
    """Returns the latency and throughput of every kind of operation, as given or assumed."""
    known: dict[str, Operation] = {}
    if section is not None:
        known = {kind: _operation(section, kind) for kind in OPERATIONS if kind in section}
    missing = [kind for kind in OPERATIONS if kind not in known]
    defaulted.extend(f"operations.{kind}" for kind in missing)
    return {kind: known.get(kind) or defaults.operation(kind, known) for kind in OPERATIONS}


def _operation(section: Section, kind: str) -> Operation:
    inner = section.inner(kind, ("latency", "throughput"))
    latency = inner.quantity("latency", "cycles")
    typical_latency, typical_throughput = defaults.OPERATION_CYCLES[kind]
    return Operation(
        latency,
        inner.optional(
            "throughput",
            "cycles",
            latency.value * min(1.0, typical_throughput / typical_latency),
            "derived from its latency, as on current cores",
        ),
    )


def read_overheads(section: Section | None, defaulted: list[str]) -> dict[str, Curve]:
    """Returns the tables of OpenMP costs in the file, in cycles by number of threads."""
    given = _tables(section) if section is not None else {}
    defaulted.extend(f"openmp.{key}" for key in OPENMP if key not in given)
    return given


def read_runtimes(section: Section | None) -> dict[str, dict[str, Curve]]:
    """Returns the tables of OpenMP costs by the name of the OpenMP runtime."""
    if section is None:
        return {}
    return {name: _tables(section.inner(name, OPENMP)) for name in RUNTIMES if name in section}


def read_far_line(section: Section | None, remote: Quantity, defaulted: list[str]) -> Quantity:
    """Returns the cycles for the transfer of a line between sockets, as given or assumed to be the
    latency of remote memory.
    """
    if section is not None and FAR_LINE in section:
        return section.quantity(FAR_LINE, "cycles")
    defaulted.append(f"openmp.{FAR_LINE}")
    return defaults.assumed(remote.value, "cycles", "as a line of another package's memory")


def _tables(section: Section) -> dict[str, Curve]:
    return {
        key: replace(section.labels.curve(section.entries[key], "cycles"), beyond="proportional")
        for key in OPENMP
        if key in section
    }


def read_latency_factor(section: Section | None, defaulted: list[str]) -> Quantity:
    """Reads the weight of a latency miss relative to a streaming miss."""
    why = "as measured on Clovertown"
    if section is None:
        defaulted.append("density.latency_factor")
        return defaults.assumed(defaults.LATENCY_FACTOR, "", why)
    return section.optional("latency_factor", "", defaults.LATENCY_FACTOR, why)


def read_density(section: Section | None, derived: DensityWeights, node: Node) -> DensityWeights:
    """Returns the derived weights of the density model, with replacements from the file."""
    if section is None:
        return derived
    operation = {**derived.operation, **_weights(section, "operation", {k: k for k in OPERATIONS})}
    pairs = {
        f"{kind}_{pattern}": (kind, pattern) for kind in ACCESS_KINDS for pattern in ACCESS_PATTERNS
    }
    miss = {**derived.miss, **_weights(section, "miss", pairs)}
    hit = section.quantity("hit", "cycles") if "hit" in section else derived.hit
    return DensityWeights(
        operation, hit, miss, derived.latency_factor, read_thresholds(section, node.packages.whole)
    )


def read_spread(file: Section) -> dict[str, float]:
    """Reads the uncertainty of measured figures by key, as a share of the value, at least 0.

    Raises InputError for an unknown key or an invalid share.
    """
    if SPREAD not in file:
        return {}
    item = file.entries[SPREAD]
    entries = item.mapping(item.entries)
    for key, entry in entries.items():
        if not key.startswith(_MEASURED):
            raise entry.error(f"'{key}' in {SPREAD} is not a figure", "write it as memory.latency")
    return {key: file.labels.number(entry, "", low=-1e-12) for key, entry in entries.items()}


def _weights(section: Section, key: str, names: Mapping[str, Key]) -> dict[Key, Quantity]:
    """Reads the weights in the subsection `key`. `names` maps keys of the file to keys of the
    result.
    """
    if key not in section:
        return {}
    inner = section.inner(key, names)
    return {name: inner.quantity(text, "cycles") for text, name in names.items() if text in inner}
