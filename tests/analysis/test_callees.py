"""Which function a call means, and whose program a function is, by the folders of their files."""

from __future__ import annotations

import pytest

from regionpredict.analysis.callees import Callees, main_of
from regionpredict.ir import Span
from regionpredict.ir.flow import Block, Flow


def flow(file: str, function: str = "step") -> Flow:
    return Flow(function, (), (), Span(file, 1))


@pytest.mark.parametrize(
    ("caller", "files", "meant"),
    [
        ("a/main.c", ["a/main.c", "a/b.c"], "a/main.c"),  # its own
        ("a/main.c", ["b/x.c"], "b/x.c"),  # the only one
        ("a/main.c", ["b/x.c", "a/y.c"], "a/y.c"),  # of its folder
        ("a/b/c/main.c", ["a/x.c", "a/b/y.c", "z/b/c/z.c"], "a/b/y.c"),
        ("a/b/main.c", ["a/c/x.c", "a/d/y.c"], "a/c/x.c"),  # as near: the first
        ("a/b/main.c", ["c/b/x.c", "a/z/y.c"], "a/z/y.c"),  # common from the top on
        ("main.c", ["b/x.c", "y.c"], "y.c"),  # of its folder, the current one
        ("a/main.c", [], None),
    ],
)
def test_the_function_that_a_call_means(caller: str, files: list[str], meant: str | None) -> None:
    here = flow(caller, "main")
    callees = Callees([here, *map(flow, files), flow("a/other.c", "other")])
    for _ in range(2):  # the second time as kept
        found = callees.of(here, "step")
        assert (None if found is None else found.span.file) == meant


def test_of_variants_that_with_parallel_regions_is_meant() -> None:
    here = flow("driver/main.c", "main")
    region = Block("parallel", (), Span("omp/x.c", 3))
    parallel = Flow("step", (), (region,), Span("omp/x.c", 1))
    callees = Callees([here, flow("cuda/x.c"), parallel, flow("serial/x.c")])
    assert callees.of(here, "step") is parallel


def test_the_same_folder_asks_for_each_name_apart() -> None:
    here = flow("a/main.c", "main")
    flows = [flow("b/x.c"), flow("a/x.c"), flow("a/y.c", "other"), flow("b/y.c", "other")]
    callees = Callees([here, *flows])
    assert callees.of(here, "step") is flows[1]
    assert callees.of(here, "other") is flows[2]
    assert callees.of(flow("b/main.c", "main"), "step") is flows[0]


@pytest.mark.parametrize(
    ("file", "mains", "owner"),
    [
        ("a/x.c", ["a/main.c", "b/main.c"], "a/main.c"),
        ("a/b/x.c", ["a/main.c", "b/main.c"], "a/main.c"),  # a folder around it
        ("a/b/x.c", ["a/main.c", "a/b/main.c"], "a/b/main.c"),  # the nearest
        ("a/b/x.c", ["a/one.c", "a/two.c"], None),  # two as near
        ("a/b/x.c", ["a/b/one.c", "a/one.c", "a/two.c"], "a/b/one.c"),
        ("a/x.c", ["a/b/main.c"], None),  # below it
        ("ab/x.c", ["a/main.c"], None),
        ("x.c", ["main.c"], "main.c"),
        ("x.c", ["main.c", "other.c"], None),
        ("a/x.c", ["main.c"], "main.c"),
        ("a/x.c", [], None),
    ],
)
def test_whose_program_a_function_is(file: str, mains: list[str], owner: str | None) -> None:
    found = main_of(flow(file), [flow(main, "main") for main in mains])
    assert (None if found is None else found.span.file) == owner
