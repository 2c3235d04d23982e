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
"""Functions of the math library."""
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
"""Constructs whose costs depend on the OpenMP runtime. Other costs depend on the machine."""
CLOCK = "clock"
CORE_OPERATIONS = ("fp_fma", "int_add")
"""The speed of a core is the geometric mean of their throughputs."""
MOST_SEPARATE_CORES = 32
"""Maximum number of cores of a package that are measured one by one if the host does not report
their kinds.
"""
ALONE, TOGETHER = "threads/alone", "threads/together"
"""A virtual CPU that uses all ports of its core, alone and together with the next virtual CPU."""
LEAST_MEMORY_BYTES = 64 * 1024**2
STORE_FORWARD = "store_forward"
MEMORY_LEVEL = 0
WALKED, FOUND = "pages/walked", "pages/found"
"""Loads of `SCATTERED_LINES` lines, either one per page or on few pages."""
SCATTERED_LINES = 8192
"""Several times the number of translations in a core's last TLB, which is 256 to 3072 in all
families.
"""
LINES_ON_A_PAGE = 16
"""Lines per page for loads from few pages, whose translations are then cached."""
WALKED_BESIDE, FOUND_BESIDE = "pages/walked-beside", "pages/found-beside"
"""The same loads without dependences. The number of concurrent walks is then the number of page
walkers of the core.
"""
TLB_COUNTS = (256, 512, 768, 1024, 1280, 1536, 2048, 3072, 4096, 6144)
"""Numbers of pages that may fit the last TLB: those of all families, and one and a half times these
numbers.
"""
FORESEEN, UNFORESEEN = "lines/foreseen", "lines/unforeseen"
"""Independent loads of one line of memory each, in consecutive order and in an order without
prefetching.
"""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A microbenchmark. `key` identifies it in the state file. `arguments` follow the program's
    number of samples and seconds. `preload` is a library for LD_PRELOAD.
    """

    key: str
    program: str
    arguments: tuple[str, ...]
    preload: str | None = None


def plan(
    topology: Topology, free_bytes: int, cpus: tuple[int, ...], other_runtime: str | None = None
) -> tuple[Measurement, ...]:
    """The measurements for a node with this topology.

    `free_bytes` is the available memory. `cpus` are the hardware threads to pin to, one for each
    core, domain by domain. `other_runtime` is LLVM's or Intel's library. Its costs are measured in
    addition to those of the compiler's runtime.
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
    """The clock with one active core, and with more active cores of the first package."""
    for count in core_counts(min(topology.cores_per_package, len(cpus))):
        key = CLOCK if count == 1 else f"{CLOCK}/{count}"
        yield Measurement(key, "clock", (_list(cpus[:count]),))


def _core_kinds(topology: Topology, cpus: tuple[int, ...]) -> Iterator[Measurement]:
    """The speed of one core of each kind, or of each core if the kinds are unknown. On virtual
    CPUs, also measures whether two of them share a core.
    """
    cores = min(topology.cores_per_package, len(cpus))
    kinds = topology.core_speed or (range(1, cores + 1) if cores <= MOST_SEPARATE_CORES else ())
    for first in kinds if len(kinds) > 1 else ():
        for kind in CORE_OPERATIONS if first <= cores else ():
            arguments = (str(cpus[first - 1]), kind, "throughput")
            yield Measurement(f"core/{first}/{kind}", "operations", arguments)
    if topology.virtual and topology.threads_per_core == 1 and not cores % 2:
        yield Measurement(ALONE, "clock", (str(cpus[0]), "wide"))
        yield Measurement(TOGETHER, "clock", (_list(cpus[:2]), "wide"))


