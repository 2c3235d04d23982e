"""Selects the microbenchmarks for a node, most important first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from regionpredict.machine.detect.topology import CacheShape, Topology
from regionpredict.machine.first_touch_sizes import NEW_BEYOND, NEW_IN_CACHE

KERNELS = ("load", "copy", "update", "triad", "daxpy")
ARITHMETIC = (
    "fp_add", "fp_mul", "fp_fma", "fp_div", "fp_sqrt", "fp_compare", "fp_neg",
    "fp_convert",
    "int_add", "int_mul", "int_div", "int_compare", "int_logic", "call",
)  # fmt: skip
LIBRARY = (
    "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "atan", "pow", "cbrt", "hypot",
    "fmod", "floor",
)  # fmt: skip
"""The measured functions of the math library."""
OPERATIONS = ARITHMETIC + LIBRARY
OPENMP = (
    "fork_join",
    "barrier",
    "first_touch",
    "first_touch_beyond",
    "line_transfer",
    "bulk_transfer",
    "dynamic_chunk",
    "reduction",
    "atomic",
    "critical",
    "team_change",
    "first_team",
)
OF_A_RUNTIME = (
    "fork_join", "barrier", "reduction", "dynamic_chunk", "team_change", "first_team"
)  # fmt: skip
"""The constructs whose costs depend on the OpenMP runtime, and not only on the machine."""
CLOCK = "clock"
CORE_OPERATIONS = ("fp_fma", "int_add")
"""The operations that determine the speed of a core, by the geometric mean of their
throughputs.
"""
MOST_SEPARATE_CORES = 32
"""The maximum number of cores of a socket that are measured one by one, if the host does not report
the core types.
"""
ALONE, TOGETHER = "threads/alone", "threads/together"
"""The keys of a measurement that saturates the ports of a core, on one virtual CPU and on two."""
LEAST_MEMORY_BYTES = 64 * 1024**2
STORE_FORWARD = "store_forward"
MEMORY_LEVEL = 0
WALKED, FOUND = "pages/walked", "pages/found"
"""The keys of dependent loads of `SCATTERED_LINES` lines, with one line per page and on few
pages.
"""
SCATTERED_LINES = 8192
"""The number of loaded lines: more than twice the entries of a core's last TLB, which are 256 to
3072 in all families.
"""
LINES_ON_A_PAGE = 16
"""The number of lines per page for loads from few pages, so that the TLB contains all pages."""
WALKED_BESIDE, FOUND_BESIDE = "pages/walked-beside", "pages/found-beside"
"""The keys of independent loads of the same lines. Their page walks are concurrent, up to the
number of page walkers.
"""
TLB_COUNTS = (256, 512, 768, 1024, 1280, 1536, 2048, 3072, 4096, 6144)
"""The tried numbers of entries of the last TLB: those of all families, and 1.5 times these
numbers.
"""
FORESEEN, UNFORESEEN = "lines/foreseen", "lines/unforeseen"
"""The keys of independent loads of memory lines, in consecutive order and in an order without
prefetching.
"""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of a microbenchmark program. `key` identifies the measurement in the state file.

    `arguments` are command-line arguments after the number of samples and the seconds. `preload` is
    a library for LD_PRELOAD.
    """

    key: str
    program: str
    arguments: tuple[str, ...]
    preload: str | None = None


def plan(
    topology: Topology, free_bytes: int, cpus: tuple[int, ...], other_runtime: str | None = None
) -> tuple[Measurement, ...]:
    """Returns the measurements for a node with this topology, most important first.

    `free_bytes` is the available memory. `cpus` are the hardware threads for pinning, one per core,
    domain by domain. `other_runtime` is the OpenMP library of LLVM or Intel, which is measured in
    addition to the compiler's runtime.
    """
    memory = memory_bytes(topology, free_bytes)
    line = next((str(cache.line) for cache in topology.caches if cache.line), "64")
    first = str(cpus[0])
    latencies = [
        Measurement(f"latency/{level}", "latency", (first, str(size), line))
        for level, size in latency_sizes(topology, memory).items()
    ]
    operations = [
        Measurement(f"operation/{kind}/{what}", "operations", (first, kind, what))
        for kind in OPERATIONS
        for what in ("latency", "throughput")
    ]
    return (
        *_clocks(topology, cpus),
        *_core_kinds(topology, cpus),
        *latencies,
        Measurement(STORE_FORWARD, "operations", (first, STORE_FORWARD, "latency")),
        *_page_walks(topology, first, line),
        Measurement(FORESEEN, "latency", (first, str(memory), line, "foreseen")),
        Measurement(UNFORESEEN, "latency", (first, str(memory), line, "unforeseen")),
        *(m for cache in topology.caches for m in _capacity(topology, cache, memory, first)),
        *operations,
        *_bandwidth(topology, MEMORY_LEVEL, memory, cpus),
        *_node_bandwidth(topology, memory, cpus),
        *_link_bandwidth(topology, memory, cpus),
        *_openmp(topology, memory, cpus),
        *(_openmp(topology, memory, cpus, other_runtime) if other_runtime is not None else ()),
        *(
            measurement
            for cache in topology.caches
            for measurement in _cache_bandwidth(topology, cache.level, cpus)
        ),
    )


