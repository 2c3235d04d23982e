"""What a run tells goes behind the caller and the source, and trip counts are solved for names."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from regionpredict.analysis.recorded_values import (
    RecordedCase,
    RecordedSize,
    RecordedSizes,
    recorded_facts,
)
from regionpredict.ir import Definition, Expr, Loop, Region, Span, Statement
from regionpredict.ir.expr import ONE, ZERO

PLACE = Span("f.c", 3)


def _region(start: Expr | None, bound: Expr | None) -> Region:
    body = Statement("x = 1", Span("f.c", 5), (), ())
    step = ONE if bound is not None else None
    nest = Loop("i", start, bound, "<", step, (body,), Span("f.c", 4))
    return Region("f.c:3", PLACE, "f", "parallel for", (), "combined", 1, nest, ())


def _always(value: int) -> RecordedSize:
    return RecordedSize(value, value)


def test_the_caller_goes_first_then_the_source_then_the_run() -> None:
    n, m, q = Expr.name("n"), Expr.name("m"), Expr.name("q")
    region = _region(ZERO, n + m + q)
    source = (Definition("m", n * 2, PLACE), Definition("q", Expr.name("lost"), PLACE))
    told = RecordedSizes({"n": _always(10), "m": _always(20), "q": _always(3)})
    made = recorded_facts(region, source, {}, told)
    assert (made.facts.iterations.value, made.names) == (33, ("n", "q"))
    made = recorded_facts(region, source, {"n": 100}, told)  # m follows n, as the source says
    assert (made.facts.iterations.value, made.names) == (303, ("q",))
    assert made.facts.bindings.assumed == ()


def test_a_name_that_changed_is_told() -> None:
    told = RecordedSizes({"n": RecordedSize(16, 64)})
    made = recorded_facts(_region(ZERO, Expr.name("n")), (), {}, told)
    assert made.facts.iterations.value == 64
    assert made.facts.bindings.assumed == ("n = 64 (recorded: from 16 to 64)",)


def test_recorded_parameters_give_what_callers_hand_to_them() -> None:
    """`f(x)` in `g(y)`, `g(2 * grid.n)` in `main`, where a run without arguments has n = 500."""
    region = _region(ZERO, Expr.name("grid.n") * 2)
    source = (
        Definition("x", Expr.name("g:y"), PLACE), Definition("g:y", Expr.name("grid.n") * 2, PLACE),
        Definition("grid.n", Expr.const(500), PLACE, origin="defaults"),
    )  # fmt: skip
    made = recorded_facts(region, source, {}, RecordedSizes({"x": RecordedSize(6, 14)}))
    assert (made.facts.iterations.value, made.names) == (14, ("grid.n",))
    assert made.facts.bindings.origin == "run"
    assert made.facts.bindings.assumed == ()
    odd = recorded_facts(region, source, {}, RecordedSizes({"x": _always(7)}))
    assert odd.facts.iterations.value == 1000  # no n has it
    given_n = recorded_facts(region, source, {"grid.n": 3}, RecordedSizes({"x": _always(14)}))
    assert given_n.facts.iterations.value == 6


def test_a_recorded_trip_count_goes_before_defaults() -> None:
    region = _region(ZERO, Expr.name("n") + Expr.name("m"))
    source = tuple(
        Definition(name, Expr.const(500), PLACE, origin="defaults") for name in ("n", "m")
    )
    made = recorded_facts(region, source, {}, RecordedSizes(trips=_always(7)))
    assert (made.facts.iterations.value, made.names) == (7, ("f.c:4",))


def test_several_sizes_are_predicted_where_half_of_the_work_is_done() -> None:
    """90 x 10, 10 x 100 and 1 x 1,000 iterations: 900 and 1,900 of 2,900."""
    cases = tuple(
        RecordedCase(entries, trips, {"n": trips})
        for entries, trips in ((1, 1000), (90, 10), (10, 100))
    )
    told = RecordedSizes({"n": RecordedSize(10, 1000)}, RecordedSize(10, 1000), 101, cases)
    made = recorded_facts(_region(ZERO, Expr.name("n")), (), {}, told)
    assert made.facts.iterations.value == 100
    assert made.facts.bindings.assumed == ("n = 100 (recorded: from 10 to 1000)",)
    assert made.share == 2900 / 101 / 100
    unnamed = replace(told, values={}, cases=tuple(case._replace(values={}) for case in cases))
    assert recorded_facts(_region(None, None), (), {}, unnamed).facts.iterations.value == 100


@given(st.integers(1, 9), st.integers(-50, 50), st.integers(0, 10**6))
def test_a_trip_count_gives_its_only_unknown(factor: int, shift: int, size: int) -> None:
    trips = factor * size + shift
    region = _region(ONE, Expr.name("n") * factor + shift + 1)
    made = recorded_facts(region, (), {}, RecordedSizes(trips=_always(max(0, trips))))
    if trips > 0:
        assert made.facts.bindings.values["n"] == size
        assert made.facts.iterations.value == trips


def test_of_two_unknowns_none_is_solved() -> None:
    region = _region(ZERO, Expr.name("n") + Expr.name("m"))
    made = recorded_facts(region, (), {}, RecordedSizes(trips=_always(7)))
    assert (made.facts.iterations.value, made.names) == (7, ("f.c:4",))
    made = recorded_facts(region, (), {"m": 3}, RecordedSizes(trips=_always(7)))
    assert made.facts.bindings.values["n"] == 4


def test_a_count_that_no_size_has_binds_no_name() -> None:
    region = _region(ZERO, Expr.name("n") * 4)
    made = recorded_facts(region, (), {}, RecordedSizes(trips=_always(10)))
    assert (made.facts.iterations.value, made.names) == (10, ("f.c:4",))


def test_a_loop_that_is_not_counted_has_its_trips_by_place() -> None:
    region = _region(None, None)
    made = recorded_facts(region, (), {}, RecordedSizes(trips=_always(10)))
    assert (made.facts.iterations.value, made.names) == (10, ("f.c:4",))
    made = recorded_facts(region, (), {}, RecordedSizes())
    assert made.facts.iterations.value is None
