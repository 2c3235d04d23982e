"""Accuracy and speed of the empirical models on simulated data, beside Extra-P's if installed.

    python tests/benchmarks/bench_fit.py [--count 200] [--seed 2] [--only SUBSTRING] [--no-speed]

Every case has a known generating function; noise is relative, normal or uniform, with five
repetitions a point. Extra-P (`pip install extrap==4.2.5` into the same environment) models the
same data in the same process. The weights of the model selection were chosen with seed 1; other
seeds are held out. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from extrap_models import ExtraP

from regionpredict.fit import fit, fit_many
from regionpredict.fit.model.terms import DEFAULT_TERMS, evaluate_term, is_growth

COMMON = [(0, 1), (0, 2), (0.5, 0), (1, 0), (1, 1), (1.5, 0), (2, 0), (2, 1), (3, 0)]
AXES = ([4, 8, 16, 32, 64], [8, 16, 32, 64, 128], [32, 64, 128, 256, 512])
STRETCH = 0.1  # seconds
GRID_AXES = ([4, 8, 16, 32, 64], [10, 20, 30, 40, 50], [2, 4, 6, 8, 10])


@dataclass(frozen=True)
class Sample:
    """Simulated measurements and the truth behind them."""

    points: list[tuple[float, ...]]
    values: list[list[float]]
    truth: Callable[[Any], float]
    leading: dict[int, tuple[float, float]]


def noisy(rng: Any, truth: Any, noise: float, kind: str) -> list[list[float]]:
    """Five repetitions a point with relative noise."""
    shape = (len(truth), 5)
    error = rng.normal(0, noise, shape) if kind == "normal" else rng.uniform(-noise, noise, shape)
    return (np.asarray(truth)[:, None] * (1 + error)).tolist()


def sums(rng: Any, axis: list[int], parts: list[Any], noise: float, kind: str) -> Sample:
    """A sum of `(coefficient, term)`, the constant being the term `(0, 0)`."""

    def truth(x: Any) -> float:
        value = x[0] if isinstance(x, tuple) else x
        return float(sum(c * evaluate_term(t, float(value)) for c, t in parts))

    growing = [t for c, t in parts if c and is_growth(t)]
    points = [(float(p),) for p in axis]
    values = noisy(rng, [truth(p) for p in points], noise, kind)
    return Sample(points, values, truth, {0: max(growing)} if growing else {})


def one_term(terms: list[Any]) -> Callable[..., Sample]:
    """A constant from 1 to 10 and one term with a coefficient from 0.1 to 1."""

    def make(rng: Any, noise: float, kind: str) -> Sample:
        axis = AXES[rng.integers(len(AXES))]
        term = terms[rng.integers(len(terms))]
        parts = [(rng.uniform(1, 10), (0, 0)), (rng.uniform(0.1, 1), term)]
        return sums(rng, axis, parts, noise, kind)

    return make


def constant(rng: Any, noise: float, kind: str) -> Sample:
    """A constant from 0.001 to 1000."""
    axis = AXES[rng.integers(len(AXES))]
    return sums(rng, axis, [(10 ** rng.uniform(-3, 3), (0, 0))], noise, kind)


def two_terms(count: int, shares: str) -> Callable[..., Sample]:
    """A constant and two common terms at `count` points.

    `shares`: `equal` coefficients from 0.1 to 1 beside a constant from 1 to 10, or `random`
    shares of the value at the last point.
    """

    def make(rng: Any, noise: float, kind: str) -> Sample:
        first = AXES[rng.integers(len(AXES))][0]
        axis = [first * 2**k for k in range(count)]
        a, b = (COMMON[k] for k in rng.choice(len(COMMON), 2, replace=False))
        if shares == "equal":
            c = [rng.uniform(1, 10), rng.uniform(0.1, 1), rng.uniform(0.1, 1)]
        else:
            w = 10 ** rng.uniform(-1, 2) * rng.dirichlet([1, 1, 1])
            c = [w[0], w[1] / evaluate_term(a, axis[-1]), w[2] / evaluate_term(b, axis[-1])]
        return sums(rng, axis, [(c[0], (0, 0)), (c[1], a), (c[2], b)], noise, kind)

    return make


def amdahl(law: str, count: int = 6) -> Callable[..., Sample]:
    """Amdahl's law with a serial part of 2 to 20 % from p = 1, with or without overhead."""

    def make(rng: Any, noise: float, kind: str) -> Sample:
        whole, serial = rng.uniform(10, 100), rng.uniform(0.02, 0.2)
        parts = [(whole * serial, (0, 0)), (whole * (1 - serial), (-1, 0))]
        if law == "log":
            parts.append((whole * rng.uniform(0.01, 0.05), (0, 1)))
        elif law == "linear":
            parts.append((whole * rng.uniform(0.002, 0.02), (1, 0)))
        return sums(rng, [2**k for k in range(count)], parts, noise, kind)

    return make


