"""Fits `regionpredict.predict.sureness` to measured curves: its numbers, and their file.

Each machine of a data set weighs n / (n + 10), n its cases: many small cases of one machine are not
more than one large data set, and a single case says little. What is fitted is fitted in four steps:
the mean of the measured steps beside the predicted ones (weighted least squares, Huber's loss),
their spread by what the time is spent on, the reach of the band (a quantile), and the log odds that
a hint is right (logistic regression, drawn towards the chance itself).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from evaluate import Answered
from judge import choice_of, model_choice
from measured import Case, DataSet
from predictor import FULL, Answer, machine_named

from regionpredict.predict import sureness
from regionpredict.predict.constants import WITHIN
from regionpredict.predict.hints import hint_from
from regionpredict.predict.sureness import (
    BAND_SHARE,
    SHIPPED,
    Fitted,
    Spreads,
    Traits,
    asked_for,
    chance_of,
    deviation,
    expected_of,
    log_odds,
    outlook_of,
    traits_of,
)

ROOM = Path(sureness.__file__).parents[1]
SURENESS = ROOM / "sureness" / "constants.py"
DENSITY = ROOM / "density" / "constants.py"
SUCCESS = {
    "all packages, each its memory": "ALL_OF_DOMAINS",
    "fewer packages, each its memory": "FEWER_OF_DOMAINS",
    "all packages, one path to memory": "ALL_OF_ONE_PATH",
    "fewer packages, one path to memory": "FEWER_OF_ONE_PATH",
}
"""Kinds of the density model's hints, and the constants that hold how many of them are right."""
PER_MACHINE = 10.0
"""Cases of a data set on one machine that weigh half of what ever so many do."""
APART = 1.5
"""Numbers of threads nearer to each other than this tell the noise of a measurement."""
HUBER = 1.5
"""Standard deviations from which on a residual counts in proportion, not squared."""
MOST = 1.0
"""A squared error a doubling of more than this (a factor of e) is another program's."""
COMMON = 0.3
"""Doublings by which each spread is drawn towards that of all."""
STIFFNESS = 0.2
"""By which the log odds are drawn towards the chance itself."""
ROUNDS = 30


class Curve(NamedTuple):
    """A case with its answer: traits at the measured numbers of threads, over the least."""

    data: DataSet
    case: Case
    answer: Answer
    traits: tuple[Traits, ...]
    measured: tuple[float, ...]
    weight: float


def curves_of(answered: Sequence[Answered]) -> list[Curve]:
    """The cases with at least two numbers of threads."""
    known = []
    for one in answered:
        counts = Counter(case.machine for case in one.data.cases)
        for case, answers in zip(one.data.cases, one.answers, strict=True):
            if len(case.measured) < 2:
                continue
            answer = answers[FULL.name]
            threads = sorted(case.measured)
            traits = traits_of([p for p in answer.points if p.threads in case.measured])
            gains = [math.log(case.measured[threads[0]] / case.measured[t]) for t in threads]
            weight = 1.0 / (counts[case.machine] + PER_MACHINE)
            known.append(Curve(one.data, case, answer, traits, tuple(gains), weight))
    return known


class Steps(NamedTuple):
    """Steps between numbers of threads well apart: measured less predicted, and their traits."""

    error: np.ndarray
    means: np.ndarray
    doublings: np.ndarray
    assumed: np.ndarray
    weight: np.ndarray


def _steps(curves: Sequence[Curve]) -> Steps:
    rows = []
    for one in curves:
        kept = [0]
        for at, trait in enumerate(one.traits):
            if trait.threads >= APART * one.traits[kept[-1]].threads:
                kept.append(at)
        if kept[-1] != len(one.traits) - 1:
            kept[max(1, len(kept) - 1) :] = [len(one.traits) - 1]
        for low, high in pairwise(kept):
            a, b = one.traits[low], one.traits[high]
            spent = [y - x for x, y in zip(a.doublings, b.doublings, strict=True)]
            error = one.measured[high] - one.measured[low] - math.log(b.speedup / a.speedup)
            memory = b.doublings.memory - a.doublings.memory
            rows.append((error, memory, a.grown - b.grown, *spent, float(one.answer.assumed),
                         one.weight / (len(kept) - 1)))  # fmt: skip
    table = np.array(rows)
    return Steps(table[:, 0], table[:, 1:3], table[:, 3:8], table[:, 8] > 0, table[:, 9])


