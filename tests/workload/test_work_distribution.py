"""Shares of the busiest thread and threads at work, against deals that are played through."""

from __future__ import annotations

import heapq

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_texts import STATIC, nest_of

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload import WorkProfile, largest_share
from regionpredict.workload.work_distribution import (
    piece_weights,
    threads_at_work,
    work_profile,
)

RISING = tuple(float(w) for w in range(1, 65))
FALLING = RISING[::-1]
HILL = (*RISING[::2], *RISING[::-2])


def dynamic_finish(iterations: int, threads: int, chunk: int) -> int:
    """Iterations until the last thread ends, each piece taken by the first that is free."""
    free = [0] * threads
    for at in range(0, iterations, chunk):
        heapq.heappush(free, heapq.heappop(free) + min(chunk, iterations - at))
    return max(free)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(1, 500), st.integers(1, 16))
def test_even_static_pieces(iterations: int, threads: int) -> None:
    """The busiest has the rounded-up share."""
    busiest = max(len(range(t, iterations, threads)) for t in range(threads))
    share = largest_share(WorkProfile(float(iterations), ()), threads, STATIC)
    assert share == pytest.approx(busiest / iterations)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(1, 500), st.integers(1, 16), st.integers(1, 600))
def test_static_chunks_in_turn(iterations: int, threads: int, chunk: int) -> None:
    """Thread 0 has a piece of every round; a last piece that is cut short counts as whole. Where
    there are fewer pieces than threads, those without one take nothing off the others.
    """
    share = largest_share(WorkProfile(float(iterations), ()), threads, Schedule("static", chunk))
    first = sum(min(chunk, iterations - at) for at in range(0, iterations, chunk * threads))
    assert first / iterations <= share <= min(1.0, (first + chunk) / iterations)
    if iterations % chunk == 0 or chunk * threads >= iterations:
        assert share == pytest.approx(first / iterations)


@pytest.mark.parametrize("weights", [RISING, FALLING, HILL])
@pytest.mark.parametrize(
    ("chunk", "threads"), [(16.0, 4), (16.0, 9), (24.0, 3), (40.0, 2), (70, 3)]
)
def test_chunks_of_one_round_weigh_what_they_hold(
    weights: tuple[float, ...], chunk: float, threads: int
) -> None:
    """As many iterations as samples: the heaviest chunk by adding them up."""
    length = int(chunk)
    chunks = [sum(weights[at : at + length]) for at in range(0, 64, length)]
    expected = max(*chunks, length * sum(weights) / 64) if length < 64 else sum(weights)
    share = largest_share(WorkProfile(64.0, weights), threads, Schedule("static", chunk))
    assert share == pytest.approx(expected / sum(weights))


def test_of_iterations_by_thread_number_those_of_the_threads_run() -> None:
    profile = WorkProfile(5.0, (1.0, 2.0, 3.0, 4.0, 10.0), per_thread=True)
    cyclic = Schedule("static", 1.0)
    assert largest_share(profile, 3, cyclic) == 3 / 6
    assert largest_share(profile, 5, cyclic) == 10 / 20
    assert largest_share(profile._replace(per_thread=False), 3, cyclic) == 12 / 20


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(20, 500), st.integers(1, 16), st.integers(1, 9))
def test_dynamic_pieces(iterations: int, threads: int, chunk: int) -> None:
    """Within half a piece of what a played deal takes."""
    share = largest_share(WorkProfile(float(iterations), ()), threads, Schedule("dynamic", chunk))
    played = dynamic_finish(iterations, threads, chunk) / iterations
    assert 1 / threads <= share <= 1
    assert abs(share - min(1.0, played)) <= 0.5 * (chunk + 1) / iterations + 1e-12


