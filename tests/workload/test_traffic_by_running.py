"""Traffic of small nests against the nests run with LRU caches: to the line, where a line is one
element and nothing hangs on where arrays begin.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest
from further_cases import further_slow
from nest_texts import counter_of, nest_of
from simulated_nest import simulated
from test_reuse_by_running import ELEMENT, NESTS, PARAMETERS

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload import CacheLevel

CAPACITIES = (12, 24, 40, 60, 100, 200, 400, 1000)
BEYOND = frozenset(CAPACITIES)
ONE: dict[str, frozenset[int]] = {
    # Two rows of `a`, where of the first one so much is left as the second has not pushed out.
    "row after row": frozenset({40, 60}),
    "row, vector, row": frozenset({60}),
    # A row that a loop has just left is taken to be gone where it does not fit.
    "what the loop has left": frozenset({12, 24}),
    "an array of the body": frozenset({24}),  # the same
}
APART = ONE | {
    # Threads whose pieces begin where those before them end count what both touch.
    "two rows apart": BEYOND,
    "by steps": BEYOND - {12},  # six iterations on four threads
}
TOGETHER = {
    "rows above and below": frozenset({200}),
    "two rows apart": frozenset({200}),
    "neighbours in a row": frozenset({12}),
    "far ahead": BEYOND - {12},  # more iterations apart than a piece has
    "far behind": BEYOND,
    "by steps": frozenset({12, 24}),
    "row after row": frozenset({200}),
    "row, vector, row": frozenset({100}),
    "what the loop has left": frozenset({24, 40, 60}),
    "an array of the body": frozenset({100}),
}
"""Where the model, which counts in whole iterations, is not exact."""


def compare(
    name: str, threads: int, sharers: int, rough: Mapping[str, Collection[int]],
    chunk: int | None = None,
) -> None:  # fmt: skip
    rows = {"m": 16} if "][" in NESTS[name] else {}
    nest = nest_of(NESTS[name], PARAMETERS, n=12, **rows)
    counter = counter_of(nest, Schedule("static", chunk), ELEMENT)
    for capacity in CAPACITIES:
        if capacity in rough.get(name, ()):
            continue
        (level,) = counter.traffic([CacheLevel(capacity * ELEMENT, sharers)], threads)
        run = simulated(
            nest, capacity * ELEMENT, threads, sharers,
            chunk=chunk, line_bytes=ELEMENT, alignments=1,
        )  # fmt: skip
        told = {one.array: (one.read, one.written) for one in level.arrays}
        assert told == {array: pytest.approx(moved) for array, moved in run.items()}, capacity


@pytest.mark.parametrize("name", NESTS)
def test_one_thread(name: str) -> None:
    compare(name, 1, 1, ONE)


@pytest.mark.parametrize("name", NESTS)
def test_four_threads_with_a_cache_each(name: str) -> None:
    compare(name, 4, 1, APART)


@pytest.mark.parametrize("name", NESTS)
def test_four_threads_of_one_cache(name: str) -> None:
    compare(name, 4, 4, TOGETHER)


@pytest.mark.parametrize("chunk", [1, 3])
@pytest.mark.parametrize("sharers", [1, 4])
@pytest.mark.parametrize("name", ["matrix by vector", "again and again", "by steps"])
def test_chunks_in_turn(name: str, sharers: int, chunk: int) -> None:
    """But where a cache holds about one turn of all threads."""
    compare(name, 4, sharers, {name: {12, 24}}, chunk)


COLLAPSED = {
    "copy": "b[i][j] = a[i][j];",
    "by columns": "b[i][j] = a[i][j] + x[j];",
    "by rows": "b[i][j] = y[i];",
    "sums": "for (int k = 0; k < n; k++) c[i][j] += a[i][k] * x[k];",
}


@pytest.mark.parametrize("chunk", further_slow(2, [None, 4, 1, 16]))
@pytest.mark.parametrize("name", COLLAPSED)
def test_two_loops_dealt_out_as_one(name: str, chunk: int | None) -> None:
    """Rows of 16: pieces of three rows, or chunks of an element, a part of a row, a row."""
    loops = f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {COLLAPSED[name]}"
    nest = nest_of(loops, PARAMETERS, "collapse(2)", n=12, m=16)
    counter = counter_of(nest, Schedule("static", chunk), ELEMENT)
    for threads, sharers in ((4, 1), (4, 4), *(((8, 1), (8, 2)) if chunk else ())):
        for capacity in (12, 24, 60, 100, 1000):
            (level,) = counter.traffic([CacheLevel(capacity * ELEMENT, sharers)], threads)
            run = simulated(
                nest, capacity * ELEMENT, threads, sharers,
                chunk=chunk, line_bytes=ELEMENT, alignments=1,
            )  # fmt: skip
            told = {one.array: (one.read, one.written) for one in level.arrays}
            assert told == {array: pytest.approx(moved) for array, moved in run.items()}


@pytest.mark.parametrize(
    ("rows", "threads", "sharers"), [(14, 4, 4), (14, 4, 2), (12, 8, 4), (11, 4, 4)]
)
def test_threads_that_begin_in_the_middle_of_a_row(rows: int, threads: int, sharers: int) -> None:
    """Pieces of three and a half rows of 16, of one and a half, of two and three quarters: threads
    are at columns of `a` of their own, half a row or a quarter apart, and read all in each row.
    """
    loops = """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
      for (int k = 0; k < 12; k++) b[i][j] += a[k][j];"""
    nest = nest_of(loops, "int n, int m, double a[12][m], double b[n][m]", "collapse(2)",
                   n=rows, m=16)  # fmt: skip
    counter = counter_of(nest, line_bytes=ELEMENT)
    for capacity in (20, 40, 100, 150, 300):
        (level,) = counter.traffic([CacheLevel(capacity * ELEMENT, sharers)], threads)
        run = simulated(
            nest, capacity * ELEMENT, threads, sharers, line_bytes=ELEMENT, alignments=1
        )
        told = {one.array: (one.read, one.written) for one in level.arrays}
        assert told == {array: pytest.approx(moved) for array, moved in run.items()}, capacity
