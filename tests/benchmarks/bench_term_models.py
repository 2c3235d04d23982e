"""Do terms known in advance tell the largest size better than a search, and than the prediction?

    python tests/benchmarks/bench_term_models.py [MACHINE.yaml [FOLDER]]

Builds the PolyBench samples and the NAS kernels under the wrapper at four sizes, measures each on
one thread and on all processors, leaves the largest size out, and prints the medians over the
regions that run longer than a millisecond there, each suite by itself. What FOLDER has is not
built and measured again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
LEAST_S = 1e-3
LIMIT_S = 15  # a program that runs longer is left out: six runs at four sizes are made of each


class Series(NamedTuple):
    """Programs that take their sizes from the same macros: the folder of their sources, make's
    targets and options, those of `predict`, and the macros of each size, the smallest first."""

    name: str
    suite: str
    folder: str
    targets: tuple[str, ...]
    flags: str
    options: tuple[str, ...]
    sizes: tuple[tuple[str, ...], ...]


NPB_FLAGS = "-O3 -march=native -g -std=c99 -fopenmp"
NPB_OPTIONS = ("-D", "CLASS_S", "-I", "npb_samples/common")
SERIES = (
    Series("polybench", "PolyBench", "polybench_samples", (), "-O3 -march=native -g", (),
           tuple((f"CACHE_BYTES={size}",) for size in (60_000, 200_000, 600_000, 2_000_000))),
    Series("npb", "NAS kernels", "npb_samples", ("bt", "sp", "lu"), NPB_FLAGS, NPB_OPTIONS,
           tuple((f"GRID_POINTS={size}", "GRID_STEPS=4") for size in (12, 18, 27, 40))),
    Series("ft", "NAS kernels", "npb_samples", ("ft",), NPB_FLAGS, NPB_OPTIONS,
           tuple((f"GRID_POINTS={size}",) for size in (16, 32, 64, 128))),
)  # fmt: skip
"""The bytes that PolyBench's arrays take are ten times CACHE_BYTES; FT's grids are powers of two.
Steps of time are few: what they repeat tells nothing new."""


def _run(*words: str) -> str:
    line = [sys.executable, "-m", "regionpredict", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def _measured(folder: Path, series: Series, macros: tuple[str, ...]) -> Path:
    name = macros[0].partition("=")[2]
    build, file = folder / name, folder / f"{name}.jsonl"
    if file.exists():
        return file
    wrapper = f"{sys.executable} -m regionpredict cc -- gcc"
    defines = " ".join(f"-D{macro}" for macro in macros)
    subprocess.run(
        ["make", "-s", f"-j{len(os.sched_getaffinity(0))}", "-C", str(ROOT / series.folder),
         *series.targets, f"CC={wrapper}", f"CFLAGS={series.flags}", f"DEFINES={defines}",
         f"BUILD={build}"],
        check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    threads = f"1,{len(os.sched_getaffinity(0))}"
    part = folder / "part.jsonl"
    part.unlink(missing_ok=True)
    programs = f"for program in {build}/*; do timeout {LIMIT_S} $program; done >/dev/null; :"
    _run("measure", "--threads", threads, "--repeat", "3", "--quiet-wait", "none", "-o",
         str(part), "--", "sh", "-c", programs)  # fmt: skip
    part.rename(file)
    return file


def _longest(file: Path, region: dict[str, Any]) -> float:
    """The region's least time on one thread at the largest size, in seconds an execution."""
    path, _, line = region["region"].rpartition(":")
    times = []
    for text in file.read_text().splitlines():
        run = json.loads(text)
        if run.get("kind") != "run" or run["threads"] != 1:
            continue
        times += [timed["total_s"] / timed["executions"] for timed in run["regions"]
                  if timed["file"].endswith(path) and timed["line"] == int(line)]  # fmt: skip
    return min(times, default=0.0)


def _models(folder: Path, series: Series, machine: str) -> tuple[int, list[dict[str, Any]]]:
    """How many regions have a size that was left out, and the models of the long ones."""
    folder.mkdir(exist_ok=True)
    files = [_measured(folder, series, macros) for macros in series.sizes]
    hints = folder / "hints.json"
    defines = [word for macro in series.sizes[0] for word in ("-D", macro)]
    paths = [f"{series.folder}/{target}" for target in series.targets] or [series.folder]
    if series.targets:
        paths.append(f"{series.folder}/common")
    _run("predict", *paths, *defines, *series.options, "-m", machine, "--format", "json",
         "-o", str(hints))  # fmt: skip
    text = _run("compare", str(hints), *map(str, files), "--by-size", "--with-disturbed",
                "--statistic", "least", "--format", "json")  # fmt: skip
    models = [model for model in json.loads(text)["models"] if model["held_out"] is not None]
    return len(models), [model for model in models if _longest(files[-1], model) > LEAST_S]


def main() -> None:
    """Measures, fits, prints."""
    known: dict[str, int] = {}
    long: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else name).resolve()
        folder.mkdir(exist_ok=True)
        machine = sys.argv[1] if len(sys.argv) > 1 else "host"
        for series in SERIES:
            count, models = _models(folder / series.name, series, machine)
            known[series.suite] = known.get(series.suite, 0) + count
            long.setdefault(series.suite, []).extend(models)
    for suite, models in long.items():
        _print_suite(suite, known[suite], models)
    _print_suite(
        "both", sum(known.values()), [model for models in long.values() for model in models]
    )


def _print_suite(suite: str, count: int, long: list[dict[str, Any]]) -> None:
    print(f"{suite}: {len(long)} of {count} regions run longer than {1e3 * LEAST_S:g} ms")
    for what in ("terms", "search", "prediction"):
        errors = [model["held_out"][what] for model in long if model["held_out"][what] is not None]
        print(f"{what:<12} {100 * median(errors):6.1f} % median error at the largest size")
    if suite == "both":
        return
    for model in sorted(long, key=lambda model: -model["held_out"]["terms"]):
        errors = [model["held_out"][what] for what in ("terms", "search", "prediction")]
        shown = "".join(f"{'-' if e is None else f'{100 * e:.1f}':>10}" for e in errors)
        print(f"{model['region']:<60}{shown}")


if __name__ == "__main__":
    main()
