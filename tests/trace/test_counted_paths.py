"""Hardware counters by call path, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from regionpredict.trace.analysis import analyse
from regionpredict.trace.event_trace import Counter
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.results import wait_states
from regionpredict.trace.trace_builder import TraceBuilder


def test_a_counter_increases_evenly_between_two_readings(kernels: Kernels) -> None:
    build = TraceBuilder(2)
    for rank in range(2):
        build.enter(rank, 0, "main")
        build.enter(rank, 10, "solve")
        build.leave(rank, 30)
        build.leave(rank, 50)
    trace = build.build()
    # rank 0 reads at each end, rank 1 at the end of main alone, so 1/5, 2/5, 2/5 of its increase
    rows = np.array([1, 2, 3, 7])
    counter = Counter("PAPI_TOT_INS", rows, np.array([5, 70, 11, 100]))
    result = wait_states(analyse(replace(trace, counters=(counter,)), kernels))
    values = {
        (record.callpath, str(record.location)): record.value
        for record in result.records
        if record.metric == "PAPI_TOT_INS"
    }
    assert values == pytest.approx(
        {("main", "0"): 16, ("main/solve", "0"): 70, ("main", "1"): 60, ("main/solve", "1"): 40}
    )
    assert result.totals["PAPI_TOT_INS"] == pytest.approx(186)
    assert {one.instructions_per_cycle for one in result.regions} == {None}
    # Cycles of rank 0 alone: 10 in main before and 40 after, 35 in solve.
    cycles = Counter("PAPI_TOT_CYC", rows[:3], np.array([10, 35, 40]))
    result = wait_states(analyse(replace(trace, counters=(counter, cycles)), kernels))
    ratios = {one.region: one.instructions_per_cycle for one in result.regions}
    assert ratios == pytest.approx({"main": (16 + 60) / 50, "solve": (70 + 40) / 35})
