"""Predictions of measured series at their largest point, held out, beside Extra-P's if installed.

    python tests/benchmarks/bench_fit_real.py SERIES.json [--only SUBSTRING] [--series]

The file is a list of series: `group`, `name`, `params`, `points` (tuples), `values` (lists of
repetitions) and `strong` (whether more processors divide the same work). The last point, by all
parameters, is left out and predicted from the others. Extra-P models the values, and the values
times the first parameter, whose model divided by it is often the better one for strong scaling.

Every group counts alike, however many series it has: a share is the mean of the groups' shares, an
error the median of the groups' medians. A comparison is decided where the errors lie more than
half a percentage point apart. "The better of both" is, for every series, the one of Extra-P's two
models that came nearer, which nobody can know beforehand. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from extrap_models import ExtraP

from regionpredict.fit import fit

DECIDED = 0.5  # percentage points between the errors
LEVEL = 0.9
FEWEST = 4  # points left to model from


@dataclass(frozen=True)
class HeldOut:
    """A series without its largest point, and that point with the mean of its repetitions."""

    group: str
    name: str
    strong: bool
    parameters: tuple[str, ...]
    points: list[tuple[float, ...]]
    values: list[list[float]]
    point: tuple[float, ...]
    truth: float


@dataclass(frozen=True)
class Outcome:
    """Errors in percent, and whether the interval held the truth (None: withheld)."""

    series: HeldOut
    ours: float
    covered: bool
    width: float
    rivals: tuple[float, ...]


def held_out(series: dict[str, Any]) -> HeldOut | None:
    """The series without its largest point; None where too few are left, or nothing to err by."""
    points = [tuple(map(float, np.atleast_1d(point))) for point in series["points"]]
    values = [[v for v in row if v is not None and np.isfinite(v)] for row in series["values"]]
    last = max(range(len(points)), key=lambda k: points[k])
    left = [k for k in range(len(points)) if k != last and values[k]]
    if len(left) < FEWEST or not values[last] or not np.mean(values[last]):
        return None
    return HeldOut(
        group=series["group"],
        name=series["name"],
        strong=bool(series["strong"]),
        parameters=tuple(series["params"]),
        points=[points[k] for k in left],
        values=[values[k] for k in left],
        point=points[last],
        truth=float(np.mean(values[last])),
    )


@dataclass(frozen=True)
class Times:
    """Points and values as Extra-P's models take them."""

    points: list[tuple[float, ...]]
    values: list[list[float]]


def rival_predictions(rival: ExtraP, series: HeldOut) -> tuple[float, float]:
    """What Extra-P predicts from the values, and from the values times the first parameter."""
    work = [[v * p[0] for v in row] for p, row in zip(series.points, series.values, strict=True)]
    predicted = []
    for values, divisor in ((series.values, 1.0), (work, series.point[0])):
        function = rival.model([Times(series.points, values)])[0][0]
        at = series.point[0] if len(series.point) == 1 else series.point
        predicted.append(float(function.evaluate(at)) / divisor)
    return predicted[0], predicted[1]


def error(predicted: float, truth: float) -> float:
    """In percent of the truth; a prediction that is no number misses by everything."""
    return 100 * abs(predicted / truth - 1) if np.isfinite(predicted) else 100.0


def outcome(series: HeldOut, rival: ExtraP | None) -> Outcome:
    """Both tools' errors for one series."""
    model = fit(series.points, series.values, parameters=series.parameters, min_points=FEWEST)
    band = model.interval(series.point, LEVEL)
    slack = 1e-9 * abs(series.truth)
    return Outcome(
        series=series,
        ours=error(model.predict(series.point), series.truth),
        covered=band.low - slack <= series.truth <= band.high + slack,
        width=100 * (band.high - band.low) / abs(series.truth),
        rivals=tuple(error(value, series.truth) for value in rival_predictions(rival, series))
        if rival is not None
        else (),
    )


