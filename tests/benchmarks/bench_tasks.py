"""Costs and agreements of task graphs: what recording a million tasks takes, and reading them; the
sum of recorded times against the time in tasks; the simulator against the replay.

python tests/benchmarks/bench_tasks.py [N of Fibonacci, 28: a million tasks]
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from regionpredict.measure.ompt_run import recorded_run
from regionpredict.measure.ompt_runtime import find_runtime, runtime_for, stand_in
from regionpredict.tasks import TaskGraph, measure_graph, read_task_graph, simulate
from regionpredict.tasks.isoefficiency.campaign import region_seconds
from regionpredict.tasks.replay import replay

PROGRAMS = Path(__file__).parents[1] / "tasks" / "programs"
RUNS = 5
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


def million(runs: Runs, n: int) -> None:
    program = built(runs.folder, "fibonacci")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    standing = runtime_for(program)
    if standing is not None:
        environment["LD_PRELOAD"] = str(stand_in(standing, runs.folder))
    runs.run(program, (5,), "all")  # compiles the tool
    plain = min(runs.run(program, (n,), "regions")[1] for _ in range(RUNS))
    recorded = []
    began = time.perf_counter()
    folder, seconds = runs.run(program, (n,), "all")
    recorded.append(seconds)
    graph = read_task_graph(folder)
    metrics = measure_graph(graph, concurrency=False)
    whole = time.perf_counter() - began
    shutil.rmtree(folder)
    for _ in range(RUNS - 1):
        again, seconds = runs.run(program, (n,), "all")
        recorded.append(seconds)
        shutil.rmtree(again)
    print(
        f"{metrics.tasks} tasks: {plain:.2f} s without, {min(recorded):.2f} s with recording: "
        f"{(min(recorded) - plain) / metrics.tasks * 1e9:.0f} ns a task (at most 1000)"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    print(
        f"recorded, read and measured in {whole:.1f} s (at most 10), {peak:.2f} GiB (at most 2); "
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
            f"{name}: {metrics.tasks} tasks, work {metrics.work_s:.4f} s, of the time in regions "
            f"{metrics.work_s / inside - 1:+.1%} recorded, {metrics.work_s / plain - 1:+.1%} without;"
        )
        for threads in range(1, processors + 1):
            run = replay(
                graph, threads, compiler=["gcc"], cache=runs.folder, environment=os.environ,
                runtime=find_runtime(),
            )  # fmt: skip
            simulated = simulate(graph, threads, "work-first", run.overhead_s)
            line += (
                f" {threads} threads: simulated {simulated.seconds:.4f} s, replayed least "
                f"{run.least_s:.4f} s ({simulated.seconds / run.least_s - 1:+.1%});"
            )
        print(line, flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="regionpredict-") as folder:
        runs = Runs(Path(folder))
        million(runs, int(sys.argv[1]) if len(sys.argv) > 1 else 28)
        grains(runs)


if __name__ == "__main__":
    main()
