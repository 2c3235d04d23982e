"""A group of commands whose modules are imported when they are called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from regionpredict.cli.examples import with_examples


class LazyGroup(click.Group):
    """A command group that imports a command only when it runs. `lines` has a line of help for each
    command, in the order of `--help`, so that `--help` imports no command. `module` is the prefix
    of a command's module.
    """

    def __init__(self, *args: Any, lines: Mapping[str, str], module: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.lines = lines
        self.module = module

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of all commands."""
        return list(self.lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports a command from its module and adds its examples. None for an unknown command."""
        if cmd_name not in self.lines:
            return None
        module = importlib.import_module(self.module + cmd_name.replace("-", "_"))
        command: click.Command = module.command
        inside = self.module.removeprefix("regionpredict.cli.").replace("_", " ")
        return with_examples(command, inside + cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the requested command. The error for an unknown one suggests the nearest name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib  # imported here, so that --help is fast

            near = difflib.get_close_matches(args[0], self.lines, 1)
            if not near or args[0].startswith("-"):
                raise
            message = f"{error.format_message().rstrip('.')} (did you mean '{near[0]}'?)"
            raise click.UsageError(message, error.ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the help lines of the commands unchanged."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines.items()))
