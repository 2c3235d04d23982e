"""`regionpredict trace waits ARCHIVE`."""

from __future__ import annotations

from pathlib import Path

import click

from regionpredict.cli.trace_request import analysed, tell, trace_options
from regionpredict.cli.trace_selection import Reading


@click.command("waits")
@trace_options
def command(
    reading: Reading,
    output: str,
    target: str | None,
    top: int,
    metric: str | None,
    plot: Path | None,
) -> None:
    """Show the wait states of ARCHIVE, an OTF2 anchor file or its folder, or a Paraver trace.

    A wait state is the time in an MPI call, or at an OpenMP barrier, until the awaited location
    arrives. Paraver traces end in .prv or .prv.gz.
    """
    from regionpredict.trace.results import wait_states

    analysis = analysed(reading)
    tell(analysis, wait_states(analysis), output, target, top, metric, plot)
