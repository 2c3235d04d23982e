"""Pairs of programs on one node: what `coschedule` predicts, and what happens.

    python tests/benchmarks/bench_coschedule.py HOST.yaml [--rounds N]

    python tests/benchmarks/bench_coschedule.py HOST.yaml --phases [--rounds N]
    python tests/benchmarks/bench_coschedule.py HOST.yaml --naps [--rounds N]

Two samples: one that memory holds up, one of chains of arithmetic. Each pair is predicted, then run
as predicted: each program alone on the cores that are best for it, and both at once, half of the
cores each. Prints a table; a program's time is that of its kernel, which it tells itself.

With --phases the pair has a memory-bound and a compute-bound region each, in opposite order, one
of them three times as long. Rounds with fixed halves alternate with rounds under
`regionpredict run --share`; printed are both medians until both programs have ended, the gain of
each round, and its 95 % interval (paired Student t).

With --naps the work of both regions is waiting, one of them on one thread: the pair shares eight
cores that need not be there, whatever else the host does.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, NamedTuple

from scipy.stats import t as student

from regionpredict.cli.quiet_host import QuietHost
from regionpredict.measure.host_activity import wait_for_quiet
from regionpredict.measure.runtime_library import preload_library
from regionpredict.user_cache import private_folder

ROOT = Path(__file__).resolve().parents[2]
BY_CAUSE = ROOT / "polybench_samples" / "by_cause"


class Sample(NamedTuple):
    """A sample, and the sizes by which it runs for a second or two on one core."""

    name: str
    sizes: tuple[str, ...]

    @property
    def source(self) -> Path:
        return BY_CAUSE / self.name / f"{self.name}.c"


MEMORY = Sample("stream_triad", ("N=8000000", "REPETITIONS=60"))
COMPUTE = Sample("hardware_threads", ("N=512", "STEPS=150000"))
MOST_DISTURBED = 20  # rounds
QUIET_WAIT_S = 20.0
PAIRS = ((MEMORY, COMPUTE), (MEMORY, MEMORY), (COMPUTE, COMPUTE))


def tool(folder: Path, *words: str) -> str:
    """What a command of the package prints, run in `folder`."""
    line = [sys.executable, "-m", "regionpredict", *words]
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        line, check=True, stdout=subprocess.PIPE, text=True, cwd=folder, env=settings
    ).stdout


def prepared(folder: Path, name: str, sample: Sample, machine: str) -> None:
    """The program and its hints, under the name."""
    macros = [f"-D{size}" for size in sample.sizes]
    subprocess.run(
        ["gcc", "-O3", "-march=native", "-fopenmp", *macros, str(sample.source), "-o", name, "-lm"],
        check=True, cwd=folder,
    )  # fmt: skip
    asked = [word for size in sample.sizes for word in ("-D", size)]
    tool(folder, "predict", str(sample.source), *asked, "-m", machine, "--format", "json",
         "-o", f"{name}.json")  # fmt: skip


def started(folder: Path, name: str, cpus: Sequence[int]) -> subprocess.Popen[str]:
    """The program on these CPUs, one thread each."""
    places = ",".join(f"{{{cpu}}}" for cpu in cpus)
    settings = {**os.environ, "OMP_NUM_THREADS": str(len(cpus)), "OMP_PLACES": places,
                "OMP_PROC_BIND": "close"}  # fmt: skip
    return subprocess.Popen(
        [f"./{name}"], cwd=folder, env=settings, stdout=subprocess.PIPE, text=True
    )


def kernel_seconds(process: subprocess.Popen[str]) -> float:
    """The time that a program tells of its kernel when it ends."""
    told = process.communicate()[0]
    match = re.search(r"^time ([\d.]+) s$", told, flags=re.M)
    if match is None:
        raise SystemExit(f"{process.args}: no time in {told!r}")
    return float(match[1])


def measured(
    folder: Path, names: Sequence[str], alone: Sequence[int], rounds: int
) -> tuple[list[float], list[float]]:
    """Medians of each program's time: alone on its number of cores, and both at once."""
    cpus = sorted(os.sched_getaffinity(0))
    half = len(cpus) // 2
    solo: list[list[float]] = [[], []]
    paired: list[list[float]] = [[], []]
    for _ in range(rounds):
        for place, name in enumerate(names):
            solo[place].append(kernel_seconds(started(folder, name, cpus[: alone[place]])))
        both = [started(folder, names[0], cpus[:half]), started(folder, names[1], cpus[half:])]
        for place, process in enumerate(both):
            paired[place].append(kernel_seconds(process))
    return [median(times) for times in solo], [median(times) for times in paired]


