"""`regionpredict tasks simulate`: a task graph's time on any number of threads."""

from __future__ import annotations

from pathlib import Path

import click

from regionpredict.cli.number_range import NumberRange
from regionpredict.cli.output import write_result


@click.command("simulate")
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--threads", default="1,2,4,8,16,32,64", show_default=True, metavar="LIST")
@click.option(
    "--policy",
    type=click.Choice(["breadth-first", "work-first"]),
    default="work-first",
    show_default=True,
    help="One queue for all, or one a thread from which others steal.",
)
@click.option(
    "--overhead",
    type=NumberRange(0),
    default=0.0,
    show_default=True,
    metavar="NS",
    help="Nanoseconds that starting a task takes; regionpredict tasks replay measures them.",
)
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "html"]), default="table",
    show_default=True, help="What to print.",
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to a file.")
def command(
    path: Path, threads: str, policy: str, overhead: float, form: str, output: Path | None
) -> None:
    """Carries out a scheduler on FILE, for thread counts that this machine need not have."""
    from regionpredict.cli.curve_options import parse_threads
    from regionpredict.report.task_times import times_json, times_table
    from regionpredict.tasks import measure_graph, read_task_graph
    from regionpredict.tasks.scheduler import simulate

    graph = read_task_graph(path)
    metrics = measure_graph(graph, concurrency=False)
    rows = [
        simulate(graph, count, policy, overhead / 1e9)  # type: ignore[arg-type]
        for count in parse_threads(threads)
    ]
    head = f"simulated {policy}, {overhead:g} ns a task"
    if form == "json":
        text = times_json("simulated", metrics, rows, policy)
    elif form == "html":
        from regionpredict.report.html.task_times import task_times_page

        text = task_times_page(path.name, head, metrics, rows)
    else:
        text = times_table(head, metrics, rows)
    write_result(text, output)
    for note in graph.notes:
        click.echo(f"note: {path}: {note}", err=True)
