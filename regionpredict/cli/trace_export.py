"""`regionpredict trace export ARCHIVE`: exports the timeline for a viewer, or the results for
Cube.
"""

from __future__ import annotations

from pathlib import Path

import click

from regionpredict.cli.output import write_notes, write_result
from regionpredict.cli.trace_request import analysed, check_sums
from regionpredict.cli.trace_selection import Reading, reading_options
from regionpredict.errors import UsageError, one_line

CUBE = ".cubex"


@click.command("export")
@reading_options
@click.option(
    "-o", "--output", "target", type=click.Path(),
    help="Write to a file; one that ends in .cubex is for Cube.",
)  # fmt: skip
@click.option(
    "--format",
    "output",
    type=click.Choice(["perfetto", "cube"]),
    help="The timeline for Perfetto, or a CUBE4 archive.  [default: by the file's name]",
)
def command(reading: Reading, target: str | None, output: str | None) -> None:
    """Export ARCHIVE as a timeline with its critical path for Perfetto, or for Cube.

    Open the timeline at ui.perfetto.dev, or in chrome://tracing. A file that ends in .cubex has
    wait states, delay costs and the critical path by call path and location, for Cube, Scalasca's
    browser. ARCHIVE is an OTF2 anchor file or its folder, or a Paraver trace (.prv, .prv.gz).
    """
    output = output or ("cube" if target is not None and target.endswith(CUBE) else "perfetto")
    if output == "cube" and target is None:
        raise UsageError("a CUBE4 archive is not text", remedy="give -o FILE.cubex")
    analysis, results = analysed(reading), []
    if output == "cube" and target is not None:
        from regionpredict.atomic_file import write_file
        from regionpredict.trace.export.cube_archive import cube_archive
        from regionpredict.trace.results import critical_path, delay_costs, wait_states

        results = [tell(analysis) for tell in (wait_states, delay_costs, critical_path)]
        write_file(Path(target), cube_archive(analysis, results))
        click.echo(f"written: {one_line(target)}", err=True)
    else:
        from regionpredict.trace.export.event_timeline import timeline

        write_result(timeline(analysis), target, verbatim=True)
    write_notes(analysis.findings)
    check_sums(results, analysis.trace.name)
