"""Speedups beyond the number of threads are told with their reason.

The round machine has two packages of four cores, each with a last cache of 4 MiB; here the cache is
fast: 64 GB/s for each core.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from round_machine import round_machine
from test_prediction import N, curve_of, predicted

from regionpredict.predict.curve import Point, Superlinear
from regionpredict.predict.saturation.constants import SUPERLINEAR
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.predict.saturation.superlinear import (
    superlinear_gain,
    superlinear_sentence,
    with_all_work,
)

MACHINE = round_machine(("bandwidth: {load: {1: 16, 4: 32}}", "bandwidth: {load: {1: 64, 4: 256}}"))
THREE = 200_000
"""Three arrays of 1.6 MB: too much for one package's 4 MiB, at ease in two."""


def test_caches_that_hold_the_data_between_two_runs(tmp_path: Path) -> None:
    made = predicted(tmp_path, machine=MACHINE, n=THREE)
    found = made.superlinear
    assert found is not None
    speedup = dict(made.speedup)
    assert found.speedup == speedup[found.threads] > SUPERLINEAR.value * found.threads
    before = range(1, found.threads)
    assert all(speedup[threads] <= SUPERLINEAR.value * threads for threads in before)
    # all of the data pass below the caches on one thread: 32 bytes an element, a write-back too
    assert f"on one thread {32 * THREE / 2**20:.3g} MiB" in found.reason
    assert found.reason.startswith(f"the L{len(MACHINE.caches)} caches of {found.threads} threads")
    (note,) = [note for note in made.diagnostics if note.id == "RP131"]
    assert (note.message, note.span.line) == (superlinear_sentence(found), 2)


@pytest.mark.parametrize("warm", [True, False])
def test_what_is_divided_and_no_more_is_not_told(tmp_path: Path, warm: bool) -> None:
    made = predicted(tmp_path, machine=MACHINE, n=N, warm=warm)
    assert made.superlinear is None
    assert not any(note.id == "RP131" for note in made.diagnostics)


def test_a_first_run_finds_nothing_in_any_cache(tmp_path: Path) -> None:
    assert predicted(tmp_path, machine=MACHINE, n=THREE, warm=False).superlinear is None


def test_the_reason_is_what_lost_most_not_what_is_longest() -> None:
    """On two threads 10 s of arithmetic take 5, and 4 s of overhead a half."""
    points = [
        Point(threads, compute + overhead, 14.0 / (compute + overhead), "compute",
              {"compute": compute, "overhead": overhead}, 0.0, 0.0)
        for threads, compute, overhead in ((1, 10.0, 4.0), (2, 5.0, 0.5))
    ]  # fmt: skip
    found = superlinear_gain(points, cast("RegionTime", None))
    assert found == Superlinear(2, 14.0 / 5.5, "overhead takes each thread less than its share")


def test_the_first_count_is_the_measure() -> None:
    """Three times as fast on six threads as on two is what their number gives."""
    points = [
        Point(threads, seconds, 12.0 / seconds, "compute", {"compute": seconds}, 0.0, 0.0)
        for threads, seconds in ((2, 12.0), (6, 4.0), (8, 2.0))
    ]
    found = superlinear_gain(points, cast("RegionTime", None))
    assert found == Superlinear(8, 6.0, "compute takes each thread less than its share")


def test_what_lost_most_against_its_share_of_the_first_count() -> None:
    """Two threads and eight: four quarters of what is left are 2 s less of 8 s of arithmetic, and
    0.2 s less of 1 s of imbalance."""
    points = [
        Point(threads, compute + uneven, 9.0 / (compute + uneven), "compute",
              {"compute": compute, "imbalance": uneven}, 0.0, 0.0)
        for threads, compute, uneven in ((2, 8.0, 1.0), (8, 1.5, 0.2))
    ]  # fmt: skip
    gain = superlinear_gain(points, cast("RegionTime", None))
    assert gain == Superlinear(8, 9.0 / 1.7, "compute takes each thread less than its share")


def test_it_is_told_for_the_numbers_of_threads_that_are_asked_for(tmp_path: Path) -> None:
    made = predicted(tmp_path, machine=MACHINE, n=THREE, threads=(2,))
    assert made.superlinear is None
    assert curve_of(made).points[-1].threads == 2


def test_lost_work_is_no_speedup() -> None:
    """Threads that together do a ten thousandth of the work show an error in the count."""
    seconds = {1: 1.0, 2: 1e-4, 4: 0.08, 8: 0.02}
    points = tuple(
        Point(threads, spent, 1.0 / spent, "compute", {"compute": spent}, 0.0, 0.0)
        for threads, spent in seconds.items()
    )
    own, lost = with_all_work(points)
    assert lost
    assert [(p.threads, p.seconds, p.speedup) for p in own] == [
        (1, 1.0, 1.0), (2, 0.5, 2.0), (4, 0.08, 12.5), (8, 0.02, 50.0),
    ]  # fmt: skip
    assert own[1].terms == pytest.approx({"compute": 0.5})
    assert with_all_work(own) == (own, False)


def test_faster_memory_is_no_lost_work() -> None:
    terms = ({"compute": 0.1, "cache": 99.9}, {"compute": 0.05, "cache": 0.01})
    points = tuple(
        Point(threads, sum(spent.values()), 100.0 / sum(spent.values()), "cache", spent, 0.0, 0.0)
        for threads, spent in zip((1, 2), terms, strict=True)
    )
    assert with_all_work(points) == (points, False)
