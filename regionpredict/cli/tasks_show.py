"""`regionpredict tasks show`: the metrics of a task graph."""

from __future__ import annotations

from pathlib import Path

import click

from regionpredict.cli.output import write_result
from regionpredict.cli.plot_option import plot_option, write_plot


@click.command("show")
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "html", "dot", "graph"]),
    default="table",
    show_default=True,
    help="table, json, html: the metrics; dot, graph: the graph itself, in DOT or JSON.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to a file.")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A recording on one thread: how much the times of tasks grew from it, line by line.",
)
@plot_option("the graph")
@click.option("--top", type=click.IntRange(1), default=12, show_default=True, help="Source lines.")
def command(
    path: Path, form: str, output: Path | None, against: Path | None, plot: Path | None, top: int
) -> None:
    """Shows work, depth, critical path, average parallelism and concurrency of FILE.

    FILE is a recording of regionpredict tasks record, a DOT or a JSON file.
    """
    from regionpredict.report import task_graphs
    from regionpredict.tasks import measure_graph, read_task_graph

    graph = read_task_graph(path)
    metrics = measure_graph(graph)
    growth = None
    if against is not None:
        from regionpredict.tasks.growth import line_growth

        growth = line_growth(read_task_graph(against), graph)
    if form == "json":
        text = task_graphs.metrics_json(graph, metrics, growth)
    elif form == "html":
        from regionpredict.report.html.task_graph import task_graph_page

        text = task_graph_page(path.name, graph, metrics, growth, top)
    elif form == "dot":
        from regionpredict.tasks.dot_file import dot_text

        text = dot_text(graph, metrics.path)
    elif form == "graph":
        from regionpredict.tasks.json_file import json_text

        text = json_text(graph)
    else:
        text = task_graphs.metrics_table(graph, metrics, growth, top)
    if plot is not None:
        from regionpredict.report.plots.task_graph import graph_figure

        write_plot(plot, graph_figure(graph, metrics))
    write_result(text, output)
    for note in graph.notes:
        click.echo(f"note: {path}: {note}", err=True)
