"""`regionpredict tasks show`: the metrics of a task graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.output import result_options, write_result
from regionpredict.cli.plot_option import plot_option, write_plot
from regionpredict.cli.source_options import OF_SOURCES, reading_options, run_analysis
from regionpredict.errors import UsageError

if TYPE_CHECKING:
    from regionpredict.report.task_contention import PredictedBodies


@click.command("show")
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@result_options(
    "table json html dot graph",
    "table, json and html give the metrics. dot and graph give the graph in DOT or JSON.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Recording on one thread, to show the growth of task times per source line.",
)
@plot_option("the graph")
@click.option(
    "--top", type=click.IntRange(1), default=12, show_default=True, help="Rows of each table."
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="PATH",
    help="The program's sources, to predict memory contention of its tasks.",
)
@machine_option
@click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    help="Number of concurrent tasks to predict for.  [default: threads of the run]",
)
@reading_options
def command(
    path: Path, form: str, output: str | None, against: Path | None, plot: Path | None, top: int,
    sources: tuple[str, ...], machine_name: str | None, threads: int | None, **options: Any,
) -> None:  # fmt: skip
    """Show work, depth, critical path, average parallelism and concurrency of FILE.

    FILE is a recording of regionpredict tasks record, a graph in DOT, JSON or GraphML, a Chrome
    trace, or the tasks.rec of StarPU. With --source and -m, memory contention is predicted, and
    with --against it is measured.
    """
    if not sources:
        refuse_options(
            click.get_current_context(),
            (*OF_SOURCES, "threads"),
            "has no effect without --source",
        )
    from regionpredict.report.rendered import rendered
    from regionpredict.report.task_graphs import tasks_document
    from regionpredict.tasks import measure_graph, read_task_graph

    graph = read_task_graph(path)
    metrics = measure_graph(graph)
    growth = None
    if against is not None:
        from regionpredict.tasks.growth import line_growth

        growth = line_growth(read_task_graph(against), graph)
    predicted = None
    if sources:
        predicted = _predict_contention(sources, machine_name, threads or graph.threads, options)
    if form == "dot":
        from regionpredict.tasks.dot_file import dot_text

        text = dot_text(graph, metrics.path)
    elif form == "graph":
        from regionpredict.tasks.json_file import json_text

        text = json_text(graph)
    else:
        document = tasks_document(path.name, graph, metrics, growth, top, predicted)
        text = rendered(document, form)
    if plot is not None:
        from regionpredict.report.plots.task_graph import graph_figure

        write_plot(plot, graph_figure(graph, metrics))
    write_result(text, output)
    for note in graph.notes:
        click.echo(f"note: {path}: {note}", err=True)


def _predict_contention(
    sources: tuple[str, ...], machine_name: str | None, threads: int | None, options: dict[str, Any]
) -> PredictedBodies:
    """The predicted slowdown of concurrent tasks by memory, from their bodies."""
    from regionpredict.task_bodies import predicted_bodies

    machine, _ = machine_for(machine_name)
    if threads is None:
        raise UsageError(
            "the number of concurrent tasks is unknown", remedy="give --threads, or a recording"
        )
    if threads > machine.hardware_threads:
        raise UsageError(
            f"{threads} threads on {machine.name}",
            remedy=f"choose --threads from 1 to {machine.hardware_threads}",
        )
    analysis = run_analysis(sources, **options, timings=False)
    return predicted_bodies(analysis, machine, threads)
