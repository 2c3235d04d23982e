"""What a run tells goes behind the caller and the source, and trip counts are solved for names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from regionpredict.analysis.recorded_values import RecordedSize, RecordedSizes, recorded_facts
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
