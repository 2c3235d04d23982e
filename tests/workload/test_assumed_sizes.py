"""Sizes that nobody gave: ten caches of data, lower bounds at 0, as many iterations where data
does not grow."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse
from regionpredict.workload.assumed_sizes import SizeTarget, bound_sizes

_TEXT = """
void f(long first, long last, long n, double *restrict a, double b[64])
{
#pragma omp parallel for
  for (long i = %s; i <= %s; i++)
    %s;
}
"""


def _guess(folder: Path, start: str, end: str, body: str, **given: int) -> dict[str, int]:
    path = folder / "case.c"
    path.write_text(_TEXT % (start, end, body))
    facts = analyse(requests_for((str(path),), [], [], ""), given).facts[0]
    values, notes = bound_sizes(facts, SizeTarget(_target(), "as large as asked"), 64)
    for name, value in values.items():
        assert given.get(name) == value or any(name in note for note in notes)
    return {name: int(value) for name, value in values.items()}


def _target() -> int:
    return 10 * load("skylake-gold-6148").largest_cache_bytes


@pytest.mark.parametrize(("start", "end"), [("first", "last"), ("1", "last - first + 1")])
def test_a_lower_bound_is_no_size(tmp_path: Path, start: str, end: str) -> None:
    """`last - first + 1` elements of eight bytes fill ten caches with `first` at 0."""
    values = _guess(tmp_path, start, end, "a[i] = 0.0")
    assert values["first"] == 0
    assert (values["last"] + 1) * 8 == pytest.approx(_target(), abs=8)


def test_a_name_of_both_kinds_is_a_size(tmp_path: Path) -> None:
    """`first` bounds one loop from below and extends another: it is a size like the rest."""
    body = "for (long j = 0; j < first; j++) a[i] += j"
    values = _guess(tmp_path, "first", "2 * last", body)
    assert values["first"] == values["last"] > 1


def test_given_values_stay(tmp_path: Path) -> None:
    """`--set first=5` is not touched, and the rest is found beside it."""
    values = _guess(tmp_path, "first", "last", "a[i] = 0.0", first=5)
    assert values["first"] == 5
    assert (values["last"] - 4) * 8 == pytest.approx(_target(), abs=8)


def test_data_that_does_not_grow(tmp_path: Path) -> None:
    """Sixty-four elements whatever n: as many iterations as ten caches of data have elements."""
    values = _guess(tmp_path, "1", "n", "b[i % 64] += 1.0")
    assert values["n"] == pytest.approx(_target() / 8, rel=1e-6)