def test_shares_by_hand() -> None:
    """Half a piece of waiting for all but one thread: 1/4 + 10/2 of 100, times 3/4."""
    even = WorkProfile(100.0, ())
    assert largest_share(even, 4, Schedule("dynamic", 10.0)) == pytest.approx(0.25 + 0.05 * 0.75)
    assert largest_share(even, 4, Schedule("guided", 10.0)) == pytest.approx(0.25 + 0.005 * 0.75)
    assert largest_share(even, 4, Schedule("dynamic", None)) == pytest.approx(0.25 + 0.005 * 0.75)
    # A chunk beyond the loop is the loop: 1/4 + 1/2 * 3/4; at a fourth all of it would be one's.
    # No less than a piece: one holds all, or there are fewer iterations than threads.
    assert largest_share(even, 4, Schedule("dynamic", 1e6)) == 1.0
    six = WorkProfile(6.0, ())
    assert largest_share(six, 40, Schedule("dynamic", 1.0)) == pytest.approx(1 / 6)
    assert largest_share(six, 40, Schedule("guided", 1.0)) == pytest.approx(1 / 6)
    assert largest_share(even, 1, Schedule("dynamic", 10.0)) == 1.0
    assert largest_share(WorkProfile(1.0, ()), 4, STATIC) == 1.0
    assert largest_share(WorkProfile(0.4, ()), 4, Schedule("dynamic", 1.0)) == 1.0
    # 25 iterations a chunk for 4 threads is one round: nothing but the even deal.
    assert largest_share(even, 4, Schedule("static", 25.0)) == 0.25
    assert largest_share(even, 4, Schedule("static", 20.0)) == pytest.approx(0.4)


@pytest.mark.parametrize("weights", [RISING, FALLING, HILL])
@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64, 100])
def test_pieces_weigh_as_much_as_the_whole(weights: tuple[float, ...], threads: int) -> None:
    pieces = piece_weights(weights, threads)
    assert len(pieces) == threads and sum(pieces) == pytest.approx(sum(weights))
    # The k-th piece by its own integral over the steps.
    width = len(weights) / threads
    for k, piece in enumerate(pieces):
        low, high = k * width, (k + 1) * width
        integral = sum(
            w * max(0.0, min(high, at + 1) - max(low, at)) for at, w in enumerate(weights)
        )
        assert piece == pytest.approx(integral)
    share = largest_share(WorkProfile(1e6, weights), threads, STATIC)
    assert share == pytest.approx(max(pieces) / sum(weights))


def test_few_iterations_are_not_split() -> None:
    """Four iterations of a triangle over three threads: two of them are half of all."""
    assert largest_share(WorkProfile(4.0, (1.0,) * 64), 3, STATIC) == 0.5


def test_the_profile_of_a_triangle() -> None:
    """64 samples of 1 + (i + 1) over i = 0..99: from i = 99/128 up by 99/64 a sample."""
    nest = nest_of("for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[j] = i;",
                   "int n, double *a", n=100)  # fmt: skip
    profile = work_profile(nest)
    assert profile.iterations == 100
    assert len(profile.weights) == 64
    for sample, weight in enumerate(profile.weights):
        assert weight == pytest.approx(2 + (sample + 0.5) / 64 * 99)
    down = nest_of("for (int i = 99; i >= 0; i--) for (int j = 0; j <= i; j++) a[j] = i;",
                   "double *a")  # fmt: skip
    assert work_profile(down).weights == pytest.approx(profile.weights[::-1])


def test_even_and_collapsed_nests_have_no_weights() -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < %s; j++) a[i][j] = i;"
    assert work_profile(nest_of(loops % "n", "int n, double a[9][9]", n=9)) == WorkProfile(9.0, ())
    collapsed = nest_of(loops % "n", "int n, double a[9][9]", "collapse(2)", n=9)
    assert work_profile(collapsed) == WorkProfile(81.0, ())
    # Iterations of a collapsed triangle: those at the middle of the outer loop, 9 * (4 + 1).
    triangle = nest_of(loops % "i + 1", "int n, double a[9][9]", "collapse(2)", n=9)
    assert work_profile(triangle) == WorkProfile(45.0, ())
    empty = nest_of("for (int i = 5; i < 5; i++) a[0][i] = 0;", "double a[9][9]")
    assert work_profile(empty) == WorkProfile(1.0, ())


def test_light_threads_end_first() -> None:
    """Pieces of 1, 3, 5, 7 of 16: all four do 4, then three 6, two 4 and one 2; three phases."""
    phases = threads_at_work(WorkProfile(64.0, RISING), 4, 4, STATIC)
    pieces = piece_weights(RISING, 4)
    assert sum(share for _, share in phases) == pytest.approx(1.0)
    assert [active for active, _ in phases] == sorted((a for a, _ in phases), reverse=True)
    assert len(phases) <= 3
    # Work over threads is time: it is that of the heaviest piece.
    done: dict[int, float] = {}
    for active in range(4, 0, -1):
        gone = sorted(pieces)[4 - active]
        before = sorted(pieces)[3 - active] if active < 4 else 0.0
        done[active] = active * (gone - before) / sum(pieces)
    assert sum(done.values()) == pytest.approx(1.0)
    # 26 %, 37 %, 25 %, 12 %: the first with half of the second is more than a third, so is the
    # second with half of the third; the last goes to the third phase, of (2 * 512 + 256) / 768.
    assert phases == [
        (4, pytest.approx(done[4])), (3, pytest.approx(done[3])),
        (2, pytest.approx(done[2] + done[1])),
    ]  # fmt: skip


