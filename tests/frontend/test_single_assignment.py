"""A global that the unit assigns once has that value; whatever may change it again has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

_TEXT = """
#define SIZE 14000
static int first, last%(declared)s;
static double x[20000];
static void set(int *p) { *p = 3; }
static void setup(int more)
{
  first = 1;
  %(assigned)s
}
int main(int argc, char **argv)
{
  setup(argc);
#pragma omp parallel for
  for (int j = 1; j <= last - first + 1; j++)
    x[j] = 1.0;
  return 0;
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("declared", "assigned", "trips"),
    [
        ("", "last = SIZE;", 14000),
        ("", "last = first + SIZE;", 14001),  # through another one
        ("", "if (more > 1) last = SIZE;", 14000),  # as for local variables
        ("", "last = SIZE; last = 7;", None),
        ("", "last = SIZE; last++;", None),
        ("", "last = SIZE; set(&last);", None),
        ("", "last += SIZE;", None),
        ("", "for (int k = 0; k < more; k++) last = k;", None),
        (" = 5", "last = SIZE;", None),  # one of two values, and nobody says which
        (" = 5", "", 5),
    ],
)
def test_one_assignment_is_the_value(
    tmp_path: Path, frontend: str, declared: str, assigned: str, trips: int | None
) -> None:
    """`last - first + 1` iterations, by hand."""
    text = _TEXT % {"declared": declared, "assigned": assigned}
    assert facts_of(tmp_path, text, frontend).iterations.value == trips
