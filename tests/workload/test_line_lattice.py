"""Lines of strided references, against enumeration over every alignment within a line."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.workload.line_lattice import lattice_lines


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
