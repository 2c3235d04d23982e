"""How sure a hint is, and on which numbers of threads a curve is asked for: by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from round_machine import round_machine, workload_of_text

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict.by_size import HintRange, OpenHint
from regionpredict.predict.curve import SaturationDerivation
from regionpredict.predict.density import predict_density
from regionpredict.predict.saturation import known_at_all_sizes, predict_saturation
from regionpredict.predict.saturation.model import rough_curve, round_counts
from regionpredict.predict.uncertainty import Doubt, confidence_of, doubt_of_kind
from regionpredict.workload import Workload

MACHINE = round_machine()
TEXT = """void f(int n, double *restrict a, double *restrict b) {
#pragma omp parallel for CLAUSE
  for (int i = 0; i < n; i++) a[i] = b[i];
}
"""


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """A copy of a million numbers."""
    text = TEXT.replace("CLAUSE", "")
    return workload_of_text(tmp_path_factory.mktemp("text"), text, MACHINE, n=1_000_000)


def test_round_numbers_of_threads() -> None:
    """Powers of two, whole domains of 20 cores, and the most."""
    skylake = load("skylake-gold-6148")
    assert round_counts(skylake, 40) == [1, 2, 4, 8, 16, 20, 32, 40]
    assert round_counts(skylake, 39) == [1, 2, 4, 8, 16, 20, 32, 39]
    assert round_counts(skylake, 7) == [1, 2, 4, 7]
    assert round_counts(skylake, 8) == [1, 2, 4, 8]
    assert round_counts(skylake, 20) == [1, 2, 4, 8, 16, 20]
    assert round_counts(skylake, 1) == [1]


def counts(workload: Workload, *threads: int, also: int = 1) -> list[int]:
    return [point.threads for point in rough_curve(workload, MACHINE, threads, extra_threads=also)]


def test_a_rough_curve_asks_few_numbers(workload: Workload) -> None:
    assert counts(workload) == [1, 2, 4, 8]
    assert counts(workload, also=3) == [1, 2, 3, 4, 8]
    assert counts(workload, also=9) == [1, 2, 4, 8]  # more than there are
    assert counts(workload, 6, 16) == [1, 6]  # one thread is what the others are compared with
    limited = replace(workload, team_limit=3)
    assert counts(limited) == [1, 2, 3]
    assert counts(replace(workload, team_limit=99)) == [1, 2, 4, 8]
    assert rough_curve(replace(workload, execution=None), MACHINE) == ()
    exact = {point.threads: point for point in rough_curve(workload, MACHINE)}
    full = predict_saturation(workload, MACHINE).derivation
    assert isinstance(full, SaturationDerivation)
    assert all(exact[p.threads].seconds == p.seconds for p in full.points if p.threads in exact)


def hint(margin: float, chance: float) -> OpenHint:
    return OpenHint(("n",), frozenset(), (), HintRange((1, 1), (1, 4)), 4, margin, chance)


def test_guesses_that_do_not_decide_are_no_doubt(workload: Workload) -> None:
    """The least of all sizes' chances and margins is the hint's."""
    made = predict_saturation(workload, MACHINE)
    assert isinstance(made.derivation, SaturationDerivation)
    own = replace(made.derivation, margin=0.2, chance=0.6, within=0.05)
    sure = replace(made, derivation=own)
    for chance, least in ((0.5, 0.5), (0.7, 0.6)):
        known = known_at_all_sizes(sure, hint(0.1, chance))
        assert (known.threads, known.borderline) == (4, False)
        assert known.confidence == confidence_of(least)
    assert known_at_all_sizes(sure, hint(0.05, 1.0)).borderline is False
    assert known_at_all_sizes(sure, hint(0.04, 1.0)).borderline is True
    unread = (doubt_of_kind("unread", "a line"),)
    partial = known_at_all_sizes(replace(sure, doubts=unread), hint(0.1, 0.5))
    assert partial.confidence == confidence_of(0.5, doubts=unread)
    # The chance has the machine's figures in it: they are not counted twice.
    figures = replace(sure, doubts=(*unread, Doubt("figures", 0.5, "")))
    for chance, left in ((0.5, unread), (0.7, figures.doubts)):
        known = known_at_all_sizes(figures, hint(0.1, chance))
        assert known.confidence == confidence_of(min(chance, 0.6), doubts=unread)
        assert known.doubts == left
    # A model without a curve has no margin of this kind: it is left as it is.
    density = predict_density(workload.table, MACHINE)
    assert known_at_all_sizes(density, hint(0.1, 1.0)) is density


CALLS = """void handle(int i);
double a[1000];
void run(int n, void (*work)(int)) {
#pragma omp parallel for @
  for (int i = 0; i < n; i++) { work_here }
}
"""


@pytest.mark.parametrize(
    ("schedule", "work", "n", "most", "schedules"),
    [
        ("schedule(dynamic)", "handle(i);", 36_000_000, 0.65, 0),
        ("schedule(dynamic)", "work(i);", 36_000_000, 0.65, 0),
        ("", "handle(i);", 64, 0.65, 0),
        ("", "handle(i);", 36_000_000, 0.8, 0),
        ("schedule(dynamic)", "a[i % 1000] = i;", 36_000_000, 1.0, 1),
    ],
    ids=["unseen", "a pointer", "few of them", "many of them", "seen"],
)
def test_what_unseen_calls_cost_is_a_guess(
    tmp_path: Path, schedule: str, work: str, n: int, most: float, schedules: int
) -> None:
    """Calls of no known length count as 30 cycles. If that is less than the overhead, the hint of
    few threads and the gain of another schedule are those of the guess."""
    text = CALLS.replace("@", schedule).replace("work_here", work)
    (tmp_path / "f.c").write_text(text)
    machine = load("skylake-gold-6148")
    analysis = analyse(requests_for([str(tmp_path / "f.c")]), {"n": n})
    result = predict(analysis, machine, "saturation")
    (region,) = result.predictions
    assert most - 0.2 < region.confidence <= most
    advised = [change.id for changes in result.advice.values() for change in changes]
    assert advised.count("RP202") == schedules


SEARCH = """double a[1000000], b[100];
int found;
void run(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000000; i++) {
    for (int k = 0; k < 100; k++) @
  }
}
"""
CRITICAL = "\n#pragma omp critical\n found = i; "


@pytest.mark.parametrize(
    ("body", "least", "most"),
    [
        ("if (a[i] == b[k]) {" + CRITICAL + "break; }", 0.65, 0.8),
        ("if (a[i] > b[k]) {" + CRITICAL + "}", 0.65, 0.8),
        ("{" + CRITICAL + "if (a[i] > b[k]) a[i] = 0; }", 0.8, 0.95),
    ],
    ids=["once if at all", "in some", "in each"],
)
def test_how_often_a_condition_lets_threads_wait_is_a_guess(
    tmp_path: Path, body: str, least: float, most: float
) -> None:
    """All three serialize as they are counted, the first two only if the conditions hold."""
    (tmp_path / "f.c").write_text(SEARCH.replace("@", body))
    analysis = analyse(requests_for([str(tmp_path / "f.c")]), {})
    result = predict(analysis, load("skylake-gold-6148"), "saturation")
    (region,) = result.predictions
    assert region.threads == 1
    assert least <= region.confidence <= most
