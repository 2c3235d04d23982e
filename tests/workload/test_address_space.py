"""Sizes beyond 64 bits are refused in one line; the largest that fits is predicted."""

from __future__ import annotations

from pathlib import Path

import pytest
from nest_texts import facts_of

from regionpredict.errors import InputError, UsageError
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict_region
from regionpredict.workload.address_space import check_sizes

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
    from regionpredict.sizes.set_option import parse_given

    assert parse_given([f"n={(1 << 63) - 1}"]) == {"n": (1 << 63) - 1}
    with pytest.raises(UsageError):
        parse_given([f"n={1 << 63}"])


def _refusal(loops: str, declared: str, **sizes: int) -> str:
    with pytest.raises(InputError) as caught:
        check_sizes(facts_of(loops, declared, **sizes))
    return str(caught.value)


def test_iterations_beyond_64_bits() -> None:
    """2**63 - 1 iterations are counted, one more is not; the largest size is named."""
    loops = "for (long i = 0; i < n; i++) for (long j = 0; j < m; j++) a[0] = 1;"
    declared = "unsigned long n, unsigned long m, double a[1]"
    most = (1 << 63) - 1
    check_sizes(facts_of(loops.replace("j < m", "j < 9"), declared, n=most))
    text = _refusal(loops.replace("i < n", "i < 2 * n"), declared, n=1 << 62, m=5)
    assert "9.22e+18 iterations do not fit 64 bits" in text
    assert f"n = {1 << 62} is too large" in text


def test_more_executions_than_any_machine_finishes() -> None:
    """Each loop is short enough; the product of 18 of them is above every floating-point number."""
    loops = "for (long i = 0; i < n; i++)"
    inner = "".join(f"for (long i{k} = 0; i{k} < n; i{k}++) " for k in range(17)) + "a[0] += 1;"
    text = _refusal(f"{loops} {inner}", "long n, double a[1]", n=10**18)
    assert "no machine can execute its innermost loop 1.00e+324 times" in text
    assert f"n = {10**18} is too large" in text
    check_sizes(facts_of(f"{loops} {inner}", "long n, double a[1]", n=40))


def test_sizes_without_a_name() -> None:
    """Constants in the text: there is nothing to name."""
    loops = "for (long i = 0; i < 20000000000000; i++) a[i] = 1;"
    text = _refusal(loops, "double *a")
    assert "1.6e+14 bytes" in text and text.endswith("check the sizes")
