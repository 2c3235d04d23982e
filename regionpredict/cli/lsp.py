"""`regionpredict lsp`: shows hints in any editor, by the language server protocol."""

from __future__ import annotations

from typing import Any

import click

from regionpredict.cli.curve_options import CurveOptions, curve_options
from regionpredict.cli.editor_predictions import Choices
from regionpredict.cli.machine_option import machine_for, machine_option
from regionpredict.cli.source_options import reading_options
from regionpredict.errors import UsageError, with_extra


@click.command("lsp")
@reading_options
@machine_option
@curve_options
def command(machine_name: str | None, curve: CurveOptions, **options: Any) -> int:
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
    curve.check()
    return serve(Choices(curve.on(machine_for(machine_name)[0]), curve, options))
