"""`regionpredict trace delays ARCHIVE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from regionpredict.cli.trace_request import trace_result

if TYPE_CHECKING:
    from regionpredict.trace.analysis import Analysis
    from regionpredict.trace.profile import TraceResult


@click.command("delays")
@trace_result
def command(analysis: Analysis) -> TraceResult:
    """Show the causes of wait states in ARCHIVE: call paths that took longer on other ranks.

    Short-term costs are waits caused directly. Long-term costs are waits caused by other waits.
    ARCHIVE is an OTF2 anchor file or its folder, or a Paraver trace (.prv, .prv.gz).
    """
    from regionpredict.trace.results import delay_costs

    return delay_costs(analysis)