def halves(document: dict[str, Any]) -> dict[str, Any]:
    """The predicted way to share in which both have as many cores."""
    for allocation in document["allocations"]:
        if len({part["cores"] for part in allocation["programs"]}) == 1:
            return dict(allocation)
    raise SystemExit("no way to share in halves was predicted")


def gain(turns: float, shared: float) -> str:
    """Sharing as many times as fast as taking turns."""
    return f"{turns / shared:.2f}x"


PHASED = """\
#include <math.h>
static double a[4000000], b[4000000], x[512];
static void stream(void)
{
    for (int t = 0; t < 40 * LENGTH; t++) {
#pragma omp parallel for
        for (int i = 0; i < 4000000; i++) a[i] = b[i];
    }
}
static void compute(void)
{
    for (int t = 0; t < 100 * LENGTH; t++) {
#pragma omp parallel for
        for (int i = 0; i < 512; i++)
            for (int k = 0; k < 2000; k++) x[i] = sqrt(x[i] / (x[i] + 1.0));
    }
}
int main(void)
{
    if (STREAM_FIRST) stream();
    compute();
    if (!STREAM_FIRST) stream();
    return x[0] + a[5] > 2.0;
}
"""


def phased(folder: Path, machine: str, rounds: int) -> None:
    """Fixed halves against cores that change hands, in turn; and what was predicted of it."""
    cpus = sorted(os.sched_getaffinity(0))
    half = len(cpus) // 2
    for name, macros in (
        ("a", ("STREAM_FIRST=1", "LENGTH=3")),
        ("b", ("STREAM_FIRST=0", "LENGTH=1")),
    ):
        (folder / f"{name}.c").write_text(PHASED)
        flags = [f"-D{macro}" for macro in macros]
        subprocess.run(["gcc", "-g", "-O2", "-fopenmp", *flags, f"{name}.c", "-o", name, "-lm"],
                       check=True, cwd=folder)  # fmt: skip
        tool(folder, "predict", f"{name}.c", *flags, "-m", machine, "--format", "json", "-o",
             f"{name}.json")  # fmt: skip
    print(tool(folder, "coschedule", "a.json", "b.json", "-m", machine, "--top", "1"), flush=True)

    def seconds(lines: Sequence[Sequence[str]], threads: Sequence[int]) -> float:
        begin = time.monotonic()
        started = [
            subprocess.Popen(line, cwd=folder, env={
                **os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": str(count)})
            for line, count in zip(lines, threads, strict=True)
        ]  # fmt: skip
        for process in started:
            process.wait()
        return time.monotonic() - begin

    run = [sys.executable, "-m", "regionpredict", "run", "--hints"]
    fixed_lines = [[*run, f"{name}.json", "--", f"./{name}"] for name in "ab"]
    shared_lines = [[*run, f"{name}.json", "--share", f"bench-{os.getpid()}", "--", f"./{name}"]
                    for name in "ab"]  # fmt: skip
    fixed: list[float] = []
    shared: list[float] = []
    disturbed = 0
    while len(fixed) < rounds and disturbed < MOST_DISTURBED:
        wait_for_quiet(QUIET_WAIT_S)
        quiet = QuietHost(0.0)
        one = seconds(fixed_lines, [half, len(cpus) - half])
        other = seconds(shared_lines, [len(cpus)] * 2)
        if quiet.remark():
            disturbed += 1
            continue
        fixed.append(one)
        shared.append(other)
    print(f"{len(fixed)} rounds, {disturbed} more left out: others kept the host busy", flush=True)
    if len(fixed) < 2:
        return
    show_gains(fixed, shared)


NAPS = """\
#include <time.h>
static void nap(void)
{
    struct timespec length = {0, 2000000};
    nanosleep(&length, 0);
}
__attribute__((noinline)) static void narrow(void)
{
    for (int t = 0; t < 800; t++) {
#pragma omp parallel for
        for (int i = 0; i < 1; i++) nap();
    }
}
__attribute__((noinline)) static void wide(void)
{
    for (int t = 0; t < 50; t++) {
#pragma omp parallel for
        for (int i = 0; i < 112; i++) nap();
    }
}
int main(void)
{
    if (NARROW_FIRST) narrow();
    wide();
    if (!NARROW_FIRST) narrow();
    return 0;
}
"""


def napping(folder: Path, rounds: int) -> None:
    """Fixed halves of eight cores against cores that change hands, in turn."""
    cores, share = 8, folder / "share"
    library = preload_library(["gcc"], private_folder(folder / "cache"), "preload.c")
    for name, first in (("a", 1), ("b", 0)):
        (folder / f"{name}.c").write_text(NAPS)
        subprocess.run(["gcc", "-g", "-O1", "-fopenmp", f"-DNARROW_FIRST={first}", f"{name}.c",
                        "-o", name], check=True, cwd=folder)  # fmt: skip
        symbols = subprocess.run(["nm", name], check=True, capture_output=True, text=True,
                                 cwd=folder).stdout.splitlines()  # fmt: skip
        curves = {"narrow": ",".join("1" * cores), "wide": ",".join(map(str, range(1, cores + 1)))}
        (folder / f"{name}.limits").write_text("".join(
            f"{cores} 0 - {curve} {line.split()[0]} {(folder / name).resolve()}\n"
            for which, curve in curves.items() for line in symbols if f"{which}._omp_fn" in line
        ))  # fmt: skip

    def seconds(threads: int, more: dict[str, str]) -> float:
        begin = time.monotonic()
        started = [
            subprocess.Popen([f"./{name}"], cwd=folder, env={
                **os.environ, "OMP_NUM_THREADS": str(threads), "LD_PRELOAD": str(library),
                "OMP_WAIT_POLICY": "passive",
                "REGIONPREDICT_LIMITS": str(folder / f"{name}.limits"), **more})
            for name in "ab"
        ]  # fmt: skip
        for process in started:
            process.wait()
        return time.monotonic() - begin

    sharing = {"REGIONPREDICT_SHARE": str(share), "REGIONPREDICT_SHARE_CORES": str(cores)}
    fixed, shared = [], []
    for _ in range(rounds):
        fixed.append(seconds(cores // 2, {}))
        shared.append(seconds(cores, sharing))
    show_gains(fixed, shared)


def show_gains(fixed: Sequence[float], shared: Sequence[float]) -> None:
    """Both medians, the gain of each round, and its mean with the 95 % interval."""
    gains = [one / other for one, other in zip(fixed, shared, strict=True)]
    wide = float(student.ppf(0.975, len(gains) - 1)) * stdev(gains) / math.sqrt(len(gains))
    print(f"fixed halves {median(fixed):.2f} s, cores that change hands {median(shared):.2f} s")
    print(f"gains {', '.join(f'{gain:.2f}' for gain in gains)}: {fmean(gains):.2f} +- {wide:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Pairs on one node, predicted and measured.")
    parser.add_argument("machine", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--phases", action="store_true", help="a pair whose regions differ")
    parser.add_argument("--naps", action="store_true", help="a pair that waits instead of working")
    told = parser.parse_args()
    if told.naps:
        with tempfile.TemporaryDirectory() as name:
            napping(Path(name), told.rounds)
        return
    if told.phases:
        with tempfile.TemporaryDirectory() as name:
            phased(Path(name), str(told.machine.resolve()), told.rounds)
        return
    print("| pair | slowdowns, predicted | measured | sharing for turns, predicted | measured |")
    print("| --- | --- | --- | --- | --- |")
    for pair in PAIRS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for place, sample in zip("ab", pair, strict=True):
                prepared(folder, place, sample, str(told.machine.resolve()))
            document = json.loads(
                tool(folder, "coschedule", "a.json", "b.json", "-m", str(told.machine.resolve()),
                     "--top", "1000", "--format", "json")
            )  # fmt: skip
            shared = halves(document)
            alone = [part["cores"] for part in document["alone"]]
            solo, paired = measured(folder, "ab", alone, told.rounds)
        predicted = ", ".join(f"{part['slowdown']:.2f}" for part in shared["programs"])
        happened = ", ".join(
            f"{beside / by_itself:.2f}" for by_itself, beside in zip(solo, paired, strict=True)
        )
        foreseen = gain(document["turns_seconds"], shared["seconds"])
        measured_gain = gain(sum(solo), max(paired))
        names = " and ".join(f"`{sample.name}`" for sample in pair)
        print(f"| {names} | {predicted} | {happened} | {foreseen} | {measured_gain} |", flush=True)


if __name__ == "__main__":
    main()
