"""What do static priors gain over a search? Run after bench_term_models.py, with its folder:

    python tests/benchmarks/bench_static_priors.py FOLDER

Of each region that runs longer than a millisecond, the largest size is left out and predicted from
the others, in these ways (errors are medians over regions):

search            the terms of docs/fit.md, without any knowledge of the region
prediction        the prediction alone
known terms       a factor for each predicted term, as `compare --by-size`
one more term     the predicted time as a term of its own, with a constant or a power of the size;
                  the best of these and the search when each size is left out in turn
shrinkage         factors of known terms drawn to those of other programs
regimes           known terms; sizes with the predicted shares of the largest size weigh most
Gaussian process  of the logarithm of measured over predicted, over sizes and threads
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from unittest import mock

import numpy as np
from bench_term_models import LEAST_S, SERIES
from click.testing import CliRunner
from scipy.optimize import nnls
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from regionpredict.cli.compare import command
from regionpredict.compare import term_models as known_terms
from regionpredict.compare.term_models import GROUPS, SizedTime
from regionpredict.errors import InputError
from regionpredict.fit import fit

Times = Sequence[SizedTime]
POWERS = (0.0, 0.5, 1.0, 1.5, 2.0)
DRAWN = 0.3  # the spread of factors between programs, as a share: assumed
SIMILAR = 0.2  # the difference between predicted shares at which a size counts half: assumed


def times_of(folder: Path) -> dict[str, dict[str, list[SizedTime]]]:
    """By suite and region, the measured times with the terms of the prediction at each size."""
    suites: dict[str, dict[str, list[SizedTime]]] = {}
    model = known_terms.term_model

    def noted(region: str, times: Times) -> object:
        regions.setdefault(region, []).extend(times)
        return model(region, times)

    for series in SERIES:
        files = [folder / series.name / f"{m[0].partition('=')[2]}.jsonl" for m in series.sizes]
        there = [str(file) for file in files if file.exists()]
        regions = suites.setdefault(series.suite, {})
        if len(there) < 3:
            continue
        words = [str(folder / series.name / "hints.json"), *there, "--by-size"]
        words += ["--with-disturbed", "--other-machine"]
        with mock.patch.object(known_terms, "term_model", noted):
            done = CliRunner().invoke(command, [*words, "--statistic", "least", "--format", "json"])
        if done.exception is not None:
            sys.exit(done.output)
    return suites


def searched(known: Times, asked: Times) -> list[float]:
    several = len({time.threads for time in known}) > 1

    def point(time: SizedTime) -> tuple[float, ...]:
        return (time.iterations, float(time.threads)) if several else (time.iterations,)

    model = fit([point(t) for t in known], [[t.seconds] for t in known], min_points=2)
    return [float(v) for v in model.formula_values(np.array([point(t) for t in asked]))]


def with_terms(known: Times, asked: Times) -> list[float]:
    factors = known_terms._fit_factors(known)
    return [known_terms._total_seconds(factors, time.terms) for time in asked]


def scaled(power: float | None) -> Callable[[Times, Times], list[float]]:
    """c1 x prediction, and with a power c2 x size^power, by relative errors."""

    def columns(times: Times) -> np.ndarray:
        rows = [[t.predicted] + ([] if power is None else [t.iterations**power]) for t in times]
        return np.array(rows)

    def answer(known: Times, asked: Times) -> list[float]:
        seconds = np.array([time.seconds for time in known])
        matrix = columns(known) / seconds[:, None]
        size = np.abs(matrix).max(axis=0)
        factors = nnls(matrix / size, np.ones(len(seconds)))[0] / size
        return [float(value) for value in columns(asked) @ factors]

    return answer


def one_more_term(known: Times, asked: Times) -> list[float]:
    ways = [searched, scaled(None), *map(scaled, POWERS)]

    def left_out(way: Callable[[Times, Times], list[float]]) -> float:
        errors = []
        for size in sorted({time.iterations for time in known}):
            rest = [time for time in known if time.iterations != size]
            gone = [time for time in known if time.iterations == size]
            try:
                told = way(rest, gone)
            except InputError:  # too few points for a search
                return float("inf")
            errors += [abs(v / t.seconds - 1) for v, t in zip(told, gone, strict=True)]
        return float(np.mean(errors))

    return min(ways, key=left_out)(known, asked)


def by_regime(known: Times, asked: Times) -> list[float]:
    """Weights are put into the times' relative errors by scaling rows of the least squares."""

    def share(time: SizedTime) -> np.ndarray:
        parts = np.array([known_terms._group_seconds(name, time.terms) for name in GROUPS])
        return parts / parts.sum()

    answers = []
    for time in asked:
        near = [np.abs(share(one) - share(time)).sum() / 2 for one in known]
        weights = np.sqrt(0.5 ** (np.array(near) / SIMILAR))
        answers.append(_drawn(known, time, weights, None))
    return answers