def _clocks(topology: Topology, cpus: tuple[int, ...]) -> Iterator[Measurement]:
    """Yields measurements of the clock, for several numbers of active cores of the first socket."""
    for count in core_counts(min(topology.cores_per_package, len(cpus))):
        key = CLOCK if count == 1 else f"{CLOCK}/{count}"
        yield Measurement(key, "clock", (_cpu_list(cpus[:count]),))


def _core_kinds(topology: Topology, cpus: tuple[int, ...]) -> Iterator[Measurement]:
    """Yields measurements of the speed of one core per core type, or of each core for unknown
    types. On virtual machines, two virtual CPUs are also measured together.
    """
    cores = min(topology.cores_per_package, len(cpus))
    kinds = topology.core_speed or (range(1, cores + 1) if cores <= MOST_SEPARATE_CORES else ())
    for first in kinds if len(kinds) > 1 else ():
        for kind in CORE_OPERATIONS if first <= cores else ():
            arguments = (str(cpus[first - 1]), kind, "throughput")
            yield Measurement(f"core/{first}/{kind}", "operations", arguments)
    if topology.virtual and topology.threads_per_core == 1 and not cores % 2:
        yield Measurement(ALONE, "clock", (str(cpus[0]), "wide"))
        yield Measurement(TOGETHER, "clock", (_cpu_list(cpus[:2]), "wide"))


def _page_walks(topology: Topology, cpu: str, line: str) -> Iterator[Measurement]:
    """Yields measurements of loads with and without page walks."""
    page = topology.page_bytes
    if page is None:
        return

    def loads(key: str, lines: int, order: str, each: int) -> Measurement:
        size = str(lines * int(line))
        return Measurement(key, "latency", (cpu, size, line, order, str(page), str(each)))

    for order, walked, hit in (("apart", WALKED, FOUND), ("beside", WALKED_BESIDE, FOUND_BESIDE)):
        yield loads(walked, SCATTERED_LINES, order, 1)
        yield loads(hit, SCATTERED_LINES, order, LINES_ON_A_PAGE)
    for count in TLB_COUNTS:
        yield loads(f"tlb/{count}/walked", count, "apart", 1)
        yield loads(f"tlb/{count}/found", count, "apart", LINES_ON_A_PAGE)


