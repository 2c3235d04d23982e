"""Work that data spread over the iterations, against distributions that are dealt out."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload.constants import HEAVY_SHARE
from regionpredict.workload.skewed_work import Skew, skewed_share

ITERATIONS = 20_000
SKEWS = (Skew(1.0), Skew(1.0, exponent=2.1), Skew(1.0, exponent=3.5), Skew(1.0, ratio=1.0),
         Skew(1.0, ratio=9.0), Skew(1.0, ratio=500.0))  # fmt: skip


def work_of(skew: Skew) -> list[float]:
    """The work of every iteration, the longest first, 1 in all."""
    upto = [skew.heaviest(k / ITERATIONS) for k in range(ITERATIONS + 1)]
    return [b - a for a, b in itertools.pairwise(upto)]


@pytest.mark.parametrize("skew", SKEWS, ids=str)
def test_the_longest_iterations_come_first(skew: Skew) -> None:
    work = work_of(skew)
    assert sum(work) == pytest.approx(1.0)
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(work))
    if skew.ratio is not None and skew.ratio > 1.0:
        assert work[0] * ITERATIONS == pytest.approx(skew.ratio)
        heavy = round(HEAVY_SHARE.value / skew.ratio * ITERATIONS)
        assert sum(work[:heavy]) == pytest.approx(HEAVY_SHARE.value, rel=0.01)


@pytest.mark.parametrize("skew", SKEWS, ids=str)
@pytest.mark.parametrize("threads", [2, 7, 20, 64])
def test_static_blocks(skew: Skew, threads: int) -> None:
    """The first block is the longest; it is between the mean and the ratio times the mean."""
    work, block = work_of(skew), -(-ITERATIONS // threads)
    found = skewed_share(skew, ITERATIONS, threads, Schedule("static", None))
    assert found == pytest.approx(sum(work[:block]), rel=0.01)
    if skew.ratio is not None:
        assert 1.0 <= found * threads * 1.001 <= max(1.001, skew.ratio) * 1.01


@pytest.mark.parametrize("skew", SKEWS, ids=str)
@pytest.mark.parametrize(("threads", "chunk"), [(2, 1), (7, 16), (20, 100), (64, 16)])
@pytest.mark.parametrize("seed", [1, 2])
def test_pieces_for_whoever_is_free(skew: Skew, threads: int, chunk: int, seed: int) -> None:
    """In whatever order the pieces come, nobody has more than is said."""
    work = work_of(skew)
    pieces = [sum(work[at : at + chunk]) for at in range(0, ITERATIONS, chunk)]
    random.Random(seed).shuffle(pieces)
    ends = [0.0] * threads
    for piece in pieces:
        first = ends.index(min(ends))
        ends[first] += piece
    found = skewed_share(skew, ITERATIONS, threads, Schedule("dynamic", float(chunk)))
    assert max(ends) <= found * 1.0001


@given(st.floats(1.0, 1e4), st.integers(2, 128))
def test_chunks_are_no_worse_than_blocks(ratio: float, threads: int) -> None:
    """The finer the pieces the more even the work."""
    skew = Skew(1.0, ratio=ratio)
    shares = [
        skewed_share(skew, 1e6, threads, schedule)
        for schedule in (Schedule("static", None), Schedule("guided", 1.0),
                         Schedule("dynamic", 64.0), Schedule("dynamic", 1.0))
    ]  # fmt: skip
    assert shares[3] <= shares[2] + 1e-9
    assert shares[3] <= shares[0] * 1.1 + 1e-9
    assert all(1.0 / threads <= share * 1.0001 <= 1.001 for share in shares)
