"""`regionpredict tasks record` records a program's task graph by an OMPT tool in its runtime."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from regionpredict.cli.quiet_host import QuietHost
from regionpredict.documents import input_errors_while_reading
from regionpredict.errors import InputError, UsageError


@click.command(
    "record", context_settings={"allow_interspersed_args": False}
)  # arguments after PROGRAM belong to it
@click.option(
    "-o",
    "output",
    default="tasks.recording",
    show_default=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder for the recorded events.",
)
@click.option(
    "--threads", type=click.IntRange(1), help="OMP_NUM_THREADS of the run.  [default: unchanged]"
)
@click.option(
    "--runtime",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The LLVM runtime to use in place of gcc's.  [default: the one found]",
)
@click.option(
    "--counters",
    is_flag=True,
    help="Also read the hardware's counters of instructions, cycles and cache misses at each "
    "event. Small tasks then appear longer.",
)
@click.option(
    "--counter",
    "names",
    multiple=True,
    metavar="NAME",
    help="Read this counter of PAPI, perf or libpfm4 instead, for example PAPI_L1_DCM. Repeatable, "
    "up to three times.",
)
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM ARGS...")
def command(
    argv: tuple[str, ...], output: Path, threads: int | None, runtime: Path | None,
    counters: bool, names: tuple[str, ...],
) -> None:  # fmt: skip
    """Run PROGRAM and record its tasks, their order, and their times.

    Programs built by clang run unchanged. Those built by gcc run on LLVM's runtime instead of
    gcc's. With -g, tasks have source lines. On one thread, times are free of contention. The
    recording is readable however the program ends.
    """
    from regionpredict.atomic_file import write_file
    from regionpredict.cli.cache import cache_folder
    from regionpredict.cli.run import compiler, find_program
    from regionpredict.measure.counter_names import named_counters
    from regionpredict.measure.ompt_run import recorded_run, refused_counters, site_lines
    from regionpredict.tasks.recording import (
        COUNTER_NAMES,
        LINES,
        counter_names_text,
        disk_was_full,
        ended_by_itself,
        lines_text,
    )

    if not argv:
        raise UsageError("no program", remedy="write regionpredict tasks record -- ./program ARGS")
    wanted = named_counters(names) if counters or names else ()
    program = find_program(argv[0])
    new_folder(output)
    host = QuietHost(0.0)
    try:
        code = recorded_run(
            argv,
            program,
            output,
            compiler=[compiler()],
            cache=cache_folder(),
            environment=os.environ,
            threads=threads,
            runtime=runtime,
            counters=wanted,
        )
        if disk_was_full(output) and not any(file.stat().st_size for file in output.iterdir()):
            raise InputError(
                "the disk is full", remedy="choose another -o FOLDER", path=str(output)
            )
    except InputError:
        if not any(file.stat().st_size for file in output.iterdir()):
            shutil.rmtree(output)
        raise
    try:
        with input_errors_while_reading(output, "a recording with places of tasks", "record again"):
            lines = site_lines(output)
    except InputError as error:
        lines = {}
        click.echo(f"note: source lines are unknown: {error}", err=True)
    write_file(output / LINES, lines_text(lines))
    refused = refused_counters(output) if wanted else None
    if refused is not None:
        click.echo(
            f"note: this machine has no {_counter_list(names)} for programs ({refused} in "
            "perf_event_open). Only times are recorded.", err=True,
        )  # fmt: skip
    elif wanted:
        text = counter_names_text([counter.name for counter in wanted])
        write_file(output / COUNTER_NAMES, text)
    click.echo(f"written: {output}. Next: regionpredict tasks show {output}", err=True)
    busy = host.remark()
    if busy:
        click.echo(f"warning: {busy}; record again on an idle host", err=True)
    if disk_was_full(output):
        click.echo(
            f"warning: {output}: the disk was full, so the recording is incomplete; record "
            "into another -o FOLDER", err=True,
        )  # fmt: skip
    elif not code and not ended_by_itself(output):
        click.echo(
            "note: the program ended by exec or _exit, without its OpenMP runtime; the recording "
            "ends there", err=True,
        )  # fmt: skip
    if code:
        ended = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        click.echo(f"note: the program {ended}; what it did until then is recorded", err=True)
    sys.exit(code if code >= 0 else 128 - code)


def _counter_list(names: tuple[str, ...]) -> str:
    return f"counters {', '.join(names)}" if names else "hardware counters"


def new_folder(path: Path) -> None:
    """Creates a folder for results. Raises InputError if something else has its name."""
    try:
        if path.is_dir() and not any(path.iterdir()):
            return
        path.mkdir(parents=True)
    except FileExistsError:
        raise InputError(
            "there already", remedy="choose another -o FOLDER", path=str(path)
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot be made: {error.strerror}", remedy="choose another -o FOLDER", path=str(path)
        ) from None
