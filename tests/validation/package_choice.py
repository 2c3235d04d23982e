"""One or two packages: the model's choice for a program, held against measured speedups."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from regionpredict.frontend import requests_for
from regionpredict.machine import Machine
from regionpredict.pipeline import analyse, predict_region
from regionpredict.predict.curve import SaturationDerivation
from regionpredict.predict.hints import hint_from

Speed = dict[int, float]
ALLOWED = 0.95  # a choice is right from this share of the best measured speed on


class Choice(NamedTuple):
    """One program and size: speedups by threads, measured and predicted, and the packages chosen.

    `enough` are the numbers of packages that reach 95 % of the best measured speed.
    """

    label: str
    cores_per_package: int
    chosen: int
    enough: frozenset[int]
    measured: Speed
    predicted: Speed

    @property
    def right(self) -> bool:
        """Whether the chosen packages are fast enough."""
        return self.chosen in self.enough

    def error(self) -> float:
        """Median error of the speedup over the measured thread counts above one."""
        return median(
            abs(self.predicted[t] / v - 1.0)
            for t, v in self.measured.items()
            if t in self.predicted
        )


def program_seconds(
    source: str, given: Mapping[str, int], machine: Machine, counts: Sequence[int]
) -> Speed:
    """Seconds of a program whose regions run as often as the loops around them say."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.c"
        path.write_text(source)
        analysis = analyse(requests_for((str(path),), [], [], ""), given)
    total = dict.fromkeys(counts, 0.0)
    for facts in analysis.facts:
        times = 1.0
        for loop in facts.region.enclosing:
            trips = loop.trips.evaluate(facts.bindings.values) if loop.trips is not None else None
            times *= float(trips) if trips is not None else 1.0
        made = predict_region(facts, machine, threads=counts)
        assert isinstance(made.derivation, SaturationDerivation)
        for point in made.derivation.points:
            total[point.threads] += times * point.seconds
    return total


def choose(
    source: str, given: Mapping[str, int], machine: Machine, label: str, measured: Speed,
    alone: str = "",
) -> Choice:  # fmt: skip
    """The model's choice of packages for one program and size.

    `alone` is the program as one thread runs it, where that is another one.
    """
    seconds = program_seconds(source, given, machine, sorted({1, *measured}))
    if alone:
        seconds |= program_seconds(alone, given, machine, [1])
    made = {threads: seconds[1] / one for threads, one in seconds.items()}
    cores = machine.cores_per_package
    chosen = hint_from(sorted(made.items()), cores).packages
    best = max(measured.values())
    enough = frozenset(
        number
        for number in {-(-t // cores) for t in measured}
        if max(v for t, v in measured.items() if -(-t // cores) == number) >= ALLOWED * best
    )
    above_one = {t: v for t, v in measured.items() if t > 1}
    return Choice(label, cores, chosen, enough, above_one, made)


def lines(choices: Sequence[Choice]) -> list[str]:
    """A line a size, then the model beside the choices that look at nothing."""
    found = [f"  {'size':>6} {'chosen':>7} {'':6} {'one: meas.':>10} {'pred.':>6} "
             f"{'all: meas.':>11} {'pred.':>6} {'error':>7}"]  # fmt: skip
    for one in choices:
        cores = one.cores_per_package
        found.append(
            f"  {one.label:>6} {one.chosen:>7} {'right' if one.right else 'WRONG':6} "
            f"{_best(one.measured, cores):10.1f} {_best(one.predicted, cores):6.1f} "
            f"{max(one.measured.values()):11.1f} {max(one.predicted.values()):6.1f} "
            f"{100 * one.error():5.0f} %"
        )
    number = len(choices)
    ones = sum(1 in one.enough for one in choices)
    twos = sum(2 in one.enough for one in choices)
    for label, right in (
        ("this model", sum(one.right for one in choices)),
        ("always one package", ones),
        ("always two packages", twos),
        ("majority of these sizes", max(ones, twos)),
    ):
        found.append(f"  {label:36} {right} of {number} right")
    return found


def _best(speed: Speed, most: int) -> float:
    return max(value for threads, value in speed.items() if threads <= most)
