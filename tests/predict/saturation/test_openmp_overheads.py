"""Costs of OpenMP from tables of round figures: cycles by hand, at 2 GHz half a nanosecond each."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_machine import CYCLE, round_machine

from regionpredict.predict.saturation.openmp_overheads import (
    SpreadUpdates,
    atomic_turn,
    line_turns,
    overhead_seconds,
    spread_updates,
)
from regionpredict.workload import Schedule, Span, SynchronisationCounts
from regionpredict.workload.synchronisation import SpreadAtomics

MACHINE = round_machine()
STATIC = Schedule("static", None)


def counts(
    *, forks: bool = False, waits: bool = False, reductions: int = 0, iterations: float = 100.0,
    **constructs: float,
) -> SynchronisationCounts:  # fmt: skip
    return SynchronisationCounts(forks, waits, reductions, iterations, constructs)


@pytest.mark.parametrize(
    ("asked", "threads", "cycles"),
    [
        (counts(), 4, 0),
        (counts(forks=True), 4, 4000),
        (counts(forks=True, waits=True), 4, 4000),  # joining is waiting: no barrier beside it
        (counts(waits=True), 4, 700),
        (counts(waits=True), 3, 500),  # between 300 and 700
        (counts(reductions=3), 4, 3 * 60),
        (counts(barrier=5), 4, 5 * 700),
        (counts(forks=True, reductions=2, barrier=1), 8, 8000 + 2 * 100 + 1500),
        (counts(forks=True), 16, 2 * 8000),  # past the table in proportion
    ],
)
def test_costs_of_the_team(asked: SynchronisationCounts, threads: int, cycles: float) -> None:
    costs, serial = overhead_seconds(asked, STATIC, MACHINE, threads, 0.0)
    assert costs == pytest.approx(cycles * CYCLE)
    assert serial == 0.0


@pytest.mark.parametrize(
    ("work", "cycles"),
    [
        (0.0, 3 * 400),  # twelve pieces on four threads, which do nothing else
        (400 * CYCLE, 3 * 400 - 400),  # work between them leaves the counter to others
        (1e-3, 3 * 40),  # with much of it each piece costs what it costs one thread
    ],
)
def test_pieces_of_a_dynamic_schedule(work: float, cycles: float) -> None:
    asked = counts(iterations=120)
    costs, serial = overhead_seconds(asked, Schedule("dynamic", 10.0), MACHINE, 4, work)
    assert costs == pytest.approx(cycles * CYCLE)
    assert serial == 0.0


@pytest.mark.parametrize(("name", "alone", "crowded"), [("atomic", 20, 600), ("critical", 60, 900)])
def test_updates_and_locks_are_serialization(name: str, alone: int, crowded: int) -> None:
    asked = counts(**{name: 8})
    for work, cycles in ((0.0, 2 * crowded), (100 * CYCLE, 2 * crowded - 100), (1.0, 2 * alone)):
        costs, serial = overhead_seconds(asked, STATIC, MACHINE, 4, work)
        assert costs == 0.0
        assert serial == pytest.approx(cycles * CYCLE)


def test_both_at_once_add_up_and_locks_may_be_left_to_the_queue() -> None:
    asked = counts(atomic=8, critical=4)
    assert overhead_seconds(asked, STATIC, MACHINE, 4, 0.0)[1] == pytest.approx(
        (1200 + 900) * CYCLE
    )
    assert overhead_seconds(asked, STATIC, MACHINE, 4, 0.0, locks=False)[1] == pytest.approx(
        1200 * CYCLE
    )


def test_one_thread_pays_what_the_table_says_of_one() -> None:
    asked = counts(forks=True, atomic=8, critical=4, iterations=100)
    costs, serial = overhead_seconds(asked, Schedule("dynamic", 50.0), MACHINE, 1, 0.0)
    assert costs == pytest.approx((1000 + 2 * 40) * CYCLE)
    assert serial == pytest.approx((8 * 20 + 4 * 60) * CYCLE)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.integers(1, 8), st.floats(0, 1e-3), st.floats(0, 1e-3), st.floats(0, 100))
def test_more_work_between_two_costs_no_more(
    threads: int, work: float, more: float, number: float
) -> None:
    asked = counts(atomic=number)
    least = number / threads * 20 * CYCLE
    short = overhead_seconds(asked, STATIC, MACHINE, threads, work)[1]
    long = overhead_seconds(asked, STATIC, MACHINE, threads, work + more)[1]
    assert least * (1 - 1e-9) <= long <= short * (1 + 1e-9)


def updates(number: float, lines: float, moved: float) -> SpreadUpdates:
    return SpreadUpdates("h[k[i]]", number, lines, moved)


def test_updates_of_many_lines_fetch_them() -> None:
    """600 cycles on four threads: a turn takes 150. Alone each update takes 20."""
    assert atomic_turn(MACHINE, 4) == 150.0
    made = spread_updates(updates(8000, 1000, 6000), MACHINE, 4, 0.0)
    assert made == pytest.approx((8000 * 20 + 6000 * 150) / 4 * CYCLE)
    assert spread_updates(updates(8000, 1000, 0), MACHINE, 1, 0.0) == pytest.approx(
        8000 * 20 * CYCLE
    )


def test_updates_of_one_line_queue_as_those_of_one_variable() -> None:
    """Each of 8 updates waits for all others' turns, but for what else its thread does."""
    for lines, work, cycles in (
        (1, 0.0, 8 * 150),
        (1, 300 * CYCLE, 8 * 150 - 300),
        (2, 0.0, 8 * 150 / 2),
        (1, 1.0, (8 * 20 + 6 * 150) / 4),  # no queue: each fetches its line
    ):
        made = spread_updates(updates(8, lines, 6), MACHINE, 4, work)
        assert made == pytest.approx(cycles * CYCLE)
    whole = overhead_seconds(counts(atomic=8), STATIC, MACHINE, 4, 0.0)[1]
    assert whole == pytest.approx(spread_updates(updates(8, 1, 6), MACHINE, 4, 0.0))


