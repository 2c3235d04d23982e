"""How long a prediction takes, start to end, as a ratio to libclang's own parse of the same files.

    python tests/benchmarks/bench_frontend.py [FOLDER [-I DIR] [-D NAME=VALUE] [-m MACHINE]
        [--format FORM] [--rounds N] [--before CHECKOUT] [--generated LOOPS]]

In each of several rounds, alternating: (a) libclang parses every file of FOLDER once, in one
thread, nothing else; (b) `regionpredict predict FOLDER -m dunnington --format json`, a process of
its own, start-up included, on all cores and with -j 1; (c) `clang --analyze` of every file, where
there is a clang. `--generated` writes a file of so many loops and takes it.

For each: median and minimum of the wall clock and of the processor time of all its processes, and
the ratios to (a). On a machine that others use, believe the processor time, and of it the least:
two processes that share the work evenly take half of it. `--before` runs the package of another
checkout in the same rounds, for pairs. Then where the time goes, the start-up of `--help` over a
bare Python's, and one small file, read anew and with its answer kept.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from regionpredict.cli.source_options import parse_pairs
from regionpredict.frontend import SourceRequest, requests_for
from regionpredict.frontend.libclang_reader import bindings
from regionpredict.frontend.libclang_reader.parsing import libclang_arguments

ROOT = Path(__file__).parents[2]
ROUNDS = 7
SMALL = ROOT / "polybench_samples" / "linear_algebra" / "gemm" / "gemm.c"


class Sample(NamedTuple):
    """Seconds of one run: of the wall clock, and of all processors."""

    wall: float
    processor: float


def parse_all(requests: list[SourceRequest]) -> None:
    """libclang alone, with the arguments of the front end and its default options."""
    library = bindings.load_libclang()
    index = library.clang_createIndex(0, 0)
    for request in requests:
        _, unit = bindings.parse(index, request.path, libclang_arguments(request), 0)
        library.clang_disposeTranslationUnit(unit)
    library.clang_disposeIndex(index)


def analyze_all(requests: list[SourceRequest]) -> None:
    """clang's own analyzers, a process a file."""
    for request in requests:
        words = [word for word in libclang_arguments(request) if word.startswith(("-I", "-D"))]
        subprocess.run(
            ["clang", "--analyze", "-fopenmp", *words, "-o", os.devnull, request.path],
            check=False, capture_output=True,
        )  # fmt: skip


def write_loops(folder: Path, number: int) -> None:
    """A file of so many loops, no two of which have the same offsets and factors."""
    loops = "".join(
        f"void f{at}(int n, double *a, const double *b)\n{{\n#pragma omp parallel for\n"
        f"  for (int i = {at % 7}; i < n - {at % 5}; i++)\n"
        f"    a[{1 + at % 3} * i] = b[i + {at % 11}] * {at}.5 + b[i];\n}}\n"
        for at in range(number)
    )
    folder.joinpath("loops.c").write_text(loops)


def run(*arguments: str, package: Path = ROOT, cache: str | None = None) -> str:
    """One process of this Python with the package of a checkout; what it says on standard error."""
    environment = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.pop("PYTHONPATH", None)  # the folder that it runs in goes first
    if cache is not None:
        environment["XDG_CACHE_HOME"] = cache
        environment.pop("REGIONPREDICT_CACHE", None)
    done = subprocess.run(
        [sys.executable, *arguments], check=True, capture_output=True, cwd=package, text=True,
        env=environment,
    )  # fmt: skip
    return done.stderr


