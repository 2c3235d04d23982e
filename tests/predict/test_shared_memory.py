"""Cores of several programs on one path to memory: closed forms, and the queue of one program."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.predict.saturation.memory_bandwidth import PARTLY, requesting_cores
from regionpredict.predict.shared_memory import PathCurve, Running, seconds_together

SATURATING = PathCurve((1.0, 2.0, 4.0, 8.0), (5.0, 9.0, 12.0, 12.0))
FLAT = PathCurve((1.0,), (12.0,))


def running(cores: int, busy: float, data: float, path: PathCurve, fixed: float = 0.0) -> Running:
    """A phase of cores that each work for `busy` seconds and move `data`, by the queue alone."""
    requesting = requesting_cores(float(cores), busy, data, path.at)
    waiting = data * path.seconds_per_byte(requesting)
    seconds = PARTLY.total(busy, waiting) + fixed
    return Running(seconds, fixed, waiting, requesting, path.at(requesting), path)


def test_a_curve_is_straight_between_and_flat_beyond() -> None:
    assert [SATURATING.at(m) for m in (0.3, 1.0, 1.5, 3.0, 8.0, 20.0)] == [
        5.0, 5.0, 7.0, 10.5, 12.0, 12.0,
    ]  # fmt: skip
    # Up to one core nobody is before it; of three each has a third of 10.5.
    assert [SATURATING.seconds_per_byte(m) for m in (0.3, 1.0, 3.0)] == [0.2, 0.2, 3 / 10.5]


BUSY, DATA = st.floats(0.0, 10.0), st.floats(0.1, 100.0)


@given(BUSY, DATA, st.integers(1, 4), st.integers(2, 4), st.sampled_from([SATURATING, FLAT]))
def test_equal_parts_of_a_program_take_as_long_as_all_its_cores(
    busy: float, data: float, cores: int, parts: int, path: PathCurve
) -> None:
    together = seconds_together([running(cores, busy, data, path)] * parts)
    whole = running(parts * cores, busy, data, path).seconds
    assert together == [pytest.approx(whole, rel=1e-6)] * parts


@given(BUSY, DATA, st.integers(1, 8), st.floats(0.0, 2.0))
def test_alone_nothing_changes(busy: float, data: float, cores: int, fixed: float) -> None:
    phase = running(cores, busy, data, SATURATING, fixed)
    assert seconds_together([phase]) == [pytest.approx(phase.seconds, rel=1e-6)]
    still = Running(3.0)
    assert seconds_together([phase, still]) == [pytest.approx(phase.seconds, rel=1e-6), 3.0]


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 6), (4, 4), (1, 7)])
def test_a_full_path_is_shared_by_cores(first: int, second: int) -> None:
    """All wait all the time: of 12 B/s each core has the same."""
    phases = [running(cores, 0.0, 1.0, FLAT) for cores in (first, second)]
    each = (first + second) / 12.0
    assert seconds_together(phases) == [pytest.approx(each)] * 2


def test_unsaturated_cores_fill_the_path() -> None:
    """One core draws 5 B/s, two 9: each is slowed to 4.5, not to the half of what one has."""
    one = running(1, 0.0, 45.0, SATURATING)
    assert one.seconds == pytest.approx(9.0)
    assert seconds_together([one, one]) == [pytest.approx(10.0)] * 2


def test_the_traffic_of_two_mixes_is_their_mean_by_cores() -> None:
    """Three cores that read at 12 B/s together, one that writes at 8: an eighth of a byte less each
    second than readers alone, 3/4 of 12 and 1/4 of 8."""
    writes = PathCurve((1.0,), (8.0,))
    readers, writer = running(3, 0.0, 6.0, FLAT), running(1, 0.0, 6.0, writes)
    slow, late = seconds_together([readers, writer])
    assert (slow, late) == (pytest.approx(6 * 4 / 12), pytest.approx(6 * 4 / 8))
    assert 3 * 6.0 / slow + 6.0 / late == pytest.approx(0.75 * 12 + 0.25 * 8)


def test_work_that_seldom_waits_is_nearly_undisturbed_and_hardly_disturbs() -> None:
    """Four cores of arithmetic that would wait for a tenth of the time, beside four that fill the
    path: waits six times as long still hide behind the work."""
    stream, compute = running(4, 0.0, 3.0, FLAT), running(4, 1.0, 0.1 * 12, FLAT)
    assert compute.waiting == pytest.approx(0.1, rel=0.01)
    streamed, computed = seconds_together([stream, compute])
    assert 1.0 < computed / compute.seconds < 1.35
    assert 1.0 < streamed / stream.seconds < 1.6


def test_a_part_of_a_path_slows_even_the_only_one() -> None:
    """12 B/s undisturbed, of which the domain's part is 6."""
    alone = Running(2.0, 0.5, 1.5, 4.0, 12.0, PathCurve((1.0, 4.0), (5.0, 6.0)))
    assert seconds_together([alone]) == [pytest.approx(3.5)]


@given(st.lists(st.tuples(st.integers(1, 4), BUSY, DATA), min_size=1, max_size=4))
def test_requests_add_up_and_nobody_is_faster(loads: Sequence[tuple[int, float, float]]) -> None:
    phases = [running(cores, busy, data, SATURATING) for cores, busy, data in loads]
    together = seconds_together(phases)
    assert all(took >= phase.seconds * (1 - 1e-9)
               for took, phase in zip(together, phases, strict=True))  # fmt: skip
    # A core more makes nobody faster.
    more = seconds_together([*phases, running(1, 0.0, 5.0, SATURATING)])
    assert all(slow >= took * (1 - 1e-6)
               for slow, took in zip(more, together, strict=False))  # fmt: skip
    # The path is never given more than it has.
    moved = sum(cores * data / took for (cores, _, data), took in zip(loads, together, strict=True))
    assert moved <= 12.0 * (1 + 1e-6)
    assert all(math.isfinite(took) for took in together)
