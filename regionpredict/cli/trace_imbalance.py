"""`regionpredict trace imbalance ARCHIVE`."""

from __future__ import annotations

import click

from regionpredict.cli.output import result_options, write_notes, write_result
from regionpredict.cli.trace_request import analysed, top_option
from regionpredict.cli.trace_selection import Reading, reading_options


@click.command("imbalance")
@reading_options
@result_options("table json html")
@top_option()
@click.option(
    "--mark", metavar="REGION", help="The region that starts an iteration.  [default: detected]"
)
def command(reading: Reading, form: str, output: str | None, top: int, mark: str | None) -> None:
    """Show how unevenly work is distributed over ranks and threads, by call path.

    I_t is the excess of the busiest location over the mean. I_T is I_t times the number of
    locations. If the run has iterations, imbalance is static (the same locations in each) or
    dynamic (others each time). ARCHIVE is an OTF2 anchor file or its folder, or a Paraver trace.
    """
    from regionpredict.report.imbalance import imbalance_document
    from regionpredict.report.rendered import rendered
    from regionpredict.trace.imbalance import compute_imbalance

    analysis = analysed(reading)
    study = compute_imbalance(analysis, mark)
    document = imbalance_document(study, analysis, analysis.findings, top)
    write_result(rendered(document, form), output)
    write_notes([*analysis.findings, *([study.note] if study.note else [])])
