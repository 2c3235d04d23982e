"""Where predictions and laws fitted to measured times disagree, by closed forms."""

from __future__ import annotations

import random

import pytest
from comparison_text import shown_words

from regionpredict.compare.empirical import disagreeing, fitted_laws
from regionpredict.compare.verdicts import Comparison, compare
from regionpredict.measure.hints_file import Hint, Hints
from regionpredict.measure.records import Campaign, Host, RegionRun, Run
from regionpredict.measure.summary import summarise
from regionpredict.report.comparison import comparison_document

COUNTS = (1, 2, 4, 8, 16)


def hint(line: int, speedup: dict[int, float]) -> Hint:
    return Hint(
        f"f.c:{line}", "f.c", line, line + 1, "f", "predicted", 1, 16, 0.5, "compute", 0.9,
        borderline=False, speedup=speedup, assumed=(),
    )  # fmt: skip


def campaign(times: dict[int, dict[int, float]], noise: float = 0.0, runs: int = 5) -> Campaign:
    """line -> threads -> seconds, five runs each with relative normal noise."""
    random.seed(7)
    made = []
    for repetition in range(runs):
        for count in sorted({n for by in times.values() for n in by}):
            regions = []
            for line, by in times.items():
                total = 10 * by[count] * (1 + random.gauss(0, noise) if noise else 1)
                regions.append(
                    RegionRun("/b/f.c", line, line + 1, "f", "omp for", "gcc", 10, total, total,
                              total, total, 10, 80, 8, 8, count, count)
                )  # fmt: skip
            made.append(Run(count, repetition, False, 1.0, "now", 0.1, "/a", "gcc", "g",
                            tuple(regions)))  # fmt: skip
    return Campaign(("./a",), Host("here", "p", 1, 16, 1, 1), {}, "now", tuple(made))


def held(
    hints: list[Hint], times: dict[int, dict[int, float]], noise: float = 0.0
) -> tuple[Comparison, Campaign]:
    made = campaign(times, noise)
    return compare(Hints("h.json", "m", 1, 16, "saturation", tuple(hints)), summarise(made)), made


def amdahl(serial: float) -> dict[int, float]:
    return {n: 10 * (serial + (1 - serial) / n) for n in COUNTS}


def speedup(times: dict[int, float]) -> dict[int, float]:
    return {n: times[1] / t for n, t in times.items()}


def test_the_law_of_the_prediction_agrees_with_itself() -> None:
    comparison, made = held([hint(3, speedup(amdahl(0.2)))], {3: amdahl(0.2)}, noise=0.03)
    (law,) = fitted_laws(comparison, [made])
    assert law.disagrees == ()
    assert law.law in ("20 % serial", "19 % serial", "21 % serial")
    assert law.predicted_law == "20 % serial"
    assert law.speedup[16].value == pytest.approx(4.0, rel=0.05)
    assert "disagree for 0 of 1 region" in shown_words(comparison, [law])


def test_a_prediction_beyond_the_uncertainty_disagrees() -> None:
    # Predicted to scale, measured to saturate at 4 threads.
    ceiling = {n: max(8 / n, 2.0) for n in COUNTS}
    comparison, made = held([hint(3, {n: float(n) for n in COUNTS})], {3: ceiling}, noise=0.02)
    (law,) = fitted_laws(comparison, [made])
    assert law.disagrees == (8, 16)
    assert law.worst is not None
    assert law.worst == (16, pytest.approx(4.0, rel=0.05))
    assert law.law.startswith("saturates at 4.0") or law.law.startswith("saturates at 3.9")
    assert law.predicted_law == "scales"
    text = shown_words(comparison, [law])
    assert "disagree for 1 of 1 region" in text
    assert "on 16 threads 16.00 predicted" in text
    document = comparison_document(comparison, [law]).record()
    assert document["disagreeing"] == ["f.c:3"]
    assert document["regions"][0]["fitted"]["disagrees"] == [8, 16]


def test_the_farthest_apart_come_first() -> None:
    ideal = {n: float(n) for n in COUNTS}
    times = {3: amdahl(0.1), 20: amdahl(0.6)}
    comparison, made = held([hint(3, ideal), hint(20, ideal)], times)
    laws = fitted_laws(comparison, [made])
    assert [one.verdict.hint.line for one in disagreeing(laws)] == [20, 3]


def test_a_small_difference_that_is_sure_is_none() -> None:
    # 5 % off everywhere, without any noise: within the tolerance of 10 %.
    predicted = {n: s * (0.95 if n > 1 else 1.0) for n, s in speedup(amdahl(0.2)).items()}
    comparison, made = held([hint(3, predicted)], {3: amdahl(0.2)})
    assert fitted_laws(comparison, [made])[0].disagrees == ()


def test_noise_hides_what_cannot_be_told() -> None:
    # 25 % off, with runs that differ by 100 % and more: nobody can say.
    predicted = {n: s * (1.25 if n > 1 else 1.0) for n, s in speedup(amdahl(0.2)).items()}
    quiet, made = held([hint(3, predicted)], {3: amdahl(0.2)}, noise=0.01)
    assert fitted_laws(quiet, [made])[0].disagrees
    loud = campaign({3: amdahl(0.2)}, noise=0.3, runs=3)
    comparison = compare(
        Hints("h.json", "m", 1, 16, "saturation", (hint(3, predicted),)), summarise(loud)
    )
    assert fitted_laws(comparison, [loud])[0].disagrees == ()


def test_two_counts_tell_no_law() -> None:
    times = {3: {1: 4.0, 2: 2.0}}
    comparison, made = held([hint(3, {1: 1.0, 2: 2.0})], times)
    assert fitted_laws(comparison, [made]) == ()
    assert "disagree" not in shown_words(comparison, [])
    assert comparison_document(comparison).record()["regions"][0]["fitted"] is None
