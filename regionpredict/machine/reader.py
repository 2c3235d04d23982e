"""From the YAML tree to a `Machine`: the schema, section by section."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from regionpredict.machine import defaults, density
from regionpredict.machine.document import Item, did_you_mean, parse
from regionpredict.machine.kernels import KERNELS
from regionpredict.machine.labels import LABELS, Labels
from regionpredict.machine.model import (
    ACCESS_KINDS,
    ACCESS_PATTERNS,
    Cache,
    CachePolicy,
    DensityWeights,
    Machine,
    Memory,
    Node,
    Operation,
    Overheads,
    SharedPath,
)
from regionpredict.machine.quantity import Curve, Quantity

SECTIONS = ("node", "caches", "memory", "operations", "openmp", "density")
TOP = ("name", "description", "sources", *LABELS, *SECTIONS)
NODE = (
    "packages",
    "cores_per_package",
    "numa_domains_per_package",
    "threads_per_core",
    "clock",
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
MEMORY = ("latency", "remote_latency", "bandwidth", "peak", "shared_path")
OPENMP = ("fork_join", "barrier", "reduction", "dynamic_chunk", "atomic", "critical")
DENSITY = ("operation", "hit", "miss", "latency_factor")
POLICIES: tuple[CachePolicy, ...] = ("inclusive", "exclusive", "victim", "neither")


def read(text: str, path: str) -> Machine:
    """Read the text of a machine file; `path` is how errors name it.

    Raises InputError with file, line and key.
    """
    return _Reader(text, path).machine()


class _Reader:
    """Reads one file; keeps the names of the keys that a default filled in."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.top = parse(text, path)
        self.defaulted: list[str] = []

    def machine(self) -> Machine:
        top = self.top.mapping(TOP)
        sources = {}
        if "sources" in top:
            sources = {
                name: item.scalar()
                for name, item in top["sources"].mapping(top["sources"].entries).items()
            }
        labels = Labels(sources).within(top)
        name = self.required(self.top, "name").scalar()
        node = self.node(self.required(self.top, "node"), labels)
        labels = Labels(
            sources, labels.source, labels.evidence, cycles_per_ns=node.clock_hz.value / 1e9
        )
        caches = self.caches(self.required(self.top, "caches"), labels, node)
        memory = self.memory(self.required(self.top, "memory"), labels, node)
        operations = self.operations(top.get("operations"), labels)
        return Machine(
            name=name,
            description=top["description"].scalar() if "description" in top else name,
            path=self.top.path,
            sha256=hashlib.sha256(self.text.encode()).hexdigest(),
            node=node,
            caches=caches,
            memory=memory,
            operations=operations,
            overheads=self.overheads(top.get("openmp"), labels, node, caches, memory),
            density=self.density(top.get("density"), labels, node, caches, memory, operations),
            sources=sources,
            defaulted=tuple(self.defaulted),
        )

    def required(self, section: Item, key: str) -> Item:
        """The entry, or an InputError that says it is missing."""
        item = section.entries.get(key)
        if item is None:
            raise section.error(
                f"'{key}' is missing in {section.where}", "docs/machines.md shows how it is written"
            )
        return item

    def default(self, key: str, value: float, unit: str, why: str) -> Quantity:
        """A value the file leaves out, remembered as such."""
        self.defaulted.append(key)
        return defaults.assumed(value, unit, why)

    def node(self, item: Item, labels: Labels) -> Node:
        entries = item.mapping((*NODE, *LABELS))
        labels = labels.within(entries)

        def count(key: str, default: int) -> Quantity:
            if key in entries:
                return labels.quantity(entries[key], "", whole=True)
            return self.default(f"node.{key}", default, "", "one")

        self.required(item, "packages")
        self.required(item, "cores_per_package")
        node = Node(
            packages=count("packages", 1),
            cores_per_package=count("cores_per_package", 1),
            domains_per_package=count("numa_domains_per_package", 1),
            threads_per_core=count("threads_per_core", 1),
            clock_hz=labels.quantity(self.required(item, "clock"), "Hz"),
            simd_bits=(
                labels.quantity(entries["simd"], "bit", whole=True)
                if "simd" in entries
                else self.default("node.simd", 128, "bit", "the least of any present core")
            ),
        )
        if node.clock_hz.value < 1e6:
            raise entries["clock"].error(
                f"a clock of {node.clock_hz.value:g} Hz", "write it with its unit, as 2.4 GHz"
            )
        if node.cores_per_package.whole % node.domains_per_package.whole:
            raise entries["numa_domains_per_package"].error(
                f"{node.cores_per_package.whole} cores do not divide into "
                f"{node.domains_per_package.whole} NUMA domains",
                "give the domains of one package",
            )
        return node

    def caches(self, item: Item, labels: Labels, node: Node) -> tuple[Cache, ...]:
        if not item.sequence():
            raise item.error("caches must name at least one level")
        caches = tuple(self.cache(element, labels, node) for element in item.elements)
        for upper, lower, element in zip(caches, caches[1:], item.elements[1:], strict=False):
            if lower.level != upper.level + 1:
                raise element.error(
                    f"level {lower.level} comes after level {upper.level} in caches",
                    "list the caches from the core outwards",
                )
        if caches[0].level != 1:
            raise item.elements[0].error("the first of caches must be level 1")
        return caches

    def cache(self, item: Item, labels: Labels, node: Node) -> Cache:
        entries = item.mapping((*CACHE, *LABELS))
        labels = labels.within(entries)
        at = item.key
        level_item = self.required(item, "level")
        level = round(labels.number(level_item, ""))
        shared = labels.quantity(self.required(item, "cores"), "cores", whole=True)
        if shared.value > node.cores_per_package.value:
            raise entries["cores"].error(
                f"{shared.whole} cores share {at}, but a package has "
                f"{node.cores_per_package.whole}",
                "give the cores that share one instance",
            )

        def optional(key: str, value: float, unit: str, why: str) -> Quantity:
            if key in entries:
                return labels.quantity(entries[key], unit)
            return self.default(f"{at}.{key}", value, unit, why)

        bandwidth = self.bandwidth(entries.get("bandwidth"), labels)
        width = defaults.LEVEL_BYTES_PER_CYCLE.get(level, 8.0)
        if "bytes_per_cycle" not in entries and "load" in bandwidth:
            load = bandwidth["load"]
            per_cycle = Quantity(
                load.y[0] / node.clock_hz.value,
                "B/cycle",
                "assumed" if load.evidence == "assumed" else "derived",
                f"load on one core / clock: {load.source}",
            )
        else:
            per_cycle = optional("bytes_per_cycle", width, "B/cycle", "typical of that level")
        policy = self.choice(entries.get("policy"), POLICIES, "neither")
        allocate = self.choice(entries.get("write_allocate"), ("true", "false"), "true")
        return Cache(
            level=level,
            size_bytes=labels.quantity(self.required(item, "size"), "B", whole=True),
            line_bytes=optional("line", defaults.LINE_BYTES, "B", "the line of most processors"),
            associativity=optional("ways", defaults.CACHE_WAYS, "ways", "common"),
            shared_by_cores=shared,
            latency_cycles=optional(
                "latency", defaults.LEVEL_LATENCY.get(level, 60.0), "cycles", "typical of its level"
            ),
            bytes_per_cycle=per_cycle,
            policy=next(known for known in POLICIES if known == policy),
            write_allocate=allocate == "true",
            bandwidth=bandwidth,
        )

    def choice(self, item: Item | None, known: tuple[str, ...], default: str) -> str:
        """One of a few words."""
        if item is None:
            return default
        text = item.scalar()
        if text not in known:
            raise item.error(f"'{text}' is no {item.where}", did_you_mean(text, known))
        return text

    def bandwidth(self, item: Item | None, labels: Labels) -> dict[str, Curve]:
        """Tables in GB/s by cores, for each kernel."""
        if item is None:
            return {}
        entries = item.mapping((*KERNELS, *LABELS))
        labels = labels.within(entries)
        return {
            kernel: labels.curve(entries[kernel], "B/s", plain=1e9)
            for kernel in KERNELS
            if kernel in entries
        }

    def memory(self, item: Item, labels: Labels, node: Node) -> Memory:
        entries = item.mapping((*MEMORY, *LABELS))
        labels = labels.within(entries)
        bandwidth = self.bandwidth(self.required(item, "bandwidth"), labels)
        if not bandwidth:
            raise entries["bandwidth"].error(
                "memory.bandwidth names no kernel", "give at least load: {1: ..., 4: ...}"
            )
        per_domain = node.cores_per_package.whole // node.domains_per_package.whole
        for kernel, curve in bandwidth.items():
            if curve.x[-1] > per_domain:
                raise (
                    entries["bandwidth"]
                    .entries[kernel]
                    .error(
                        f"memory.bandwidth.{kernel} goes to {curve.x[-1]} cores, but a NUMA domain "
                        f"has {per_domain}",
                        "give the bandwidth inside one domain",
                    )
                )
        latency = (
            labels.quantity(entries["latency"], "cycles")
            if "latency" in entries
            else self.default(
                "memory.latency",
                defaults.MEMORY_LATENCY_NS * node.clock_hz.value / 1e9,
                "cycles",
                f"{defaults.MEMORY_LATENCY_NS:g} ns",
            )
        )
        shared = None
        if "shared_path" in entries:
            path = entries["shared_path"].mapping(("traffic", *LABELS))
            shared = SharedPath(
                labels.within(path).quantity(
                    self.required(entries["shared_path"], "traffic"), "B/s", plain=1e9
                )
            )
        if "remote_latency" in entries:
            remote = labels.quantity(entries["remote_latency"], "cycles")
        elif shared is not None or node.packages.whole == 1:
            remote = Quantity(
                latency.value, "cycles", latency.evidence, f"one path for all: {latency.source}"
            )
        else:
            factor = defaults.REMOTE_LATENCY_FACTOR
            remote = self.default(
                "memory.remote_latency",
                latency.value * factor,
                "cycles",
                f"{factor:g} times the local one",
            )
        peak = None
        if "peak" in entries:
            peak = labels.quantity(entries["peak"], "B/s", plain=1e9)
        return Memory(latency, remote, bandwidth, peak, shared)

    def operations(self, item: Item | None, labels: Labels) -> dict[str, Operation]:
        known: dict[str, Operation] = {}
        kinds = defaults.OPERATION_CYCLES
        if item is not None:
            entries = item.mapping((*kinds, *LABELS))
            labels = labels.within(entries)
            for kind in kinds:
                if kind in entries:
                    known[kind] = self.operation(kind, entries[kind], labels)
        missing = [kind for kind in kinds if kind not in known]
        self.defaulted.extend(f"operations.{kind}" for kind in missing)
        return {kind: known.get(kind) or defaults.operation(kind, known) for kind in kinds}

    def operation(self, kind: str, item: Item, labels: Labels) -> Operation:
        entries = item.mapping(("latency", "throughput", *LABELS))
        labels = labels.within(entries)
        latency = labels.quantity(self.required(item, "latency"), "cycles")
        if "throughput" in entries:
            return Operation(latency, labels.quantity(entries["throughput"], "cycles"))
        typical = defaults.OPERATION_CYCLES[kind]
        throughput = min(latency.value, latency.value * typical[1] / typical[0])
        return Operation(
            latency,
            self.default(
                f"operations.{kind}.throughput",
                throughput,
                "cycles",
                "the latency, in the proportion of present cores",
            ),
        )

    def overheads(
        self,
        item: Item | None,
        labels: Labels,
        node: Node,
        caches: tuple[Cache, ...],
        memory: Memory,
    ) -> Overheads:
        given: dict[str, Curve] = {}
        if item is not None:
            entries = item.mapping((*OPENMP, *LABELS))
            labels = labels.within(entries)
            for key in OPENMP:
                if key in entries:
                    curve = labels.curve(entries[key], "cycles")
                    given[key] = Curve(
                        curve.x, curve.y, "cycles", curve.evidence, curve.source, "proportional"
                    )
        self.defaulted.extend(f"openmp.{key}" for key in OPENMP if key not in given)
        t = defaults.line_transfer_cycles(node, caches, memory.latency_cycles.value)
        return defaults.overheads(node, t, given)

    def density(
        self,
        item: Item | None,
        labels: Labels,
        node: Node,
        caches: tuple[Cache, ...],
        memory: Memory,
        operations: Mapping[str, Operation],
    ) -> DensityWeights:
        entries: Mapping[str, Item] = {}
        if item is not None:
            entries = item.mapping((*DENSITY, *LABELS))
            labels = labels.within(entries)
        if "latency_factor" in entries:
            factor = labels.quantity(entries["latency_factor"], "")
        else:
            factor = self.default(
                "density.latency_factor", defaults.LATENCY_FACTOR, "", "as measured on Clovertown"
            )
        derived = density.weights(node, caches, memory, operations, factor)
        operation, miss = dict(derived.operation), dict(derived.miss)
        if "operation" in entries:
            own = entries["operation"].mapping((*defaults.OPERATION_CYCLES, *LABELS))
            inner = labels.within(own)
            operation.update({k: inner.quantity(own[k], "cycles") for k in operation if k in own})
        if "miss" in entries:
            names = {f"{k}_{p}": (k, p) for k in ACCESS_KINDS for p in ACCESS_PATTERNS}
            own = entries["miss"].mapping((*names, *LABELS))
            inner = labels.within(own)
            miss.update(
                {
                    pair: inner.quantity(own[name], "cycles")
                    for name, pair in names.items()
                    if name in own
                }
            )
        hit = labels.quantity(entries["hit"], "cycles") if "hit" in entries else derived.hit
        return DensityWeights(operation, hit, miss, factor)