def test_what_is_spread_is_not_counted_as_of_one_place() -> None:
    some = SpreadAtomics("h", 6.0, "h[k[i]]", Span("f.c", 1, 1))
    asked = counts(atomic=8)._replace(spread=(some,))
    assert overhead_seconds(asked, STATIC, MACHINE, 4, 0.0)[1] == pytest.approx(2 / 4 * 600 * CYCLE)


def test_updates_that_meet_no_other_thread_cost_what_they_cost_alone() -> None:
    """8 of the iteration's own elements, or 8 releases of chosen locks: 2 a thread, 20 cycles."""
    own = counts(atomic=8)._replace(apart=8.0)
    for asked in (own, counts(lock=8)):
        costs, serial = overhead_seconds(asked, STATIC, MACHINE, 4, 0.0)
        assert costs == pytest.approx(2 * 20 * CYCLE)
        assert serial == 0.0


@pytest.mark.parametrize(
    ("threads", "work", "cycles"),
    [
        (1, 0.0, 0),  # a thread by itself keeps the line
        (2, 0.0, 8 * 100),  # turns of 200 / 2 cycles, one after the other
        (4, 0.0, 8 * 150),
        (4, 600, 8 * 150 - 600),  # beside work, in which others write
        (4, 1e6, 8 * 150 * 3 / 4 / 4),  # each waits for three of four of its own two
    ],
)
def test_writes_of_one_line_follow_one_another(threads: int, work: float, cycles: float) -> None:
    spent = line_turns(8.0, MACHINE, threads, work * CYCLE)
    assert spent == pytest.approx(cycles * CYCLE)


def test_inner_teams_have_one_thread_or_are_made_anew() -> None:
    """Eight of them on four threads, two each: 1000 cycles to start one with one thread. With four
    threads each 4000 to start it, beside what it costs to make its threads."""
    asked = counts(parallel=8)
    assert overhead_seconds(asked, STATIC, MACHINE, 4, 0.0) == (
        pytest.approx(2 * 1000 * CYCLE),
        0.0,
    )
    nesting = asked._replace(nests=True)
    made = 4000 + MACHINE.overheads.first_team.at(4)
    assert overhead_seconds(nesting, STATIC, MACHINE, 4, 0.0) == (
        pytest.approx(2 * made * CYCLE),
        0.0,
    )
    assert overhead_seconds(nesting, STATIC, MACHINE, 1, 0.0) == (
        pytest.approx(8 * 1000 * CYCLE),
        0.0,
    )
