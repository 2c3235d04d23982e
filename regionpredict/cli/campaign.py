"""Selects and reports the runs of a measuring campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from regionpredict.cli.output import write_standard_output
from regionpredict.errors import InputError

if TYPE_CHECKING:
    from regionpredict.measure.records import Campaign


def kept_runs_text(output: Path) -> str:
    """Describes how many runs FILE contains."""
    from regionpredict.measure.store import read_campaign

    try:
        count = len(read_campaign(output).runs)
    except InputError:
        count = 0
    return f"{count} run{'' if count == 1 else 's'} kept in {output}"


def without_disturbed(campaign: Campaign, path: Path) -> Campaign:
    """Returns the campaign's undisturbed runs. Omitted runs are reported on standard error. Raises
    InputError if no run remains.
    """
    disturbed = disturbed_text(campaign)
    if not disturbed:
        return campaign
    quiet = campaign.undisturbed
    if not quiet.measured:
        raise InputError(
            disturbed, remedy="measure on a quiet host, or add --with-disturbed", path=str(path)
        )
    click.echo(f"note: {path}: {disturbed}, and left out", err=True)
    return quiet


def runs_for_a_page(campaign: Campaign, path: Path) -> tuple[Campaign, InputError | None]:
    """Returns the undisturbed runs. If all are disturbed, returns all of them, and the error to
    raise after the page is written.
    """
    try:
        return without_disturbed(campaign, path), None
    except InputError as error:
        return campaign, error


def disturbed_text(campaign: Campaign) -> str:
    """Describes the number of disturbed runs and their disturbance, or returns an empty text."""
    from regionpredict.report.measurements import disturbed_runs

    return disturbed_runs(campaign)


def show_campaign(campaign: Campaign, form: str | None) -> None:
    """Prints the regions' times as a table, CSV or JSON. None means that there is no campaign. Runs
    with an exit code other than 0 are reported on standard error.
    """
    from regionpredict.report.measurements import (
        failed_runs,
        measurements_document,
    )
    from regionpredict.report.rendered import rendered

    failed = failed_runs(campaign)
    if failed:
        click.echo("note: " + "\n".join(failed), err=True)
    if form is None:
        return
    write_standard_output(rendered(measurements_document(campaign), form))
