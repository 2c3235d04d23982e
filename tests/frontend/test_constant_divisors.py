"""What a division by a constant says that it is by, by hand, in both front ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

HEAD = """
#define TWO 2.0
#define AREA (TWO * TWO)
#define SEVEN 7
enum { EIGHT = 8 };
typedef const float weight;
static const double third = 3.0;
const double step = 1.0 / 4;
static weight quarter = 0.25f;
static const int five = 5;
static const int minutes = five * 12;
const volatile double measured = 2.0;
double plain = 2.0;
extern const double elsewhere;
"""

BY_CONSTANTS = [
    ("a[i] = a[i] / 2.0;", "fp_div:/2.0"),
    ("a[i] = a[i] / TWO;", "fp_div:/2.0"),
    ("a[i] /= AREA;", "fp_mul fp_div:/4.0"),
    ("a[i] = a[i] / 3.0;", "fp_div:/3.0"),
    ("a[i] = a[i] / third;", "fp_div:/3.0"),
    ("a[i] = a[i] / step;", "fp_div:/0.25"),
    ("a[i] = a[i] / (step * step);", "fp_mul fp_div:/0.0625"),
    ("a[i] = a[i] / -TWO;", "fp_div:/-2.0"),
    ("a[i] = a[i] / 2;", "fp_div:/2.0"),  # a double divides, whatever is written
    ("a[i] = c[i] / 2.0;", "fp_div:/2.0"),
    ("a[i] = a[i] / (double) EIGHT;", "fp_div:/8.0"),
    ("a[i] = a[i] / (EIGHT / SEVEN);", "int_div:folded fp_div:/1.0"),  # of integers: 1
    ("a[i] = a[i] / (EIGHT >> 1);", "int_logic fp_div:/4.0"),
    ("b[i] = b[i] / quarter;", "fp_div:/0.25"),
    ("b[i] = b[i] / 16777217;", "fp_div:/16777216.0"),  # which no float holds
    ("b[i] = b[i] / 0.1f;", "fp_div:/0.10000000149011612"),
    ("c[i] = c[i] / SEVEN;", "int_div:/7"),
    ("c[i] = c[i] % five;", "int_div:%5"),
    ("c[i] = c[i] / minutes;", "int_div:/60"),
    ("c[i] = c[i] / EIGHT;", "int_div:/8"),
    ("c[i] %= -4;", "int_div:%-4"),
    ("c[i] = c[i] / 'a';", "int_div:/97"),
    ("u[i] = u[i] / 3;", "int_div:/3u"),
    ("u[i] %= 16;", "int_div:%16u"),
    ("u[i] = u[i] / -1;", "int_div:/4294967295u"),  # as C converts it
    ("l[i] = l[i] / (long) sizeof(double);", "int_div:/8"),
    ("a[i] = (1.0 / 3.0) * a[i];", "fp_div:folded fp_mul"),
    ("a[i] = third / step;", "fp_div:folded"),
]
BY_VARIABLES = [
    ("a[i] = a[i] / x;", "fp_div"),
    ("a[i] = a[i] / plain;", "fp_div"),
    ("a[i] = a[i] / measured;", "fp_div"),  # volatile: what it holds may change
    ("a[i] = a[i] / elsewhere;", "fp_div"),  # another unit's: its value is not seen
    ("a[i] = 2.0 / a[i];", "fp_div"),
    ("a[i] = a[i] / (x * TWO);", "fp_div fp_mul"),
    ("c[i] = c[i] / n;", "int_div"),
    ("c[i] = c[i] % n;", "int_div"),
    ("c[i] /= n;", "int_div"),
    ("c[i] = 100 / c[i];", "int_div"),
    ("u[i] = u[i] % (unsigned) n;", "int_div"),
]


def kinds_of(folder: Path, statement: str, frontend: str, before: str = "") -> set[str]:
    """The kinds of operations of the last statement of a loop."""
    text = f"""{HEAD}
void f(int n, double x, double *a, float *b, int *c, unsigned *u, long *l) {{
{before}
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{ {statement} }}
}}
"""
    made = facts_of(folder, text, frontend).statements[-1].statement
    return {operation.kind for operation, _ in made.operations}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(("statement", "kinds"), [*BY_CONSTANTS, *BY_VARIABLES])
def test_divisions(tmp_path: Path, frontend: str, statement: str, kinds: str) -> None:
    assert kinds_of(tmp_path, statement, frontend) == set(kinds.split())


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("const double d = 0.5;", "fp_div:/0.5"),
        ("const double d = third + 1;", "fp_div:/4.0"),
        ("static const double d = 8;", "fp_div:/8.0"),
        ("const int d = minutes + 4;", "fp_div:/64.0"),
        ("const double d = n;", "fp_div"),  # constant while the function runs, but no number
        ("const double d = 1.0 / x;", "fp_div"),
        ("double d = 2.0; d = x;", "fp_div"),
        ("const double *p = &third; const double d = *p;", "fp_div"),
        ("const double d = d;", "fp_div"),  # of itself: whatever was there
        ("const double d = 0.0;", "fp_div"),  # infinite, or no number
    ],
)
def test_divisions_by_variables_of_the_function(
    tmp_path: Path, frontend: str, before: str, kind: str
) -> None:
    assert kinds_of(tmp_path, "a[i] = a[i] / d;", frontend, before) == {kind}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_a_scalar_is_divided_by_is_on_its_way(tmp_path: Path, frontend: str) -> None:
    text = f"""{HEAD}
void f(int n, double s, int m, double *a) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{ s = (s + a[i]) / TWO; m = (m * 5 + 3) % 17; }}
}}
"""
    first, second = (fact.statement for fact in facts_of(tmp_path, text, frontend).statements)
    assert dict(first.paths)["s"] == ("fp_add", "fp_div:/2.0")
    assert dict(second.paths)["m"] == ("int_mul", "int_add", "int_div:%17")


def test_constants_of_classes_and_templates(tmp_path: Path) -> None:
    text = """
constexpr double half = 0.5;
struct Grid { static constexpr int size = 16; static const int shift = 3; };
void f(int n, double *a, int *c) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    a[i] = a[i] / half;
    c[i] = c[i] / Grid::size;
    c[i] = c[i] % Grid::shift;
  }
}
"""
    facts = facts_of(tmp_path, text, "libclang", name="case.cpp")
    kinds = [{o.kind for o, _ in one.statement.operations} for one in facts.statements]
    assert kinds == [{"fp_div:/0.5"}, {"int_div:/16"}, {"int_div:%3"}]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_macros_of_the_command_line(tmp_path: Path, frontend: str) -> None:
    text = """void f(int n, int *c) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) c[i] = c[i] / WIDTH;
}
"""
    (fact,) = facts_of(tmp_path, text, frontend, defines=(("WIDTH", "32"),)).statements
    assert [operation.kind for operation, _ in fact.statement.operations] == ["int_div:/32"]
