"""Archives read rank by rank: the same trace and matches, byte for byte, wherever pieces run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from further_cases import further_slow
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import carried_out, random_program

from regionpredict.errors import InputError
from regionpredict.trace import EventTrace
from regionpredict.trace.analysis import analyse
from regionpredict.trace.dask_workers import cluster_spread
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.matching import Matches, match_operations
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.per_rank_reading import read_in_pieces, read_in_processes
from regionpredict.trace.results import critical_path, delay_costs, wait_states
from regionpredict.workers import spread

pytest.importorskip("otf2")
from archives import write_archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_archive(tmp_path_factory.mktemp("pieces") / "ring", 5, 40)


def same(first: object, second: object) -> bool:
    """Equal to the last bit, types of columns too."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return first.dtype == second.dtype and first.tobytes() == second.tobytes()
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if type(first) is type(second) and hasattr(first, "__dataclass_fields__"):
        return all(
            same(getattr(first, field.name), getattr(second, field.name))
            for field in fields(first)  # type: ignore[arg-type]
        )
    return first == second


def _whole(path: Path, kernels: Kernels) -> tuple[EventTrace, Matches]:
    trace = read_otf2(path, kernels)
    return trace, match_operations(trace, kernels)


@pytest.mark.parametrize("processes", [1, 3])
def test_processes_read_the_same(archive: Path, kernels: Kernels, processes: int) -> None:
    pieces = read_in_pieces(archive, kernels, partial(spread, processes=processes))
    for piece, whole in zip(pieces, _whole(archive, kernels), strict=True):
        assert same(piece, whole)
    assert np.count_nonzero(pieces[1].mate >= 0) == 2 * 5 * 40


def test_a_large_archive_is_not_read_in_processes(
    archive: Path, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its columns are in files, in any number of processes, with the same events."""
    whole = _whole(archive, kernels)
    assert same(read_in_processes(archive, kernels, 2), whole)
    monkeypatch.setattr("regionpredict.trace.columns.MOST_IN_MEMORY", len(whole[0]) - 1)
    trace, matches = read_in_processes(archive, kernels, 2)
    assert isinstance(trace.time.base, np.ndarray) and isinstance(trace.time.base.base, memoryview)
    assert same((trace, matches), whole)


def test_a_rank_that_is_missing_is_told_the_same(
    archive: Path, kernels: Kernels, tmp_path: Path
) -> None:
    folder = tmp_path / "cut"
    shutil.copytree(archive.parent, folder)
    (folder / "traces" / "2.evt").unlink()
    pieces = read_in_pieces(folder, kernels, partial(spread, processes=2))
    whole = _whole(folder, kernels)
    assert whole[1].findings
    assert all(same(piece, other) for piece, other in zip(pieces, whole, strict=True))


@pytest.fixture(scope="module")
def scheduler():
    """The address of a Dask cluster of four processes on this machine."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with cluster:
        yield cluster.scheduler_address


# That commands print the same with a cluster is checked below.
@pytest.mark.slow
def test_a_cluster_reads_the_same(archive: Path, kernels: Kernels, scheduler: str) -> None:
    pieces = read_in_pieces(archive, kernels, cluster_spread(scheduler))
    for piece, whole in zip(pieces, _whole(archive, kernels), strict=True):
        assert same(piece, whole)


def test_commands_print_the_same(archive: Path, scheduler: str) -> None:
    words = [sys.executable, "-m", "regionpredict", "trace", "delays", str(archive)]
    printed = [
        subprocess.run(
            [*words, "--format", "json", *more], capture_output=True, check=True, timeout=600,
            env=os.environ,
        ).stdout
        for more in ([], ["-j", "2"], ["--scheduler", scheduler])
    ]  # fmt: skip
    assert printed[0] == printed[1] == printed[2]
    assert len(printed[0]) > 1000


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("regionpredict.trace.dask_workers._SECONDS", 1)
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        cluster_spread("tcp://127.0.0.1:9")(str, [1])


@pytest.mark.parametrize("processes", further_slow(1, [3, 2]))
def test_processes_find_the_same_waits(archive: Path, kernels: Kernels, processes: int) -> None:
    """Sums of waits have the same bytes, however many processes search for them."""
    trace = read_otf2(archive, kernels)
    whole = analyse(trace, kernels)
    assert whole.points.wait.sum() > 0
    found = analyse(trace, kernels, processes=processes)
    assert same(found.points, whole.points)
    for result in (wait_states, delay_costs, critical_path):
        assert result(found) == result(whole)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1_000_000))
def test_random_programs_have_the_same_waits(kernels: Kernels, seed: int) -> None:
    """Requests and synchronous messages, each rank searched separately."""
    trace = carried_out(random_program(seed))
    whole, found = analyse(trace, kernels), analyse(trace, kernels, processes=3)
    for name in ("points", "clock_violations", "findings", "scans"):
        assert same(getattr(found, name), getattr(whole, name))
    for result in (wait_states, delay_costs, critical_path):
        assert result(found) == result(whole)
