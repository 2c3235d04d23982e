"""Where the threads of a team lie: on which domains, and how many share a core."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from regionpredict.machine.model import Machine


class ThreadPlaces(NamedTuple):
    """A team on the node: threads by domain, by package, and the most of any core.

    Up to the cores, each thread has one of its own. Beyond them the first cores have one more than
    the last, as OpenMP deals a team out to fewer places (OpenMP 5.2, sec. 10.1.3).
    """

    by_domain: tuple[int, ...]
    by_package: tuple[int, ...]
    on_a_core: int

    @property
    def packages(self) -> int:
        """Packages that have any of them."""
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
    def apart(self) -> int:
        """Threads outside the fullest package."""
        return sum(self.by_package) - self.together


def thread_places(machine: Machine, threads: int) -> ThreadPlaces:
    """Where `threads` lie on a machine, bound as it says.

    >>> from regionpredict.machine import load
    >>> node = load("skylake-gold-6148-snc")
    >>> thread_places(node, 15).by_domain
    (10, 5, 0, 0)
    >>> thread_places(node.as_run(binding="spread"), 6).by_domain
    (2, 1, 2, 1)
    >>> thread_places(node, 50).by_domain, thread_places(node, 50).on_a_core
    ((20, 10, 10, 10), 2)
    """
    cores, own = machine.cores, machine.cores_per_domain
    each, rest = divmod(threads, cores)
    first = [_cores_before(machine, domain * own, rest) for domain in range(machine.domains + 1)]
    by_domain = tuple(each * own + after - before for before, after in pairwise(first))
    per = machine.domains_per_package
    return ThreadPlaces(
        by_domain,
        tuple(sum(by_domain[at : at + per]) for at in range(0, len(by_domain), per)),
        threads_on_a_core(machine, threads),
    )


def threads_on_a_core(machine: Machine, threads: int) -> int:
    """The most of a team of `threads` that any core has."""
    return -(-threads // machine.cores)


def packages_of(machine: Machine, threads: int) -> int:
    """Packages that a team of so many threads uses."""
    return thread_places(machine, threads).packages


def _cores_before(machine: Machine, core: int, threads: int) -> int:
    """How many of `threads` on cores of their own lie before a core."""
    if machine.binding == "close":
        return min(threads, core)
    # Thread t has core floor(t * cores / threads): so many t have one below `core`.
    return -(-core * threads // machine.cores)
