"""How many values of a loop's variable fulfil a condition, held against trying each."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable

import pytest

from regionpredict.analysis.condition_counts import (
    UndecidedError,
    Values,
    condition_holds,
    conjuncts_of,
    count_satisfying,
)
from regionpredict.analysis.loop_enumeration import count_executions
from regionpredict.ir import Expr, Loop, Span
from regionpredict.ir.folding import TRUNCATES

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
        parts = conjuncts_of(some_condition(chance))
        first, step = chance.randint(-300, 300), chance.choice([1, 1, 2, 3, -1, -2, -5])
        taken = Values(first, chance.randint(0, 2500), step)
        wanted = sum(
            all(condition_holds(part, {"t": first + at * step}) for part in parts)
            for at in range(taken.trips)
        )
        assert count_satisfying("t", taken, parts) == wanted, [str(part) for part in parts]


def test_large_ranges_take_no_trying() -> None:
    """Of 3 * 10^9 iterations every millionth; the last ten; those between two."""
    taken = Values(0, 3_000_000_000, 1)
    assert count_satisfying("t", taken, [Expr.atom("not", remainder(T, 100_000_000))]) == 30
    assert count_satisfying("t", taken, [compared("le", -T, -2_999_999_990)]) == 10
    assert count_satisfying("t", taken, [Expr.atom("not", remainder(T, 1000))]) == 3_000_000
    between = [compared("lt", T, 2_000_000), Expr.atom("lt", Expr.const(5), T)]
    assert count_satisfying("t", taken, between) == 1_999_994


def test_what_is_neither_a_line_nor_a_remainder_is_not_guessed() -> None:
    square = compared("eq", remainder(T * T, 7), 1)
    assert count_satisfying("t", Values(0, 7, 1), [square]) == 2  # 1 and 6
    with pytest.raises(UndecidedError):
        count_satisfying("t", Values(0, 1_000_000, 1), [square])


def test_conditions_on_several_loops() -> None:
    """Of t < 50 and j < 4: the pairs that are counted by hand."""
    nest = (loop("t", 0, 50), loop("j", 0, 4))
    assert (
        count_executions(nest, {}, [Expr.atom("lt", Expr.const(5), T), compared("eq", J, 1)]) == 44
    )
    assert count_executions(nest, {}, [Expr.atom("le", J, T)]) == 200 - 3 - 2 - 1
    assert count_executions(nest, {}, [compared("eq", T + J, 7)]) == 4
    triangle = (loop("t", 0, 50), loop("j", 0, T))
    assert count_executions(triangle, {}, [Expr.atom("not", remainder(T, 5))]) == sum(
        range(0, 50, 5)
    )
    assert count_executions(triangle, {}, [Expr.atom("not", J)]) == 49
    assert count_executions(nest, {}, [compared("eq", Expr.name("n"), 1)]) is None
    assert count_executions(nest, {"n": 2}, [compared("eq", Expr.name("n"), 1)]) == 0


def _truncated(value: int, size: int) -> int:
    """C's remainder: it has the sign of what is divided."""
    return value % size if value >= 0 else -(-value % size)