def fitted_to(answered: Sequence[Answered]) -> Fitted:
    """All that is fitted to measured curves."""
    curves = curves_of(answered)
    steps = _steps(curves)
    length = steps.doublings.sum(axis=1)
    creep, lost = _means(steps, length)
    residual = steps.error - steps.means @ np.array([creep, lost])
    squares = np.minimum(residual**2 / length, MOST)
    factor, spreads = 1.0, np.ones(steps.doublings.shape[1])
    for _ in range(ROUNDS):
        own = np.where(steps.assumed, factor**2, 1.0)
        weights = steps.weight[:, None] * steps.doublings
        common = np.average(squares / own, weights=weights.sum(axis=1))
        spreads = (weights.T @ (squares / own) + COMMON * common) / (weights.sum(axis=0) + COMMON)
        variance = steps.doublings @ spreads / length
        factor = _assumed_factor(squares / variance, steps)
    made = SHIPPED._replace(
        creep=float(creep), lost=float(lost), spreads=Spreads(*map(float, np.sqrt(spreads))),
        assumed=factor,
    )  # fmt: skip
    made = rounded(made._replace(reach=_reach(curves, made)))
    even, slope = _odds(curves, made)
    return rounded(made._replace(even=even, slope=slope))


def rounded(fitted: Fitted) -> Fitted:
    """As the constants are written: three digits."""
    return Fitted(
        *(Spreads(*(float(f"{v:.3g}") for v in value)) if isinstance(value, Spreads)
          else float(f"{value:.3g}") for value in fitted)
    )  # fmt: skip


def _means(steps: Steps, length: np.ndarray) -> tuple[float, float]:
    """(creep, lost): neither below nothing."""
    kept = np.ones(len(steps.error))
    found = np.zeros(2)
    for _ in range(ROUNDS):
        weight = steps.weight * kept / length
        left = steps.means.T @ (steps.means * weight[:, None]) + 1e-9 * np.eye(2)
        found = np.linalg.solve(left, steps.means.T @ (weight * steps.error))
        off = np.abs(steps.error - steps.means @ found) / np.sqrt(length)
        usual = max(1e-9, 1.48 * float(np.median(off)))
        kept = np.minimum(1.0, HUBER * usual / np.maximum(1e-9, off))
    return max(0.0, float(found[0])), max(0.0, float(found[1]))


def _assumed_factor(squares: np.ndarray, steps: Steps) -> float:
    """How much wider the spread is where an assumption decides; never narrower."""
    parts = [(squares[which], steps.weight[which]) for which in (steps.assumed, ~steps.assumed)]
    if any(not len(values) for values, _ in parts):
        return SHIPPED.assumed
    wide, narrow = (float(np.average(values, weights=weights)) for values, weights in parts)
    return max(1.0, math.sqrt(wide / narrow))


def _reach(curves: Sequence[Curve], made: Fitted) -> float:
    """Standard deviations within which the share of a band lies."""
    found = []
    for one in curves:
        points = list(zip(one.traits, one.measured, strict=True))[1:]
        for trait, gain in points:
            expected = expected_of(trait, made)
            spread = deviation(expected.variance, assumed=one.answer.assumed, fitted=made)
            found.append((abs(gain - expected.gain) / spread, one.weight / len(points)))
    found.sort()
    weights = np.cumsum([weight for _, weight in found])
    at = int(np.searchsorted(weights, BAND_SHARE.value * weights[-1]))
    return found[min(at, len(found) - 1)][0]


