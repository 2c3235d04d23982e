"""Times of regions made up by hand, on the machine of round figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from round_machine import (
    GivenTraffic,
    Traffic,
    body,
    no_traffic,
    round_machine,
    workload_of_text,
)

from regionpredict.machine import Machine
from regionpredict.machine.corrections import Corrections
from regionpredict.machine.quantity import Quantity
from regionpredict.predict.saturation.ablation import ALL_PARTS, Parts
from regionpredict.predict.saturation.region_time import LoopTime, WorkTime
from regionpredict.workload import (
    CacheContents,
    LoopBody,
    Placement,
    Schedule,
    Workload,
    warm_cache_contents,
)

MACHINE = round_machine()
TEXT = """void f(int n, double *restrict a, double *restrict x, int *restrict k) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = x[k[i]];
}
"""
STATIC = Schedule("static", None)
LINES = 1e7
QUARTER = 95 / 0.75
"""GB of which a quarter finds no room."""
SERIAL = Placement("serial", "the test's", False)


def gathering(folder: Path) -> Workload:
    """A loop that gathers from `x`: of its lines none is foreseen."""
    return workload_of_text(folder, TEXT, MACHINE, n=1000)


def core(seconds: float) -> LoopBody:
    """A loop that adds for so many seconds, and loads for half of them."""
    return body({"fp_add": 1}, loads=1, executions=seconds * 2e9, because="conditional")


def moved(memory: float = 0.0, *, caches: float = 0.0, name: str = "a") -> Traffic:
    """`memory` bytes from memory, and so many from the second cache that they take `caches` s."""

    def given(position: int, threads: int) -> dict[str, tuple[float, float]]:
        return {name: (memory + (64e9 * caches if position == 0 else 0.0), 0.0)}

    # The third cache serves nothing: what leaves the second comes from memory.
    return given


def loops(
    workload: Workload, *bodies: LoopBody, given: Traffic = no_traffic, machine: Machine = MACHINE,
    warm: bool = True, parts: Parts = ALL_PARTS, **changes: object,
) -> LoopTime:  # fmt: skip
    assert workload.execution is not None
    work = workload.execution.work._replace(bodies=bodies)
    own = replace(workload, **changes)  # type: ignore[arg-type]
    contents = warm_cache_contents(work.nest) if warm else CacheContents()
    counter = GivenTraffic(work.nest, given)
    return LoopTime(own, work, counter, machine, contents=contents, parts=parts)


def corrected(**factors: float) -> Machine:
    quantities = {
        name: Quantity(value, "", "measured", "the test") for name, value in factors.items()
    }
    return replace(MACHINE, corrections=Corrections(factors=quantities))


def terms(time: WorkTime, share: float = 1.0) -> tuple[float, float, float]:
    """(compute, cache, memory) in seconds."""
    return pytest.approx(time.terms(share), abs=1e-12)  # type: ignore[return-value]


def overflowing(
    workload: Workload, gigabytes: float, bodies: Sequence[LoopBody] = (), **more: object
) -> LoopTime:
    """Domains of 100 GB, of which programs get 95; 40 GB of traffic."""
    machine = round_machine(("  page: 4 KiB", "  page: 4 KiB\n  size: 100 GB"))
    table = replace(workload.table, working_set_bytes=int(gigabytes * 1e9))
    return loops(workload, *bodies, given=moved(40e9), machine=machine, table=table, **more)  # type: ignore[arg-type]
