"""Computes the placement of threads on the cores, NUMA domains and sockets of a machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from regionpredict.errors import UsageError
from regionpredict.machine.model import BINDINGS, Machine, NodeShape
from regionpredict.machine.places import NamedPlaces, parse_places


class ThreadPlaces(NamedTuple):
    """The numbers of threads by NUMA domain and by socket, and the maximum per core.

    `packages` is the number of used sockets. `crowd` is the number of threads in the fullest
    domain, `together` the number in the fullest socket, and `in_other_packages` the number in all
    other sockets.

    Threads share cores only if they exceed the number of cores. The first cores then have an
    additional thread, like in OpenMP's distribution of threads over places (OpenMP 5.2, sec.
    10.1.3).
    """

    by_domain: tuple[int, ...]
    by_package: tuple[int, ...]
    on_a_core: int
    packages: int
    crowd: int
    together: int
    in_other_packages: int


def thread_places(machine: Machine, threads: int) -> ThreadPlaces:
    """Returns the placement of `threads` threads on a machine, according to its binding.

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
    """Returns the cached placement of `threads` threads on a node."""
    if shape.in_order:
        counts = _threads_by_core(shape, threads)
        by_domain, most = _sums_of_groups(counts, shape.own), max(counts)
    else:
        each, rest = divmod(threads, shape.cores)
        starts = range(0, shape.cores + 1, shape.own)
        if shape.binding == "close":
            first = [min(rest, core) for core in starts]
        else:
            # Thread t has core floor(t * cores / threads), so this is the first thread of `core`.
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
    """Returns the sums of each `size` consecutive counts.

    >>> _sums_of_groups((1, 2, 3, 4), 2)
    (3, 7)
    """
    if size == 1:
        return tuple(counts)
    return tuple([sum(counts[at : at + size]) for at in range(0, len(counts), size)])


@lru_cache(maxsize=256)
def _threads_by_core(shape: NodeShape, threads: int) -> tuple[int, ...]:
    """Returns the number of threads on each core of the node."""
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
    """Returns the order in which threads use cores. A core occurs once per place, and once per
    hardware thread of a place.
    """
    cores = range(shape.cores)
    if shape.binding in BINDINGS:
        joined = shape.joined if shape.binding == "caches" else 1
        return tuple(sorted(cores, key=lambda core: (core % joined, core)))
    places = [
        [thread % shape.cores for thread in place] for place in _hardware_threads_of_places(shape)
    ]
    # Additional threads start again at the first place, on its next hardware thread.
    turns = range(max(map(len, places)))
    return tuple(place[turn % len(place)] for turn in turns for place in places)


def _hardware_threads_of_places(shape: NodeShape) -> list[tuple[int, ...]]:
    """Returns the hardware threads of each place.

    With c cores, hardware thread n < c is the first one of core n, and n + c is the second one, as
    Linux numbers them.
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
    """Returns the number of cores that threads fill before they use another socket. All cores if
    threads use several sockets from the start.
    """
    each, shape = machine.cores_per_package, machine.shape
    if not shape.in_order:
        return each if shape.binding == "close" else machine.cores
    packages = {core // each for core in _core_order(shape)[:each]}
    return machine.cores if len(packages) > 1 else each


def threads_of_places(machine: Machine) -> range:
    """Returns the numbers of threads for which each thread has a core, if the places do not include
    all cores. Empty for other bindings.
    """
    if machine.binding in BINDINGS:
        return range(0)
    cores = len({*_core_order(machine.shape)})
    return range(1, cores + 1) if cores < machine.cores else range(0)


def cache_sharers(machine: Machine, cores: int, threads: int) -> int:
    """Returns the maximum number of threads on a group of `cores` cores that share a cache."""
    shape = machine.shape
    if shape.in_order:
        return max(_sums_of_groups(_threads_by_core(shape, threads), cores))
    if shape.binding == "spread" and threads < machine.cores:
        return -(-threads * cores // machine.cores)
    return cores * threads_on_a_core(machine, threads)


def threads_of_second_caches(machine: Machine) -> int:
    """Returns the number of threads up to which each thread has a separate second-level cache. 1 if
    the first two threads share a cache.
    """
    shape = machine.shape
    return len({core // shape.joined for core in _core_order(shape)}) if shape.in_order else 1


def speed_of_cores(machine: Machine, threads: int, *, static: bool) -> float:
    """Returns the speed of the used cores relative to the first core: the minimum for `static`
    schedules, and the mean for others.
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
    """Returns the number of threads on the fullest physical core for `static` schedules, or the
    mean for others.
    """
    each = machine.vcpus_per_core
    if each == 1 and machine.binding in BINDINGS:
        return float(-(-threads // machine.cores)) if static else max(1.0, threads / machine.cores)
    counts = _sums_of_groups(_threads_by_core(machine.shape, threads), each)
    return float(max(counts)) if static else threads / sum(count > 0 for count in counts)


def threads_on_a_core(machine: Machine, threads: int) -> int:
    """Returns the maximum number of threads per core with `threads` threads."""
    return thread_places(machine, threads).on_a_core


def packages_of(machine: Machine, threads: int) -> int:
    """Returns the number of sockets that this number of threads uses."""
    return thread_places(machine, threads).packages
