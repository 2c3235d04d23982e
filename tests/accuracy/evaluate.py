"""All cases of some data sets through the model and its ablations, on some processes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from statistics import fmean, median
from typing import NamedTuple

from ablation import VARIANTS
from judge import Judged, choice_of, constant_choices, curve_choice, judge, model_choice
from measured import Case, DataSet
from predictor import FULL, Answer, Code, Times, Variant, ask, machine_named

from regionpredict.predict.constants import PACKAGE_PRICE, WITHIN
from regionpredict.predict.hints import Hint, hint_from
from regionpredict.predict.uncertainty import (
    SHIPPED,
    ExpectedSpeedup,
    FittedCurves,
    band_of,
    chance_of,
    confidence_of,
    outlook_of,
)

PLAIN = "same curve, fewest within 5 %"
"""The choice that looks at the predicted curve alone."""


class Answered(NamedTuple):
    """A data set with the answers to every case, by variant of the model."""

    data: DataSet
    answers: tuple[dict[str, Answer], ...]


class Evaluated(NamedTuple):
    """A data set with the judgement of every case: by variant of the model, and by baseline.

    `left_out` is the whole model with what is fitted to all other data sets; empty where nothing
    was fitted.
    """

    data: DataSet
    variants: dict[str, tuple[Judged, ...]]
    baselines: dict[str, tuple[Judged, ...]]
    left_out: tuple[Judged, ...] = ()


class _Task(NamedTuple):
    """What one process works out: code, machine, thread counts; equal ones are asked once."""

    code: Code
    machine: str
    threads: tuple[int, ...]
    variants: tuple[str, ...]


def _work(task: _Task) -> dict[str, Answer]:
    variants = [variant for variant in VARIANTS if variant.name in task.variants]
    return ask(task.code, machine_named(task.machine), task.threads, variants)


def answers_of(
    sets: Sequence[DataSet], variants: Sequence[Variant] = (FULL,), processes: int = 1
) -> list[Answered]:
    """Asks each different question once."""
    tasks: dict[tuple[Code, str, tuple[int, ...]], int] = {}
    for data in sets:
        for case in data.cases:
            tasks.setdefault(_key(case), len(tasks))
    names = tuple(variant.name for variant in variants)
    work = [_Task(*key, names) for key in tasks]
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            found = list(pool.map(_work, work, chunksize=4))
    else:
        found = [_work(task) for task in work]
    return [Answered(data, tuple(found[tasks[_key(case)]] for case in data.cases)) for data in sets]


def _key(case: Case) -> tuple[Code, str, tuple[int, ...]]:
    return case.code, case.machine, tuple(sorted(case.measured))


def judgement_of(
    one: Answered, fitted: FittedCurves = SHIPPED, left_out: FittedCurves | None = None
) -> Evaluated:
    """Every case judged, by what is `fitted` and by what is fitted without the data set."""
    data = one.data
    variants = {
        name: by_model(data, [answers[name] for answers in one.answers], fitted)
        for name in one.answers[0]
    }
    full = [answers[FULL.name] for answers in one.answers]
    baselines = {}
    if data.choice != "none":
        baselines[PLAIN] = _only_choices(
            data, [curve_choice(c, data, a.seconds) for c, a in zip(data.cases, full, strict=True)]
        )
    baselines["Roofline, same bytes"] = _curves(data, [a.roofline for a in full])
    for tool in sorted({tool for case in data.cases for tool in case.published}):
        kept = [case for case in data.cases if min(case.measured) in case.published.get(tool, {})]
        some = replace(data, cases=tuple(kept))
        baselines[tool] = _curves(some, [case.published[tool] for case in kept])
    baselines |= _constant_curves(data)
    for name, choose in constant_choices(data).items():
        baselines[name] = _only_choices(data, [choose(case) for case in data.cases])
    return Evaluated(
        data, variants, baselines, by_model(data, full, left_out) if left_out is not None else ()
    )


def by_model(
    data: DataSet, answers: Sequence[Answer], fitted: FittedCurves = SHIPPED,
    price: float = PACKAGE_PRICE.value,
) -> tuple[Judged, ...]:  # fmt: skip
    """The cases judged by the package's own hints, bands and confidence."""
    factor = _factor(data, [answer.seconds for answer in answers])
    found = []
    for case, answer in zip(data.cases, answers, strict=True):
        outlook, hint = outlook_and_hint(case, answer, fitted, price)
        chance = chance_of(outlook, hint.threads, WITHIN.value, answer.moves)
        confidence = confidence_of(chance, doubts=answer.doubts, fitted=fitted)
        inside = _inside(case, outlook, fitted)
        choice = model_choice(data, hint)
        made = judge(case, data, answer.seconds, confidence, factor, choice, inside)
        found.append(made._replace(doubts=tuple(known.id for known in answer.doubts)))
    return tuple(found)