COMPARED: dict[str, Callable[[int, int], bool]] = {
    "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


@pytest.mark.parametrize("step", [1, -1, 2, -3])
@pytest.mark.parametrize("slope", [1, -1, 2, -3])
def test_a_comparison_that_turns_near_an_end(slope: int, step: int) -> None:
    """600 values, which are too many to be tried: it turns at each of the first and last ones."""
    first, trips = 7, 600
    values = [first + at * step for at in range(trips)]
    for near in (0, 1, 2, 297, trips - 3, trips - 2, trips - 1):
        for beside in (-1, 0, 1):
            turn = slope * values[near] + beside
            for kind, compared_by in COMPARED.items():
                wanted = sum(compared_by(slope * value, turn) for value in values)
                told = count_satisfying(
                    "t", Values(first, trips, step), [compared(kind, T * slope, turn)]
                )
                assert told == wanted, (near, beside, kind)


@pytest.mark.parametrize("seed", range(3))
def test_a_remainder_that_comes_round_a_few_times(seed: int) -> None:
    """Of a line, multiplied and compared, below zero and above it: more values than are tried."""
    chance = random.Random(seed)
    for _ in range(40):
        slope, beyond = chance.choice([1, 1, -1, 3, -7]), chance.randint(-4000, 4000)
        size, times = chance.choice([513, 600, 1000, 30_000]), chance.choice([1, 2, -1, -3])
        first, step = chance.randint(-3000, 3000), chance.choice([1, -1, 2, -5])
        kind, trips = chance.choice(COMPARISONS), chance.randint(513, 6000)
        line = [slope * (first + at * step) + beyond for at in range(trips)]
        rests = [times * _truncated(value, size) for value in line]
        turn = chance.choice(rests) + chance.choice([-1, 0, 0, 1])
        condition = compared(kind, remainder(T * slope + beyond, size) * times, turn)
        wanted = sum(COMPARED[kind](rest, turn) for rest in rests)
        assert count_satisfying("t", Values(first, trips, step), [condition]) == wanted, str(
            condition
        )


def test_as_many_as_are_tried_and_not_one_more() -> None:
    """512 values, whatever the condition; 20,000 of a round; 512 rounds of a longer one."""
    square = compared("eq", remainder(T * T, 7), 1)
    squares = sum(t * t % 7 == 1 for t in range(512))
    assert count_satisfying("t", Values(0, 512, 1), [square]) == squares
    for never in (
        (Values(0, 513, 1), square),
        (Values(0, 10**9, 1), Expr.atom("not", remainder(T, 20_001))),
        (Values(0, 20_001 * 514, 1), compared("lt", remainder(T, 20_001), 5)),
        (Values(5, 513, 0), compared("lt", T, 9)),
    ):
        with pytest.raises(UndecidedError):
            count_satisfying("t", never[0], [never[1]])
    assert (
        count_satisfying("t", Values(0, 10**9, 1), [Expr.atom("not", remainder(T, 20_000))])
        == 50_000
    )
    rounds = Values(0, 20_001 * 513, 1)
    assert count_satisfying("t", rounds, [compared("lt", remainder(T, 20_001), 5)]) == 5 * 513
    assert count_satisfying("t", Values(5, 512, 0), [compared("lt", T, 9)]) == 512


def test_a_round_of_a_step_is_shorter() -> None:
    """By tens, 30,000 come round after 3,000 steps; by sevens after all of them."""
    condition = Expr.atom("not", remainder(T, 30_000))
    assert count_satisfying("t", Values(0, 3_000_000_000, 10), [condition]) == 1_000_000
    with pytest.raises(UndecidedError):
        count_satisfying("t", Values(0, 3_000_000_000, 7), [condition])


def test_masks() -> None:
    """Of two bits, wherever the mask stands; of none, nothing; of all bits, it is not guessed."""
    taken = Values(-5, 100_000, 1)
    for mask in (0, 1, 2, 5, 1023):
        wanted = sum(bool(t & mask) for t in range(-5, 99_995))
        for arguments in ((T, Expr.const(mask)), (Expr.const(mask), T)):
            assert count_satisfying("t", taken, [Expr.atom("bitand", *arguments)]) == wanted
    with pytest.raises(UndecidedError):
        count_satisfying("t", taken, [Expr.atom("bitand", T, Expr.const(-4))])


def test_what_has_no_number_is_not_decided() -> None:
    """By nothing, by another name, over a quotient, or multiplied by itself."""
    n = Expr.name("n")
    for condition in (
        compared("eq", remainder(T, 0), 1),
        compared("lt", T * n, 8),
        compared("lt", T + n, 8),
        compared("eq", Expr.atom("mod", T, n, label=TRUNCATES), 1),
        compared("eq", remainder(T * n, 700), 1),
        compared("eq", remainder(T, 700) + n, 1),
        compared("eq", remainder(T, 7) * remainder(T, 5), 1),
        compared("eq", Expr.atom("floordiv", T, Expr.const(7)), 1),
        compared("eq", T * T, 4),
    ):
        with pytest.raises(UndecidedError):
            count_satisfying("t", Values(0, 100_000, 1), [condition])


def test_two_remainders_come_round_together() -> None:
    """Both in one sum, with a line beside them, and on both sides of an `or`."""
    sevens, fives = remainder(T, 7), remainder(T + 2, 5)
    taken = Values(3, 5000, 1)
    values = range(3, 5003)
    assert count_satisfying("t", taken, [compared("eq", sevens - fives, 0)]) == sum(
        t % 7 == (t + 2) % 5 for t in values
    )
    either = Expr.atom("or", Expr.atom("not", sevens), compared("lt", fives, 2))
    assert count_satisfying("t", taken, [either, Expr.atom("lt", Expr.const(99), T)]) == sum(
        (t % 7 == 0 or (t + 2) % 5 < 2) and t > 99 for t in values
    )
    with pytest.raises(UndecidedError):  # it grows, and comes round
        count_satisfying("t", taken, [compared("lt", sevens + T, 90)])
