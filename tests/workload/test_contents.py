"""What a region finds in the caches, by what has happened to its arrays."""

from __future__ import annotations

import pytest
from nest_texts import MEBIBYTE, facts_of

from regionpredict.analysis.history.data_distribution import parts_of
from regionpredict.analysis.history.last_writes import History, LastWrite
from regionpredict.workload import CacheContents, workload_of

COPY = "for (int i = 0; i < n; i++) a[i] = b[i] + c[i];"
FACTS = facts_of(COPY, "int n, double *a, double *b, double *c", n=1000)
DEALT = LastWrite(parts_of(FACTS.region, "write")["a"], frozenset())
ONE_THREAD = LastWrite(None, frozenset())
ARRAYS = frozenset({"a", "b", "c"})


@pytest.mark.parametrize(
    ("history", "contents"),
    [
        (History(), CacheContents()),  # nothing known: nothing found
        (History(last={"b": DEALT}), CacheContents(frozenset({"b"}))),
        (History(last={"b": ONE_THREAD}), CacheContents(one_core=frozenset({"b"}))),
        (
            History(last={"a": ONE_THREAD, "b": DEALT, "c": ONE_THREAD}),
            CacheContents(frozenset({"b"}), frozenset({"a", "c"})),
        ),
        # Fresh memory has been written by nobody, whatever stood at its place before.
        (
            History(fresh=frozenset({"a", "b"}), last={"a": ONE_THREAD, "b": DEALT, "c": DEALT}),
            CacheContents(frozenset({"c"})),
        ),
        # A region that repeats finds what it left, behind what others touch in between.
        (History(repeats=True), CacheContents(ARRAYS)),
        (
            History(repeats=True, last={"b": ONE_THREAD}, bytes_between=1e6),
            CacheContents(ARRAYS, between=1e6),
        ),
    ],
)
def test_contents(history: History, contents: CacheContents) -> None:
    assert workload_of(FACTS, MEBIBYTE, 64, history=history).contents == contents


def test_arrays_only_written() -> None:
    """By any statement; `+=` reads."""
    loops = "for (int i = 0; i < n; i++) { a[i] = b[i]; c[i] += 1; d[i] = 2; d[i + 1] = 3; }"
    declared = "int n, double *a, double *b, double *c, double *d"
    made = workload_of(facts_of(loops, declared, n=1000), MEBIBYTE, 64)
    assert made.only_written == {"a", "d"}
