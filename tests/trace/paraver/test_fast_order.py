"""Orders and numbers of columns, by general sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.trace.paraver.fast_order import by_location, distinct_values

SMALL = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=30)


@given(rows=SMALL, far=st.booleans(), in_order=st.booleans())
def test_rows_by_location_and_time(rows: list[tuple[int, int]], far: bool, in_order: bool) -> None:
    """Locations beyond 16 bits, and files that are not in order of time, too."""
    if in_order:
        rows.sort(key=lambda row: row[1])
    location = np.array([place + (far << 17) * (place > 1) for place, _ in rows], dtype=np.int64)
    time = np.array([at for _, at in rows], dtype=np.int64)
    expected = sorted(range(len(rows)), key=lambda row: (location[row], time[row], row))
    assert by_location(location, time).tolist() == expected


@given(values=st.lists(st.integers(0, 9) | st.integers(0, 2**60), max_size=20))
def test_different_values(values: list[int]) -> None:
    different, position = distinct_values(np.array(values, dtype=np.int64))
    assert different.tolist() == sorted(set(values))
    assert [different[at] for at in position.tolist()] == values
