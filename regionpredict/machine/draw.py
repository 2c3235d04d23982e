"""Draws a machine as text in 80 columns, with its key figures and their evidence."""

from __future__ import annotations

from regionpredict.errors import plural
from regionpredict.machine.evidence import evidence_counts
from regionpredict.machine.model import Cache, Machine
from regionpredict.machine.processor import FIGURES, Processor
from regionpredict.machine.quantity import Curve, Quantity, with_unit

WIDTH = 80
_ROW_NAMES = {
    "loads_per_cycle": "loads",
    "stores_per_cycle": "stores",
    "memory_operations_per_cycle": "loads and stores",
    "load_bytes_per_cycle": "load width",
    "store_bytes_per_cycle": "store width",
}
"""Short row names for keys that contain a unit."""
ALL_SHOWN = 6
"""The maximum number of cores of a domain that are all drawn. In larger domains, only the first and
last cores of each group are drawn.
"""


def draw(machine: Machine) -> str:
    """Draws the sockets, NUMA domains, cores and caches of a node.

    One domain is drawn in full. The other domains are listed with their cores.
    """
    lines = [_horizontal_rule("package 0")]
    lines += [_in_frame(line) for line in _domain(machine)]
    for domain in range(1, machine.domains_per_package):
        first = domain * machine.cores_per_domain
        last = first + machine.cores_per_domain - 1
        lines.append(_in_frame(f"NUMA domain {domain}: cores {first}-{last}, the same"))
    lines.append(_horizontal_rule(""))
    for package in range(1, machine.packages):
        first = package * machine.cores_per_package
        last = first + machine.cores_per_package - 1
        lines.append(_in_frame(f"package {package}: cores {first}-{last}, the same"))
        lines.append(_horizontal_rule(""))
    shared = machine.memory.shared_path
    if shared is not None:
        rate = quantity_text(shared.traffic_bytes_per_s)
        lines.append(_in_frame(f"one memory path for all packages: {rate} of traffic"))
        lines.append(_horizontal_rule(""))
    return "\n".join(lines)


def _domain(machine: Machine) -> list[str]:
    columns = _columns(machine)
    cell = (WIDTH - 6) // len(columns)
    cores = "".join(
        ("..." if core is None else f"core {core}").center(cell) for core in columns
    ).rstrip()
    memory = machine.memory
    own = "" if memory.shared_path is not None else "NUMA domain 0: "
    lines = [f"{own}cores 0-{machine.cores_per_domain - 1}", cores]
    lines += [_cache_row(cache, columns, cell) for cache in machine.caches]
    lines.append(
        ", ".join(
            f"L{cache.level} {size_text(cache.size_bytes.value)} for {_cores_text(cache)}"
            for cache in machine.caches
        )
    )
    best = max(curve.peak for curve in memory.bandwidth.values())
    lines.append(
        f"memory: up to {best / 1e9:.3g} GB/s from these cores, "
        f"latency {memory.latency_cycles.value:.0f} cycles"
    )
    return lines


def _cores_text(cache: Cache) -> str:
    shared = cache.shared_by_cores.whole
    return plural(shared, "core")


def _columns(machine: Machine) -> list[int | None]:
    """Returns the drawn cores of a domain. None represents omitted cores."""
    cores = machine.cores_per_domain
    if cores <= ALL_SHOWN:
        return list(range(cores))
    group = min(machine.caches[-1].shared_by_cores.whole, cores)
    if group == cores:
        return [0, 1, None, cores - 2, cores - 1]
    middle: list[int | None] = [None] if cores > 2 * group else []
    if group < 4:
        return [*range(group), *middle, *range(cores - group, cores)]
    return [0, None, group - 1, *middle, cores - group, None, cores - 1]


