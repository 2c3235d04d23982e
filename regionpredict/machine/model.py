"""The machine as frozen values: node, caches, memory, operations, OpenMP overheads, weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from regionpredict.machine.corrections import Corrections
from regionpredict.machine.kernels import KERNELS
from regionpredict.machine.processor import Processor
from regionpredict.machine.quantity import Curve, Quantity

CachePolicy = Literal["inclusive", "exclusive", "victim", "neither"]
"""inclusive: holds whatever the levels above hold; exclusive: holds none of it; victim: filled
only by lines that the level above drops; neither: not enforced either way."""

Binding = Literal["close", "spread", "caches"]
"""How a team lies on the node. `close` fills one domain after the other, and `spread` uses all
cores evenly, as in OMP_PROC_BIND. `caches` takes one core per second-level cache first."""

BINDINGS: tuple[Binding, ...] = ("close", "spread", "caches")
RUNTIMES = ("gcc", "llvm")
"""OpenMP's run-time systems whose costs a machine file may tell apart: libgomp, and LLVM's libomp
with Intel's, which is the same."""

ACCESS_KINDS = ("read", "write")
ACCESS_PATTERNS = ("streaming", "latency", "irregular")


@dataclass(frozen=True, slots=True)
class Node:
    """The shape of the node; every field a labelled count, `clock_hz` in Hz, `simd_bits` in bit.

    `turbo` is the clock in Hz by the cores of a package that are at work, None where it is always
    `clock_hz`.
    """

    packages: Quantity
    cores_per_package: Quantity
    domains_per_package: Quantity
    threads_per_core: Quantity
    clock_hz: Quantity
    simd_bits: Quantity
    turbo: Curve | None = None


@dataclass(frozen=True, slots=True)
class Cache:
    """One level of cache; sizes are of one instance.

    `size_bytes`, `line_bytes` in B; `associativity` in ways; `shared_by_cores` cores to an
    instance; `latency_cycles` load-to-use; `bytes_per_cycle` what one core reads from it.
    `bandwidth` maps a kernel's name to B/s by number of cores, where it was measured.
    """

    level: int
    size_bytes: Quantity
    line_bytes: Quantity
    associativity: Quantity
    shared_by_cores: Quantity
    latency_cycles: Quantity
    bytes_per_cycle: Quantity
    policy: CachePolicy
    write_allocate: bool
    bandwidth: Mapping[str, Curve]


@dataclass(frozen=True, slots=True)
class SharedPath:
    """A memory path that all packages share (front-side bus machines: one chipset).

    `traffic_bytes_per_s` is the ceiling of the whole node, write-allocate and write-back counted.
    """

    traffic_bytes_per_s: Quantity


