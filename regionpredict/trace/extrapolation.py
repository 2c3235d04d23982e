"""`extrapolate`: predicts each factor for larger numbers of processes by a suitable law.

Each law is fitted to the smaller runs, and its predictions are compared with the larger runs. A few
runs rarely show which law holds, and a wrong choice causes larger errors for more processes.
Therefore LB, Ser and Trf are the mean of all laws, weighted by the likelihood of their errors on
held-out runs. Eq. 5 (Amdahl), the default of Rosas 2014, counts twice. Computation scalability
decreases if processes share memory, and smaller runs do not show where the decrease ends. Therefore
it uses eq. 5, which decreases fastest, unless another law has a clearly smaller error for at least
four sizes. The selected laws are fitted to all runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regionpredict.constant import Constant
from regionpredict.errors import InputError, UsageError
from regionpredict.fit import FittedModel, fit
from regionpredict.trace.scaling import Study

LAWS = (
    "amdahl-efficiency",
    "pipeline",
    "constant",
    "logarithmic-efficiency",
    "cube-root-efficiency",
    "root-efficiency",
)
"""The candidate laws: eq. 5, eq. 6 and constants of Rosas 2014, then slower losses than eq. 5. The
slower losses model a message tree, and the surfaces of three- and two-dimensional subdomains.
"""

DEFAULT_LAW = LAWS[0]
FACTORS = ("load_balance", "serialisation", "transfer")
UNDIVIDED = ("load_balance", "communication")
"""The factors of parallel efficiency if some run does not separate Ser from Trf. Communication is
their product.
"""
SCALED = (*FACTORS, "communication", "computation_scalability")
"""The factors that can be fitted. All other factors are products of these."""

_SHOWN = 0.005
"""The minimum weight of a law that is displayed in a formula."""
_ENOUGH = 4
"""The minimum number of sizes for choosing a law. With three, only one can be held out."""

_UNREFUTED = Constant(
    2.0,
    "1",
    "assumed",
    "laws count as possible up to this multiple of the smallest error on held-out runs",
)
_CLEARLY = Constant(
    0.7,
    "1",
    "assumed",
    "of the error of eq. 5 on held-out runs, another law must have less than this share: on 34 "
    "thread-scaling series (510 predictions from four runs each) the law of the least held-out "
    "error missed by 2.8 points on average, eq. 5 by 2.7, so it is left for good reason only",
)
_FIRST = Constant(
    2.0,
    "1",
    "assumed",
    "the weight of eq. 5 in the mean of the laws before held-out runs change it. On 350 synthetic "
    "series of losses, it reduces the mean's error by 0.02 points with three sizes, and increases "
    "it by 0.02 with four (bench_factor_laws.py; docs/factors.md has the errors of the mean)",
)
_NOISE = Constant(
    0.002,
    "1",
    "assumed",
    "assumed difference of a factor between runs of the same size; repeated runs on quiet "
    "machines differ by tenths of a percent",
)


@dataclass(frozen=True, slots=True)
class FactorModel:
    """A factor as the weighted mean of laws fitted to all runs. `law` and `model` belong to the law
    with the largest weight. `error` is its root mean square error on held-out runs, or None if no
    run could be held out. `rivals` are all laws with their models and errors. `widths` are the
    measured numbers of processes. `most` is the upper limit of the factor, and formulas are valid
    for up to `far` processes.
    """

    factor: str
    law: str
    model: FittedModel
    weights: Mapping[str, float]
    error: float | None
    rivals: tuple[tuple[str, FittedModel, float | None], ...]
    widths: tuple[int, ...]
    most: float
    far: int

    @property
    def text(self) -> str:
        """The weighted mean of the laws as a formula of the number of processes p. Laws with small
        weights are omitted.
        """
        parts = self.parts
        if len(parts) == 1:
            return parts[0][2]
        return " + ".join(f"{weight:.2f} ({formula})" for weight, _, formula in parts)

    @property
    def parts(self) -> tuple[tuple[float, str, str], ...]:
        """The laws with relevant weights as (weight, law, formula), the largest weight first. Terms
        that change no displayed digit are omitted. A law without terms is named `constant`, and
        laws with the same formula are merged.
        """
        shares: dict[str, tuple[float, str]] = {}
        shown = np.array([(float(width),) for width in (*self.widths, self.far)])
        for name, model, _ in sorted(
            self.rivals, key=lambda rival: -self.weights.get(rival[0], 0.0)
        ):
            visible = model.without_negligible_terms(shown)
            formula = visible.formula()
            weight, first = shares.get(formula, (0.0, name if visible.terms else "constant"))
            shares[formula] = (weight + self.weights.get(name, 0.0), first)
        rows = [(weight, name, formula) for formula, (weight, name) in shares.items()]
        return tuple(sorted((row for row in rows if row[0] >= _SHOWN), key=lambda row: -row[0]))

    def value(self, width: float) -> float:
        """Predicts the factor for `width` processes. It is between 0 and 1, or the largest measured
        value if that is larger.
        """
        mean = sum(
            self.weights[name] * _predicted_in_range(model, width, self.most)
            for name, model, _ in self.rivals
            if name in self.weights
        )
        return min(mean, self.most)  # weights add up to 1 except for rounding

    def band(self, width: float) -> tuple[float, float]:
        """Returns the interval of the factor for `width` processes that is consistent with the
        runs.

        The interval includes all laws that held-out runs do not exclude. It is widened by the error
        of the selected law, which grows with each doubling of the processes.
        """
        centre = self.value(width)
        least = _NOISE.value if self.error is None else max(self.error, _NOISE.value)
        possible = [
            _predicted_in_range(model, width, self.most)
            for _, model, error in self.rivals
            if error is None or error <= _UNREFUTED.value * least
        ]
        beyond = max(float(np.log2(max(width / self.widths[-1], 1.0))), 0.0)
        slack = least * (
            1.0 + beyond
        )  # share of the value, since errors of values near 1 are relative
        low = min([centre, *possible]) * (1.0 - slack)
        high = max([centre, *possible]) * (1.0 + slack)
        return max(low, 0.0), min(high, self.most)


@dataclass(frozen=True, slots=True)
class Extrapolated:
    """The predicted factors for `width` processes, with the intervals from `low` to `high`.

    `dominating` is the smallest of LB, Ser and Trf, which causes the largest loss. If some run
    lacks Ser and Trf, their product, communication, replaces them.
    """

    width: int
    values: Mapping[str, float]
    low: Mapping[str, float]
    high: Mapping[str, float]
    dominating: str


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """The models of all factors, the predictions, and the changes of the dominating factor as
    (width, from, to). The width is the smallest number of processes at which the second factor
    dominates.
    """

    models: Mapping[str, FactorModel]
    points: tuple[Extrapolated, ...]
    changes: tuple[tuple[int, str, str], ...]


def measured(study: Study, factor: str) -> list[tuple[int, float]]:
    """Returns the measured values of a factor with the numbers of processes, for all runs that have
    it.
    """
    pairs = []
    for run in study.runs:
        value = (
            run.computation if factor == "computation_scalability" else getattr(run.factors, factor)
        )
        if value is not None and value > 0:
            pairs.append((run.factors.width, float(value)))
    return pairs


def parts_of(study: Study) -> tuple[str, ...]:
    """Returns the factors whose product is parallel efficiency and that all runs have."""
    divided = all(run.factors.transfer is not None for run in study.runs)
    return FACTORS if divided else UNDIVIDED


def extrapolate_factors(
    study: Study, widths: Sequence[int], laws: Mapping[str, str] | None = None
) -> Extrapolation:
    """Predicts the factors of a study for the numbers of processes in `widths`. `laws` maps factors
    to laws that the user knows. Raises UsageError for unknown factors, laws and widths, and
    InputError for runs of a single width.
    """
    if len(study.widths) < 2:
        raise InputError(
            "a single size cannot be extrapolated",
            remedy="give runs on at least two, better four, different numbers of processes",
        )
    laws = dict(laws or {})
    fitted = (*parts_of(study), "computation_scalability")
    for factor, law in laws.items():
        if factor not in fitted:
            raise UsageError(f"unknown factor '{factor}'", remedy=f"use {', '.join(fitted)}")
        if law not in LAWS:
            raise UsageError(f"unknown law '{law}'", remedy=f"use {', '.join(LAWS)}")
    if min(widths, default=1) < 1:
        raise UsageError("--extrapolate is less than one process", remedy="give at least 1")
    far = max([*widths, study.widths[-1]])
    models = {
        factor: fit_factor(factor, measured(study, factor), laws.get(factor), far)
        for factor in fitted
    }
    reference = study.runs[0].factors
    points = tuple(
        _predicted_factors(width, models, reference.parallel, reference.width) for width in widths
    )
    return Extrapolation(
        models, points, _changes_of_dominating_factor(models, study.widths[0], far)
    )


def fit_factor(
    factor: str, pairs: Sequence[tuple[int, float]], law: str | None = None, far: int = 1
) -> FactorModel:
    """Fits a factor's values over at least two numbers of processes. With `law` None, a law is
    selected. Formulas are valid for up to `far` processes.
    """
    widths = sorted({width for width, _ in pairs})
    fits = {name: _fit_law(name, pairs) for name in LAWS}
    errors = {name: _error_on_held_out_runs(name, pairs, widths) for name in LAWS}
    known = {name: error for name, error in errors.items() if error is not None}
    if law is not None:
        weights = {law: 1.0}
    elif factor in FACTORS and known:
        weights = _law_weights(known)
    else:
        weights = {_clearly_best_law(known, len(widths)): 1.0}
    chosen = max(weights, key=lambda name: weights[name])
    return FactorModel(
        factor=factor,
        law=chosen,
        model=fits[chosen],
        weights=weights,
        error=errors[chosen],
        rivals=tuple((name, fits[name], errors[name]) for name in LAWS),
        widths=tuple(widths),
        most=max([1.0, *(value for _, value in pairs)]),
        far=far,
    )


def _law_weights(errors: Mapping[str, float]) -> dict[str, float]:
    """Returns the weight of each law: the normalized likelihood of its error. The assumed normal
    distribution has the smallest error, or the noise of runs, as standard deviation.
    """
    error = {name: max(value, _NOISE.value) for name, value in errors.items()}
    least = min(error.values())
    likely = {name: float(np.exp(-0.5 * (value / least) ** 2)) for name, value in error.items()}
    likely[DEFAULT_LAW] *= _FIRST.value
    whole = sum(likely.values())
    return {name: value / whole for name, value in likely.items()}


def _clearly_best_law(errors: Mapping[str, float], sizes: int) -> str:
    """Returns the law with the smallest error if it is clearly better than eq. 5, otherwise
    eq. 5.
    """
    if not errors or sizes < _ENOUGH:
        return DEFAULT_LAW
    least = min(errors, key=lambda name: errors[name])
    return least if errors[least] < _CLEARLY.value * errors[DEFAULT_LAW] else DEFAULT_LAW


def _fit_law(law: str, pairs: Sequence[tuple[int, float]]) -> FittedModel:
    by_width: dict[int, list[float]] = {}
    for width, value in pairs:
        by_width.setdefault(width, []).append(value)
    points = [(float(width),) for width in sorted(by_width)]
    samples = [by_width[width] for width in sorted(by_width)]
    return fit(points, samples, parameters=("p",), law=law, min_points=1)


def _error_on_held_out_runs(
    law: str, pairs: Sequence[tuple[int, float]], widths: Sequence[int]
) -> float | None:
    """Returns the root mean square error of predictions for larger runs from the smaller ones.

    Each run from the third size on is predicted from all smaller runs. The weight of a run is its
    number of smaller sizes, since the prediction of the largest run is most relevant for larger
    ones.
    """
    squares, weight = 0.0, 0.0
    for place in range(2, len(widths)):
        known = [pair for pair in pairs if pair[0] < widths[place]]
        model = _fit_law(law, known)
        most = max(1.0, *(value for _, value in known))
        for width, value in pairs:
            if width == widths[place]:
                squares += place * (_predicted_in_range(model, width, most) - value) ** 2
                weight += place
    return float(np.sqrt(squares / weight)) if weight else None


def _predicted_in_range(model: FittedModel, width: float, most: float) -> float:
    value = model.predict((float(width),))
    return float(min(max(value, 0.0), most)) if np.isfinite(value) else 0.0


def _predicted_factors(
    width: int, models: Mapping[str, FactorModel], parallel_0: float, width_0: int
) -> Extrapolated:
    factors = {factor: model.value(width) for factor, model in models.items()}
    bands = {factor: model.band(width) for factor, model in models.items()}
    low = {factor: band[0] for factor, band in bands.items()}
    high = {factor: band[1] for factor, band in bands.items()}
    for table in (factors, low, high):
        if "transfer" in table:
            table["communication"] = table["serialisation"] * table["transfer"]
        table["parallel"] = table["load_balance"] * table["communication"]
        table["global"] = table["parallel"] * table["computation_scalability"]
        table["speedup"] = table["global"] / parallel_0 * width / width_0
    return Extrapolated(width, factors, low, high, dominating_factor(factors))


def dominating_factor(factors: Mapping[str, float]) -> str:
    """Returns the smallest of LB, Ser and Trf, or of LB and communication."""
    parts = FACTORS if "transfer" in factors else UNDIVIDED
    return min(parts, key=lambda factor: factors[factor])


def _changes_of_dominating_factor(
    models: Mapping[str, FactorModel], first: int, last: int
) -> tuple[tuple[int, str, str], ...]:
    def least(width: float) -> str:
        return dominating_factor({factor: model.value(width) for factor, model in models.items()})

    grid: NDArray[np.int64] = np.unique(
        np.geomspace(first, max(last, first + 1), 400).round().astype(np.int64)
    )
    changes = []
    for low, high in zip(grid[:-1].tolist(), grid[1:].tolist(), strict=True):
        before, after = least(low), least(high)
        if before == after:
            continue
        a, b = low, high
        while b - a > 1:
            middle = (a + b) // 2
            a, b = (middle, b) if least(middle) == before else (a, middle)
        changes.append((b, before, least(b)))
    return tuple(changes)
