"""The evaluated data sets as tables of Markdown, and the blocks of a page that hold them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

from evaluate import PLAIN, Answered, Evaluated, by_model, judgement_of
from fitting import constants_of, density_rates
from judge import Judged
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

from regionpredict.predict.sureness import Fitted

MODEL = "this model"
LEFT_OUT = "fitted without this set"
OF = {"in": "in-sample", "out": "out-of-sample"}


def _values(judged: Sequence[Judged], field: str) -> list[float]:
    found = [getattr(one, field) for one in judged]
    return [float(value) for value in found if value is not None]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _interval(judged: Sequence[Judged], field: str, of: Callable[..., float]) -> str:
    """A statistic over cases in per cent, with its 95 % interval."""
    values = _values(judged, field)
    if not values:
        return "-"
    found: Interval = bootstrap(values, of)
    return f"{100 * found.value:.1f} % [{100 * found.low:.0f}, {100 * found.high:.0f}]"


def _rank(judged: Sequence[Judged]) -> str:
    pairs = [one.top for one in judged if one.top is not None]
    found = spearman([a for a, _ in pairs], [b for _, b in pairs])
    return "-" if found is None else f"{found:.2f}"


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
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
            if not _values(judged, "speedup_error") and not _values(judged, "time_error"):
                continue
            first = name == MODEL
            lines.append([
                one.data.name if first else "",
                one.data.sample if first else "",
                str(len(judged)),
                name,
                _percent(_median(judged, "time_error")),
                _interval(judged, "speedup_error", median),
                _interval(judged, "saturating_right", mean),
                _interval(judged, "point_right", mean),
                _rank(judged),
            ])  # fmt: skip
    for sample in ("in", "out"):
        cells = [_over_sets(sets, sample, field) for field in _FIELDS]
        lines.append([f"*median of the {OF[sample]} sets*", sample, "", MODEL, *cells, ""])
    head = ["data", "sample", "cases", "predicted by", "time", "speedup", "class", "point", "rank"]
    return _table(head, lines)


_FIELDS = {
    "time_error": median,
    "speedup_error": median,
    "saturating_right": mean,
    "point_right": mean,
}


def _median(judged: Sequence[Judged], field: str) -> float | None:
    values = _values(judged, field)
    return median(values) if values else None


def _over_sets(sets: Sequence[Evaluated], sample: str, field: str) -> str:
    found = []
    for one in sets:
        values = _values(one.variants[FULL.name], field)
        if values and one.data.sample == sample:
            found.append(_FIELDS[field](values))
    return _percent(median(found) if found else None)


def choices(sets: Sequence[Evaluated]) -> str:
    """Right choices, what they cost, how many cores they take, and whether confidence is earned."""
    lines = []
    for one in sets:
        for name, judged in _with_left_out(one).items():
            regret = _values(judged, "regret")
            if not regret:
                continue
            first = name == MODEL
            told = name in (MODEL, LEFT_OUT)
            right = [value > 0 for value in _values(judged, "right")]
            confidence = [j.confidence for j in judged if j.right is not None]
            lines.append([
                f"{one.data.name}: {one.data.choice}" if first else "",
                name,
                _interval(judged, "right", mean),
                f"{geometric_mean(regret):.3f}",
                f"{max(regret):.2f}",
                _percent(mean(_values(judged, "cores"))),
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
            "*all cases*" if name == MODEL else "", name, _percent(share(right)),
            f"{geometric_mean([j.regret or 1.0 for j in everything]):.3f}",
            f"{max(j.regret or 1.0 for j in everything):.2f}",
            _percent(mean(_values(everything, "cores"))), f"{mean(confidence):.2f}",
            f"{brier(confidence, right):.3f}", f"{calibration_error(confidence, right):.3f}",
            _mean_percent(everything, "inside"),
        ])  # fmt: skip
    head = ["data: choice of", "chosen by", "right", "regret", "worst", "cores taken",
            "confidence", "Brier", "ECE", "in band"]  # fmt: skip
    return _table(head, lines)


def _mean_percent(judged: Sequence[Judged], field: str) -> str:
    values = _values(judged, field)
    return _percent(mean(values) if values else None)


BINS = (0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)


def reliability(sets: Sequence[Evaluated]) -> str:
    """How often hints of each confidence are right: as fitted to all data, and to all others."""
    lines = []
    for low, high in pairwise(BINS):
        cells = [f"{100 * low:.0f} to {100 * high:.0f} %"]
        for of_set in ([one.variants[FULL.name] for one in sets], [one.left_out for one in sets]):
            inside = [
                (len(judged), j) for judged in of_set for j in judged
                if j.right is not None and low <= j.confidence < high + (high == 1.0)
            ]  # fmt: skip
            if not inside:
                cells += ["0", "-", "-", "-"]
                continue
            weights = [1.0 / count for count, _ in inside]
            by_set = sum(w * float(j.right or 0) for w, (_, j) in zip(weights, inside, strict=True))
            cells += [
                str(len(inside)),
                _percent(mean(j.confidence for _, j in inside)),
                _percent(mean(float(j.right or 0) for _, j in inside)),
                _percent(by_set / sum(weights)),
            ]
        lines.append(cells)
    kinds = ["hints", "mean", "right", "right, each set once"]
    head = ["confidence", *kinds, *(f"{kind} (left out)" for kind in kinds)]
    return _table(head, lines)


PRICES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


def frontier(answered: Sequence[Answered], left_out: Mapping[str, Fitted], shipped: Fitted) -> str:
    """What hints lose and what they take at other prices of a package, each set once."""
    chosen = [one for one in answered if one.data.choice != "none"]

    def row(name: str, found: Sequence[Sequence[Judged]], *, first: bool) -> list[str]:
        known = [[j for j in of_set if j.right is not None] for of_set in found]
        known = [of_set for of_set in known if of_set]
        regret = [geometric_mean(_values(of_set, "regret")) for of_set in known]
        cells = [
            _percent(mean(mean(_values(of_set, "right")) for of_set in known)),
            f"{geometric_mean(regret):.4f}",
            _percent(mean(mean(_values(of_set, "cores")) for of_set in known)),
        ]
        return [name, *cells] if first else cells

    lines = []
    for price in PRICES:
        full = [[answers[FULL.name] for answers in one.answers] for one in chosen]
        fits = [(shipped, True), (None, False)]
        line: list[str] = []
        for fitted, first in fits:
            found = [by_model(one.data, answers, fitted or left_out[one.data.name], price)
                     for one, answers in zip(chosen, full, strict=True)]  # fmt: skip
            line += row(f"{price:g} x 5 % a package", found, first=first)
        lines.append(line)
    for name in (PLAIN, "always all"):
        found = [
            of_set for one in chosen
            for label, of_set in judgement_of(one, shipped).baselines.items()
            if label.startswith(name)
        ]  # fmt: skip
        lines.append([*row(name, found, first=True), "", "", ""])
    kinds = ["right", "regret", "cores taken"]
    return _table(["price", *kinds, *(f"{kind} (left out)" for kind in kinds)], lines)


def fitted_values(shipped: Fitted, left_out: Mapping[str, Fitted]) -> str:
    """What was fitted, and to all data sets but one."""
    rows = [["*all*", *(f"{value:.3g}" for value in constants_of(shipped).values())]]
    rows += [[f"without {name}", *(f"{value:.3g}" for value in constants_of(fitted).values())]
             for name, fitted in left_out.items()]  # fmt: skip
    return _table(["fitted to", *constants_of(shipped)], rows)


def density(rates: Mapping[str, tuple[float, int, int]]) -> str:
    """How often the density model's hints are right, by kind."""
    lines = [[name, str(hits), str(count), _percent(rate)]
             for name, (rate, hits, count) in rates.items()]  # fmt: skip
    return _table(["hint", "right", "of", "rate"], lines)


