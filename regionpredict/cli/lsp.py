"""`regionpredict lsp`: hints in any editor, by the language server protocol."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from regionpredict.cli.curve_options import RunOptions, check_model_options, curve_options
from regionpredict.cli.curve_options import parse_threads as threads_of
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.source_options import reading_options, run_analysis
from regionpredict.errors import InputError, UsageError

if TYPE_CHECKING:
    from regionpredict.machine import Binding, Machine
    from regionpredict.pipeline import Predictions


class Choices(NamedTuple):
    """What the command line chose for every file."""

    machine: Machine
    model: str
    run: RunOptions
    threads: tuple[int, ...]
    within: float
    options: dict[str, Any]


@click.command("lsp")
@reading_options
@machine_option
@curve_options
def command(
    machine_name: str | None, model: str, threads: str | None, first_touch: str | None,
    pages: str | None, binding: Binding, runtime: str | None, within: float, **options: Any,
) -> None:  # fmt: skip
    """Serve an editor, on standard input and output, by the language server protocol.

    Above each parallel loop of a C file stands its hint; findings are diagnostics, and a change
    that is one clause an action. A file is predicted when it is opened and when it is saved.
    """
    try:
        from regionpredict.cli.language_server import serve
    except ModuleNotFoundError as error:
        raise UsageError(
            f"lsp needs the package {error.name}",
            remedy="python3 -m pip install 'regionpredict[lsp]'",
        ) from None
    run = RunOptions(first_touch, pages, binding, runtime)
    check_model_options(model, "relative-difference", threads, run)
    machine = run.on(machine_for(machine_name)[0])
    serve(Choices(machine, model, run, threads_of(threads), within / 100, options))


def predicted(file: Path, root: Path | None, choices: Choices) -> Predictions:
    """The regions of a file; what its project's compile_commands.json says of it counts.

    Raises InputError, or UsageError, where it cannot be read.
    """
    from regionpredict.pipeline import predict

    database = None if root is None else root / "compile_commands.json"
    paths: tuple[str, ...] = (str(file),)
    if database is not None and database.is_file() and _listed(file, database):
        paths = (str(database),)
    with contextlib.redirect_stdout(sys.stderr):  # standard output is the protocol's
        analysis = run_analysis(
            paths, **choices.options, timings=False,
            flows=choices.model == "saturation" and choices.run.flows,
        )  # fmt: skip
        return predict(
            analysis, choices.machine, choices.model, threads=choices.threads,
            pages=choices.run.placement(choices.machine), within=choices.within,
        )  # fmt: skip


def _listed(file: Path, database: Path) -> bool:
    from regionpredict.frontend import requests_for

    try:
        requests = requests_for([str(database)])
    except InputError:
        return False
    return any(Path(one.path).resolve() == file.resolve() for one in requests)