def _page_walks(topology: Topology, cpu: str, line: str) -> Iterator[Measurement]:
    """Loads with and without a page walk."""
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
    """A working set larger than all caches: four times the last level, or 1.5 times the reported
    size.

    It has at least 64 MiB, and at most a quarter of the available memory.
    """
    last = topology.caches[-1]
    shared = topology.cores // last.cores
    wanted = max(LEAST_MEMORY_BYTES, 4 * last.size * shared, round(1.5 * last.shown))
    return max(min(wanted, free_bytes // 4), 1024**2)


def latency_sizes(topology: Topology, memory: int) -> dict[int, int]:
    """For each level, a working set that fits into it but not into the previous level (0 is
    memory).

    It is between the two sizes, closer to the smaller one. A level that is only a little larger
    than the previous one (a victim cache) has no working set. If the size of a level is
    implausible, it is twice the size of the previous level.
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
    """The numbers of cores to measure: all numbers up to 8, then increasing steps, and all cores.

    >>> core_counts(20)
    (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20)
    """
    counts = [*range(1, 9), *range(10, 17, 2), *range(20, 33, 4), *range(40, 65, 8)]
    counts += list(range(80, 1025, 16))
    return tuple(sorted({count for count in counts if count < most} | {most}))


def capacity_sizes(topology: Topology, cache: CacheShape, memory: int) -> tuple[int, ...]:
    """Working sets of one core in bytes, from which the effective capacity of a cache is found.

    There are some only for a cache with an implausible size. They are doubled from twice the
    previous levels up to the reported size, or to half the working set for memory.

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
    """Memory bandwidth within one domain, with `total` bytes over all threads."""
    most = min(topology.cores_per_domain, len(cpus))
    return [
        Measurement(
            f"bandwidth/{level}/{kernel}/{count}",
            "bandwidth",
            (_list(cpus[:count]), str(max(total // count, 1024**2)), kernel),
        )
        for count in core_counts(most)
        for kernel in KERNELS
    ]


def _node_bandwidth(topology: Topology, total: int, cpus: tuple[int, ...]) -> list[Measurement]:
    """Loads on one package and on all packages. They show whether packages share one path to
    memory.
    """
    if topology.packages == 1 or len(cpus) < topology.cores:
        return []
    return [
        Measurement(
            f"node/load/{count}",
            "bandwidth",
            (_list(cpus[:count]), str(max(total // count, 1024**2)), "load"),
        )
        for count in (topology.cores_per_package, topology.cores)
    ]


def _cache_bandwidth(topology: Topology, level: int, cpus: tuple[int, ...]) -> list[Measurement]:
    """The bandwidth of one level. The working set is two thirds of each core's share if the
    previous level is smaller.

    If the size of a level is implausible, the working set is twice the previous level.
    """
    place = next(i for i, cache in enumerate(topology.caches) if cache.level == level)
    cache = topology.caches[place]
    share = round(0.66 * cache.size / cache.cores)
    if not cache.plausible and place > 0:
        share = (
            2 * topology.caches[place - 1].size
        )  # the smallest size that exceeds the level above
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
            (_list(cpus[:count]), str(share), kernel),
        )
        for kernel in KERNELS
        for count in counts
    ]


def _link_bandwidth(topology: Topology, total: int, cpus: tuple[int, ...]) -> list[Measurement]:
    """Loads of one package from pages that the other package wrote first."""
    each = topology.cores_per_package
    if topology.packages == 1 or len(cpus) < topology.cores:
        return []
    size = str(max(total // each, 1024**2))
    home, users = _list(cpus[each : 2 * each]), _list(cpus[:each])
    return [Measurement("link/load", "bandwidth", (users, size, "load", home))]


def _openmp(
    topology: Topology, total: int, cpus: tuple[int, ...], runtime: str | None = None
) -> list[Measurement]:
    """The costs of constructs by number of threads, for the compiler's OpenMP runtime or another
    one.
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
                (_list(cpus[:count]), *_construct(kind, count, topology, total)),
            )
            for kind in OPENMP
            for count in counts
        ]  # fmt: skip
    return [
        Measurement(f"llvm/{kind}/{count}", "openmp", (_list(cpus[:count]), kind), runtime)
        for kind in OF_A_RUNTIME
        for count in counts
    ]


def _construct(kind: str, threads: int, topology: Topology, total: int) -> tuple[str, ...]:
    """The measurement of a construct. For new memory, it contains the number of 4 KiB pages that
    each thread writes, with at most `total` bytes over all threads.
    """
    shares = {"first_touch": NEW_IN_CACHE, "first_touch_beyond": NEW_BEYOND}
    if kind not in shares:
        return (kind,)
    last = topology.caches[-1]
    each = min(shares[kind] * last.size / min(threads, last.cores), total / threads)
    return ("first_touch", str(max(1, int(each) // 4096)))


def _list(cpus: tuple[int, ...]) -> str:
    return ",".join(str(cpu) for cpu in cpus)
