"""`regionpredict analyze`: lists facts about every parallel loop, from the source alone."""

from __future__ import annotations

from typing import Any

import click

from regionpredict.cli.output import format_option, write_result
from regionpredict.cli.source_options import keep_answer, run_analysis, source_options
from regionpredict.cli.view_options import refuse_view, view_of, view_options


@click.command("analyze")
@source_options
@view_options(facts=True)
@format_option("table json csv")
def command(
    paths: tuple[str, ...], stage: str | None, output: str | None, form: str,
    only: tuple[str, ...], sort: str | None, top: int | None, **options: Any,
) -> None:  # fmt: skip
    """List facts about every parallel loop in PATH: a file, a folder, or a compile_commands.json.

    The facts are iterations, operations, arrays with reuse and access pattern, and the working
    set. No machine model and no compiler is needed.
    """
    from regionpredict.cli.stages import check_stage
    from regionpredict.report.fact_document import fact_document
    from regionpredict.report.rendered import rendered
    from regionpredict.stage_dumps import dump_stage

    check_stage(stage)
    view = view_of(only, sort, top, facts=True)
    if stage is not None:
        refuse_view(view, f"--dump {stage}")
    analysis = run_analysis(paths, **options)
    if stage is not None:
        write_result(dump_stage(stage, analysis, None) + "\n", output)
    else:
        document = fact_document(analysis.facts, view, analysis.program.diagnostics)
        write_result(rendered(document, form), output)
    keep_answer(output)
