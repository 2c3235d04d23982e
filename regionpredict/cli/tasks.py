"""`regionpredict tasks`: task graphs of programs: record, show, simulate, replay, isoefficiency."""

from __future__ import annotations

import importlib

import click

# name -> one line of help: `--help` imports no command.
COMMANDS = {
    "record": "Run a program and record its task graph.",
    "show": "Work, depth, parallelism, and the lines that they come from.",
    "simulate": "A graph's time on threads that this machine does not have.",
    "replay": "A graph's time on this machine's threads, without contention.",
    "isoefficiency": "Which size keeps an efficiency on p cores, and what stands in the way.",
}


class _Lazy(click.Group):
    """A group whose commands live in `regionpredict.cli.tasks_<name>`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"regionpredict.cli.tasks_{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy)
def command() -> None:
    """Task graphs of OpenMP programs: their parallelism, and what keeps them from using it."""
