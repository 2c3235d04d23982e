"""Measures the efficiencies of a program over sizes and threads (Shudler 2018, sec. 5.3 and 5.4.1).

For each size, the graph is recorded on one thread, or on several threads that share one processor,
so that loops are distributed. For each thread count, runs without a recording are timed. The time
without contention is measured by a replay on this host, or simulated if there are too few
processors. Runs that other processes disturbed are repeated. They are used only if there are too
few undisturbed runs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from regionpredict.errors import InputError, plural
from regionpredict.machine.calibrate.samples import ENOUGH, LEAST_SAMPLES, relative_interval
from regionpredict.measure.host_activity import (
    Disturbance,
    disturbance,
    own_seconds,
    read_activity,
)
from regionpredict.measure.ompt_run import recorded_run
from regionpredict.scratch_folder import scratch_folder
from regionpredict.tasks.isoefficiency.measured_times import (
    HostActivity,
    IsoefficiencyData,
    SizeGraph,
    SizeTime,
    add_to_file,
)
from regionpredict.tasks.metrics import measure_graph
from regionpredict.tasks.recorded_graph import recorded_graph
from regionpredict.tasks.recording import PARALLEL_BEGIN, PARALLEL_END, read_recording
from regionpredict.tasks.replay import replay
from regionpredict.tasks.scheduler import simulate
from regionpredict.tasks.task_events import of_kinds
from regionpredict.tasks.task_graph import TaskGraph

T = TypeVar("T")
MARK = "{n}"
MOST_RUNS = 20
RECORDINGS = 3
WHOLE = 0.05
"""The maximum share of undivided loops in the work of a graph recorded on one thread. Assumed: the
5 % at which times count as converged.
"""
HOPELESS = 10
"""The number of disturbed runs after which no undisturbed run is expected. Assumed: twice the
minimum number of runs.
"""


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """The settings for running programs on this host. `runtime` is the OpenMP runtime that replaces
    others, or None. `processors` is the number of processors, and `wait` waits for an idle host.
    """

    compiler: tuple[str, ...]
    cache: Path
    environment: Mapping[str, str]
    runtime: Path | None
    processors: int
    wait: Callable[[], object] = lambda: None


@dataclass(frozen=True)  # a named tuple is not generic in Python 3.10
class _Run(Generic[T]):
    """The result of a run, its processor time, and the load of other processes during the run (None
    if unknown).
    """

    value: T
    cpu_s: float
    load: Disturbance | None

    @property
    def disturbed(self) -> bool:
        return self.load is not None and self.load.much


def _repeated_runs(
    run_once: Callable[[], T], enough: Callable[[list[_Run[T]]], bool], setting: RunEnvironment
) -> tuple[list[_Run[T]], HostActivity | None]:
    """Repeats runs until enough are undisturbed, or until no undisturbed run is expected. Returns
    the undisturbed runs, or all runs if there are none.
    """
    runs: list[_Run[T]] = []
    quiet: list[_Run[T]] = []
    while not enough(quiet) and len(runs) < MOST_RUNS and (quiet or len(runs) < HOPELESS):
        setting.wait()
        before, own, children = read_activity(), own_seconds(), _children_seconds()
        value = run_once()
        cpu_s = _children_seconds() - children
        load = disturbance(before, read_activity(), own_seconds() - own)
        runs.append(_Run(value, cpu_s, load))
        quiet = [run for run in runs if not run.disturbed]
    counted = quiet or runs
    known = [run.load for run in counted if run.load is not None]
    if not known:
        return counted, None
    return counted, HostActivity(
        others=max(0.0, sum(load.others for load in known) / len(known)),
        stolen=max(0.0, sum(load.stolen for load in known) / len(known)),
        discarded=len(runs) - len(counted),
        disturbed=not quiet or (len(runs) > len(quiet) and not enough(quiet)),
    )


def _children_seconds() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system


def size_text(size: float) -> str:
    """Formats a size for a command line.

    >>> size_text(1024.0), size_text(0.5)
    ('1024', '0.5')
    """
    return str(int(size)) if float(size).is_integer() else repr(size)


def missing_measurements(
    data: IsoefficiencyData, sizes: Sequence[float], threads: Sequence[int]
) -> Iterator[tuple[float, int | None]]:
    """Yields the missing measurements: (size, None) for a graph, and (size, threads) for a time."""
    for size in sizes:
        if data.graph(size) is None:
            yield size, None
        for count in sorted({1, *threads}):
            if data.time(size, count) is None:
                yield size, count


def run_campaign(
    data: IsoefficiencyData,
    sizes: Sequence[float],
    threads: Sequence[int],
    program: Path,
    setting: RunEnvironment,
    output: Path,
    show: Callable[[float, str], None],
) -> IsoefficiencyData:
    """Runs the missing measurements. Each result is written to `output` before the next
    measurement.
    """
    missing = list(missing_measurements(data, sizes, threads))
    graph: tuple[float, TaskGraph] | None = None
    host: HostActivity | None = None
    for number, (size, count) in enumerate(missing):
        what = "its graph" if count is None else plural(count, "thread")
        show(number / len(missing), f"n = {size_text(size)}, {what}")
        argv = [word.replace(MARK, size_text(size)) for word in data.command]
        if graph is None or graph[0] != size:
            recorded, host = _recorded_graph(argv, program, setting, max(threads))
            graph = size, recorded
        if count is None:
            metrics = measure_graph(graph[1], concurrency=False)
            part = SizeGraph(
                size, metrics.tasks, metrics.work_s, metrics.depth_s, graph[1].undivided_s, host
            )
            data = replace(data, graphs=(*data.graphs, part))
            add_to_file(output, part)
        else:
            time = _timed_runs(argv, program, setting, size, count, graph[1])
            data = replace(data, times=(*data.times, time))
            add_to_file(output, time)
    return data


def _recorded_graph(
    argv: Sequence[str], program: Path, setting: RunEnvironment, most_threads: int
) -> tuple[TaskGraph, HostActivity | None]:
    """Records the graph several times and returns the recording with the least work among the
    undisturbed ones.
    """

    def recorded(threads: int, in_turns: bool) -> tuple[TaskGraph, HostActivity | None]:
        runs, host = _repeated_runs(
            lambda: _record_once(argv, program, setting, threads, in_turns=in_turns),
            lambda quiet: len(quiet) >= RECORDINGS, setting,
        )  # fmt: skip
        return min((run.value for run in runs), key=lambda g: float(g.seconds.sum())), host

    graph, host = recorded(1, False)
    loops_alone = graph.undivided_s > WHOLE * float(graph.seconds.sum()) and not graph.task_count
    return recorded(most_threads, True) if loops_alone and most_threads > 1 else (graph, host)


def _record_once(
    argv: Sequence[str], program: Path, setting: RunEnvironment, threads: int, *, in_turns: bool
) -> TaskGraph:
    with scratch_folder() as folder:
        _run_program(argv, program, setting, folder, threads, whole=True, in_turns=in_turns)
        return recorded_graph(read_recording(folder), argv[0])


def _run_program(
    argv: Sequence[str], program: Path, setting: RunEnvironment, folder: Path, threads: int, *,
    whole: bool, in_turns: bool = False,
) -> None:  # fmt: skip
    code = recorded_run(
        argv, program, folder, compiler=setting.compiler, cache=setting.cache,
        environment=setting.environment, threads=threads, level="all" if whole else "regions",
        runtime=setting.runtime, silent=True, in_turns=in_turns,
    )  # fmt: skip
    if code == -signal.SIGINT:  # the terminal also sent the signal to the program
        raise KeyboardInterrupt
    if code:
        raise InputError(
            f"'{' '.join(argv)}' ended with {code} on {plural(threads, 'thread')}",
            remedy="run it without regionpredict to see its message",
        )


def _timed_runs(
    argv: Sequence[str], program: Path, setting: RunEnvironment, size: float, threads: int,
    graph: TaskGraph,
) -> SizeTime:  # fmt: skip
    def run_once() -> float:
        with scratch_folder() as folder:
            _run_program(argv, program, setting, folder, threads, whole=False)
            return region_seconds(folder)

    def enough(quiet: list[_Run[float]]) -> bool:
        times = [run.value for run in quiet]
        return len(times) >= LEAST_SAMPLES and relative_interval(times) <= ENOUGH

    runs, host = _repeated_runs(run_once, enough, setting)
    times, cpu_s = tuple(run.value for run in runs), tuple(run.cpu_s for run in runs)
    here = threads <= setting.processors
    replayed = replay(
        graph, threads if here else 1, compiler=setting.compiler, cache=setting.cache,
        environment=setting.environment, runtime=setting.runtime,
    )  # fmt: skip
    if host is not None and not replayed.undisturbed:
        host = replace(host, disturbed=True)
    if here:
        free_s, how = replayed.without_overhead_s, "replayed"
    else:
        free_s, how = simulate(graph, threads).seconds, "simulated"
    return SizeTime(size, threads, times, free_s, how, cpu_s, host)


def region_seconds(folder: Path) -> float:
    """Returns the seconds that a program spent in parallel regions. Nested regions count once."""
    words = np.concatenate(read_recording(folder).threads)
    kind = words[:, 0] & np.uint64(255)
    marks = of_kinds(kind, (PARALLEL_BEGIN, PARALLEL_END))
    times, kinds = words[marks, 1].astype(np.int64), kind[marks]
    order = np.argsort(times, kind="stable")
    times, open_ = times[order], np.cumsum(np.where(kinds[order] == PARALLEL_BEGIN, 1, -1))
    inside = float(np.where(open_[:-1] > 0, np.diff(times), 0).sum()) / 1e9
    if inside <= 0:
        raise InputError("no parallel region ran", remedy="is it an OpenMP program?")
    return inside
