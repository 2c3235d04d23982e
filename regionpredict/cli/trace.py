"""`regionpredict trace`: analyzes traces of MPI and OpenMP programs."""

from __future__ import annotations

import click

from regionpredict.cli.lazy_group import LazyGroup

# name -> one line of help: `--help` imports no command.
COMMANDS = {
    "record": "Run an MPI program and record its calls in an OTF2 archive.",
    "waits": "Show wait states by kind, call path and rank.",
    "delays": "Find the causes of waits, and how they propagate.",
    "messages": "Count messages by sender, receiver and size.",
    "imbalance": "Show how unevenly work is distributed, and whether it changes.",
    "what-if": "Estimate the gain if a call path had no delays.",
    "convert": "Convert a trace to Parquet.",
    "export": "Export the timeline and the critical path for Perfetto.",
    "critical-path": "Show the critical path and the cost of imbalance on it.",
    "factors": "Load balance, serialisation and transfer of runs, and on more processes.",
    "history": "Show efficiency factors over versions of a program.",
}


@click.group("trace", cls=LazyGroup, lines=COMMANDS, module="regionpredict.cli.trace_")
def command() -> None:
    """Analyze traces of MPI and OpenMP programs."""