def _odds(curves: Sequence[Curve], made: Fitted) -> tuple[float, float]:
    """(even, slope) of the line in log odds."""
    rows = []
    for one in curves:
        chance, right = chance_and_outcome(one, made)
        if right is not None:
            rows.append((1.0, log_odds(chance), float(right), one.weight))
    table = np.array(rows)
    x, right, weight = table[:, :2], table[:, 2], table[:, 3]
    start = np.array([0.0, 1.0])
    line = start.copy()
    for _ in range(ROUNDS):
        likely = 1.0 / (1.0 + np.exp(-x @ line))
        slope = x.T @ (weight * (likely - right)) + STIFFNESS * (line - start)
        bend = (x * (weight * likely * (1.0 - likely))[:, None]).T @ x + STIFFNESS * np.eye(2)
        line = line - np.linalg.solve(bend, slope)
    return float(line[0]), float(line[1])


def chance_and_outcome(one: Curve, fitted: Fitted) -> tuple[float, bool | None]:
    """(the chance of the hint by the spreads, whether it is right)."""
    outlook = asked_for(outlook_of(one.answer.points, fitted), set(one.case.measured))
    cores = machine_named(one.case.machine).cores_per_package
    hint = hint_from(outlook, cores)
    chance = chance_of(outlook, hint.threads, WITHIN.value, assumed=one.answer.assumed,
                       fitted=fitted)  # fmt: skip
    right, _, _ = choice_of(one.case, one.data, model_choice(one.data, hint))
    return chance, right


def density_rates(answered: Sequence[Answered]) -> dict[str, tuple[float, int, int]]:
    """By kind of machine and of hint: (success rate, right hints, hints) of the density model.

    Each machine of a data set weighs as above; half a hint is right to begin with, at the weight of
    one machine of many cases.
    """
    found: dict[str, list[tuple[float, bool]]] = {name: [] for name in SUCCESS}
    for one in answered:
        counts = Counter(case.machine for case in one.data.cases)
        for case, answers in zip(one.data.cases, one.answers, strict=True):
            packages = answers[FULL.name].density_packages
            if one.data.choice != "packages" or not packages or len(case.measured) < 2:
                continue
            machine = machine_named(case.machine)
            path = "each its memory" if machine.memory.shared_path is None else "one path to memory"
            number = "all" if packages == machine.packages else "fewer"
            right, _, _ = choice_of(case, one.data, packages)
            weight = 1.0 / (counts[case.machine] + PER_MACHINE)
            found[f"{number} packages, {path}"].append((weight, bool(right)))
    rates = {}
    for name, outcomes in found.items():
        good = sum(weight for weight, right in outcomes if right)
        total = sum(weight for weight, _ in outcomes)
        hits = sum(right for _, right in outcomes)
        rates[name] = (float(f"{(good + 0.5) / (total + 1.0):.3g}"), hits, len(outcomes))
    return rates


def constants_of(fitted: Fitted) -> dict[str, float]:
    """The fit by the names of the constants."""
    spreads = {f"{name.upper()}_SPREAD": value for name, value in fitted.spreads._asdict().items()}
    return {
        "CREEP": fitted.creep,
        "LOST_GROWTH": fitted.lost,
        **spreads,
        "ASSUMED_SPREAD": fitted.assumed,
        "BAND_REACH": fitted.reach,
        "EVEN_ODDS": fitted.even,
        "ODDS_SLOPE": fitted.slope,
    }


def density_constants(rates: dict[str, tuple[float, int, int]]) -> dict[str, float]:
    """The rates by the names of the constants."""
    return {SUCCESS[name]: rate for name, (rate, _, _) in rates.items()}


def with_values(text: str, values: dict[str, float]) -> str:
    """A file of constants with these values in place of its own."""
    for name, value in values.items():
        text, times = re.subn(
            rf"(?m)^({name} = Constant\(\s*)[-+.\de]+", rf"\g<1>{value:.3g}", text
        )
        assert times == 1, name
    return text
