"""Predictions of one file that is open in an editor, with the options of the command line."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regionpredict.cli.curve_options import CurveOptions
from regionpredict.cli.source_options import run_analysis
from regionpredict.errors import InputError

if TYPE_CHECKING:
    from regionpredict.machine import Machine
    from regionpredict.pipeline import Predictions


class Choices(NamedTuple):
    """The command-line options that apply to every file."""

    machine: Machine
    curve: CurveOptions
    options: dict[str, Any]


def predict_file(file: Path, root: Path | None, choices: Choices) -> Predictions:
    """Predicts the loops of a file, with the compile_commands.json of its project. Raises
    InputError or UsageError if the file cannot be read.
    """
    database = None if root is None else root / "compile_commands.json"
    paths: tuple[str, ...] = (str(file),)
    if database is not None and database.is_file() and _is_in_database(file, database):
        paths = (str(database),)
    with contextlib.redirect_stdout(sys.stderr):  # standard output is reserved for the protocol
        analysis = run_analysis(paths, **choices.options, timings=False, flows=choices.curve.flows)
        return choices.curve.predict(analysis, choices.machine)


def _is_in_database(file: Path, database: Path) -> bool:
    from regionpredict.frontend import requests_for

    try:
        requests = requests_for([str(database)])
    except InputError:
        return False
    return any(Path(request.path).resolve() == file.resolve() for request in requests)