def test_phases_that_are_short_go_with_the_one_before() -> None:
    """Pieces of 1 to 8 of 36: eight threads do 8, seven 7, and so on. A phase takes the next while
    it has less than a third with half of that one: 8 + 7, 6 + 5, and the third all others.
    """
    eight = tuple(float(w) for w in range(1, 9))
    assert threads_at_work(WorkProfile(64.0, eight), 8, 8, STATIC) == [
        (8, pytest.approx(15 / 36)),  # (8 * 8 + 7 * 7) / 15
        (6, pytest.approx(11 / 36)),  # (6 * 6 + 5 * 5) / 11
        (3, pytest.approx(10 / 36)),  # (4 * 4 + 3 * 3 + 2 * 2 + 1) / 10
    ]
    # Two to a cache: all of a pair's lighter piece is done by both, the rest by one alone.
    both = 2 * (1 + 3 + 5 + 7)
    assert threads_at_work(WorkProfile(64.0, eight), 8, 2, STATIC) == [
        (2, pytest.approx(both / 36)), (1, pytest.approx(4 / 36)),
    ]  # fmt: skip
    # Three to a cache, of eight: the last two are a team of their own.
    threes = {3: 3 * (1 + 4), 2: 2 * (1 + 1) + 2 * 7, 1: 1 + 1 + 1}
    assert threads_at_work(WorkProfile(64.0, eight), 8, 3, STATIC) == [
        (active, pytest.approx(done / 36)) for active, done in threes.items()
    ]


def test_even_teams_are_always_at_work() -> None:
    assert threads_at_work(WorkProfile(64.0, ()), 8, 4, STATIC) == [(4, 1.0)]
    assert threads_at_work(WorkProfile(64.0, RISING), 8, 1, STATIC) == [(1, 1.0)]
    for schedule in (Schedule("static", 2.0), Schedule("dynamic", None), Schedule("guided", 1.0)):
        assert threads_at_work(WorkProfile(64.0, RISING), 8, 4, schedule) == [(4, 1.0)]
    flat = threads_at_work(WorkProfile(64.0, (1.0,) * 64), 8, 4, STATIC)
    assert flat == [(4, pytest.approx(1.0))]


@pytest.mark.parametrize("kind", ["dynamic", "guided"])
@pytest.mark.parametrize(("iterations", "chunk"), [(8, 1), (4, 1), (24, 1), (24, 4), (2, 1)])
def test_threads_beyond_the_pieces_gain_nothing(iterations: int, chunk: int, kind: str) -> None:
    """Of eight iterations eight threads have one each: an eighth of the time, on any more, too."""
    schedule = Schedule(kind, float(chunk))
    least = chunk if kind == "dynamic" else 1
    profile = WorkProfile(float(iterations), ())
    for threads in range(-(-iterations // least), 40):
        assert largest_share(profile, threads, schedule) == pytest.approx(least / iterations)


def test_erratic_iterations_average_out() -> None:
    """The lengths of Collatz sequences scatter, but blocks of them are about equally long."""
    loops = (
        "for (int i = 1; i < n; i++) { long m = i; while (m != 1) m = m & 1 ? 3 * m + 1 : m / 2; }"
    )
    profile = work_profile(nest_of(loops, "int n", n=100_000))
    lengths = [0, 0]
    for number in range(2, 100_000):
        value, steps = number, 0
        while value >= number:
            value, steps = (3 * value + 1 if value & 1 else value // 2), steps + 1
        lengths.append(steps + lengths[value])
    for threads in (2, 8, 32):
        each = len(lengths) // threads + 1
        blocks = [sum(lengths[t * each : (t + 1) * each]) for t in range(threads)]
        counted = max(blocks) / sum(blocks)
        assert largest_share(profile, threads, STATIC) == pytest.approx(counted, rel=0.1)
