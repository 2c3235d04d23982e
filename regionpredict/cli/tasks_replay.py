"""`regionpredict tasks replay`: runs a task graph again without contention."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.cli.durations import parse_duration
from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.progress import ProgressLine

if TYPE_CHECKING:
    from regionpredict.tasks.replay import Replayed


@click.command("replay")
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--threads", default=None, metavar="LIST", help="Thread counts: 1,2,4 or 1-24.")
@click.option(
    "--time-limit",
    default="10m",
    show_default=True,
    metavar="TIME",
    help="Total time, divided equally among the thread counts.",
)
@click.option(
    "--what-if",
    is_flag=True,
    help="Also try splitting the largest critical task, faster lines, and other cut-offs.",
)
@click.option(
    "--runtime",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="OpenMP runtime for the replay.  [default: LLVM's, if found]",
)
@result_options("table json html")
def command(
    path: Path, threads: str | None, time_limit: str, what_if: bool, runtime: Path | None,
    form: str, output: str | None,
) -> None:  # fmt: skip
    """Replay FILE's tasks as loops of the same length under the OpenMP runtime.

    The replay is repeated until the 95 % interval of the time is within 5 %. A recording on one
    thread is free of contention, so any extra time of PROGRAM is contention.
    """
    from regionpredict.cli.cache import cache_folder
    from regionpredict.cli.measure import thread_counts
    from regionpredict.cli.run import compiler
    from regionpredict.measure.ompt_runtime import find_runtime
    from regionpredict.report.quantities import plural, show_seconds
    from regionpredict.report.rendered import rendered
    from regionpredict.report.task_times import timed_changes, times_document
    from regionpredict.tasks import GraphMetrics, TaskGraph, measure_graph, read_task_graph
    from regionpredict.tasks.replay import MOST_RUNS, replay
    from regionpredict.tasks.what_if import possible_changes

    limit_s = parse_duration(time_limit, "--time-limit")
    graph = read_task_graph(path)
    metrics = measure_graph(graph, concurrency=False)
    allowed = sorted(os.sched_getaffinity(0))
    counts = thread_counts(threads, allowed)
    library = runtime or find_runtime()
    if library is None:
        click.echo("note: no LLVM runtime found: the compiler's own schedules the tasks", err=True)
    if max(counts) > len(allowed):
        click.echo(
            f"note: {max(counts)} threads share {plural(len(allowed), 'processor')}, "
            "so their times include contention; use regionpredict tasks simulate",
            err=True,
        )  # fmt: skip
    wanted = possible_changes(graph, metrics) if what_if else []
    line, begin, done = ProgressLine(steps=10), time.monotonic(), 0
    steps = len(counts) * (1 + len(wanted))

    def times(of: TaskGraph, measured: GraphMetrics) -> list[Replayed]:
        nonlocal done
        rows = []
        for count in counts:
            least_s = max(measured.depth_s, measured.work_s / count)
            what = (
                f"replaying on {plural(count, 'thread')}, {show_seconds(least_s)} or more per run"
            )
            left_s = begin + limit_s - time.monotonic()

            def on_run(runs: int, share: float = done / steps, what: str = what) -> None:
                part = min(runs / MOST_RUNS, 1.0) / steps
                line.show(share + part, f"{what}, {plural(runs, 'run')}")

            on_run(0)
            rows.append(
                replay(
                    of, count, compiler=[compiler()], cache=cache_folder(), environment=os.environ,
                    runtime=library, limit_s=max(left_s, 0.0) / (steps - done), on_run=on_run,
                )
            )  # fmt: skip
            done += 1
        return rows

    rows = times(graph, metrics)
    changed = timed_changes(graph, wanted, times) if what_if else None
    line.end()
    _report_disturbed(rows, len(allowed))
    document = times_document(path.name, "replayed", metrics, rows, changed)
    write_result(rendered(document, form), output)
    for note in graph.notes:
        click.echo(f"note: {path}: {note}", err=True)


def _report_disturbed(rows: Sequence[Replayed], processors: int) -> None:
    """Reports times with contention, and times that did not converge."""
    from regionpredict.report.quantities import plural

    for row in rows:
        if not row.undisturbed and row.threads <= processors:
            click.echo(
                f"note: {plural(row.threads, 'thread')}: other processes used the processors in "
                f"nearly all of {row.runs} runs, so they look longer: replay on a quiet "
                f"machine", err=True,
            )  # fmt: skip
        elif not row.has_converged:
            known = math.isfinite(row.interval)
            interval = f"is {100 * row.interval:.0f} % of the mean" if known else "is unknown"
            limit = "" if row.in_time else ", when the time limit was reached"
            click.echo(
                f"note: {plural(row.threads, 'thread')}: the 95 % interval {interval} after "
                f"{plural(row.runs, 'run')}{limit}", err=True,
            )  # fmt: skip