def ablation(sets: Sequence[Evaluated], field: str, of: Callable[..., float]) -> str:
    """One measure of every data set with each part of the model switched off."""
    kept = [one for one in sets if _values(one.variants[FULL.name], field)]
    if not kept:
        return ""
    names = list(kept[0].variants)
    lines = []
    for name in names:
        cells = [f"without {name}" if name != FULL.name else name]
        for one in kept:
            value = of(_values(one.variants[name], field))
            base = of(_values(one.variants[FULL.name], field))
            text = _percent(value)
            cells.append(text if name == FULL.name or abs(value - base) > 5e-4 else "=")
        lines.append(cells)
    return _table(["", *(one.data.name for one in kept)], lines)


def provenance(sets: Sequence[Evaluated]) -> str:
    """Where each data set comes from, and what was chosen on it."""
    lines = [
        [one.data.name, one.data.what, one.data.source, str(len(one.data.cases)), one.data.sample,
         one.data.chosen_on_it]
        for one in sets
    ]  # fmt: skip
    return _table(["data", "what", "file (source)", "cases", "sample", "chosen on it"], lines)


def worst(sets: Sequence[Evaluated], count: int = 3) -> str:
    """The cases of each data set that are furthest off."""
    lines = []
    for one in sets:
        judged = one.variants[FULL.name]
        field = "speedup_error" if _values(judged, "speedup_error") else "time_error"
        known = [j for j in judged if getattr(j, field) is not None]
        for j in sorted(known, key=lambda j: -getattr(j, field))[:count]:
            predicted, measured = j.top or (0.0, 0.0)
            lines.append([
                one.data.name, j.label.replace("|", "/"), field.split("_", maxsplit=1)[0],
                _percent(getattr(j, field)), f"{measured:.3g}", f"{predicted:.3g}",
            ])  # fmt: skip
    return _table(["data", "case", "error of", "median", "measured", "predicted"], lines)


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


def sureness_blocks(
    answered: Sequence[Answered], sets: Sequence[Evaluated], left_out: Mapping[str, Fitted],
    shipped: Fitted,
) -> dict[str, str]:  # fmt: skip
    """The tables of what is fitted to the data, by the name of their blocks."""
    return {
        "reliability": reliability(sets),
        "frontier": frontier(answered, left_out, shipped),
        "fitted": fitted_values(shipped, left_out),
        "density": density(density_rates(answered)),
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
