"""What stands under the branches of a body, by the sides that C can write there."""

from __future__ import annotations

import pytest
from nest_texts import loop_named, nest_of

DECLARED = "int n, double s, double t, double *a, double *b, int *m, double c[99][99]"
SIDES = [
    ("s = t;", "values"),
    ("a[j] = 1;", "elements"),
    ("a[i] = 1;", "code"),  # one place for all iterations of j
    ("c[i][j] = 1;", "elements"),  # one of its subscripts moves
    ("c[j][i] = 1;", "elements"),
    ("c[i][3] = 1;", "code"),
    ("s = a[i];", "elements"),  # read from one place, under a mask as any other
    ("s = sqrt(t);", "values"),  # an operation, and no call
    ("s = sqrt(a[j]);", "elements"),
    ("s = sin(t);", "code"),  # a call of the mathematical library
    ("s = 2 * t + sin(t);", "code"),  # other operations beside it
    ("s = seen_nowhere(t);", "code"),
    ("for (int k = 0; k < n; k++) a[j] = k;", "code"),
    ("if (s > 0) s = t;", "values"),
    ("if (s > 0) a[j] = t;", "elements"),
    ("a[j] = t; if (s > 0) s = t;", "elements"),
    ("if (s > 0) a[i] = t;", "code"),
    ("if (s > 0) exit(1);", "values"),  # never taken where the program goes on
    ("if (s > 0) abort(); a[j] = 1;", "elements"),
]
WORST = ["", "values", "elements", "code"]


def held(inner: str) -> str:
    """What the branches in the body of the loop over j hold."""
    loops = "for (int i = 0; i < 100; i++) for (int j = 0; j < 50; j++) { s = 0; %s }"
    return loop_named(nest_of(loops % inner, DECLARED), "j").conditional


@pytest.mark.parametrize(("side", "kind"), SIDES)
def test_one_side(side: str, kind: str) -> None:
    assert held(f"if (t > 0) {{ {side} }}") == kind


@pytest.mark.parametrize(("first", "kind"), SIDES)
@pytest.mark.parametrize(("second", "other"), SIDES[:3])
def test_the_worst_of_two(first: str, kind: str, second: str, other: str) -> None:
    """As two sides of a branch, and as two branches."""
    worst = max(kind, other, key=WORST.index)
    assert held(f"if (t > 0) {{ {first} }} else {{ {second} }}") == worst
    assert held(f"if (t > 0) {{ {second} }} if (t > 1) {{ {first} }}") == worst


def test_no_branch() -> None:
    assert held("a[i] = sin(t);") == ""
    assert held("if (t > 0) exit(1); a[i] = 1;") == ""
