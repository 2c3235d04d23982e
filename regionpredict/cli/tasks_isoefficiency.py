"""`regionpredict tasks isoefficiency`: measures a program over sizes and threads, and evaluates the
campaign.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.cli.output import format_option, write_result
from regionpredict.cli.plot_option import plot_option, write_plot
from regionpredict.cli.progress import ProgressLine
from regionpredict.cli.quiet_host import QuietHost, patience
from regionpredict.errors import InputError, UsageError

if TYPE_CHECKING:
    from regionpredict.tasks.isoefficiency.measured_times import IsoefficiencyData


@click.command("isoefficiency")
@click.option("--sizes", default=None, metavar="LIST", help="Values for {n}: 20,22,24,26,28.")
@click.option("--threads", default=None, metavar="LIST", help="Thread counts: 1,2,4 or 1-24.")
@click.option(
    "--efficiency",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    help="The efficiency to keep.",
)
@click.option(
    "--cores", type=click.IntRange(1), help="Threads to find a size for.  [default: the most]"
)
@click.option(
    "--at", type=float, metavar="N", help="Size to find threads for.  [default: the largest]"
)
@click.option(
    "-o",
    "campaign",
    default="isoefficiency.jsonl",
    show_default=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to append results to, or to read without a PROGRAM.",
)
@click.option("--resume", is_flag=True, help="Continue the campaign in FILE.")
@click.option(
    "--quiet-wait", default="5m", show_default=True, metavar="TIME|none",
    help="Total time to wait for a quiet host. Disturbed runs are discarded.",
)  # fmt: skip
@format_option("table json html")
@plot_option("efficiency over threads and sizes, and the sizes that keep it,")
@click.option("--report", type=click.Path(path_type=Path), help="Write the result to a file.")
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM {n} ...]")
def command(
    argv: tuple[str, ...],
    sizes: str | None,
    threads: str | None,
    efficiency: float,
    cores: int | None,
    at: float | None,
    campaign: Path,
    resume: bool,
    quiet_wait: str,
    form: str,
    plot: Path | None,
    report: Path | None,
) -> None:
    """Measure PROGRAM over sizes and threads, and find what limits its efficiency.

    {n} marks the size in the command. The result says whether the algorithm, contention or the
    graph limits it. It gives the size that keeps an efficiency on p threads, and the threads that
    suit a size.

    Without PROGRAM, it evaluates the campaign in FILE.
    """
    from regionpredict.report.isoefficiency import isoefficiency_document
    from regionpredict.report.rendered import rendered
    from regionpredict.tasks.isoefficiency.measured_times import read_file
    from regionpredict.tasks.isoefficiency.models import isoefficiency

    data = (
        _measure_campaign(argv, sizes, threads, campaign, quiet_wait, resume=resume)
        if argv
        else read_file(campaign)
    )
    if not data.times:
        raise InputError("no run yet", remedy="measure with -- PROGRAM {n}", path=str(campaign))
    most = cores or max(time.threads for time in data.times)
    size = at or max(time.size for time in data.times)
    result = isoefficiency(data)
    document = isoefficiency_document(data, result, efficiency, most, size)
    write_result(rendered(document, form), report)
    if plot is not None:
        from regionpredict.report.plots.efficiency_contours import isoefficiency_figure

        write_plot(plot, isoefficiency_figure(result, efficiency, most))


def _measure_campaign(
    argv: tuple[str, ...],
    sizes: str | None,
    threads: str | None,
    output: Path,
    quiet_wait: str,
    *,
    resume: bool,
) -> IsoefficiencyData:
    from regionpredict.cli.cache import cache_folder
    from regionpredict.cli.measure import thread_counts
    from regionpredict.cli.run import compiler, find_program
    from regionpredict.measure.ompt_runtime import find_runtime
    from regionpredict.report.quantities import plural
    from regionpredict.tasks.isoefficiency.campaign import MARK, RunEnvironment, run_campaign
    from regionpredict.tasks.isoefficiency.measured_times import (
        IsoefficiencyData,
        begin_file,
        read_file,
    )

    if not any(MARK in word for word in argv):
        raise UsageError("no size in the command", remedy=f"write {MARK} where the size belongs")
    if sizes is None:
        raise UsageError("no sizes", remedy="write --sizes 1000,2000,4000,8000,16000")
    program = find_program(argv[0])
    size_list = _parse_sizes(sizes)
    allowed = sorted(os.sched_getaffinity(0))
    counts = thread_counts(threads, allowed)
    data = IsoefficiencyData(tuple(argv), platform.node() or "this host")
    if output.is_dir():
        raise InputError("is a folder", remedy="choose another -o FILE", path=str(output))
    if output.exists():
        if not resume:
            raise InputError(
                "there already", remedy="use --resume to continue it, or another -o FILE",
                path=str(output),
            )  # fmt: skip
        known = read_file(output)
        if (known.command, known.host) != (data.command, data.host):
            raise InputError(
                "a campaign of another program or host", remedy="take another -o FILE",
                path=str(output),
            )  # fmt: skip
        data = known
    else:
        begin_file(output, data)
    if max(counts) > len(allowed):
        click.echo(
            f"note: {max(counts)} threads share {plural(len(allowed), 'processor')}; "
            f"those times include contention for cores", err=True,
        )  # fmt: skip
    line = ProgressLine(steps=10)
    host = QuietHost(patience(quiet_wait) or 0.0, lambda said: line.show(at[0], said))
    at = [0.0]

    def show(share: float, what: str) -> None:
        at[0] = share
        line.show(share, what)

    setting = RunEnvironment(
        (compiler(),), cache_folder(), dict(os.environ), find_runtime(), len(allowed), host.wait
    )
    try:
        return run_campaign(data, size_list, counts, program, setting, output, show)
    except KeyboardInterrupt:
        line.end()
        click.echo(
            f"regionpredict: interrupted; {output} is kept. Use --resume to continue.", err=True
        )
        raise click.exceptions.Exit(130) from None
    finally:
        line.end()


def _parse_sizes(text: str) -> list[float]:
    parsed = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = 0.0
        if not 0 < value < 1e18:
            raise UsageError(
                f"--sizes {text}: '{part}' is not a size", remedy="write --sizes 20,22,24"
            )
        parsed.append(value)
    return sorted(set(parsed))
