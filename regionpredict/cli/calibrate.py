"""`regionpredict calibrate`: measure this host and write its machine model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.atomic_file import write_file
from regionpredict.cli.durations import parse_duration
from regionpredict.cli.given_options import refuse_options
from regionpredict.cli.machines import report_remarks
from regionpredict.cli.output import write_result
from regionpredict.cli.progress import ProgressLine
from regionpredict.cli.quiet_host import QuietHost, patience
from regionpredict.cli.this_host import allowed_threads, first_compiler, free_bytes
from regionpredict.errors import UsageError

if TYPE_CHECKING:
    from regionpredict.machine.calibrate import Progress

INTERRUPTED = 130


@click.command("calibrate")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--from",
    "measurements",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Correct the models of -m with measurements of PATH's regions by regionpredict measure.",
)
@click.option(
    "--from-models",
    is_flag=True,
    help="Each FILE of --from has one size: fit factors to the regions' own models over sizes.",
)
@click.option("-m", "machine_name", default=None, metavar="MACHINE", help="The model to correct.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option("-I", "includes", multiple=True, metavar="DIR", help="Search DIR for headers.")
@click.option(
    "--std", "standard", default="", metavar="STD", help="Language standard, for example c99."
)
@click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUE", help="Set a run-time variable."
)
@click.option(
    "--statistic",
    type=click.Choice(["median", "least"]),
    default="median",
    show_default=True,
    help="With --from, the statistic of the runs' times.",
)
@click.option(
    "--with-disturbed",
    is_flag=True,
    help="With --from, also use runs during which other processes kept the host busy.",
)
@click.option(
    "--dry-run", is_flag=True, help="With --from, show the correction without writing it."
)
@click.option(
    "-o",
    "--output",
    default=None,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the machine file here.",
)
@click.option(
    "--time-budget",
    metavar="TIME",
    default="3m",
    show_default=True,
    help="Measuring time, for example 3m, 90s or 2m30s.",
)
@click.option(
    "--quiet-wait",
    default="30s",
    show_default=True,
    metavar="TIME|none",
    help="Total time to wait for a quiet host.",
)
@click.option("--cc", default=None, help="C compiler with -fopenmp.  [default: gcc, cc or clang]")
@click.option(
    "--llvm-runtime",
    "llvm_runtime",
    default=None,
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="libomp.so or libiomp5.so. Also measure its costs, for predict --runtime llvm.",
)
@click.option("--name", default=None, help="Name of the machine.  [default: from the output file]")
@click.option(
    "--report",
    default=None,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the results as one self-contained HTML page.",
)
def command(
    paths: tuple[str, ...], measurements: tuple[Path, ...],
    from_models: bool, machine_name: str | None, statistic: str, with_disturbed: bool,
    dry_run: bool,
    output: Path | None, time_budget: str, quiet_wait: str, cc: str | None,
    llvm_runtime: Path | None,
    name: str | None, report: Path | None, **source: tuple[str, ...] | str,
) -> None:  # fmt: skip
    """Measure this host with microbenchmarks and write its machine model.

    If interrupted, it keeps its samples next to the output file. Repeat the command to continue.

    With --from, correct a model instead. Factors of its terms are fitted to the measured times of
    the regions in PATH, and scored on programs left out of the fit.
    """
    ctx = click.get_current_context()
    if measurements:
        from regionpredict.cli.calibrate_regions import calibrate_regions

        refuse_options(
            ctx,
            ("time_budget", "cc", "llvm_runtime", "name", "quiet_wait"),
            "cannot be combined with --from",
        )
        if machine_name is None:
            raise UsageError("--from needs a model to correct", remedy="give -m MACHINE")
        if not paths:
            raise UsageError(
                "--from needs the measured sources",
                remedy="pass PATH and the -D options that it was built with",
            )
        if from_models and len(measurements) == 1:
            raise UsageError(
                "--from-models with one size",
                remedy="measure each size into a separate file, and give --from for each",
            )
        if dry_run:
            output = None
        elif output is None:
            raise UsageError("no file to write", remedy="give -o FILE, or --dry-run")
        calibrate_regions(
            paths, measurements, machine_name, output, statistic=statistic,
            with_disturbed=with_disturbed, from_models=from_models, report=report,
            source={**source, "frontend": None, "processes": None},
        )  # fmt: skip
        return
    if paths:
        raise UsageError(
            f"{paths[0]}: nothing to compare it with", remedy="give --from MEASUREMENTS"
        )
    alone = ("from_models", "machine_name", "statistic", "with_disturbed", "dry_run", *source)
    refuse_options(ctx, alone, "needs --from")
    if output is None:
        raise UsageError("no file to write", remedy="give -o FILE")
    from regionpredict.machine.calibrate import calibrate
    from regionpredict.machine.detect import read_sysfs
    from regionpredict.machine.writer import write
    from regionpredict.report.quantities import plural

    topology = read_sysfs()
    report_remarks(topology, lambda text: click.echo(text, err=True))
    kept = output.with_name(f".{output.name}.samples.json")
    line = ProgressLine(steps=10)
    budget_s = parse_duration(time_budget, "--time-budget")
    host = QuietHost(patience(quiet_wait) or 0.0, line.meanwhile)
    try:
        result = calibrate(
            topology,
            compiler=cc or first_compiler(),
            budget_s=budget_s,
            state_path=kept,
            free_bytes=free_bytes(),
            cpus=allowed_threads(topology.threads),
            progress=lambda progress: line.show(*_progress_text(progress)),
            other_runtime=str(llvm_runtime.resolve()) if llvm_runtime is not None else None,
            quiet=host.wait,
        )
    except KeyboardInterrupt:
        line.end()
        click.echo(
            f"interrupted: samples are kept in {kept}. Repeat the command to continue.",
            err=True,
        )
        sys.exit(INTERRUPTED)
    line.end()
    busy = host.remark()
    figures = replace(result.figures, remarks=(*result.figures.remarks, *([busy] if busy else [])))
    text = write(topology, name or output.stem, figures)
    write_file(output, text)
    kept.unlink(missing_ok=True)
    for remark in figures.remarks:
        click.echo(f"warning: {remark}", err=True)
    again = f", {result.resumed} continued" if result.resumed else ""
    click.echo(
        f"written: {output} ({result.settled} of {plural(result.total, 'measurement')} "
        f"converged{again})",
        err=True,
    )
    _write_page(text, output, report)


def _write_page(text: str, output: Path, report: Path | None) -> None:
    """Writes the HTML page of the new machine model, if requested."""
    if report is None:
        return
    from regionpredict.machine.reader import read
    from regionpredict.report.machine import machine_document
    from regionpredict.report.rendered import rendered

    write_result(rendered(machine_document(read(text, str(output))), "html"), report)


def _progress_text(progress: Progress) -> tuple[float, str]:
    share = max(progress.done / progress.total, min(progress.spent_s / progress.budget_s, 1.0))
    text = (
        f"{progress.done}/{progress.total} {progress.spent_s:.0f}s of "
        f"{progress.budget_s:.0f}s  {progress.key}"
    )
    return share, text
