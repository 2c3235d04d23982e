"""`regionpredict cc`: a compiler that adds measurements to regions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from regionpredict.cli.cache import cache_folder
from regionpredict.errors import plural

if TYPE_CHECKING:
    from regionpredict.measure.compiler_call import CompilerCall


@click.command("cc", context_settings={"ignore_unknown_options": True})
@click.option("-v", "--verbose", is_flag=True, help="Print how many regions each call measures.")
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="-- COMPILER OPTIONS...")
def command(argv: tuple[str, ...], verbose: bool) -> None:
    """Compile with COMPILER, and instrument every parallel loop.

    For example CC="regionpredict cc -- gcc". Sources are not changed, and calls without OpenMP
    code go to the compiler unchanged. At its end, the program appends its measurements to the
    file in the variable REGIONPREDICT_OUTPUT. `regionpredict measure` sets it.
    """
    from regionpredict.errors import UsageError
    from regionpredict.measure.compiler_call import parse_call
    from regionpredict.measure.compiler_passthrough import exec_compiler

    if not argv:
        raise UsageError("no compiler", remedy="write regionpredict cc -- gcc -fopenmp ...")
    call = parse_call(argv)
    outcome = None
    if call.measurable:
        from regionpredict.measure.wrapper import compile_measured

        outcome = compile_measured(call, cache_folder())
    if outcome is None:
        if verbose:
            click.echo("regionpredict: no OpenMP region in this compiler call", err=True)
        exec_compiler([*argv, *_linked_library(call)])
        return
    for note in outcome.notes:
        click.echo(f"regionpredict: {note}", err=True)
    if verbose:
        counted = [(outcome.regions, "region"), (outcome.teams, "team")]
        measured = " and ".join(plural(count, what) for count, what in counted if count)
        measured = measured or "no OpenMP region"
        click.echo(f"regionpredict: {measured} in this compiler call", err=True)
    sys.exit(outcome.code)


def _linked_library(call: CompilerCall) -> list[str]:
    """Returns the library for linking objects that do not contain it."""
    if not (call.lto and call.links):
        return []
    from regionpredict.measure.runtime_library import runtime_object

    return [str(runtime_object(call.driver, call.abi_options(), cache_folder()))]
