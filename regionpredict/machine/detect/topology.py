"""Computes the topology of a node from the properties of its hardware threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from regionpredict.errors import InputError
from regionpredict.machine.reader import Identity

MOST_BYTES_PER_CORE = 16 * 1024**2
"""The upper limit of plausible last-level cache per core. Virtual machines may report larger values
of their host.
"""
KIND = 0.1
"""The relative difference of speeds up to which two cores count as one core type. Favored cores of
one type differ by a few percent.
"""
GUESSED_BYTES_PER_CORE = 2 * 1024**2
"""The assumed last-level cache per core if the reported value is implausible. Common values are 1.4
to 4 MiB.
"""


@dataclass(frozen=True, slots=True)
class ThreadCache:
    """A cache as one hardware thread reports it. `size` and `line` are in bytes. `threads` are the
    hardware threads that share the cache.
    """

    level: int
    size: int
    line: int
    ways: int
    threads: frozenset[int]


@dataclass(frozen=True, slots=True)
class HardwareThread:
    """A hardware thread: its number, socket, NUMA domain, core and caches. `core` contains all
    hardware threads of the core. `speed` is the speed of the core in any unit, or None.
    """

    number: int
    package: int
    domain: int
    core: frozenset[int]
    caches: tuple[ThreadCache, ...]
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class CacheShape:
    """A cache level of a node. Unknown line sizes and associativities are 0.

    `size` is a plausible size, and `shown` is the reported size, both in bytes.
    """

    level: int
    size: int
    line: int
    ways: int
    cores: int
    plausible: bool = True
    shown: int = 0


@dataclass(frozen=True, slots=True)
class Topology:
    """The topology of a node. `remarks` report implausible or nonuniform values.

    `clock_hz`, `simd_bits`, `memory_bytes` (of the node), `page_bytes` and the processor's
    `identity` are None if the host does not report them. `threads` contains the first hardware
    thread of each core, domain by domain. `over_caches` contains the same threads, first one core
    of each second-level cache, then the next core of each. `core_speed` is the speed of each core
    type relative to the first core, by the first core of the type in a socket, or None if unknown.
    `virtual` says that the host is a virtual machine.
    """

    name: str
    source: str
    packages: int
    cores_per_package: int
    domains_per_package: int
    threads_per_core: int
    caches: tuple[CacheShape, ...]
    clock_hz: float | None = None
    simd_bits: int | None = None
    memory_bytes: int | None = None
    page_bytes: int | None = None
    identity: Identity | None = None
    threads: tuple[int, ...] = ()
    over_caches: tuple[int, ...] = ()
    remarks: tuple[str, ...] = field(default=())
    core_speed: Mapping[int, float] | None = None
    virtual: bool = False

    @property
    def cores(self) -> int:
        """The number of cores of the node."""
        return self.packages * self.cores_per_package

    @property
    def cores_per_domain(self) -> int:
        """The number of cores of one NUMA domain."""
        return self.cores_per_package // self.domains_per_package


def assemble(
    threads: Sequence[HardwareThread],
    *,
    name: str,
    source: str,
    clock_hz: float | None = None,
    simd_bits: int | None = None,
    memory_bytes: int | None = None,
    page_bytes: int | None = None,
    identity: Identity | None = None,
    virtual: bool = False,
) -> Topology:
    """Computes the topology of a node from its hardware threads. Raises InputError if no cache is
    known.
    """
    if not any(thread.caches for thread in threads):
        raise InputError(
            "this host does not show its caches",
            remedy="write the machine file by hand (docs/machines.md), or give its hwloc XML",
            path=source,
        )
    remarks: list[str] = []
    cores = {thread.core: thread for thread in sorted(threads, key=lambda t: -t.number)}
    by_package = Counter(thread.package for thread in cores.values())
    per_package = _most_common_count(by_package, "packages", "cores", remarks)
    domains = {(thread.package, thread.domain) for thread in cores.values()}
    by_domain = Counter(package for package, _ in domains)
    per_domain = _most_common_count(by_domain, "packages", "NUMA domains", remarks)
    if per_package % per_domain:
        remarks.append(
            f"{per_package} cores do not divide into {per_domain} NUMA domains: one is assumed"
        )
        per_domain = 1
    if virtual and len(by_package) > 1 and per_package == 1:
        remarks.append(
            f"{len(by_package)} packages of one core are not plausible (virtual machine); "
            "one package is assumed"
        )
        per_package, per_domain, by_package = len(by_package), 1, Counter({0: len(by_package)})
    order = sorted(cores.values(), key=lambda t: (t.package, t.domain, t.number))
    return Topology(
        name=name,
        source=source,
        packages=len(by_package),
        cores_per_package=per_package,
        domains_per_package=per_domain,
        threads_per_core=max(1, round(len(threads) / len(cores))),
        caches=_caches(order, per_package, virtual, remarks),
        clock_hz=clock_hz,
        simd_bits=simd_bits,
        memory_bytes=memory_bytes or None,
        page_bytes=page_bytes or None,
        identity=identity,
        threads=tuple(thread.number for thread in order),
        over_caches=over_caches(order),
        remarks=tuple(remarks),
        core_speed=None if virtual else core_kinds([t.speed for t in order[:per_package]], KIND),
        virtual=virtual,
    )


def core_kinds(speeds: Sequence[float | None], step: float) -> dict[int, float] | None:
    """Returns the speed of each core type relative to the first core, by the number (from 1) of the
    first core of the type. None if a speed is unknown.

    Consecutive cores are of one type if their speeds differ by at most the share `step`.

    >>> core_kinds([1024, 1009, 446, 446], 0.1)
    {1: 1.0, 3: 0.435546875}
    """
    kinds: dict[int, float] = {}
    for place, speed in enumerate(speeds):
        if not speed or not speeds[0]:
            return None
        relative = speed / speeds[0]
        if not kinds or abs(relative / kinds[max(kinds)] - 1) > step:
            kinds[place + 1] = relative
    return kinds


def over_caches(cores: Sequence[HardwareThread]) -> tuple[int, ...]:
    """Returns the hardware threads of the cores, starting with one core of each second-level cache
    (Chatzopoulos 2012, ch. 3).

    A core with an unknown second-level cache counts as if it had a separate one.
    """
    turn: Counter[frozenset[int]] = Counter()
    ranked = []
    for place, core in enumerate(cores):
        second = next((cache.threads for cache in core.caches if cache.level == 2), core.core)
        ranked.append((turn[second], place, core.number))
        turn[second] += 1
    return tuple(number for _, _, number in sorted(ranked))


def _most_common_count(counts: Counter[int], wholes: str, parts: str, remarks: list[str]) -> int:
    """Returns the most frequent count. Adds a remark if the counts differ."""
    counted = Counter(counts.values())
    most = counted.most_common(1)[0][0]
    if len(counted) > 1:
        remarks.append(
            f"the {wholes} have different numbers of {parts}: {most} are assumed for each"
        )
    return most


def _caches(
    cores: Sequence[HardwareThread], per_package: int, virtual: bool, remarks: list[str]
) -> tuple[CacheShape, ...]:
    core_of = {number: core.core for core in cores for number in core.core}
    levels = sorted({cache.level for core in cores for cache in core.caches})
    shapes: list[CacheShape] = []
    for level in levels:
        seen = Counter(
            (cache.size, cache.line, cache.ways, len({core_of.get(t, t) for t in cache.threads}))
            for core in cores
            for cache in core.caches
            if cache.level == level
        )
        (size, line, ways, shared), _ = seen.most_common(1)[0]
        if len(seen) > 1:
            remarks.append(
                f"the cores have different caches of level {level}: the most common ones are used"
            )
        shared = max(1, min(shared, per_package))
        shown = size
        plausible = size / shared <= MOST_BYTES_PER_CORE
        if not plausible:
            guess = GUESSED_BYTES_PER_CORE * shared
            whose = (
                "in a virtual machine, it may be the host's"
                if virtual
                else ("apparently from another host")
            )
            remarks.append(
                f"L{level} of {size / 1024**2:.0f} MiB for {shared} "
                f"{'core' if shared == 1 else 'cores'} is not plausible ({whose})"
            )
            size = guess
        shapes.append(CacheShape(level, size, line, ways, shared, plausible, shown))
    return tuple(shapes)
