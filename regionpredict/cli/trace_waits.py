"""`regionpredict trace waits ARCHIVE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from regionpredict.cli.trace_request import trace_result

if TYPE_CHECKING:
    from regionpredict.trace.analysis import Analysis
    from regionpredict.trace.profile import TraceResult


@click.command("waits")
@trace_result
def command(analysis: Analysis) -> TraceResult:
    """Show the wait states of ARCHIVE, an OTF2 anchor file or its folder, or a Paraver trace.

    A wait state is the time in an MPI call, or at an OpenMP barrier, until the awaited location
    arrives. Paraver traces end in .prv or .prv.gz.
    """
    from regionpredict.trace.results import wait_states

    return wait_states(analysis)
