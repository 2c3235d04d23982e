"""`regionpredict run` with the plan beside the best constant number of threads, on the samples.

    python tests/benchmarks/bench_plan.py [-m host] [--threads 2] [--rounds 15] [NAME...]

Each sample is built (SMALL sets of PolyBench, class S of the NAS programs), and predicted for
MACHINE.
In each of several rounds, in turn: the program on 1 to N threads, and on N with the limits that
`run` puts before it (its own start is not the program's, and is left out). Seconds are the least of
all rounds, since other programs on the machine can only add. Prints a Markdown table; the last
column is the plan's time over the best constant's, the last line the worst and the mean of these.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from regionpredict.cli.cache import cache_folder
from regionpredict.cli.run import compiler, preloaded
from regionpredict.errors import InputError
from regionpredict.measure.binary import outlined_functions
from regionpredict.measure.hints_file import read_hints
from regionpredict.measure.runtime_library import preload_library
from regionpredict.measure.thread_limits import limits_of, write_limits

ROOT = Path(__file__).resolve().parents[2]
_FLAGS = "-std=c99 -O2 -g -fopenmp"
_LONGEST = 5.0  # seconds of one run: longer ones are left out, and said


class Program(NamedTuple):
    """A sample: its sources, the macros that it is built and predicted with, the program."""

    name: str
    source: Path
    macros: tuple[str, ...]
    binary: Path


def built(folder: Path, names: Sequence[str]) -> list[Program]:
    """The samples of these names, all where there are none, built into a folder."""
    make = ["make", "-s", "-j2"]
    polybench, nas = ROOT / "polybench_samples", ROOT / "npb_samples"
    subprocess.run(
        [*make, "DATASET=SMALL", f"BUILD={folder}", "CFLAGS=-O2 -g"], cwd=polybench, check=True
    )
    subprocess.run([*make, "CLASS=S", f"BUILD={folder}", f"CFLAGS={_FLAGS}"], cwd=nas, check=True)
    programs = [
        Program(source.stem, source, ("SMALL_DATASET",), folder / source.stem)
        for source in sorted(polybench.glob("*/*/*.c"))
    ] + [Program(name, nas / name, ("CLASS_S",), folder / f"{name}.S")
         for name in ("bt", "ft", "lu", "sp")]  # fmt: skip
    return [program for program in programs if not names or program.name in names]


def planned(program: Program, machine: str, library: Path, folder: Path) -> dict[str, str] | None:
    """The environment with the limits of its hints; None where no region has one."""
    hints = folder / f"{program.name}.json"
    words = [word for macro in program.macros for word in ("-D", macro)]
    if program.name in ("bt", "ft", "lu", "sp"):
        words += ["-I", str(ROOT / "npb_samples" / "common")]
    subprocess.run(
        [sys.executable, "-m", "regionpredict", "predict", str(program.source), *words, "-m",
         machine, "--format", "json", "-o", str(hints)],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    table = folder / f"{program.name}.limits"
    try:
        write_limits(limits_of(read_hints(hints), outlined_functions(program.binary)), table)
    except InputError:
        return None
    return {**preloaded(library), "REGIONPREDICT_LIMITS": str(table)}


def seconds(binary: Path, environment: Mapping[str, str], threads: int) -> float:
    """Wall clock of one run."""
    settings = {**environment, "OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
    begin = time.perf_counter()
    subprocess.run([binary], env=settings, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-m", dest="machine", default="host")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    ratios = []
    library = preload_library([compiler()], cache_folder(), "preload.c")
    heads = "".join(f" {count} thr |" for count in range(1, asked.threads + 1))
    print(f"| sample |{heads} plan | plan / best |\n|---|{'--:|' * (asked.threads + 2)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program in built(folder, asked.names):
            settings = planned(program, asked.machine, library, folder)
            if settings is None or seconds(program.binary, os.environ, 1) > _LONGEST:
                print(f"| {program.name} | left out: no hint, or runs too long |", flush=True)
                continue
            ways = [(dict(os.environ), count) for count in range(1, asked.threads + 1)]
            ways.append((settings, asked.threads))
            least = [float("inf")] * len(ways)
            for round_ in range(asked.rounds):
                for step in range(len(ways)):  # each way comes first, second, ... in turn
                    at = (step + round_) % len(ways)
                    least[at] = min(least[at], seconds(program.binary, *ways[at]))
            ratios.append(least[-1] / min(least[:-1]))
            cells = "".join(f" {1e3 * seconds:.2f} ms |" for seconds in least)
            print(f"| {program.name} |{cells} {ratios[-1]:.3f} |", flush=True)
    if ratios:
        mean = statistics.geometric_mean(ratios)
        print(f"\nworst {max(ratios):.3f}, mean {mean:.3f} of {len(ratios)} samples")


if __name__ == "__main__":
    main()
