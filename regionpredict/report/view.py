"""Selects and sorts the loops of a result: `--only`, `--sort`, `--top`.

Output about the whole program (its plan, the lines above the table) does not depend on these
options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from regionpredict.analysis import RegionFacts
from regionpredict.errors import UsageError
from regionpredict.ir import Region
from regionpredict.predict import Prediction, TeamPrediction
from regionpredict.predict.teams import region_seconds

Shown = TypeVar("Shown", Prediction, RegionFacts)
Order = tuple[bool, float | str]


@dataclass(frozen=True, slots=True)
class View:
    """The selection and order of a table's rows.

    `only` are patterns of files, functions, folders or FILE:LINE. A region must match one of them,
    if there are any. `sort` is the order (`_sort_key`), and `top` the maximum number. `short`: many
    regions are reduced to the most expensive ones, on one screen.
    """

    only: tuple[str, ...] = ()
    sort: str = "line"
    top: int | None = None
    short: bool = False


EVERYTHING = View()


def chosen_facts(facts: Sequence[RegionFacts], view: View) -> tuple[RegionFacts, ...]:
    """Returns the facts that a view shows, in its order. Raises UsageError if a pattern matches
    nothing.
    """
    return _select_items(
        facts, view, lambda facts: facts, lambda facts: _facts_order(facts, view.sort)
    )


def chosen_predictions(
    predictions: Sequence[Prediction], teams: Sequence[TeamPrediction], view: View
) -> tuple[Prediction, ...]:
    """Returns the predictions that a view shows, in its order. Raises UsageError if a pattern
    matches nothing.
    """
    times = region_seconds(predictions, teams)
    return _select_items(
        predictions,
        view,
        lambda prediction: prediction.facts,
        lambda prediction: _sort_key(prediction, view.sort, times),
    )


def chosen_teams(
    teams: Sequence[TeamPrediction], predictions: Sequence[Prediction]
) -> tuple[TeamPrediction, ...]:
    """Returns the parallel regions with at least one of these loops, in their own order."""
    shown = {prediction.facts.region.id for prediction in predictions}
    return tuple(
        team
        for team in teams
        if any(member.facts.region.id in shown for member in team.facts.members)
    )


def _select_items(
    items: Sequence[Shown], view: View, facts_of: Callable[[Shown], RegionFacts],
    order_of: Callable[[Shown], Order],
) -> tuple[Shown, ...]:  # fmt: skip
    kept = list(items)
    if view.only:
        for pattern in view.only:
            if not any(fits(facts_of(facts).region, pattern) for facts in items):
                raise UsageError(
                    f"--only {pattern}: no loop is in such a file, function or line",
                    remedy="write a name or a pattern, such as 'solve*', '*/src/*' or gemm.c:41",
                )
        kept = [facts for facts in items
                if any(fits(facts_of(facts).region, pattern) for pattern in view.only)]  # fmt: skip
    if view.sort != "line":  # without --sort, rows are in the order of file and line
        kept.sort(key=order_of)
    return tuple(kept[: view.top])


def fits(region: Region, pattern: str) -> bool:
    """Whether a pattern matches a region's function, file, folder, line, or FILE:LINE."""
    file, function = region.span.file, region.function
    lines = {region.span.line, (region.nest or region).span.line}
    paths = [file, region.id, *(f"{file}:{line}" for line in lines)]
    folder = pattern.rstrip("/")
    return (
        fnmatchcase(function, pattern)
        or pattern in map(str, lines)
        or any(fnmatchcase(path, end) for path in paths for end in (pattern, f"*/{pattern}"))
        or any(fnmatchcase(file, inside) for inside in (f"{folder}/*", f"*/{folder}/*"))
    )


def _facts_order(facts: RegionFacts, sort: str) -> Order:
    if sort == "function":
        return False, facts.region.function
    value = facts.iterations.value if sort == "iterations" else facts.working_set.value
    return value is None, -(value or 0)


def _sort_key(prediction: Prediction, sort: str, times: Mapping[str, float]) -> Order:
    """Returns the sort keys: most time, least speedup, or least confidence first."""
    if sort == "time":
        seconds = times.get(prediction.facts.region.id)
        return seconds is None, -(seconds or 0.0)
    if sort == "speedup":
        return prediction.threads is None, gain_of(prediction) or prediction.score or 0.0
    if sort == "sure":
        return prediction.status == "skipped", prediction.confidence
    if sort == "data":
        return prediction.working_set_bytes is None, -(prediction.working_set_bytes or 0)
    return _facts_order(prediction.facts, sort)


def gain_of(loop: Prediction | TeamPrediction) -> float | None:
    """Returns the speedup on the hinted threads. None for a model without a curve, and for a loop
    that does not run at the assumed sizes, whose hint is for other sizes.
    """
    if loop.shared_core_speedup is not None:
        return loop.shared_core_speedup
    return None if is_hinted_for_other_sizes(loop) else _on_hinted_threads(loop)


def is_hinted_for_other_sizes(loop: Prediction | TeamPrediction) -> bool:
    """Whether a loop does not run at the assumed sizes, so that its hint is for other sizes."""
    gain = _on_hinted_threads(loop)
    return loop.range is not None and gain is not None and gain < 1.0


def _on_hinted_threads(loop: Prediction | TeamPrediction) -> float | None:
    return {point[0]: point[1] for point in loop.speedup}.get(loop.threads or 1)
