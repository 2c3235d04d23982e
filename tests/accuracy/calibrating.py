"""How wide a band is and how sure a hint, so that both hold on a set that nobody has seen.

Each file of measurements is told by the random walk of all others (cross-conformal prediction: Vovk
2015), and weighs alike, as the next set is one more file, not one more case (hierarchical conformal
prediction: Lee, Barber and Willett 2023). The reach of a band is the quantile of these errors; the
log odds that a hint is right are fitted to these hints (logistic regression); both with one file
more of which half is right (the rule of succession, files as trials). Nothing that a file is told
by has seen it; to tell how far that holds, the whole of it is done without a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from evaluate import Answered
from fitting import Curve, curves_of, files_of, quantile, walk_of, without
from judge import choice_of, model_choice
from predictor import machine_named

from regionpredict.predict.constants import WITHIN
from regionpredict.predict.hints import hint_from
from regionpredict.predict.uncertainty import (
    BAND_SHARE,
    Doubt,
    FittedCurves,
    Spreads,
    at_threads,
    chance_of,
    confidence_of,
    expected_of,
    log_odds,
    outlook_of,
    rounded_confidence,
)
from regionpredict.predict.uncertainty.constants import SURE_STEP

STIFFNESS = 0.2
"""Files by whose weight the slope of the log odds is drawn towards that of the chance itself."""
UNSEEN = 1.0
"""Files more than there are, of which half is right."""
ROUNDS = 30


def fitted_to(answered: Sequence[Answered]) -> FittedCurves:
    """All that is fitted to measured curves."""
    curves = curves_of(answered)
    walks = {file: walk_of(without(curves, file)) for file in files_of(curves)}
    made = rounded(walk_of(curves)._replace(reach=_reach(curves, walks)))
    told = _told(curves, walks)
    made = rounded(_with_odds(made, told))
    return made._replace(most=_most(told, made))


def left_out(answered: Sequence[Answered]) -> dict[str, FittedCurves]:
    """By file of data sets with a choice what is fitted to all other files."""
    files = dict.fromkeys(one.data.file for one in answered if one.data.choice != "none")
    return {
        file: fitted_to([one for one in answered if one.data.file != file] or answered)
        for file in files
    }


def rounded(fitted: FittedCurves) -> FittedCurves:
    """As the constants are written: three digits."""
    return FittedCurves(
        *(Spreads(*(float(f"{v:.3g}") for v in value)) if isinstance(value, Spreads)
          else float(f"{value:.3g}") for value in fitted)
    )  # fmt: skip


def _reach(curves: Sequence[Curve], walks: Mapping[str, FittedCurves]) -> float:
    """Standard deviations of the other files' walks within which the share of a band lies, with one
    file more of which half does."""
    off, weights = [], []
    for one in curves:
        walk = walks[one.data.file]
        points = list(zip(one.traits, one.measured, strict=True))[1:]
        for trait, gain in points:
            expected = expected_of(trait, walk)
            off.append(abs(gain - expected.gain) / math.sqrt(expected.variance))
            weights.append(one.weight / len(points))
    files = sum(weights)
    share = (BAND_SHARE.value * (files + UNSEEN) - 0.5 * UNSEEN) / files
    return quantile(off, weights, min(1.0, share))


class _Told(NamedTuple):
    """A hint with the chance that the other files give it, and whether it is right."""

    file: str
    chance: float
    right: bool
    weight: float
    doubts: tuple[Doubt, ...]


def _told(curves: Sequence[Curve], walks: Mapping[str, FittedCurves]) -> list[_Told]:
    told = []
    for one in curves:
        chance, right = chance_and_outcome(one, walks[one.data.file])
        if right is not None:
            told.append(_Told(one.data.file, chance, right, one.weight, one.answer.doubts))
    return told


def chance_and_outcome(one: Curve, fitted: FittedCurves) -> tuple[float, bool | None]:
    """(the chance of the hint by the spreads, whether it is right)."""
    machine = machine_named(one.case.machine).as_run(binding=one.case.code.binding)
    outlook = at_threads(outlook_of(one.answer.points, machine, fitted), set(one.case.measured))
    hint = hint_from(outlook, machine.cores_per_package)
    chance = chance_of(outlook, hint.threads, WITHIN.value, one.answer.moves)
    right, _, _ = choice_of(one.case, one.data, model_choice(one.data, hint))
    return chance, right


def _with_odds(made: FittedCurves, told: Sequence[_Told]) -> FittedCurves:
    """The fit with the line in log odds of these hints."""
    if not told:
        return made
    mean = float(np.average([log_odds(hint.chance) for hint in told],
                            weights=[hint.weight for hint in told]))  # fmt: skip
    rows = [(log_odds(hint.chance), float(hint.right), hint.weight) for hint in told]
    table = np.array([*rows, (mean, 0.5, UNSEEN)])
    x = np.column_stack([np.ones(len(table)), table[:, 0]])
    right, weight = table[:, 1], table[:, 2]
    start, firm = np.array([0.0, 1.0]), np.diag([0.0, STIFFNESS])
    line = start.copy()
    for _ in range(ROUNDS):
        likely = 1.0 / (1.0 + np.exp(-x @ line))
        slope = x.T @ (weight * (likely - right)) + firm @ (line - start)
        bend = (x * (weight * likely * (1.0 - likely))[:, None]).T @ x + firm + 1e-9 * np.eye(2)
        line = line - np.linalg.solve(bend, slope)
    return made._replace(even=float(line[0]), slope=max(0.0, float(line[1])))


def _most(told: Sequence[_Told], made: FittedCurves) -> float:
    """The largest confidence that hints have earned.

    Those of which so much or more is said, each file alike, and of one file more half, are as often
    right as it says, within half a step.
    """
    surest = made._replace(most=1.0)
    said = [
        (
            confidence_of(hint.chance, doubts=hint.doubts, fitted=surest),
            hint,
        )
        for hint in told
    ]
    for level in sorted({sure for sure, _ in said}, reverse=True):
        rates = _rates([hint for sure, hint in said if sure >= level])
        earned = (sum(rates) + 0.5 * UNSEEN) / (len(rates) + UNSEEN)
        if earned >= level - SURE_STEP.value / 2:
            return level
    return rounded_confidence(0.5)


def _rates(told: Sequence[_Told]) -> list[float]:
    """By file the share of its hints that are right."""
    files: dict[str, list[_Told]] = {}
    for hint in told:
        files.setdefault(hint.file, []).append(hint)
    return [
        sum(hint.weight * hint.right for hint in hints) / sum(hint.weight for hint in hints)
        for hints in files.values()
    ]
