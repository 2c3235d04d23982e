"""`regionpredict tasks`: task graphs of programs: record, show, simulate, replay, isoefficiency."""

from __future__ import annotations

import click

from regionpredict.cli.lazy_group import LazyGroup

# name -> one line of help: `--help` imports no command.
COMMANDS = {
    "record": "Run a program and record its task graph.",
    "show": "Work, depth, parallelism, and the lines that they come from.",
    "simulate": "A graph's time on threads that this machine does not have.",
    "replay": "A graph's time on this machine's threads, without contention.",
    "isoefficiency": "Which size keeps an efficiency on p cores, and what stands in the way.",
}


@click.group(cls=LazyGroup, lines=COMMANDS, module="regionpredict.cli.tasks_")
def command() -> None:
    """Task graphs of OpenMP programs: their parallelism, and what keeps them from using it."""
