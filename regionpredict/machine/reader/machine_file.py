"""Reads the text of a machine file into a `Machine`, section by section."""

from __future__ import annotations

import hashlib

from regionpredict.machine import density_weights
from regionpredict.machine.model import Machine
from regionpredict.machine.reader import costs, defaults, hardware
from regionpredict.machine.reader.corrections import CORRECTIONS, read_corrections
from regionpredict.machine.reader.document import parse
from regionpredict.machine.reader.labels import Labels
from regionpredict.machine.reader.processor import PROCESSOR, read_family_of, read_processor
from regionpredict.machine.reader.section import Section

TOP = (
    "name",
    "aliases",
    "description",
    "sources",
    "node",
    "processor",
    "caches",
    "memory",
    "operations",
    "openmp",
    "density",
    "spread",
    "corrections",
)


def read(text: str, path: str) -> Machine:
    """Reads a machine from the text of its file. Errors show `path`.

    Raises InputError with file, line and key.
    """
    top = parse(text, path)
    defaulted: list[str] = []
    sources: dict[str, str] = {}
    if top.kind == "mapping" and "sources" in top.entries:
        table = top.entries["sources"]
        sources = {name: item.scalar() for name, item in table.mapping(table.entries).items()}
    file = Section(top, TOP, Labels(sources), defaulted)
    name = file.required("name").scalar()
    node = hardware.read_node(file.inner("node", hardware.NODE))
    file.labels = file.labels.at_clock(node.clock_hz.value)

    def section(key: str, known: tuple[str, ...]) -> Section | None:
        return file.inner(key, known) if key in file else None

    core = section("processor", PROCESSOR)
    family = read_family_of(core, defaulted)
    caches = hardware.read_caches(file.required("caches"), file.labels, defaulted, node, family)
    memory = hardware.read_memory(file.inner("memory", hardware.MEMORY), node, family)
    operations = costs.read_operations(section("operations", costs.OPERATIONS), defaulted)
    openmp = section("openmp", costs.OPENMP_KEYS)
    given = costs.read_overheads(openmp, defaulted)
    far_line = costs.read_far_line(openmp, memory.remote_latency_cycles, defaulted)
    weights = section("density", costs.DENSITY)
    factor = costs.read_latency_factor(weights, defaulted)
    corrections = read_corrections(section("corrections", CORRECTIONS), node.packages.whole)
    t = defaults.line_transfer_cycles(node, caches, memory.latency_cycles.value)
    common = defaults.overheads(node, t, given, far_line)
    return Machine(
        name=name,
        description=file.entries["description"].scalar() if "description" in file else name,
        path=path,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        node=node,
        processor=read_processor(core, family, node, caches),
        caches=caches,
        memory=memory,
        operations=operations,
        overheads=common,
        density=density_weights.corrected(
            costs.read_density(
                weights, density_weights.weights(node, caches, memory, operations, factor), node
            ),
            corrections,
        ),
        sources=sources,
        defaulted=tuple(defaulted),
        corrections=corrections,
        spread=costs.read_spread(file),
        by_runtime={
            name: defaults.overheads(node, t, {**given, **own}, far_line)
            for name, own in costs.read_runtimes(openmp).items()
        },
    )
