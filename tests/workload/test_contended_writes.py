"""Writes of many threads to the same lines: how many, and how far apart, by hand."""

from __future__ import annotations

import pytest
from nest_texts import facts_of_text

from regionpredict.analysis import RegionFacts
from regionpredict.workload.contended_writes import contended_writes
from regionpredict.workload.false_sharing import bytes_between_threads, narrow_rows
from regionpredict.workload.nest_lowering import loop_nest

HEAD = """#include <omp.h>
double s, v, y[999], A[99][40], C[9][5][3], own[99], a[999]; float f[999]; int k, h[99], idx[999];
#pragma omp threadprivate(own)
"""
ME = "int t = omp_get_thread_num(); "


def facts_of(body: str, **sizes: int) -> RegionFacts:
    text = f"{HEAD}void g(int n, int m, double (*p)[m]) {{\n#pragma omp parallel for\n"
    (facts,) = facts_of_text(f"{text}for (int i = 0; i < n; i++) {{ {body} }}\n}}\n", **sizes)
    return facts


def written(body: str, **sizes: int) -> list[tuple[str, float, float | None]]:
    facts = facts_of(body, n=100, **sizes)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    return [tuple(one) for one in contended_writes(facts, nest)]


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        (ME + "y[t] = i;", 8),
        (ME + "f[t] = i;", 4),
        (ME + "y[4 * t + 1] = i;", 32),
        (ME + "y[900 - 4 * t] = i;", 32),
        (ME + "A[t][3] = i;", 320),  # a row of 40 doubles
        (ME + "A[3][t] = i;", 8),
        (ME + "C[t][1][2] = i;", 120),
        (ME + "C[1][t][2] = i;", 24),
        (ME + "C[1][2 * t][2] = i;", 48),
        (ME + "A[t][t] = i;", 8),  # the nearest dimension
        ("y[omp_get_thread_num() * 2] = i;", 16),
        (ME + "y[t * m] = i;", None),  # by a size that is not known
        (ME + "p[t][0] = i;", None),
        # of more dimensions than are declared: the last is known, how long it is not
        (ME + "((double (*)[3])y)[2][t] = i;", 8),
        (ME + "((double (*)[3])y)[t][1] = i;", None),
        (ME + "y[i] = t;", None),
        ("y[3] = i;", None),
        (ME + "own[t] = i;", None),  # each thread has its own
    ],
)
def test_bytes_between_neighbours(body: str, apart: int | None) -> None:
    facts = facts_of(body)
    (access,) = [
        one.access for fact in facts.statements for one in fact.accesses
        if one.access.kind == "write"
    ]  # fmt: skip
    assert bytes_between_threads(facts, access) == apart


def test_sizes_that_are_given_tell_the_distance() -> None:
    facts = facts_of(ME + "{ y[t * m] = i; p[t][0] = i; }", m=5)
    found = [
        bytes_between_threads(facts, one.access)
        for fact in facts.statements for one in fact.accesses if one.access.kind == "write"
    ]  # fmt: skip
    assert found == [40, 40]


def test_writes_are_counted_an_array_and_a_distance() -> None:
    assert written(ME + "y[t] += a[i];") == [("y", 100.0, 8.0)]
    assert written(ME + "{ y[t] += a[i]; for (int j = 0; j < 7; j++) y[t] += j; }") == [
        ("y", 800.0, 8.0)
    ]
    assert sorted(written(ME + "{ y[t] += a[i]; y[2 * t] = 1; f[t] = 2; }")) == [
        ("f", 100.0, 4.0), ("y", 100.0, 8.0), ("y", 100.0, 16.0),
    ]  # fmt: skip
    # Reading takes no line away, and what the loop moves is each thread's.
    assert written(ME + "a[i] = y[t];") == []
    assert written("a[i] = 1;") == []


def test_sums_into_listed_elements_may_be_anywhere_too() -> None:
    """Whether the list names an element twice is not known; that its lines go round is."""
    assert written("y[idx[i]] += a[i];") == [("y", 100.0, None)]
    # What only puts values there reads no line that another thread has just written; rows and
    # blocks that begin at an index are one iteration's.
    assert written("y[idx[i]] = a[i];") == []
    assert written("for (int j = 0; j < 3; j++) y[idx[i] + j] += a[i];") == []


def test_updates_through_an_index_may_be_anywhere() -> None:
    assert written("h[idx[i]]++;") == [("h", 100.0, None)]
    assert written("{ h[idx[i]]++; for (int j = 0; j < 3; j++) h[idx[j]] += 1; }") == [
        ("h", 400.0, None)
    ]
    assert written("y[idx[i]] = 1;") == []  # a list that names each row once


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("s += a[i];", [("s", 100.0, 0.0)]),
        # Those of one body lie in one line; a body inside counts by itself.
        ("{ s += a[i]; v = s; y[i] = v; }", [("s, v", 100.0, 0.0)]),
        ("for (int j = 0; j < 7; j++) s += a[i];", [("s", 700.0, 0.0)]),
        ("{ s += 1; for (int j = 0; j < 7; j++) { s += a[i]; } }", [("s", 800.0, 0.0)]),
        # The counter of an inner loop moves with each of its iterations.
        ("for (k = 0; k < 5; k++) y[i] += a[i];", [("k", 500.0, 0.0)]),
        ("for (k = 0; k < 5; k++) s += a[i];", [("k, s", 500.0, 0.0)]),
        # Loops in what may not run are passed over, and not mistaken for those that do.
        ("{ if (a[i] > 0) for (int j = 0; j < 9; j++) s += 1;"
         " for (int j = 0; j < 7; j++) s += a[i]; }", [("s", 700.0, 0.0)]),
        ("y[3] += a[i];", [("y", 100.0, 0.0)]),
        ("for (int j = 0; j < 7; j++) y[3] += a[i];", [("y", 700.0, 0.0)]),
        ("for (int j = 0; j < 7; j++) y[j] += a[i];", []),  # not one line
        ("v = a[i];", []),  # nothing reads it
        ("if (a[i] > 0) s += a[i];", []),
        ("{\n#pragma omp critical\n s += a[i];\n}", []),
    ],
)  # fmt: skip
def test_what_every_iteration_writes_is_one_line_of_all_threads(
    body: str, told: list[tuple[str, float, float]]
) -> None:
    assert written(body) == told


@pytest.mark.parametrize(
    ("body", "line_bytes", "told"),
    [
        ("y[t] += a[i];", 64, ["y[t] are 8 B apart, in one line of 64 B"]),
        ("y[7 * t] += a[i];", 64, ["y[7 * t] are 56 B apart, in one line of 64 B"]),
        ("y[8 * t] += a[i];", 64, []),
        ("y[8 * t] += a[i];", 128, ["y[8 * t] are 64 B apart, in one line of 128 B"]),
        ("y[0 * t] += a[i];", 64, []),
        ("a[i] = y[t];", 64, []),
        ("{ y[t] = 1; y[t + 1] = 2; f[t] = 3; }", 64, [
            "y[t] are 8 B apart, in one line of 64 B", "f[t] are 4 B apart, in one line of 64 B",
        ]),
    ],
)  # fmt: skip
def test_rows_narrower_than_a_line(body: str, line_bytes: int, told: list[str]) -> None:
    notes = list(narrow_rows(facts_of(ME + body), line_bytes))
    assert {note.id for note in notes} <= {"RP223"}
    assert [note.message.partition(" writes at ")[2] for note in notes] == told
