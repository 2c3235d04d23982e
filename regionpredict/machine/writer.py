"""Writes the machine file of a detected and measured host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from regionpredict.machine.detect.topology import Topology
from regionpredict.machine.draw import size_text
from regionpredict.machine.kernels import KERNELS
from regionpredict.machine.reader import GENERIC, defaults, family_of
from regionpredict.quoting import yaml_text

GUESSED_CLOCK_HZ = 2.0e9
GUESSED_CORE_GBPS = 10.0
GUESSED_SATURATION_CORES = 4


@dataclass(frozen=True, slots=True)
class Figures:
    """The measured figures of a host. Unmeasured figures are None or missing.

    - `turbo_hz`: the clock by the number of active cores of a package, if it varies
    - `core_speed`: the speed relative to the first core, by the first core of each kind
    - `vcpus_per_core`: the number of virtual CPUs that are hardware threads of one physical core
    - `latency`: cycles by level (1, 2, 3; 0 is memory)
    - `bandwidth`: GB/s by level, kernel and cores
    - `operations`: (latency, throughput) in cycles by kind
    - `openmp`: cycles by name and threads; `by_runtime`: the same under another OpenMP runtime
    - `node_traffic_gbps`: the load bandwidth of all packages together, if they share one path
    - `link_gbps`: the load bandwidth of one package from another's memory
    - `capacity`: effective bytes by level for one core, if the host reports an implausible size
    - `latency_factor`: the weight of a latency miss relative to a streaming miss
    - `processor`: the figures of the core by their keys (`machine.processor.FIGURES`)
    - `spread`: half of the 95 % interval divided by the value, by the figure's key in the file
    - `remarks`: suspicious values
    """

    clock_hz: float | None = None
    turbo_hz: Mapping[int, float] = field(default_factory=dict)
    core_speed: Mapping[int, float] = field(default_factory=dict)
    vcpus_per_core: int | None = None
    latency: Mapping[int, float] = field(default_factory=dict)
    bandwidth: Mapping[int, Mapping[str, Mapping[int, float]]] = field(default_factory=dict)
    operations: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    openmp: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    by_runtime: Mapping[str, Mapping[str, Mapping[int, float]]] = field(default_factory=dict)
    node_traffic_gbps: float | None = None
    link_gbps: float | None = None
    capacity: Mapping[int, int] = field(default_factory=dict)
    latency_factor: float | None = None
    processor: Mapping[str, float] = field(default_factory=dict)
    spread: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def write(topology: Topology, name: str, figures: Figures | None = None) -> str:
    """Returns the text of a machine file. Unknown numbers are written as *assumed*."""
    measured = figures or Figures()
    lines = [
        *(f"# {remark}" for remark in (*topology.remarks, *measured.remarks)),
        f"name: {yaml_text(name)}",
        f"description: {yaml_text(_description(topology))}",
        "",
        "sources:",
        f"  host: {yaml_text('read from ' + topology.source)}",
    ]
    if figures is not None:
        lines.append('  calibrate: "regionpredict calibrate, microbenchmarks on this machine"')
    lines += ["", *_node(topology, measured), "", *_processor(topology, measured), "caches:"]
    for place, _ in enumerate(topology.caches):
        lines += _cache(topology, place, measured)
    lines += ["", *_memory(topology, measured)]
    if measured.operations:
        lines += ["", "operations:", "  source: calibrate"]
        for kind, (latency, throughput) in measured.operations.items():
            lines.append(f"  {kind}: {{latency: {latency:.3g}, throughput: {throughput:.3g}}}")
    if measured.openmp:
        lines += ["", "openmp:", "  source: calibrate"]
        lines += [f"  {key}: {_table(curve)}" for key, curve in measured.openmp.items()]
        for runtime, tables in measured.by_runtime.items():
            lines.append(f"  {runtime}:")
            lines += [f"    {key}: {_table(curve)}" for key, curve in tables.items()]
    if measured.latency_factor is not None:
        lines += ["", "density:", "  source: calibrate"]
        lines.append(f"  latency_factor: {measured.latency_factor:.3g}")
    if measured.spread:
        lines += ["", "# Half of the 95 % interval over the value; of a table, over its largest."]
        lines += ["spread:"]
        lines += [f"  {key}: {share:.2g}" for key, share in measured.spread.items()]
    return "\n".join(lines) + "\n"


def _description(topology: Topology) -> str:
    return f"{topology.packages} x {topology.name}, {topology.cores_per_package} cores per package"


def _node(topology: Topology, measured: Figures) -> list[str]:
    if measured.clock_hz is not None:
        clock = f"{{measured: {measured.clock_hz / 1e9:.4g} GHz, source: calibrate}}"
    elif topology.clock_hz is not None:
        clock = f"{topology.clock_hz / 1e9:.4g} GHz"
    else:
        clock = _assumed(f"{GUESSED_CLOCK_HZ / 1e9:g} GHz", "the host does not report its clock")
    lines = [
        "node:",
        "  source: host",
        f"  packages: {topology.packages}",
        f"  cores_per_package: {topology.cores_per_package}",
        f"  numa_domains_per_package: {topology.domains_per_package}",
        f"  threads_per_core: {topology.threads_per_core}",
        f"  clock: {clock}",
    ]
    if measured.turbo_hz:
        clocks = ", ".join(
            f"{count}: {rate / 1e9:.4g} GHz" for count, rate in sorted(measured.turbo_hz.items())
        )
        lines.append(f"  turbo: {{measured: {{{clocks}}}, source: calibrate}}")
    for speeds, evidence, source in (
        (measured.core_speed, "measured", "calibrate"),
        (topology.core_speed or {}, "derived", "host"),
    ):
        if len(speeds) > 1:
            lines += ["  core_speed:", f"    {evidence}: {_table(speeds)}", f"    source: {source}"]
            break
    if measured.vcpus_per_core is not None:
        lines.append(f"  vcpus_per_core: {_measured(measured.vcpus_per_core)}")
    if topology.simd_bits is not None:
        lines.append(f"  simd: {topology.simd_bits}")
    return lines


def _processor(topology: Topology, measured: Figures) -> list[str]:
    """Returns the lines of the section `processor`: the processor family and measured figures. An
    unknown family gives a comment with the identity of the processor.
    """
    lines = _family(topology)
    if measured.processor:
        lines += [] if "processor:" in lines else ["processor:"]
        lines += [f"  {key}: {_measured(value)}" for key, value in measured.processor.items()]
    return [*lines, ""] if lines else []


def _family(topology: Topology) -> list[str]:
    if topology.identity is None:
        return []
    family = family_of(topology.identity)
    if family != GENERIC:
        return ["processor:", f"  family: {family}"]
    number, model = topology.identity.family, topology.identity.model
    vendor = yaml_text(topology.identity.vendor)
    shown = (
        f"vendor {vendor}, model {model}"
        if number < 0
        else (f"vendor {vendor}, family {number}, model {model}")
    )
    return [f"# No processor family has {shown}: its core is assumed."]


def _cache(topology: Topology, place: int, measured: Figures) -> list[str]:
    shape = topology.caches[place]
    size = size_text(shape.size) if shape.size % 1024 == 0 else f"{shape.size} B"
    if shape.level in measured.capacity:
        held = size_text(measured.capacity[shape.level])
        size = f"{{measured: {held}, source: calibrate}}"
    elif not shape.plausible:
        size = _assumed(size, "the host's data are not plausible")
    lines = [
        f"  - level: {place + 1}",
        "    source: host",
        f"    size: {size}",
        f"    cores: {shape.cores}",
    ]
    if shape.line:
        lines.append(f"    line: {shape.line}")
    if shape.ways:
        lines.append(f"    ways: {shape.ways}")
    if shape.level in measured.latency:
        lines.append(f"    latency: {_measured(measured.latency[shape.level])}")
    tables = measured.bandwidth.get(shape.level, {})
    if tables:
        lines += ["    bandwidth:", "      source: calibrate"]
        lines += [
            f"      {kernel}: {_table(tables[kernel])}" for kernel in KERNELS if kernel in tables
        ]
    return lines


def _memory(topology: Topology, measured: Figures) -> list[str]:
    lines = ["memory:"]
    if topology.memory_bytes is not None:
        domains = topology.packages * topology.domains_per_package
        lines.append("  source: host")
        lines.append(f"  size: {topology.memory_bytes / domains / 2**30:.4g} GiB")
    if topology.page_bytes is not None:
        page = size_text(topology.page_bytes)
        lines.append(f"  page: {{measured: {page}, source: host}}")
    if 0 in measured.latency:
        lines.append(f"  latency: {_measured(measured.latency[0])}")
    else:
        common = f"{defaults.MEMORY_LATENCY_NS:g} ns"
        lines.append(f"  latency: {_assumed(common, 'common for current machines')}")
    if measured.node_traffic_gbps is not None:
        traffic = f"{{measured: {measured.node_traffic_gbps:.4g}, source: calibrate}}"
        lines.append(f"  shared_path: {{traffic: {traffic}}}")
    if measured.link_gbps is not None:
        lines.append(f"  link: {_measured(measured.link_gbps)}")
    lines.append("  bandwidth:")
    inside = {
        kernel: {count: rate for count, rate in table.items() if count <= topology.cores_per_domain}
        for kernel, table in measured.bandwidth.get(0, {}).items()
    }
    if inside:
        lines.append("    source: calibrate")
        lines += [
            f"    {kernel}: {_table(inside[kernel])}" for kernel in KERNELS if kernel in inside
        ]
        return lines
    counts = sorted({1, min(GUESSED_SATURATION_CORES, topology.cores_per_domain)})
    guess = _table({count: GUESSED_CORE_GBPS * (0.5 + 0.5 * count) for count in counts})
    lines.append(
        f"    load: {_assumed(guess, 'not measured; regionpredict calibrate measures it')}"
    )
    return lines


def _measured(value: float) -> str:
    return f"{{measured: {value:.4g}, source: calibrate}}"


def _assumed(value: str, reason: str) -> str:
    return f"{{assumed: {value}, source: {yaml_text(reason)}}}"


def _table(curve: Mapping[int, float]) -> str:
    return "{" + ", ".join(f"{count}: {curve[count]:.4g}" for count in sorted(curve)) + "}"
