"""Sizes beyond 64 bits are refused in one line; the largest that fits is predicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.errors import InputError, UsageError
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict_region

_SOURCE = """
void f(long n, double *restrict a)
{
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] = 0.0;
}
"""


@pytest.mark.parametrize("model", ["density", "saturation"])
def test_data_above_128_tib_is_refused_at_its_line(model: str, tmp_path: Path) -> None:
    """2**44 doubles are exactly the 2**47 bytes of an address space; one more is refused."""
    path = tmp_path / "case.c"
    path.write_text(_SOURCE)
    machine = load("skylake-gold-6148")

    def made(n: int) -> object:
        facts = analyse(requests_for((str(path),), [], [], ""), {"n": n}).facts[0]
        return predict_region(facts, machine, model)

    assert made(1 << 44).status == "predicted"  # type: ignore[attr-defined]
    with pytest.raises(InputError) as caught:
        made((1 << 44) + 1)
    assert str(caught.value).startswith(f"{path}:4:") and "n = 17592186044417" in str(caught.value)


@pytest.mark.parametrize("text", ["0", "-1", "1000000000", "1-1000000000", "3-2", "x", "", "1.5"])
def test_impossible_thread_lists_are_refused(text: str) -> None:
    """No list of threads that cannot be: none, negative, backwards, or more than any node has."""
    from regionpredict.cli.curve_options import parse_threads

    with pytest.raises(UsageError) as caught:
        parse_threads(text)
    assert f"--threads {text}" in str(caught.value)


def test_a_macro_of_65_bits_is_no_value() -> None:
    """C's unsigned integers end at 64 bits; other texts are the compiler's affair."""
    from regionpredict.cli.source_options import parse_pairs

    assert parse_pairs([f"N={(1 << 64) - 1}", "M=(1 << 99)"])[0] == ("N", str((1 << 64) - 1))
    with pytest.raises(UsageError, match="does not fit 64 bits"):
        parse_pairs([f"N={1 << 64}"])


def test_a_value_of_65_bits_is_no_value() -> None:
    """C's integers end at 63 bits and a sign."""
    from regionpredict.cli.source_options import parse_given

    assert parse_given([f"n={(1 << 63) - 1}"]) == {"n": (1 << 63) - 1}
    with pytest.raises(UsageError):
        parse_given([f"n={1 << 63}"])
