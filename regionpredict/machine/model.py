"""The data types of a machine model: node, caches, memory, operations, OpenMP overheads and
weights.
"""

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
"""The policy of a cache level relative to the previous levels.

`inclusive` levels contain all lines of the previous levels, and `exclusive` levels contain none of
them. `victim` caches are filled only with lines evicted from the previous level. `neither` means
neither inclusive nor exclusive.
"""

BINDINGS = ("close", "spread", "caches")
"""The named placements of threads on the node.

`close` fills one NUMA domain after the other, and `spread` distributes threads evenly over all
cores, like OMP_PROC_BIND. `caches` starts with one core of each second-level cache. Any other
binding is a value of OMP_PLACES (`machine.places`), whose places are used in order.
"""

RUNTIMES = ("gcc", "llvm")
"""The OpenMP runtimes that may have separate costs in a machine file: `gcc` is libgomp, and `llvm`
is libomp of LLVM and Intel.
"""

ACCESS_KINDS = ("read", "write")
ACCESS_PATTERNS = ("streaming", "latency", "irregular")


@dataclass(frozen=True, slots=True)
class Node:
    """The cores of a node, with the source of each number.

    `turbo` is the clock in Hz by the number of active cores of a socket, or None for a constant
    clock of `clock_hz`. `core_speed` is a step function of the core number in a socket: the speed
    relative to the first core, or None for equal cores. `vcpus_per_core` is the number of virtual
    CPUs that are hardware threads of one physical core, or None for physical cores.
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
    """A cache level. Sizes refer to one instance of the cache.

    `associativity` is the number of ways. `shared_by_cores` is the number of cores per instance.
    `latency_cycles` is the load-to-use latency, and `bytes_per_cycle` is the read bandwidth of one
    core. `bandwidth` maps the name of a measured kernel to B/s by number of cores.
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
    """A memory path shared by all sockets (front-side bus machines with one chipset).

    `traffic_bytes_per_s` is the limit of the whole node, including write-allocates and write-backs.
    """

    traffic_bytes_per_s: Quantity


@dataclass(frozen=True, slots=True)
class Memory:
    """Main memory of one NUMA domain.

    `bandwidth` maps a kernel's name (`machine.kernels.KERNELS`) to B/s of the program's accesses,
    by number of cores in one domain. `peak_bytes_per_s` is the theoretical peak of one domain.
    `shared_path` is the common memory path of all sockets, or None if each domain has a separate
    path. `remote_latency_cycles` is the latency from another socket. `page_bytes` is the page size
    of the system. `size_bytes` is the memory of one domain, or None if unknown. `write_allocate` is
    the share of missed stores that read their line first, by number of cores in one domain, or None
    for the processor's value. `link_bytes_per_s` is the maximum bandwidth of one socket's cores
    from the memory of another socket, or None without such links.
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
        """Returns the bandwidth of `kernel` in B/s by number of cores in a domain, as measured or
        derived from another kernel.

        The derivation assumes that both kernels have equal total traffic, including write-allocate.
        """
        known = self.bandwidth.get(kernel)
        if known is not None:
            return known
        name = next(name for name in KERNELS if name in self.bandwidth)
        factor = KERNELS[name].traffic_factor / KERNELS[kernel].traffic_factor
        return self.bandwidth[name].scaled(factor, f"the traffic of {name}, as {kernel} counts it")


@dataclass(frozen=True, slots=True)
class Operation:
    """The latency and the reciprocal throughput of a kind of operation, in cycles."""

    latency_cycles: Quantity
    throughput_cycles: Quantity


@dataclass(frozen=True, slots=True)
class Overheads:
    """The costs of OpenMP constructs and of data transfers in cycles, by number of threads, with
    close binding.

    - `fork_join`: an empty parallel region after a little serial work.
    - `barrier`: one barrier.
    - `reduction`: the additional cost of a scalar reduction.
    - `dynamic_chunk`, `atomic`, `critical`: the time between two chunks of `schedule(dynamic)`,
      updates of one variable, or entries of one critical section, on one of the contending threads.
    - `first_touch`: the concurrent first write of each thread to 4 KiB of new memory, for little
      memory (a sixteenth of the last cache).
    - `first_touch_beyond`: the same for twice the last cache.
    - `line_transfer`: reading a cache line that another core wrote last, and writing the own line
      again, for as many lines as fit the first cache.
    - `bulk_transfer`: the same for each further line.
    - `team_change`: the additional cost of a parallel region after a region with another number of
      threads, by the larger number.
    - `first_team`: the cost of creating the threads in a program's first parallel region.
    - `far_line`: the transfer of a line from another socket.
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

    `operation` (by kind) and `hit` add to the good score. `miss` adds to the bad score. The keys of
    `miss` are ``read`` or ``write`` with ``streaming``, ``latency`` or ``irregular``. `thresholds`
    are the scores above which the hint has another socket, one fewer than sockets. Empty means
    equal areas.
    """

    operation: Mapping[str, Quantity]
    hit: Quantity
    miss: Mapping[tuple[str, str], Quantity]
    latency_factor: Quantity
    thresholds: tuple[Quantity, ...] = ()


class NodeShape(NamedTuple):
    """The numbers of a machine that determine the placement of threads.

    A socket has `per` NUMA domains of `own` cores each. `joined` cores share a second-level cache,
    and `last` cores share a last-level cache. `hardware` is the number of hardware threads per
    core.
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
        """Whether threads use cores in a fixed order that differs from the numbers of the cores."""
        return self.binding not in ("close", "spread")


