"""Holds the model against all measured data: `accuracy.py [DATA] [--update] [--processes N]`.

Prints the tables of docs/accuracy.md; with `--update` writes them there, without it fails where the
page says otherwise. Without a folder only the tables of the sample beside this file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ablation import VARIANTS
from datasets import read_all
from evaluate import Evaluated, evaluate
from measured import DataSet
from tables import blocks, differing, sample_blocks, updated

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


def evaluated(sets: Sequence[DataSet], processes: int) -> tuple[list[Evaluated], list[Evaluated]]:
    """(all cases through the model, some cases through all its ablations)."""
    full = evaluate(sets, processes=processes)
    return full, evaluate([spread_over(data) for data in sets], VARIANTS, processes)


def main(arguments: Sequence[str]) -> int:
    """Prints; 1 where the page differs from what was found, 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="accuracy.py")
    parser.add_argument("data", type=Path, nargs="?", help="the folder with the measurements")
    parser.add_argument("--update", action="store_true", help="write the tables into the page")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    found: dict[str, str] = {}
    if options.data is not None:
        if not options.data.is_dir():
            print(f"accuracy.py: {options.data} is no folder; give the one with the measurements")
            return 2
        sets = read_all(options.data)
        if not sets:
            print(f"accuracy.py: {options.data} holds none of the files of datasets.py")
            return 2
        found |= blocks(*evaluated(sets, options.processes))
    found |= sample_blocks(evaluate(read_all(SAMPLE), processes=options.processes))
    for name, text in found.items():
        print(f"\n{name}\n{text}")
    if options.update:
        page = PAGE.read_text()
        for name, text in found.items():
            page = updated(page, name, text)
        PAGE.write_text(page)
    wrong = differing(PAGE, found)
    if wrong:
        print(f"\n{PAGE.name} says otherwise: {', '.join(wrong)}; UPDATE=1 writes it anew")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
