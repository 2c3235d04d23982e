"""Lines that no prefetcher foresees: their latency adds to the wait for memory, not to the core."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.predict.saturation.memory_bandwidth import requesting_cores

_SECONDS = st.floats(0.0, 10.0)


def _bandwidth(m: float) -> float:
    """A curve that bends: 10 B/s for one core, 40 for many."""
    return 40.0 * max(m, 1.0) / (max(m, 1.0) + 3.0)


@given(st.floats(0.1, 128.0), _SECONDS, st.floats(0.1, 100.0), _SECONDS)
def test_as_many_cores_ask_as_the_cores_ask_for(
    cores: float, busy: float, data: float, delay: float
) -> None:
    """At the answer m: n = T b(m) / V with T = hypot(busy, m V / b(m) + delay), by substitution."""
    m = requesting_cores(cores, busy, data, _bandwidth, delay)
    rate = _bandwidth(m) if m > 1.0 else m * _bandwidth(1.0)
    seconds = math.hypot(busy, m * data / rate + delay)
    assert seconds * rate / data == pytest.approx(cores, rel=1e-5)


@given(_SECONDS, st.floats(0.1, 100.0), st.floats(0.01, 10.0))
def test_a_wait_of_latency_leaves_the_bandwidth_to_others(
    busy: float, data: float, delay: float
) -> None:
    """With a delay fewer of ten cores ask at a time, but never for more than without."""
    assert requesting_cores(10.0, busy, data, _bandwidth, delay) < requesting_cores(
        10.0, busy, data, _bandwidth
    )
