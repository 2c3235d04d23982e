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
static void work(void)
{
#pragma omp parallel for
  for (int j = 1; j <= last - first + 1; j++)
    x[j] = 1.0;
}
int main(int argc, char **argv)
{
  setup(argc);
  work();
  return 0;
}
"""
_IN_MAIN = _TEXT.replace(
    "static void work(void)\n{", "int main(int argc, char **argv)\n{\n  setup(argc);"
)
_IN_MAIN = _IN_MAIN[: _IN_MAIN.rindex("int main")]


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


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("declared", "assigned", "trips"),
    [
        ("", "last = SIZE; last = 7;", 7),
        ("", "last = SIZE; last++;", 14001),
        ("", "last = SIZE; set(&last);", 3),
        (" = 5", "last = SIZE;", 14000),
        ("", "for (int k = 0; k < more; k++) last = k;", None),
    ],
)
def test_what_the_function_of_the_loop_sets_is_known(
    tmp_path: Path, frontend: str, declared: str, assigned: str, trips: int | None
) -> None:
    """`last` iterations, as `first` is 1: what `setup` leaves in it."""
    text = _IN_MAIN % {"declared": declared, "assigned": assigned}
    assert facts_of(tmp_path, text, frontend).iterations.value == trips
