"""References through data: how often they run and over how much they spread, by hand."""

from __future__ import annotations

from nest_texts import facts_of, nest_of

from regionpredict.workload.gathers import Gather, gathers_of
from regionpredict.workload.nest_lowering import loop_nest

PAGE = 4096


def test_accesses_of_the_whole_region() -> None:
    loops = """for (int i = 0; i < n; i++) {
      s[0] += x[row[i]];
      for (int j = 0; j < 3; j++) y[i] += x[row[i + j] + 1] * t[row[j]];
    }"""
    nest = nest_of(loops, "int n, int *row, double *s, double *y, double x[500], float t[60]", n=10)
    assert gathers_of(nest, PAGE) == (Gather("x", 10 + 30, 4000.0), Gather("t", 30, 240.0))


def test_streams_are_none() -> None:
    assert gathers_of(nest_of("for (int i = 0; i < n; i++) a[i] = a[2*i];", "int n, double *a",
                              n=10), PAGE) == ()  # fmt: skip


def test_an_array_of_unknown_length_is_as_long_as_the_loop() -> None:
    loops = "for (int i = 0; i < n; i++) s[i] = x[row[i]];"
    nest = nest_of(loops, "int n, int *row, double *s, double *x", n=70)
    assert gathers_of(nest, PAGE) == (Gather("x", 70, 560.0),)
    assert nest.assumed == ("x[] = 70 (no value given: elements of x)",)


def test_a_length_that_is_given_goes_before_that_of_the_loop() -> None:
    """`x[]` doubles; an array has one at least."""
    loops = "for (int i = 0; i < n; i++) s[i] = x[row[i]];"
    for given, length in ((5000, 40_000.0), (2, 16.0), (1, 8.0), (0, 8.0)):
        facts = facts_of(loops, "int n, int *row, double *s, double *x", n=70)
        nest = loop_nest(facts.region, {**facts.bindings.values, "x[]": given})
        assert nest is not None
        assert gathers_of(nest, 4096) == (Gather("x", 70, length),)
        assert nest.assumed == ()
