"""`regionpredict predict`: packages and threads for every region on one machine."""

from __future__ import annotations

from typing import Any

import click

from regionpredict.cli.curve_options import check_model_options, curve_options, parse_threads
from regionpredict.cli.source_options import run_analysis, source_options, write_result


@click.command("predict")
@source_options
@click.option(
    "-m",
    "machine_name",
    required=True,
    metavar="MACHINE",
    help="A shipped machine's name, or a YAML file.",
)
@curve_options
@click.option(
    "--combination",
    type=click.Choice(["relative-difference", "ratio"]),
    default="relative-difference",
    show_default=True,
    help="How the density model combines its good and bad scores.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "slurm", "openmp"]),
    default="table",
    show_default=True,
    help="slurm: options and a job script fragment; openmp: clauses to write.",
)
def command(
    paths: tuple[str, ...], machine_name: str, model: str, combination: str,
    stage: str | None, output: str | None, form: str, threads: str | None,
    first_touch: str | None, within: float, **options: Any,
) -> None:  # fmt: skip
    """How many packages and threads of MACHINE every parallel loop in PATH can use.

    PATH is a file, a folder, or a compile_commands.json.
    """
    from regionpredict.cli.stages import check_stage
    from regionpredict.machine import load
    from regionpredict.pipeline import dump, predict
    from regionpredict.report.csv_rows import predictions_csv
    from regionpredict.report.hints import as_json, hints_document
    from regionpredict.report.openmp_clauses import openmp_clauses
    from regionpredict.report.slurm import slurm_script
    from regionpredict.report.table import prediction_table

    check_stage(stage)
    check_model_options(model, combination, threads, first_touch)
    machine = load(machine_name)
    flows = model == "saturation" and first_touch is None
    analysis = run_analysis(paths, **options, flows=flows)
    result = predict(
        analysis, machine, model, combination, threads=parse_threads(threads),
        first_touch=first_touch, within=within / 100,
    )  # fmt: skip
    if stage is not None:
        write_result(dump(stage, analysis, result) + "\n", output)
    elif form == "json":
        notes = analysis.program.diagnostics
        write_result(as_json(hints_document(result.predictions, machine, model, notes)), output)
    elif form == "csv":
        write_result(predictions_csv(result.predictions), output)
    elif form == "slurm":
        write_result(slurm_script(result.predictions, machine, model), output)
    elif form == "openmp":
        write_result(openmp_clauses(result.predictions, machine), output)
    else:
        write_result(prediction_table(result.predictions, machine, model), output)
