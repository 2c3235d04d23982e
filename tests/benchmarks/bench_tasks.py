"""Costs and agreements of task graphs: what recording a million tasks takes, and reading them; the
sum of recorded times against the time in tasks; the simulator against the replay.

python tests/benchmarks/bench_tasks.py [N of Fibonacci, 28: a million tasks]
"""

from __future__ import annotations

import dataclasses
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from regionpredict.measure.ompt_run import recorded_run
from regionpredict.measure.ompt_runtime import find_runtime
from regionpredict.tasks import TaskGraph, measure_graph, read_task_graph, simulate
from regionpredict.tasks.isoefficiency.campaign import region_seconds
from regionpredict.tasks.replay import replay

PROGRAMS = Path(__file__).parents[1] / "tasks" / "programs"
RUNS = 5
SHORT_S = 4e-3
GRAINS = (("cholesky", (12, 64)), ("sparse_lu", (10, 64)), ("nqueens", (11, 3)),
          ("mergesort", (2000000, 20000)), ("strassen", (512, 64)), ("fft", (1 << 18, 4096)),
          ("fibonacci", (34, 22)))  # fmt: skip


def built(folder: Path, name: str) -> Path:
    compiler = next(c for c in ("clang-19", "clang", "gcc") if shutil.which(c))
    program = folder / name
    line = [compiler, "-O2", "-g", "-fopenmp", str(PROGRAMS / f"{name}.c"), "-o", str(program)]
    subprocess.run([*line, "-lm"], check=True)
    return program


class Runs:
    """Runs programs in a folder of their own; `seconds` is the time in parallel regions."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0

    def run(self, program: Path, words: tuple[object, ...], level: str) -> tuple[Path, float]:
        self.number += 1
        folder = self.folder / f"run{self.number}"
        folder.mkdir()
        recorded_run(
            [str(program), *map(str, words)], program, folder, compiler=["gcc"],
            cache=self.folder, environment=os.environ, threads=1, level=level, silent=True,
        )  # fmt: skip
        return folder, region_seconds(folder)

    def graph(self, program: Path, words: tuple[object, ...]) -> tuple[TaskGraph, float]:
        """The recording with the least work of several, and its time in parallel regions."""
        best = None
        for _ in range(RUNS):
            folder, seconds = self.run(program, words, "all")
            graph = read_task_graph(folder)
            shutil.rmtree(folder)
            if best is None or seconds < best[1]:
                best = graph, seconds
        assert best is not None
        return best


def used() -> float:
    """Processor seconds of this process and of those that it has waited for, which a busy
    neighbour moves less than the clock's."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(who)[:2]) for who in both)


def spent(runs: Runs, program: Path, n: int, level: str) -> tuple[float, float]:
    """Seconds in parallel regions, and of processor time, of one run."""
    before = used()
    folder, seconds = runs.run(program, (n,), level)
    after = used()
    shutil.rmtree(folder)
    return seconds, after - before


def million(runs: Runs, n: int) -> None:
    program = built(runs.folder, "fibonacci")
    runs.run(program, (5,), "all")  # compiles the tool
    plain, plain_cpu = zip(*(spent(runs, program, n, "regions") for _ in range(RUNS)), strict=True)
    began, cpu = time.perf_counter(), used()
    folder, _ = runs.run(program, (n,), "all")
    graph = read_task_graph(folder)
    metrics = measure_graph(graph, concurrency=False)
    whole, cpu = time.perf_counter() - began, used() - cpu
    shutil.rmtree(folder)
    recorded, recorded_cpu = zip(
        *(spent(runs, program, n, "all") for _ in range(RUNS)), strict=True
    )
    for what, without, with_ in (
        ("elapsed", plain, recorded), ("processor time", plain_cpu, recorded_cpu),
    ):  # fmt: skip
        print(
            f"{metrics.tasks} tasks, {what}: {min(without):.2f} s without, {min(with_):.2f} s with "
            f"recording: {(min(with_) - min(without)) / metrics.tasks * 1e9:.0f} ns a task "
            "(at most 1000)"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    print(
        f"recorded, read and measured in {whole:.1f} s, {cpu:.1f} s of a processor (at most 10), "
        f"{peak:.2f} GiB (at most 2); "
        f"T1 {metrics.work_s:.3f} s, T_inf {metrics.depth_s:.4f} s"
    )


def grains(runs: Runs) -> None:
    processors = len(os.sched_getaffinity(0))
    for name, words in GRAINS:
        program = built(runs.folder, name)
        plain = min(runs.run(program, words, "regions")[1] for _ in range(RUNS))
        graph, inside = runs.graph(program, words)
        metrics = measure_graph(graph, concurrency=False)
        line = (
            f"{name}: {metrics.tasks} tasks, work {metrics.work_s:.4f} s; against the time in "
            f"regions of the same run {metrics.work_s / inside - 1:+.1%} (at most 2 %), of runs "
            f"without recording {metrics.work_s / plain - 1:+.1%};"
        )
        # So short that some runs are undisturbed by others on the host; the ratio is the graph's.
        short = dataclasses.replace(graph, seconds=graph.seconds * SHORT_S / graph.seconds.sum())
        for threads in range(1, processors + 1):
            run = replay(
                short, threads, compiler=["gcc"], cache=runs.folder, environment=os.environ,
                runtime=find_runtime(), most_runs=300,
            )  # fmt: skip
            simulated = simulate(short, threads, overhead_s=run.overhead_s)
            line += (
                f" {threads} threads, scaled to {SHORT_S * 1e3:g} ms: simulated "
                f"{simulated.seconds * 1e3:.3f} ms, replayed {run.seconds * 1e3:.3f} ms "
                f"({simulated.seconds / run.seconds - 1:+.1%}"
                f"{'' if run.undisturbed else ', others disturbed it'});"
            )
        print(line, flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="regionpredict-") as folder:
        runs = Runs(Path(folder))
        million(runs, int(sys.argv[1]) if len(sys.argv) > 1 else 28)
        grains(runs)


if __name__ == "__main__":
    main()
