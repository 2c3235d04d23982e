"""`regionpredict cache`: shows and clears cached results. Also finds the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path

import click

from regionpredict.cli.output import write_standard_output
from regionpredict.cli.result_cache import MOST_BYTES, kept_files, results_folder
from regionpredict.errors import InputError, plural
from regionpredict.user_cache import private_folder, user_cache_folder


def cache_folder() -> Path:
    """Returns the folder for compiled parts of the measuring library. Raises InputError if there is
    no folder that only its owner can write to.
    """
    return private_folder(user_cache_folder(os.environ))


@click.group("cache")
def command() -> None:
    """The results of analyze, predict and explain are cached.

    A result is reused while the command, the program and all files it depends on are unchanged.
    --no-cache, or REGIONPREDICT_CACHE=off, turns the cache off.
    """


@command.command("show")
def show() -> None:
    """Show the folder, number and size of the cached results."""
    folder = private_folder(results_folder(os.environ))
    files = kept_files(folder)
    answers = sum(kept.path.suffix == ".answer" for kept in files)
    size = sum(kept.size for kept in files)
    write_standard_output(
        f"{folder}: {plural(answers, 'answer')}, {size / (1 << 20):.1f} MiB of at most "
        f"{MOST_BYTES >> 20} MiB\n"
    )


@command.command("clear")
def clear() -> None:
    """Remove all cached results."""
    folder = private_folder(results_folder(os.environ))
    try:
        for kept in kept_files(folder):
            kept.path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be cleared: {error.strerror}", remedy="make it yours", path=str(folder)
        ) from error
