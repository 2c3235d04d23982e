"""`regionpredict lsp`: shows hints in any editor, by the language server protocol."""

from __future__ import annotations

from typing import Any

import click

from regionpredict.cli.curve_options import (
    RunOptions,
    check_model_options,
    curve_options,
    density_form,
)
from regionpredict.cli.curve_options import parse_threads as threads_of
from regionpredict.cli.editor_predictions import Choices
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.source_options import reading_options
from regionpredict.errors import UsageError, with_extra


@click.command("lsp")
@reading_options
@machine_option
@curve_options
def command(
    machine_name: str | None, model: str, combination: str, statement_weight: str,
    miss_weight: str, threads: str | None, first_touch: str | None,
    pages: str | None, binding: str, runtime: str | None, within: float, **options: Any,
) -> int:  # fmt: skip
    """Serve an editor by the language server protocol, on standard input and output.

    The editor shows a hint above each parallel loop of a C file. Findings appear as diagnostics,
    and a change of one clause as a code action. A file is predicted when it is opened or saved.
    """
    try:
        from regionpredict.cli.language_server import serve
    except ModuleNotFoundError as error:
        raise UsageError(
            f"lsp needs the package {error.name}",
            remedy=with_extra("lsp"),
        ) from None
    run = RunOptions(first_touch, pages, binding, runtime)
    check_model_options(model, run)
    density = density_form(model, combination, statement_weight, miss_weight)
    machine = run.on(machine_for(machine_name)[0])
    return serve(Choices(machine, model, density, run, threads_of(threads), within / 100, options))
