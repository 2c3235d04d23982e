"""The `regionpredict` group: loads a command's file only when it is called."""

from __future__ import annotations

import os

import click

from regionpredict import __version__
from regionpredict.cli.colour import CHOICES, choose_colour
from regionpredict.cli.config_place import nearest_config
from regionpredict.cli.lazy_group import LazyGroup

# name -> one line of help: `--help` imports no command.
COMMANDS = {
    "analyze": "Facts of every parallel loop, from the source alone.",
    "predict": "Packages and threads that every parallel loop can use on a machine.",
    "sizes": "The names without a value that decide the hints, as a file to fill in.",
    "explain": "The derivation of one region's hint, or the page of a rule.",
    "machines": "List, show, check and detect machine models.",
    "calibrate": "Measure this host into a machine model.",
    "fit": "Empirical scaling models from measurements.",
    "isoefficiency": "The size, or the processors, that keep an efficiency.",
    "expect": "Scalability expectations as a test.",
    "tasks": "Task graphs: parallelism, replay, isoefficiency.",
    "cc": "A compiler that measures the regions of what it compiles.",
    "measure": "Every region's time over thread counts.",
    "compare": "Hold predictions against measurements.",
    "diff": "What changed in the hints between two trees, commits or hint files.",
    "lsp": "Hints in an editor, by the language server protocol.",
    "study": "Predict by both models, measure, and say how right each was.",
    "coschedule": "Who gets which cores when programs share a node.",
    "trace": "Wait states, the critical path and efficiency factors of MPI and OpenMP traces.",
    "run": "Run a program with each region on its hinted threads.",
    "cache": "Show or clear what is kept between calls.",
}

ON_SOURCES = ("analyze", "predict", "sizes", "explain", "diff", "lsp")
"""The commands that take all of regionpredict.toml."""
ON_MACHINES = ("coschedule", "study")
"""Those that take its machine alone."""
CONFIG = "regionpredict.config"
"""Where in the context the file's values are."""


@click.group(
    cls=LazyGroup, lines=COMMANDS, module="regionpredict.cli.",
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.version_option(__version__, prog_name="regionpredict")
@click.option("--no-config", is_flag=True, help="Read no regionpredict.toml.")
@click.option(
    "--color", "colour", type=click.Choice(CHOICES), default="auto",
    show_default=True, help="Colour in tables and notes; auto: on a terminal.",
)  # fmt: skip
@click.pass_context
def group(ctx: click.Context, no_config: bool, colour: str) -> None:
    """Says for each OpenMP loop, before the job is submitted, how many packages and threads of a
    machine it can use, why, and how sure it is.
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
