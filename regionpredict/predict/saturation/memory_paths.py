"""Computes the bandwidth of memories and of links between sockets, if threads use pages in other
NUMA domains.

A page is near if its domain is on the thread's own socket, and far otherwise. Near lines take
`1 + w` and far lines `l + w`, in units of an unloaded near line. `l` is the ratio of the latencies.
The wait `w` is chosen so that all threads together get the measured bandwidth of the memory
(Little's law). Far lines also queue at the link, which is the server of a closed queue. Mean value
analysis with Schweitzer's approximation solves this queue for fractional numbers of customers
(Lazowska, Zahorjan, Graham and Sevcik 1984, sec. 6.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.machine.thread_places import ThreadPlaces, thread_places


class PageShares(NamedTuple):
    """The shares of a region's memory traffic by the NUMA placement of pages.

    `single` is the share of pages on the domain `home`, and `interleaved` the share of pages on all
    domains in turn. The remaining pages are on each thread's own domain.
    """

    single: float
    interleaved: float = 0.0
    home: int = 0

    @property
    def own(self) -> float:
        """The share of traffic to pages on each thread's own domain."""
        return max(0.0, 1.0 - self.single - self.interleaved)

    @property
    def all_own(self) -> bool:
        """Whether every thread has all its pages in its own domain."""
        return not self.single and not self.interleaved


class _MemoryLoad(NamedTuple):
    """The seconds per byte from the memory of one domain, for near and for far threads."""

    near: float
    far: float


class MemoryPaths:
    """The bandwidth of memories and links if some pages are in other domains."""

    def __init__(
        self, machine: Machine, pages: PageShares, *, static: bool,
        domain: Callable[[float, float], float],
    ) -> None:  # fmt: skip
        """`domain` returns the bandwidth of one domain in B/s, for a number of requesting near
        cores and a share of write-backs.
        """
        self.machine = machine
        self.pages = pages
        self.static = static
        self._domain = domain
        memory = machine.memory
        self.farther = max(1.0, memory.remote_latency_cycles.value / memory.latency_cycles.value)

    def rate(self, asking: float, threads: int, writes: float) -> float:
        """Returns the total bandwidth in B/s of `asking` requesting threads out of `threads`.

        With static schedules, all threads are as slow as the slowest one.
        """
        placement = thread_places(self.machine, threads)
        active = asking / threads
        lines = self._memory_loads(placement, active, writes)
        seconds = {
            domain: self._seconds_per_byte(domain, placement, lines, active, writes)
            for domain, count in enumerate(placement.by_domain)
            if count
        }
        if self.static:
            return asking / max(seconds.values())
        return active * sum(placement.by_domain[at] / each for at, each in seconds.items())

    def _memory_loads(
        self, placement: ThreadPlaces, active: float, writes: float
    ) -> list[_MemoryLoad]:
        """Returns, for each domain, the seconds per byte of threads that access its pages."""
        pages, team = self.pages, sum(placement.by_domain)
        known: dict[tuple[float, float], _MemoryLoad] = {}
        lines = []
        for domain, own in enumerate(placement.by_domain):
            package = placement.by_package[self._socket_of_domain(domain)]
            shared = pages.interleaved / self.machine.domains
            if domain == pages.home:
                shared += pages.single
            near = pages.own * own + shared * package
            demand = active * near, active * shared * (team - package)
            if demand not in known:
                known[demand] = self._load_of_memory(*demand, writes)
            lines.append(known[demand])
        return lines

    def _load_of_memory(self, near: float, far: float, writes: float) -> _MemoryLoad:
        """Returns the seconds per byte of a memory that near and far threads use at the same
        time.
        """
        alone = self._domain(1.0, writes)
        as_near = near + far / self.farther
        delivered = self._domain(max(1.0, as_near), writes) * min(1.0, as_near) / alone
        if delivered <= 0.0:
            return _MemoryLoad(1.0 / alone, self.farther / alone)
        # near / (1 + w) + far / (l + w) = delivered, in bandwidths of one near core
        b = delivered * (1.0 + self.farther) - near - far
        c = delivered * self.farther - near * self.farther - far
        wait = max(0.0, _larger_root(delivered, b, c))
        return _MemoryLoad((1.0 + wait) / alone, (self.farther + wait) / alone)

    def _seconds_per_byte(
        self,
        domain: int,
        placement: ThreadPlaces,
        lines: list[_MemoryLoad],
        active: float,
        writes: float,
    ) -> float:
        """Returns the seconds per byte for a thread on `domain`, including the link."""
        pages, package = self.pages, self._socket_of_domain(domain)

        def reach(other: int) -> float:
            line = lines[other]
            return line.near if self._socket_of_domain(other) == package else line.far

        seconds = pages.own * lines[domain].near + pages.single * reach(pages.home)
        if pages.interleaved:
            each = pages.interleaved / self.machine.domains
            seconds += each * sum(reach(other) for other in range(self.machine.domains))
        link = self._on_the_link(package, placement, writes)
        return with_queue(seconds, link, active * placement.by_package[package])

    def _on_the_link(self, package: int, placement: ThreadPlaces, writes: float) -> float:
        """Returns the seconds per byte in which a socket's threads occupy its busiest link.

        Incoming lines, and write-backs of threads on the other socket, use the same link. All other
        sockets are assumed to have equal traffic.
        """
        memory, packages, pages = self.machine.memory, self.machine.packages, self.pages
        if memory.link_bytes_per_s is None or packages == 1:
            return 0.0
        spread = pages.interleaved / packages
        home = self._socket_of_domain(pages.home) == package
        own = placement.by_package[package]
        others = (sum(placement.by_package) - own) / (packages - 1)
        share = (spread + (0.0 if home else pages.single)) * (1.0 - writes)
        back = (spread + (pages.single if home else 0.0)) * writes * others / own
        return (share + back) / memory.link_bytes_per_s.value

    def _socket_of_domain(self, domain: int) -> int:
        return domain // self.machine.domains_per_package


def with_queue(seconds: float, service: float, customers: float) -> float:
    """Returns the seconds of a customer's cycle in a closed queue. A single customer takes
    `seconds`, including `service` at a common server.

    A single customer never waits. Many customers take the service time of all customers.

    >>> with_queue(4.0, 1.0, 1.0), round(with_queue(4.0, 1.0, 400.0))
    (4.0, 400)
    """
    think_time = max(0.0, seconds - service)
    # R = service (1 + (N - 1)/N Q) with the queue Q = N R / (Z + R), of think time Z: quadratic.
    return think_time + _larger_root(
        1.0, think_time - max(1.0, customers) * service, -service * think_time
    )


def _larger_root(a: float, b: float, c: float) -> float:
    """Returns the larger root of a x^2 + b x + c = 0. A discriminant that is negative because of
    rounding counts as 0.
    """
    half = b / 2.0
    return (math.sqrt(max(0.0, half * half - a * c)) - half) / a
