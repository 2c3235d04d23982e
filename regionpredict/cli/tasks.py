"""`regionpredict tasks` on task graphs: record, show, simulate, replay, isoefficiency."""

from __future__ import annotations

import click

from regionpredict.cli.lazy_group import LazyGroup

# name -> one line of help: `--help` imports no command.
COMMANDS = {
    "record": "Run a program and record its task graph.",
    "show": "Show work, depth, parallelism, and their source lines.",
    "simulate": "Simulate a graph on more threads than this machine has.",
    "replay": "Replay a graph on this machine, without contention.",
    "isoefficiency": "Find the size that keeps an efficiency on p cores, and what limits it.",
}


@click.group(cls=LazyGroup, lines=COMMANDS, module="regionpredict.cli.tasks_")
def command() -> None:
    """Task graphs of OpenMP programs: their parallelism, and what keeps them from using it."""
