"""One or two packages: the model's choice for a program, held against measured speedups."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from regionpredict.frontend import requests_for
from regionpredict.machine import Machine
from regionpredict.pipeline import analyse
from regionpredict.predict.curve import SaturationDerivation
from regionpredict.predict.hints import hint_from
from regionpredict.predict.saturation import predict_saturation

Speed = dict[int, float]


def program_speed(
    source: str, given: Mapping[str, int], machine: Machine, counts: Sequence[int]
) -> Speed:
    """Speedup of a program whose regions run as often as the loops around them say."""
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
        made = predict_saturation(facts, machine, threads=counts)
        assert isinstance(made.derivation, SaturationDerivation)
        for point in made.derivation.points:
            total[point.threads] += times * point.seconds
    return {threads: total[1] / seconds for threads, seconds in total.items()}


def package_row(
    source: str, given: Mapping[str, int], machine: Machine, label: str, measured: Speed
) -> str:
    """One line: choice, whether it is right within 5 %, speedups on one and on all packages."""
    made = program_speed(source, given, machine, sorted({1, *measured}))
    cores = machine.cores_per_package
    chosen = hint_from(sorted(made.items()), cores).packages
    reached = max(v for t, v in measured.items() if -(-t // cores) == chosen)
    right = reached >= 0.95 * max(measured.values())
    one, all_of = _best(measured, cores), max(measured.values())
    own_one, own_all = _best(made, cores), max(made.values())
    return (
        f"  {label:>6}: {chosen} package(s), {'right' if right else 'WRONG'}; best speedup on one "
        f"and on all: measured {one:.1f} {all_of:.1f}, predicted {own_one:.1f} {own_all:.1f}"
    )


def _best(speed: Speed, most: int) -> float:
    return max(value for threads, value in speed.items() if threads <= most)
