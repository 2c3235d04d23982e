"""`regionpredict calibrate --from`: a machine's corrections from measured regions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from regionpredict.atomic_file import write_file
from regionpredict.cli.campaign import without_disturbed
from regionpredict.cli.output import write_result, write_standard_output
from regionpredict.cli.prediction_request import as_built
from regionpredict.cli.source_options import run_analysis
from regionpredict.documents import MOST_YAML_BYTES, read_text
from regionpredict.errors import InputError

if TYPE_CHECKING:
    from regionpredict.compare.calibration_samples import Samples
    from regionpredict.machine import Machine
    from regionpredict.measure.records import Campaign
    from regionpredict.pipeline import Analysis
    from regionpredict.predict import Prediction


class _Part(NamedTuple):
    """The sources at one problem size, and their measurements."""

    analysis: Analysis
    campaigns: tuple[Campaign, ...]


def calibrate_regions(
    paths: Sequence[str], measurements: Sequence[Path], machine_name: str, output: Path | None,
    *, statistic: str, with_disturbed: bool, from_models: bool, source: dict[str, Any],
    report: Path | None = None,
) -> None:  # fmt: skip
    """Fits and cross-validates corrections, reports them, and writes the machine file.

    Without `output`, it writes no file. `report` is the HTML file to write. `from_models`: each
    file of measurements has one size, and factors are fitted to the regions' own models. `source`
    are the common options of commands that read source code.
    """
    from regionpredict.compare.calibration import (
        Provenance,
        calibrate_saturation,
        check_enough,
        corrections_of,
    )
    from regionpredict.compare.calibration_density import calibrate_density, with_density
    from regionpredict.compare.calibration_factors import fit_factors
    from regionpredict.compare.calibration_models import fit_to_models
    from regionpredict.compare.calibration_samples import merged_samples
    from regionpredict.machine.amend import amended, uncorrected
    from regionpredict.machine.reader import read
    from regionpredict.machine.shipped import file_of, load_file
    from regionpredict.pipeline import predict
    from regionpredict.report.calibration import CalibrationResult, calibration_document
    from regionpredict.report.rendered import rendered

    path, shown = file_of(machine_name)
    load_file(path, shown)  # reports errors with line numbers of the machine file
    bare = uncorrected(read_text(path, "give a YAML file", most=MOST_YAML_BYTES, shown=shown))
    machine = read(bare, shown)
    campaigns = [
        _read_campaign_of_machine(path, machine, with_disturbed=with_disturbed)
        for path in measurements
    ]
    counts = sorted({n for campaign in campaigns for n in campaign.threads if n <= machine.cores})
    if from_models:
        files = zip(measurements, campaigns, strict=True)
        parts = [_sources_at_size(paths, path, campaign, source) for path, campaign in files]
    else:
        analysis = run_analysis(paths, **source, timings=False, flows=True)
        parts = [_Part(analysis, tuple(campaigns))]

    def predictions(part: _Part, other: Machine) -> Sequence[Prediction]:
        made = predict(part.analysis, other, "saturation", threads=counts, advised=False)
        return made.predictions

    samples = merged_samples(
        [_gather_samples(part, predictions(part, machine), machine, statistic) for part in parts]
    )
    runs = sum(len(campaign.measured) for campaign in campaigns)
    check_enough(samples)
    result = calibrate_saturation(
        lambda other: [prediction for part in parts for prediction in predictions(part, other)],
        machine,
        samples,
        fitted=fit_to_models if from_models else fit_factors,
    )
    density = None
    if not from_models:
        scored = predict(parts[0].analysis, machine, "density").predictions
        density = calibrate_density(scored, machine, samples)
    document = calibration_document(CalibrationResult(
        machine.name, machine.packages, samples, runs, result, density, from_models
    ))  # fmt: skip
    write_standard_output(rendered(document, "table"))
    if report is not None:
        write_result(rendered(document, "html"), report)
    names = ", ".join(path.name for path in measurements)
    date = max(campaign.started for campaign in campaigns)[:10]
    corrections = corrections_of(result, samples, Provenance(names, date, runs))
    if density is not None:
        corrections = with_density(corrections, density)
    how = " --from-models" if from_models else ""
    text = amended(
        bare, corrections,
        f"regionpredict calibrate{how} --from {names}, measured on {campaigns[0].host.name}",
    )  # fmt: skip
    read(text, shown)  # check that the output is valid
    _write_machine(output, text)


def _write_machine(output: Path | None, text: str) -> None:
    if output is None:
        click.echo("nothing written: --dry-run", err=True)
        return
    write_file(output, text)
    click.echo(f"written: {output}", err=True)


def _sources_at_size(
    paths: Sequence[str], path: Path, campaign: Campaign, source: dict[str, Any]
) -> _Part:
    """The sources with the sizes and macros of one file of measurements."""
    from regionpredict.measure.recording import read_recording

    recorded = read_recording(path)
    built = {**source, "defines": as_built(source["defines"], recorded)}
    analysis = run_analysis(paths, **built, timings=False, flows=True, recorded=recorded)
    return _Part(analysis, (campaign,))


def _gather_samples(
    part: _Part, plain: Sequence[Prediction], machine: Machine, statistic: str
) -> tuple[Samples, int]:
    """Returns the samples of one part, and the number of its predictions."""
    from regionpredict.compare.calibration_samples import gather_samples, hints_of
    from regionpredict.measure.summary import summarise

    summaries = [s for campaign in part.campaigns for s in summarise(campaign)]
    return gather_samples(plain, hints_of(plain, machine), summaries, statistic=statistic), len(
        plain
    )


def _read_campaign_of_machine(path: Path, machine: Machine, *, with_disturbed: bool) -> Campaign:
    """Reads the measurements of a file. Raises InputError if the measured host has another shape
    than the machine.
    """
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
        raise InputError("it contains no run", remedy="measure again with --resume", path=str(path))
    return campaign if with_disturbed else without_disturbed(campaign, path)
