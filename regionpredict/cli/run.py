"""`regionpredict run`: runs a program with each region on its hinted number of threads."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.cli.this_host import openmp_binding
from regionpredict.errors import InputError, UsageError, plural
from regionpredict.scratch_folder import scratch_folder
from regionpredict.user_cache import is_private_file
from regionpredict.workers import allowed_cores

if TYPE_CHECKING:
    from regionpredict.measure.binary import OutlinedFunction
    from regionpredict.measure.thread_limits import Limit

_SHARED = re.compile(r"[A-Za-z0-9_-]{1,40}")


@click.command(
    "run", context_settings={"allow_interspersed_args": False}
)  # arguments after PROGRAM are the program's own
@click.option(
    "--hints",
    "hints_path",
    default=None,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Output of regionpredict predict --format json.",
)
@click.option(
    "--share", default=None, metavar="NAME",
    help="Share the cores with all programs started with this name.",
)  # fmt: skip
@click.option("--log", is_flag=True, help="At the end, report the changes and each region's time.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM ARGS...")
def command(hints_path: Path | None, share: str | None, log: bool, words: tuple[str, ...]) -> None:
    """Run PROGRAM with each parallel region on its hinted threads.

    A region never gets more threads than PROGRAM has (OMP_NUM_THREADS, its own num_threads
    clauses). PROGRAM needs debug information (-g), which identifies its regions, and is not
    recompiled. Hints made with --pages or --bind also apply them (numactl, OMP_PROC_BIND).

    Programs that share cores agree on their threads at each region, by the speedups of their
    hints. The cores of a program that ends go to the others at their next region.
    """
    from regionpredict.cli.cache import cache_folder
    from regionpredict.measure.binary import outlined_functions
    from regionpredict.measure.child import end_with_parent, run_with_interrupts
    from regionpredict.measure.hints_file import read_hints
    from regionpredict.measure.runtime_library import preload_library
    from regionpredict.measure.thread_limits import limits_of, write_limits

    if not words:
        raise UsageError("no program", remedy="write regionpredict run --hints FILE -- ./program")
    if hints_path is None and share is None:
        raise UsageError("no hints for the run", remedy="give --hints FILE, --share NAME or both")
    program = find_program(words[0])
    hints = None if hints_path is None else read_hints(hints_path)
    functions = () if hints is None else outlined_functions(program)
    limits = () if hints is None else limits_of(hints, functions)
    line = [*words] if hints is None else [*numactl_command(hints.pages), *words]
    library = preload_library([compiler()], cache_folder(), "preload.c")
    with scratch_folder() as folder, share_variables(share) as shared:
        table, output = folder / "limits", folder / "results"
        write_limits(limits, table)
        settings = {
            **preloaded(library), **binding_variables("close" if hints is None else hints.binding),
            "REGIONPREDICT_LIMITS": str(table), **shared,
        }  # fmt: skip
        settings.pop("REGIONPREDICT_OUTPUT", None)
        if log:
            settings["REGIONPREDICT_OUTPUT"] = str(output)
        try:
            code, _ = run_with_interrupts(
                line, settings, begin=partial(end_with_parent, signal.SIGKILL, os.getpid())
            )
        except OSError as error:
            raise InputError(
                f"'{words[0]}' does not run: {error.strerror}", remedy="is it a program?"
            ) from None
        if log:
            print_region_times(output, limits, functions)
    sys.exit(code if code >= 0 else 128 - code)


def numactl_command(pages: str | int) -> list[str]:
    """Returns the numactl command for the page placement of the hints. Empty for first touch.
    Raises InputError if numactl is needed but missing.
    """
    if pages == "first-touch":
        return []
    if shutil.which("numactl") is None:
        raise InputError(
            f"the hints are for pages placed by numactl ({pages}), which is not installed",
            remedy="install numactl, or predict without --pages",
        )
    return ["numactl", "--interleave=all" if pages == "interleave" else f"--membind={pages}"]


def binding_variables(binding: str) -> dict[str, str]:
    """Returns the environment variables that spread threads as in the hints. The caller's variables
    apply for `close`.
    """
    if binding == "close":
        return {}
    own = os.environ.get("OMP_PLACES", "cores") if binding == "spread" else "cores"
    places, proc_bind = openmp_binding(binding, own)
    return {"OMP_PROC_BIND": proc_bind, "OMP_PLACES": places}


@contextmanager
def share_variables(name: str | None) -> Iterator[dict[str, str]]:
    """Returns environment variables by which a user's programs with a common share name find each
    other.

    The last program to end removes their common file. Raises UsageError if the name cannot be a
    file's name, InputError if something else has that name.
    """
    import fcntl

    if name is None:
        yield {}
        return
    if not _SHARED.fullmatch(name):
        raise UsageError(
            f"--share {name[:40]!r} is not a valid name",
            remedy="use letters, digits, - and _, at most 40",
        )
    memory = Path("/dev/shm")
    folder = memory if memory.is_dir() else Path(tempfile.gettempdir())
    path = folder / f"regionpredict-{os.getuid()}-{name}"
    if os.path.lexists(path) and not is_private_file(path):
        raise InputError(
            "belongs to another user", remedy="use another --share NAME", path=str(path)
        )
    try:
        yield {"REGIONPREDICT_SHARE": str(path), "REGIONPREDICT_SHARE_CORES": str(allowed_cores())}
    finally:
        with suppress(OSError), path.open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if a program has the slot
            if os.fstat(file.fileno()).st_nlink:
                path.unlink()


def find_program(word: str) -> Path:
    """Returns the program's file. Raises InputError if it is missing."""
    path = shutil.which(word)
    if path is None:
        raise InputError(f"no program '{word}'", remedy="check the path; write ./NAME for one here")
    return Path(path)


