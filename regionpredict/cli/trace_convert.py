"""`regionpredict trace convert ARCHIVE -o FOLDER`: converts a trace to Parquet."""

from __future__ import annotations

from pathlib import Path

import click

from regionpredict.cli.trace_request import PARAVER, matched, trace_kernels
from regionpredict.cli.trace_selection import Reading, reading_options


@click.command("convert")
@reading_options
@click.option(
    "-o", "--output", "target", type=click.Path(), required=True,
    help="Folder of the store. It must not exist.",
)  # fmt: skip
def command(reading: Reading, target: str) -> None:
    """Convert ARCHIVE, or a part of it, to a Parquet folder that all commands read.

    --ranks and --time then read only the selected part. ARCHIVE is an OTF2 anchor file or its
    folder, or a Paraver trace (.prv, .prv.gz). Requires the package pyarrow.
    """
    from regionpredict.errors import InputError, UsageError
    from regionpredict.trace.parquet_store import is_store, write_store
    from regionpredict.trace.selection import select_part
    from regionpredict.trace.store_by_rank import convert_otf2

    if reading.correct_clocks:
        raise UsageError(
            "a converted trace keeps the recorded times",
            remedy="use --correct-clocks when you analyze it",
        )
    if Path(target).exists():
        raise InputError("is there already", remedy="pass another folder with -o", path=target)
    kernels, selection = trace_kernels(), reading.selection()
    archive = Path(reading.archive)
    spread = reading.processes is not None or reading.scheduler is not None
    if selection or spread or reading.archive.endswith(PARAVER) or is_store(archive):
        trace, matches = matched(reading, selection, kernels)
        if selection:
            trace, matches = select_part(trace, matches, selection, kernels)
        write_store(trace, matches, Path(target))
    else:
        convert_otf2(archive, Path(target), kernels)
    click.echo(f"written: {target}", err=True)
