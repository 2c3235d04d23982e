"""How sure a hint is, and on which numbers of threads a curve is asked for: by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from round_machine import round_machine, workload_of_text

from regionpredict.machine import load
from regionpredict.predict.by_size import HintRange, OpenHint
from regionpredict.predict.curve import SaturationDerivation
from regionpredict.predict.density import predict_density
from regionpredict.predict.saturation import known_at_all_sizes, predict_saturation
from regionpredict.predict.saturation.model import rough_curve, round_counts
from regionpredict.predict.uncertainty import Doubt, confidence_of, doubt
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
    return [point.threads for point in rough_curve(workload, MACHINE, threads, also=also)]


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
    unread = (doubt("unread", "a line"),)
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
