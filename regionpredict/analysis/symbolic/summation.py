"""Computes exact sums of polynomials over a loop by Faulhaber's formula with Bernoulli numbers.

For example, `sum(i for i in [0, n))` is `n*(n-1)/2`. Trip counts of triangular nests therefore have
closed forms.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from regionpredict.ir import Expr
from regionpredict.ir.expr import ONE, ZERO, Atom, Monomial

MAX_DEGREE = 12
"""The highest power with a closed-form sum. It is limited by the number of Bernoulli numbers below.
A nest of twelve triangular loops reaches it.
"""


_BERNOULLI = tuple(
    Fraction(*ratio)
    for ratio in ((1, 1), (-1, 2), (1, 6), (0, 1), (-1, 30), (0, 1), (1, 42), (0, 1), (-1, 30),
                  (0, 1), (5, 66), (0, 1), (-691, 2730))
)  # fmt: skip


def _power_sum(power: int) -> tuple[Fraction, ...]:
    """Returns the coefficients, constant first, of S(n) = 0**power + 1**power + ... + (n-1)**power.

    By Faulhaber's formula, the coefficient of n**(power + 1 - k) is binomial(power + 1, k) B_k /
    (power + 1), where B_k are the Bernoulli numbers.

    >>> [str(c) for c in _power_sum(2)]
    ['0', '1/6', '-1/2', '1/3']
    """
    degree = power + 1
    falling = [comb(degree, k) * _BERNOULLI[k] / degree for k in range(degree)]
    return (Fraction(0), *reversed(falling))


def by_powers(expression: Expr, name: str) -> dict[int, Expr] | None:
    """Returns the expression as a polynomial in `name`, as a map from powers to coefficients. None
    for any other expression.
    """
    coefficients: dict[int, dict[Monomial, int | Fraction]] = {}
    for monomial, number in expression.terms.items():
        power = 0
        rest = []
        for factor, exponent in monomial:
            if factor == name:
                power = exponent
            elif isinstance(factor, Atom) and name in factor.names:
                return None
            else:
                rest.append((factor, exponent))
        coefficients.setdefault(power, {})[tuple(rest)] = number
    return {power: Expr(terms) for power, terms in coefficients.items()}


def sum_over(expression: Expr, name: str, start: Expr, count: Expr, step: int) -> Expr | None:
    """Returns the sum of `expression` for `count` values of `name`: start, start+step, ...

    `count` must be at least 0. None if `expression` is not a polynomial in `name` of degree 12 or
    less.

    >>> n, i = Expr.name("n"), Expr.name("i")
    >>> str(sum_over(n - i - 1, "i", Expr.const(0), n, 1))
    '(n*n - n)/2'
    """
    if name not in expression.names:
        return expression * count
    shifted = expression.substitute({name: start + Expr.name("\0t") * step})
    powers = by_powers(shifted, "\0t")
    if powers is None or max(powers) > MAX_DEGREE:
        return None
    total = ZERO
    for power, coefficient in powers.items():
        total = total + coefficient * power_sum_at(power, count)
    return total


def power_sum_at(power: int, at: Expr) -> Expr:
    """Returns 0**power + 1**power + ... + (at - 1)**power, as a polynomial in `at`.

    >>> str(power_sum_at(1, Expr.name("n")))
    '(n*n - n)/2'
    """
    return _evaluate_polynomial(_power_sum(power), at)


def _evaluate_polynomial(coefficients: tuple[Fraction, ...], at: Expr) -> Expr:
    total, power = ZERO, ONE
    for coefficient in coefficients:
        if coefficient:
            total = total + power * coefficient
        power = power * at
    return total
