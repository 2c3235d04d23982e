"""Runs a program over sizes and threads for its efficiencies (Shudler 2018, sec. 5.3 and 5.4.1).

For each size: its graph, recorded on one thread; for each thread count, times without a recording
and the time without contention, replayed here, or simulated where there are fewer processors.
"""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from regionpredict.errors import InputError, plural
from regionpredict.machine.calibrate.samples import ENOUGH, LEAST_SAMPLES, relative_interval
from regionpredict.measure.ompt_run import recorded_run
from regionpredict.tasks.isoefficiency.measured_times import (
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

MARK = "{n}"
MOST_RUNS = 20
RECORDINGS = 3


@dataclass(frozen=True, slots=True)
class Setting:
    """How programs run here: the C compiler, the folder that keeps what it made, the environment,
    the OpenMP runtime that stands in for others (None: none is needed or found), and how many
    processors there are."""

    compiler: tuple[str, ...]
    cache: Path
    environment: Mapping[str, str]
    runtime: Path | None
    processors: int


def size_text(size: float) -> str:
    """A size as it stands on a command line.

    >>> size_text(1024.0), size_text(0.5)
    ('1024', '0.5')
    """
    return str(int(size)) if float(size).is_integer() else repr(size)


def steps(
    data: IsoefficiencyData, sizes: Sequence[float], threads: Sequence[int]
) -> Iterator[tuple[float, int | None]]:
    """What is not measured yet: (size, None) is a graph, (size, threads) a time."""
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
    setting: Setting,
    output: Path,
    show: Callable[[float, str], None],
) -> IsoefficiencyData:
    """Measures what is missing; each result is in `output` before the next one is begun."""
    missing = list(steps(data, sizes, threads))
    graph: tuple[float, TaskGraph] | None = None
    for number, (size, count) in enumerate(missing):
        what = "its graph" if count is None else plural(count, "thread")
        show(number / len(missing), f"n = {size_text(size)}, {what}")
        argv = [word.replace(MARK, size_text(size)) for word in data.command]
        if graph is None or graph[0] != size:
            graph = size, _recorded(argv, program, setting)
        if count is None:
            metrics = measure_graph(graph[1], concurrency=False)
            part = SizeGraph(size, metrics.tasks, metrics.work_s, metrics.depth_s)
            data = replace(data, graphs=(*data.graphs, part))
            add_to_file(output, part)
        else:
            time = _timed(argv, program, setting, size, count, graph[1])
            data = replace(data, times=(*data.times, time))
            add_to_file(output, time)
    return data


def _recorded(argv: Sequence[str], program: Path, setting: Setting) -> TaskGraph:
    """The graph of the recording that was disturbed least: of several, that of the least work."""
    graphs = [_recorded_once(argv, program, setting) for _ in range(RECORDINGS)]
    return min(graphs, key=lambda graph: float(graph.seconds.sum()))


def _recorded_once(argv: Sequence[str], program: Path, setting: Setting) -> TaskGraph:
    with tempfile.TemporaryDirectory(prefix="regionpredict-") as folder:
        _run(argv, program, setting, Path(folder), 1, whole=True)
        return recorded_graph(read_recording(Path(folder)), argv[0])


def _run(
    argv: Sequence[str], program: Path, setting: Setting, folder: Path, threads: int, *,
    whole: bool,
) -> None:  # fmt: skip
    code = recorded_run(
        argv, program, folder, compiler=setting.compiler, cache=setting.cache,
        environment=setting.environment, threads=threads, level="all" if whole else "regions",
        runtime=setting.runtime, silent=True,
    )  # fmt: skip
    if code == -signal.SIGINT:  # the terminal has sent it to the program, too
        raise KeyboardInterrupt
    if code:
        raise InputError(
            f"'{' '.join(argv)}' ended with {code} on {plural(threads, 'thread')}",
            remedy="see what it says without regionpredict",
        )


def _timed(
    argv: Sequence[str], program: Path, setting: Setting, size: float, threads: int,
    graph: TaskGraph,
) -> SizeTime:  # fmt: skip
    times: list[float] = []
    while len(times) < LEAST_SAMPLES or (
        relative_interval(times) > ENOUGH and len(times) < MOST_RUNS
    ):
        with tempfile.TemporaryDirectory(prefix="regionpredict-") as folder:
            _run(argv, program, setting, Path(folder), threads, whole=False)
            times.append(region_seconds(Path(folder)))
    here = threads <= setting.processors
    replayed = replay(
        graph, threads if here else 1, compiler=setting.compiler, cache=setting.cache,
        environment=setting.environment, runtime=setting.runtime,
    )  # fmt: skip
    if here:
        return SizeTime(size, threads, tuple(times), replayed.without_overhead_s, "replayed")
    simulated = simulate(graph, threads)
    return SizeTime(size, threads, tuple(times), simulated.seconds, "simulated")


def region_seconds(folder: Path) -> float:
    """How long a program was in parallel regions, those inside others not counted again."""
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
