"""What stays in a cache from one run to the next: shares by hand, and by throwing dice."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_texts import counter_of, nest_of
from small_nests import ROWS

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload import CacheContents, CacheLevel, warm_cache_contents
from regionpredict.workload.cache_traffic import resident_share, touched_bytes


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.floats(0, 300), st.floats(1, 300))
def test_what_stays(held: float, size: float) -> None:
    share = resident_share(held, size)
    assert 0 <= share <= 1
    if held <= size / 2:
        assert share == 1
    elif held >= size:
        assert share == 0
    else:
        assert share == pytest.approx((size - held) / (size / 2))


@pytest.mark.parametrize("threads", [1, 3, 4])
def test_a_second_run_finds_what_the_cache_holds(threads: int) -> None:
    """Data of 2 * 4671 bytes: all of it stays in a cache of twice that, a half in one and a third,
    nothing in one as large."""
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest)
    for size, share in ((2 * data + 1, 0.0), (data * 4 / 3, 0.5), (data - 1, 1.0)):
        level = CacheLevel(size, threads)
        (cold,) = counter.traffic([level], threads)
        (warm,) = counter.traffic([level], threads, contents=warm_cache_contents(nest))
        assert cold.read == pytest.approx(data, rel=0.06)
        assert warm.read == pytest.approx(share * cold.read, abs=0.02 * data)
        assert warm.written == pytest.approx(share * cold.written, abs=0.02 * data)


def test_threads_with_caches_of_their_own_need_less_of_each() -> None:
    """Four threads on 9342 bytes: each holds a quarter, which stays in a cache of half of it."""
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest)
    for size, share in ((0.56 * data, 0.0), (data / 3, 0.5), (0.25 * data, 1.0)):
        (warm,) = counter.traffic([CacheLevel(size, 1)], 4, contents=warm_cache_contents(nest))
        assert warm.read == pytest.approx(share * data, abs=0.12 * data)


def test_chunks_of_a_thread_stay_together() -> None:
    """Six chunks of one row each are a quarter of the data, whatever their number."""
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest, Schedule("static", 1.0))
    (warm,) = counter.traffic([CacheLevel(0.7 * data, 1)], 4, contents=warm_cache_contents(nest))
    assert warm.read == 0
    # Six rows of both, of 192 bytes each: 2976 of 3265 with the ends of their lines.
    held = 2 * 6 * 64 * (1 + 184 / 64)
    (tight,) = counter.traffic([CacheLevel(0.35 * data, 1)], 4, contents=warm_cache_contents(nest))
    assert tight.read == pytest.approx(4 * held * (2 * held / (0.35 * data) - 1))


def test_what_is_left_in_the_caches() -> None:
    """Two matrices of 4671 bytes: of what one core left all is in a cache of twice both, whoever
    asks; a thread's own is a quarter of that, and other data in between takes its place.
    """
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest)
    arrays = frozenset("ab")

    def read(size: float, contents: CacheContents, threads: int = 4, sharers: int = 1) -> float:
        (level,) = counter.traffic([CacheLevel(size, sharers)], threads, contents=contents)
        return level.read

    cold = read(data / 2, CacheContents())
    assert read(data / 2, CacheContents(own=arrays)) == pytest.approx(0.0, abs=0.12 * data)
    assert read(data / 2, CacheContents(one_core=arrays)) == cold
    assert read(data * 4 / 3, CacheContents(one_core=arrays)) == pytest.approx(cold / 2, rel=0.01)
    assert read(2 * data, CacheContents(one_core=arrays)) == 0.0
    # Of the two arrays one alone.
    half = read(2 * data, CacheContents(one_core=frozenset("a")))
    assert half == pytest.approx(cold / 2, rel=0.01)
    # What comes between takes the place of what one core left, too.
    between = CacheContents(one_core=arrays, between=data)
    assert read(2 * data, between) == read(2 * data, CacheContents()) > 0.0
    assert read(data * 8 / 3, between) == pytest.approx(read(2 * data, between) / 2, rel=0.01)
    assert read(4 * data, between) == 0.0
    # As much again between two runs of one thread: a cache of four times the data holds both.
    own = CacheContents(arrays, between=data)
    assert read(2 * data, own, 1) == read(data, CacheContents(), 1)
    assert read(4 * data, own, 1) == 0.0
    # Each of four threads has a quarter of it, and of what comes between.
    assert read(1.2 * data, own) == 0.0
    alone = read(data * 2 / 3, CacheContents())
    assert read(data * 2 / 3, own) == pytest.approx(alone / 2, abs=0.12 * data)
    # Two of them in one cache have half of both, and four all.
    assert read(2.2 * data, own, 4, 2) == 0.0
    assert read(4.1 * data, own, 4, 4) == 0.0
    for sharers, size in ((2, data), (4, 2 * data)):
        assert read(size, own, 4, sharers) == read(size, CacheContents(), 4, sharers)


def test_a_cache_that_adapts_keeps_a_part_of_more() -> None:
    """Twice a cache: h = exp(-2 (1 - h)) of the lines outlive a turn under random replacement,
    0.203; half of that is counted, and of it what the cache reaches.
    """
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    data = touched_bytes(nest, 64)
    counter = counter_of(nest)
    for lasting, share in ((0.0, 0.0), (0.5, 0.0508), (1.0, 0.1016)):
        level = CacheLevel(data / 2, 1, lasting)
        (again,) = counter.traffic([level], 1, contents=warm_cache_contents(nest))
        (cold,) = counter.traffic([level], 1)
        assert again.read == pytest.approx((1 - share) * cold.read, rel=1e-3)


def test_random_replacement_by_throwing_dice() -> None:
    """A cyclic walk over more lines than a cache has, any of which goes."""
    dice = Random(1)
    for lines, cache in ((260, 200), (400, 200)):
        held, slots, hits = {}, list(range(cache)), 0
        for turn in range(60):
            for line in range(lines):
                if line in held:
                    hits += turn >= 20
                    continue
                slot = dice.randrange(cache) if len(held) >= cache else len(held)
                held.pop(slots[slot], None) if len(held) >= cache else None
                slots[slot] = line
                held[line] = slot
        kept = resident_share(float(lines), float(cache), lasting=1.0) / 0.5
        assert kept == pytest.approx(hits / (40 * lines), abs=0.05)
