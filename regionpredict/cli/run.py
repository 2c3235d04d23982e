"""`regionpredict run`: a program with each region on its hinted number of threads."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.errors import InputError, UsageError, plural
from regionpredict.scratch_folder import scratch_folder

if TYPE_CHECKING:
    from regionpredict.measure.binary import Outlined
    from regionpredict.measure.thread_limits import Limit


@click.command(
    "run", context_settings={"allow_interspersed_args": False}
)  # what follows PROGRAM is its own
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
    from regionpredict.measure.child import run_with_interrupts
    from regionpredict.measure.hints_file import read_hints
    from regionpredict.measure.runtime_library import preload_library
    from regionpredict.measure.thread_limits import limits_of, write_limits

    if not words:
        raise UsageError("no program", remedy="write regionpredict run --hints FILE -- ./program")
    hints = read_hints(hints_path)
    functions = outlined_functions(find_program(words[0]))
    limits = limits_of(hints, functions)
    line = [*placing(hints.pages), *words]
    library = preload_library([compiler()], cache_folder(), "preload.c")
    with scratch_folder() as folder:
        table, output = folder / "limits", folder / "results"
        write_limits(limits, table)
        settings = {
            **preloaded(library), **bound(hints.binding), "REGIONPREDICT_LIMITS": str(table)
        }  # fmt: skip
        settings.pop("REGIONPREDICT_OUTPUT", None)
        if log:
            settings["REGIONPREDICT_OUTPUT"] = str(output)
        try:
            code, _ = run_with_interrupts(line, settings)
        except OSError as error:
            raise InputError(
                f"'{words[0]}' does not run: {error.strerror}", remedy="is it a program?"
            ) from None
        if log:
            tell(output, limits, functions)
    sys.exit(code if code >= 0 else 128 - code)


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


def tell(output: Path, limits: Sequence[Limit], functions: Sequence[Outlined]) -> None:
    """What each region ran on, and how long it took, on standard error: a line a place of the
    source, of which the compiler may have made several functions."""
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
    for name, parts in sorted(by_place.items(), key=lambda part: -_spent(part[1])):
        team, asked = (max(part[key] for part in parts) for key in ("most_team", "asked"))
        threads = plural(team, "thread") + ("" if team == asked else f" instead of {asked}")
        why = "" if any(part["hinted"] for part in parts) else "; the hints have no loop of it"
        runs = plural(sum(part["executions"] for part in parts), "run")
        click.echo(
            f"regionpredict: {name}: {threads}, {runs}, {_spent(parts) / 1e9:.6f} s{why}", err=True
        )
    if not entries:
        click.echo("regionpredict: no parallel region ran", err=True)


def _spent(parts: Sequence[dict[str, Any]]) -> int:
    """Nanoseconds of all functions of one place."""
    return sum(int(part["total_ns"]) for part in parts)
