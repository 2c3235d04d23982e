"""Builds the document about a machine model that `machines show` and `calibrate` write."""

from __future__ import annotations

from typing import Any

from regionpredict.machine import Machine, unconverged_figures
from regionpredict.machine.check import check
from regionpredict.machine.draw import draw, key_figures, quantity_text
from regionpredict.machine.evidence import evidence_counts, figures
from regionpredict.machine.quantity import Curve, Quantity, with_unit
from regionpredict.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Drawing,
    Facts,
    Folded,
    Preformatted,
    Section,
    Table,
    Text,
)
from regionpredict.report.html.blocks import curve, line
from regionpredict.report.json_text import fields_of
from regionpredict.report.names import several
from regionpredict.report.quantities import plural, show_bytes, show_percent, show_size

_GIGA = 1e9
_NAMED = 3  # maximum listed figures that did not converge


def machine_document(machine: Machine) -> Document:
    """Returns a document with a drawing of the node. Text output lists the key figures, and pages
    list all figures, bandwidths and OpenMP costs.
    """
    counts = evidence_counts(machine)
    overview = [
        ("Shape", f"{plural(machine.packages, 'package')} of "
         f"{plural(machine.cores_per_package, 'core')}, "
         f"{plural(machine.domains_per_package, 'NUMA domain')} per package, "
         f"{plural(machine.threads_per_core, 'hardware thread')} per core"),
        ("Clock", quantity_text(machine.node.clock_hz)),
        *((f"L{cache.level}", f"{show_bytes(cache.size_bytes.value)} for "
           f"{plural(cache.shared_by_cores.whole, 'core')}") for cache in machine.caches),
        ("Figures", ", ".join(f"{count} {how}" for how, count in counts.items())),
    ]  # fmt: skip
    sections = [
        Section("Overview", [Facts(overview)], "page"),
        Section("Node", [Preformatted("The node", draw(machine))], "text"),
        Section("Node", lambda: [_topology_picture(machine)], "page"),
        Section("Key figures", [Preformatted("", key_figures(machine))], "text"),
        Section("Bandwidth", lambda: _bandwidth_pictures(machine), "page"),
        Section("Costs of OpenMP", lambda: _overhead_pictures(machine), "page"),
        Section("Figures", lambda: [_figure_table(machine)], "page"),
        Section("Remarks", lambda: _remark_table(machine), "page"),
    ]
    lead = [f"{machine.name}: {machine.description}"]
    return Document(f"Machine {machine.name}", lead, sections)


def _topology_picture(machine: Machine) -> Drawing:
    """Returns a drawing of packages, NUMA domains, caches and cores. `cores` is the number of cores
    that one part of a level contains.
    """
    path, memory = machine.memory.shared_path, machine.memory.bandwidth.values()
    texts: dict[int, list[str]] = {}
    for cache in reversed(machine.caches):
        size = f"L{cache.level} {show_bytes(cache.size_bytes.value)}"
        texts.setdefault(cache.shared_by_cores.whole, []).append(size)
    spans = {machine.cores: "node", machine.cores_per_domain: "NUMA domain",
             machine.cores_per_package: "package", 1: "core"}  # fmt: skip
    if path is None:
        best = max(curve.peak for curve in memory)
        texts.setdefault(machine.cores_per_domain, []).append(f"memory {best / _GIGA:.3g} GB/s")
    else:
        rate = quantity_text(path.traffic_bytes_per_s)
        texts.setdefault(machine.cores, []).append(f"one memory path, {rate}")
    title = f"Packages, caches and cores; each core has {' and '.join(texts.get(1, ['none']))}"
    return {"kind": "topology", "title": title, "levels": [
        {"name": spans.get(cores, ""), "text": ", ".join(texts.get(cores, ())), "cores": cores}
        for cores in sorted({*spans, *texts}, reverse=True)
    ]}  # fmt: skip


