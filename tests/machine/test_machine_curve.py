"""Curves between and beyond their points, and units, from their definitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.machine import KERNELS, Curve
from regionpredict.machine.reader.units import UnitError, parse


@st.composite
def curves(draw, rising=False):
    steps = draw(st.lists(st.integers(1, 9), min_size=0, max_size=8))
    x = [1]
    for step in steps:
        x.append(x[-1] + step)
    y = draw(st.lists(st.floats(0.1, 1e3), min_size=len(x), max_size=len(x)))
    return Curve(tuple(x), tuple(sorted(y) if rising else y), "GB/s", "measured", "a test")


@given(curves())
def test_a_curve_goes_through_its_points_and_holds_beyond(curve):
    for count, value in zip(curve.x, curve.y, strict=True):
        assert curve.at(count) == pytest.approx(value)
    assert curve.at(curve.x[-1] + 7) == curve.y[-1]


@given(curves(rising=True), st.floats(1, 80), st.floats(1, 80))
def test_a_rising_curve_rises_between_its_points(curve, one, other):
    few, many = sorted((one, other))
    assert curve.at(few) <= curve.at(many) * (1 + 1e-12)


@given(curves(), st.integers(1, 50))
def test_between_two_points_the_curve_is_the_straight_line(curve, count):
    # brute force: find the segment, walk along it
    for (x0, y0), (x1, y1) in zip(
        zip(curve.x, curve.y, strict=True),
        list(zip(curve.x, curve.y, strict=True))[1:],
        strict=False,
    ):
        if x0 <= count <= x1:
            assert curve.at(count) == pytest.approx(y0 + (y1 - y0) * (count - x0) / (x1 - x0))


def test_overheads_grow_in_proportion_beyond_the_last_count():
    curve = Curve((1, 10), (50.0, 2000.0), "cycles", "assumed", "a test", "proportional")
    assert curve.at(20) == 4000.0


@pytest.mark.parametrize(
    ("name", "factor"),
    # counted by hand from the kernels' texts: lines read, written, read before writing
    [
        ("load", 1),
        ("copy", 3 / 2),
        ("update", 1),
        ("triad", 5 / 4),
        ("daxpy", 1),
        ("stream_triad", 4 / 3),
    ],
)
def test_write_allocate_traffic_of_each_kernel(name, factor):
    assert KERNELS[name].traffic_factor == pytest.approx(factor)


def test_units():
    assert parse("32 KiB", "B") == 32768
    assert parse("32kB", "B") == 32000
    assert parse("1_000", "B") == 1000
    assert parse("1.86 GHz", "Hz") == pytest.approx(1.86e9)
    assert parse("1e3", "cycles") == 1000
    assert parse("10 ns", "cycles", cycles_per_ns=2.0) == 20
    assert parse("21", "B/s", plain=1e9) == 21e9
    assert parse("21 MB/s", "B/s", plain=1e9) == 21e6
    for text in ("", "x", "1..2", "1 2", "0x10"):
        with pytest.raises(UnitError):
            parse(text, "B")
    with pytest.raises(UnitError):
        parse("10 ns", "cycles")