def memory_bytes(topology: Topology, free_bytes: int) -> int:
    """Returns the bytes of a working set that exceeds all caches: four times the last level, or 1.5
    times its reported size.

    The result is at least 64 MiB and at most a quarter of the available memory.
    """
    last = topology.caches[-1]
    shared = topology.cores // last.cores
    wanted = max(LEAST_MEMORY_BYTES, 4 * last.size * shared, round(1.5 * last.shown))
    return max(min(wanted, free_bytes // 4), 1024**2)


def latency_sizes(topology: Topology, memory: int) -> dict[int, int]:
    """Returns the bytes of a working set for each cache level that fits into this level, but not
    into the previous one. Level 0 is memory.

    A level that is hardly larger than the previous level (a victim cache) has no working set. A
    level of implausible size has twice the size of the previous level.
    """
    sizes: dict[int, int] = {}
    above = 0
    for cache in topology.caches:
        size = cache.size // 2 if above == 0 else max(2 * above, cache.size // 2)
        if above and not cache.plausible:
            size = 2 * above
        if size <= 0.8 * cache.size or (above and not cache.plausible):
            sizes[cache.level] = size
        above = max(above, cache.size)
    sizes[MEMORY_LEVEL] = memory
    return sizes


def core_counts(most: int) -> tuple[int, ...]:
    """Returns the numbers of cores to measure: all numbers up to 8, then with increasing steps, and
    `most`.

    >>> core_counts(20)
    (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20)
    """
    counts = [*range(1, 9), *range(10, 17, 2), *range(20, 33, 4), *range(40, 65, 8)]
    counts += list(range(80, 1025, 16))
    return tuple(sorted({count for count in counts if count < most} | {most}))


def capacity_sizes(topology: Topology, cache: CacheShape, memory: int) -> tuple[int, ...]:
    """Returns the working sets of one core in bytes that determine the effective capacity of a
    cache of implausible size. Empty for a plausible size.

    The sizes double from twice the previous level up to the reported size, but at most half of
    `memory`.

    >>> from regionpredict.machine.detect.topology import CacheShape, Topology
    >>> l2 = CacheShape(2, 2 << 20, 64, 16, 1)
    >>> l3 = CacheShape(3, 8 << 20, 64, 16, 2, plausible=False, shown=480 << 20)
    >>> sizes = capacity_sizes(Topology("", "", 1, 2, 1, 1, (l2, l3)), l3, 200 << 20)
    >>> [size >> 20 for size in sizes]
    [4, 8, 16, 32, 64]
    """
    if cache.plausible:
        return ()
    above = max((other.size for other in topology.caches if other.level < cache.level), default=0)
    size, sizes = max(2 * above, 1 << 20), []
    while size <= min(cache.shown, memory // 2):
        sizes.append(size)
        size *= 2
    return tuple(sizes)


def _capacity(
    topology: Topology, cache: CacheShape, memory: int, cpu: str
) -> Iterator[Measurement]:
    for size in capacity_sizes(topology, cache, memory):
        key = f"capacity/{cache.level}/{size}"
        yield Measurement(key, "bandwidth", (cpu, str(size), "load"))


def _bandwidth(
    topology: Topology, level: int, total: int, cpus: tuple[int, ...]
) -> list[Measurement]:
    """Returns measurements of memory bandwidth within one domain, with `total` bytes over all
    threads.
    """
    most = min(topology.cores_per_domain, len(cpus))
    return [
        Measurement(
            f"bandwidth/{level}/{kernel}/{count}",
            "bandwidth",
            (_cpu_list(cpus[:count]), str(max(total // count, 1024**2)), kernel),
        )
        for count in core_counts(most)
        for kernel in KERNELS
    ]


def _node_bandwidth(topology: Topology, total: int, cpus: tuple[int, ...]) -> list[Measurement]:
    """Returns measurements of load bandwidth on one socket and on all sockets, which show whether
    sockets share one memory path.
    """
    if topology.packages == 1 or len(cpus) < topology.cores:
        return []
    return [
        Measurement(
            f"node/load/{count}",
            "bandwidth",
            (_cpu_list(cpus[:count]), str(max(total // count, 1024**2)), "load"),
        )
        for count in (topology.cores_per_package, topology.cores)
    ]


def _cache_bandwidth(topology: Topology, level: int, cpus: tuple[int, ...]) -> list[Measurement]:
    """Returns measurements of the bandwidth of one cache level, with working sets of two thirds of
    each core's share.

    A level of implausible size has working sets of twice the previous level. A level that is hardly
    larger than the previous level is not measured.
    """
    place = next(i for i, cache in enumerate(topology.caches) if cache.level == level)
    cache = topology.caches[place]
    share = round(0.66 * cache.size / cache.cores)
    if not cache.plausible and place > 0:
        share = 2 * topology.caches[place - 1].size  # certainly exceeds the previous level
    elif place > 0:
        above = topology.caches[place - 1]
        if share < 1.5 * above.size / above.cores:
            return []
    most = min(topology.cores_per_domain, len(cpus))
    counts = sorted({1, min(2, most), min(cache.cores, most), most})
    return [
        Measurement(
            f"bandwidth/{level}/{kernel}/{count}",
            "bandwidth",
            (_cpu_list(cpus[:count]), str(share), kernel),
        )
        for kernel in KERNELS
        for count in counts
    ]


def _link_bandwidth(topology: Topology, total: int, cpus: tuple[int, ...]) -> list[Measurement]:
    """Returns a measurement of one socket's load bandwidth from memory of another socket."""
    each = topology.cores_per_package
    if topology.packages == 1 or len(cpus) < topology.cores:
        return []
    size = str(max(total // each, 1024**2))
    home, users = _cpu_list(cpus[each : 2 * each]), _cpu_list(cpus[:each])
    return [Measurement("link/load", "bandwidth", (users, size, "load", home))]


def _openmp(
    topology: Topology, total: int, cpus: tuple[int, ...], runtime: str | None = None
) -> list[Measurement]:
    """Returns measurements of OpenMP constructs by number of threads, for the compiler's runtime or
    for the library `runtime`.
    """
    most = min(topology.cores, len(cpus))
    domain, package = topology.cores_per_domain, topology.cores_per_package
    counts = sorted(
        {count for count in (1, 2, 4, 8, 16, 32, 64, domain, package) if count < most} | {most}
    )
    if runtime is None:
        return [
            Measurement(
                f"openmp/{kind}/{count}", "openmp",
                (_cpu_list(cpus[:count]), *_construct(kind, count, topology, total)),
            )
            for kind in OPENMP
            for count in counts
        ]  # fmt: skip
    return [
        Measurement(f"llvm/{kind}/{count}", "openmp", (_cpu_list(cpus[:count]), kind), runtime)
        for kind in OF_A_RUNTIME
        for count in counts
    ]


def _construct(kind: str, threads: int, topology: Topology, total: int) -> tuple[str, ...]:
    """Returns the arguments of the measurement of a construct. First writes have the number of 4
    KiB pages per thread, for at most `total` bytes over all threads.
    """
    shares = {"first_touch": NEW_IN_CACHE, "first_touch_beyond": NEW_BEYOND}
    if kind not in shares:
        return (kind,)
    last = topology.caches[-1]
    each = min(shares[kind] * last.size / min(threads, last.cores), total / threads)
    return ("first_touch", str(max(1, int(each) // 4096)))


def _cpu_list(cpus: tuple[int, ...]) -> str:
    return ",".join(str(cpu) for cpu in cpus)
