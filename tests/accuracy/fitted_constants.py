"""What is fitted to measured curves as constants of the package: their names, files and values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evaluate import Answered
from judge import choice_of
from predictor import FULL, machine_named

from regionpredict.predict import uncertainty
from regionpredict.predict.uncertainty import FittedCurves

ROOM = Path(uncertainty.__file__).parents[1]
UNCERTAINTY = ROOM / "uncertainty" / "constants.py"
DENSITY = ROOM / "density" / "constants.py"
SUCCESS = {
    "all packages, each its memory": "ALL_OF_DOMAINS",
    "fewer packages, each its memory": "FEWER_OF_DOMAINS",
    "all packages, one path to memory": "ALL_OF_ONE_PATH",
    "fewer packages, one path to memory": "FEWER_OF_ONE_PATH",
}
"""Kinds of the density model's hints, and the constants that hold how many of them are right."""
PER_MACHINE = 10.0
"""Cases of a data set on one machine that weigh half of what ever so many do."""


def density_rates(answered: Sequence[Answered]) -> dict[str, tuple[float, int, int]]:
    """By kind of machine and of hint: (success rate, right hints, hints) of the density model.

    Each machine of a data set weighs n / (n + 10), n its cases; half a hint is right to begin with,
    at the weight of one machine of many cases.
    """
    found: dict[str, list[tuple[float, bool]]] = {name: [] for name in SUCCESS}
    for one in answered:
        counts = Counter(case.machine for case in one.data.cases)
        for case, answers in zip(one.data.cases, one.answers, strict=True):
            packages = answers[FULL.name].density_packages
            if one.data.choice != "packages" or not packages or len(case.measured) < 2:
                continue
            machine = machine_named(case.machine)
            path = "each its memory" if machine.memory.shared_path is None else "one path to memory"
            number = "all" if packages == machine.packages else "fewer"
            right, _, _ = choice_of(case, one.data, packages)
            weight = 1.0 / (counts[case.machine] + PER_MACHINE)
            found[f"{number} packages, {path}"].append((weight, bool(right)))
    rates = {}
    for name, outcomes in found.items():
        good = sum(weight for weight, right in outcomes if right)
        total = sum(weight for weight, _ in outcomes)
        hits = sum(right for _, right in outcomes)
        rates[name] = (float(f"{(good + 0.5) / (total + 1.0):.3g}"), hits, len(outcomes))
    return rates


def constants_of(fitted: FittedCurves) -> dict[str, float]:
    """The fit by the names of the constants."""
    spreads = {f"{name.upper()}_SPREAD": value for name, value in fitted.spreads._asdict().items()}
    return {
        "CREEP": fitted.creep,
        "LOST_GROWTH": fitted.lost,
        **spreads,
        "BAND_REACH": fitted.reach,
        "EVEN_ODDS": fitted.even,
        "ODDS_SLOPE": fitted.slope,
        "MOST_SURE": fitted.most,
    }


def density_constants(rates: dict[str, tuple[float, int, int]]) -> dict[str, float]:
    """The rates by the names of the constants."""
    return {SUCCESS[name]: rate for name, (rate, _, _) in rates.items()}


def with_values(text: str, values: dict[str, float]) -> str:
    """A file of constants with these values in place of its own."""
    for name, value in values.items():
        text, times = re.subn(
            rf"(?m)^({name} = Constant\(\s*)[-+.\de]+", rf"\g<1>{value:.3g}", text
        )
        assert times == 1, name
    return text
