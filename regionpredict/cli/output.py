"""Results to standard output or into a file."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from regionpredict.atomic_file import write_file
from regionpredict.cli.colour import chosen, in_colour, painted_table, shows_table
from regionpredict.cli.terminal_width import within_width
from regionpredict.errors import InputError, one_line, visible


def write_result(text: str, output: str | Path | None, verbatim: bool = False) -> None:
    """Writes the result to standard output, or to a file, which standard error then names.

    A table in a file has one line per sentence. `verbatim`: the text of a file, whose lines must
    not be wrapped. Raises InputError if it cannot be written.
    """
    if output is None:
        write_standard_output(text, verbatim)
        return
    write_file(Path(output), visible(text))
    click.echo(f"written: {one_line(str(output))}", err=True)


def write_notes(notes: Iterable[object]) -> None:
    """Each note as a line on standard error."""
    for note in notes:
        click.echo(f"regionpredict: note: {note}", err=True)


def write_standard_output(text: str, verbatim: bool = False) -> None:
    """Text on standard output; a table within the terminal's width, in colour where there is some.

    Names from sources, machines and traces can hold control characters, which a terminal would
    obey. They are escaped in whatever is written, files as well, which are shown on one later.

    In a pipe, no line is wrapped, whatever COLUMNS is, so each sentence can be searched on one
    line. Raises InputError if the stream is closed.
    """
    is_table = shows_table() and not verbatim
    text = visible(text)
    if is_table:
        if sys.stdout.isatty():
            text = within_width(text, shutil.get_terminal_size().columns)
        if in_colour(sys.stdout, os.environ, chosen()):
            text = painted_table(text)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_standard_output()
        raise unwritable(error) from None


def unwritable(error: OSError) -> InputError:
    """The error of a standard output that takes nothing, as of a full device."""
    return InputError(
        f"cannot be written: {error.strerror}", remedy="send it elsewhere, or give -o FILE",
        path="standard output",
    )  # fmt: skip


def discard_standard_output() -> None:
    """Nothing more is written there: what is left unwritten would fail again at the exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
