"""Rejects options that have no effect in a call."""

from __future__ import annotations

from collections.abc import Iterable

import click

from regionpredict.errors import UsageError


def refuse_options(ctx: click.Context, names: Iterable[str], reason: str) -> None:
    """Raises UsageError for the first parameter among `names` on the command line.

    `reason` follows the name of the option, as in "--cc cannot be used with --from".
    """
    refused = set(names)
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name in refused and source is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(f"{parameter.opts[-1]} {reason}", remedy="leave it out")
