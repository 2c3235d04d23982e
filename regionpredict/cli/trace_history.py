"""`regionpredict trace history RESULT...`: shows efficiency factors over versions of a program."""

from __future__ import annotations

from pathlib import Path

import click

from regionpredict.cli.output import result_options, write_result


@click.command("history")
@click.argument(
    "results", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RESULT..."
)
@result_options("table json html")
@click.option(
    "--badge",
    "picture",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a badge with the parallel efficiency of the last version to this SVG file.",
)
def command(results: tuple[Path, ...], form: str, output: str | None, picture: Path | None) -> None:
    """Show the efficiency factors of several versions of a program.

    RESULT is the JSON of regionpredict trace factors for one version, for example one commit.
    Its name without .json is that of the version. The order of the files is that of the versions.
    """
    from regionpredict.report.factor_history import badge, history_document
    from regionpredict.report.rendered import rendered
    from regionpredict.trace.factor_history import read_version

    versions = [read_version(path) for path in results]
    if picture is not None:
        write_result(badge(versions), picture, verbatim=True)
    write_result(rendered(history_document(versions), form), output)
