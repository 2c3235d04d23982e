"""Finds data-dependent conditions that decide hints because their frequency is unknown.

A condition on data is assumed to be true in half of the executions. Each condition is tried as
almost never and almost always true. It decides a hint if no number of threads is good in all three
cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from regionpredict.analysis import facts_of
from regionpredict.analysis.given_shares import Given, every_condition, with_given
from regionpredict.analysis.history.first_touch import Placement
from regionpredict.analysis.history.last_writes import History
from regionpredict.errors import InputError
from regionpredict.ir import Region
from regionpredict.machine import Machine
from regionpredict.predict import (
    Choice,
    Prediction,
    common_threads,
    points_of,
    rough_curve,
    size_target,
)
from regionpredict.predict.constants import SELDOM, WITHIN
from regionpredict.sizes.trials import choice_of
from regionpredict.workers import spread
from regionpredict.workload import workload_of

_Past = tuple[Placement, History]


class DecidingShare(NamedTuple):
    """A condition, named by its location such as `solve.c:21`, and the number of hints that depend
    on its share.
    """

    name: str
    decides: int


def deciding_shares(
    predictions: Sequence[Prediction], pasts: Sequence[_Past], machine: Machine, processes: int
) -> tuple[DecidingShare, ...]:
    """Returns the conditions whose share decides hints of a program, most hints first.

    `pasts` gives the page placement of each region and the last writers of its arrays. All trials
    use the assumed sizes.
    """
    asked = [
        pair
        for pair in zip(predictions, pasts, strict=True)
        if points_of(pair[0])
        and not pair[0].idle
        and _conditions_without_share(pair[0].facts.region)
    ]
    ask = partial(_deciding_of, machine=machine)
    decided = Counter(name for names in spread(ask, asked, processes) for name in names)
    ranked = sorted(decided.items(), key=lambda counted: (-counted[1], counted[0]))
    return tuple(DecidingShare(*counted) for counted in ranked)


def _conditions_without_share(region: Region) -> list[str]:
    """Returns the locations of conditions without a given share. Lines with several conditions are
    excluded.
    """
    conditions = {(branch.span, branch.condition): branch for branch in every_condition(region)}
    lines = Counter((span.file, span.line) for span, _ in conditions)
    return [
        f"{span.file}:{span.line}"
        for (span, _), branch in conditions.items()
        if branch.share is None and lines[span.file, span.line] == 1
    ]


def _deciding_of(pair: tuple[Prediction, _Past], *, machine: Machine) -> tuple[str, ...]:
    """Returns the locations of the conditions that decide the hint of one region."""
    prediction, past = pair
    asked = [threads for threads, _ in prediction.speedup]
    now = choice_of(points_of(prediction), machine, asked, WITHIN.value)
    return tuple(
        name for name in _conditions_without_share(prediction.facts.region)
        if not common_threads([now, *_choices_at_extremes(name, prediction, past, machine)])
    )  # fmt: skip


def _choices_at_extremes(
    name: str, prediction: Prediction, past: _Past, machine: Machine
) -> Iterator[Choice]:
    """Yields the choice if a condition is almost never true, and the choice if it is almost always
    true.
    """
    placement, history = past
    seldom, known = Fraction(str(SELDOM.value)), prediction.facts
    for share in (seldom, 1 - seldom):
        facts = facts_of(with_given(known.region, Given({}, {name: share})), known.bindings)
        try:
            workload = workload_of(
                facts, size_target(machine), machine.line_bytes,
                placement=placement, history=history,
            )  # fmt: skip
        except InputError:  # beyond 64 bits
            continue
        points = rough_curve(workload, machine, extra_threads=prediction.threads or 1)
        if points:
            yield choice_of(points, machine, (), WITHIN.value)