@dataclass(frozen=True)
class Machine:
    """A machine model, read from a YAML file by `load`.

    `path` and `sha256` identify the file, and `sources` is its table of sources. `defaulted` lists
    missing keys with default values. `corrections` are factors from measured regions (default 1).
    `overheads` are the costs of the OpenMP runtime `runtime`, or of the measured runtime for None.
    `by_runtime` contains the costs of other runtimes. `binding` is the placement of threads, an
    option of the run that is not in the file. `spread` is the uncertainty of measured figures: half
    of the 95 % interval divided by the value, by the figure's key.
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
        """Returns the hash of the file and the run options, because the tables are not hashable."""
        return hash((self.name, self.sha256, self.packages, self.runtime, self.binding))

    def as_run(self, *, binding: str = "close", runtime: str | None = None) -> Machine:
        """Returns the machine with this thread binding and with the costs of this OpenMP runtime,
        if the file contains them.
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
        """The number of cores that share a second-level cache, or 1 without such a cache."""
        second = (cache for cache in self.caches if cache.level == 2)
        return next((cache.shared_by_cores.whole for cache in second), 1)

    @cached_property
    def shape(self) -> NodeShape:
        """The numbers that determine the placement of threads."""
        return NodeShape(
            self.packages, self.domains_per_package, self.cores_per_domain, self.threads_per_core,
            self.cores_per_second_cache, self.caches[-1].shared_by_cores.whole, self.binding,
        )  # fmt: skip

    @cached_property
    def vcpus_per_core(self) -> int:
        """The number of virtual CPUs per physical core, at least 1."""
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
        """Returns the clock of a core relative to `clock_hz` if `cores` cores of a socket are
        active.
        """
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
        """Returns the share of missed stores that read their line first, if `cores` cores of a
        domain are active.
        """
        by_cores = self.memory.write_allocate
        return self.processor.write_allocate.value if by_cores is None else by_cores.at(cores)

    @cached_property
    def page_bytes(self) -> int:
        """The bytes of a page of memory."""
        return self.memory.page_bytes.whole

    def operation(self, kind: str) -> Operation:
        """Returns the cost of an operation of this kind. Unknown math functions cost a `call`."""
        return self.operations.get(kind) or self.operations["call"]
