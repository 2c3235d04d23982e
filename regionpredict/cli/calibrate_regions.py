"""`regionpredict calibrate --from`: a machine's corrections from measured regions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regionpredict.atomic_file import write_file
from regionpredict.cli.campaign import without_disturbed
from regionpredict.cli.source_options import run_analysis
from regionpredict.documents import MOST_YAML_BYTES, read_text
from regionpredict.errors import InputError

if TYPE_CHECKING:
    from regionpredict.machine import Machine
    from regionpredict.measure.records import Campaign


def calibrate_regions(
    paths: Sequence[str], measurements: Sequence[Path], machine_name: str, output: Path | None,
    *, statistic: str, with_disturbed: bool, source: dict[str, Any],
) -> None:  # fmt: skip
    """Fits, cross-validates, tells, and writes the machine file; no `output`, no file.

    `source` are the common options of commands that read source code.
    """
    from regionpredict.compare.calibration import (
        Provenance,
        calibrate_saturation,
        check_enough,
        corrections_of,
    )
    from regionpredict.compare.calibration_density import calibrate_density, with_density
    from regionpredict.compare.calibration_samples import gather, hints_of
    from regionpredict.machine.amend import amended, uncorrected
    from regionpredict.machine.reader import read
    from regionpredict.machine.shipped import file_of, load_file
    from regionpredict.measure.summary import summarise
    from regionpredict.pipeline import predict
    from regionpredict.report.calibration import density_text, samples_text, saturation_text

    path, shown = file_of(machine_name)
    load_file(path, shown)  # says what is wrong with it, at its own lines
    bare = uncorrected(read_text(path, "give a YAML file", most=MOST_YAML_BYTES, shown=shown))
    machine = read(bare, shown)
    campaigns = [_campaign(path, machine, with_disturbed=with_disturbed) for path in measurements]
    counts = sorted({n for campaign in campaigns for n in campaign.threads if n <= machine.cores})
    analysis = run_analysis(paths, **source, timings=False, flows=True)
    plain = predict(analysis, machine, "saturation", threads=counts).predictions
    samples = gather(
        plain, hints_of(plain, machine), [s for campaign in campaigns for s in summarise(campaign)],
        statistic=statistic,
    )  # fmt: skip
    check_enough(samples)
    runs = sum(len(campaign.measured) for campaign in campaigns)
    click.echo(samples_text(samples, runs), nl=False)
    result = calibrate_saturation(
        lambda other: predict(analysis, other, "saturation", threads=counts).predictions,
        machine,
        samples,
    )
    click.echo(saturation_text(result), nl=False)
    density = calibrate_density(predict(analysis, machine, "density").predictions, machine, samples)
    click.echo(density_text(density, machine.packages), nl=False)
    names = ", ".join(path.name for path in measurements)
    date = max(campaign.started for campaign in campaigns)[:10]
    corrections = corrections_of(result, samples, Provenance(names, date, runs))
    if density is not None:
        corrections = with_density(corrections, density)
    host = campaigns[0].host.name
    source_name = f"regionpredict calibrate --from {names}, measured on {host}"
    text = amended(bare, corrections, source_name)
    read(text, shown)  # what is written can be read
    if output is None:
        click.echo("nothing written: --dry-run", err=True)
        return
    write_file(output, text)
    click.echo(f"written: {output}", err=True)


def _campaign(path: Path, machine: Machine, *, with_disturbed: bool) -> Campaign:
    """The measurements in a file, which must be of a host with the machine's shape."""
    from regionpredict.measure.store import read_campaign

    campaign = read_campaign(path)
    host = campaign.host
    if (host.packages, host.cores_per_package) != (machine.packages, machine.cores_per_package):
        raise InputError(
            f"measured on {host.packages} x {host.cores_per_package} cores, {machine.name} has "
            f"{machine.packages} x {machine.cores_per_package}",
            remedy="give -m the model of the host that was measured", path=str(path),
        )  # fmt: skip
    if not campaign.measured:
        raise InputError("no run in it", remedy="measure again with --resume", path=str(path))
    return campaign if with_disturbed else without_disturbed(campaign, path)
