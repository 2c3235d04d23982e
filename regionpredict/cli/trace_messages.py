"""`regionpredict trace messages ARCHIVE`: who sends how much to whom."""

from __future__ import annotations

import click

from regionpredict.cli.output import write_result
from regionpredict.cli.trace_request import chosen_part
from regionpredict.cli.trace_selection import Reading, reading_options


@click.command("messages")
@reading_options
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option("-o", "--output", "target", type=click.Path(), help="Write to a file.")
@click.option(
    "--top", type=click.IntRange(1), default=20, show_default=True, help="Rows of the table."
)
def command(reading: Reading, output: str, target: str | None, top: int) -> None:
    """Messages of ARCHIVE by sender and receiver (the communication matrix), and by size.

    ARCHIVE is an OTF2 anchor file or its folder, or a Paraver trace (.prv, .prv.gz).
    """
    from regionpredict.report.messages import messages_csv, messages_json, messages_table
    from regionpredict.trace.messages import messages_of

    trace, matches = chosen_part(reading)
    messages = messages_of(trace, matches)
    findings = (*trace.findings, *matches.findings)
    if output == "json":
        text = messages_json(messages, findings)
    elif output == "csv":
        text = messages_csv(messages)
    else:
        text = messages_table(messages, trace, top)
    write_result(text, target)
    for finding in findings:
        click.echo(f"regionpredict: note: {finding}", err=True)
