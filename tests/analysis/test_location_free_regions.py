"""Regions that are alike but for where they stand are equal without their places; others not."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from regionpredict.analysis.history.first_touch import ArrayPlacement, Placement
from regionpredict.analysis.location_free_regions import (
    location_free_definitions,
    location_free_placement,
    location_free_region,
)
from regionpredict.ir import Definition, Expr, Region, Span
from tests.analysis.texts import facts_of_texts

FUNCTION = """
void {name}(int n, double *a, double *b) {{
{blank}#pragma omp parallel for
for (int i = 0; i < n; i++) {{ if (b[i] > 0) a[i] {op} b[i]; }}
}}
"""


def region(name: str, blank: str = "", op: str = "+=") -> Region:
    (facts,) = facts_of_texts(FUNCTION.format(name=name, blank=blank, op=op))
    return facts.region


def spans_in(value: Any) -> list[Span]:
    if isinstance(value, Span):
        return [value]
    parts = value if isinstance(value, tuple) else ()
    if is_dataclass(value) and not isinstance(value, type):
        parts = tuple(getattr(value, one.name) for one in fields(value))
    return [span for part in parts for span in spans_in(part)]


def test_another_place_and_another_function_change_nothing() -> None:
    here, there = region("f"), region("g", blank="\n\n")
    assert here != there
    assert location_free_region(here) == location_free_region(there)


def test_no_place_is_left() -> None:
    before = spans_in(region("f"))
    assert {span.line for span in before} == {2, 3, 4}  # arrays, directive, all of the loop
    after = spans_in(location_free_region(region("f")))
    assert len(after) == len(before)
    assert set(after) == {Span("", 0)}


def test_another_operation_is_another_region() -> None:
    here, there = region("f"), region("f", op="-=")
    assert location_free_region(here) != location_free_region(there)


def test_names_and_clauses_stay() -> None:
    known = location_free_region(region("f"))
    assert {array.name for array in known.arrays} == {"a", "b"}
    chunked = replace(region("f"), collapse=2)
    assert location_free_region(chunked) != known


def test_definitions_keep_what_they_say() -> None:
    definitions = (Definition("n", Expr.const(8), Span("f.c", 7)),)
    (moved,) = location_free_definitions(definitions)
    assert (moved.name, moved.value, moved.span) == ("n", 8, Span("", 0))


def test_placements_keep_where_pages_lie() -> None:
    one = ArrayPlacement("a", "serial", "first written at f.c:3", False, Span("f.c", 3))
    moved = location_free_placement(Placement("serial", "a: f.c:3", False, (one,)))
    assert moved == Placement("serial", "", False, (ArrayPlacement("a", "serial", "", False),))
