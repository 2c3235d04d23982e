"""What is fitted to the measured data, and how far it holds, as tables of Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from evaluate import PLAIN, Answered, Evaluated, by_model, judgement_of
from fitted_constants import constants_of, density_rates
from judge import Judged
from metrics import brier, calibration_error, geometric_mean, share
from predictor import FULL
from tables import percent, table_of, values_of

from regionpredict.predict.uncertainty import FittedCurves
from regionpredict.predict.uncertainty.doubts import FACTORS


def reliability(sets: Sequence[Evaluated]) -> str:
    """How often hints of each confidence are right: as fitted to all data, and to all others."""
    both = ([one.variants[FULL.name] for one in sets], [one.left_out for one in sets])
    told = [[(len(judged), j) for judged in of_set for j in judged if j.right is not None]
            for of_set in both]  # fmt: skip
    lines = []
    for level in sorted({j.confidence for hints in told for _, j in hints}):
        cells = [percent(level)]
        for hints in told:
            known = [(count, bool(j.right)) for count, j in hints if j.confidence == level]
            if not known:
                cells += ["0", "-", "-"]
                continue
            each = sum(right / count for count, right in known) / sum(1 / n for n, _ in known)
            cells += [str(len(known)), percent(share([right for _, right in known])), percent(each)]
        lines.append(cells)
    kinds = ["hints", "right", "right, each set once"]
    return table_of(["confidence", *kinds, *(f"{kind} (left out)" for kind in kinds)], lines)


def by_doubt(sets: Sequence[Evaluated]) -> str:
    """What confidence is worth by the source of doubt, of hints as fitted to all other data."""
    told = [j for one in sets for j in one.left_out if j.right is not None]
    rows: dict[str, list[Judged]] = {"*none*": [j for j in told if not j.doubts]}
    for kind in (*FACTORS, "figures", "sizes"):
        rows[kind] = [j for j in told if kind in j.doubts]
    rows["*all*"] = told
    lines = []
    for name, judged in rows.items():
        if not judged:
            lines.append([name, "0", "-", "-", "-", "-"])
            continue
        sure, right = [j.confidence for j in judged], [bool(j.right) for j in judged]
        lines.append([
            name, str(len(judged)), percent(share(right)), percent(mean(sure)),
            f"{brier(sure, right):.3f}", f"{calibration_error(sure, right):.3f}",
        ])  # fmt: skip
    return table_of(["doubt", "hints", "right", "confidence", "Brier", "ECE"], lines)


PRICES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


def frontier(
    answered: Sequence[Answered], left_out: Mapping[str, FittedCurves], shipped: FittedCurves
) -> str:
    """What hints lose and what they take at other prices of a package, each set once."""
    chosen = [one for one in answered if one.data.choice != "none"]

    def row(name: str, found: Sequence[Sequence[Judged]], *, first: bool) -> list[str]:
        known = [[j for j in of_set if j.right is not None] for of_set in found]
        known = [of_set for of_set in known if of_set]
        regret = [geometric_mean(values_of(of_set, "regret")) for of_set in known]
        cells = [
            percent(mean(mean(values_of(of_set, "right")) for of_set in known)),
            f"{geometric_mean(regret):.4f}",
            percent(mean(mean(values_of(of_set, "cores")) for of_set in known)),
        ]
        return [name, *cells] if first else cells

    lines = []
    for price in PRICES:
        full = [[answers[FULL.name] for answers in one.answers] for one in chosen]
        fits = [(shipped, True), (None, False)]
        line: list[str] = []
        for fitted, first in fits:
            found = [by_model(one.data, answers, fitted or left_out[one.data.file], price)
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
    return table_of(["price", *kinds, *(f"{kind} (left out)" for kind in kinds)], lines)


def fitted_values(shipped: FittedCurves, left_out: Mapping[str, FittedCurves]) -> str:
    """What was fitted, and to all data sets but one."""
    rows = [["*all*", *(f"{value:.3g}" for value in constants_of(shipped).values())]]
    rows += [[f"without {name}", *(f"{value:.3g}" for value in constants_of(fitted).values())]
             for name, fitted in left_out.items() if fitted != shipped]  # fmt: skip
    return table_of(["fitted to", *constants_of(shipped)], rows)


def density(rates: Mapping[str, tuple[float, int, int]]) -> str:
    """How often the density model's hints are right, by kind."""
    lines = [[name, str(hits), str(count), percent(rate)]
             for name, (rate, hits, count) in rates.items()]  # fmt: skip
    return table_of(["hint", "right", "of", "rate"], lines)


def sureness_blocks(
    answered: Sequence[Answered], sets: Sequence[Evaluated], left_out: Mapping[str, FittedCurves],
    shipped: FittedCurves,
) -> dict[str, str]:  # fmt: skip
    """The tables of what is fitted to the data, by the name of their blocks."""
    return {
        "reliability": reliability(sets),
        "doubts": by_doubt(sets),
        "frontier": frontier(answered, left_out, shipped),
        "fitted": fitted_values(shipped, left_out),
        "density": density(density_rates(answered)),
    }
