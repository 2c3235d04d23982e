"""All cases of some data sets through the model and its ablations, on some processes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from statistics import median
from typing import NamedTuple

from ablation import VARIANTS
from judge import Judged, choice_of, constant_choices, judge
from measured import Case, DataSet
from predictor import FULL, Answer, Code, Times, Variant, ask, machine_named


class Evaluated(NamedTuple):
    """A data set with the judgement of every case: by variant of the model, and by baseline."""

    data: DataSet
    variants: dict[str, tuple[Judged, ...]]
    baselines: dict[str, tuple[Judged, ...]]
    answers: tuple[Answer, ...]


class _Task(NamedTuple):
    """What one process works out: code, machine, thread counts; equal ones are asked once."""

    code: Code
    machine: str
    threads: tuple[int, ...]
    variants: tuple[str, ...]


def _work(task: _Task) -> dict[str, Answer]:
    variants = [variant for variant in VARIANTS if variant.name in task.variants]
    return ask(task.code, machine_named(task.machine), task.threads, variants)


def evaluate(
    sets: Sequence[DataSet], variants: Sequence[Variant] = (FULL,), processes: int = 1
) -> list[Evaluated]:
    """Asks each different question once and judges every case."""
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
    return [_judged(data, [found[tasks[_key(case)]] for case in data.cases]) for data in sets]


def _key(case: Case) -> tuple[Code, str, tuple[int, ...]]:
    return case.code, case.machine, tuple(sorted(case.measured))


def _judged(data: DataSet, answers: list[dict[str, Answer]]) -> Evaluated:
    names = list(answers[0])
    variants = {
        name: _curves(data, [(a[name].seconds, a[name].confidence) for a in answers])
        for name in names
    }
    full = [a[FULL.name] for a in answers]
    baselines = {"Roofline, same bytes": _curves(data, [(a.roofline, 0.5) for a in full])}
    for tool in sorted({tool for case in data.cases for tool in case.published}):
        kept = [case for case in data.cases if min(case.measured) in case.published.get(tool, {})]
        some = replace(data, cases=tuple(kept))
        baselines[tool] = _curves(some, [(case.published[tool], 0.5) for case in kept])
    baselines |= _constant_curves(data)
    for name, choose in constant_choices(data).items():
        baselines[name] = tuple(
            Judged(case.label, None, None, None, None,
                   *choice_of(case, data, partial(choose, case)), None, 1.0)
            for case in data.cases
        )  # fmt: skip
    return Evaluated(data, variants, baselines, tuple(full))


def _constant_curves(data: DataSet) -> dict[str, tuple[Judged, ...]]:
    """Curves that look at nothing: their speedups and classes, not their times or choices."""
    cases = tuple(replace(case, absolute=False) for case in data.cases)
    if not data.saturates or all(len(case.measured) < 2 for case in cases):
        return {}
    bare = replace(data, cases=cases, choice="none", common_factor=False)
    return {
        "perfect scaling": _curves(bare, [({t: 1.0 / t for t in c.measured}, 1.0) for c in cases]),
        "saturating at half": _curves(
            bare,
            [({t: 1.0 / min(t, -(-max(c.measured) // 2)) for t in c.measured}, 1.0) for c in cases],
        ),
    }


def _curves(data: DataSet, curves: list[tuple[Times, float]]) -> tuple[Judged, ...]:
    factor = 1.0
    if data.common_factor:
        factor = median(
            case.measured[min(case.measured)] / curve[min(case.measured)]
            for case, (curve, _) in zip(data.cases, curves, strict=True)
        )
    return tuple(
        judge(case, data, curve, confidence, factor)
        for case, (curve, confidence) in zip(data.cases, curves, strict=True)
    )
