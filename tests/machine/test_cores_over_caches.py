"""Which cores come first where threads go over the second-level caches."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from regionpredict.machine.detect.topology import HardwareThread, ThreadCache, over_caches


def core(number: int, second: frozenset[int] | None, package: int = 0) -> HardwareThread:
    caches = [ThreadCache(1, 32768, 64, 8, frozenset({number}))]
    if second is not None:
        caches.append(ThreadCache(2, 3 << 20, 64, 12, second))
    return HardwareThread(number, package, package, frozenset({number}), tuple(caches))


def test_two_cores_a_cache_as_linux_numbers_dunnington() -> None:
    """Four packages of six cores; 0, 4, 8 ... are the first package's, two to each L2."""
    pairs = {
        number: frozenset({number, number + 12 if number < 12 else number - 12})
        for number in range(24)
    }
    cores = [core(number, pairs[number], number % 4) for number in range(24)]
    order = sorted(cores, key=lambda one: (one.package, one.number))
    found = over_caches(order)
    first = found[:12]
    assert len({pairs[number] for number in first}) == 12  # each L2 once
    assert first[:3] == (0, 4, 8)  # those of the first package first
    assert found[12:15] == (12, 16, 20)  # then their neighbours


def test_a_cache_of_ones_own_or_none_told_changes_nothing() -> None:
    assert over_caches([core(3, frozenset({3})), core(1, None), core(2, frozenset({2}))]) == (
        3,
        1,
        2,
    )


@given(st.lists(st.integers(0, 5), min_size=1, max_size=16))
def test_no_cache_has_two_more_than_another_that_still_has_cores(caches: list[int]) -> None:
    """Dealt out in turns: after any number of cores each cache has so many or all it has."""
    members = {c: frozenset(i for i, own in enumerate(caches) if own == c) for c in caches}
    found = over_caches([core(i, members[own]) for i, own in enumerate(caches)])
    assert sorted(found) == list(range(len(caches)))
    for taken in range(1, len(found) + 1):
        counts = Counter(caches[number] for number in found[:taken])
        most = max(counts.values())
        assert all(counts[c] >= min(most - 1, len(members[c])) for c in members)
