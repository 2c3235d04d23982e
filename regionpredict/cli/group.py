"""The `regionpredict` group, which imports a command's module when it is called."""

from __future__ import annotations

import os

import click

from regionpredict import __version__
from regionpredict.cli.colour import CHOICES, choose_colour
from regionpredict.cli.config_place import nearest_config
from regionpredict.cli.lazy_group import LazyGroup

# One line of help per command, so that `--help` imports no command.
COMMANDS = {
    "analyze": "List facts about every parallel loop, from the source alone.",
    "predict": "Predict the packages (sockets) and threads each parallel loop can use.",
    "sizes": "List the unknown sizes that decide the hints, as a file to fill in.",
    "explain": "Explain one region's hint, or show the page of a rule.",
    "machines": "List, show, check and detect machine models.",
    "calibrate": "Measure this host and write its machine model.",
    "fit": "Fit empirical scaling models to measurements.",
    "isoefficiency": "Find the size, or the processors, that keep an efficiency.",
    "expect": "Test scalability expectations.",
    "tasks": "Analyze task graphs: parallelism, replay, isoefficiency.",
    "cc": "Compile a program so that it measures its regions.",
    "measure": "Measure every region's time over thread counts.",
    "compare": "Compare predictions with measurements.",
    "diff": "Show changes in the hints between two trees, commits or hint files.",
    "lsp": "Show hints in an editor (language server protocol).",
    "study": "Predict by both models, measure, and score each model.",
    "bench": "Measure synthetic loops on this host next to both models.",
    "coschedule": "Assign cores to programs that share a node.",
    "trace": "Analyze MPI and OpenMP traces: wait states, critical path, efficiency.",
    "run": "Run a program with each region on its hinted threads.",
    "cache": "Show or clear the cache of results.",
}

ON_SOURCES = ("analyze", "predict", "sizes", "explain", "diff", "lsp")
"""The commands that use all settings of regionpredict.toml."""
ON_MACHINES = ("bench", "coschedule", "study")
"""The commands that use only the machine in regionpredict.toml."""
CONFIG = "regionpredict.config"
"""The key in click's context for the values of regionpredict.toml."""


@click.group(
    cls=LazyGroup, lines=COMMANDS, module="regionpredict.cli.",
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.version_option(__version__, prog_name="regionpredict")
@click.option("--no-config", is_flag=True, help="Ignore regionpredict.toml.")
@click.option(
    "--color", "colour", type=click.Choice(CHOICES), default="auto",
    show_default=True, help="Color in tables and notes. auto: on a terminal only.",
)  # fmt: skip
@click.pass_context
def group(ctx: click.Context, no_config: bool, colour: str) -> None:
    """Predicts how many packages (sockets) and threads each OpenMP loop can use, explains why,
    and states its confidence, without running the program.
    """
    choose_colour(ctx, colour, os.environ)
    path = None if no_config else nearest_config()
    if path is None or ctx.invoked_subcommand not in (*ON_SOURCES, *ON_MACHINES):
        return
    from regionpredict.cli.config_file import read_config

    settings = read_config(path)
    click.echo(f"options from {path}", err=True)
    if ctx.invoked_subcommand in ON_MACHINES:
        settings = {name: value for name, value in settings.items() if name == "machine_name"}
    ctx.meta[CONFIG] = settings
    single = {name: value for name, value in settings.items() if not isinstance(value, tuple)}
    ctx.default_map = {ctx.invoked_subcommand: single}
