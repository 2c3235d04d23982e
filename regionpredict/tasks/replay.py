"""Replays a task graph on this machine without contention. Each task only waits for its recorded
duration.

The OpenMP runtime schedules the tasks as in the program. Therefore, additional time of the program
is due to contention for caches and memory (Shudler 2018, sec. 4.4).
"""

from __future__ import annotations

import dataclasses
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from regionpredict.constant import Constant
from regionpredict.errors import InputError, plural
from regionpredict.machine.calibrate.samples import ENOUGH, LEAST_SAMPLES, relative_interval
from regionpredict.measure.ompt_runtime import stand_in
from regionpredict.measure.runtime_library import runtime_program
from regionpredict.scratch_folder import scratch_folder
from regionpredict.tasks.scheduler import SAME_TASK_EDGES, started_nodes
from regionpredict.tasks.task_graph import TaskGraph

SOURCE = "task_replay.c"
MOST_RUNS = 60
MOST_EMPTY_RUNS = 220
LIMIT_S = 600.0
"""The default time limit of a replay."""
EMPTY_S = 30.0
"""The additional time in seconds for runs without task durations, which measure the overhead.
Assumed: ten million tasks of 3 microseconds.
"""
QUIET = Constant(
    0.02,
    "1",
    "assumed",
    "maximum share of a run in which a thread may lack a processor; beyond, the run is discarded: "
    "below the 5 % that are requested of the interval",
)
CLOCKS = Constant(
    2e-6,
    "s",
    "assumed",
    "the error of the time without a processor from reading two clocks in sequence: two system "
    "calls of less than a microsecond each",
)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The time T_p of a replayed task graph. `seconds` is the mean of the runs, and `least_s` their
    minimum. `interval` is half the width of the 95 % interval, relative to the mean. `overhead_s`
    is the time to start one task, measured with zero durations, and `starts` is the number of
    started tasks. `undisturbed` says whether every thread had a processor during all counted runs.
    `in_time` says whether the replay ended before the time limit. With one run, the interval is
    infinite.
    """

    threads: int
    seconds: float
    interval: float
    least_s: float
    runs: int
    overhead_s: float
    starts: int
    undisturbed: bool
    in_time: bool = True

    @property
    def has_converged(self) -> bool:
        """Whether the interval is as narrow as requested."""
        return self.interval <= ENOUGH

    @property
    def without_overhead_s(self) -> float:
        """The time in seconds without the overhead of starting tasks, which is divided among the
        threads.
        """
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
    limit_s: float = LIMIT_S,
    on_run: Callable[[int], None] = lambda _: None,
) -> Replayed:
    """Replays the graph until the 95 % interval of its time is within 5 % of the mean (sec. 5.4.1).

    Runs in which other processes took a processor are discarded if enough other runs remain.
    `runtime` replaces the compiler's OpenMP runtime. The replay stops after `limit_s` seconds.
    After each run, `on_run` receives the number of finished runs.

    Raises InputError if the replay cannot be compiled, fails, or finishes no run in time.
    """
    end = time.monotonic() + limit_s
    program = runtime_program(compiler, cache, SOURCE)
    settings = {
        **environment,
        "OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false", "OMP_WAIT_POLICY": "active",
    }  # fmt: skip
    if runtime is not None:
        before = environment.get("LD_PRELOAD", "")
        loaded = str(stand_in(runtime, cache))
        settings["LD_PRELOAD"] = f"{loaded}:{before}" if before else loaded
    with scratch_folder() as folder:
        timed, empty = folder / "timed", folder / "empty"
        _write_graph(graph, timed)
        _write_graph(dataclasses.replace(graph, seconds=np.zeros(graph.nodes)), empty)

        def run(path: Path, before: int, until: float) -> list[_Run]:
            line = [str(program), str(path), str(LEAST_SAMPLES + 1)]
            made = _run_replay_program(
                line, settings, until, lambda number: on_run(before + max(number - 1, 0))
            )
            return made[1:] or made  # the first run also starts the threads

        runs = run(timed, 0, end)
        if not runs:
            raise InputError(
                f"no run on {plural(threads, 'thread')} has ended after {limit_s:.0f} s: the graph "
                f"has {float(graph.seconds.sum()):.3g} s of work",
                remedy="give it more time (--time-limit), or simulate it",
            )
        while (
            not _is_converged(_runs_that_count(runs))
            and len(runs) < most_runs
            and time.monotonic() < end
        ):
            runs += run(timed, len(runs), end)
        in_time = time.monotonic() < end or _is_converged(_runs_that_count(runs))
        starts = int(started_nodes(graph).sum()) or 1
        until = max(end, time.monotonic() + EMPTY_S)
        blank = run(empty, len(runs), until)
        while (
            not any(_is_undisturbed(run) for run in blank)
            and len(blank) < MOST_EMPTY_RUNS
            and time.monotonic() < end
        ):
            blank += run(empty, len(runs), until)
        overhead = (
            min((run.seconds for run in _runs_that_count(blank)), default=0.0) * threads / starts
        )
    times = [run.seconds for run in _runs_that_count(runs)]
    return Replayed(
        threads=threads,
        seconds=sum(times) / len(times),
        interval=relative_interval(times),
        least_s=min(times),
        runs=len(times),
        overhead_s=overhead,
        starts=starts,
        undisturbed=all(_is_undisturbed(run) for run in _runs_that_count(runs)),
        in_time=in_time,
    )


class _Run(NamedTuple):
    """The duration of a run, and the part of it in which some thread had no processor, in
    seconds.
    """

    seconds: float
    taken_s: float


def _is_undisturbed(run: _Run) -> bool:
    return run.taken_s <= QUIET.value * run.seconds + CLOCKS.value


def _runs_that_count(runs: Sequence[_Run]) -> list[_Run]:
    """The undisturbed runs, or all runs if there are too few for an interval."""
    quiet = [run for run in runs if _is_undisturbed(run)]
    return quiet if len(quiet) >= LEAST_SAMPLES else list(runs)


def _is_converged(runs: Sequence[_Run]) -> bool:
    return (
        all(map(_is_undisturbed, runs))
        and relative_interval([run.seconds for run in runs]) <= ENOUGH
    )


def _write_graph(graph: TaskGraph, path: Path) -> None:
    """Writes the graph in the format of `task_replay.c`."""
    start, edge = graph.successors
    goes_on = np.isin(graph.edge_kinds[edge], SAME_TASK_EDGES)
    parts = (
        [graph.nodes, graph.edges], np.rint(graph.seconds * 1e9), start, graph.targets[edge],
        goes_on,
    )  # fmt: skip
    path.write_bytes(b"".join(np.asarray(part).astype("=i8").tobytes() for part in parts))


def _run_replay_program(
    line: list[str], settings: Mapping[str, str], end: float, on_run: Callable[[int], None]
) -> list[_Run]:
    """Starts the replay program, and kills it at `end`, a time of the monotonic clock. Returns the
    completed runs.
    """
    try:
        program = subprocess.Popen(
            line, env=dict(settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    except OSError as error:
        raise InputError(f"the replay does not run: {error.strerror}") from None
    out_of_time = threading.Event()

    def stop() -> None:
        out_of_time.set()
        program.kill()

    timer = threading.Timer(max(end - time.monotonic(), 0.0), stop)
    timer.start()
    runs: list[_Run] = []
    try:
        with program:
            assert program.stdout is not None
            assert program.stderr is not None
            for text in program.stdout:
                runs.append(_Run(*map(float, text.split())))
                on_run(len(runs))
            said = program.stderr.read().strip().splitlines()
    except BaseException:
        program.kill()
        raise
    finally:
        timer.cancel()
    if program.returncode and not out_of_time.is_set():
        raise InputError(f"the replay fails: {said[-1] if said else program.returncode}")
    return runs
