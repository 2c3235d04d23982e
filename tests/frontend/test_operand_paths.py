"""The operations between scalars and the values made of them, by hand, in both front ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

HEAD = """
static double half(double x) { return 0.5 * x; }
static double bent(double x) { if (x > 1.0) return x; double square = x * x; return square + 1.0; }
static double twice(double x) { x = x + x; return x; }
static void forward(double *x) { *x = *x * 3.0; }
static int doubled(int x) { return x * 2; }
static int chained(int x) { return doubled(x) + 1; }
"""


def paths_of(folder: Path, statement: str, frontend: str, number: int = -1) -> dict[str, str]:
    """The paths of one of the statements of a loop, the last one."""
    text = f"""{HEAD}
void f(int n, double s, double t, int i, int j, int *p, double *a, float g) {{
#pragma omp parallel for
  for (int k = 0; k < n; k++) {{ {statement} }}
}}
"""
    made = facts_of(folder, text, frontend).statements[number].statement
    return {name: " ".join(path) for name, path in made.paths}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("s = 0.5 * s + a[k];", {"s": "fp_mul fp_add", "k": "load fp_add"}),
        ("s += a[k] * t;", {"s": "fp_add", "t": "fp_mul fp_add", "k": "load fp_mul fp_add"}),
        ("s = (s + t) + t;", {"s": "fp_add fp_add", "t": "fp_add fp_add"}),
        ("s = s + (t + t);", {"s": "fp_add", "t": "fp_add fp_add"}),
        ("s = -s / t;", {"s": "fp_neg fp_div", "t": "fp_div"}),
        ("i = i * 5 + 1;", {"i": "int_mul int_add"}),
        ("i ^= i << 13;", {"i": "int_logic int_logic"}),
        ("i = p[i];", {"i": "load"}),
        ("i++;", {"i": "int_add"}),
        ("s = (double)(int)(s * t);", dict.fromkeys("st", "fp_mul fp_convert fp_convert")),
        ("s = s * i;", {"s": "fp_mul", "i": "fp_convert fp_mul"}),
        ("i += s;", {"i": "fp_convert fp_add fp_convert", "s": "fp_add fp_convert"}),
        ("s = s > t ? s : t;", {"s": "fp_compare", "t": "fp_compare"}),
        ("s = i ? t : s * s;", {"i": "", "t": "", "s": "fp_mul"}),
        ("s = i && j;", {}),  # a branch is guessed
        ("s = t;", {"t": ""}),
        ("s = 1.0;", {}),
        ("s = half(s) + t;", {"s": "fp_mul fp_add", "t": "fp_add"}),
        ("s = half(half(s));", {"s": "fp_mul fp_mul"}),
        ("i = chained(i);", {"i": "int_mul int_add"}),
        ("g = g * 2.0f;", {"g": "fp_mul"}),
        ("double q = s * s; s = q;", {"q": ""}),
        ("forward(&s); t = s;", {"s": ""}),
    ],
)
def test_paths_of_a_statement(
    tmp_path: Path, frontend: str, statement: str, expected: dict[str, str]
) -> None:
    assert paths_of(tmp_path, statement, frontend) == expected


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_with_two_ways_out_is_as_long_as_its_longest(
    tmp_path: Path, frontend: str
) -> None:
    """What `square` is made of is said by the statement that sets it."""
    assert paths_of(tmp_path, "s = bent(s);", frontend) == {"s": "", "square": "fp_add"}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_parameter_that_is_set_is_a_variable(tmp_path: Path, frontend: str) -> None:
    assert paths_of(tmp_path, "s = twice(s);", frontend, -3) == {"s": "fp_add"}
    assert paths_of(tmp_path, "s = twice(s);", frontend) == {"x": ""}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_is_stored_in_memory_has_none(tmp_path: Path, frontend: str) -> None:
    assert paths_of(tmp_path, "a[k] = s * t;", frontend) == {}
