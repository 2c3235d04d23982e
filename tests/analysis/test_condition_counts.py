"""How many values of a loop's variable fulfil a condition, held against trying each."""

from __future__ import annotations

import random

import pytest

from regionpredict.analysis.carried_out import runs
from regionpredict.analysis.condition_counts import (
    UndecidedError,
    Values,
    conjuncts,
    fulfilling,
    holds,
)
from regionpredict.ir import Expr, Loop, Span
from regionpredict.ir.expr import TRUNCATES

T, J = Expr.name("t"), Expr.name("j")
COMPARISONS = ("lt", "le", "eq", "ne")


def remainder(value: Expr, size: int) -> Expr:
    return Expr.atom("mod", value, Expr.const(size), label=TRUNCATES)


def compared(kind: str, left: Expr, right: int) -> Expr:
    return Expr.atom(kind, left, Expr.const(right))


def loop(name: str, start: int, bound: Expr | int, step: int = 1) -> Loop:
    end = bound if isinstance(bound, Expr) else Expr.const(bound)
    sign = "<" if step > 0 else ">"
    return Loop(name, Expr.const(start), end, sign, Expr.const(step), (), Span("f.c", 1))


def some_atom(chance: random.Random) -> Expr:
    line = T * chance.choice([1, 1, 2, -1, 3]) + chance.randint(-40, 40)
    kind = chance.choice(COMPARISONS)
    match chance.randrange(5):
        case 0 | 1:
            return compared(kind, line, chance.randint(-900, 2900))
        case 2:
            rest = remainder(line, chance.choice([2, 3, 7, 10, 900])) * chance.choice([1, 2, -1])
            return compared(kind, rest, chance.randint(-6, 14))
        case 3:
            return Expr.atom("bitand", line, Expr.const(chance.choice([1, 3, 4, 6])))
        case _:
            return remainder(line, chance.choice([2, 3, 5]))


def some_condition(chance: random.Random, depth: int = 0) -> Expr:
    kind = chance.choice(["plain", "and", "or", "not"] if depth < 2 else ["plain"])
    if kind == "plain":
        return some_atom(chance)
    first = some_condition(chance, depth + 1)
    return Expr.atom(kind, *([first] if kind == "not" else [first, some_condition(chance, 2)]))


@pytest.mark.parametrize("seed", range(4))
def test_values_are_counted_as_if_each_were_tried(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        parts = conjuncts(some_condition(chance))
        first, step = chance.randint(-300, 300), chance.choice([1, 1, 2, 3, -1, -2, -5])
        taken = Values(first, chance.randint(0, 2500), step)
        wanted = sum(
            all(holds(part, {"t": first + at * step}) for part in parts)
            for at in range(taken.trips)
        )
        assert fulfilling("t", taken, parts) == wanted, [str(part) for part in parts]


def test_large_ranges_take_no_trying() -> None:
    """Of 3 * 10^9 iterations every millionth; the last ten; those between two."""
    taken = Values(0, 3_000_000_000, 1)
    assert fulfilling("t", taken, [Expr.atom("not", remainder(T, 100_000_000))]) == 30
    assert fulfilling("t", taken, [compared("le", -T, -2_999_999_990)]) == 10
    assert fulfilling("t", taken, [Expr.atom("not", remainder(T, 1000))]) == 3_000_000
    between = [compared("lt", T, 2_000_000), Expr.atom("lt", Expr.const(5), T)]
    assert fulfilling("t", taken, between) == 1_999_994


def test_what_is_neither_a_line_nor_a_remainder_is_not_guessed() -> None:
    square = compared("eq", remainder(T * T, 7), 1)
    assert fulfilling("t", Values(0, 7, 1), [square]) == 2  # 1 and 6
    with pytest.raises(UndecidedError):
        fulfilling("t", Values(0, 1_000_000, 1), [square])


def test_conditions_on_several_loops() -> None:
    """Of t < 50 and j < 4: the pairs that are counted by hand."""
    nest = (loop("t", 0, 50), loop("j", 0, 4))
    assert runs(nest, {}, [Expr.atom("lt", Expr.const(5), T), compared("eq", J, 1)]) == 44
    assert runs(nest, {}, [Expr.atom("le", J, T)]) == 200 - 3 - 2 - 1
    assert runs(nest, {}, [compared("eq", T + J, 7)]) == 4
    triangle = (loop("t", 0, 50), loop("j", 0, T))
    assert runs(triangle, {}, [Expr.atom("not", remainder(T, 5))]) == sum(range(0, 50, 5))
    assert runs(triangle, {}, [Expr.atom("not", J)]) == 49
    assert runs(nest, {}, [compared("eq", Expr.name("n"), 1)]) is None
    assert runs(nest, {"n": 2}, [compared("eq", Expr.name("n"), 1)]) == 0
