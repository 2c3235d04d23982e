"""Documents the correction of a machine model by measured regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regionpredict.compare.calibration import SaturationCalibration
from regionpredict.compare.calibration_density import DensityCalibration
from regionpredict.compare.calibration_samples import Samples
from regionpredict.compare.success import Rate
from regionpredict.machine.corrections import DENSITY_FACTORS, FACTORS
from regionpredict.report.document import Block, Cell, Column, Document, Facts, Section, Table
from regionpredict.report.html.blocks import curve, line, marks
from regionpredict.report.quantities import plural, show_factor, show_percent, show_seconds


class CalibrationResult(NamedTuple):
    """The result of `calibrate --from`. `density` is None if only the saturation model was fitted
    (`saturation_alone`), or if the measurements do not separate packages."""

    machine: str
    packages: int
    samples: Samples
    runs: int
    saturation: SaturationCalibration
    density: DensityCalibration | None
    saturation_alone: bool = False


def calibration_document(result: CalibrationResult) -> Document:
    """Returns the cross-validated scores next to uncorrected and trivial ones, and the factors."""
    samples, density = result.samples, result.density
    fitted = (
        f"{plural(len(samples.samples), 'region')} of {plural(len(samples.programs), 'program')} "
        f"on {', '.join(map(str, samples.counts))} threads, {plural(result.runs, 'run')}"
    )
    overview = [("Fitted to", fitted)]
    overview += [("Left out", f"{count} {why}") for why, count in sorted(samples.left_out.items())]
    if density is None and not result.saturation_alone:
        one = result.packages == 1
        why = "one package" if one else "not measured on two counts of whole packages"
        overview.append(("Density model", f"{why}, nothing to decide"))
    sections = [
        Section("Overview", [Facts(overview)]),
        Section("Saturation model", saturation_blocks(result.saturation)),
        Section("Density model", [] if density is None else _density_blocks(density)),
        Section("Regions", lambda: [_region_table(result)], "page"),
    ]
    lead = [
        f"Saturation model: {_outcome_text(result.saturation)}.",
        "Errors are on programs that were left out of the fit.",
    ]
    files = [sample.summary.last.file for sample in samples.samples]
    return Document(f"Correction of {result.machine}", lead, sections, files=files)


def saturation_blocks(calibration: SaturationCalibration) -> list[Block]:
    """Returns the outcome, the scores and the factors of the saturation model."""
    overview = [
        ("Outcome", _outcome_text(calibration)),
        (
            "Confidence",
            f"the speedup's error falls in {100 * calibration.sure:.1f} % of resampled sets of "
            f"programs, the time's in {100 * calibration.sure_times:.1f} %",
        ),
    ]
    if calibration.at_bound:
        overview.append((
            ", ".join(calibration.at_bound),
            "at the limit of the factor; check this figure of the machine",
        ))  # fmt: skip
    return [_score_table(calibration), Facts(overview), *_factor_table(calibration)]


def _outcome_text(calibration: SaturationCalibration) -> str:
    if calibration.helps:
        return "the correction helps"
    return f"the correction does not help, {calibration.against}: no factor is written"


def _score_table(calibration: SaturationCalibration) -> Table:
    before, after = calibration.before, calibration.after
    trivial: list[list[Cell]] = [
        [f"  if every hint were '{name}'", ("", None), error]
        for name, error in calibration.trivial_errors.items()
    ]
    rows: list[list[Cell]] = [
        ["Error of the speedup, median", before.speedup_error, after.speedup_error],
        *trivial,
        ["Error of the time, median", before.time_error, after.time_error],
        ["Predicted over measured time", (f"{before.time_ratio:.3g}x", before.time_ratio),
         (f"{after.time_ratio:.3g}x", after.time_ratio)],
    ]  # fmt: skip
    return _cross_validated(
        "Saturation", calibration.folds, calibration.trivial, rows, before.hints, after.hints
    )


def _cross_validated(
    model: str, folds: int, trivial: Mapping[str, Rate], scores: Sequence[Sequence[Cell]],
    before: Rate, after: Rate,
) -> Table:  # fmt: skip
    """Returns the scores, then the shares of right hints."""
    rows: list[Sequence[Cell]] = [
        *scores, ["Right hints", before.share, after.share],
        *([f"  if every hint were '{name}'", ("", None), rate.share]
          for name, rate in trivial.items()),
    ]  # fmt: skip
    columns = [Column("Score"), Column("Before", show_percent, unknown="?"),
               Column("After", show_percent, unknown="?")]  # fmt: skip
    return Table(f"{model} model, cross-validated over {folds} folds of programs", columns, rows)


def _factor_table(calibration: SaturationCalibration) -> list[Block]:
    shown = calibration.factors or calibration.fitted
    rows: list[list[Cell]] = []
    for name in FACTORS:
        if name in shown:
            low, high = calibration.spread.get(name, (shown[name], shown[name]))
            rows.append([
                name, shown[name], (f"{low:.3g} to {high:.3g}", low),
                "at its limit" if name in calibration.at_bound else "",
            ])  # fmt: skip
    columns = [Column("Term"), Column("Factor", "{:.3g}".format), Column("Over the folds", str,
               minor=True), Column("Remark", minor=True)]  # fmt: skip
    title = (
        "Factors of the terms"
        if calibration.factors
        else "Factors that were fitted, and not written"
    )
    return [Table(title, columns, rows)] if rows else []


def _density_blocks(calibration: DensityCalibration) -> list[Block]:
    share = 100 * calibration.sure
    overview = [("Confidence", f"more are right in {share:.1f} % of resampled sets of programs")]
    if calibration.helps:
        fitted = calibration.fitted
        weights = zip(DENSITY_FACTORS, map("{:.3g}".format, fitted.factors), strict=True)
        overview += [*weights, ("Boundaries", ", ".join(map(show_percent, fitted.thresholds)))]
    else:
        overview.append(("Outcome", "the correction does not help: no weight is written"))
    scores = _cross_validated(
        "Density", calibration.folds, calibration.trivial, [], calibration.before, calibration.after
    )
    return [scores, Facts(overview)]


def _region_table(result: CalibrationResult) -> Table:
    """Returns measured next to corrected times, each corrected by a fit without its program."""
    rows: list[list[Cell]] = []
    details: list[list[Block]] = []
    pairs = zip(result.samples.samples, result.saturation.predicted, strict=True)
    for sample, predicted in pairs:
        measured, last = sample.seconds, sample.summary.last
        both = sorted(set(measured) & set(predicted))
        alone = both[0] if both else None
        ratio = None if alone is None else predicted[alone] / measured[alone]
        rows.append([
            f"{last.file}:{last.line}", sample.program,
            None if alone is None else measured[alone],
            None if alone is None else predicted[alone], ratio,
        ])  # fmt: skip
        details.append([curve("Time of one execution", "threads", "seconds", [
            line("corrected, by a fit without this program", [(n, predicted[n]) for n in both]),
            marks("measured", [(n, measured[n]) for n in both], colour=1),
        ])])  # fmt: skip
    columns = [
        Column("Region"), Column("Program", choice=True, minor=True),
        Column("Measured", show_seconds, minor=True, unknown="?"),
        Column("Corrected", show_seconds, minor=True, unknown="?"),
        Column("Corrected over measured", show_factor, unknown="?"),
    ]  # fmt: skip
    title = "Regions, on the fewest threads that were measured"
    return Table(title, columns, rows, details.__getitem__)
