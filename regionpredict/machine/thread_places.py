"""The placement of threads: on which domains, and how many share a core."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from regionpredict.machine.model import Machine


class ThreadPlaces(NamedTuple):
    """The threads on the node: threads by domain, by package, and the maximum per core.

    Up to the number of cores, each thread has its own core. With more threads, the first cores have
    one more than the last, as OpenMP distributes threads over fewer places (OpenMP 5.2, sec.
    10.1.3).
    """

    by_domain: tuple[int, ...]
    by_package: tuple[int, ...]
    on_a_core: int

    @property
    def packages(self) -> int:
        """Packages with threads."""
        return sum(1 for threads in self.by_package if threads)

    @property
    def crowd(self) -> int:
        """Threads of the fullest domain."""
        return max(self.by_domain)

    @property
    def together(self) -> int:
        """Threads of the fullest package."""
        return max(self.by_package)

    @property
    def in_other_packages(self) -> int:
        """Threads outside the fullest package."""
        return sum(self.by_package) - self.together


def thread_places(machine: Machine, threads: int) -> ThreadPlaces:
    """The places of `threads` on a machine, by its binding.

    >>> from regionpredict.machine import load
    >>> node = load("skylake-gold-6148-snc")
    >>> thread_places(node, 15).by_domain
    (10, 5, 0, 0)
    >>> thread_places(node.as_run(binding="spread"), 6).by_domain
    (2, 1, 2, 1)
    >>> thread_places(load("dunnington").as_run(binding="caches"), 15).by_package
    (6, 3, 3, 3)
    >>> thread_places(node, 50).by_domain, thread_places(node, 50).on_a_core
    ((20, 10, 10, 10), 2)
    """
    packages, per, own = machine.packages, machine.domains_per_package, machine.cores_per_domain
    joined = machine.cores_per_second_cache if machine.binding == "caches" else 1
    return _places(packages, per, own, machine.cores, machine.binding, threads, joined)


@lru_cache(maxsize=4096)  # every construct of every region asks for the same teams
def _places(
    packages: int, per: int, own: int, cores: int, binding: str, threads: int, joined: int
) -> ThreadPlaces:
    """Like `thread_places`, for `per` domains per package with `own` cores each, `joined` of which
    share a second-level cache.
    """
    each, rest = divmod(threads, cores)
    whole = each * own
    starts = range(0, packages * per * own + 1, own)
    if binding == "caches":
        first = [_over_caches(rest, core, cores // joined, joined) for core in starts]
    elif binding == "close":
        first = [min(rest, core) for core in starts]
    else:
        # Thread t has core floor(t * cores / threads): so many t have one below a core.
        first = [-(-cores_below * rest // cores) for cores_below in starts]
    by_domain = tuple([whole + after - before for before, after in pairwise(first)])
    by_package = by_domain
    if per > 1:
        by_package = tuple([sum(by_domain[at : at + per]) for at in range(0, packages * per, per)])
    return ThreadPlaces(by_domain, by_package, each + (rest > 0))


def _over_caches(threads: int, core: int, caches: int, joined: int) -> int:
    """The threads on the cores below `core`, if each second-level cache gets one thread before any
    gets two. `joined` cores share one.

    >>> [_over_caches(5, core, 4, 2) for core in (0, 4, 8)]
    [0, 3, 5]
    """
    below = 0
    for turn in range(joined):
        here = min(caches, max(0, threads - turn * caches))
        below += min(here, max(0, -(-(core - turn) // joined)))
    return below


def threads_on_a_core(machine: Machine, threads: int) -> int:
    """The maximum number of threads per core for `threads`."""
    return -(-threads // machine.cores)


def packages_of(machine: Machine, threads: int) -> int:
    """The number of packages used by this many threads."""
    return thread_places(machine, threads).packages
