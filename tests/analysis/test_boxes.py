"""Sides of boxes around what is touched: which of two is the lower where names are sizes."""

from __future__ import annotations

from itertools import product

import pytest

from regionpredict.analysis.footprint import (
    _bytes_of_box,
    _extreme_over_loop,
    _is_positive,
    _larger_bound,
    _sign_of_difference,
    _smaller_bound,
    _union_box,
    _without_common_factors,
)
from regionpredict.ir import Expr
from regionpredict.ir.expr import ZERO

I, M, N, W = (Expr.name(name) for name in "imnw")  # noqa: E741


def least(first: Expr, second: Expr) -> Expr:
    return Expr.atom("min", first, second)


def most(first: Expr, second: Expr) -> Expr:
    return Expr.atom("max", first, second)


@pytest.mark.parametrize(
    ("expression", "positive"),
    [
        (N, True),
        (-N, False),
        (Expr.const(3), True),
        (Expr.const(-3), False),
        (ZERO, None),
        (5 * N + 3 * M, True),
        (-5 * N - M, False),
        (N - 7, True),  # the constant does not turn it
        (7 - N, False),
        (N + M - 7, True),
        (N - M, None),
        (N - M + 1, None),
        (N * M - N, True),  # n (m - 1)
        (N - N * W, False),
        (N * N - N, True),
        (N * M - N * W, None),
        (N * M - M, True),
    ],
)
def test_signs_of_sizes(expression: Expr, positive: bool | None) -> None:
    assert _is_positive(expression) is positive
    if positive is not None:
        values = [
            expression.evaluate({"n": n, "m": m, "w": w}) for n, m, w in product((8, 50), repeat=3)
        ]
        assert all(value is not None and (value > 0) == positive for value in values)


@pytest.mark.parametrize(
    ("expression", "plain"),
    [
        (N - N * W, 1 - W),
        (N * N * M + N * M, N + 1),
        (N * N * 3, N * 3),
        (N + 1, N + 1),
        (N + M, N + M),
        (ZERO, ZERO),
        (least(N, M) * W + W, least(N, M) + 1),
        (least(N, M) * W + least(N, M), least(N, M) * W + least(N, M)),  # it may be nothing
    ],
)
def test_common_sizes_are_left_out(expression: Expr, plain: Expr) -> None:
    assert _without_common_factors(expression) == plain


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        (N, N, 0), (N + 1, N, 1), (N, N + 1, -1), (2 * N, N, 1), (N, 2 * N, -1), (N, M, None),
        (N * M, M, 1), (Expr.const(2), Expr.const(5), -1), (N, Expr.const(3), 1),
    ],
)  # fmt: skip
def test_the_lower_and_the_higher(one: Expr, other: Expr, sign: int | None) -> None:
    assert _sign_of_difference(one, other) == sign
    low, high = _smaller_bound(one, other), _larger_bound(one, other)
    if sign is None:
        assert (low, high) == (least(M, N), most(M, N))
        assert (_smaller_bound(other, one), _larger_bound(other, one)) == (
            low,
            high,
        )  # in one order
    else:
        assert (low, high) == ((one, other) if sign <= 0 else (other, one))


def test_boxes() -> None:
    """Side by side each dimension is the widest of the two; of other ranks the larger counts."""
    first = ((ZERO, N), (Expr.const(2), M))
    second = ((Expr.const(1), N + 3), (ZERO, M - 1))
    assert _union_box(first, second) == ((ZERO, N + 3), (ZERO, M))
    assert _union_box(second, first) == ((ZERO, N + 3), (ZERO, M))
    row = ((ZERO, N),)
    assert _union_box(first, row) == _union_box(row, first) == first
    assert _bytes_of_box(first) == (N + 1) * (M - 1)
    assert _bytes_of_box(row) == N + 1


@pytest.mark.parametrize(
    "side",
    [
        I, -I, 3 * I + N, N - 2 * I, I * M, -I * M + 1,
        least(I + W, N), most(I - W, ZERO), least(I, N) - I, most(N - I, W) + I,
        -least(I, N), 2 * least(I + 1, N) - 3 * I, W * least(I, N),
    ],
)  # fmt: skip
def test_ends_of_a_side(side: Expr) -> None:
    """The least and the most of it over i from 2 to n - 1."""
    ends = (Expr.const(2), N - 1)
    low, high = (_extreme_over_loop(side, "i", ends, lowest=lowest) for lowest in (True, False))
    assert low is not None and high is not None
    for n, m, w in product((3, 4, 9), (1, 5), (1, 3)):
        at = {"n": n, "m": m, "w": w}
        values = [side.evaluate({**at, "i": i}) for i in range(2, n)]
        assert all(value is not None for value in values)
        assert low.evaluate(at) <= min(values)  # type: ignore[operator, type-var]
        assert high.evaluate(at) >= max(values)  # type: ignore[operator, type-var]
        if not any(side.atoms()):
            assert (low.evaluate(at), high.evaluate(at)) == (min(values), max(values))


@pytest.mark.parametrize(
    "side", [I * (N - M), I * least(I, N), least(I, N) + most(I, M), least(I, N) * least(I, N)]
)
def test_sides_whose_ends_are_not_known(side: Expr) -> None:
    for lowest in (True, False):
        assert _extreme_over_loop(side, "i", (ZERO, N - 1), lowest=lowest) is None
    assert _extreme_over_loop(M, "i", (ZERO, N - 1), lowest=True) == M
