"""Reads the sections `node`, `caches` and `memory` of a machine file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from regionpredict.machine.model import Cache, CachePolicy, Memory, Node, SharedPath
from regionpredict.machine.quantity import Curve, Quantity
from regionpredict.machine.reader import defaults
from regionpredict.machine.reader.document import Item
from regionpredict.machine.reader.families import Family
from regionpredict.machine.reader.labels import Labels
from regionpredict.machine.reader.section import Section

NODE = (
    "packages",
    "cores_per_package",
    "numa_domains_per_package",
    "threads_per_core",
    "vcpus_per_core",
    "core_speed",
    "clock",
    "turbo",
    "simd",
)
CACHE = (
    "level",
    "size",
    "line",
    "ways",
    "cores",
    "latency",
    "bytes_per_cycle",
    "policy",
    "write_allocate",
    "bandwidth",
)
MEMORY = (
    "latency",
    "remote_latency",
    "bandwidth",
    "peak",
    "shared_path",
    "size",
    "page",
    "link",
    "write_allocate",
)
POLICIES: tuple[CachePolicy, ...] = ("inclusive", "exclusive", "victim", "neither")
LEAST_CLOCK_HZ = 1e6
MOST_CORES = 65536
MOST_CACHE_BYTES = 1 << 40


def read_node(section: Section) -> Node:
    """Reads the section `node`. Raises InputError for inconsistent numbers."""
    node = Node(
        packages=section.quantity("packages", "", whole=True),
        cores_per_package=section.quantity("cores_per_package", "", whole=True),
        domains_per_package=section.optional("numa_domains_per_package", "", 1, "one", whole=True),
        threads_per_core=section.optional("threads_per_core", "", 1, "one", whole=True),
        clock_hz=section.quantity("clock", "Hz"),
        simd_bits=section.optional("simd", "bit", 128, "the minimum of current cores", whole=True),
        turbo=section.labels.curve(section.required("turbo"), "Hz") if "turbo" in section else None,
        core_speed=section.labels.curve(section.required("core_speed"), "")
        if "core_speed" in section else None,
        vcpus_per_core=section.quantity("vcpus_per_core", "", whole=True)
        if "vcpus_per_core" in section else None,
    )  # fmt: skip
    if node.clock_hz.value < LEAST_CLOCK_HZ:
        raise section.required("clock").error(
            f"a clock of {node.clock_hz.value:g} Hz", "write it with its unit, for example 2.4 GHz"
        )
    if node.turbo is not None and node.turbo.x[-1] > node.cores_per_package.value:
        raise section.required("turbo").error(
            f"a clock of {node.turbo.x[-1]} cores, but a package has "
            f"{node.cores_per_package.whole}",
            "give the clock by the number of active cores of a package",
        )
    _check_cores(section, node)
    cores = node.packages.value * node.cores_per_package.value
    if max(cores, node.threads_per_core.value) > MOST_CORES:
        raise section.item.error(
            f"a node of {cores:g} cores", f"give the counts of one node, at most {MOST_CORES} cores"
        )
    if node.cores_per_package.whole % node.domains_per_package.whole:
        raise section.required("numa_domains_per_package").error(
            f"{node.cores_per_package.whole} cores do not divide into "
            f"{node.domains_per_package.whole} NUMA domains",
            "give the domains of one package",
        )
    return node


def _check_cores(section: Section, node: Node) -> None:
    """Raises InputError for core types or virtual CPUs that contradict the number of cores of a
    socket.
    """
    each, speeds, shared = node.cores_per_package.whole, node.core_speed, node.vcpus_per_core
    if speeds is not None and (speeds.x[-1] > each or speeds.y[0] != 1.0):
        raise section.required("core_speed").error(
            f"core speeds from core {speeds.x[-1]} of {each} on, {speeds.y[0]:g} for the first",
            "give speeds relative to the first core: {1: 1, 7: 0.6} for the cores from 7 on",
        )
    if shared is not None and each % shared.whole:
        raise section.required("vcpus_per_core").error(
            f"{each} cores of a package are not whole cores of {shared.whole} virtual CPUs",
            "give the virtual CPUs of one physical core",
        )


def read_caches(
    item: Item, labels: Labels, defaulted: list[str], node: Node, family: Family
) -> tuple[Cache, ...]:
    """Reads the list `caches`, from the core outwards. Missing line sizes and associativities come
    from the processor family.
    """
    if not item.sequence():
        raise item.error("caches must name at least one level")
    caches = tuple(
        _cache(Section(element, CACHE, labels, defaulted), node, family)
        for element in item.elements
    )
    for place, (cache, element) in enumerate(zip(caches, item.elements, strict=True)):
        if cache.level != place + 1:
            raise element.error(
                f"caches[{place}] is level {cache.level}, not {place + 1}",
                "list the caches from the core outwards, beginning at level 1",
            )
    return caches


def _cache(section: Section, node: Node, family: Family) -> Cache:
    level = round(section.labels.number(section.required("level"), ""))
    shared = section.quantity("cores", "cores", whole=True)
    if shared.value > node.cores_per_package.value:
        raise section.required("cores").error(
            f"{shared.whole} cores share {section.item.key}, but a package has "
            f"{node.cores_per_package.whole}",
            "give the cores that share one instance",
        )
    bandwidth = {
        kernel: replace(curve, beyond="proportional")
        for kernel, curve in section.bandwidth().items()
    }
    policy = section.one_of("policy", POLICIES, "neither")
    size = section.quantity("size", "B", whole=True)
    if size.value > MOST_CACHE_BYTES:
        raise section.required("size").error(
            f"a cache of {size.value / 2**30:.3g} GiB",
            "write its size with its unit, for example 32 KiB",
        )
    return Cache(
        level=level,
        size_bytes=size,
        line_bytes=section.of_family("line", "B", family.line_bytes),
        associativity=section.of_family("ways", "ways", family.ways[level])
        if level in family.ways
        else section.optional("ways", "ways", defaults.CACHE_WAYS, "common"),
        shared_by_cores=shared,
        latency_cycles=section.optional(
            "latency", "cycles", defaults.LEVEL_LATENCY.get(level, 60.0), "typical of its level"
        ),
        bytes_per_cycle=_bytes_per_cycle(section, level, bandwidth, node),
        policy=next(known for known in POLICIES if known == policy),
        write_allocate=section.one_of("write_allocate", ("true", "false"), "true") == "true",
        bandwidth=bandwidth,
    )


def _bytes_per_cycle(
    section: Section, level: int, bandwidth: dict[str, Curve], node: Node
) -> Quantity:
    """Returns the bytes per cycle that one core reads from a cache: as given, from the measured
    load bandwidth, or typical of the level.
    """
    if "bytes_per_cycle" in section or "load" not in bandwidth:
        typical = defaults.LEVEL_BYTES_PER_CYCLE.get(level, 8.0)
        return section.optional("bytes_per_cycle", "B/cycle", typical, "typical of its level")
    load = bandwidth["load"]
    return Quantity(
        load.y[0] / node.clock_hz.value,
        "B/cycle",
        "assumed" if load.evidence == "assumed" else "derived",
        f"load on one core / clock: {load.source}",
    )


def read_memory(section: Section, node: Node, family: Family) -> Memory:
    """Reads the section `memory`. Raises InputError if it has no bandwidth."""
    section.required("bandwidth")
    bandwidth = section.bandwidth()
    if not bandwidth:
        raise section.required("bandwidth").error(
            "memory.bandwidth names no kernel", "give at least load: {1: ..., 4: ...}"
        )
    per_domain = node.cores_per_package.whole // node.domains_per_package.whole
    for kernel, curve in bandwidth.items():
        if curve.x[-1] > per_domain:
            raise (
                section.required("bandwidth")
                .entries[kernel]
                .error(
                    f"memory.bandwidth.{kernel} goes to {curve.x[-1]} cores, but a NUMA domain "
                    f"has {per_domain}",
                    "give the bandwidth inside one domain",
                )
            )
    nanoseconds = defaults.MEMORY_LATENCY_NS
    latency = section.optional(
        "latency",
        "cycles",
        nanoseconds * node.clock_hz.value / 1e9,
        f"{nanoseconds:g} ns, common",
    )
    shared = None
    if "shared_path" in section:
        path = section.inner("shared_path", ("traffic",))
        shared = SharedPath(path.quantity("traffic", "B/s", plain=1e9))
    peak = section.quantity("peak", "B/s", plain=1e9) if "peak" in section else None
    return Memory(
        latency_cycles=latency,
        remote_latency_cycles=_remote_latency(section, node, latency, shared),
        bandwidth=bandwidth,
        peak_bytes_per_s=peak,
        shared_path=shared,
        page_bytes=section.of_family("page", "B", family.page_bytes),
        size_bytes=section.quantity("size", "B") if "size" in section else None,
        write_allocate=_write_allocate(section),
        link_bytes_per_s=_link(section, node, family, bandwidth, shared),
    )


def _link(
    section: Section, node: Node, family: Family, bandwidth: Mapping[str, Curve],
    shared: SharedPath | None,
) -> Quantity | None:  # fmt: skip
    """Returns the bandwidth from another socket's memory: as given, typical of the family, or
    assumed.
    """
    if "link" in section:
        return section.quantity("link", "B/s", plain=1e9)
    if shared is not None or node.packages.whole == 1:
        return None
    if family.link_bytes_per_s is not None:
        return family.link_bytes_per_s
    section.record_default("link")
    own = node.domains_per_package.value * max(curve.peak for curve in bandwidth.values())
    share = defaults.LINK_SHARE
    return defaults.assumed(share * own, "B/s", f"{share:g} of a package's local read bandwidth")


def _write_allocate(section: Section) -> Curve | None:
    if "write_allocate" not in section:
        return None
    curve = section.labels.curve(section.required("write_allocate"), "", low=-1e-12)
    if max(curve.y) > 1.0:
        raise section.required("write_allocate").error(
            f"{max(curve.y):g} of the lines that a store misses", "give shares from 0 to 1"
        )
    return curve


def _remote_latency(
    section: Section, node: Node, latency: Quantity, shared: SharedPath | None
) -> Quantity:
    if "remote_latency" not in section and (shared is not None or node.packages.whole == 1):
        return Quantity(
            latency.value, "cycles", latency.evidence, f"one path for all: {latency.source}"
        )
    factor = defaults.REMOTE_LATENCY_FACTOR
    return section.optional(
        "remote_latency", "cycles", latency.value * factor, f"{factor:g} times the local one"
    )