def by_group(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes of every group."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.series.group].append(outcome)
    return groups


def won(outcomes: list[Outcome], theirs: Callable[[Outcome], float]) -> str:
    """The share of decided comparisons won, every group alike, and the plain counts."""
    shares, wins, losses = [], 0, 0
    for group in by_group(outcomes).values():
        gaps = [theirs(outcome) - outcome.ours for outcome in group]
        decided = [gap > 0 for gap in gaps if abs(gap) > DECIDED]
        if decided:
            shares.append(np.mean(decided))
            wins += sum(decided)
            losses += len(decided) - sum(decided)
    share = f"{100 * np.mean(shares):.0f} %" if shares else "-"
    return f"{share} ({wins} to {losses})"


def coverage(outcomes: list[Outcome]) -> str:
    """How many intervals hold the truth, in percent: every group alike, and of all series."""
    groups = [
        np.mean([outcome.covered for outcome in group]) for group in by_group(outcomes).values()
    ]
    share = np.mean([outcome.covered for outcome in outcomes])
    return f"{100 * np.mean(groups):.0f} ({100 * share:.0f} of all series)"


def typical(outcomes: list[Outcome], figure: Callable[[Outcome], float]) -> float:
    """The median of the groups' medians."""
    return float(
        np.median([np.median([figure(o) for o in group]) for group in by_group(outcomes).values()])
    )


def summary(outcomes: list[Outcome]) -> None:
    """Prints what the groups say together, growing and strong scaling apart."""
    kinds = {
        "growing": [outcome for outcome in outcomes if not outcome.series.strong],
        "strong": [outcome for outcome in outcomes if outcome.series.strong],
    }
    with_rival = all(outcome.rivals for outcome in outcomes)
    print(
        "| | "
        + " | ".join(f"{k}: {len(v)} of {len(by_group(v))} groups" for k, v in kinds.items())
        + " |"
    )
    print("| --- | --- | --- |")
    rows: dict[str, Callable[[list[Outcome]], str]] = {
        "median error, ours, %": lambda some: f"{typical(some, lambda o: o.ours):.1f}"
    }
    if with_rival:
        rivals: dict[str, Callable[[Outcome], float]] = {
            "Extra-P on time": lambda o: o.rivals[0],
            "Extra-P on time x p": lambda o: o.rivals[1],
            "the better of both": lambda o: min(o.rivals),
        }
        for name, figure in rivals.items():
            rows[f"median error, {name}, %"] = lambda some, f=figure: f"{typical(some, f):.1f}"  # type: ignore[misc]
        for name, figure in rivals.items():
            rows[f"won against {name}"] = lambda some, f=figure: won(some, f)  # type: ignore[misc]
    rows["90 % intervals that hold the truth, %"] = coverage
    rows["their width, % of the truth"] = lambda some: f"{typical(some, lambda o: o.width):.0f}"
    for name, row in rows.items():
        print(
            f"| {name} | "
            + " | ".join(row(some) if some else "-" for some in kinds.values())
            + " |"
        )


def groups_table(outcomes: list[Outcome]) -> None:
    """Prints one row a group."""
    print("\n| group | series | ours, % | Extra-P, % | x p, % | covered |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, group in sorted(by_group(outcomes).items()):
        theirs = [
            f"{np.median([o.rivals[k] for o in group]):.1f}" if group[0].rivals else "-"
            for k in (0, 1)
        ]
        print(
            f"| {name} | {len(group)} | {np.median([o.ours for o in group]):.1f} | "
            f"{' | '.join(theirs)} | {np.mean([o.covered for o in group]):.0%} |"
        )


def main() -> None:
    """Runs what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("series", type=Path, help="JSON: a list of series")
    parser.add_argument("--only", default="", help="groups whose name has this")
    parser.add_argument("--series", dest="each", action="store_true", help="a row for every series")
    parser.add_argument("--no-rival", action="store_true")
    options = parser.parse_args()
    rival = None
    if not options.no_rival:
        try:
            rival = ExtraP()
            print(f"Extra-P {rival.version}\n")
        except ImportError:
            print("Extra-P is not installed: ours alone\n")
    read = [held_out(record) for record in json.loads(options.series.read_text())]
    series = [
        measured for measured in read if measured is not None and options.only in measured.group
    ]
    outcomes = [outcome(measured, rival) for measured in series]
    print(f"{len(outcomes)} series; {len(read) - len(series)} left out\n")
    summary(outcomes)
    groups_table(outcomes)
    if options.each:
        print("\n| series | truth | ours, % | Extra-P, % | covered |")
        print("| --- | --- | --- | --- | --- |")
        for o in outcomes:
            theirs = ", ".join(f"{e:.1f}" for e in o.rivals)
            print(
                f"| {o.series.group}: {o.series.name} | {o.series.truth:.4g} | {o.ours:.1f} | "
                f"{theirs} | {o.covered} |"
            )


if __name__ == "__main__":
    main()
