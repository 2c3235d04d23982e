"""How often the bands of isoefficiency contain the true answer, on simulated programs.

    python tests/benchmarks/bench_isoefficiency.py [SEED] [PROGRAMS]

A program has work n^a and two of these losses: a serial part, a tree of messages, a halo,
contention for memory, unequal blocks, and a cost per processor. Its times at p = 1 to 16 and five
sizes have noise. The size that keeps an efficiency of 0.8 is asked at p = 16, 32 and 64, and the
number of processors at the second, fourth and four times the largest size.
"""

from __future__ import annotations

import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import partial

from regionpredict.errors import InputError
from regionpredict.fit.laws.efficiency_surface import (
    Solution,
    fit_efficiency,
    most_threads,
    reason_to_withhold,
    size_for,
    smallest_size,
    threads_for,
)

Surface = Callable[[float, float], float]
THREADS = (1, 2, 4, 8, 16)
GOAL = 0.8


def program(rng: random.Random) -> tuple[Surface, list[float]]:
    """The efficiency of a random program, and five sizes at which it varies."""
    power, base = rng.choice((1.0, 1.5, 2.0, 3.0)), 10 ** rng.uniform(2, 4)
    sizes = [base * 2**step for step in range(5)]
    work = lambda n: (n / base) ** power  # noqa: E731
    share = lambda low, high: 10 ** rng.uniform(math.log10(low), math.log10(high))  # noqa: E731
    a, b, c, d, e, f = (
        share(0.01, 0.1), share(0.01, 0.1), share(0.02, 0.2), share(0.1, 1), share(0.005, 0.05),
        rng.uniform(1, 8),
    )  # fmt: skip
    losses: list[Surface] = [
        lambda p, n: a * work(n) ** 0.5 * (1 - 1 / p),
        lambda p, n: b * math.log2(p),
        lambda p, n: c * work(n) ** 0.5 / p**0.5 * (p > 1),
        lambda p, n: d * work(n) / p * max(p / f - 1, 0) / 16,
        lambda p, n: 0.5 * work(n) / (8 * (n / base) ** 0.5 * f) * (1 - 1 / p),
        lambda p, n: e * (p - 1),
    ]
    chosen = rng.sample(losses, 2)

    def efficiency(p: float, n: float) -> float:
        lost = sum(loss(p, n) for loss in chosen)
        return work(n) / (work(n) + p * lost)

    return efficiency, sizes


def main(seed: int, programs: int) -> None:
    """Prints the coverage, the share of one-sided bands, and the width of the others."""
    rng = random.Random(seed)
    found: dict[str, list[tuple[bool, bool, float]]] = defaultdict(list)
    for _ in range(programs):
        truth, sizes = program(rng)
        noise = rng.choice((0.01, 0.02, 0.05))
        reference = {n: rng.gauss(1, noise) for n in sizes}
        measured = {
            (p, n): truth(p, n) * reference[n] / rng.gauss(1, noise)
            for p in THREADS for n in sizes if p > 1
        }  # fmt: skip
        try:
            model = fit_efficiency(list(measured), list(measured.values()))
        except InputError:
            continue
        for p in (16, 32, 64):
            right = smallest_size(partial(truth, p), GOAL)
            _note(found, f"n at p = {p}", right, size_for(model, p, GOAL), model, measured, p, 0)
        for name, n in (("second", sizes[1]), ("fourth", sizes[3]), ("4x", 4 * sizes[4])):
            right = most_threads(partial(_swapped, truth, n), GOAL)
            _note(
                found, f"p at {name} n", right, threads_for(model, n, GOAL), model, measured, 0, n
            )
    print("question        answered  coverage  one-sided  median high/low")
    for name, answers in found.items():
        widths = sorted(width for _, open_, width in answers if not open_)
        middle = widths[len(widths) // 2] if widths else math.nan
        print(f"{name:14} {len(answers):9} {_share([a[0] for a in answers]):9} "
              f"{_share([a[1] for a in answers]):10} {middle:16.2f}")  # fmt: skip


def _note(found, name, right, solved: Solution, model, measured, p, n) -> None:  # type: ignore[no-untyped-def]
    if solved.value is None or right is None or reason_to_withhold(
        model, list(measured), p or solved.value, n or solved.value
    ):  # fmt: skip
        return
    low, high = solved.low or 0.0, math.inf if solved.high is None else solved.high
    held = low * (1 - 1e-9) <= right <= high * (1 + 1e-9)
    open_ = low <= 1 or high >= 1e18
    found[name].append((held, open_, high / max(low, 1e-300)))


def _swapped(truth: Surface, n: float, p: float) -> float:
    return truth(p, n)


def _share(flags: list[bool]) -> str:
    return f"{100 * sum(flags) / len(flags):.0f} %"


if __name__ == "__main__":
    main(*(int(word) for word in (sys.argv[1:] + ["1", "200"][len(sys.argv) - 1 :])))
