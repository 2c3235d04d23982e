"""Fits a machine's corrections to measurements, and scores them on programs that are left out of
the fit.

Entry points: `calibrate_saturation`, and `calibrate_density` in calibration_density.py. Scores are
cross-validated (Stone 1974). The programs are divided into folds, and each region is predicted with
corrections from the other folds' programs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut

from regionpredict.compare.calibration_factors import (
    MOST,
    FloatArray,
    Model,
    Predictor,
    factors_of,
    fit_factors,
    predicted_seconds,
)
from regionpredict.compare.calibration_samples import Sample, Samples, hints_of
from regionpredict.compare.success import Rate, baselines, success
from regionpredict.compare.verdicts import Comparison, compare
from regionpredict.errors import InputError, plural
from regionpredict.machine import Corrections, Machine, Quantity
from regionpredict.machine.corrections import FACTORS, Score
from regionpredict.predict import Prediction

IntArray = NDArray[np.int64]
Fitted = Callable[[Model, Sequence[int]], FloatArray]
"""Computes the logarithms of the factors, in the order of `FACTORS`, from only the samples at these
positions.
"""
FOLDS = 10
LEAST_PROGRAMS = 3
LEAST_REGIONS = 10
SURE = 0.9
"""A correction helps if it reduces the error in at least this share of resamplings of the
programs.
"""
_RESAMPLINGS = 1000
_CLOSE = 0.005
_AT_BOUND = 0.01  # tolerance for the logarithm of a factor


@dataclass(frozen=True, slots=True)
class Scores:
    """Errors as shares (medians over regions), and the hints' success rate.

    `speedup_error` is at the largest number of threads. `time_error` is for the time on one thread,
    and `time_ratio` is the predicted time divided by the measured one.
    """

    speedup_error: float
    time_error: float
    hints: Rate
    time_ratio: float


@dataclass(frozen=True, slots=True)
class SaturationCalibration:
    """The result of a fit: `factors` by name (empty if they do not help), and `fitted` with all of
    them.

    `before` has the scores of the uncorrected model, and `after` those of the corrected model,
    cross-validated, for the same regions. `trivial` is the success rate of trivial hints, and
    `trivial_errors` the median error of trivial speedups. `spread` has the smallest and the largest
    value of each factor over the folds. `sure` is the share of resamplings of the programs in which
    the speedup error decreases, and `sure_times` that for the time. `predicted` are the corrected
    times in seconds by thread count. Each sample is corrected by a fit without its program.
    """

    factors: Mapping[str, float]
    fitted: Mapping[str, float]
    spread: Mapping[str, tuple[float, float]]
    before: Scores
    after: Scores
    trivial: Mapping[str, Rate]
    trivial_errors: Mapping[str, float]
    sure: float
    sure_times: float
    folds: int
    predicted: tuple[Mapping[int, float], ...]

    @property
    def helps(self) -> bool:
        """Whether speedups or times certainly improve for programs left out of the fit, and nothing
        else gets worse.
        """
        return not self.against

    @property
    def at_bound(self) -> tuple[str, ...]:
        """Returns the factors at the limit of their range. Such a factor means that a figure of the
        machine is wrong, or that the regions have properties outside the model.
        """
        bound = math.log(MOST) - _AT_BOUND
        return tuple(name for name, factor in self.fitted.items() if abs(math.log(factor)) >= bound)

    @property
    def against(self) -> str:
        """Returns the reasons why the correction does not help. Empty if it helps."""
        before, after = self.before, self.after
        if self.at_bound:
            return f"{', '.join(self.at_bound)} at the bound of {MOST:g} times"
        if after.speedup_error > before.speedup_error + _CLOSE:
            return "the error of the speedup rises"
        if after.time_error > before.time_error + _CLOSE:
            return "the error of the time rises"
        if after.hints.right < before.hints.right:
            return "fewer hints are right"
        for name, error in self.trivial_errors.items():
            if after.speedup_error > error + _CLOSE:
                return f"the answer '{name}' is closer"
        for name, rate in self.trivial.items():
            if rate.right > after.hints.right and rate.low > (after.hints.share or 0.0):
                return f"the answer '{name}' is certainly right more often"
        falls = (
            (before.speedup_error - after.speedup_error, self.sure, "speedup"),
            (before.time_error - after.time_error, self.sure_times, "time"),
        )
        lower = [(sure, what) for gain, sure, what in falls if gain > _CLOSE]
        if not lower:
            return "the errors of speedup and time do not fall"
        if max(lower)[0] < SURE:
            return f"the error of the {max(lower)[1]} does not certainly decrease"
        return ""


class Provenance(NamedTuple):
    """Where samples come from: the names of the files, the day of the last campaign, and the number
    of runs.
    """

    measurements: str
    date: str
    runs: int


def corrections_of(
    result: SaturationCalibration, samples: Samples, provenance: Provenance
) -> Corrections:
    """Returns the content of the machine file. It always contains the scores, and the factors if
    they help.
    """
    before, after = result.before, result.after
    return Corrections(
        factors={
            name: Quantity(value, "", "measured", provenance.measurements)
            for name, value in result.factors.items()
        },
        date=provenance.date,
        measurements=provenance.measurements,
        programs=len(samples.programs),
        regions=len(samples.samples),
        runs=provenance.runs,
        cross_validated={
            "speedup_error": Score(before.speedup_error, after.speedup_error),
            "time_error": Score(before.time_error, after.time_error),
            "hint_success": Score(before.hints.share or 0.0, after.hints.share or 0.0),
        },
    )


def folds_of(programs: Sequence[str]) -> list[tuple[list[int], list[int]]]:
    """Divides sample positions into folds, as (training, test). Each program is in exactly one test
    part, and never in both parts of a fold.

    With at most ten programs, each is left out alone. Otherwise they are divided into ten folds.
    """
    splitter = LeaveOneGroupOut() if len(set(programs)) <= FOLDS else GroupKFold(n_splits=FOLDS)
    empty = np.zeros((len(programs), 1))
    return [
        ([int(i) for i in train], [int(i) for i in test])
        for train, test in splitter.split(empty, groups=list(programs))
    ]


def check_enough(samples: Samples) -> None:
    """Raises InputError if there are too few programs or regions for cross-validation."""
    programs, regions = len(samples.programs), len(samples.samples)
    if programs >= LEAST_PROGRAMS and regions >= LEAST_REGIONS:
        return
    left = "; ".join(f"{n} {reason}" for reason, n in samples.left_out.items())
    raise InputError(
        f"too few data to calibrate: {plural(regions, 'region')} of "
        f"{plural(programs, 'program')}" + (f" (left out: {left})" if left else ""),
        remedy=f"measure at least {LEAST_REGIONS} regions of {LEAST_PROGRAMS} programs, and give "
        "the sources, -D and --set that they were built with",
    )


def calibrate_saturation(
    predictor: Predictor, machine: Machine, samples: Samples, *, tolerance: float = 0.1,
    fitted: Fitted = fit_factors,
) -> SaturationCalibration:  # fmt: skip
    """Returns correction factors of the saturation model, with their cross-validated scores.

    `tolerance` is the relative loss of time at which a hint still counts as best. `fitted` computes
    factors from some of the samples. Raises InputError if there are too few samples.
    """
    check_enough(samples)
    model = Model(predictor, machine, samples.samples)
    nothing = np.zeros(len(FACTORS))
    plain = model.predictions(nothing)
    folds = folds_of([sample.program for sample in samples.samples])
    thetas, left_out = [], list(plain)
    steady = np.zeros(len(samples.samples))
    for train, test in folds:
        theta = fitted(model, train)
        thetas.append(theta)
        corrected = model.predictions(theta)
        gain = median(_measured_speedup(samples.samples[i]) for i in train)
        for place in test:
            left_out[samples.samples[place].index] = corrected[samples.samples[place].index]
            steady[place] = gain
    everything = fitted(model, range(len(samples.samples)))
    names = [sample.program for sample in samples.samples]

    def falls(errors: Callable[[Sequence[Prediction], Samples], FloatArray]) -> float:
        was, now = errors(plain, samples), errors(left_out, samples)
        return share_of_resamplings(names, lambda at: bool(np.median(now[at]) < np.median(was[at])))

    before, _ = _score_predictions(plain, machine, samples, tolerance)
    after, comparison = _score_predictions(left_out, machine, samples, tolerance)
    result = SaturationCalibration(
        factors={}, fitted=factors_of(everything), spread=_factor_ranges(thetas),
        before=before, after=after, trivial=baselines(comparison),
        trivial_errors=_trivial_errors(samples.samples, steady),
        sure=falls(_speedup_errors), sure_times=falls(_time_errors),
        folds=len(folds),
        predicted=tuple(predicted_seconds(left_out[sample.index]) for sample in samples.samples),
    )  # fmt: skip
    return replace(result, factors=result.fitted) if result.helps else result


def _measured_speedup(sample: Sample) -> float:
    most = max(sample.seconds)
    return sample.seconds[1] / sample.seconds[most]


def _speedup_errors(predictions: Sequence[Prediction], samples: Samples) -> FloatArray:
    """Returns the absolute relative error of the speedup at the largest number of threads, by
    sample.
    """
    errors = []
    for sample in samples.samples:
        seconds = predicted_seconds(predictions[sample.index])
        speedup = seconds[1] / seconds[max(sample.seconds)]
        errors.append(abs(speedup / _measured_speedup(sample) - 1))
    return np.array(errors)


def _time_ratios(predictions: Sequence[Prediction], samples: Samples) -> FloatArray:
    """Returns the predicted divided by the measured time on one thread, by sample."""
    return np.array([
        predicted_seconds(predictions[sample.index])[1] / sample.seconds[1]
        for sample in samples.samples
    ])  # fmt: skip


def _time_errors(predictions: Sequence[Prediction], samples: Samples) -> FloatArray:
    """Returns the absolute relative error of the time on one thread, by sample."""
    errors: FloatArray = np.abs(_time_ratios(predictions, samples) - 1)
    return errors


def _score_predictions(
    predictions: Sequence[Prediction], machine: Machine, samples: Samples, tolerance: float
) -> tuple[Scores, Comparison]:
    comparison = _all_verdicts(predictions, machine, samples, tolerance)
    scores = Scores(
        float(np.median(_speedup_errors(predictions, samples))),
        float(np.median(_time_errors(predictions, samples))),
        success(comparison),
        float(np.median(_time_ratios(predictions, samples))),
    )
    return scores, comparison


def _all_verdicts(
    predictions: Sequence[Prediction], machine: Machine, samples: Samples, tolerance: float
) -> Comparison:
    """Returns the verdicts of all campaigns. Each campaign is compared separately, since regions
    are identified by their source lines.
    """
    comparisons = []
    for campaign in sorted({sample.campaign for sample in samples.samples}):
        own = [sample for sample in samples.samples if sample.campaign == campaign]
        hints = hints_of([predictions[sample.index] for sample in own], machine)
        summaries = [sample.summary for sample in own]
        comparisons.append(
            compare(hints, summaries, tolerance=tolerance, statistic=samples.statistic)
        )
    verdicts = tuple(verdict for comparison in comparisons for verdict in comparison.verdicts)
    return replace(comparisons[0], verdicts=verdicts)


def _trivial_errors(samples: Sequence[Sample], steady: FloatArray) -> dict[str, float]:
    """Returns the median error of trivial speedups: no speedup, all threads, and the other
    programs' median speedup.
    """
    measured = np.array([_measured_speedup(sample) for sample in samples])
    threads = np.array([max(sample.seconds) for sample in samples], dtype=np.float64)
    answers = {
        "no speedup": np.ones(len(samples)),
        "one per thread": threads,
        "the other programs' median": steady,
    }
    return {
        name: float(np.median(np.abs(answer / measured - 1))) for name, answer in answers.items()
    }


def _factor_ranges(thetas: Sequence[FloatArray]) -> dict[str, tuple[float, float]]:
    """Returns the smallest and the largest value of each factor over the folds."""
    factors = np.exp(np.array(thetas))
    return {
        name: (float(column.min()), float(column.max()))
        for name, column in zip(FACTORS, factors.T, strict=True)
    }


def share_of_resamplings(names: Sequence[str], better: Callable[[IntArray], bool]) -> float:
    """The share of resamplings of the programs (bootstrap) in which `better` holds for the drawn
    positions.

    `names` are the programs of the positions. Programs are drawn instead of regions, since regions
    of one program are similar. The seed is fixed.
    """
    known = sorted(set(names))
    of_program = [
        np.flatnonzero(np.array([program == name for program in names])) for name in known
    ]
    random = np.random.default_rng(20120917)
    held = 0
    for _ in range(_RESAMPLINGS):
        drawn = random.integers(0, len(known), len(known))
        held += better(np.concatenate([of_program[i] for i in drawn]))
    return held / _RESAMPLINGS
