"""Cartesian topologies: recorded, read from an archive, and printed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from recording import HAS_MPI, built, record_ranks

from regionpredict.report.document_text import block_lines
from regionpredict.report.trace_results import grid_blocks
from regionpredict.trace import Location, ProcessGrid
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.profile import Record, TraceResult

pytestmark = pytest.mark.compiler

PROGRAM = r"""
#include <mpi.h>
int main(int count, char **words)
{
    int sizes[2] = {2, 3}, periodic[2] = {0, 1};
    MPI_Comm grid;
    MPI_Init(&count, &words);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &grid);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.skipif(not HAS_MPI, reason="no MPI")
def test_a_grid_is_recorded_and_told(tmp_path: Path, kernels: Kernels) -> None:
    pytest.importorskip("otf2")
    record_ranks(tmp_path / "t", 6, built(tmp_path, PROGRAM))
    (grid,) = read_otf2(tmp_path / "t", kernels).grids
    assert (grid.sizes, grid.periodic) == ((2, 3), (False, True))
    assert grid.coordinates == {rank: (rank // 3, rank % 3) for rank in range(6)}  # row by row
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "trace", "waits", str(tmp_path / "t"),
         "--format", "json"],
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    (told,) = json.loads(done.stdout)["grids"]
    assert told["sizes"] == [2, 3]
    assert {"rank": 4, "place": [1, 1]} in told["ranks"]


def result(values: dict[int, float]) -> TraceResult:
    records = [Record("m", "main", Location(rank), value, "s") for rank, value in values.items()]
    return TraceResult(tuple(records), {"m": sum(values.values())}, {})


def shown(result: TraceResult, grid: ProcessGrid) -> list[str]:
    """The lines of the pictures."""
    return [line for block in grid_blocks(result, grid, "m") for line in block_lines(block)]


def test_two_dimensions() -> None:
    grid = ProcessGrid("g", (2, 2), (False, False), {0: (0, 0), 1: (1, 0), 2: (0, 1)})
    assert shown(result({0: 1.5, 1: 2.0}), grid) == [
        "m on the 2x2 grid",
        "       0    1",
        "0  1.5 s  0 s",
        "1    2 s    -",
        "1 place has no rank in the trace.",
    ]


def test_one_dimension_and_three() -> None:
    line = ProcessGrid("g", (3,), (True,), {rank: (rank,) for rank in range(3)})
    assert shown(result({2: 4.0}), line)[-1].split() == ["0", *["0", "s"] * 2, "4", "s"]
    places = {rank: (rank // 4, rank // 2 % 2, rank % 2) for rank in range(8)}
    lines = shown(result({7: 4.0}), ProcessGrid("g", (2, 2, 2), (False,) * 3, places))
    title = "m on the 2x2x2 grid"
    assert lines.index(f"{title} [0, ...]") < lines.index(f"{title} [1, ...]")
    assert lines[-1].split() == ["1", "0", "s", "4", "s"]