def _cache_row(cache: Cache, columns: list[int | None], cell: int) -> str:
    """Draws a cache level. Each instance is a bracket over the cores that share it."""
    shared = cache.shared_by_cores.whole
    groups: list[list[int]] = []
    owner: list[int | None] = [None if core is None else core // shared for core in columns]
    for place, mine in enumerate(owner):
        joined = mine
        if mine is None and 0 < place < len(owner) - 1 and owner[place - 1] == owner[place + 1]:
            joined = owner[place - 1]
            owner[place] = joined
        same = groups and joined is not None and owner[groups[-1][0]] == joined
        if same:
            groups[-1].append(place)
        else:
            groups.append([place])
    row = ""
    for group in groups:
        width = cell * len(group)
        if owner[group[0]] is None:
            row += "...".center(width)
            continue
        label = f"L{cache.level} {size_text(cache.size_bytes.value)}"
        if len(label) > width - 3:
            label = f"L{cache.level}"
        row += f" [{label.center(width - 3, '-' if len(group) > 1 else ' ')}]"
    return row.rstrip()


def key_figures(machine: Machine) -> str:
    """The key figures, one per line: name, value, evidence and source."""
    rows: list[tuple[str, str, str, str]] = []

    def add(name: str, quantity: Quantity) -> None:
        rows.append((name, quantity_text(quantity), quantity.evidence, quantity.source))

    add("clock", machine.node.clock_hz)
    for name in ("turbo", "core_speed"):
        curve = getattr(machine.node, name)
        if curve is not None:
            text = curve_text(curve)
            rows.append((name.replace("_", " "), text, curve.evidence, curve.source))
    if machine.node.vcpus_per_core is not None:
        add("vcpus per core", machine.node.vcpus_per_core)
    add("vector width", machine.node.simd_bits)
    rows += _processor_rows(machine.processor)
    for cache in machine.caches:
        add(f"L{cache.level} size", cache.size_bytes)
        add(f"L{cache.level} latency", cache.latency_cycles)
        add(f"L{cache.level} line", cache.line_bytes)
        add(f"L{cache.level} ways", cache.associativity)
    add("memory page", machine.memory.page_bytes)
    add("memory latency", machine.memory.latency_cycles)
    for kernel, curve in machine.memory.bandwidth.items():
        rows.append((f"memory {kernel}", curve_text(curve), curve.evidence, curve.source))
    if machine.memory.link_bytes_per_s is not None:
        add("memory link", machine.memory.link_bytes_per_s)
    if machine.memory.peak_bytes_per_s is not None:
        add("memory peak", machine.memory.peak_bytes_per_s)
    for kind in ("fp_add", "fp_mul", "fp_fma", "fp_div", "fp_sqrt"):
        add(kind, machine.operation(kind).latency_cycles)
    for name in ("fork_join", "barrier"):
        curve = getattr(machine.overheads, name)
        count = machine.cores
        text = f"{curve.at(count):.0f} cycles on {count}"
        rows.append((name, text, curve.evidence, curve.source))
    for (kind, pattern), weight in machine.density.miss.items():
        if pattern != "irregular":
            add(f"miss {kind} {pattern}", weight)
    for name, factor in machine.corrections.factors.items():
        rows.append((f"{name}, corrected", f"x {factor.value:.3g}", factor.evidence, factor.source))
    lines = [
        f"{name:<22} {text:<22} {how:<8} {source}".rstrip() for name, text, how, source in rows
    ]
    counts = ", ".join(f"{count} {how}" for how, count in evidence_counts(machine).items())
    return "\n".join([*(_shortened(line) for line in lines), f"numbers: {counts}"])


def _processor_rows(processor: Processor) -> list[tuple[str, str, str, str]]:
    """Returns the rows of the core's figures, after a row with the processor family. Sources do
    not repeat the name of the family.
    """
    rows = [("processor family", processor.family, "", "")]
    for key in FIGURES:
        figure: Quantity = getattr(processor, key)
        source = figure.source.removeprefix(f"family {processor.family}: ")
        name = _ROW_NAMES.get(key, key.replace("_", " "))
        rows.append((name, quantity_text(figure), figure.evidence, source))
    return rows


def quantity_text(quantity: Quantity) -> str:
    """Formats a number with its unit: `27.5 MiB`, `2.4 GHz`, `120 GB/s`, `14 cycles`."""
    value, unit = quantity.value, quantity.unit
    if unit == "B":
        return size_text(value)
    if unit == "Hz":
        return f"{value / 1e9:.4g} GHz"
    if unit == "B/s":
        return f"{value / 1e9:.3g} GB/s"
    return with_unit(f"{value:.3g}", unit)


def size_text(size: float) -> str:
    """Formats bytes in binary units.

    >>> size_text(28835840), size_text(32768)
    ('27.5 MiB', '32 KiB')
    """
    for factor, unit in ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB")):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size:.0f} B"


def curve_text(curve: Curve) -> str:
    """Formats the first and the last value of a bandwidth curve: `14.3 -> 120 GB/s on 20`."""
    if len(curve.x) == 1:
        return f"{curve.y[0] / 1e9:.3g} GB/s on 1"
    return f"{curve.y[0] / 1e9:.3g} -> {curve.y[-1] / 1e9:.3g} GB/s on {curve.x[-1]}"


def _horizontal_rule(title: str) -> str:
    head = f"+-- {title} " if title else "+"
    return head.ljust(WIDTH - 1, "-") + "+"


def _in_frame(text: str) -> str:
    return f"| {text}".ljust(WIDTH - 1) + "|"


def _shortened(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 3].rstrip() + "..."
