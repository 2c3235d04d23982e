"""A task graph run again on this machine, each task only letting its time pass: no contention.

The runtime schedules it as it schedules the program; what the program takes longer is contention
for caches and memory (Shudler 2018, sec. 4.4).
"""

from __future__ import annotations

import dataclasses
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regionpredict.errors import InputError
from regionpredict.machine.calibrate.samples import ENOUGH, LEAST_SAMPLES, relative_interval
from regionpredict.measure.ompt_runtime import stand_in
from regionpredict.measure.runtime_library import runtime_program
from regionpredict.tasks.scheduler import starts_of_tasks
from regionpredict.tasks.task_graph import CONTINUE, JOINED, TaskGraph

SOURCE = "task_replay.c"
MOST_RUNS = 60


@dataclass(frozen=True, slots=True)
class Replayed:
    """T_p in seconds: the mean of the runs, half the width of its 95 % interval as a part of it,
    the least, and how many there were; `overhead_s` is what the runtime takes to start one task,
    from the same graph without times, and `starts` how many it started."""

    threads: int
    seconds: float
    interval: float
    least_s: float
    runs: int
    overhead_s: float
    starts: int

    @property
    def settled(self) -> bool:
        """Whether the interval is as narrow as was asked for."""
        return self.interval <= ENOUGH

    @property
    def without_overhead_s(self) -> float:
        """The time less that of starting tasks, which all threads share."""
        return max(self.seconds - self.overhead_s * self.starts / self.threads, 0.0)


def replay(
    graph: TaskGraph,
    threads: int,
    *,
    compiler: Sequence[str],
    cache: Path,
    environment: Mapping[str, str],
    runtime: Path | None = None,
    most_runs: int = MOST_RUNS,
    timeout_s: float = 600.0,
) -> Replayed:
    """Replays the graph until the 95 % interval of its time is within 5 % of the mean (sec. 5.4.1).

    `runtime` stands in for the compiler's own.

    Raises InputError where it cannot be compiled or does not end.
    """
    program = runtime_program(compiler, cache, SOURCE)
    settings = {**environment, "OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
    if runtime is not None:
        before = environment.get("LD_PRELOAD", "")
        loaded = str(stand_in(runtime, cache))
        settings["LD_PRELOAD"] = f"{loaded}:{before}" if before else loaded
    with tempfile.TemporaryDirectory(prefix="regionpredict-") as folder:
        timed, empty = Path(folder, "timed"), Path(folder, "empty")
        _write(graph, timed)
        _write(dataclasses.replace(graph, seconds=np.zeros(graph.nodes)), empty)

        def run(path: Path, count: int) -> list[float]:
            return _run([str(program), str(path), str(count)], settings, timeout_s)

        times = run(timed, LEAST_SAMPLES + 1)[1:]  # the first one starts the threads
        while relative_interval(times) > ENOUGH and len(times) < most_runs:
            times += run(timed, LEAST_SAMPLES + 1)[1:]
        starts = int(starts_of_tasks(graph).sum()) or 1
        overhead = min(run(empty, LEAST_SAMPLES + 1)[1:]) * threads / starts
    return Replayed(
        threads=threads,
        seconds=sum(times) / len(times),
        interval=relative_interval(times),
        least_s=min(times),
        runs=len(times),
        overhead_s=overhead,
        starts=starts,
    )


def _write(graph: TaskGraph, path: Path) -> None:
    """The graph as `task_replay.c` reads it."""
    start, edge = graph.successors
    goes_on = np.isin(graph.edge_kinds[edge], (CONTINUE, JOINED))
    parts = (
        [graph.nodes, graph.edges], np.rint(graph.seconds * 1e9), start, graph.targets[edge],
        goes_on,
    )  # fmt: skip
    path.write_bytes(b"".join(np.asarray(part).astype("=i8").tobytes() for part in parts))


def _run(line: list[str], settings: Mapping[str, str], timeout_s: float) -> list[float]:
    try:
        done = subprocess.run(
            line, env=dict(settings), capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"the replay has not ended after {timeout_s:.0f} s", remedy="replay a smaller graph"
        ) from None
    except OSError as error:
        raise InputError(f"the replay does not run: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise InputError(f"the replay fails: {said[-1] if said else done.returncode}")
    return [float(word) for word in done.stdout.split()]
