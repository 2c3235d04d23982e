"""Compares predicted curves with laws fitted to the measured times.

Each region's times over threads are fitted by a law of thread scaling (`regionpredict.fit.laws`:
constant, Amdahl's with and without overhead, saturation). A prediction disagrees at a number of
threads where its speedup is outside the fitted law's interval and off by more than the tolerance.
Therefore, neither noise nor a small significant difference counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regionpredict.compare.verdicts import Comparison, Verdict
from regionpredict.fit import FittedModel, fit
from regionpredict.measure.records import Campaign

LEAST_COUNTS = 3
"""The minimum number of thread counts for fitting a law with two coefficients."""
LEVEL = 0.95


class Band(NamedTuple):
    """A speedup of the fitted law, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FittedLaw:
    """The scaling law fitted to a region, compared with its prediction.

    `law` and `predicted_law` are the two laws in words, and `speedup` is the fitted one by thread
    count. `disagrees` are the thread counts at which the prediction is outside the interval of the
    fit.
    """

    verdict: Verdict
    model: FittedModel
    law: str
    predicted_law: str
    speedup: Mapping[int, Band]
    disagrees: tuple[int, ...]

    @property
    def worst(self) -> tuple[int, float] | None:
        """Returns the point with the largest difference, as (threads, predicted divided by fitted
        speedup).
        """
        ratios = {
            n: self.verdict.predicted_speedup[n] / self.speedup[n].value for n in self.disagrees
        }
        if not ratios:
            return None
        threads = max(ratios, key=lambda n: max(ratios[n], 1 / ratios[n]))
        return threads, ratios[threads]


def fitted_laws(comparison: Comparison, campaigns: Sequence[Campaign]) -> tuple[FittedLaw, ...]:
    """Fits laws to all regions and parallel regions measured on 1 and at least two more thread
    counts.
    """
    samples = _seconds_per_run(campaigns)
    laws = []
    for verdict in (*comparison.verdicts, *comparison.teams):
        times = samples.get(verdict.measured.last.construct, {})
        usable = 1 in times and len(times) >= LEAST_COUNTS
        if usable and all(value > 0 for values in times.values() for value in values):
            laws.append(_fit_law(verdict, times, comparison.tolerance))
    return tuple(laws)


def disagreeing(laws: Sequence[FittedLaw]) -> tuple[FittedLaw, ...]:
    """Returns the regions whose prediction disagrees with the law, the largest difference first."""

    def distance(law: FittedLaw) -> float:
        ratio = law.worst[1] if law.worst is not None else 1.0
        return max(ratio, 1 / ratio) if ratio > 0 else float("inf")

    return tuple(sorted((law for law in laws if law.disagrees), key=distance, reverse=True))


def _seconds_per_run(
    campaigns: Sequence[Campaign],
) -> dict[tuple[object, ...], dict[int, list[float]]]:
    """Returns the seconds of one execution in each run, by region and thread count."""
    samples: dict[tuple[object, ...], dict[int, list[float]]] = {}
    for campaign in campaigns:
        for run in campaign.measured:
            for region in (*run.regions, *run.teams):
                by_threads = samples.setdefault(region.construct, {})
                seconds = region.total_s / max(1, region.executions)
                by_threads.setdefault(run.threads, []).append(seconds)
    return samples


def _fit_law(verdict: Verdict, times: Mapping[int, Sequence[float]], tolerance: float) -> FittedLaw:
    counts = sorted(times)
    model = _best_law(counts, [times[n] for n in counts])
    one_thread = model.interval((1.0,), LEVEL)
    speedup = {}
    for count in counts:
        band = model.interval((float(count),), LEVEL)
        seconds = model.predict((float(count),))
        value = model.predict((1.0,)) / seconds if seconds > 0 else float("inf")
        low = one_thread.low / band.high if band.high > 0 else value
        high = one_thread.high / band.low if band.low > 0 else float("inf")
        speedup[count] = Band(value, min(low, value), max(high, value))
    predicted = verdict.predicted_speedup
    disagrees = tuple(
        n for n in counts[1:]
        if n in predicted and not speedup[n].low <= predicted[n] <= speedup[n].high
        and abs(predicted[n] / speedup[n].value - 1) > tolerance
    )  # fmt: skip
    shared = [n for n in counts if predicted.get(n, 0.0) > 0]
    predicted_law = "no curve"
    if len(shared) >= LEAST_COUNTS:
        predicted_law = law_text(_best_law(shared, [[1.0 / predicted[n]] for n in shared]))
    return FittedLaw(verdict, model, law_text(model), predicted_law, speedup, disagrees)


def _best_law(counts: Sequence[int], repetitions: Sequence[Sequence[float]]) -> FittedModel:
    return fit(
        [(float(n),) for n in counts], repetitions, statistic="median", min_points=LEAST_COUNTS,
        law="threads",
    )  # fmt: skip


def law_text(model: FittedModel) -> str:
    """Describes a law of run times over threads in a few words.

    >>> from regionpredict.fit import fit
    >>> def law_of(times):
    ...     return law_text(fit([1, 2, 4, 8], [[t] for t in times], min_points=3, law="threads"))
    >>> law_of([10.0, 6.0, 4.0, 3.0])
    '20 % serial'
    >>> law_of([8.0, 4.0, 4.0, 4.0])
    'saturates at 2.0 threads'
    >>> law_of([5.0, 5.0, 5.0, 5.0])
    'does not scale'
    """
    parameters = model.law_parameters
    serial = parameters.get("serial_fraction", 0.0)
    if model.law == "saturation":
        knee = parameters.get("knee", float("inf"))
        reach = float(model.points.max())
        return "scales" if knee >= reach else f"saturates at {knee:.1f} threads"
    if model.law == "amdahl":
        if not any(coefficient > 0 for coefficient, _ in model.terms):
            return "does not scale"
        return "scales" if serial < 0.005 else f"{100 * serial:.0f} % serial"
    if model.law.startswith("amdahl-") and parameters.get("overhead", 0.0) > 0:
        grows = "log2(p)" if model.law == "amdahl-log" else "p"
        return f"{100 * serial:.0f} % serial, overhead grows with {grows}"
    if model.law.startswith("amdahl-"):
        return f"{100 * serial:.0f} % serial"
    return "does not scale"
