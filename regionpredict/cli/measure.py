"""`regionpredict measure`: measures every region's time over thread counts."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.campaign import disturbed_text, kept_runs_text, show_campaign
from regionpredict.cli.curve_options import bind_option
from regionpredict.cli.durations import parse_duration
from regionpredict.cli.output import format_option
from regionpredict.cli.progress import ProgressLine
from regionpredict.cli.quiet_host import patience, waiting
from regionpredict.cli.this_host import openmp_binding
from regionpredict.errors import InputError, UsageError, plural

if TYPE_CHECKING:
    from regionpredict.measure.records import Campaign, Host
    from regionpredict.measure.results import Results
    from regionpredict.measure.sweep import CampaignResult, Progress, Reader


@click.command(
    "measure", context_settings={"allow_interspersed_args": False}
)  # arguments after PROGRAM belong to it
@click.option("--threads", default=None, metavar="LIST", help="Thread counts: 1,2,4 or 1-24.")
@click.option(
    "--repeat",
    default="auto",
    show_default=True,
    metavar="N|auto",
    help="Runs per thread count. auto: until the times converge.",
)
@click.option(
    "--time-budget",
    default="10m",
    show_default=True,
    metavar="TIME",
    help="Maximum measuring time.",
)
@click.option(
    "--quiet-wait",
    default="30s",
    show_default=True,
    metavar="TIME|none",
    help="Total time to wait for a quiet host. Disturbed runs are repeated. none: keep all runs.",
)
@click.option("--timeout", default=None, metavar="TIME", help="Stop a run after this time.")
@bind_option
@click.option(
    "-o",
    "output",
    default="measurements.jsonl",
    show_default=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to append results to.",
)
@click.option(
    "--binary", is_flag=True, help="PROGRAM was built with -g instead of regionpredict cc."
)
@click.option("--resume", is_flag=True, help="Continue the campaign in FILE.")
@click.option("--slurm", is_flag=True, help="Measure in a Slurm job, on one whole node.")
@click.option(
    "--slurm-option",
    "slurm_options",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="An option of sbatch for the job, for example partition=long.",
)
@click.option(
    "--slurm-shared",
    is_flag=True,
    help="Request only the cores that --threads needs.",
)
@click.option(
    "--slurm-wait", default=None, metavar="TIME", help="Cancel a job that has not started by then."
)
@format_option("table json csv")
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM ARGS...")
def command(
    argv: tuple[str, ...], threads: str | None, output: Path, resume: bool, form: str | None,
    **options: Any,
) -> None:  # fmt: skip
    """Run PROGRAM over thread counts and record the time of each parallel loop.

    Build PROGRAM with CC="regionpredict cc -- gcc". Runs are repeated until the 95 % confidence
    interval of every important region is within 5 % of its mean, or the budget ends.
    """
    from regionpredict.measure.store import Store, read_campaign
    from regionpredict.measure.sweep import Plan, RunFailedError, sweep

    if not argv:
        raise UsageError("no program", remedy="write regionpredict measure -- ./program ARGS")
    through_slurm = options.pop("slurm")
    plan = Plan(
        threads=() if through_slurm and threads is None else thread_counts(threads, _own_cpus()),
        repeat=_parse_repetitions(options["repeat"]),
        budget_s=parse_duration(options["time_budget"], "--time-budget"),
        timeout_s=parse_duration(options["timeout"], "--timeout") if options["timeout"] else None,
        quiet_s=patience(options["quiet_wait"]),
    )
    if through_slurm:
        from regionpredict.cli.measure_slurm import measure_through_slurm

        measure_through_slurm(argv, plan, output, options, resume=resume)
        show_campaign(read_campaign(output), form)
        return
    _check_no_slurm(options)
    if max(plan.threads) > len(_own_cpus()):
        click.echo(
            f"note: {max(plan.threads)} threads on {plural(len(_own_cpus()), 'processor')} share "
            "them",
            err=True,
        )
    more, read = _observation(argv, binary=options["binary"])
    campaign = campaign_for(argv, options["binding"])
    store = Store(output)
    campaign = _open_campaign(campaign, store, output, resume=resume)
    line = ProgressLine()
    _end_runs_when_terminated()

    def show(at: Progress) -> None:
        line.show(*_progress_text(at))

    try:
        swept = sweep(
            campaign,
            plan,
            store,
            {**_binding_environment(campaign.binding), **more},
            show,
            read=read,
        )
    except RunFailedError as failure:
        line.end()
        raise InputError(
            f"{failure.message}; {kept_runs_text(output)}", remedy=failure.remedy
        ) from None
    except KeyboardInterrupt as stop:
        line.end()
        click.echo(
            f"regionpredict: interrupted; {kept_runs_text(output)}. Use --resume to continue.",
            err=True,
        )
        sys.exit(128 + (stop.args[0] if stop.args else signal.SIGINT))
    line.end()
    _report_sweep(swept, plan.budget_s)
    show_campaign(swept.campaign, form)


def _check_no_slurm(options: Mapping[str, Any]) -> None:
    for name in ("slurm_options", "slurm_shared", "slurm_wait"):
        if options[name]:
            shown = "--" + name.removesuffix("s").replace("_", "-")
            raise UsageError(f"{shown} applies only to a job", remedy="add --slurm")


def _end_runs_when_terminated() -> None:
    """Makes SIGTERM, for example from a job scheduler, also end the current run."""

    def stop(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    signal.signal(signal.SIGTERM, stop)


def campaign_for(argv: tuple[str, ...], bind: str) -> Campaign:
    """Returns a new campaign of a program on this host."""
    from regionpredict.measure.records import Campaign

    places, bind = openmp_binding(bind)
    return Campaign(
        command=argv,
        host=this_host(),
        binding={"places": places, "proc_bind": bind, "cpus": _own_cpus()},
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def this_host() -> Host:
    """Returns the name and shape of this host."""
    from regionpredict.machine.detect import read_sysfs
    from regionpredict.measure.records import Host

    name = os.uname().nodename
    try:
        shape = read_sysfs()
    except InputError:
        return Host(name, "unknown", 1, os.cpu_count() or 1, 1, 1)
    return Host(
        name, shape.name, shape.packages, shape.cores_per_package, shape.threads_per_core,
        shape.domains_per_package,
    )  # fmt: skip


def _open_campaign(campaign: Campaign, store: Any, output: Path, *, resume: bool) -> Campaign:
    """Returns a new campaign, or the existing campaign in FILE to continue."""
    from regionpredict.measure.store import read_campaign

    if output.is_dir():
        raise InputError("is a folder", remedy="choose another -o FILE", path=str(output))
    if not output.exists() or output.stat().st_size == 0:
        store.begin(campaign)
        return campaign
    if _has_no_run(output):  # FILE has no run, since the program was missing or crashed
        output.unlink()
        store.begin(campaign)
        return campaign
    if not resume:
        raise InputError(
            "there already", remedy="use --resume to continue it, or another -o FILE",
            path=str(output),
        )  # fmt: skip
    known = read_campaign(output)
    for what, theirs, ours in (
        ("on another host", known.host, campaign.host),
        ("of another program", known.command, campaign.command),
        ("with another binding", known.binding, campaign.binding),
    ):
        if theirs != ours:
            raise InputError(
                f"measurements {what} cannot be mixed with these "
                f"({_brief_text(theirs)}; here {_brief_text(ours)})",
                remedy="take another -o FILE", path=str(output),
            )  # fmt: skip
    return known


def _has_no_run(output: Path) -> bool:
    from regionpredict.measure.store import read_campaign

    try:
        return not read_campaign(output).runs
    except InputError:
        return False


def _brief_text(value: object) -> str:
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return f"{name}, {getattr(value, 'processor', '')}"
    return " ".join(str(v) for v in value) if isinstance(value, tuple) else str(value)


def _observation(argv: tuple[str, ...], *, binary: bool) -> tuple[dict[str, str], Reader]:
    """Returns additional environment variables, and the function that reads the program's
    results.
    """
    from regionpredict.measure.sweep import read_output

    if not binary:
        return {}, read_output
    from regionpredict.cli.cache import cache_folder
    from regionpredict.cli.run import compiler, find_program, preloaded
    from regionpredict.measure.binary import outlined_functions
    from regionpredict.measure.outlined_results import read_outlined
    from regionpredict.measure.runtime_library import preload_library

    functions = outlined_functions(find_program(argv[0]))
    library = preload_library([compiler()], cache_folder(), "preload.c")

    def read(output: Path) -> Results:
        try:
            text = output.read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        return read_outlined(text.splitlines(), functions)

    return {"LD_PRELOAD": preloaded(library)["LD_PRELOAD"]}, read


def _binding_environment(binding: Mapping[str, Any]) -> dict[str, str]:
    return {
        **os.environ,
        "OMP_PLACES": str(binding["places"]),
        "OMP_PROC_BIND": str(binding["proc_bind"]),
    }


def _own_cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def thread_counts(text: str | None, allowed: list[int]) -> tuple[int, ...]:
    """Parses the thread counts `1,2,4` or `1-24`. By default, they are 1, 2, 4, ... and all
    processors.

    >>> thread_counts("1-3,8", []), thread_counts(None, list(range(6)))
    ((1, 2, 3, 8), (1, 2, 4, 6))
    """
    if text is None:
        counts = {1 << power for power in range(len(allowed).bit_length())}
        return tuple(sorted({n for n in counts if n <= len(allowed)} | {len(allowed)}))
    from regionpredict.cli.curve_options import parse_threads

    return parse_threads(text)


def _parse_repetitions(text: str) -> int | None:
    if text == "auto":
        return None
    if text.isdecimal() and len(text) < 10 and int(text) > 0:
        return int(text)
    raise UsageError(f"--repeat {text}: not a number", remedy="write --repeat 5 or --repeat auto")


def _report_sweep(swept: CampaignResult, budget: float) -> None:
    if swept.out_of_time:
        click.echo(f"note: the time budget of {budget:.0f} s ended first", err=True)
    disturbed = disturbed_text(swept.campaign)
    if disturbed:
        click.echo(f"note: {disturbed}", err=True)
    for threads, why in swept.open.items():
        more = f" and {len(why) - 3} more" if len(why) > 3 else ""
        on = plural(threads, "thread")
        click.echo(f"note: did not converge on {on}: {', '.join(why[:3])}{more}", err=True)


def _progress_text(at: Progress) -> tuple[float, str]:
    share = max(at.settled / at.thread_counts, min(at.spent_s / at.budget_s, 1.0))
    if at.waits_s is not None:
        return share, waiting(at.waits_s)
    text = (
        f"{at.settled} of {at.thread_counts} thread counts done, "
        f"{at.spent_s:.0f} s of {at.budget_s:.0f} s, run {at.repetition} on {at.threads}"
    )
    return share, text