def _drawn(
    known: Times, asked: SizedTime, weights: np.ndarray | None, center: np.ndarray | None
) -> float:
    largest = max(time.iterations for time in known)
    nearness = np.array([time.iterations / largest for time in known])
    if weights is not None:
        nearness = nearness * weights
    nearness /= np.sqrt(np.square(nearness).mean())
    rows = np.array(
        [[known_terms._group_seconds(n, t.terms) / t.seconds for n in GROUPS] for t in known]
    )
    common = median(time.seconds / time.predicted for time in known)
    middle = common * (np.ones(len(GROUPS)) if center is None else center)
    spread = known_terms.SPREAD if center is None else DRAWN
    noise = 0.05**2
    strength = np.sqrt(max(noise / spread**2, 1e-12))
    left = np.vstack([nearness[:, None] * rows, np.diag(strength / middle)])
    right = np.concatenate([nearness, np.full(len(GROUPS), strength)])
    factors = nnls(left, right)[0]
    return float(
        sum(
            f * known_terms._group_seconds(n, asked.terms)
            for f, n in zip(factors, GROUPS, strict=True)
        )
    )


def shrunk(others: Sequence[Times]) -> Callable[[Times, Times], list[float]]:
    """The center of the factors is the median of those of other programs, over their common one."""
    ratios = []
    for times in others:
        factors = known_terms._fit_factors(times)
        common = median(time.seconds / time.predicted for time in times)
        ratios.append([max(factors.get(name, common) / common, 0.05) for name in GROUPS])
    center = np.median(np.array(ratios), axis=0)
    return lambda known, asked: [_drawn(known, time, None, center) for time in asked]


def process(known: Times, asked: Times) -> list[float]:
    def place(times: Times) -> np.ndarray:
        return np.log2([[max(time.iterations, 1.0), time.threads] for time in times])

    kernel = ConstantKernel(0.3**2, "fixed") * RBF((4.0, 1.0), "fixed") + WhiteKernel(
        0.05**2, "fixed"
    )
    target = np.log([time.seconds / time.predicted for time in known])
    middle = float(np.median(target))
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(place(known), target - middle)
    rest = model.predict(place(asked)) + middle
    return [float(t.predicted * np.exp(r)) for t, r in zip(asked, rest, strict=True)]


def main() -> None:
    """Reads, predicts, prints."""
    suites = times_of(Path(sys.argv[1]).resolve())
    everything: dict[str, list[float]] = {}
    for suite, regions in suites.items():
        long = {}
        for region, times in regions.items():
            sizes = sorted({time.iterations for time in times})
            last = [t for t in times if t.iterations == sizes[-1]]
            if len(sizes) >= 3 and min(t.seconds for t in last) > LEAST_S:
                long[region] = ([t for t in times if t.iterations < sizes[-1]], last)
        errors: dict[str, list[float]] = {}
        for region, (known, asked) in long.items():
            program = region.rsplit("/", 1)[0]
            others = [k for name, (k, _) in long.items() if name.rsplit("/", 1)[0] != program]
            ways: dict[str, Callable[[Times, Times], list[float]]] = {
                "search": searched,
                "prediction": lambda known, asked: [time.predicted for time in asked],
                "known terms": with_terms,
                "one more term": one_more_term,
                "shrinkage": shrunk(others),
                "regimes": by_regime,
                "Gaussian process": process,
            }
            for name, way in ways.items():
                told = way(known, asked)
                missed = [abs(v / t.seconds - 1) for v, t in zip(told, asked, strict=True)]
                errors.setdefault(name, []).append(100 * median(missed))
        print(f"{suite}: {len(long)} regions")
        for name, missed in errors.items():
            everything.setdefault(name, []).extend(missed)
            print(f"{name:<18}{median(missed):6.1f} %")
    print("both")
    for name, missed in everything.items():
        print(f"{name:<18}{median(missed):6.1f} %")


if __name__ == "__main__":
    main()
