"""Packages and threads from a curve: the fewest within a share of the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regionpredict.machine import Machine, packages_of
from regionpredict.predict.constants import WITHIN


class Hint(NamedTuple):
    """`margin` is how far, as a share of the best, the choice of packages is from turning."""

    packages: int
    threads: int
    margin: float


def hint_from(
    speedup: Sequence[tuple[int, float]], cores_per_package: int, within: float = WITHIN.value
) -> Hint:
    """The fewest packages, and threads, whose speedup is within `within` of the best.

    >>> hint_from([(1, 1.0), (2, 1.9), (3, 1.95), (4, 3.8)], 2)
    Hint(packages=2, threads=4, margin=0.45)
    """
    best = max(value for _, value in speedup)
    by_package: dict[int, float] = {}
    for threads, value in speedup:
        packages = -(-threads // cores_per_package)
        by_package[packages] = max(by_package.get(packages, 0.0), value)
    enough = (1 - within) * best
    packages = min(number for number, value in by_package.items() if value >= enough)
    threads = min(count for count, value in speedup if value >= enough)  # among those packages
    others = [value for number, value in by_package.items() if number < packages]
    # How far the runner-up is from being enough, or this choice from not being enough.
    margins = [abs(enough - value) / best for value in others]
    if packages < max(by_package):
        margins.append(abs(by_package[packages] - enough) / best)
    return Hint(packages, threads, round(min(margins, default=1.0), 6))


class Seats(NamedTuple):
    """Threads, how many of them share a core, and of several how many times faster they are."""

    threads: int
    on_a_core: int = 1
    speedup: float | None = None


def seats_of(
    hint: Hint, speedup: Sequence[tuple[int, float]], doubled: tuple[int, float] | None,
    machine: Machine, within: float,
) -> Seats:  # fmt: skip
    """The hint's threads, or all hardware threads of its packages where these gain more than
    `within` over any team on the same packages with one thread a core.

    `doubled` are those threads and their speedup.
    """
    most = max(
        (value for threads, value in speedup if packages_of(machine, threads) <= hint.packages),
        default=0.0,
    )
    if doubled is None or doubled[1] * (1.0 - within) <= most:
        return Seats(hint.threads)
    return Seats(doubled[0], machine.threads_per_core, doubled[1])


class Choice(NamedTuple):
    """A hint, and the numbers of threads that are as good: on as many packages, within the same
    share of the best, and one only where the hint is one."""

    hint: Hint
    good: frozenset[int]

    @property
    def kind(self) -> tuple[int, bool]:
        """Packages, and whether more than one thread."""
        return self.hint.packages, self.hint.threads > 1


def choice_from(
    speedup: Sequence[tuple[int, float]], cores_per_package: int, within: float = WITHIN.value
) -> Choice:
    """The hint of a curve with all that are as good.

    >>> sorted(choice_from([(1, 1.0), (2, 1.9), (3, 1.9), (4, 1.95)], 3).good)
    [2, 3]
    """
    hint = hint_from(speedup, cores_per_package, within)
    enough = (1 - within) * max(value for _, value in speedup)
    good = {
        count for count, value in speedup
        if value >= enough and -(-count // cores_per_package) == hint.packages
    }  # fmt: skip
    return Choice(hint, frozenset({1} if hint.threads == 1 else good))


def common_threads(choices: Sequence[Choice]) -> frozenset[int]:
    """The numbers of threads that are good in all choices; none where these differ in kind."""
    if len({one.kind for one in choices}) != 1:
        return frozenset()
    return frozenset.intersection(*(one.good for one in choices))