def _bandwidth_pictures(machine: Machine) -> list[Block]:
    """Draws bandwidths of memory and caches by kernel, over the cores of a domain."""
    levels = [("Memory", machine.memory.bandwidth)]
    levels += [(f"L{cache.level}", cache.bandwidth) for cache in machine.caches]
    blocks: list[Block] = []
    for name, kernels in levels:
        if kernels:
            series = [
                line(kernel, [(n, value / _GIGA) for n, value in _figure_points(curve)],
                     _confidence_interval(machine, curve))
                for kernel, curve in kernels.items()
            ]  # fmt: skip
            title = f"{name} of one NUMA domain, by kernel, as the program counts bytes"
            band_label = "95 % interval, if known"
            blocks.append(curve(title, "cores", "GB/s", series, band=band_label))
    return blocks


def _figure_points(figure: Curve) -> list[tuple[int, float]]:
    return list(zip(figure.x, figure.y, strict=True))


def _confidence_interval(machine: Machine, figure: Curve) -> list[tuple[int, float, float]]:
    """Returns the 95 % interval of a figure, if a microbenchmark measured it."""
    key = next((key for key, known in figures(machine) if known is figure), "")
    half = machine.spread.get(key)
    if half is None:
        return []
    return [(n, value * max(0.0, 1 - half) / _GIGA, value * (1 + half) / _GIGA)
            for n, value in _figure_points(figure)]  # fmt: skip


def _overhead_pictures(machine: Machine) -> list[Block]:
    costs = machine.overheads
    names = [name for name in costs.__slots__ if isinstance(getattr(costs, name), Curve)]
    blocks: list[Block] = []
    for name in names:
        figure: Curve = getattr(costs, name)
        if len(figure.x) > 1:
            title = name.replace("_", " ")
            drawn = curve(title, "threads", figure.unit, [line(title, _figure_points(figure))])
            least = with_unit(show_size(figure.y[0], 4), figure.unit)
            most = f"{show_size(figure.y[-1], 4)} on {figure.x[-1]}"
            who = f"{least} on {plural(figure.x[0], 'thread')}, {most}"
            blocks.append(Folded(f"{title}: {who}", [drawn]))
    return blocks


def _figure_table(machine: Machine) -> Table:
    rows: list[list[Cell]] = [
        [key, _figure_value(figure), figure.evidence, machine.spread.get(key), figure.source]
        for key, figure in figures(machine)
    ]
    columns = [
        Column("Figure"), Column("Value", str), Column("Evidence", choice=True),
        Column("95 % interval, ±", show_percent, minor=True, unknown="", optional=True),
        Column("Source", minor=True),
    ]  # fmt: skip
    return Table("All figures with their evidence and source", columns, rows)


def _figure_value(figure: Quantity | Curve) -> str:
    if isinstance(figure, Quantity):
        return quantity_text(figure)
    first, last = (
        quantity_text(Quantity(value, figure.unit, figure.evidence, ""))
        for value in (figure.y[0], figure.y[-1])
    )
    return f"{first} on {figure.x[0]}" + (f" to {last} on {figure.x[-1]}" if figure.x[1:] else "")


def _remark_table(machine: Machine) -> list[Block]:
    findings = check(machine)
    if not findings:
        return [Text("No figure is implausible, missing or assumed.")]
    rows: list[list[Cell]] = [
        [finding.severity, finding.key, finding.message] for finding in findings
    ]
    columns = [Column("Severity", choice=True), Column("Figure"), Column("Remark")]
    return [Table("Remarks by severity", columns, rows)]


def convergence_sentence(machine: Machine) -> list[str]:
    """Returns a sentence with the least certain figures. Empty if all figures converged."""
    wide = unconverged_figures(machine)
    if not wide:
        return []
    named = [
        f"{own.key} ({f'±{100 * own.spread:.0f} %' if own.spread <= 1 else 'over ±100 %'})"
        for own in wide
    ]
    return [
        f"{plural(len(wide), 'figure')} of {machine.name} did not converge: "
        f"{several(named, _NAMED)}; recalibrate on an idle host"
    ]


def unconverged_record(machine: Machine) -> list[dict[str, Any]]:
    """Returns the figures that did not converge, for hints in JSON."""
    return [fields_of(own, "spread", figure="key") for own in unconverged_figures(machine)]
