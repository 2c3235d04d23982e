"""Lines that references through data miss: expected numbers of throws, by hand."""

from __future__ import annotations

import pytest
from nest_texts import counter_of, group_of, nest_of

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload import CacheContents, CacheLevel


@pytest.mark.parametrize(("size", "expected"), [(1 << 10, 1.0), (1 << 19, 0.5), (1 << 22, None)])
def test_gathers(size: int, expected: float | None) -> None:
    """P = 1 - C/WS of the accesses miss; at least each line that is touched, once."""
    loops = "for (int i = 0; i < n; i++) s[0] += x[row[i]];"
    n, extent = 300_000, 1 << 20
    nest = nest_of(loops, f"int n, int *row, double *s, double x[{extent // 8}]", n=n)
    (level,) = counter_of(nest).traffic([CacheLevel(float(size), 1)], 1)
    (x,) = (traffic for traffic in level.arrays if traffic.array == "x")
    if expected is not None:
        assert x.read == pytest.approx(64 * n * (1 - size / extent))
    else:
        # Of 16384 lines those hit at least once by 300000 throws: all but e^-18.
        assert x.read == pytest.approx(extent, rel=1e-6)
    assert x.written == 0.0
    few = nest_of(loops, f"int n, int *row, double *s, double x[{extent // 8}]", n=16384)
    (level,) = counter_of(few).traffic([CacheLevel(2.0**22, 1)], 1)
    (x,) = (traffic for traffic in level.arrays if traffic.array == "x")
    # As many throws as lines: 1 - (1 - 1/N)^N of them are hit.
    assert x.read == pytest.approx(extent * (1 - (1 - 1 / 16384) ** 16384), rel=1e-3)


def test_scatters_are_written_and_private_tables_are_every_thread_s() -> None:
    loops = "for (int i = 0; i < n; i++) x[row[i]] += 1;"
    nest = nest_of(loops, "int n, int *row, double x[131072]", n=300_000)
    (level,) = counter_of(nest).traffic([CacheLevel(1024.0, 1)], 4)
    (x,) = (traffic for traffic in level.arrays if traffic.array == "x")
    assert x.written == x.read == pytest.approx(64 * 300_000 * (1 - 1024 / 2**20))
    own = """for (int i = 0; i < n; i++) {
      double t[512]; t[row[i]] = 1; }"""
    nest = nest_of(own, "int n, int *row", n=400_000)
    assert group_of(nest, "t").extent == 4096
    for threads in (1, 4):
        (level,) = counter_of(nest).traffic([CacheLevel(2.0**20, threads)], threads)
        (t,) = (traffic for traffic in level.arrays if traffic.array == "t")
        assert t.read == pytest.approx(threads * 4096, rel=1e-6)


def test_threads_gather_from_one_array() -> None:
    """Sharing a cache they find the lines of the others; with their own, each fetches its own."""
    loops = "for (int i = 0; i < n; i++) s[0] += x[row[i]];"
    nest = nest_of(loops, "int n, int *row, double *s, double x[1024]", n=40_000)
    for sharers, copies in ((4, 1), (1, 4), (2, 2)):
        (level,) = counter_of(nest).traffic([CacheLevel(65536.0, sharers)], 4)
        (x,) = (traffic for traffic in level.arrays if traffic.array == "x")
        assert x.read == pytest.approx(copies * 8192, rel=1e-3)


def test_a_repeated_question_has_the_same_answer() -> None:
    """Data that others evict anyway change nothing, however often a counter is asked."""
    loops = "for (int i = 0; i < n; i++) s[0] += x[row[i]];"
    nest = nest_of(loops, "int n, int *row, double *s, double x[1024]", n=40_000)
    counter = counter_of(nest).with_schedule(Schedule("dynamic", 1.0))
    reads = set()
    for evicted in (1e9, 2e9, 3e9):
        contents = CacheContents(frozenset(("x",)), between=evicted)
        (level,) = counter.traffic([CacheLevel(65536.0, 1)], 4, contents=contents)
        reads |= {traffic.read for traffic in level.arrays if traffic.array == "x"}
    assert list(reads) == [pytest.approx(4 * 8192, rel=1e-3)]
