"""Writes results to standard output or into a file."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from regionpredict.atomic_file import write_file
from regionpredict.cli.colour import color_choice, in_colour, painted_table, shows_table
from regionpredict.cli.terminal_width import within_width
from regionpredict.errors import InputError, escape_control_characters, one_line

F = TypeVar("F", bound=Callable[..., Any])


def format_option(
    formats: str, explained: str = "Output format.", metavar: str | None = None
) -> Callable[[F], F]:
    """Adds `--format`, by default the first of the `formats`, separated by spaces."""
    known = formats.split()
    return click.option(
        "--format", "form", type=click.Choice(known), default=known[0], show_default=True,
        metavar=metavar, help=explained,
    )  # fmt: skip


def result_options(
    formats: str, explained: str = "Output format.", metavar: str | None = None
) -> Callable[[F], F]:
    """Adds `--format` and `-o`."""

    def add(command: F) -> F:
        return format_option(formats, explained, metavar)(output_option(command))

    return add


output_option = click.option(
    "-o", "--output", type=click.Path(), metavar="FILE", help="Write the result to FILE."
)


def write_result(text: str, output: str | Path | None, verbatim: bool = False) -> None:
    """Writes the result to standard output, or to a file, and reports the file on standard error.

    A table in a file has one line per sentence. `verbatim`: lines of the text must not be wrapped.
    Raises InputError if the result cannot be written.
    """
    if output is None:
        write_standard_output(text, verbatim)
        return
    write_file(Path(output), escape_control_characters(text))
    click.echo(f"written: {one_line(str(output))}", err=True)


def write_notes(notes: Iterable[object]) -> None:
    """Writes each note as a line to standard error."""
    for note in notes:
        click.echo(f"regionpredict: note: {note}", err=True)


def write_standard_output(text: str, verbatim: bool = False) -> None:
    """Writes text to standard output. Tables are wrapped to the terminal and colored if enabled.

    Names in sources, machines and traces can contain control characters, which terminals would
    execute. They are escaped in all output, also in files, which may be printed later.

    In a pipe, no line is wrapped, even with COLUMNS, so each sentence can be searched on one line.
    Raises InputError if the stream is closed.
    """
    is_table = shows_table() and not verbatim
    text = escape_control_characters(text)
    if is_table:
        if sys.stdout.isatty():
            text = within_width(text, shutil.get_terminal_size().columns)
        if in_colour(sys.stdout, os.environ, color_choice()):
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
    """Returns the error if standard output cannot be written, for example on a full device."""
    return InputError(
        f"cannot be written: {error.strerror}", remedy="redirect it, or give -o FILE",
        path="standard output",
    )  # fmt: skip


def discard_standard_output() -> None:
    """Discards further output, since flushing it would fail again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
