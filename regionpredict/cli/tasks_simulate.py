"""`regionpredict tasks simulate`: simulates a task graph on any number of threads."""

from __future__ import annotations

from pathlib import Path

import click

from regionpredict.cli.number_range import NumberRange
from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.progress import ProgressLine

LONG = 1_000_000
"""The number of nodes in all simulations from which progress is shown. Such simulations take a few
seconds.
"""


@click.command("simulate")
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--threads", default="1,2,4,8,16,32,64", show_default=True, metavar="LIST")
@click.option(
    "--policy",
    type=click.Choice(["help-first", "work-first", "breadth-first"]),
    default="help-first",
    show_default=True,
    help="With help-first, a thread continues after it creates a task (LLVM's runtime). With "
    "work-first, it runs the new task. With breadth-first, all threads share one queue.",
)
@click.option(
    "--overhead",
    type=NumberRange(0),
    default=0.0,
    show_default=True,
    metavar="NS",
    help="Cost of starting a task, in ns. Measure it with regionpredict tasks replay.",
)
@click.option(
    "--what-if",
    is_flag=True,
    help="Also try splitting the largest critical task, faster lines, and other cut-offs.",
)
@result_options("table json html")
def command(
    path: Path, threads: str, policy: str, overhead: float, what_if: bool, form: str,
    output: str | None,
) -> None:  # fmt: skip
    """Simulate a scheduler on FILE, for any number of threads."""
    from regionpredict.cli.curve_options import parse_threads
    from regionpredict.report.quantities import plural
    from regionpredict.report.rendered import rendered
    from regionpredict.report.task_times import timed_changes, times_document
    from regionpredict.tasks import GraphMetrics, TaskGraph, measure_graph, read_task_graph
    from regionpredict.tasks.scheduler import Simulated, simulate
    from regionpredict.tasks.what_if import possible_changes

    graph = read_task_graph(path)
    metrics = measure_graph(graph, concurrency=False)
    counts = parse_threads(threads)
    wanted = possible_changes(graph, metrics) if what_if else []
    line, steps, done = ProgressLine(steps=10), len(counts) * (1 + len(wanted)), 0

    def times(of: TaskGraph, _: GraphMetrics) -> list[Simulated]:
        nonlocal done
        rows = []
        for count in counts:
            if steps * graph.nodes > LONG:
                line.show(done / steps, f"simulating {plural(count, 'thread')}")
            rows.append(simulate(of, count, policy, overhead / 1e9))  # type: ignore[arg-type]
            done += 1
        return rows

    rows = times(graph, metrics)
    changed = timed_changes(graph, wanted, times) if what_if else None
    line.end()
    cost = f", {overhead:g} ns a task"
    document = times_document(path.name, "simulated", metrics, rows, changed, policy, cost)
    write_result(rendered(document, form), output)
    for note in graph.notes:
        click.echo(f"note: {path}: {note}", err=True)