def outlook_and_hint(
    case: Case, answer: Answer, fitted: FittedCurves = SHIPPED, price: float = PACKAGE_PRICE.value
) -> tuple[tuple[ExpectedSpeedup, ...], Hint]:
    """The expected speeds at the measured thread counts, and the package's hint by them."""
    machine = machine_named(case.machine).as_run(binding=case.code.binding)
    points = [point for point in answer.points if point.threads in case.measured]
    outlook = outlook_of(points, machine, fitted)
    return outlook, hint_from(outlook, machine.cores_per_package, WITHIN.value, price)


def _inside(case: Case, outlook: Sequence[ExpectedSpeedup], fitted: FittedCurves) -> float | None:
    """The share of the measured speedups inside the band."""
    if len(outlook) < 2:
        return None
    base = case.measured[outlook[0].threads]
    band = band_of(outlook, fitted)
    return fmean(
        bounds.low <= base / case.measured[one.threads] <= bounds.high
        for one, bounds in list(zip(outlook, band, strict=True))[1:]
    )


def evaluate(
    sets: Sequence[DataSet], variants: Sequence[Variant] = (FULL,), processes: int = 1
) -> list[Evaluated]:
    """All cases judged by what ships."""
    return [judgement_of(one) for one in answers_of(sets, variants, processes)]


def _only_choices(data: DataSet, choices: Sequence[int]) -> tuple[Judged, ...]:
    """Choices without a curve."""
    return tuple(
        Judged(case.label, None, None, None, None, *choice_of(case, data, choice), None, 1.0)
        for case, choice in zip(data.cases, choices, strict=True)
    )


def _constant_curves(data: DataSet) -> dict[str, tuple[Judged, ...]]:
    """Curves that look at nothing: their speedups and classes, not their times or choices."""
    cases = tuple(replace(case, absolute=False) for case in data.cases)
    if not data.saturates or all(len(case.measured) < 2 for case in cases):
        return {}
    bare = replace(data, cases=cases, choice="none", common_factor=False)
    return {
        "perfect scaling": _curves(bare, [{t: 1.0 / t for t in c.measured} for c in cases]),
        "saturating at half": _curves(
            bare, [{t: 1.0 / min(t, -(-max(c.measured) // 2)) for t in c.measured} for c in cases]
        ),
    }


def _curves(data: DataSet, curves: Sequence[Times]) -> tuple[Judged, ...]:
    factor = _factor(data, curves)
    return tuple(
        judge(case, data, curve, 1.0, factor)
        for case, curve in zip(data.cases, curves, strict=True)
    )


def _factor(data: DataSet, curves: Sequence[Times]) -> float:
    """What makes times comparable where the length of a run is not known."""
    if not data.common_factor:
        return 1.0
    return median(
        case.measured[min(case.measured)] / curve[min(case.measured)]
        for case, curve in zip(data.cases, curves, strict=True)
    )
