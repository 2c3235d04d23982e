"""Bandwidth between measured kernels, and a closed queue of cores, against closed forms.

copy reads two elements' worth of lines (one it writes to) and writes one back for each two that it
counts: 3/2 of its B/s, a third of them write-backs. daxpy: a third as well, counted in full.
triad: 5/4, a fifth. update: in full, half.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.machine.quantity import Curve
from regionpredict.predict.saturation.memory_bandwidth import (
    MixedBandwidth,
    requesting_cores,
)


def table(**points: float) -> Curve:
    """`table(c1=10, c4=20)`: 10 B/s on one core, 20 on four."""
    x = tuple(int(name[1:]) for name in points)
    return Curve(x, tuple(points.values()), "B/s", "assumed", "the test's")


LOAD = table(c1=12, c2=20, c4=24)
COPY = table(c1=6, c2=12, c4=12)  # traffic 9, 18, 18
DAXPY = table(c1=12, c4=18)
TRIAD = table(c1=8, c4=16)  # traffic 10, 20
UPDATE = table(c1=6, c4=12)


def test_one_kernel_stands_for_every_mix() -> None:
    mixed = MixedBandwidth({"copy": COPY})
    for writes in (0.0, 0.2, 0.5):
        assert [mixed.bandwidth_at_writes(writes)(cores) for cores in (1, 2, 4, 9)] == [
            9,
            18,
            18,
            18,
        ]


def test_lines_that_are_claimed_the_more_the_more_cores_ask() -> None:
    """All of copy's lines are read first on one core, none on four: 9 B/s of which a third are
    written, and 12 of which half are; on two, 2/3 of them: 12 * (1 + 1/3) = 16.
    """
    claims = table(c1=1, c4=0)
    mixed = MixedBandwidth({"copy": COPY}, claims)
    assert [mixed.bandwidth_at_writes(0.4)(cores) for cores in (1, 2, 4, 9)] == pytest.approx(
        [9, 16, 12, 12]
    )
    both = MixedBandwidth({"copy": COPY, "load": LOAD}, claims)
    assert both.bandwidth_at_writes(1 / 3)(1) == pytest.approx(9)
    assert both.bandwidth_at_writes(1 / 2)(4) == pytest.approx(12)


def test_a_kernel_stands_at_its_own_mix_and_the_outermost_beyond() -> None:
    mixed = MixedBandwidth({"update": UPDATE, "load": LOAD, "triad": TRIAD})
    assert [mixed.bandwidth_at_writes(0.0)(cores) for cores in (1, 2, 4)] == [12, 20, 24]
    assert [mixed.bandwidth_at_writes(0.2)(cores) for cores in (1, 4)] == pytest.approx([10, 20])
    assert [mixed.bandwidth_at_writes(0.5)(cores) for cores in (1, 4)] == [6, 12]
    assert mixed.bandwidth_at_writes(0.9)(4) == 12


def test_between_two_kernels_the_times_of_their_bytes_add_up() -> None:
    mixed = MixedBandwidth({"triad": TRIAD, "update": UPDATE})
    # a third of the way from 1/5 to 1/2: two thirds of the bytes at 20 B/s, one at 12
    assert mixed.bandwidth_at_writes(0.3)(4) == pytest.approx(1 / (2 / 3 / 20 + 1 / 3 / 12))
    assert mixed.bandwidth_at_writes(0.3)(1) == pytest.approx(1 / (2 / 3 / 10 + 1 / 3 / 6))


def test_a_bus_that_turns_round_saturates_as_with_the_writing_kernel() -> None:
    mixed = MixedBandwidth({"load": LOAD, "triad": TRIAD})
    # half of the way to a fifth: 1 / (0.5/24 + 0.5/20) = 21.8, but the triad's most is 20
    assert mixed.bandwidth_at_writes(0.1)(4) == pytest.approx(20)
    assert mixed.bandwidth_at_writes(0.1)(1) == pytest.approx(1 / (0.5 / 12 + 0.5 / 10))
    # up to one write-back in fifty the bus counts as one that only loads: a tenth of the way
    assert mixed.bandwidth_at_writes(0.02)(4) == pytest.approx(1 / (0.9 / 24 + 0.1 / 20))
    assert mixed.bandwidth_at_writes(0.021)(4) == pytest.approx(20)


def test_kernels_of_one_mix_are_averaged_at_all_their_counts() -> None:
    mixed = MixedBandwidth({"copy": COPY, "daxpy": DAXPY})
    # daxpy is 14 on two cores, on the line from 12 to 18
    expected = [(9 + 12) / 2, (18 + 14) / 2, (18 + 18) / 2]
    assert [mixed.bandwidth_at_writes(1 / 3)(cores) for cores in (1, 2, 4)] == pytest.approx(
        expected
    )


# -- how many cores wait at a time ----------------------------------------------------------------


def test_nothing_to_fetch() -> None:
    assert requesting_cores(8.0, 1.0, 0.0, lambda m: 10.0) == 0.0


def test_cores_that_only_fetch_all_wait() -> None:
    assert requesting_cores(8.0, 0.0, 5.0, lambda m: 10.0 * min(m, 4.0)) == pytest.approx(8.0)


def test_one_core_waits_for_its_share_of_the_time() -> None:
    # 40 B at 10 B/s: four seconds beside three of work, five in all; 0.8 of them waiting
    assert requesting_cores(1.0, 3.0, 40.0, lambda m: 10.0) == pytest.approx(0.8)
    # and 8 seconds of latency beside the 4, 16 of work: 20 in all, 4 of them for bandwidth
    assert requesting_cores(1.0, 16.0, 40.0, lambda m: 10.0, 8.0) == pytest.approx(0.2)


def test_just_one_waits() -> None:
    # five cores, each 4 of 20 seconds
    assert requesting_cores(5.0, 16.0, 40.0, lambda m: 10.0, 8.0) == pytest.approx(1.0)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.floats(2.0, 128.0), st.floats(0.0, 5.0), st.floats(0.1, 10.0), st.floats(1.0, 50.0))
def test_a_path_of_one_speed_in_closed_form(
    cores: float, busy: float, data: float, rate: float
) -> None:
    """n = hypot(busy, m V/b) b/V where b does not rise: m = sqrt(n^2 - (busy b/V)^2), from 1 on."""
    work = busy * rate / data
    found = requesting_cores(cores, busy, data, lambda m: rate)
    if cores >= math.hypot(work, 1.0):
        assert found == pytest.approx(math.sqrt(cores**2 - work**2), rel=1e-5)
    else:
        assert found == pytest.approx(cores / math.hypot(work, 1.0))


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.integers(1, 64), st.floats(0.1, 10.0), st.floats(0.1, 10.0))
def test_never_slower_than_one_after_the_other_nor_faster_than_the_path(
    cores: int, busy: float, data: float
) -> None:
    """Mean values of a closed queue of one server keep the asymptotic bounds (Lazowska 1984)."""
    m = max(1.0, requesting_cores(float(cores), busy, data, lambda m: 10.0))
    seconds = math.hypot(busy, m * data / 10.0)
    assert seconds >= max(cores * data / 10.0, busy) * (1 - 1e-6)  # all have their data by then
    assert seconds <= (busy + cores * data / 10.0) * (1 + 1e-6)


@pytest.mark.parametrize("cores", [2.0, 8.0, 64.0, 512.0])
@pytest.mark.parametrize("busy", [0.1, 0.5, 2.0, 10.0])
def test_false_position_asks_no_more_often_than_halving(cores: float, busy: float) -> None:
    """Halving [1, n] to 1e-7 n takes 24 questions, beside two of one core, two of both ends."""
    asked: list[float] = []

    def bandwidth(m: float) -> float:
        asked.append(m)
        return 40.0 * m / (m + 3.0)

    m = requesting_cores(cores, busy, 10.0, bandwidth)
    assert len(asked) <= 24 + 4
    rate = bandwidth(max(m, 1.0)) * min(m, 1.0)
    assert math.hypot(busy * rate / 10.0, m) == pytest.approx(cores, rel=1e-6)
