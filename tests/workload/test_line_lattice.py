"""Lines of strided references, against enumeration over every alignment within a line."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.workload.line_lattice import lattice_lines, rows_overlap, separate_close_strides


def enumerated(levels: list[tuple[int, int]], offsets: list[int], element: int) -> float:
    """Mean number of lines over the alignments of the first byte."""
    counts = []
    for begin in range(0, 64, element):
        lines = set()
        for steps in product(*(range(n) for _, n in levels)):
            place = begin + sum(c * s for (c, _), s in zip(levels, steps, strict=True))
            lines |= {(place + offset) // 64 for offset in offsets}
        counts.append(len(lines))
    return sum(counts) / len(counts)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(trips=st.integers(1, 60), stride=st.sampled_from([8, 64, 200, 1024, 4104]))
def test_one_stride(trips: int, stride: int) -> None:
    if stride in (8,) or stride >= 64:
        assert abs(
            lattice_lines([(stride, trips)], (0,), 8, 64) - enumerated([(stride, trips)], [0], 8)
        ) <= 0.13 * enumerated([(stride, trips)], [0], 8)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    inner=st.integers(8, 40), outer=st.integers(6, 20), row=st.integers(50, 90),
    radius=st.integers(0, 2),
)  # fmt: skip
def test_a_star_over_rows(inner: int, outer: int, row: int, radius: int) -> None:
    offsets = sorted({8 * o for r in range(-radius, radius + 1) for o in (r, r * row)})
    levels = [(8, inner), (8 * row, outer)]
    true = enumerated(levels, offsets, 8)
    assert abs(lattice_lines(levels, offsets, 8, 64) - true) <= 0.12 * true


def test_diagonal_walk() -> None:
    # Three rows of three, one row down and two to the left each step (a wavefront).
    offsets = [8 * (500 * r + c) for r in (-1, 0, 1) for c in (-1, 0, 1)]
    true = enumerated([(8 * 498, 60)], offsets, 8)
    assert abs(lattice_lines([(8 * 498, 60)], offsets, 8, 64) - true) < 0.1 * true


@pytest.mark.parametrize(
    "levels",
    [
        [(2408, 40), (2400, 60)],  # a[i + j][i]
        [(-2392, 30), (2400, 50)],  # a[j - i][i]
        [(2416, 30), (2400, 50)],  # a[i + j][2 * i]
        [(4808, 30), (2400, 50)],  # a[2 * i + j][i]
        [(2400, 30), (2400, 50)],  # a[i + j][0]
        [(-2392, 12), (2400, 20), (8, 5)],  # a[j - i][i + k]
    ],
)
def test_rows_that_two_loops_share(levels: list[tuple[int, int]]) -> None:
    """Of a wavefront each row is as many columns as diagonals come by."""
    true = enumerated(levels, [0], 8)
    counted = separate_close_strides(
        [(float(stride), float(steps)) for stride, steps in levels], 8, 64
    )
    assert lattice_lines(counted, (0,), 8, 64) == pytest.approx(true, rel=0.05)


@pytest.mark.parametrize(
    "levels",
    [
        [(2400.0, 40.0), (8.0, 60.0)],  # a[i][j]
        [(96000.0, 5.0), (2400.0, 40.0)],  # a[i][j][0]: the last row is before the next first
        [(2500.0, 40.0), (2400.0, 60.0)],  # left are more bytes than a line
        [(2456.0, 60.0), (2400.0, 60.0)],  # and here more than a row
        [(2408.0, 1.0), (2400.0, 60.0)],
    ],
)
def test_rows_of_their_own(levels: list[tuple[float, float]]) -> None:
    assert separate_close_strides(levels, 8, 64) == levels


@pytest.mark.parametrize(
    ("levels", "offsets", "lines"),
    [
        # a run of s bytes touches 1 + (s - 8) / 64 lines on average
        ([], [0], 1),
        ([(8, 64)], [0], 1 + 504 / 64),
        ([(-8, 64)], [0], 1 + 504 / 64),
        ([(8, 1)], [0], 1),  # one step is none
        ([(0, 50), (8, 2)], [0], 1 + 8 / 64),  # nor is one of no bytes
        ([(16, 10)], [0], 1 + 144 / 64),
        ([(56, 5)], [0], 1 + 224 / 64),
        ([(64, 5)], [0], 5),  # as far as no line is left out
        ([(72, 5)], [0], 5),  # a line each
        ([(8000, 10)], [0], 10),
        # a wider stride repeats the run, whatever comes first
        ([(8, 10), (1000, 3)], [0], 3 * (1 + 72 / 64)),
        ([(1000, 3), (8, 10)], [0], 3 * (1 + 72 / 64)),
        ([(8, 10), (1000, 3), (-5000, 2)], [0], 6 * (1 + 72 / 64)),
        # runs of 64 bytes that leave gaps of less than a line, and of one
        ([(8, 8), (64, 4)], [0], 1 + 248 / 64),
        ([(8, 8), (120, 4)], [0], 1 + (64 + 360 - 8) / 64),
        ([(8, 8), (136, 4)], [0], 4 * (1 + 56 / 64)),
        # two offsets: one run, nearly two, two
        ([], [0, 8], 1 + 8 / 64),
        ([], [0, 56], 1 + 56 / 64),
        ([], [0, 64], 2),
        ([], [0, 64, 72], 2 + 8 / 64),
        ([], [64, 0], 2),
        ([(8, 10)], [0, 40], 1 + (72 + 40) / 64),
        ([(8, 10)], [0, 400], 2 * (1 + 72 / 64)),
        ([(8, 10)], [0, 136], 2 * (1 + 72 / 64)),  # behind 80 bytes a gap of 56
        # beside wide strides: in one step, or by whole steps
        ([(1000, 5)], [0, 8], 5 * (1 + 8 / 64)),
        ([(1000, 5)], [0, 400], 10),
        ([(1000, 5)], [0, 1000], 6),
        ([(1000, 5)], [0, 1000, 2000], 7),
        ([(1000, 5)], [0, 3000], 8),
        ([(1000, 5)], [0, 5000], 10),
        ([(1000, 5)], [0, 7000], 10),
        ([(1000, 5)], [0, 1000, 8, 1008], 6 * (1 + 8 / 64)),
        ([(8, 10), (1000, 5), (8000, 4)], [0, 1000], 4 * 6 * (1 + 72 / 64)),
        ([(8, 10), (1000, 5), (8000, 4)], [0, 8000], 5 * 5 * (1 + 72 / 64)),
    ],
)
def test_lattices_that_are_counted_exactly(
    levels: list[tuple[int, int]], offsets: list[int], lines: float
) -> None:
    assert enumerated(levels, offsets, 8) == pytest.approx(lines)
    assert lattice_lines(levels, tuple(offsets), 8, 64) == pytest.approx(lines)


def test_other_elements_and_lines() -> None:
    """Floats: 4 of 64 bytes; lines of 256 bytes."""
    assert lattice_lines([(4, 100)], (0,), 4, 64) == pytest.approx(1 + 396 / 64)
    assert lattice_lines([(64, 5)], (0,), 4, 64) == 5
    assert lattice_lines([(65, 5)], (0,), 4, 64) == 5
    assert lattice_lines([(8, 100)], (0,), 8, 256) == pytest.approx(1 + 792 / 256)
    assert lattice_lines([(256, 5), (8, 2)], (0,), 8, 256) == pytest.approx(
        1 + (16 + 1024 - 8) / 256
    )
    assert lattice_lines([(272, 5), (8, 2)], (0,), 8, 256) == pytest.approx(5 * (1 + 8 / 256))


@pytest.mark.parametrize(
    ("levels", "within"),
    [
        ([], False),
        ([(8, 100)], False),
        ([(8, 100), (800, 9)], False),  # one dense run
        ([(200, 100)], False),  # no row that another could lie in
        # columns 200 bytes apart reach 1808 bytes: a row that begins before a line is left out
        ([(200, 10), (1863, 2)], True),
        ([(200, 10), (1864, 2)], False),
        ([(-200, 10), (-1863, 2)], True),
        # a row of 80 bytes, then gaps: three of them reach 352 bytes
        ([(8, 10), (136, 3), (407, 2)], False),  # still dense: no line is left out
        ([(8, 10), (137, 3), (409, 2)], True),
        ([(8, 10), (137, 3), (410, 2)], False),
        ([(2400, 20), (2408, 40)], True),
    ],
)
def test_rows_that_lie_within_each_other(levels: list[tuple[int, int]], within: bool) -> None:
    assert rows_overlap(levels, 8, 64) == within


EIGHTHS = st.integers(-600, 600).map(lambda number: 8 * number)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    st.lists(st.tuples(EIGHTHS, st.integers(2, 12)), max_size=3),
    st.lists(EIGHTHS.map(abs), min_size=1, max_size=4, unique=True),
    st.lists(
        st.one_of(
            st.tuples(EIGHTHS, st.just(1)),
            st.tuples(st.just(0), st.integers(1, 12)),
        ),
        min_size=1, max_size=3,
    ),
)  # fmt: skip
def test_a_level_that_does_not_move_changes_nothing(
    levels: list[tuple[int, int]], offsets: list[int], still: list[tuple[int, int]]
) -> None:
    """One step is none, and so are any of no bytes."""
    places = tuple(float(offset) for offset in sorted(offsets))
    alone, beside = (lattice_lines(own, places, 8, 64) for own in (levels, [*levels, *still]))
    assert beside == pytest.approx(alone)
    assert rows_overlap([*levels, *still], 8, 64) == rows_overlap(levels, 8, 64)


@pytest.mark.parametrize(
    ("stride", "offsets"),
    [
        (72, list(range(0, 72, 8))),  # all members of a struct
        (184, list(range(0, 184, 8))),
        (136, [0, 48, 96]),
        (184, [0, 8, 160, 176]),  # its ends, which the next one joins
        (200, [0, 8, 192]),
        (200, [0, 8, 96]),  # the next one is too far
    ],
)
def test_members_of_structs_that_are_longer_than_a_line(stride: int, offsets: list[int]) -> None:
    true = enumerated([(stride, 50)], offsets, 8)
    assert lattice_lines([(stride, 50)], offsets, 8, 64) == pytest.approx(true, rel=0.01)
