"""Which arrays count, and which references hit: the rules of Chatzopoulos 2012, 4.2.2."""

from __future__ import annotations

import pytest
from texts import accesses_of, facts_of_loop

DECLARATIONS = """
double A[90][90], B[90][90], C[90][90], t[90][90][90], x[9999], y[9999], s[9999];
int row[9999];
"""
TWO = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
THREE = TWO + "for (int k = 0; k < w; k++) "


def test_listing_4_3() -> None:
    """Loops i, j, k: only B uses the two fastest variables."""
    facts = facts_of_loop(THREE + "C[i][j] += A[i][k] * B[j][k];", DECLARATIONS)
    found = {text: fact.reuse for text, fact in accesses_of(facts).items()}
    assert found == {"C[i][j]": "hit", "A[i][k]": "hit", "B[j][k]": "miss"}


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("C[j][k] = 1;", "miss"),
        ("C[k][j] = 1;", "miss"),  # the order of the dimensions does not count
        ("C[i][k] = 1;", "hit"),
        ("C[i][j] = 1;", "hit"),
        ("C[j][j + k] = 1;", "miss"),
        ("t[i][j][k] = 1;", "miss"),
        ("t[k][i][j] = 1;", "miss"),
        ("x[k] = 1;", "miss"),
        ("x[j] = 1;", "hit"),
        ("x[j + k] = 1;", "hit"),  # one dimension, two variables: more than the fastest one
        ("x[j * 90 + k] = 1;", "miss"),  # two dimensions in one subscript
        ("x[i * 90 + k] = 1;", "hit"),
    ],
)
def test_a_miss_uses_the_fastest_variables_and_no_other(statement: str, told: str) -> None:
    (found,) = accesses_of(facts_of_loop(THREE + statement, DECLARATIONS)).values()
    assert (found.reuse, found.counted) == (told, True)


def test_fewer_loops_than_dimensions() -> None:
    """`A[i][i]` moves in two dimensions with one loop: all its variables are the fastest."""
    facts = facts_of_loop("for (int i = 0; i < n; i++) A[i][i] = 1;", DECLARATIONS)
    (found,) = accesses_of(facts).values()
    assert (facts.arrays[0].dims, found.reuse) == (2, "miss")


def test_each_statement_by_its_own_loops() -> None:
    text = "for (int i = 0; i < n; i++) { x[i] = 1; for (int j = 0; j < m; j++) y[i] += s[j]; }"
    found = {t: fact.reuse for t, fact in accesses_of(facts_of_loop(text, DECLARATIONS)).items()}
    assert found == {"x[i]": "miss", "y[i]": "hit", "s[j]": "miss"}


@pytest.mark.parametrize(
    ("reference", "dimensions"),
    [
        # listings 4.1 and 4.2: an index that never changes does not count
        ("t[i][j][k]", 3),
        ("t[i][0][k]", 2),
        ("t[n][0][k]", 1),
        ("x[k]", 1),
        # one subscript stands for as many dimensions as it has strides
        ("x[i * n + j]", 2),
        ("x[(i * n + j) * m + k]", 3),
        ("x[i * n + j * n + k]", 2),  # i and j along the same rows
        ("x[i + j]", 1),
        ("x[i - j]", 1),  # down is along the same dimension as up
        ("x[n * i - n * j]", 1),
        ("x[2 * i + 3 * j]", 2),
        ("x[i * j]", 2),
        ("x[i * i + j]", 2),
        ("x[i * i + j * j]", 1),  # neither has a stride
        ("x[row[i]]", 1),
        ("x[row[i] + j]", 2),
        ("x[row[i + j]]", 1),
        ("x[(i - 1 > 0 ? i - 1 : 0) * n + j]", 2),  # a clamp has the stride of what it clamps
        ("x[(i - 1 > 0 ? i - 1 : 0) + j]", 1),
        ("x[(i - 1 > 0 ? i - 1 : 0) + j + row[0]]", 1),
    ],
)
def test_effective_dimensions(reference: str, dimensions: int) -> None:
    facts = facts_of_loop(THREE + reference + " = 1;", DECLARATIONS)
    name = reference[0]
    assert {a.name: a.dims for a in facts.arrays}[name] == dimensions


def test_an_array_has_the_dimensions_of_its_widest_reference() -> None:
    for body in ("{ A[0][j] = 1; A[i][j] = 1; }", "{ A[i][j] = 1; A[0][j] = 1; }"):
        (array,) = facts_of_loop(TWO + body, DECLARATIONS).arrays
        assert array.dims == 2


def test_only_the_arrays_of_most_dimensions_count() -> None:
    facts = facts_of_loop(TWO + "A[i][j] = x[j] + y[0] + x[i * n + j] + s[i + j];", DECLARATIONS)
    assert {a.name: (a.dims, a.counted) for a in facts.arrays} == {
        "A": (2, True), "s": (1, False), "x": (2, True), "y": (0, False),
    }  # fmt: skip
    found = accesses_of(facts)
    assert {text for text, fact in found.items() if fact.counted} == {
        "A[i][j]", "x[j]", "x[i * n + j]",
    }  # fmt: skip
    # what does not count is never a miss
    assert {fact.reuse for fact in found.values() if not fact.counted} == {"hit"}


def test_nothing_counts_where_nothing_moves() -> None:
    facts = facts_of_loop("for (int i = 0; i < n; i++) x[0] += y[n];", DECLARATIONS)
    assert [(a.dims, a.counted) for a in facts.arrays] == [(0, False), (0, False)]
    assert {fact.reuse for fact in accesses_of(facts).values()} == {"hit"}


def test_a_thread_s_own_array_does_not_count() -> None:
    text = (
        "for (int i = 0; i < n; i++) { double own[9][9];"
        " for (int j = 0; j < 9; j++) own[i][j] = 1; x[i] = own[0][0]; }"
    )
    facts = facts_of_loop(text, DECLARATIONS)
    assert {a.name: (a.dims, a.counted) for a in facts.arrays} == {
        "own": (2, False), "x": (1, True),
    }  # fmt: skip
