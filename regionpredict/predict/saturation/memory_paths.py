"""The paths from threads to the pages that they work on: memories, and the link between packages.

A page is near where its domain is of the thread's own package, else far. Near lines come in the
time `1 + w`, far ones in `l + w`, in units of an unloaded near line: `l` is the ratio of the two
latencies and `w` the wait at the memory, as long as makes its threads get together what it delivers
(Little's law). It delivers what its measured curve says of as many near cores as would ask for so
much. Far lines of a package's threads queue at the link besides, one server of a closed queue (mean
value analysis by Schweitzer's approximation, which takes numbers of customers that are not whole:
Lazowska, Zahorjan, Graham and Sevcik 1984, sec. 6.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from regionpredict.machine import Machine
from regionpredict.machine.thread_places import ThreadPlaces, thread_places


class PageShares(NamedTuple):
    """Shares of a region's memory traffic by where its pages lie.

    `single` goes to the domain `home`, `interleaved` to all domains in turn, the rest to each
    thread's own.
    """

    single: float
    interleaved: float = 0.0
    home: int = 0

    @property
    def own(self) -> float:
        """The share of each thread's own domain."""
        return max(0.0, 1.0 - self.single - self.interleaved)

    @property
    def all_own(self) -> bool:
        """Whether every thread has its pages in its own domain."""
        return not self.single and not self.interleaved


class _Line(NamedTuple):
    """Seconds a byte of one memory, of a near and of a far thread."""

    near: float
    far: float


class MemoryPaths:
    """What threads get of memories and links where not all of their pages are in their domain."""

    def __init__(
        self, machine: Machine, pages: PageShares, *, static: bool,
        domain: Callable[[float, float], float],
    ) -> None:  # fmt: skip
        """`domain`: B/s of one domain by the near cores that ask and the share of write-backs."""
        self.machine = machine
        self.pages = pages
        self.static = static
        self._domain = domain
        memory = machine.memory
        self.farther = max(1.0, memory.remote_latency_cycles.value / memory.latency_cycles.value)

    def rate(self, asking: float, threads: int, writes: float) -> float:
        """B/s that `asking` of a team's `threads` share at the pace of the slowest of them.

        Where work is handed out as threads are free, at the pace of all together.
        """
        placement = thread_places(self.machine, threads)
        active = asking / threads
        lines = self._lines(placement, active, writes)
        seconds = {
            domain: self._seconds(domain, placement, lines, active, writes)
            for domain, count in enumerate(placement.by_domain)
            if count
        }
        if self.static:
            return asking / max(seconds.values())
        return active * sum(placement.by_domain[at] / each for at, each in seconds.items())

    def _lines(self, placement: ThreadPlaces, active: float, writes: float) -> list[_Line]:
        """By domain, with as many threads on it as their pages bring there."""
        pages, team = self.pages, sum(placement.by_domain)
        known: dict[tuple[float, float], _Line] = {}
        lines = []
        for domain, own in enumerate(placement.by_domain):
            package = placement.by_package[self._package(domain)]
            shared = pages.interleaved / self.machine.domains
            if domain == pages.home:
                shared += pages.single
            near = pages.own * own + shared * package
            demand = active * near, active * shared * (team - package)
            if demand not in known:
                known[demand] = self._served(*demand, writes)
            lines.append(known[demand])
        return lines

    def _served(self, near: float, far: float, writes: float) -> _Line:
        """Of a memory that so many near and far threads ask at a time."""
        alone = self._domain(1.0, writes)
        as_near = near + far / self.farther
        delivered = self._domain(max(1.0, as_near), writes) * min(1.0, as_near) / alone
        if delivered <= 0.0:
            return _Line(1.0 / alone, self.farther / alone)
        # near / (1 + w) + far / (l + w) = delivered, in bandwidths of one near core
        b = delivered * (1.0 + self.farther) - near - far
        c = delivered * self.farther - near * self.farther - far
        wait = max(0.0, _larger_root(delivered, b, c))
        return _Line((1.0 + wait) / alone, (self.farther + wait) / alone)

    def _seconds(
        self, domain: int, placement: ThreadPlaces, lines: list[_Line], active: float, writes: float
    ) -> float:
        """Seconds a byte of a thread of that domain."""
        pages, package = self.pages, self._package(domain)

        def reach(other: int) -> float:
            line = lines[other]
            return line.near if self._package(other) == package else line.far

        seconds = pages.own * lines[domain].near + pages.single * reach(pages.home)
        if pages.interleaved:
            each = pages.interleaved / self.machine.domains
            seconds += each * sum(reach(other) for other in range(self.machine.domains))
        link = self._on_the_link(package, placement, writes)
        return with_queue(seconds, link, active * placement.by_package[package])

    def _on_the_link(self, package: int, placement: ThreadPlaces, writes: float) -> float:
        """Seconds for which a byte of the package's threads holds its busiest link.

        Lines come in, and what the threads at its other end write back goes the same way; at each
        other end there are taken to be as many of them.
        """
        memory, packages, pages = self.machine.memory, self.machine.packages, self.pages
        if memory.link_bytes_per_s is None or packages == 1:
            return 0.0
        spread = pages.interleaved / packages
        home = self._package(pages.home) == package
        own = placement.by_package[package]
        others = (sum(placement.by_package) - own) / (packages - 1)
        share = (spread + (0.0 if home else pages.single)) * (1.0 - writes)
        back = (spread + (pages.single if home else 0.0)) * writes * others / own
        return (share + back) / memory.link_bytes_per_s.value

    def _package(self, domain: int) -> int:
        return domain // self.machine.domains_per_package


def with_queue(seconds: float, service: float, customers: float) -> float:
    """Seconds until one of so many customers is done who each takes `seconds` alone, of which
    `service` with a server that they share.

    One customer never waits; many take the time that the server needs for them all.

    >>> with_queue(4.0, 1.0, 1.0), round(with_queue(4.0, 1.0, 400.0))
    (4.0, 400)
    """
    think_time = max(0.0, seconds - service)
    # R = service (1 + (N - 1)/N Q) with the queue Q = N R / (Z + R), of think time Z: quadratic.
    return think_time + _larger_root(
        1.0, think_time - max(1.0, customers) * service, -service * think_time
    )


def _larger_root(a: float, b: float, c: float) -> float:
    """Of a x^2 + b x + c = 0; rounding takes no root of less than nothing."""
    half = b / 2.0
    return (math.sqrt(max(0.0, half * half - a * c)) - half) / a
