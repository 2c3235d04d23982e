"""Functions of many loops: twice the loops cost about twice the work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from regionpredict.frontend import SourceRequest, read_alone

LOOP = "  for (int i = 0; i < n; i++) a[i] += b[i];\n"
SHARED = f"#pragma omp for\n{LOOP}"
PARALLEL = f"#pragma omp parallel for\n{LOOP}"


def _calls(path: Path, text: str) -> int:
    """The number of calls of functions while a program is read."""
    path.write_text(text)
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        part = read_alone(SourceRequest(str(path)), "libclang")
    finally:
        sys.setprofile(before)
    assert part.regions
    return calls


@pytest.mark.parametrize(
    ("head", "loop", "tail"),
    [
        ("#pragma omp parallel for\n  for (int j = 0; j < n; j++) {\n", LOOP, "}\n"),
        ("#pragma omp parallel\n  {\n", SHARED, "}\n"),
        ("", PARALLEL, ""),
    ],
    ids=["inside", "shared", "parallel"],
)
def test_twice_the_loops_cost_twice_the_calls(
    tmp_path: Path, head: str, loop: str, tail: str
) -> None:
    begin = f"double a[1000], b[1000];\nvoid f(int n) {{\n{head}"
    _calls(tmp_path / "warm.c", f"{begin}{loop}{tail}}}\n")
    short, long = (
        _calls(tmp_path / f"f{count}.c", f"{begin}{loop * count}{tail}}}\n") for count in (60, 120)
    )
    assert long < 2.3 * short
