"""Edges from lists of dependences, held against every conflicting pair of accesses."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.tasks.dependences import IN, INOUT, INOUT_SET, MUTEX_SET, OUT, dependence_pairs

LISTS = st.lists(
    st.dictionaries(
        st.integers(0, 3), st.sampled_from([IN, OUT, INOUT, MUTEX_SET, INOUT_SET]), max_size=3
    ),
    max_size=9,
)


def ordered(first: int, second: int) -> bool:
    """Whether two accesses to one place keep their order (OpenMP 5.2, sec. 15.9.5)."""
    return first != second or first not in (IN, MUTEX_SET, INOUT_SET)


def behind(count: int, pairs) -> list[set[int]]:
    reach: list[set[int]] = [set() for _ in range(count)]
    for first in reversed(range(count)):
        for a, b in pairs:
            if a == first:
                reach[a] |= {b} | reach[b]
    return reach


@given(LISTS)
@settings(max_examples=300, deadline=None)
def test_the_order_is_that_of_all_conflicts(lists):
    rows = [
        (0, task, place, kind) for task, uses in enumerate(lists) for place, kind in uses.items()
    ]
    found = dependence_pairs(rows)
    conflicts = [
        (a, b)
        for b in range(len(lists))
        for a in range(b)
        if any(
            place in lists[b] and ordered(kind, lists[b][place]) for place, kind in lists[a].items()
        )
    ]
    assert behind(len(lists), found) == behind(len(lists), conflicts)
    # None but direct ones: each is a conflict itself.
    assert set(found) <= set(conflicts)


def test_siblings_alone_depend_on_each_other():
    rows = [(0, 1, 8, OUT), (7, 2, 8, OUT), (0, 3, 8, IN)]
    assert list(dependence_pairs(rows)) == [(1, 3)]


def test_a_task_that_names_a_place_twice_writes_it():
    # in and inout in one list, in both orders; the next reader waits for it.
    for kinds in ((IN, INOUT), (INOUT, IN)):
        rows = [(0, 1, 8, OUT), (0, 2, 8, kinds[0]), (0, 2, 8, kinds[1]), (0, 3, 8, IN)]
        assert set(dependence_pairs(rows)) == {(1, 2), (2, 3)}


def test_all_memory_is_every_place():
    rows = [(0, 1, 8, OUT), (0, 2, 16, IN), (0, 3, 0, 34), (0, 4, 24, IN), (0, 5, 0, 35)]
    assert set(dependence_pairs(rows)) == {(1, 3), (2, 3), (3, 4), (4, 5)}
