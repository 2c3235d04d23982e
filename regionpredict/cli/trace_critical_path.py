"""`regionpredict trace critical-path ARCHIVE`."""

from __future__ import annotations

from pathlib import Path

import click

from regionpredict.cli.trace_request import analysed, tell, trace_options
from regionpredict.cli.trace_selection import Reading


@click.command("critical-path")
@trace_options
def command(
    reading: Reading,
    output: str,
    target: str | None,
    top: int,
    metric: str | None,
    plot: Path | None,
) -> None:
    """Show the longest chain of activities without waits, from MPI_Init to the end of the run.

    Only a shorter critical path makes the run shorter. ARCHIVE is an OTF2 anchor file or its
    folder, or a Paraver trace (.prv, .prv.gz).
    """
    from regionpredict.trace.results import critical_path

    analysis = analysed(reading)
    tell(analysis, critical_path(analysis), output, target, top, metric, plot)
