"""`regionpredict analyze`: facts of every region, from the source alone."""

from __future__ import annotations

from typing import Any

import click

from regionpredict.cli.output import write_result
from regionpredict.cli.source_options import keep_answer, run_analysis, source_options


@click.command("analyze")
@source_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
)
def command(
    paths: tuple[str, ...], stage: str | None, output: str | None, form: str, **options: Any
) -> None:  # fmt: skip
    """Facts of every parallel loop in PATH: a file, a folder, or a compile_commands.json.

    Iterations, operations, arrays with reuse and access pattern, and the working set; needs no
    machine model and no compiler.
    """
    from regionpredict.cli.stages import check_stage
    from regionpredict.pipeline import dump
    from regionpredict.report.csv_rows import facts_csv
    from regionpredict.report.hints import as_json, facts_document
    from regionpredict.report.table import facts_table

    check_stage(stage)
    analysis = run_analysis(paths, **options)
    if stage is not None:
        write_result(dump(stage, analysis, None) + "\n", output)
    elif form == "json":
        document = facts_document(analysis.facts, analysis.program.diagnostics)
        write_result(as_json(document), output)
    elif form == "csv":
        write_result(facts_csv(analysis.facts), output)
    else:
        write_result(facts_table(analysis.facts), output)
    keep_answer(output)
