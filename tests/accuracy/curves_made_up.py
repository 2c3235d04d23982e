"""Curves that leave the predicted ones by what is asked for, as data sets with their answers."""

from __future__ import annotations

import math
import random

from evaluate import Answered
from measured import Case, DataSet
from predictor import FULL, Answer, Code

from regionpredict.predict.curve import Point

THREADS = (1, 2, 4, 8, 16, 32)
TERMS = ("compute", "cache", "memory-bandwidth", "overhead")
MACHINE = "skylake-gold-6148"
"""Two packages of 20 cores."""


def answer(term: str, speedups: dict[int, float]) -> Answer:
    """The answer of a model whose time is all of one term."""
    points = tuple(Point(t, 1.0 / s, s, "", {term: 1.0 / s}, 0.0, 0.0) for t, s in speedups.items())
    seconds = {point.threads: point.seconds for point in points}
    return Answer(seconds, seconds, points, {}, density_packages=2)


def made_up(
    creep: float, lost: float, spread: float, *, cases: int = 400, file: str = "file",
    package: float = 0.0, common: float = 0.0, seed: int = 11, tabulated: bool = False,
) -> Answered:  # fmt: skip
    """Random walks around curves that gain 0.55 of each doubling at first and nothing from 4 on.

    Those of memory creep up, all lose a share of what is predicted; `common` is what each doubling
    of the whole file is faster. The step to another package has a spread of its own beside.
    """
    draw = random.Random(seed)
    found, answers = [], []
    for number in range(cases):
        term = TERMS[number % len(TERMS)]
        speedups, measured, walk = {1: 1.0}, {1: 1.0}, 0.0
        for doubling, threads in enumerate(THREADS[1:], 1):
            speedups[threads] = math.exp(0.55 * min(2, doubling))
            walk += draw.gauss(0.0, spread) + common
            if threads == THREADS[-1]:
                walk += draw.gauss(0.0, package)
            gain = (1.0 - lost) * math.log(speedups[threads]) + walk
            gain += creep * doubling * (term == "memory-bandwidth")
            measured[threads] = math.exp(-gain)
        found.append(Case(str(number), Code(), MACHINE, measured))
        answers.append({FULL.name: answer(term, speedups)})
    data = DataSet(file, "", f"{file} (made up)", tuple(found), "threads", "out", "nothing",
                   tabulated=tabulated)  # fmt: skip
    return Answered(data, tuple(answers))


def with_outcomes(file: str, right: int, wrong: int) -> Answered:
    """Curves that are predicted to double, and do, or sink."""
    speedups = {1: 1.0, 2: 2.0, 4: 4.0}
    cases = [
        Case(str(number), Code(), MACHINE, {1: 4.0, 2: 2.0, 4: 1.0 if number < right else 3.0})
        for number in range(right + wrong)
    ]
    data = DataSet(file, "", file, tuple(cases), "threads", "out", "nothing")
    return Answered(data, ({FULL.name: answer("compute", speedups)},) * len(cases))
