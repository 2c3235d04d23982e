"""Selects sockets and threads from an expected speedup curve and the price of cores.

A hint maximizes the logarithm of the expected speed minus the price of the cores. A socket costs
`PACKAGE_PRICE` times the allowed loss of a hint. One part of the price is for using the socket at
all, and the other part is for each core.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.machine import Machine, cores_filled_first, packages_of
from regionpredict.predict.constants import OPENED_SHARE, PACKAGE_PRICE, WITHIN
from regionpredict.predict.uncertainty import ExpectedSpeedup, chance_of


class Hint(NamedTuple):
    """The selected numbers of sockets and threads. `margin` is the smallest relative change of
    speed that would change the number of sockets, rounded to six decimals.
    """

    packages: int
    threads: int
    margin: float


def hint_from(
    outlook: Sequence[ExpectedSpeedup], cores_per_package: int, within: float = WITHIN.value,
    price: float = PACKAGE_PRICE.value,
) -> Hint:  # fmt: skip
    """Returns the sockets and threads with the best expected speed minus the price of their cores.

    A socket with all its cores costs `price` times the allowed loss `within`.

    >>> speeds = ((1, 1.0, 0.0), (2, 1.9, 0.6), (3, 2.1, 0.62))
    >>> curve = [ExpectedSpeedup(*speed, 0.0) for speed in speeds]
    >>> hint_from(curve, 1), hint_from(curve, 1, within=0.0)
    (Hint(packages=2, threads=2, margin=0.08), Hint(packages=3, threads=3, margin=0.02))
    """
    return _cheapest_hint(
        _costs_by_threads(outlook, cores_per_package, price * within), cores_per_package
    )


def hint_on(
    machine: Machine, outlook: Sequence[ExpectedSpeedup], within: float = WITHIN.value
) -> Hint:
    """Returns the hint of a curve on a machine, with the sockets that its threads use.

    Only one thread per core is considered, unless all allowed counts exceed the cores.
    """
    hint = hint_from(one_per_core(machine, outlook), cores_filled_first(machine), within)
    return hint._replace(packages=packages_of(machine, hint.threads))


def one_per_core(machine: Machine, outlook: Sequence[ExpectedSpeedup]) -> list[ExpectedSpeedup]:
    """Returns the points of a curve with at most one thread per core, or all points if none has."""
    cores = machine.cores
    return [expected for expected in outlook if expected.threads <= cores] or list(outlook)


def _costs_by_threads(
    outlook: Sequence[ExpectedSpeedup], cores_per_package: int, price: float
) -> dict[int, float]:
    """Returns, for each number of threads, the price of the cores minus the logarithm of the
    expected speed.
    """
    opened, used = OPENED_SHARE.value * price, (1.0 - OPENED_SHARE.value) * price
    return {
        expected.threads: round(
            opened * -(-expected.threads // cores_per_package)
            + used * expected.threads / cores_per_package
            - expected.gain,
            9,
        )
        for expected in outlook
    }


def _cheapest_hint(costs: Mapping[int, float], cores_per_package: int) -> Hint:
    threads = min(costs, key=lambda count: (costs[count], count))
    packages = -(-threads // cores_per_package)
    others = [cost for count, cost in costs.items() if -(-count // cores_per_package) != packages]
    margin = min(others) - costs[threads] if others else 1.0
    return Hint(packages, threads, round(margin, 6))


class Seats(NamedTuple):
    """The number of threads, the threads per core, and the speedup with several per core."""

    threads: int
    on_a_core: int = 1
    speedup: float | None = None


def seats_of(
    hint: Hint, speedup: Sequence[tuple[int, float]], doubled: tuple[int, float] | None,
    machine: Machine, within: float,
) -> Seats:  # fmt: skip
    """Decides whether a hint uses all hardware threads of its sockets. They must gain more than
    `within` over one thread per core on the same sockets.

    `doubled` contains the number of all these hardware threads and their speedup.
    """
    most = max(
        (value for threads, value in speedup if packages_of(machine, threads) <= hint.packages),
        default=0.0,
    )
    if doubled is None or doubled[1] * (1.0 - within) <= most:
        return Seats(hint.threads)
    return Seats(doubled[0], machine.threads_per_core, doubled[1])


class Choice(NamedTuple):
    """A hint, the equally good numbers of threads, and the probability that the hint is right.

    `good` numbers of threads use the same sockets and cost at most the allowed loss more than the
    hint. One thread is good only if it is the hint. `fast` numbers are within the allowed loss of
    the best speed, at any price.
    """

    hint: Hint
    good: frozenset[int]
    chance: float = 1.0
    fast: frozenset[int] = frozenset()

    @property
    def kind(self) -> tuple[int, bool]:
        """The number of sockets, and whether the hint has more than one thread."""
        return self.hint.packages, self.hint.threads > 1

    @property
    def serving(self) -> frozenset[int]:
        """The numbers of threads within the allowed loss of a hint."""
        return self.good | self.fast


def choice_from(
    outlook: Sequence[ExpectedSpeedup], cores_per_package: int, within: float = WITHIN.value
) -> Choice:
    """Returns the hint of a curve, with all equally good numbers of threads.

    >>> speeds = (0.0, 0.6, 0.62, 0.65)
    >>> curve = [ExpectedSpeedup(threads, 1.0, gain, 0.0) for threads, gain in enumerate(speeds, 1)]
    >>> choice = choice_from(curve, 3)
    >>> choice.hint.threads, sorted(choice.good)
    (3, [2, 3])
    """
    costs = _costs_by_threads(outlook, cores_per_package, PACKAGE_PRICE.value * within)
    hint = _cheapest_hint(costs, cores_per_package)
    chance = chance_of(outlook, hint.threads, within)
    best = max(expected.gain for expected in outlook)
    fast = frozenset(
        expected.threads for expected in outlook if expected.gain >= best + math.log1p(-within)
    )
    if hint.threads == 1:
        return Choice(hint, frozenset({1}), chance, fast)
    good = {
        count for count, cost in costs.items()
        if count > 1 and cost <= costs[hint.threads] + within
        and -(-count // cores_per_package) == hint.packages
    }  # fmt: skip
    return Choice(hint, frozenset(good), chance, fast)


def choice_on(
    machine: Machine, outlook: Sequence[ExpectedSpeedup], within: float = WITHIN.value
) -> Choice:
    """Returns the hint of a curve on a machine, with the sockets that its threads use."""
    choice = choice_from(outlook, cores_filled_first(machine), within)
    packages = packages_of(machine, choice.hint.threads)
    good = frozenset(count for count in choice.good if packages_of(machine, count) == packages)
    return choice._replace(hint=choice.hint._replace(packages=packages), good=good)


def common_threads(choices: Sequence[Choice]) -> frozenset[int]:
    """Returns the numbers of threads that are good in all choices. Empty if the numbers of sockets
    differ.
    """
    if len({choice.kind for choice in choices}) != 1:
        return frozenset()
    return frozenset.intersection(*(choice.good for choice in choices))