@dataclass(frozen=True, slots=True)
class Memory:
    """Main memory of one NUMA domain.

    `bandwidth` maps a kernel's name (`machine.kernels.KERNELS`) to B/s, as the program counts
    them, by number of cores inside one domain. `peak_bytes_per_s` is the theoretical peak of one
    domain, `shared_path` the ceiling of a node whose packages share one path (None: each domain
    has its own), `remote_latency_cycles` the latency from another package. `page_bytes` is what the
    system maps at once, `size_bytes` how much memory one domain has (None: not told, taken to hold
    everything). `write_allocate` is the share of the lines that a store misses that are read first,
    by cores inside one domain, where it changes with them (None: as the processor's).
    `link_bytes_per_s` is what the cores of one package read from the memory of another at most, in
    one direction between two packages (None: one package, or one path for all).
    """

    latency_cycles: Quantity
    remote_latency_cycles: Quantity
    bandwidth: Mapping[str, Curve]
    peak_bytes_per_s: Quantity | None
    shared_path: SharedPath | None
    page_bytes: Quantity
    size_bytes: Quantity | None = None
    write_allocate: Curve | None = None
    link_bytes_per_s: Quantity | None = None

    def curve(self, kernel: str) -> Curve:
        """B/s of `kernel` by cores in a domain: as measured, or derived from another kernel.

        The derivation takes the same traffic, write-allocate counted, for both kernels.
        """
        known = self.bandwidth.get(kernel)
        if known is not None:
            return known
        name = next(name for name in KERNELS if name in self.bandwidth)
        factor = KERNELS[name].traffic_factor / KERNELS[kernel].traffic_factor
        return self.bandwidth[name].scaled(factor, f"the traffic of {name}, as {kernel} counts it")


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of operation: cycles until its result, and cycles between two independent ones."""

    latency_cycles: Quantity
    throughput_cycles: Quantity


@dataclass(frozen=True, slots=True)
class Overheads:
    """OpenMP's costs in cycles by number of threads, bound close.

    `fork_join`: an empty parallel region. `barrier`: one barrier. `reduction`: what a scalar
    reduction adds to a region. `dynamic_chunk`, `atomic`, `critical`: between two of them on one
    thread while all threads do nothing else (chunks of `schedule(dynamic)`, updates of one
    variable, entries of one critical section). `first_touch`: the first write to 4 KiB of new
    memory, while all threads do so, of no more than a sixteenth of the last cache, where the system
    takes pages that were in use before; `first_touch_beyond`: the same of twice that cache.
    `line_transfer`: to read a cache line that another core wrote
    last and to write one's own again, for as many lines in a row as a first cache holds;
    `bulk_transfer`: for each line beyond these. `fork_join` is met after a little serial work.
    `team_change`: what a team costs beyond `fork_join` where the one before had another size, by
    the larger of the two. `first_team`: what the first team of a program costs beyond `fork_join`,
    since its threads are made. `far_line`: a line's way from a core of another package, which each
    thread there adds to a construct whose table ends inside one package.
    """

    fork_join: Curve
    barrier: Curve
    reduction: Curve
    dynamic_chunk: Curve
    atomic: Curve
    critical: Curve
    first_touch: Curve
    first_touch_beyond: Curve
    line_transfer: Curve
    bulk_transfer: Curve
    team_change: Curve
    first_team: Curve
    far_line: Quantity


@dataclass(frozen=True, slots=True)
class DensityWeights:
    """The weights of the density model (Chatzopoulos 2012, sec. 4.2.1 and 4.2.2), in cycles.

    `operation` by kind and `hit` go into the good score; `miss`, by (``read`` or ``write``,
    ``streaming``, ``latency`` or ``irregular``), into the bad score. `thresholds` are the scores
    at which one more package is hinted, one fewer than the packages; empty: equal areas.
    """

    operation: Mapping[str, Quantity]
    hit: Quantity
    miss: Mapping[tuple[str, str], Quantity]
    latency_factor: Quantity
    thresholds: tuple[Quantity, ...] = ()


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine model: what `load` reads from one YAML file.

    `sha256` is of the file's bytes, `path` where it was read, `sources` the file's own table.
    `defaulted` names the keys that the file left out and a default filled in. `corrections` are
    what measurements of regions made of the models; without any, every factor is 1.
    `overheads` are those of the OpenMP run-time system `runtime` (None: of the one that the file
    was measured with, or none in particular), `by_runtime` those that the file tells apart.
    `binding` is how teams lie on the node: a choice of the run, not of the file. `spread` tells
    how sure measured figures are: half of the 95 % interval over the value, by the figure's key.
    """

    name: str
    description: str
    path: str
    sha256: str
    node: Node
    processor: Processor
    caches: tuple[Cache, ...]
    memory: Memory
    operations: Mapping[str, Operation]
    overheads: Overheads
    density: DensityWeights
    sources: Mapping[str, str]
    defaulted: tuple[str, ...]
    corrections: Corrections = field(default_factory=Corrections)
    by_runtime: Mapping[str, Overheads] = field(default_factory=dict)
    spread: Mapping[str, float] = field(default_factory=dict)
    runtime: str | None = None
    binding: Binding = "close"

    def as_run(self, *, binding: Binding = "close", runtime: str | None = None) -> Machine:
        """The machine as a program finds it that is run so: its teams bound this way, under that
        run-time system, whose own costs count where the file has them.
        """
        costs = self.overheads if runtime is None else self.by_runtime.get(runtime, self.overheads)
        return replace(self, binding=binding, runtime=runtime, overheads=costs)

    @property
    def packages(self) -> int:
        """Packages (sockets) of the node."""
        return self.node.packages.whole

    @property
    def cores_per_package(self) -> int:
        """Cores of one package."""
        return self.node.cores_per_package.whole

    @property
    def domains_per_package(self) -> int:
        """NUMA domains of one package."""
        return self.node.domains_per_package.whole

    @property
    def cores_per_domain(self) -> int:
        """Cores of one NUMA domain."""
        return self.cores_per_package // self.domains_per_package

    @property
    def domains(self) -> int:
        """NUMA domains of the node."""
        return self.packages * self.domains_per_package

    @property
    def cores(self) -> int:
        """Cores of the node."""
        return self.packages * self.cores_per_package

    @property
    def threads_per_core(self) -> int:
        """Hardware threads of one core."""
        return self.node.threads_per_core.whole

    @property
    def hardware_threads(self) -> int:
        """Hardware threads of the node."""
        return self.cores * self.threads_per_core

    @property
    def cores_filled_first(self) -> int:
        """Cores that teams fill before they take another package; all where they are spread."""
        over_all = self.binding == "spread" or (
            self.binding == "caches" and self.cores_per_second_cache > 1
        )
        return self.cores if over_all else self.cores_per_package

    @property
    def cores_per_second_cache(self) -> int:
        """Cores that share a second-level cache, 1 where there is none."""
        second = (cache for cache in self.caches if cache.level == 2)
        return next((cache.shared_by_cores.whole for cache in second), 1)

    @property
    def clock_hz(self) -> float:
        """Clock in Hz."""
        return self.node.clock_hz.value

    def pace(self, cores: float) -> float:
        """How many times `clock_hz` a core's clock is where `cores` of its package are at work."""
        turbo = self.node.turbo
        return 1.0 if turbo is None else turbo.at(cores) / self.clock_hz

    @property
    def simd_bits(self) -> int:
        """Width of a vector register in bits."""
        return self.node.simd_bits.whole

    @property
    def largest_cache(self) -> Cache:
        """The level with the largest instance (the only one the density model knows)."""
        return max(self.caches, key=lambda cache: cache.size_bytes.value)

    @property
    def largest_cache_bytes(self) -> int:
        """Bytes of one instance of the largest cache."""
        return self.largest_cache.size_bytes.whole

    @property
    def line_bytes(self) -> int:
        """Bytes of a cache line of the largest cache: what memory moves at once."""
        return self.largest_cache.line_bytes.whole

    def write_allocate(self, cores: float) -> float:
        """The share of the lines that a store misses that are read first, `cores` of a domain at
        work.
        """
        by_cores = self.memory.write_allocate
        return self.processor.write_allocate.value if by_cores is None else by_cores.at(cores)

    @property
    def page_bytes(self) -> int:
        """Bytes of a page of memory, as the system maps it."""
        return self.memory.page_bytes.whole

    def operation(self, kind: str) -> Operation:
        """The operation of that kind; an unknown mathematical function costs a `call`."""
        return self.operations.get(kind) or self.operations["call"]
