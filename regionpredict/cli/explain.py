"""`regionpredict explain`: one region's derivation, or a rule's page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.curve_options import check_model_options, curve_options, parse_threads
from regionpredict.cli.output import write_result
from regionpredict.cli.source_options import keep_answer, run_analysis
from regionpredict.errors import InputError, UsageError

if TYPE_CHECKING:
    from regionpredict.pipeline import Predictions
    from regionpredict.predict import Prediction, TeamPrediction

_NEAR = 3


@click.command("explain")
@click.argument("what", metavar="FILE:LINE|RULE")
@click.option(
    "-m",
    "machine_name",
    default=None,
    metavar="MACHINE",
    help="A shipped machine's name, or a YAML file.",
)
@curve_options
@click.option(
    "--combination",
    type=click.Choice(["relative-difference", "ratio"]),
    default="relative-difference",
    show_default=True,
)
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option("-I", "includes", multiple=True, metavar="DIR", help="Search DIR for headers.")
@click.option("--std", "standard", default="", metavar="STD", help="Language standard.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE", help="Give a size.")
@click.option("--sizes", "sizes", default=None, metavar="FILE[:NAME]", help="Sizes of a file.")
@click.option("--frontend", type=click.Choice(["libclang", "pycparser"]), default=None)
@click.option(
    "--no-cache",
    is_flag=True,
    expose_value=False,
    help="Neither give a kept answer again nor keep this one.",
)
@click.option("-o", "output", default=None, metavar="FILE", help="Write the result to FILE.")
def command(
    what: str, machine_name: str | None, model: str, combination: str, output: str | None,
    threads: str | None, first_touch: str | None, within: float, **options: Any,
) -> None:  # fmt: skip
    """How the hint of the region at FILE:LINE came about, or the page of a rule (RP101)."""
    if re.fullmatch(r"RP\d{3}", what):
        from regionpredict.report.rules import rule_page

        write_result(rule_page(what), output)
        return
    from regionpredict.machine import file_of, load
    from regionpredict.pipeline import predict
    from regionpredict.report.derivation import explain_prediction

    check_model_options(model, combination, threads, first_touch)
    file, line = _place(what)
    if machine_name is None:
        raise UsageError("explain FILE:LINE needs a machine", remedy="add -m MACHINE")
    machine = load(machine_name)
    flows = model == "saturation" and first_touch is None
    analysis = run_analysis((file,), **options, processes=1, timings=False, flows=flows)
    result = predict(
        analysis, machine, model, combination, threads=parse_threads(threads),
        first_touch=first_touch, within=within / 100,
    )  # fmt: skip
    chosen = _at(result, file, line)
    write_result(explain_prediction(chosen, machine, _team(result, chosen)), output)
    keep_answer(output, file_of(machine_name)[0])


def _place(what: str) -> tuple[str, int]:
    file, _, line = what.rpartition(":")
    if not file or not line.isdigit():
        raise UsageError(
            f"'{what}' is neither FILE:LINE nor a rule", remedy="write gemm.c:41 or RP101"
        )
    return file, int(line)


def _team(result: Predictions, chosen: Prediction) -> TeamPrediction | None:
    """The team of several loops that a region is in."""
    region = chosen.facts.region.id
    for team in result.teams:
        loops = [member.facts.region.id for member in team.facts.members]
        if len(loops) > 1 and region in loops:
            return team
    return None


def _at(result: Predictions, file: str, line: int) -> Prediction:
    """The region whose directive or loop stands nearest above, within a few lines."""
    here = Path(file).resolve()
    regions = [p for p in result.predictions if Path(p.facts.region.span.file).resolve() == here]
    for prediction in regions:
        region = prediction.facts.region
        last = region.nest.span.line if region.nest is not None else region.span.line
        if region.span.line - _NEAR <= line <= max(last, region.span.line):
            return prediction
    lines = ", ".join(str(p.facts.region.span.line) for p in regions) or "none"
    raise InputError(
        "no region at this line", remedy=f"the regions of this file are at lines: {lines}",
        path=file, line=line,
    )  # fmt: skip
