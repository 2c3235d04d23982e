"""`regionpredict trace messages ARCHIVE`: counts messages by sender, receiver and size."""

from __future__ import annotations

import click

from regionpredict.cli.output import result_options, write_notes, write_result
from regionpredict.cli.trace_request import chosen_part, top_option
from regionpredict.cli.trace_selection import Reading, reading_options
from regionpredict.errors import UsageError


@click.command("messages")
@reading_options
@result_options("table json csv html")
@top_option()
def command(reading: Reading, form: str, output: str | None, top: int) -> None:
    """Messages of ARCHIVE by sender and receiver (the communication matrix), and by size.

    ARCHIVE is an OTF2 anchor file or its folder, or a Paraver trace (.prv, .prv.gz).
    """
    from regionpredict.report.messages import messages_document
    from regionpredict.report.rendered import rendered
    from regionpredict.trace.messages import messages_of

    if reading.correct_clocks:
        raise UsageError("messages are counted without clocks", remedy="leave --correct-clocks out")
    trace, matches = chosen_part(reading)
    messages = messages_of(trace, matches)
    findings = (*trace.findings, *matches.findings)
    write_result(rendered(messages_document(messages, trace, top, findings), form), output)
    write_notes(findings)
