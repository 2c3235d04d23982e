"""The machine as frozen values: node, caches, memory, operations, OpenMP overheads and weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

from regionpredict.machine.corrections import Corrections
from regionpredict.machine.kernels import KERNELS
from regionpredict.machine.processor import Processor
from regionpredict.machine.quantity import Curve, Quantity

CachePolicy = Literal["inclusive", "exclusive", "victim", "neither"]
"""inclusive: contains everything in the previous levels. exclusive: contains nothing of it. victim:
filled only with lines evicted from the previous level. neither: neither is guaranteed.
"""

BINDINGS = ("close", "spread", "caches")
"""The placement of threads on the node. `close` fills one domain after the other, and `spread` uses
all cores evenly, as in OMP_PROC_BIND. `caches` starts with one core of each second-level cache. Any
other binding is the text of OMP_PLACES (`machine.places`), whose places are used in order.
"""

RUNTIMES = ("gcc", "llvm")
"""OpenMP runtimes with separate costs in a machine file: libgomp, and LLVM's libomp, which is also
Intel's.
"""

ACCESS_KINDS = ("read", "write")
ACCESS_PATTERNS = ("streaming", "latency", "irregular")


@dataclass(frozen=True, slots=True)
class Node:
    """The node. Every field is a number with its origin. `clock_hz` is in Hz, and `simd_bits` in
    bits.

    `turbo` is the clock in Hz by the number of active cores of a package, or None if it is always
    `clock_hz`. `core_speed` is the speed relative to the first core, in steps that start at these
    cores of a package. It is None if all cores are equal. `vcpus_per_core` cores are the hardware
    threads of one physical core. It is None if cores are physical.
    """

    packages: Quantity
    cores_per_package: Quantity
    domains_per_package: Quantity
    threads_per_core: Quantity
    clock_hz: Quantity
    simd_bits: Quantity
    turbo: Curve | None = None
    core_speed: Curve | None = None
    vcpus_per_core: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Cache:
    """A level of cache. Sizes are per instance.

    `size_bytes` and `line_bytes` are in B, and `associativity` in ways. `shared_by_cores` is the
    number of cores per instance, `latency_cycles` is load-to-use, and `bytes_per_cycle` is the read
    bandwidth of one core. `bandwidth` maps a kernel's name to B/s by number of cores, if measured.
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
    """A memory path shared by all packages (front-side bus machines with one chipset).

    `traffic_bytes_per_s` is the limit of the whole node, including write-allocates and write-backs.
    """

    traffic_bytes_per_s: Quantity