def used() -> float:
    """Processor seconds so far, of this process and of all that it waited for."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def timed(work: Callable[[], object]) -> Sample:
    """One call."""
    wall, processor = time.perf_counter(), used()
    work()
    return Sample(time.perf_counter() - wall, used() - processor)


def show(name: str, samples: list[Sample], against: list[Sample]) -> None:
    """A line with the times and their ratios to those of `against`."""
    figures, ratios = "", ""
    for of in (_walls, _processors):
        for summary in (statistics.median, min):
            seconds, base = summary(of(samples)), summary(of(against))
            figures += f"{seconds:9.3f}"
            ratios += f"{seconds / base:9.2f}"
    print(f"{name:<26}{figures}   {ratios}")


def _walls(samples: list[Sample]) -> list[float]:
    return [sample.wall for sample in samples]


def _processors(samples: list[Sample]) -> list[float]:
    return [sample.processor for sample in samples]


class Options(NamedTuple):
    """What is run: the folder as `predict` is given it, and the same as requests."""

    folder: str
    words: list[str]
    requests: list[SourceRequest]
    rounds: int
    before: Path | None


def options() -> Options:
    """What the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default=str(ROOT / "npb_samples"))
    parser.add_argument("-I", dest="includes", action="append", default=[])
    parser.add_argument("-D", dest="defines", action="append", default=[])
    parser.add_argument("-m", dest="machine", default="dunnington")
    parser.add_argument("--format", dest="form", default="json")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--before", type=Path, default=None)
    parser.add_argument("--generated", type=int, default=0, metavar="LOOPS")
    given = parser.parse_args()
    if given.generated:
        given.folder = tempfile.mkdtemp()
        write_loops(Path(given.folder), given.generated)
    folder = str(Path(given.folder).resolve())
    words = [word for include in given.includes for word in ("-I", str(Path(include).resolve()))]
    words += [word for definition in given.defines for word in ("-D", definition)]
    words += ["-m", given.machine, "--format", given.form]
    requests = requests_for([folder], parse_pairs(given.defines), given.includes)
    return Options(folder, words, requests, given.rounds, given.before)


def main() -> None:
    """Runs the rounds and prints the table."""
    asked = options()
    command = ["-m", "regionpredict", "predict"]
    predict = [*command, "--no-cache", asked.folder, *asked.words]
    small = [*command, str(SMALL), "-m", "dunnington"]
    with tempfile.TemporaryDirectory() as cache:
        run(*small, cache=cache)
        kinds: dict[str, Callable[[], object]] = {
            "libclang parses": lambda: parse_all(asked.requests),
            "predict, all cores": lambda: run(*predict),
            "predict -j 1": lambda: run(*predict, "-j", "1"),
            "bare Python": lambda: run("-c", "pass"),
            "--help": lambda: run("-m", "regionpredict", "--help"),
            "one small file": lambda: run(*small, "--no-cache"),
            "the same, kept": lambda: run(*small, cache=cache),
        }
        if shutil.which("clang"):
            kinds["clang --analyze"] = lambda: analyze_all(asked.requests)
        if asked.before is not None:
            before = asked.before.resolve()
            kinds["before, all cores"] = lambda: run(*predict, package=before)
            kinds["before, -j 1"] = lambda: run(*predict, "-j", "1", package=before)
        parse_all(asked.requests)
        samples: dict[str, list[Sample]] = {name: [] for name in kinds}
        for _ in range(asked.rounds):
            for name, work in kinds.items():
                samples[name].append(timed(work))
    lines = sum(Path(request.path).read_bytes().count(b"\n") for request in asked.requests)
    print(f"{asked.folder}: {len(asked.requests)} files, {lines} lines, "
          f"{len(os.sched_getaffinity(0))} cores, {' '.join(asked.words)}")  # fmt: skip
    heads = "".join(f"{head:>9}" for head in ("wall", "least", "processor", "least"))
    print(f"{'seconds, ratios':<26}{heads}   {heads}")
    for name, own in samples.items():
        show(name, own, samples["libclang parses"])
    stages = run(*predict, "-j", "1", "--timings").splitlines()
    print("of -j 1:", ", ".join(line for line in stages if line.endswith(" s") and ": " in line))


if __name__ == "__main__":
    main()
