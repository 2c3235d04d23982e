"""OMP_PLACES: texts against their places by hand, and the cores that threads take by them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.errors import UsageError
from regionpredict.machine import Machine, cores_filled_first, load, packages_of, thread_places
from regionpredict.machine.places import NamedPlaces, parse_places
from regionpredict.machine.thread_places import cache_sharers, threads_of_places

DUNNINGTON = load("dunnington")  # 4 packages of 6 cores, second-level caches of 2
SMT = load("skylake-gold-6148-snc")  # 2 packages, 2 domains of 10 cores each, 2 threads a core


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("{0},{2},{1}", [(0,), (2,), (1,)]),
        ("{0,1,2,3},{4,5,6,7}", [(0, 1, 2, 3), (4, 5, 6, 7)]),
        ("{0:4},{4:4}", [(0, 1, 2, 3), (4, 5, 6, 7)]),
        ("{0:4}:2:4", [(0, 1, 2, 3), (4, 5, 6, 7)]),
        ("{0:4}:2", [(0, 1, 2, 3), (1, 2, 3, 4)]),
        ("{0:3:2}", [(0, 2, 4)]),
        ("{0:4,!2}", [(0, 1, 3)]),
        ("{0}:4,!{2}", [(0,), (1,), (3,)]),
        ("{6}:3:-2", [(6,), (4,), (2,)]),
        (" { 0 , 1 } : 2 : 2 ", [(0, 1), (2, 3)]),
    ],
)
def test_lists_by_hand(text: str, places: list[tuple[int, ...]]) -> None:
    assert parse_places(text) == tuple(places)


@pytest.mark.parametrize(
    ("text", "name", "most"), [("cores", "cores", None), ("sockets(2)", "sockets", 2)]
)
def test_names(text: str, name: str, most: int | None) -> None:
    assert parse_places(text) == NamedPlaces(name, most)


@pytest.mark.parametrize(
    "text",
    ["", "x", "{0", "{}", "{0},", "{0}{1}", "{0:0}", "{0:2:0}", "{1}:3:-1", "cores(0)", "!{0}",
     "{0},!{0}", "{0:99999999}", "{0}:99999999", "core", "{-1}"],
)  # fmt: skip
def test_other_texts_are_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="is not a list of places") as raised:
        parse_places(text)
    assert "\n" not in str(raised.value)


def on(machine: Machine, places: str) -> Machine:
    return machine.as_run(binding=places)


@pytest.mark.parametrize(
    ("places", "threads", "by_package"),
    [
        ("{0}:12:2", 4, (3, 1, 0, 0)),  # cores 0, 2, 4, 6
        ("sockets", 6, (2, 2, 1, 1)),
        ("sockets(2)", 3, (2, 1, 0, 0)),
        ("{0:6},{18:6}", 4, (2, 0, 0, 2)),
        ("cores", 7, (6, 1, 0, 0)),
        ("ll_caches", 5, (2, 1, 1, 1)),
    ],
)
def test_threads_take_the_places_in_turn(
    places: str, threads: int, by_package: tuple[int, ...]
) -> None:
    found = thread_places(on(DUNNINGTON, places), threads)
    assert (found.by_package, found.on_a_core) == (by_package, 1)


def test_hardware_threads_follow_the_cores() -> None:
    both = on(SMT, "{0},{40},{1},{41}")
    assert [thread_places(both, n).on_a_core for n in (1, 2, 3, 4, 5)] == [1, 2, 2, 2, 3]
    assert thread_places(on(SMT, "threads"), 20).by_domain == (20, 0, 0, 0)
    with pytest.raises(
        UsageError, match=r"names hardware thread 80; the hardware threads .* are 0 to 79"
    ):
        thread_places(on(SMT, "{80}"), 1)


@pytest.mark.parametrize(
    ("places", "known"),
    [
        ("{" + "},{".join(map(str, [*range(0, 24, 2), *range(1, 24, 2)])) + "}", "caches"),
        ("cores", "close"),
        ("{0}:24", "close"),
    ],
)
def test_places_of_a_known_binding_are_that_binding(places: str, known: str) -> None:
    listed, named = on(DUNNINGTON, places), on(DUNNINGTON, known)
    for threads in range(1, 49):
        assert thread_places(listed, threads) == thread_places(named, threads)
        if threads < 24:
            shared = min(threads, cache_sharers(named, 2, threads))
            assert cache_sharers(listed, 2, threads) == shared
    assert cores_filled_first(listed) == cores_filled_first(named)
    assert not threads_of_places(listed)


def test_cores_without_a_place_have_no_threads() -> None:
    some = on(DUNNINGTON, "{0:3},{12}")
    assert list(threads_of_places(some)) == [1, 2, 3, 4]
    assert packages_of(some, 2) == 2


@given(st.lists(st.lists(st.integers(0, 23), min_size=1, max_size=4), min_size=1, max_size=6),
       st.integers(1, 60))  # fmt: skip
def test_each_place_has_its_threads(places: list[list[int]], threads: int) -> None:
    """OpenMP 5.2, sec. 10.1.3: T threads on P places are floor(T/P) or one more on each."""
    text = ",".join("{" + ",".join(map(str, place)) + "}" for place in places)
    found = thread_places(on(DUNNINGTON, text), threads)
    turns, rest = divmod(threads, len(places))
    expected: Counter[int] = Counter()
    for place, cores in enumerate(places):
        for turn in range(turns + (place < rest)):
            # Of all threads of a place, the next has its next core.
            longest = max(map(len, places))
            expected[cores[turn % longest % len(cores)] // 6] += 1
    assert found.by_package == tuple(expected[package] for package in range(4))