@dataclass(frozen=True, slots=True)
class Memory:
    """Main memory of one NUMA domain.

    `bandwidth` maps a kernel's name (`machine.kernels.KERNELS`) to B/s of the program's accesses,
    by number of cores in one domain. `peak_bytes_per_s` is the theoretical peak of one domain.
    `shared_path` is the limit of a node whose packages share one path (None if each domain has its
    own). `remote_latency_cycles` is the latency from another package. `page_bytes` is the page size
    of the system. `size_bytes` is the memory of one domain (None if unknown, and assumed to be
    sufficient). `write_allocate` is the share of missed stores whose lines are read first, by
    number of cores in one domain, if it varies (None for the processor's value). `link_bytes_per_s`
    is the maximum bandwidth of one package's cores from the memory of another, in one direction
    between two packages (None for one package, or one path for all).
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
        """The B/s of `kernel` by number of cores in a domain, as measured or derived from another
        kernel.

        The derivation assumes equal traffic, including write-allocate, for both kernels.
        """
        known = self.bandwidth.get(kernel)
        if known is not None:
            return known
        name = next(name for name in KERNELS if name in self.bandwidth)
        factor = KERNELS[name].traffic_factor / KERNELS[kernel].traffic_factor
        return self.bandwidth[name].scaled(factor, f"the traffic of {name}, as {kernel} counts it")


@dataclass(frozen=True, slots=True)
class Operation:
    """A kind of operation: the cycles until its result, and the cycles between two independent
    operations.
    """

    latency_cycles: Quantity
    throughput_cycles: Quantity


@dataclass(frozen=True, slots=True)
class Overheads:
    """OpenMP's costs in cycles by number of threads, with close binding.

    `fork_join`: an empty parallel region. `barrier`: one barrier. `reduction`: the additional cost
    of a scalar reduction in a region. `dynamic_chunk`, `atomic`, `critical`: the time between two
    of them on one thread while all threads do nothing else. They are chunks of `schedule(dynamic)`,
    updates of one variable, and entries of one critical section. `first_touch`: the first write to
    4 KiB of new memory by all threads at once, for at most a sixteenth of the last cache, where the
    system reuses recent pages. `first_touch_beyond`: the same for twice that cache.
    `line_transfer`: the time to read a cache line that another core wrote last, and to write one's
    own again, for as many consecutive lines as fit the first cache. `bulk_transfer`: for each
    further line. `fork_join` is measured after a little serial work. `team_change`: the additional
    cost of a parallel region if the previous one had another number of threads, by the larger of
    the two. `first_team`: the additional cost of a program's first parallel region, which creates
    the threads. `far_line`: the transfer of a line from a core of another package. Each thread
    there adds it to a construct whose table is for one package.
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

    `operation` (by kind) and `hit` add to the good score. `miss` adds to the bad score. Its keys
    are ``read`` or ``write`` with ``streaming``, ``latency`` or ``irregular``. `thresholds` are the
    scores above which another package is hinted. Their number is one less than the number of
    packages. If empty, all areas are equal.
    """

    operation: Mapping[str, Quantity]
    hit: Quantity
    miss: Mapping[tuple[str, str], Quantity]
    latency_factor: Quantity
    thresholds: tuple[Quantity, ...] = ()


class NodeShape(NamedTuple):
    """The numbers that determine where threads are placed on a machine.

    A package has `per` domains of `own` cores each. `joined` cores share a second-level cache, and
    `last` cores a last-level cache. `hardware` is the number of threads per core.
    """

    packages: int
    per: int
    own: int
    hardware: int
    joined: int
    last: int
    binding: str

    @property
    def cores(self) -> int:
        """The number of cores of the node."""
        return self.packages * self.per * self.own

    @property
    def in_order(self) -> bool:
        """Whether the order of cores is the same for all numbers of threads, and differs from their
        numbering.
        """
        return self.binding not in ("close", "spread")


@dataclass(frozen=True)
class Machine:
    """A machine model that `load` has read from a YAML file.

    `sha256` is the hash of the file's bytes, `path` its path, and `sources` its table of sources.
    `defaulted` are the keys that are missing in the file and have default values. `corrections` are
    factors from measured regions. Without them, every factor is 1. `overheads` are those of the
    OpenMP runtime `runtime` (None for the measured runtime). `by_runtime` are those of specific
    runtimes. `binding` is the placement of threads. It is an option of the run and not part of the
    file. `spread` is the uncertainty of measured figures: half of the 95 % interval divided by the
    value, by the figure's key.
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
    binding: str = "close"

    def __hash__(self) -> int:
        """The hash of the model's file and run. The model's tables cannot be hashed."""
        return hash((self.name, self.sha256, self.packages, self.runtime, self.binding))

    def as_run(self, *, binding: str = "close", runtime: str | None = None) -> Machine:
        """The machine for this thread binding and this OpenMP runtime. If the file has costs for
        this runtime, they are used.
        """
        costs = self.overheads if runtime is None else self.by_runtime.get(runtime, self.overheads)
        return replace(self, binding=binding, runtime=runtime, overheads=costs)

    @cached_property
    def packages(self) -> int:
        """The number of packages (sockets) of the node."""
        return self.node.packages.whole

    @cached_property
    def cores_per_package(self) -> int:
        """The number of cores of one package."""
        return self.node.cores_per_package.whole

    @cached_property
    def domains_per_package(self) -> int:
        """The number of NUMA domains of one package."""
        return self.node.domains_per_package.whole

    @cached_property
    def cores_per_domain(self) -> int:
        """The number of cores of one NUMA domain."""
        return self.cores_per_package // self.domains_per_package

    @cached_property
    def domains(self) -> int:
        """The number of NUMA domains of the node."""
        return self.packages * self.domains_per_package

    @cached_property
    def cores(self) -> int:
        """The number of cores of the node."""
        return self.packages * self.cores_per_package

    @cached_property
    def threads_per_core(self) -> int:
        """The number of hardware threads of one core."""
        return self.node.threads_per_core.whole

    @property
    def hardware_threads(self) -> int:
        """The number of hardware threads of the node."""
        return self.cores * self.threads_per_core

    @cached_property
    def cores_per_second_cache(self) -> int:
        """The number of cores that share a second-level cache. 1 if there is none."""
        second = (cache for cache in self.caches if cache.level == 2)
        return next((cache.shared_by_cores.whole for cache in second), 1)

    @cached_property
    def shape(self) -> NodeShape:
        """The numbers that determine where threads are placed."""
        return NodeShape(
            self.packages, self.domains_per_package, self.cores_per_domain, self.threads_per_core,
            self.cores_per_second_cache, self.caches[-1].shared_by_cores.whole, self.binding,
        )  # fmt: skip

    @cached_property
    def vcpus_per_core(self) -> int:
        """The number of cores that are hardware threads of one physical core, at least 1."""
        return 1 if self.node.vcpus_per_core is None else self.node.vcpus_per_core.whole

    @property
    def threads_per_physical_core(self) -> int:
        """The number of hardware threads of a physical core."""
        return self.vcpus_per_core * self.threads_per_core

    @property
    def clock_hz(self) -> float:
        """The clock in Hz."""
        return self.node.clock_hz.value

    def relative_clock(self, cores: float) -> float:
        """The clock of a core relative to `clock_hz`, if `cores` of its package are active."""
        turbo = self.node.turbo
        return 1.0 if turbo is None else turbo.at(cores) / self.clock_hz

    @property
    def simd_bits(self) -> int:
        """The width of a vector register in bits."""
        return self.node.simd_bits.whole

    @cached_property
    def largest_cache(self) -> Cache:
        """The cache level with the largest instance, which is the only one in the density model."""
        return max(self.caches, key=lambda cache: cache.size_bytes.value)

    @property
    def largest_cache_bytes(self) -> int:
        """The bytes of one instance of the largest cache."""
        return self.largest_cache.size_bytes.whole

    @cached_property
    def line_bytes(self) -> int:
        """The bytes of a cache line of the largest cache, which is the unit of memory transfers."""
        return self.largest_cache.line_bytes.whole

    def write_allocate(self, cores: float) -> float:
        """The share of missed stores whose lines are read first, if `cores` of a domain are
        active.
        """
        by_cores = self.memory.write_allocate
        return self.processor.write_allocate.value if by_cores is None else by_cores.at(cores)

    @cached_property
    def page_bytes(self) -> int:
        """The bytes of a page of memory."""
        return self.memory.page_bytes.whole

    def operation(self, kind: str) -> Operation:
        """The operation of that kind. An unknown math function costs a `call`."""
        return self.operations.get(kind) or self.operations["call"]
