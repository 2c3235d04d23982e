"""The `regionpredict` group: loads a command's file only when it is called."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import os
import sys

import click

from regionpredict import __version__
from regionpredict.cli.output import discard_standard_output, unwritable
from regionpredict.errors import InputError, UsageError

# name -> one line of help: `--help` imports no command.
COMMANDS = {
    "analyze": "Facts of every parallel loop, from the source alone.",
    "predict": "Packages and threads that every parallel loop can use on a machine.",
    "explain": "The derivation of one region's hint, or the page of a rule.",
    "machines": "List, show, check and detect machine models.",
    "calibrate": "Measure this host into a machine model.",
    "fit": "Empirical scaling models from measurements.",
    "expect": "Scalability expectations as a test.",
    "cc": "A compiler that measures the regions of what it compiles.",
    "measure": "Every region's time over thread counts.",
    "compare": "Hold predictions against measurements.",
    "run": "Run a program with each region on its hinted threads.",
}


class _Lazy(click.Group):
    """A group whose commands live in `regionpredict.cli.<name>`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"regionpredict.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="regionpredict")
def group() -> None:
    """Says for each OpenMP loop, before the job is submitted, how many packages and threads of a
    machine it can use, why, and how sure it is.
    """


def program() -> None:
    """The entry point: `main`, and no time spent on taking its values apart one by one."""
    code = 0
    try:
        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = code or 1
    except OSError as error:
        click.echo(f"regionpredict: {unwritable(error)}", err=True)
        code = code or 1
    with contextlib.suppress(OSError, ValueError):  # closed, or nobody reads it
        sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(code)


def main() -> None:
    """Runs a command: a wrong input is one line and exit code 1, a wrong call one line and 2."""
    gc.disable()  # a run makes millions of small values and hardly a cycle: it takes a fifth less
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be text
    try:
        code = group(prog_name="regionpredict", standalone_mode=False)
        if isinstance(code, int) and code:  # of click's Exit, which it hands back
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
        _show(error)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.filename is not None:  # not of a stream
            raise
        discard_standard_output()
        click.echo(f"regionpredict: {unwritable(error)}", err=True)
        sys.exit(1)


def _show(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "regionpredict"
    click.echo(f"regionpredict: {error.format_message()}; see '{command} --help'", err=True)
