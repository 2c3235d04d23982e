"""`regionpredict trace critical-path ARCHIVE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from regionpredict.cli.trace_request import trace_result

if TYPE_CHECKING:
    from regionpredict.trace.analysis import Analysis
    from regionpredict.trace.profile import TraceResult


@click.command("critical-path")
@trace_result
def command(analysis: Analysis) -> TraceResult:
    """Show the longest chain of activities without waits, from MPI_Init to the end of the run.

    Only a shorter critical path makes the run shorter. ARCHIVE is an OTF2 anchor file or its
    folder, or a Paraver trace (.prv, .prv.gz).
    """
    from regionpredict.trace.results import critical_path

    return critical_path(analysis)
