"""`regionpredict run`: a program with each region on its hinted number of threads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.errors import InputError, UsageError, plural

if TYPE_CHECKING:
    from regionpredict.measure.limits import Limit


@click.command("run")
@click.option(
    "--hints",
    "hints_path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Written by regionpredict predict --format json.",
)
@click.option(
    "--log", is_flag=True, help="Say at the end what was changed, and each region's time."
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM ARGS...")
def command(hints_path: Path, log: bool, words: tuple[str, ...]) -> None:
    """Runs PROGRAM with each of its parallel regions on the threads that its hint allows.

    Never on more than PROGRAM was given (OMP_NUM_THREADS, its own num_threads clauses). PROGRAM is
    not recompiled, but needs debug information (-g): by it hints find their regions. Hints that
    were made with --pages or --bind have it run so (numactl, OMP_PROC_BIND).
    """
    from regionpredict.cli.cache import cache_folder
    from regionpredict.measure.binary import outlined_functions
    from regionpredict.measure.hints_file import read_hints
    from regionpredict.measure.limits import limits_of, write_limits
    from regionpredict.measure.runtime_library import preload_library

    if not words:
        raise UsageError("no program", remedy="write regionpredict run --hints FILE -- ./program")
    hints = read_hints(hints_path)
    limits = limits_of(hints, outlined_functions(find_program(words[0])))
    line = [*placing(hints.pages), *words]
    library = preload_library([compiler()], cache_folder(), "preload.c")
    with tempfile.TemporaryDirectory(prefix="regionpredict-") as folder:
        table, output = Path(folder, "limits"), Path(folder, "results")
        write_limits(limits, table)
        settings = {
            **preloaded(library), **bound(hints.binding), "REGIONPREDICT_LIMITS": str(table)
        }  # fmt: skip
        settings.pop("REGIONPREDICT_OUTPUT", None)
        if log:
            settings["REGIONPREDICT_OUTPUT"] = str(output)
        try:
            done = subprocess.run(line, env=settings, check=False)
        except OSError as error:
            raise InputError(
                f"'{words[0]}' does not run: {error.strerror}", remedy="is it a program?"
            ) from None
        if log:
            tell(output, limits)
    sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


def placing(pages: str | int) -> list[str]:
    """The words of numactl that put pages where the hints have them; none for first touch.

    Raises InputError where they are needed and there is no numactl.
    """
    if pages == "first-touch":
        return []
    if shutil.which("numactl") is None:
        raise InputError(
            f"the hints are for pages placed by numactl ({pages}), which is not here",
            remedy="install numactl, or predict without --pages",
        )
    return ["numactl", "--interleave=all" if pages == "interleave" else f"--membind={pages}"]


def bound(binding: str) -> dict[str, str]:
    """The variables that spread threads where the hints do; close is left to the caller."""
    if binding == "close":
        return {}
    return {"OMP_PROC_BIND": binding, "OMP_PLACES": os.environ.get("OMP_PLACES", "cores")}


def find_program(word: str) -> Path:
    """The program's file; raises InputError where there is none."""
    path = shutil.which(word)
    if path is None:
        raise InputError(f"no program '{word}'", remedy="check the path; write ./NAME for one here")
    return Path(path)


def compiler() -> str:
    """The compiler that builds the preloaded library."""
    named = os.environ.get("CC", "")
    for name in (named, "gcc", "cc", "clang"):
        if name and shutil.which(name):
            return name
    raise InputError("no C compiler", remedy="install gcc, or name a compiler by the variable CC")


def preloaded(library: Path) -> dict[str, str]:
    """The environment with the library in front of all others."""
    before = os.environ.get("LD_PRELOAD", "")
    return {**os.environ, "LD_PRELOAD": f"{library}:{before}" if before else str(library)}


def tell(output: Path, limits: Sequence[Limit]) -> None:
    """What each region ran on, and how long it took, on standard error."""
    from regionpredict.measure.outlined_results import outlined_entries

    try:
        entries = outlined_entries(output.read_text(encoding="utf-8").splitlines())
    except OSError:
        entries = []
    limit_at = {(limit.outlined.module, limit.outlined.offset): limit for limit in limits}
    for entry in sorted(entries, key=lambda region: -int(region["total_ns"])):
        limit = limit_at.get((entry["module"], entry["offset"]))
        name = f"{Path(entry['module']).name}+{entry['offset']:#x}"
        if limit is not None:
            name = f"{limit.outlined.file}:{limit.outlined.line}"
        kept = entry["most_team"] == entry["asked"]
        threads = plural(entry["most_team"], "thread") + (
            "" if kept else f" instead of {entry['asked']}"
        )
        why = "" if limit is not None else " (no hint)"
        click.echo(
            f"regionpredict: {name}: {threads}{why}, {plural(entry['executions'], 'run')}, "
            f"{entry['total_ns'] / 1e9:.6f} s",
            err=True,
        )
    if not entries:
        click.echo("regionpredict: no parallel region ran", err=True)