def kinked(count: int) -> Callable[..., Sample]:
    """One common term below the middle of `count` points in powers of two, another one above."""

    def make(rng: Any, noise: float, kind: str) -> Sample:
        axis = [float(4 * 2**k) for k in range(count)]
        a, b = (COMMON[k] for k in rng.choice(len(COMMON), 2, replace=False))
        change = axis[count // 2]
        # At the change the second law begins between 0.3 and 3 times where the first one is.
        top = float(evaluate_term(a, change)) * rng.uniform(0.1, 1) + rng.uniform(1, 10)
        below = (top * rng.uniform(0.05, 0.5), top / float(evaluate_term(a, change)))
        level = top * rng.choice([rng.uniform(0.3, 0.6), rng.uniform(1.6, 3)])
        share = rng.uniform(0.3, 0.9)
        above = (level * (1 - share), level * share / float(evaluate_term(b, change)))

        def truth(x: Any) -> float:
            value = float(x[0] if isinstance(x, tuple) else x)
            (base, slope), term = (below, a) if value < change else (above, b)
            return float(base + slope * evaluate_term(term, value))

        points = [(p,) for p in axis]
        return Sample(points, noisy(rng, [truth(p) for p in points], noise, kind), truth, {0: b})

    return make


def hiccups(count: int, seed: int) -> None:
    """Prints how often one of 300 values, a thousand times too large, changes a leading term."""
    print("\n| statistic | leading terms changed by a hiccup | which took the least value itself |")
    print("| --- | --- | --- |")
    for statistic in ("median", "minimum"):
        rng = np.random.default_rng(seed)
        changed = itself = 0
        for _ in range(count):
            axis = [4 * 2**k for k in range(6)]
            term = COMMON[rng.integers(len(COMMON))]
            parts = [(rng.uniform(1, 10), (0, 0)), (rng.uniform(0.1, 1), term)]
            sample = sums(rng, axis, parts, 0.05, "normal")
            values = [  # 300 values, 50 a point
                [sample.truth(p) * (1 + error) for error in rng.normal(0, 0.05, 50)] for p in axis
            ]
            before = fit(sample.points, values, statistic=statistic)  # type: ignore[arg-type]
            row = values[rng.integers(len(values))]
            place = rng.integers(50)
            gone = statistic == "minimum" and row[place] == min(row)
            row[place] *= 1000
            after = fit(sample.points, values, statistic=statistic)  # type: ignore[arg-type]
            other = not same(leading(before.terms), leading(after.terms))
            changed += other
            itself += other and gone
        print(f"| {statistic} | {changed} of {count} | {itself} |", flush=True)


def grid(parameters: int, shape: str) -> Callable[..., Sample]:
    """Full grids of five values a parameter; `irrelevant`: the last one has no influence."""

    def make(rng: Any, noise: float, kind: str) -> Sample:
        mesh = np.meshgrid(*GRID_AXES[:parameters], indexing="ij")
        points = np.stack(mesh, -1).reshape(-1, parameters).astype(float)
        terms = [COMMON[rng.integers(len(COMMON))] for _ in range(parameters)]
        used = parameters - (shape == "irrelevant")
        product = tuple(range(used))
        monomials = {
            "sum": [(k,) for k in range(used)],
            "balanced sum": [(k,) for k in range(used)],
            "product": [product],
            "irrelevant": [product],
            "mixed": [(0,), product],
        }[shape]
        c = [rng.uniform(1, 10), *rng.uniform(0.1, 1, len(monomials))]
        if shape == "balanced sum":  # every term counts at the largest point
            tops = [float(evaluate_term(terms[k], float(GRID_AXES[k][-1]))) for k in range(used)]
            c = [c[0], *(10 * share / top for share, top in zip(c[1:], tops, strict=True))]

        def truth(x: Any) -> Any:
            x = np.asarray(x, dtype=float)
            total = c[0] + 0 * x[..., 0]
            for k, monomial in zip(c[1:], monomials, strict=True):
                total = total + k * np.prod(
                    [evaluate_term(terms[m], x[..., m]) for m in monomial], axis=0
                )
            return total

        values = noisy(rng, truth(points), noise, kind)
        return Sample(
            [tuple(p) for p in points.tolist()], values, truth, {k: terms[k] for k in range(used)}
        )

    return make


def leading(terms: Any) -> dict[int, tuple[float, float]]:
    """For each parameter the fastest growing term it has anywhere."""
    fastest: dict[int, tuple[float, float]] = {}
    for coefficient, monomial in terms:
        for index, term in monomial.items():
            if coefficient and is_growth(term):
                fastest[index] = max(fastest.get(index, (0.0, 0.0)), tuple(term))
    return fastest


def same(a: dict[int, Any], b: dict[int, Any]) -> bool:
    """Whether two sets of leading terms agree."""
    return set(a) == set(b) and all(np.allclose(a[k], b[k]) for k in a)


NOISES = (0.02, 0.05, 0.10)
CASES: list[tuple[str, Callable[..., Sample], tuple[float, ...], str]] = [
    ("one common term", one_term(COMMON), NOISES, "leading"),
    ("one term of all 50", one_term(list(DEFAULT_TERMS)), NOISES, "leading"),
    ("constant", constant, NOISES, "leading"),
    *(
        (f"two terms, {shares}, {count} points", two_terms(count, shares), (0.02,), "within")
        for shares in ("equal", "random")
        for count in (5, 6, 8)
    ),
    *((f"kinked, {count} points", kinked(count), (0.02,), "error") for count in (8, 10, 12)),
    *((f"Amdahl {law}", amdahl(law), (0.02,), "error") for law in ("plain", "log", "linear")),
    *(
        (f"{parameters} parameters, {shape}", grid(parameters, shape), (0.02, 0.10), "leading")
        for parameters in (2, 3)
        for shape in ("sum", "balanced sum", "product", "mixed", "irrelevant")
    ),
    *(
        (f"{k} parameters, irrelevant one in", grid(k, "irrelevant"), (0.02, 0.10), "intruder")
        for k in (2, 3)
    ),
]


def measure(kind: str, samples: list[Sample], terms: list[Any], predict: list[Any]) -> str:
    """The figure of one case: a rate in percent, or a median error in percent."""
    if kind == "leading":
        rate = np.mean([same(leading(t), s.leading) for t, s in zip(terms, samples, strict=True)])
        return f"{100 * rate:.1f}"
    if kind == "intruder":
        last = len(samples[0].points[0]) - 1
        return f"{100 * np.mean([last in leading(t) for t in terms]):.1f}"
    errors, negative = [], 0
    for sample, f in zip(samples, predict, strict=True):
        point = (16 * sample.points[-1][0],)
        value = f(point)
        negative += value < 0
        errors.append(abs(value / sample.truth(point) - 1))
    if kind == "within":
        return f"{100 * np.mean(np.array(errors) < 0.1):.1f}"
    return f"{100 * np.median(errors):.1f} ({negative} < 0)"


def covered(samples: list[Sample], models: list[Any]) -> str:
    """How many 90 % intervals hold the truth at four times the range, in percent."""
    held = []
    for sample, model in zip(samples, models, strict=True):
        point = tuple(4 * p for p in sample.points[-1])
        band = model.interval(point, 0.9)
        held.append(band.low <= sample.truth(point) <= band.high)
    return f"{100 * np.mean(held):.0f}"


def accuracy(count: int, seed: int, only: str, rival: ExtraP | None) -> None:
    """Prints the table of accuracies."""
    units = {
        "leading": "leading term exact, %",
        "intruder": "irrelevant parameter in the model, %",
        "within": "within 10 % at 16 times the range, %",
        "error": "median error at 16 times the range, %",
    }
    print("| case | noise | figure | regionpredict | Extra-P | in 90 % interval at 4 times |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, make, noises, figure in CASES:
        if only not in name:
            continue
        for noise in noises:
            for kind in ("normal", "uniform"):
                rng = np.random.default_rng([seed, round(1000 * noise), kind == "normal"])
                samples = [make(rng, noise, kind) for _ in range(count)]
                models = [fit(s.points, s.values) for s in samples]
                ours = measure(
                    figure, samples, [m.terms for m in models], [m.predict for m in models]
                )
                theirs = "-"
                if rival is not None:
                    functions = rival.all(samples)
                    theirs = measure(
                        figure,
                        samples,
                        [rival.terms(f) for f in functions],
                        [lambda p, f=f: float(f.evaluate(p[0])) for f in functions],
                    )
                print(
                    f"| {name} | {noise:.0%} {kind} | {units[figure]} | {ours} | {theirs} | "
                    f"{covered(samples, models)} |",
                    flush=True,
                )


def seconds_each(models: Callable[[], object], count: int) -> float:
    """Processor time of each of `count` models, made again and again for as long as theirs take.

    The first ones after another tool ran find its data in the caches.
    """
    start, calls = time.process_time(), 0
    while (spent := time.process_time() - start) < STRETCH:
        models()
        calls += 1
    return spent / (calls * count)


def speed(count: int, seed: int, rival: ExtraP | None) -> None:
    """Prints models per second of processor time, both tools in turns on the same data."""
    print(
        "\n| parameters | one by one, models/s | together, models/s | Extra-P, models/s | times |"
    )
    print("| --- | --- | --- | --- | --- |")
    makers = {1: one_term(COMMON), 2: grid(2, "mixed"), 3: grid(3, "mixed")}
    for parameters, make in makers.items():
        rng = np.random.default_rng(seed)
        made = [make(rng, 0.05, "normal") for _ in range(4 * count)]
        samples = [s for s in made if s.points == made[0].points]
        repetitions = [s.values for s in samples]
        few = samples[: max(4, count // 20)]
        single, together, theirs = [], [], []
        for _ in range(5):
            single.append(
                seconds_each(
                    lambda some=samples: [fit(s.points, s.values) for s in some], len(samples)
                )
            )
            together.append(
                seconds_each(
                    lambda some=repetitions, at=samples[0].points: fit_many(at, some), len(samples)
                )
            )
            if rival is not None:
                theirs.append(rival.model(few)[1] / len(few))
        a, b = 1 / min(single), 1 / min(together)
        c = 1 / min(theirs) if theirs else float("nan")
        print(f"| {parameters} | {a:.0f} | {b:.0f} | {c:.1f} | {a / c:.0f} and {b / c:.0f} |")


def main() -> None:
    """Runs what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="samples a case")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose name has this")
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--no-accuracy", action="store_true")
    options = parser.parse_args()
    try:
        rival = ExtraP()
        print(f"Extra-P {rival.version}\n")
    except ImportError:
        rival = None
    if not options.no_accuracy:
        accuracy(options.count, options.seed, options.only, rival)
        if not options.only or options.only in "hiccup":
            hiccups(5 * options.count // 2, options.seed)
    if not options.no_speed:
        speed(options.count, options.seed, rival)


if __name__ == "__main__":
    main()