def compiler() -> str:
    """Returns the compiler that builds the preloaded library."""
    named = os.environ.get("CC", "")
    for name in (named, "gcc", "cc", "clang"):
        if name and shutil.which(name):
            return name
    raise InputError("no C compiler", remedy="install gcc, or set the variable CC to a compiler")


def preloaded(library: Path) -> dict[str, str]:
    """Returns the environment with the library added to LD_PRELOAD, before all others."""
    before = os.environ.get("LD_PRELOAD", "")
    return {**os.environ, "LD_PRELOAD": f"{library}:{before}" if before else str(library)}


def print_region_times(
    output: Path, limits: Sequence[Limit], functions: Sequence[OutlinedFunction]
) -> None:
    """Prints the threads and time of each region on standard error: one line per source line, which
    may cover several functions.
    """
    from regionpredict.measure.outlined_results import outlined_entries

    try:
        entries = outlined_entries(output.read_text(encoding="utf-8").splitlines())
    except OSError:
        entries = []
    hinted = {(limit.outlined.module, limit.outlined.offset) for limit in limits}
    places = {
        (outlined.module, outlined.offset): f"{outlined.file}:{outlined.line}"
        for outlined in functions
    }
    by_place: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        key = (entry["module"], entry["offset"])
        name = places.get(key, f"{Path(entry['module']).name}+{entry['offset']:#x}")
        by_place.setdefault(name, []).append({**entry, "hinted": key in hinted})
    for name, parts in sorted(by_place.items(), key=lambda part: -_total_time(part[1])):
        team, asked = (max(part[key] for part in parts) for key in ("most_team", "asked"))
        threads = plural(team, "thread") + ("" if team == asked else f" instead of {asked}")
        why = (
            "" if any(part["hinted"] for part in parts) else "; the hints contain none of its loops"
        )
        runs = plural(sum(part["executions"] for part in parts), "run")
        click.echo(
            f"regionpredict: {name}: {threads}, {runs}, {_total_time(parts) / 1e9:.6f} s{why}",
            err=True,
        )
    if not entries:
        click.echo("regionpredict: no parallel region ran", err=True)


def _total_time(parts: Sequence[dict[str, Any]]) -> int:
    """Returns the total nanoseconds of all functions at one source line."""
    return sum(int(part["total_ns"]) for part in parts)
