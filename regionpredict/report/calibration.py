"""What a calibration from measurements found, as text."""

from __future__ import annotations

from collections.abc import Mapping

from regionpredict.compare.calibration import SaturationCalibration
from regionpredict.compare.calibration_density import DensityCalibration
from regionpredict.compare.calibration_samples import Samples
from regionpredict.compare.success import Rate
from regionpredict.machine.corrections import DENSITY_FACTORS, FACTORS
from regionpredict.report.quantities import plural


def samples_text(samples: Samples, runs: int) -> str:
    """What was fitted to, and what was left out for which reason."""
    counts = ", ".join(str(n) for n in samples.counts)
    lines = [
        f"{plural(len(samples.samples), 'region')} of {plural(len(samples.programs), 'program')} "
        f"on {counts} threads, {plural(runs, 'run')}"
    ]
    lines += [f"  left out: {n} {reason}" for reason, n in sorted(samples.left_out.items())]
    return "\n".join(lines) + "\n"


def saturation_text(calibration: SaturationCalibration) -> str:
    """The cross-validated scores beside the uncorrected and the trivial ones, and the factors."""
    before, after = calibration.before, calibration.after
    lines = [
        f"saturation model, cross-validated over {calibration.folds} folds of programs",
        f"  {'':<34} {'before':>8} {'after':>8}",
        _row("error of the speedup, median", before.speedup_error, after.speedup_error),
    ]
    lines += [_single(name, error) for name, error in calibration.trivial_errors.items()]
    lines.append(_row("error of the time, median", before.time_error, after.time_error))
    lines.append(
        f"  {'predicted over measured time':<34} {before.time_ratio:7.3g}x {after.time_ratio:7.3g}x"
    )
    lines.append(_row("right hints", _share(before.hints), _share(after.hints)))
    lines += [_single(name, _share(rate)) for name, rate in calibration.trivial.items()]
    lines.append(
        f"  the speedup's error falls in {100 * calibration.sure:.1f} % of resampled sets of "
        f"programs, the time's in {100 * calibration.sure_times:.1f} %"
    )
    if calibration.at_bound:
        lines.append(
            f"  {', '.join(calibration.at_bound)}: as far as a factor may go; look for the figure "
            "of the machine that is wrong"
        )
    if calibration.helps:
        lines += _factors(calibration.factors, calibration.spread)
    else:
        lines.append(f"  the correction does not help, {calibration.against}: no factor is written")
    return "\n".join(lines) + "\n"


def density_text(calibration: DensityCalibration | None, packages: int) -> str:
    """The density model's cross-validated success beside trivial ones, factors and boundaries."""
    if calibration is None:
        why = "one package" if packages == 1 else "not measured on two counts of whole packages"
        return f"density model: {why}, nothing to decide\n"
    lines = [
        f"density model, cross-validated over {calibration.folds} folds of programs",
        f"  {'':<34} {'before':>8} {'after':>8}",
        _row("right hints", _share(calibration.before), _share(calibration.after)),
    ]
    lines += [_single(name, _share(rate)) for name, rate in calibration.trivial.items()]
    lines.append(
        f"  more are right in {100 * calibration.sure:.1f} % of resampled sets of programs"
    )
    if not calibration.helps:
        return "\n".join([*lines, "  the correction does not help: no weight is written"]) + "\n"
    named = zip(DENSITY_FACTORS, calibration.fitted.factors, strict=True)
    lines.append("  weights: " + ", ".join(f"{name} x {factor:g}" for name, factor in named))
    bounds = ", ".join(f"{100 * bound:.1f} %" for bound in calibration.fitted.thresholds)
    lines.append(f"  boundaries of the areas: {bounds}")
    return "\n".join(lines) + "\n"


def _factors(factors: Mapping[str, float], spread: Mapping[str, tuple[float, float]]) -> list[str]:
    lines = ["  factors, and their range over the folds"]
    for name in FACTORS:
        if name in factors:
            low, high = spread[name]
            lines.append(f"    {name:<10} {factors[name]:6.3g}  ({low:.3g} to {high:.3g})")
    return lines


def _share(rate: Rate) -> float:
    return rate.share if rate.share is not None else 0.0


def _row(name: str, before: float, after: float) -> str:
    return f"  {name:<34} {100 * before:6.1f} % {100 * after:6.1f} %"


def _single(name: str, value: float) -> str:
    return f"    {name:<32} {100 * value:6.1f} %"
