"""Lines are as long as the machine says: a copy at a stride of half a long line."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.schedule import Schedule
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict_region, region_workload
from regionpredict.predict import SaturationDerivation
from regionpredict.workload import (
    CacheLevel,
    TrafficCounter,
    unprefetched_arrays,
    warm_cache_contents,
)

# Every 16th double: 128 bytes apart.
COPY = """void f(long n, double *restrict a, double *restrict b)
{
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[16 * i] = b[16 * i];
}
"""
N = 1 << 20


def counter(tmp_path: Path, line_bytes: int) -> TrafficCounter:
    path = tmp_path / "copy.c"
    path.write_text(COPY)
    facts = analyse(requests_for((str(path),)), {"n": N}).facts[0]
    made = region_workload(facts, load("dunnington"))
    assert made.execution is not None
    work = made.execution.work
    return TrafficCounter(work.nest, work.profile, made.schedule, line_bytes, traced=False)


@pytest.mark.parametrize(("line_bytes", "spanned"), [(64, 64), (128, 128), (256, 128)])
def test_lines_of_a_strided_copy(tmp_path: Path, line_bytes: int, spanned: int) -> None:
    """128 bytes apart: a line each up to 128 bytes, from then on all bytes that are spanned."""
    (memory,) = counter(tmp_path, line_bytes).traffic([CacheLevel(2.0**16, 1)], 1)
    assert memory.written == pytest.approx(N * spanned, rel=1e-3)
    assert memory.read == pytest.approx(2 * N * spanned, rel=1e-3)


def test_a64fx_moves_its_long_lines(tmp_path: Path) -> None:
    """256-byte lines bring both elements and all between them: 128 bytes an element, not 64."""
    machine = load("a64fx")
    assert machine.line_bytes == 256
    path = tmp_path / "copy.c"
    path.write_text(COPY)
    facts = analyse(requests_for((str(path),)), {"n": N}).facts[0]
    made = predict_region(facts, machine)
    assert isinstance(made.derivation, SaturationDerivation)
    memory = made.derivation.levels[-1]
    assert memory.total == pytest.approx(3 * 128 * N, rel=1e-3)


def test_answers_do_not_hang_on_the_order_of_the_questions(tmp_path: Path) -> None:
    """A counter that has been asked before says what a new one says."""
    levels = [CacheLevel(2.0**15, 1), CacheLevel(2.0**22, 4)]
    teams = (1, 2, 3, 4, 8, 16)
    once, again = counter(tmp_path, 64), counter(tmp_path, 64)
    forth = {
        threads: once.traffic(levels, threads, contents=warm_cache_contents(once.nest))
        for threads in teams
    }
    back = {
        threads: again.traffic(levels, threads, contents=warm_cache_contents(again.nest))
        for threads in reversed(teams)
    }
    assert forth == back
    assert again.schedule == Schedule("static", None)


def test_a_walk_over_half_pages_is_not_foreseen(tmp_path: Path) -> None:
    """A prefetcher stays in its page: strides of 3000 bytes leave one of 4 KiB at every step."""
    text = COPY.replace("16 * i", "375 * i")
    path = tmp_path / "walk.c"
    path.write_text(text)
    facts = analyse(requests_for((str(path),)), {"n": 1000}).facts[0]
    made = region_workload(facts, load("dunnington"))
    assert made.execution is not None
    nest = made.execution.work.nest
    small, large = (
        unprefetched_arrays(nest, line_bytes=64, stride_bytes=page / 2, streams=32)
        for page in (4096, 65536)
    )
    assert (small, large) == (frozenset({"a", "b"}), frozenset())
