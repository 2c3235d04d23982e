"""`regionpredict trace`: traces of MPI and OpenMP programs, read and analysed."""

from __future__ import annotations

import importlib

import click

# name -> one line of help: `--help` imports no command.
COMMANDS = {
    "record": "Run an MPI program and record its calls as an OTF2 archive.",
    "waits": "Wait states by kind, call path and rank.",
    "delays": "What causes the waits, and how they spread.",
    "export": "The timeline with the critical path, for Perfetto.",
    "critical-path": "What the run's length is made of, and what imbalance on it costs.",
    "factors": "Load balance, serialisation and transfer of runs, and on more processes.",
}


class _Lazy(click.Group):
    """A group whose commands live in `regionpredict.cli.trace_<name>`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"regionpredict.cli.trace_{cmd_name.replace('-', '_')}")
        found: click.Command = module.command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group("trace", cls=_Lazy, help="Read and analyse traces of MPI and OpenMP programs.")
def command() -> None:
    """The group of the commands above."""
