"""Intervals of expressions, against all values that they take."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.ir import Expr
from regionpredict.ir.folding import TRUNCATES
from regionpredict.workload.value_ranges import Interval, interval_of

OUTER, INNER = Expr.name("i"), Expr.name("j")


def _number(value: int) -> Expr:
    return Expr.const(value)


EXPRESSIONS = {
    "sum": OUTER * 3 - INNER * 2 + 5,
    "product": OUTER * INNER,
    "square": OUTER * OUTER,
    "remainder": Expr.atom("mod", OUTER, _number(5)),
    "remainder in C": Expr.atom("mod", OUTER - 4, _number(5), label=TRUNCATES),
    "quotient": Expr.atom("floordiv", OUTER, _number(3)),
    "quotient in C": Expr.atom("floordiv", OUTER - 4, _number(3), label=TRUNCATES),
    "mask": Expr.atom("bitand", OUTER, _number(6)),
    "least": Expr.atom("min", OUTER, INNER) * -2,
    "most": Expr.atom("max", OUTER + INNER, _number(2)),
    "either": Expr.atom("select", Expr.atom("lt", OUTER, _number(2)), OUTER, INNER),
    "unsigned byte": Expr.atom("wrap", OUTER - 3, _number(8), _number(1)),
    "signed byte": Expr.atom("wrap", OUTER + 126, _number(8), _number(0)),
}
SPANS = st.tuples(st.integers(-9, 9), st.integers(0, 12)).map(lambda s: (s[0], s[0] + s[1]))


@pytest.mark.parametrize("name", EXPRESSIONS)
@settings(max_examples=60, derandomize=True, deadline=None)
@given(SPANS, SPANS)
def test_no_value_is_outside(name: str, i: tuple[int, int], j: tuple[int, int]) -> None:
    expr = EXPRESSIONS[name]
    interval = interval_of(expr, {"i": Interval(*map(float, i)), "j": Interval(*map(float, j))})
    assert interval is not None
    for first, second in product(range(i[0], i[1] + 1), range(j[0], j[1] + 1)):
        value = expr.evaluate({"i": first, "j": second})
        assert value is not None
        assert interval.low <= value <= interval.high


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("sum", -13, 35),  # i = 0, j = 9; i = 10, j = 0
        ("remainder", 0, 4),
        ("remainder in C", -4, 4),
        ("quotient", 0, 3),
        ("mask", 0, 6),
        ("least", -18, 0),
        ("either", 0, 10),
        ("unsigned byte", 0, 255),  # -3 is 253
    ],
)
def test_how_far_values_go(name: str, low: int, high: int) -> None:
    """With i from 0 to 10 and j from 0 to 9."""
    assert interval_of(EXPRESSIONS[name], {"i": Interval(0, 10), "j": Interval(0, 9)}) == (
        low,
        high,
    )


@pytest.mark.parametrize(
    "unknown",
    [
        Expr.atom("ref", OUTER, label="idx"), Expr.name("n"), Expr.atom("mod", OUTER, INNER),
        Expr.atom("floordiv", OUTER, INNER), Expr.atom("bitand", OUTER - 4, INNER - 4),
        Expr.atom("bitxor", OUTER, INNER),
    ],
)  # fmt: skip
def test_what_has_no_interval(unknown: Expr) -> None:
    assert interval_of(unknown * 2 + OUTER, {"i": Interval(0, 10), "j": Interval(-1, 9)}) is None


@pytest.mark.parametrize(
    ("expr", "ends", "interval"),
    [
        # remainders: the value itself where it is never negative and below the divisor
        (Expr.atom("mod", OUTER, _number(5)), (0, 4), (0, 4)),
        (Expr.atom("mod", OUTER, _number(5)), (2, 4), (2, 4)),
        (Expr.atom("mod", OUTER, _number(5)), (2, 5), (0, 4)),
        (Expr.atom("mod", OUTER, _number(5)), (-1, 3), (-4, 4)),
        (Expr.atom("mod", OUTER, _number(1)), (0, 9), (0, 0)),
        (Expr.atom("mod", OUTER, _number(0)), (0, 9), None),
        (Expr.atom("mod", OUTER, _number(-5)), (0, 9), None),
        # quotients: down at the lower end, towards nought at the higher one below it
        (Expr.atom("floordiv", OUTER, _number(3)), (0, 2), (0, 0)),
        (Expr.atom("floordiv", OUTER, _number(3)), (-13, -4), (-5, -1)),
        (Expr.atom("floordiv", OUTER, _number(3)), (-12, -3), (-4, -1)),
        (Expr.atom("floordiv", OUTER, _number(3)), (-2, 8), (-1, 2)),
        (Expr.atom("floordiv", OUTER, _number(1)), (-2, 8), (-2, 8)),
        (Expr.atom("floordiv", OUTER, _number(0)), (0, 8), None),
        (Expr.atom("floordiv", _number(60), OUTER), (4, 7), (8, 15)),
        (Expr.atom("floordiv", _number(60), OUTER), (1, 7), (8, 60)),
        (Expr.atom("floordiv", _number(60), OUTER), (0, 7), None),
        (Expr.atom("floordiv", _number(-60), OUTER), (4, 7), (-15, -8)),
        # masks: no more than a side that is never negative
        (Expr.atom("bitand", OUTER, _number(6)), (-3, 4), (0, 6)),
        (Expr.atom("bitand", OUTER, _number(6)), (0, 4), (0, 4)),
        (Expr.atom("bitand", OUTER, _number(-2)), (1, 4), (0, 4)),
        (Expr.atom("bitand", OUTER, _number(-2)), (-1, 4), None),
        # integer types of eight bits, unsigned and signed: the value where it fits, to the last
        (Expr.atom("wrap", OUTER, _number(8), _number(1)), (0, 7), (0, 7)),
        (Expr.atom("wrap", OUTER, _number(8), _number(1)), (250, 255), (250, 255)),
        (Expr.atom("wrap", OUTER, _number(8), _number(1)), (250, 256), (0, 255)),
        (Expr.atom("wrap", OUTER, _number(8), _number(1)), (-1, 7), (0, 255)),
        (Expr.atom("wrap", OUTER, _number(8), _number(0)), (-128, 0), (-128, 0)),
        (Expr.atom("wrap", OUTER, _number(8), _number(0)), (0, 127), (0, 127)),
        (Expr.atom("wrap", OUTER, _number(8), _number(0)), (-129, 0), (-128, 127)),
        (Expr.atom("wrap", OUTER, _number(8), _number(0)), (0, 128), (-128, 127)),
        (Expr.atom("max", OUTER, _number(2)), (0, 9), (2, 9)),
        (Expr.atom("min", OUTER, _number(2)), (0, 9), (0, 2)),
        (Expr.atom("select", Expr.name("n"), OUTER, _number(12)), (3, 9), (3, 12)),
        (OUTER * OUTER * OUTER * 2 + 1, (-2, 3), (-35, 55)),  # 9 and -6 times -2 and 3, at most
    ],
    ids=str,
)
def test_the_ends_of_an_interval(
    expr: Expr, ends: tuple[int, int], interval: tuple[int, int] | None
) -> None:
    assert interval_of(expr, {"i": Interval(*ends)}) == interval


def test_a_remainder_that_is_the_value_itself() -> None:
    assert interval_of(EXPRESSIONS["remainder"], {"i": Interval(1, 3)}) == (1, 3)
