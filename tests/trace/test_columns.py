"""Columns of large traces lie in files, and every result is the same as in memory."""

from __future__ import annotations

import mmap
import tempfile
from pathlib import Path

import numpy as np
import pytest

from regionpredict.trace import columns
from regionpredict.trace.analysis import Analysis, analyse
from regionpredict.trace.kernels import Kernels
from regionpredict.trace.otf2_reader import read_otf2
from regionpredict.trace.results import critical_path, delay_costs, wait_states

pytest.importorskip("otf2")
from archives import write_archive


def _in_file(array: object) -> bool:
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return isinstance(array, mmap.mmap)


def test_results_are_the_same_with_columns_in_files(
    tmp_path: Path, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = write_archive(tmp_path / "ring", 5, 40)

    def analysed() -> tuple[Analysis, tuple[object, ...]]:
        analysis = analyse(read_otf2(archive, kernels), kernels)
        return analysis, (wait_states(analysis), delay_costs(analysis), critical_path(analysis))

    small, in_memory = analysed()
    monkeypatch.setattr(columns, "MOST_IN_MEMORY", 0)
    large, in_files = analysed()
    assert in_files == in_memory
    for analysis, expected in ((small, False), (large, True)):
        for column in (
            analysis.trace.time,
            analysis.trace.operations.request,
            analysis.paths.event_node,
            analysis.matches.mate,
            analysis.points.wait,
        ):
            assert _in_file(column) is expected


def test_a_column_keeps_its_values_while_it_rests() -> None:
    column = columns.empty_column((300, 40), np.int32, columns.MOST_IN_MEMORY + 1)
    column[:] = np.arange(12_000).reshape(300, 40)
    columns.release_file_memory()
    assert column.tolist() == np.arange(12_000).reshape(300, 40).tolist()


def test_without_a_folder_for_files_columns_lie_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    column = columns.empty_column(5, np.int64, columns.MOST_IN_MEMORY + 1)
    assert not _in_file(column)
    assert column.shape == (5,)
