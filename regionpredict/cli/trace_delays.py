"""`regionpredict trace delays ARCHIVE`."""

from __future__ import annotations

from pathlib import Path

import click

from regionpredict.cli.trace_request import analysed, tell, trace_options
from regionpredict.cli.trace_selection import Reading


@click.command("delays")
@trace_options
def command(
    reading: Reading,
    output: str,
    target: str | None,
    top: int,
    metric: str | None,
    plot: Path | None,
) -> None:
    """Show the causes of wait states in ARCHIVE: call paths that took longer on other ranks.

    Short-term costs are waits caused directly. Long-term costs are waits caused by other waits.
    ARCHIVE is an OTF2 anchor file or its folder, or a Paraver trace (.prv, .prv.gz).
    """
    from regionpredict.trace.results import delay_costs

    analysis = analysed(reading)
    tell(analysis, delay_costs(analysis), output, target, top, metric, plot)
