"""`regionpredict trace`: traces of MPI and OpenMP programs, read and analysed."""

from __future__ import annotations

import click

from regionpredict.cli.lazy_group import LazyGroup

# name -> one line of help: `--help` imports no command.
COMMANDS = {
    "record": "Run an MPI program and record its calls as an OTF2 archive.",
    "waits": "Wait states by kind, call path and rank.",
    "delays": "What causes the waits, and how they spread.",
    "imbalance": "How unevenly work is distributed, and whether that changes.",
    "what-if": "What the run would gain without the delays of a call path.",
    "convert": "A trace as a store in Parquet, read back in parts.",
    "export": "The timeline with the critical path, for Perfetto.",
    "critical-path": "What the run's length is made of, and what imbalance on it costs.",
    "factors": "Load balance, serialisation and transfer of runs, and on more processes.",
}


@click.group("trace", cls=LazyGroup, lines=COMMANDS, module="regionpredict.cli.trace_")
def command() -> None:
    """Read and analyse traces of MPI and OpenMP programs."""
