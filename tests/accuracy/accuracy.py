"""Holds the model against all measured data: `accuracy.py [DATA] [--update] [--processes N]`.

Prints the tables of docs/accuracy.md; with `--update` writes them there, and what is fitted to the
data into the package (`fitting`), without it fails where these say otherwise. Without a folder only
the tables of the sample beside this file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ablation import VARIANTS
from calibrating import fitted_to, left_out
from confidence_tables import sureness_blocks
from datasets import read_all
from evaluate import Answered, answers_of, judgement_of
from fitted_constants import (
    DENSITY,
    UNCERTAINTY,
    constants_of,
    density_constants,
    density_rates,
    with_values,
)
from measured import DataSet
from tables import blocks, differing, sample_blocks, updated

from regionpredict.predict.uncertainty import SHIPPED, FittedCurves

PAGE = Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"
SAMPLE = Path(__file__).parent / "sample"
ABLATED_CASES = 10
"""Cases of a data set that the ablation takes: evenly spread over the file."""


def spread_over(data: DataSet, count: int = ABLATED_CASES) -> DataSet:
    """The data set with at most so many cases, evenly spread."""
    cases = data.cases
    if len(cases) <= count:
        return data
    return replace(data, cases=tuple(cases[at * len(cases) // count] for at in range(count)))


def all_blocks(
    answered: Sequence[Answered], ablated: Sequence[Answered], shipped: FittedCurves
) -> dict[str, str]:
    """All tables of all data."""
    fits = left_out(answered)
    sets = [
        judgement_of(one, shipped, None if one.data.choice == "none" else fits[one.data.file])
        for one in answered
    ]
    found = blocks(sets, [judgement_of(one, shipped) for one in ablated])
    return found | sureness_blocks(answered, sets, fits, shipped)


def write_constants(fitted: FittedCurves, rates: dict[str, tuple[float, int, int]]) -> None:
    """What was fitted, into the files of the package."""
    for path, values in ((UNCERTAINTY, constants_of(fitted)), (DENSITY, density_constants(rates))):
        path.write_text(with_values(path.read_text(), values))


def other_constants(fitted: FittedCurves, rates: dict[str, tuple[float, int, int]]) -> list[str]:
    """The files of the package that hold other values."""
    return [
        path.parent.name + "/" + path.name
        for path, values in (
            (UNCERTAINTY, constants_of(fitted)),
            (DENSITY, density_constants(rates)),
        )
        if with_values(path.read_text(), values) != path.read_text()
    ]


def main(arguments: Sequence[str]) -> int:
    """Prints; 1 where the page differs from what was found, 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="accuracy.py")
    parser.add_argument("data", type=Path, nargs="?", help="the folder with the measurements")
    parser.add_argument("--update", action="store_true", help="write the tables into the page")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    found: dict[str, str] = {}
    shipped, others = SHIPPED, list[str]()
    if options.data is not None:
        if not options.data.is_dir():
            print(f"accuracy.py: {options.data} is no folder; give the one with the measurements")
            return 2
        sets = read_all(options.data)
        if not sets:
            print(f"accuracy.py: {options.data} holds none of the files of datasets.py")
            return 2
        answered = answers_of(sets, processes=options.processes)
        ablated = answers_of([spread_over(data) for data in sets], VARIANTS, options.processes)
        fitted, rates = fitted_to(answered), density_rates(answered)
        if options.update:
            write_constants(fitted, rates)
            shipped = fitted
        others = other_constants(fitted, rates)
        found |= all_blocks(answered, ablated, shipped)
    sample = answers_of(read_all(SAMPLE), processes=options.processes)
    found |= sample_blocks([judgement_of(one, shipped) for one in sample])
    for name, text in found.items():
        print(f"\n{name}\n{text}")
    if options.update:
        page = PAGE.read_text()
        for name, text in found.items():
            page = updated(page, name, text)
        PAGE.write_text(page)
    wrong = [*differing(PAGE, found), *others]
    if wrong:
        print(f"\n{PAGE.name} says otherwise: {', '.join(wrong)}; UPDATE=1 writes it anew")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
