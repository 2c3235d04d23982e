"""The entry point: it prints a cached result, or runs the command. Errors are one line."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from regionpredict import __version__
from regionpredict.errors import InputError, UsageError
from regionpredict.frame_memory import with_frame_memory

if TYPE_CHECKING:
    import click

    from regionpredict.cli.result_cache import ResultCache, RunRecord


def program() -> None:
    """Runs `main` as the entry point. At exit, freeing memory is skipped."""
    _open_closed_streams()
    if not sys.warnoptions:  # warnings of libraries are for developers
        warnings.simplefilter("ignore")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # file names may have invalid characters
    code = 0
    if isinstance(sys.stderr, io.TextIOWrapper):
        from regionpredict.cli.colour import NoticeStream, in_colour

        sys.stderr = NoticeStream(sys.stderr, in_colour(sys.stderr, os.environ))
    try:
        _check_working_folder()
        _run_command_line()
        if not sys.stdout.closed:  # the language server closes standard output
            sys.stdout.flush()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BrokenPipeError:
        code = 1
    except OSError as error:
        _report_refused(error)
        code = 1
    with contextlib.suppress(OSError, ValueError):  # the stream is closed, or its pipe is broken
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(code)


def _open_closed_streams() -> None:
    """Opens standard streams that the shell closed, so that no other file gets their numbers.

    An error reports that the output of a command cannot be written. Notes are discarded.
    """
    for number, name, mode in (
        (0, "stdin", os.O_RDONLY),
        (1, "stdout", os.O_RDONLY),
        (2, "stderr", os.O_WRONLY),
    ):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
            raw = io.FileIO(number, "w" if number else "r", closefd=False)
            buffer = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
            setattr(sys, name, io.TextIOWrapper(buffer))


def _check_working_folder() -> None:
    try:
        Path.cwd()
    except FileNotFoundError:
        sys.stderr.write("regionpredict: the working folder was deleted; change to another\n")
        sys.exit(1)


def _run_command_line() -> None:
    if sys.argv[1:] == ["--version"]:  # the same text as click's, since click takes longer to load
        sys.stdout.write(f"regionpredict, version {__version__}\n")
        return
    from regionpredict.cli.result_cache import result_cache

    cache = result_cache(sys.argv[1:], os.environ)
    if cache is None:
        main()
    elif not cache.replay():
        _run_and_keep(cache)


def _report_refused(error: OSError) -> None:
    """Reports a closed stream, a folder without permission, or an impossible file name in one line.
    Other file errors are bugs.
    """
    if isinstance(error, PermissionError) and error.filename is not None:
        sys.stderr.write(
            f"regionpredict: {error.filename}: {error.strerror}; get permission for it\n"
        )
        return
    if error.errno == errno.ENAMETOOLONG and error.filename is not None:
        sys.stderr.write(f"regionpredict: {error.filename}: {error.strerror}; name it shorter\n")
        return
    if error.filename is not None:
        raise error
    from regionpredict.cli.output import discard_standard_output, unwritable

    discard_standard_output()
    with contextlib.suppress(OSError):
        sys.stderr.write(f"regionpredict: {unwritable(error)}\n")


def _run_and_keep(cache: ResultCache) -> None:
    """Runs the command. Its output is cached if it had no errors and the command allows caching."""
    from regionpredict.cli.result_cache import RunRecord, recorded

    record = RunRecord()
    out, err = recorded(record)
    with redirect_stdout(out), redirect_stderr(err):
        main(record)
    cache.store(record)


def main(record: RunRecord | None = None) -> None:
    """Runs a command and returns its exit code. Invalid input is reported on one line with exit
    code 1, and a usage error with 2. The command stores the dependencies of its result in `record`.
    """
    import click

    from regionpredict.cli.group import group
    from regionpredict.isolation import LIMITS, main_stack, recursion_limit

    try:
        with _without_cycle_collection(), main_stack(), recursion_limit(LIMITS.recursion):
            code = with_frame_memory(
                group, prog_name="regionpredict", standalone_mode=False, obj=record
            )
        if isinstance(code, int) and code:  # click returns the exit code of an Exit exception
            sys.exit(code)
    except UsageError as error:
        click.echo(f"regionpredict: {error}", err=True)
        sys.exit(2)
    except InputError as error:
        click.echo(f"regionpredict: {error}", err=True)
        sys.exit(1)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        click.echo("regionpredict: stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        _print_error(error)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
    except RecursionError:
        click.echo("regionpredict: the input is nested too deeply; split it", err=True)
        sys.exit(1)
    except MemoryError:
        click.echo("regionpredict: not enough memory; give a smaller input", err=True)
        sys.exit(1)
    except OSError as error:
        _report_refused(error)
        sys.exit(1)


@contextlib.contextmanager
def _without_cycle_collection() -> Iterator[None]:
    """Disables Python's cyclic garbage collection, since a run creates millions of small values and
    hardly any cycles.

    This saves a fifth of the time. At the end, these values count as old, since the collector would
    otherwise search all of them at once.
    """
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.freeze()
            gc.unfreeze()
            gc.enable()


def _print_error(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "regionpredict"
    import click

    if (
        type(error).__name__ == "NoArgsIsHelpError"
    ):  # click 8.2 and later; earlier versions printed the help
        click.echo(error.format_message(), err=True)
        return
    said = error.format_message().rstrip(".")
    click.echo(f"regionpredict: {said}; see '{command} --help'", err=True)
