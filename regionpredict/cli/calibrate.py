"""`regionpredict calibrate`: measure this host and write its machine model."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.cli.machines import report_remarks, write_file

if TYPE_CHECKING:
    from regionpredict.machine.calibrate import Progress

COMPILERS = ("gcc", "cc", "clang")
BAR = 24
INTERRUPTED = 130


def seconds_of(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Seconds from `3m`, `90s`, `1h` or `2m30s`; a bare number is seconds. Refuses other texts."""
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", value)
    parts = [float(part or 0) for part in match.groups()] if match else [0.0]
    seconds = sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))
    if seconds <= 0:
        raise click.BadParameter(
            f"'{value}' is no time; write it as 3m or 90s", ctx=ctx, param=param
        )
    return seconds


@click.command("calibrate")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the machine file here.",
)
@click.option(
    "--time-budget",
    callback=seconds_of,
    metavar="TIME",
    default="3m",
    show_default=True,
    help="Time to measure for, as 3m or 90s.",
)
@click.option("--cc", default=None, help="C compiler with -fopenmp.  [default: gcc, cc or clang]")
@click.option("--name", default=None, help="Name of the machine; the output file's by default.")
def command(output: Path, time_budget: float, cc: str | None, name: str | None) -> None:
    """Measure this host by microbenchmarks and write its machine model.

    Interrupted, it keeps its samples beside the output file, and the same command goes on from
    there.
    """
    from regionpredict.machine.calibrate import calibrate
    from regionpredict.machine.detect import read_sysfs
    from regionpredict.machine.writer import write

    topology = read_sysfs()
    report_remarks(topology, lambda text: click.echo(text, err=True))
    kept = output.with_name(f".{output.name}.samples.json")
    bar = _Bar()
    try:
        result = calibrate(
            topology,
            compiler=cc or _first_compiler(),
            budget_s=time_budget,
            state_path=kept,
            free_bytes=_free_bytes(),
            cpus=_allowed(topology.threads),
            progress=bar.show,
        )
    except KeyboardInterrupt:
        bar.end()
        click.echo(
            f"interrupted: the samples are kept in {kept}; the same command goes on from there",
            err=True,
        )
        sys.exit(INTERRUPTED)
    bar.end()
    write_file(output, write(topology, name or output.stem, result.figures))
    kept.unlink(missing_ok=True)
    for remark in result.figures.remarks:
        click.echo(f"warning: {remark}", err=True)
    again = f", {result.resumed} taken up again" if result.resumed else ""
    click.echo(
        f"written: {output} ({result.settled} of {result.total} measurements settled{again})",
        err=True,
    )


class _Bar:
    """A progress line on standard error; where that is no terminal, a line for every tenth."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.tenth = -1

    def show(self, progress: Progress) -> None:
        """Show where the calibration stands."""
        share = max(progress.done / progress.total, min(progress.spent_s / progress.budget_s, 1.0))
        text = (
            f"[{'#' * round(BAR * share):<{BAR}}] {progress.done}/{progress.total} "
            f"{progress.spent_s:.0f}s of {progress.budget_s:.0f}s  {progress.key}"
        )
        if self.terminal:
            click.echo(f"\r{text[:78]:<78}", nl=False, err=True)
        elif int(10 * share) > self.tenth:
            self.tenth = int(10 * share)
            click.echo(text, err=True)

    def end(self) -> None:
        """Leave the line."""
        if self.terminal:
            click.echo("", err=True)


def _first_compiler() -> str:
    """The first of gcc, cc and clang that is there."""
    import shutil

    from regionpredict.errors import InputError

    for compiler in COMPILERS:
        if shutil.which(compiler):
            return compiler
    raise InputError(
        f"no C compiler: none of {', '.join(COMPILERS)} is there",
        remedy="install one, or name yours with --cc",
    )


def _allowed(threads: tuple[int, ...]) -> tuple[int, ...]:
    """The hardware threads among `threads` that this process may use; all where none is known."""
    import os

    if not hasattr(os, "sched_getaffinity"):
        return threads
    mine = os.sched_getaffinity(0)
    return tuple(cpu for cpu in threads if cpu in mine) or tuple(sorted(mine))


def _free_bytes() -> int:
    """Memory that can be used, in bytes: what the kernel calls available, 1 GiB where unknown."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    match = re.search(r"MemAvailable:\s*(\d+) kB", text)
    return int(match[1]) * 1024 if match else 1024**3
