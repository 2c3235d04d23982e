"""The placement of threads: the cores and domains that they use, and how many share a core."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from regionpredict.errors import UsageError
from regionpredict.machine.model import BINDINGS, Machine, NodeShape
from regionpredict.machine.places import NamedPlaces, parse_places


class ThreadPlaces(NamedTuple):
    """The places of threads on the node: the number of threads by domain and by package, and the
    maximum per core.

    `packages` is the number of packages with threads. `crowd` is the number of threads in the
    fullest domain, and `together` that in the fullest package. `in_other_packages` is the rest.

    Each thread has a separate core if there are enough cores. With more threads, the first cores
    have one more thread than the last ones, as OpenMP distributes threads over fewer places (OpenMP
    5.2, sec. 10.1.3).
    """

    by_domain: tuple[int, ...]
    by_package: tuple[int, ...]
    on_a_core: int
    packages: int
    crowd: int
    together: int
    in_other_packages: int


def thread_places(machine: Machine, threads: int) -> ThreadPlaces:
    """The places of `threads` on a machine, according to its binding.

    >>> from regionpredict.machine import load
    >>> node = load("skylake-gold-6148-snc")
    >>> thread_places(node, 15).by_domain
    (10, 5, 0, 0)
    >>> thread_places(node.as_run(binding="spread"), 6).by_domain
    (2, 1, 2, 1)
    >>> thread_places(load("dunnington").as_run(binding="caches"), 15).by_package
    (6, 3, 3, 3)
    >>> thread_places(node.as_run(binding="{0},{20},{1}"), 4).by_domain
    (3, 0, 1, 0)
    >>> thread_places(node, 50).by_domain, thread_places(node, 50).on_a_core
    ((20, 10, 10, 10), 2)
    """
    return _places(machine.shape, threads)


@lru_cache(maxsize=4096)  # called for every construct of every region
def _places(shape: NodeShape, threads: int) -> ThreadPlaces:
    """The places of `threads` on a node of this shape. Results are cached."""
    if shape.in_order:
        counts = _threads_by_core(shape, threads)
        by_domain, most = _sums_of_groups(counts, shape.own), max(counts)
    else:
        each, rest = divmod(threads, shape.cores)
        starts = range(0, shape.cores + 1, shape.own)
        if shape.binding == "close":
            first = [min(rest, core) for core in starts]
        else:
            # Thread t has core floor(t * cores / threads). This is the number of t with a smaller
            # core.
            first = [-(-core * rest // shape.cores) for core in starts]
        by_domain = tuple([each * shape.own + b - a for a, b in pairwise(first)])
        most = each + (rest > 0)
    by_package = _sums_of_groups(by_domain, shape.per)
    together = max(by_package)
    return ThreadPlaces(
        by_domain, by_package, most, sum(count > 0 for count in by_package), max(by_domain),
        together, sum(by_package) - together,
    )  # fmt: skip


def _sums_of_groups(counts: Sequence[int], size: int) -> tuple[int, ...]:
    """The sums of `size` consecutive counts.

    >>> _sums_of_groups((1, 2, 3, 4), 2)
    (3, 7)
    """
    if size == 1:
        return tuple(counts)
    return tuple([sum(counts[at : at + size]) for at in range(0, len(counts), size)])


@lru_cache(maxsize=256)
def _threads_by_core(shape: NodeShape, threads: int) -> tuple[int, ...]:
    """The number of threads of each core of the node."""
    order = _core_order(shape)
    each, rest = divmod(threads, len(order))
    counts = [0] * shape.cores
    for core in order if each else ():
        counts[core] += each
    for thread in range(rest):
        # With spread binding, thread t has core floor(t * cores / threads).
        at = thread * shape.cores // rest if shape.binding == "spread" else thread
        counts[order[at]] += 1
    return tuple(counts)


@lru_cache(maxsize=64)
def _core_order(shape: NodeShape) -> tuple[int, ...]:
    """The cores in the order in which close threads use them. A core occurs several times if
    several places, or several of its hardware threads, belong to it.
    """
    cores = range(shape.cores)
    if shape.binding in BINDINGS:
        joined = shape.joined if shape.binding == "caches" else 1
        return tuple(sorted(cores, key=lambda core: (core % joined, core)))
    places = [[thread % shape.cores for thread in place] for place in _resolved(shape)]
    # Additional threads start again at the first place, on its next hardware thread.
    turns = range(max(map(len, places)))
    return tuple(place[turn % len(place)] for turn in turns for place in places)


def _resolved(shape: NodeShape) -> list[tuple[int, ...]]:
    """The hardware threads of each place. With c cores, number n < c is the first hardware thread
    of core n. The second threads of the cores follow, as Linux counts them.
    """
    places = parse_places(shape.binding)
    if isinstance(places, NamedPlaces):
        sizes = {"ll_caches": shape.last, "numa_domains": shape.own,
                 "sockets": shape.own * shape.per}  # fmt: skip
        size = sizes.get(places.name, 1)
        all_of = [tuple(range(at, at + size)) for at in range(0, shape.cores, size)]
        if places.name == "threads":
            all_of = [place for place in all_of for _ in range(shape.hardware)]
        return all_of[: places.most]
    last = shape.cores * shape.hardware - 1
    if max(map(max, places)) > last:
        raise UsageError(
            f"'{shape.binding}' names hardware thread {max(map(max, places))}",
            remedy=f"the hardware threads of the machine are 0 to {last}",
        )
    return list(places)


def cores_filled_first(machine: Machine) -> int:
    """The number of cores that threads fill before they use another package. All cores if threads
    use several packages from the start.
    """
    each, shape = machine.cores_per_package, machine.shape
    if not shape.in_order:
        return each if shape.binding == "close" else machine.cores
    packages = {core // each for core in _core_order(shape)[:each]}
    return machine.cores if len(packages) > 1 else each


def threads_of_places(machine: Machine) -> range:
    """The numbers of threads for which each thread has a core, if places leave out cores. Empty
    otherwise.
    """
    if machine.binding in BINDINGS:
        return range(0)
    cores = len({*_core_order(machine.shape)})
    return range(1, cores + 1) if cores < machine.cores else range(0)


def cache_sharers(machine: Machine, cores: int, threads: int) -> int:
    """The maximum number of threads on `cores` cores that share a cache. It is larger if there are
    fewer threads.
    """
    shape = machine.shape
    if shape.in_order:
        return max(_sums_of_groups(_threads_by_core(shape, threads), cores))
    if shape.binding == "spread" and threads < machine.cores:
        return -(-threads * cores // machine.cores)
    return cores * threads_on_a_core(machine, threads)


def threads_of_second_caches(machine: Machine) -> int:
    """The number of second-level caches that threads use before two threads share one. 1 if they
    share one from the start.
    """
    shape = machine.shape
    return len({core // shape.joined for core in _core_order(shape)}) if shape.in_order else 1


def speed_of_cores(machine: Machine, threads: int, *, static: bool) -> float:
    """The speed of the used cores relative to the first core. Static pieces are equal, so the
    slowest core determines it. For other schedules, it is the mean of all cores.
    """
    speeds = machine.node.core_speed
    if speeds is None:
        return 1.0
    used = [
        (speeds.step(core % machine.cores_per_package + 1), count)
        for core, count in enumerate(_threads_by_core(machine.shape, threads)) if count
    ]  # fmt: skip
    if static:
        return min(speed for speed, _ in used)
    return sum(speed * count for speed, count in used) / threads


def threads_on_a_physical_core(machine: Machine, threads: int, *, static: bool) -> float:
    """The number of threads on the fullest physical core, or the average if the schedule is not
    `static`.
    """
    each = machine.vcpus_per_core
    if each == 1 and machine.binding in BINDINGS:
        return float(-(-threads // machine.cores)) if static else max(1.0, threads / machine.cores)
    counts = _sums_of_groups(_threads_by_core(machine.shape, threads), each)
    return float(max(counts)) if static else threads / sum(count > 0 for count in counts)


def threads_on_a_core(machine: Machine, threads: int) -> int:
    """The maximum number of threads per core if `threads` are used."""
    return thread_places(machine, threads).on_a_core


def packages_of(machine: Machine, threads: int) -> int:
    """The number of packages that this many threads use."""
    return thread_places(machine, threads).packages
