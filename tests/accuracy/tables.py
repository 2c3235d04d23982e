"""The evaluated data sets as tables of Markdown, and the blocks of a page that hold them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import exp, log
from pathlib import Path
from statistics import mean, median

from evaluate import Evaluated
from judge import Judged
from measured import DataSet
from metrics import (
    Interval,
    bootstrap,
    brier,
    calibration_error,
    geometric_mean,
    share,
    spearman,
)
from predictor import FULL

MODEL = "this model"
LEFT_OUT = "fitted without this set"
OF = {"in": "in-sample", "out": "out-of-sample"}


def values_of(judged: Sequence[Judged], field: str) -> list[float]:
    found = [getattr(one, field) for one in judged]
    return [float(value) for value in found if value is not None]


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _interval(judged: Sequence[Judged], field: str, of: Callable[..., float]) -> str:
    """A statistic over cases in per cent, with its 95 % interval."""
    values = values_of(judged, field)
    if not values:
        return "-"
    found: Interval = bootstrap(values, of)
    return f"{100 * found.value:.1f} % [{100 * found.low:.0f}, {100 * found.high:.0f}]"


def _rank(judged: Sequence[Judged]) -> str:
    pairs = [one.top for one in judged if one.top is not None]
    found = spearman([a for a, _ in pairs], [b for _, b in pairs])
    return "-" if found is None else f"{found:.2f}"


def table_of(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _of_all(one: Evaluated) -> dict[str, tuple[Judged, ...]]:
    return {MODEL: one.variants[FULL.name], **one.baselines}


def _with_left_out(one: Evaluated) -> dict[str, tuple[Judged, ...]]:
    left = {LEFT_OUT: one.left_out} if one.left_out else {}
    return {MODEL: one.variants[FULL.name], **left, **one.baselines}


def errors(sets: Sequence[Evaluated]) -> str:
    """Times, speedups, classes, points and ranks, of the model and of the predictors beside it."""
    lines = []
    for one in sets:
        for name, judged in _of_all(one).items():
            if not values_of(judged, "speedup_error") and not values_of(judged, "time_error"):
                continue
            first = name == MODEL
            lines.append([
                one.data.name if first else "",
                one.data.sample if first else "",
                str(len(judged)),
                name,
                percent(_median(judged, "time_error")),
                _interval(judged, "speedup_error", median),
                _interval(judged, "saturating_right", mean),
                _interval(judged, "point_right", mean),
                _rank(judged),
            ])  # fmt: skip
    for sample in ("in", "out"):
        cells = [_over_sets(sets, sample, field) for field in _FIELDS]
        lines.append([f"*median of the {OF[sample]} sets*", sample, "", MODEL, *cells, ""])
    head = ["data", "sample", "cases", "predicted by", "time", "speedup", "class", "point", "rank"]
    return table_of(head, lines)


_FIELDS = {
    "time_error": median,
    "speedup_error": median,
    "saturating_right": mean,
    "point_right": mean,
}


def _median(judged: Sequence[Judged], field: str) -> float | None:
    values = values_of(judged, field)
    return median(values) if values else None


def _over_sets(sets: Sequence[Evaluated], sample: str, field: str) -> str:
    found = []
    for one in sets:
        values = values_of(one.variants[FULL.name], field)
        if values and one.data.sample == sample:
            found.append(_FIELDS[field](values))
    return percent(median(found) if found else None)


def choices(sets: Sequence[Evaluated]) -> str:
    """Right choices, what they cost, how many cores they take, and whether confidence is earned."""
    lines = []
    for one in sets:
        for name, judged in _with_left_out(one).items():
            regret = values_of(judged, "regret")
            if not regret:
                continue
            first = name == MODEL
            told = name in (MODEL, LEFT_OUT)
            right = [value > 0 for value in values_of(judged, "right")]
            confidence = [j.confidence for j in judged if j.right is not None]
            lines.append([
                f"{one.data.name}: {one.data.choice}" if first else "",
                name,
                _interval(judged, "right", mean),
                f"{geometric_mean(regret):.3f}",
                f"{max(regret):.2f}",
                percent(mean(values_of(judged, "cores"))),
                f"{mean(confidence):.2f}" if told else "",
                f"{brier(confidence, right):.3f}" if told else "",
                f"{calibration_error(confidence, right):.3f}" if told else "",
                _mean_percent(judged, "inside") if told else "",
            ])  # fmt: skip
    for name, of_set in ((MODEL, [one.variants[FULL.name] for one in sets]),
                         (LEFT_OUT, [one.left_out for one in sets])):  # fmt: skip
        everything = [j for judged in of_set for j in judged if j.right is not None]
        if not everything:
            continue
        right = [bool(j.right) for j in everything]
        confidence = [j.confidence for j in everything]
        lines.append([
            "*all cases*" if name == MODEL else "", name, percent(share(right)),
            f"{geometric_mean([j.regret or 1.0 for j in everything]):.3f}",
            f"{max(j.regret or 1.0 for j in everything):.2f}",
            percent(mean(values_of(everything, "cores"))), f"{mean(confidence):.2f}",
            f"{brier(confidence, right):.3f}", f"{calibration_error(confidence, right):.3f}",
            _mean_percent(everything, "inside"),
        ])  # fmt: skip
    lines += [_each_file_once(name, found) for name, found in (
        (MODEL, [(one.data, one.variants[FULL.name]) for one in sets]),
        (LEFT_OUT, [(one.data, one.left_out) for one in sets]),
    ) if any(judged for _, judged in found)]  # fmt: skip
    head = ["data: choice of", "chosen by", "right", "regret", "worst", "cores taken",
            "confidence", "Brier", "ECE", "in band"]  # fmt: skip
    return table_of(head, lines)


def _each_file_once(name: str, judged: Sequence[tuple[DataSet, tuple[Judged, ...]]]) -> list[str]:
    """Means over files, and in each over its sets, of those that are no tables of machine files."""
    files: dict[str, list[tuple[Judged, ...]]] = {}
    for data, of_set in judged:
        if data.choice != "none" and not data.tabulated:
            files.setdefault(data.file, []).append(of_set)

    def over(field: str, value: Callable[[float], float] = float) -> float:
        return mean(
            mean(mean(map(value, values_of(of_set, field))) for of_set in of_file)
            for of_file in files.values()
        )

    return [
        "*each file once, no tables of machine files*" if name == MODEL else "", name,
        percent(over("right")), f"{exp(over('regret', log)):.3f}", "", percent(over("cores")),
        f"{over('confidence'):.2f}", "", "", percent(over("inside")),
    ]  # fmt: skip


def _mean_percent(judged: Sequence[Judged], field: str) -> str:
    values = values_of(judged, field)
    return percent(mean(values) if values else None)


def ablation(sets: Sequence[Evaluated], field: str, of: Callable[..., float]) -> str:
    """One measure of every data set with each part of the model switched off."""
    kept = [one for one in sets if values_of(one.variants[FULL.name], field)]
    if not kept:
        return ""
    names = list(kept[0].variants)
    lines = []
    for name in names:
        cells = [f"without {name}" if name != FULL.name else name]
        for one in kept:
            value = of(values_of(one.variants[name], field))
            base = of(values_of(one.variants[FULL.name], field))
            text = percent(value)
            cells.append(text if name == FULL.name or abs(value - base) > 5e-4 else "=")
        lines.append(cells)
    return table_of(["", *(one.data.name for one in kept)], lines)


def provenance(sets: Sequence[Evaluated]) -> str:
    """Where each data set comes from, and what was chosen on it."""
    lines = [
        [one.data.name, one.data.what, one.data.source, str(len(one.data.cases)), one.data.sample,
         one.data.chosen_on_it]
        for one in sets
    ]  # fmt: skip
    return table_of(["data", "what", "file (source)", "cases", "sample", "chosen on it"], lines)


def worst(sets: Sequence[Evaluated], count: int = 3) -> str:
    """The cases of each data set that are furthest off."""
    lines = []
    for one in sets:
        judged = one.variants[FULL.name]
        field = "speedup_error" if values_of(judged, "speedup_error") else "time_error"
        known = [j for j in judged if getattr(j, field) is not None]
        for j in sorted(known, key=lambda j: -getattr(j, field))[:count]:
            predicted, measured = j.top or (0.0, 0.0)
            lines.append([
                one.data.name, j.label.replace("|", "/"), field.split("_", maxsplit=1)[0],
                percent(getattr(j, field)), f"{measured:.3g}", f"{predicted:.3g}",
            ])  # fmt: skip
    return table_of(["data", "case", "error of", "median", "measured", "predicted"], lines)


def blocks(sets: Sequence[Evaluated], ablated: Sequence[Evaluated]) -> dict[str, str]:
    """Every table by the name of its block."""
    return {
        "provenance": provenance(sets),
        "errors": errors(sets),
        "choices": choices(sets),
        "worst": worst(sets),
        "ablation-times": ablation(ablated, "time_error", median),
        "ablation-speedups": ablation(ablated, "speedup_error", median),
        "ablation-choices": ablation(ablated, "right", mean),
    }


def sample_blocks(sets: Sequence[Evaluated]) -> dict[str, str]:
    """The tables of the part of the data that lives beside this file."""
    return {"sample-errors": errors(sets), "sample-choices": choices(sets)}


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"(<!-- accuracy: {re.escape(name)} -->\n\n).*?(\n\n<!-- end of {re.escape(name)} -->)",
        re.DOTALL,
    )


def block_of(page: str, name: str) -> str | None:
    """The text between a block's markers; None where the page has no such block."""
    found = re.search(
        rf"<!-- accuracy: {re.escape(name)} -->\n\n(.*?)\n\n<!-- end of {re.escape(name)} -->",
        page,
        re.DOTALL,
    )
    return found.group(1) if found else None


def updated(page: str, name: str, text: str) -> str:
    """The page with the block's text replaced."""
    return _pattern(name).sub(lambda found: found.group(1) + text + found.group(2), page)


def differing(path: Path, found: dict[str, str]) -> list[str]:
    """Names of blocks whose text on the page is another, or missing."""
    page = path.read_text()
    return [name for name, text in found.items() if block_of(page, name) != text]
