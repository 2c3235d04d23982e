"""Page walks of wide steps: counted by hand, and what one costs."""

from __future__ import annotations

from pathlib import Path

import pytest
from round_machine import CYCLE, round_machine, workload_of_text

from regionpredict.machine import Machine
from regionpredict.predict.saturation.address_translation import strided_walk_cycles
from regionpredict.predict.saturation.parts import Parts
from regionpredict.predict.saturation.region_time import LoopTime
from regionpredict.predict.saturation.traffic_curve import TrafficCurve
from regionpredict.workload import CacheContents, Workload

MACHINE = round_machine()  # 1024 translations of 4 KiB, one page walker
COLUMNS = 1024  # a row of 8 KiB: two pages
BY_COLUMNS = """void f(int n, double a[n][1024], double *y) {
#pragma omp parallel for
  for (int j = 0; j < 1024; j++)
    for (int i = 0; i < n; i++) y[j] += a[i][j];
}
"""
BY_ROWS = """void f(int n, double a[n][1024], double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 1024; j++) y[i] += a[i][j];
}
"""


def of_rows(folder: Path, text: str, rows: int, machine: Machine = MACHINE) -> Workload:
    return workload_of_text(folder, text, machine, n=rows)


def walks(folder: Path, text: str, rows: int, threads: int, machine: Machine = MACHINE) -> float:
    workload = of_rows(folder, text, rows, machine)
    assert workload.execution is not None
    work = workload.execution.work
    pages = workload.pages_of(work, machine.page_bytes)
    curve = TrafficCurve(
        workload.traffic_of(work), machine, contents=CacheContents(), pages=pages
    )  # fmt: skip
    return curve.at(threads).walks


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_columns_beyond_the_tlb_walk_at_each_row(tmp_path: Path, threads: int) -> None:
    """2000 rows are 2000 pages, gone through anew for each column: none is found again."""
    assert walks(tmp_path, BY_COLUMNS, 2000, threads) == pytest.approx(COLUMNS * 2000, rel=0.01)


def test_columns_within_the_tlb_walk_once_a_page(tmp_path: Path) -> None:
    """600 rows are 600 pages for one half of the columns, and 600 for the other; the array begins
    anywhere in a page. Each of two threads has 4096 B of a row, which lie in two pages but where
    they begin one."""
    assert walks(tmp_path, BY_COLUMNS, 600, 1) == pytest.approx(1200 + 1, rel=0.001)
    in_each = 1 + (4096 - 8) / 4096
    assert walks(tmp_path, BY_COLUMNS, 600, 2) == pytest.approx(2 * 600 * in_each, rel=0.001)


def test_rows_ask_for_nothing(tmp_path: Path) -> None:
    assert walks(tmp_path, BY_ROWS, 2000, 1) == 0.0


def test_large_pages_reach_farther(tmp_path: Path) -> None:
    """16 MiB are eight pages of 2 MiB, of which the TLB holds 32."""
    large = round_machine(("page: 4 KiB", "page: 2 MiB"))
    assert walks(tmp_path, BY_COLUMNS, 2000, 1, large) <= 9


def test_a_walk_takes_the_latency_of_the_cache_that_holds_the_table() -> None:
    """Two lines of 64 B a page: 256 pages fill the first cache (32 KiB), 2048 the second (256 KiB);
    beyond the third the table comes from memory."""
    assert strided_walk_cycles(256, MACHINE, 64) == 4
    assert strided_walk_cycles(257, MACHINE, 64) == 14
    assert strided_walk_cycles(2048, MACHINE, 64) == 14
    assert strided_walk_cycles(1e9, MACHINE, 64) == 200
    two = round_machine(("page_walkers: 1", "page_walkers: 2"))
    assert strided_walk_cycles(257, two, 64) == 7


def test_the_time_grows_by_the_walks(tmp_path: Path) -> None:
    """2000 rows: 1024 x 2000 walks of 14 cycles, which a core waits for beside its own work."""
    workload = of_rows(tmp_path, BY_COLUMNS, 2000)
    assert workload.execution is not None
    work = workload.execution.work

    def waiting(*, page_walks: bool) -> float:
        time = LoopTime(
            workload, work, workload.traffic_of(work), MACHINE, contents=CacheContents(),
            parts=Parts(page_walks=page_walks, overlap=False),
        )  # fmt: skip
        return time.at(1).total

    added = waiting(page_walks=True) - waiting(page_walks=False)
    # a: two pages a row and a part of a third, 4000 to 6000: two lines each are beyond the second
    # cache, so that the table comes from the third.
    latency = MACHINE.caches[2].latency_cycles.value
    assert added == pytest.approx(COLUMNS * 2000 * latency * CYCLE, rel=0.01)
