"""`regionpredict trace what-if ARCHIVE`."""

from __future__ import annotations

import click

from regionpredict.cli.output import result_options, write_notes, write_result
from regionpredict.cli.trace_request import analysed, top_option, trace_kernels
from regionpredict.cli.trace_selection import Reading, reading_options
from regionpredict.errors import plural


@click.command("what-if")
@reading_options
@result_options("table json csv html")
@top_option("Number of call paths to try, by largest delay cost.")
@click.option("--callpath", help="Only this call path, for example main/solve.")
def command(
    reading: Reading, form: str, output: str | None, top: int, callpath: str | None
) -> None:
    """Rank what to fix first in ARCHIVE, by replaying the run without one call path's delays.

    A delay is the extra time of a call path on the rank that others wait for. The recorded run is
    replayed without it, and with half of it. Call paths are ranked by the gain. ARCHIVE is an
    OTF2 anchor file or its folder, or a Paraver trace.
    """
    from regionpredict.report.rendered import rendered
    from regionpredict.report.what_if import what_if_document
    from regionpredict.trace.what_if import what_if

    kernels = trace_kernels()
    analysis = analysed(reading)
    what_if_result = what_if(analysis, kernels, callpath, top)
    document = what_if_document(what_if_result, analysis, analysis.findings)
    write_result(rendered(document, form), output)
    write_notes(analysis.findings)
    if what_if_result.contradicted:
        click.echo(
            f"regionpredict: note: the trace's times contradict "
            f"{plural(what_if_result.contradicted, 'wait')}, which have no effect here",
            err=True,
        )
