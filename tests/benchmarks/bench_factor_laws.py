"""How far off factors of larger runs are by the mean of laws, the best law, and eq. 5, on synthetic
series of losses with known causes.

    python tests/benchmarks/bench_factor_laws.py [SEED [SERIES]]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from regionpredict.trace.extrapolation import DEFAULT_LAW, LAWS, fit_factor

DOUBLINGS = (0, 1, 2, 3, 4, 6)
PUBLISHED = ("amdahl-efficiency", "pipeline", "constant")


def loss(random: np.random.Generator) -> Callable[[int], float]:
    """A factor over processes, of one of ten causes."""
    part = float(10 ** random.uniform(-2.3, -0.5))
    share = float(random.uniform(0.05, 1.0))
    items = float(10 ** random.uniform(3, 6))
    cells = int(10 ** random.uniform(1.5, 4))
    slow = int(random.integers(1, 5))

    def largest(processes: int) -> float:
        """Of so many normal shares, in their standard deviation."""
        return float(random.normal(size=(30, processes)).max(axis=1).mean())

    def box(processes: int) -> float:
        side = max(1, round(processes ** (1 / 3)))
        return cells / side / np.ceil(cells / side)

    causes: tuple[Callable[[int], float], ...] = (
        lambda p: (p + share * min(slow, p)) / (p * (1 + share)),
        lambda p: 1 / (1 + part * largest(p)),
        lambda p: cells / p / np.ceil(cells / p),
        box,
        lambda p: 1 / (1 + part / 4 * (p - 1)),
        lambda p: p / ((1 - share) + share * (2 * p - 1)),
        lambda p: 1 / (1 + part * np.log2(p)),
        lambda p: 1 / (1 + part * p ** (1 / 3)),
        lambda p: 1 / (1 + part * p**0.5),
        lambda p: 1 / (1 + np.sqrt(p / items) * largest(p)),
    )
    return causes[int(random.integers(len(causes)))]


def series(random: np.random.Generator) -> list[tuple[int, float]]:
    """One cause, or the product of two, over doublings of the first width, with noise."""
    first = int(random.choice([1, 1, 1, 2, 4, 6, 12]))
    causes = [loss(random) for _ in range(int(random.integers(1, 3)))]
    noise = float(10 ** random.uniform(-4, -2.3))
    values = []
    for doubling in DOUBLINGS:
        width = first << doubling
        value = float(np.prod([cause(width) for cause in causes]))
        values.append((width, float(np.clip(value * (1 + noise * random.normal()), 0.01, 1.0))))
    return values


def main() -> None:
    """Prints mean errors in points."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    random = np.random.default_rng(seed)
    for known, asked in ((3, 3), (4, 4), (4, 5)):
        errors: dict[str, list[float]] = {}
        as_close = 0
        for _ in range(count):
            values = series(random)
            width, true = values[asked]
            model = fit_factor("load_balance", values[:known])
            by_law = {
                law: abs(fit_factor("load_balance", values[:known], law).value(width) - true)
                for law in LAWS
            }
            held_out = {law: error or 0.0 for law, _, error in model.rivals}
            least = min(held_out, key=lambda law: held_out[law])
            mean = abs(model.value(width) - true)
            both = {"least error": by_law[least], "eq. 5": by_law[DEFAULT_LAW]}
            for name, error in {"mean of laws": mean, **both}.items():
                errors.setdefault(name, []).append(100 * error)
            as_close += mean <= min(by_law[law] for law in PUBLISHED) + 0.001
        print(f"{known} sizes, {2 ** (DOUBLINGS[asked] - DOUBLINGS[known - 1])} times the largest:")
        for name, all_of in errors.items():
            print(f"  {name:<14}{np.mean(all_of):6.2f} points, median {np.median(all_of):.2f}")
        print(f"  as close as the best published form within 0.1 points: {as_close / count:.0%}")


if __name__ == "__main__":
    main()
