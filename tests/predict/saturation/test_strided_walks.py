"""Page walks of wide steps: counted by hand, and what one costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from round_machine import CYCLE, round_machine, workload_of_text

from regionpredict.machine import Machine
from regionpredict.predict.saturation.ablation import Parts
from regionpredict.predict.saturation.address_translation import (
    strided_walk_cycles,
)
from regionpredict.predict.saturation.region_time import LoopTime
from regionpredict.predict.saturation.strided_walks import StridedWalks
from regionpredict.predict.saturation.traffic_curve import TrafficCurve
from regionpredict.workload import CacheContents, CacheLevel, Workload

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


def walking(folder: Path, text: str, rows: int, threads: int, machine: Machine = MACHINE) -> float:
    """Cycles of walks."""
    workload = of_rows(folder, text, rows, machine)
    assert workload.execution is not None
    work = workload.execution.work
    counter = workload.traffic_of(work)
    walks = StridedWalks(counter, machine, CacheContents())
    curve = TrafficCurve(counter, machine, contents=CacheContents(), walks=walks)
    return curve.at(threads).walking / CYCLE


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_columns_beyond_the_tlb_walk_at_each_row(tmp_path: Path, threads: int) -> None:
    """1600 rows are 1600 pages, gone through anew for each column: none is found again.

    A line of the table has the translations of four rows: 400 lines are 25 KiB, more than half of
    the first cache and less than half of the second. A line brought from there serves four walks.
    Each thread brings its lines from memory once or twice.
    """
    cycles = walking(tmp_path, BY_COLUMNS, 1600, threads)
    assert cycles == pytest.approx(COLUMNS * (400 * 14 + 1200 * 4), rel=0.03)


def test_prefetched_columns_walk_as_well(tmp_path: Path) -> None:
    """Prefetchers that follow 8 KiB fetch the lines, but every row is still on another page."""
    wide = round_machine(("prefetch_block: 4 KiB", "prefetch_block: 64 KiB"))
    cycles = walking(tmp_path, BY_COLUMNS, 1600, 1, wide)
    assert cycles == pytest.approx(COLUMNS * (400 * 14 + 1200 * 4), rel=0.03)


def test_a_table_within_the_first_cache_is_read_there(tmp_path: Path) -> None:
    """800 rows, where the TLB has 512 translations: 200 lines of the table are 12.5 KiB."""
    small = round_machine(("tlb_entries: 1024", "tlb_entries: 512"))
    cycles = walking(tmp_path, BY_COLUMNS, 800, 1, small)
    assert cycles == pytest.approx(COLUMNS * 800 * 4, rel=0.02)


def test_columns_within_the_tlb_walk_once_a_page(tmp_path: Path) -> None:
    """600 rows are 600 pages for one half of the columns, and 600 for the other: of 1200 walks each
    eighth brings a line of the table from memory."""
    cycles = walking(tmp_path, BY_COLUMNS, 600, 1)
    assert cycles == pytest.approx(150 * 200 + 1050 * 4, rel=0.02)


class AskedWalks(StridedWalks):
    """Page walks that keep for how many threads they were counted, in `asked`."""

    asked: dict[int, float]

    def seconds(self, threads: int, caches: Sequence[CacheLevel]) -> float:
        self.asked[threads] = seconds = super().seconds(threads, caches)
        return seconds


def test_walks_are_counted_where_caches_are_full_and_read_off_in_between(tmp_path: Path) -> None:
    """A core's TLB is its own, so dividing the columns changes the walks only at their ends."""
    workload = of_rows(tmp_path, BY_COLUMNS, 1600)
    assert workload.execution is not None
    counter = workload.traffic_of(workload.execution.work)
    walks = AskedWalks(counter, MACHINE, CacheContents())
    walks.asked = {}
    curve = TrafficCurve(counter, MACHINE, contents=CacheContents(), walks=walks)
    counts = range(1, MACHINE.cores + 1)
    read_off = {threads: curve.at(threads).walking for threads in counts}
    for threads in counts:
        curve.count_at(threads)
    assert set(walks.asked) <= set(curve.edges)
    for threads in set(counts) - set(curve.edges):
        counted = TrafficCurve(
            counter,
            MACHINE,
            contents=CacheContents(),
            walks=StridedWalks(counter, MACHINE, CacheContents()),
        )
        counted.edges = sorted({*counted.edges, threads})
        assert read_off[threads] == pytest.approx(counted.at(threads).walking, rel=0.01)


def test_rows_ask_for_nothing(tmp_path: Path) -> None:
    assert walking(tmp_path, BY_ROWS, 1600, 1) == 0.0


def test_large_pages_reach_farther(tmp_path: Path) -> None:
    """12.5 MiB are seven pages of 2 MiB, of which the TLB holds 32: seven walks, for two lines of
    the table at most."""
    large = round_machine(("page: 4 KiB", "page: 2 MiB"))
    assert walking(tmp_path, BY_COLUMNS, 1600, 1, large) <= 2 * 200 + 8 * 4


def test_walks_take_the_latency_of_where_their_line_is() -> None:
    """Of 100 walks 50 find their line in the first cache, 30 in the second, 15 in the third."""
    cycles = 50 * 4 + 30 * 14 + 15 * 40 + 5 * 200
    assert strided_walk_cycles(100, (50, 20, 5), MACHINE) == pytest.approx(cycles)
    two = round_machine(("page_walkers: 1", "page_walkers: 2"))
    assert strided_walk_cycles(100, (50, 20, 5), two) == pytest.approx(cycles / 2)
    virtual = round_machine(("page_walk_factor: 1", "page_walk_factor: 3"))
    assert strided_walk_cycles(100, (50, 20, 5), virtual) == pytest.approx(cycles * 3)
    # Lines beside those of the walks are nobody's wait.
    assert strided_walk_cycles(100, (300, 20, 5), MACHINE) == pytest.approx(
        80 * 14 + 15 * 40 + 5 * 200
    )


def test_the_time_grows_by_the_walks(tmp_path: Path) -> None:
    """A core waits for walks beside its own work: with nothing that overlaps, by their time."""
    workload = of_rows(tmp_path, BY_COLUMNS, 1600)
    assert workload.execution is not None
    work = workload.execution.work

    def total(*, page_walks: bool) -> float:
        time = LoopTime(
            workload, work, workload.traffic_of(work), MACHINE, contents=CacheContents(),
            parts=Parts(page_walks=page_walks, overlap=False),
        )  # fmt: skip
        return time.at(1).total

    added = total(page_walks=True) - total(page_walks=False)
    assert added == pytest.approx(COLUMNS * (400 * 14 + 1200 * 4) * CYCLE, rel=0.02)
