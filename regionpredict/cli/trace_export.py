"""`regionpredict trace export ARCHIVE`: the timeline for a viewer."""

from __future__ import annotations

import click

from regionpredict.cli.output import write_result
from regionpredict.cli.trace_request import analysed
from regionpredict.cli.trace_selection import Reading, reading_options


@click.command("export")
@reading_options
@click.option("-o", "--output", "target", type=click.Path(), help="Write to a file.")
def command(reading: Reading, target: str | None) -> None:
    """Export ARCHIVE as a timeline with its critical path, in the format of Perfetto.

    Open the file at ui.perfetto.dev, or in chrome://tracing. ARCHIVE is an OTF2 anchor file or
    its folder, or a Paraver trace (.prv, .prv.gz).
    """
    from regionpredict.report.trace_timeline import timeline

    analysis = analysed(reading)
    write_result(timeline(analysis), target, verbatim=True)
    for finding in analysis.findings:
        click.echo(f"regionpredict: note: {finding}", err=True)
