"""Regions whose work data spread over the iterations: against degrees that are dealt out by hand,
what the caller gives of them, and what another schedule gains."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.errors import UsageError
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import Predictions, analyse, predict
from regionpredict.sizes.set_option import parse_given

MACHINE = load("skylake-gold-6148")
N = 1_000_000
TEXT = """#define N 1000000
int *row, *col; double *val, *x, *y;
void product(void) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    double s = 0;
    for (int k = row[i]; k < row[i + 1]; k++) s += val[k] * x[col[k]];
    y[i] = s;
  }
}
"""


def predicted(folder: Path, *pairs: str, text: str = TEXT) -> Predictions:
    path = folder / "rows.c"
    path.write_text(text)
    given = {"row[i+1]-row[i]": 16, **parse_given(pairs)}
    return predict(analyse(requests_for([str(path)]), given), MACHINE, "saturation")


def gain(made: Predictions, threads: int) -> float:
    return dict(made.predictions[0].speedup)[threads]


def busiest(degrees: list[int], threads: int) -> float:
    """The part of the entries that the thread with most of them has in static blocks."""
    block = -(-len(degrees) // threads)
    most = max(sum(degrees[at : at + block]) for at in range(0, len(degrees), block))
    return most / sum(degrees)


@pytest.mark.parametrize(("heavy", "entries"), [(0.1, 81), (0.02, 441), (0.3, 21)])
@pytest.mark.parametrize("threads", further_slow(1, [8, 2, 20]))
def test_two_classes_of_rows(tmp_path: Path, heavy: float, entries: int, threads: int) -> None:
    """As fast as the thread with most of the entries allows; what is done once a row is even."""
    long = round(heavy * N)
    degrees = [entries] * long + [1] * (N - long)
    ratio = entries * N / sum(degrees)
    made = predicted(tmp_path, f"skew(row)={ratio:.3f}")
    limit = 1.0 / busiest(degrees, threads)
    assert 0.75 * limit <= gain(made, threads) <= 1.25 * limit


@pytest.mark.parametrize("exponent", further_slow(1, [2.5, 2.2, 3.0]))
def test_a_power_law(tmp_path: Path, exponent: float) -> None:
    """Degrees drawn from it, the longest rows first."""
    draw = random.Random(3)
    degrees = sorted(
        (max(1, round(4 * (1 - draw.random()) ** (-1 / (exponent - 1)))) for _ in range(N)),
        reverse=True,
    )
    made = predicted(tmp_path, f"powerlaw(i)={exponent}")
    limit = 1.0 / busiest(degrees, 20)
    assert 0.6 * limit <= gain(made, 20) <= 1.4 * limit


def test_what_nobody_gave_is_in_band_and_confidence(tmp_path: Path) -> None:
    unknown, even, skewed = (
        predicted(tmp_path, *pairs).predictions[0]
        for pairs in ((), ("skew(i)=1",), ("powerlaw(i)=2.5",))
    )
    for (_, one), (_, other) in zip(unknown.speedup, even.speedup, strict=True):
        assert one == pytest.approx(other, rel=1e-3)
    (doubt,) = unknown.doubts
    assert doubt.id == "imbalance" and "row[i+1]-row[i]" not in doubt.reason
    assert "--set 'skew(i)=" in doubt.reason
    assert unknown.confidence < even.confidence and even.doubts == ()
    for (threads, value), (low, high), (_, worst) in zip(
        unknown.speedup, unknown.band, skewed.speedup, strict=True
    ):
        assert (low <= worst * 1.01 and value <= high) or threads == 1


def test_schedules_for_whoever_is_free_have_little_doubt(tmp_path: Path) -> None:
    dynamic = TEXT.replace("parallel for", "parallel for schedule(dynamic, 64)")
    (made,) = predicted(tmp_path, text=dynamic).predictions
    (static,) = predicted(tmp_path).predictions
    width = [{t: low for (t, _), (low, _) in zip(p.speedup, p.band, strict=True)}[20]
             for p in (made, static)]  # fmt: skip
    assert width[0] > 2 * width[1]


def test_the_advice_says_for_which_skew_it_holds(tmp_path: Path) -> None:
    made = predicted(tmp_path)
    ((change, *_),) = made.advice.values()
    assert change.id == "RP202" and change.gain > 1.1
    assert "schedule(dynamic, " in change.message and "times the mean" in change.message
    none = predicted(tmp_path, "skew(i)=1").advice
    assert all(own.id != "RP202" for changes in none.values() for own in changes)


def test_skews_as_text(tmp_path: Path) -> None:
    assert parse_given(["skew(row)=9.5", "powerlaw(a.c:3)=3"]) == {
        "skew(row)": Fraction(19, 2), "powerlaw(a.c:3)": Fraction(3),
    }  # fmt: skip
    for pair in ("skew(i)=0.5", "powerlaw(i)=2", "skew(nothing)=3", "skew(rows.c:3)=3"):
        with pytest.raises(UsageError):
            predicted(tmp_path, pair)
    for pair in ("skew(rows.c:4)=3", "skew(rows.c:7)=3", "skew(k)=3", "skew(row)=3"):
        (made,) = predicted(tmp_path, pair).predictions
        assert made.facts.region.skew is not None
