"""Which arrays no prefetcher foresees: gathers, walks over pages, too many streams."""

from __future__ import annotations

import pytest
from nest_texts import nest_of

from regionpredict.workload import unprefetched_arrays

DECLARED = "int n, double *a, double *b, int *row"


def unforeseen(inner: str, streams: float = 32, head: str = "j = 0; j < n; j++") -> set[str]:
    loops = f"for (int i = 0; i < 100; i++) for (int {head}) {{ {inner} }}"
    nest = nest_of(loops, DECLARED, n=50)
    return set(unprefetched_arrays(nest, line_bytes=64, stride_bytes=2048, streams=streams))


@pytest.mark.parametrize(
    ("inner", "arrays"),
    [
        ("a[j] = b[j];", set()),
        ("a[j] = b[row[j]];", {"b"}),
        ("a[256 * j] = b[257 * j];", {"b"}),  # from half a page on: 2048 bytes are not beyond it
        ("a[1000 * i + j] = b[3];", set()),  # what counts is the own loop
    ],
)
def test_strides_and_gathers(inner: str, arrays: set[str]) -> None:
    assert unforeseen(inner) == arrays


def test_the_step_counts() -> None:
    assert unforeseen("a[100 * j] = 1;") == set()
    assert unforeseen("a[100 * j] = 1;", head="j = n; j > 0; j -= 3") == {"a"}


def test_streams() -> None:
    """Neighbours within a line are one stream, rows are many: 1 and 3."""
    inner = "a[j] = b[j] + b[j + 1] + b[j + 1000] + b[j + 2000];"
    assert unforeseen(inner, streams=4.2) == set()
    assert unforeseen(inner, streams=4.0) == {"a", "b"}  # b[j] and b[j + 1]: a line and an eighth
    # What stands still is no stream.
    assert unforeseen("a[j] = b[i];", streams=1) == set()
    assert unforeseen("a[j] = b[j];", streams=1.5) == {"a", "b"}
