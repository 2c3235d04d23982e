"""Pieces of a schedule against a team that takes them one after the other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload import piece_count, piece_length

COUNTS = st.integers(1, 400)
TEAMS = st.integers(1, 16)


def dealt(iterations: int, chunk: int) -> list[int]:
    """Pieces of a chunk each, the last one shorter."""
    return [min(chunk, iterations - at) for at in range(0, iterations, chunk)]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(COUNTS, TEAMS, st.integers(1, 50), st.sampled_from(["static", "dynamic"]))
def test_chunks(iterations: int, threads: int, chunk: int, kind: str) -> None:
    pieces, schedule = dealt(iterations, chunk), Schedule(kind, float(chunk))
    assert piece_count(iterations, threads, schedule) == len(pieces)
    assert piece_length(iterations, threads, schedule) == max(pieces)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(COUNTS, TEAMS)
def test_static_pieces_are_one_a_thread(iterations: int, threads: int) -> None:
    static = Schedule("static", None)
    assert piece_length(iterations, threads, static) * threads == pytest.approx(iterations)
    busy = sum(bool(range(t, iterations, threads)) for t in range(threads))
    assert piece_count(iterations, threads, static) == busy


@pytest.mark.parametrize("chunk", [1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("iterations", [4.0, 4.5, 6.0, 10.5])
def test_the_last_chunk_of_a_mean_is_a_piece_of_its_own(iterations: float, chunk: float) -> None:
    """Of 4.5 iterations one by one the last half is a fifth piece."""
    left, number = iterations, 0
    while left > 0:
        left -= chunk
        number += 1
    assert piece_count(iterations, 4, Schedule("dynamic", chunk)) == number


def test_less_than_one_iteration_counts_as_iterations() -> None:
    """Half an iteration, as a mean has them, is no piece of a chunk."""
    assert piece_count(0.5, 4, Schedule("dynamic", 8.0)) == 0.5


@pytest.mark.parametrize("threads", [1, 2, 5, 16])
@pytest.mark.parametrize("chunk", [1, 4])
@pytest.mark.parametrize("iterations", [1, 10, 1000, 10**6])
def test_guided_pieces(iterations: int, threads: int, chunk: int) -> None:
    """Half an even share of what is left each time, but for rounding: libomp's deal."""
    left, number = iterations, 0
    while left > 0:
        left -= min(left, max(chunk, math.ceil(left / (2 * threads))))
        number += 1
    counted = piece_count(float(iterations), threads, Schedule("guided", float(chunk)))
    assert counted == pytest.approx(number, abs=1 + 0.35 * number / chunk)
    assert 1.0 <= counted <= math.ceil(iterations / chunk)


def test_guided_pieces_by_hand() -> None:
    """16 over 2 threads: 4, 3, 2.25, 1.69, 1.27, then 1 at a time until 1 is left (3.80)."""
    assert piece_count(16.0, 2, Schedule("guided", 1.0)) == 8
    assert piece_count(1.0, 2, Schedule("guided", 1.0)) == 1
    assert piece_length(100.0, 4, Schedule("guided", 7.0)) == 25.0


def test_guided_pieces_end() -> None:
    """At most 64 a thread, however many iterations there are."""
    assert piece_count(1e300, 3, Schedule("guided", 1.0)) == 192
