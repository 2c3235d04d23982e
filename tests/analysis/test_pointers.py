"""Pointers in structs that are copied, held to dictionaries that are copied."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from regionpredict.analysis.history.pointers import Pointers
from regionpredict.ir.flow import Place

STRUCTS = ("a", "b", "c")
MEMBERS = (".x", ".y")
# Every struct has two pointers, and a struct of two pointers in it.
SLOTS = [(name, *inner, member) for name in STRUCTS for inner in ((), (".in",))
         for member in MEMBERS]  # fmt: skip

steps = st.one_of(
    st.tuples(st.just("point"), st.sampled_from(SLOTS), st.sampled_from([("m",), ("n",)])),
    st.tuples(st.just("copy"), st.sampled_from(STRUCTS), st.sampled_from(STRUCTS)),
    st.tuples(st.just("inner"), st.sampled_from(STRUCTS), st.sampled_from(STRUCTS)),
    st.tuples(st.just("ask"), st.sampled_from(SLOTS), st.none()),
)


@given(st.lists(steps, max_size=12))
def test_a_copy_has_the_values_of_its_time(program: list[tuple[str, object, object]]) -> None:
    pointers = Pointers()
    truth: dict[str, dict[tuple[str, ...], Place]] = {
        name: {slot[1:]: (*slot, "*") for slot in SLOTS if slot[0] == name} for name in STRUCTS
    }
    for what, first, second in program:
        if what == "point":
            assert isinstance(first, tuple) and isinstance(second, tuple)
            pointers.point(first, second)
            truth[first[0]][first[1:]] = second
        elif what == "copy":
            assert isinstance(first, str) and isinstance(second, str)
            pointers.copy((first,), (second,))
            truth[first] = deepcopy(truth[second])
        elif what == "inner":
            assert isinstance(first, str) and isinstance(second, str)
            pointers.copy((first, ".in"), (second, ".in"))
            for member in MEMBERS:
                truth[first][".in", member] = truth[second][".in", member]
        else:
            assert isinstance(first, tuple)
            assert pointers.target(first) == truth[first[0]][first[1:]]
    for slot in SLOTS:
        assert pointers.target(slot) == truth[slot[0]][slot[1:]]


def test_what_a_struct_held_comes_back_into_a_part_of_it() -> None:
    """`c = a; a = b; a.in = c.in`"""
    pointers = Pointers()
    pointers.copy(("c",), ("a",))
    pointers.copy(("a",), ("b",))
    pointers.copy(("a", ".in"), ("c", ".in"))
    assert pointers.target(("a", ".in", ".x")) == ("a", ".in", ".x", "*")
    assert pointers.target(("a", ".x")) == ("b", ".x", "*")


def test_an_address_that_nobody_has_seen_is_one_of_its_own() -> None:
    pointers = Pointers()
    pointers.point(("p",), ("m",))
    pointers.forget(("p",))
    assert pointers.target(("p",)) == ("p", "*")
