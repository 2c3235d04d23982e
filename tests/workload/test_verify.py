"""A workload that contradicts itself is told, and none of the samples does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, region_workload
from regionpredict.workload import Workload
from regionpredict.workload.verify import InconsistentWorkloadError, verify

ROOT = Path(__file__).parents[2]
CACHES = [1 << power for power in range(13, 27)]
TEAMS = (1, 2, 3, 7, 64)
MACHINE = load("dunnington")


def workload(tmp_path: Path, text: str, **given: int) -> Workload:
    path = tmp_path / "case.c"
    path.write_text(text)
    return region_workload(analyse(requests_for((str(path),)), given).facts[0], MACHINE)


SUM = """void f(int n, double a[n][n], double b[n][n]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = i; j < n; j++) a[i][j] += b[j][i];
}
"""


@pytest.mark.parametrize("folder", ["polybench_samples", "npb_samples"])
def test_the_samples_do_not_contradict_themselves(folder: str) -> None:
    for facts in analyse(requests_for((str(ROOT / folder),)), {}).facts:
        verify(region_workload(facts, MACHINE), threads=TEAMS, caches=CACHES[::4])


def test_a_reference_that_is_neither_hit_nor_miss(tmp_path: Path) -> None:
    made = workload(tmp_path, SUM, n=100)
    row = made.table.statements[0]
    lost = row.references[0]._replace(reuse="unknown")
    table = replace(made.table, statements=(row._replace(references=(lost, *row.references[1:])),))
    with pytest.raises(InconsistentWorkloadError, match=r"case.c:2:1: line 3: 0 hits and 2 miss"):
        verify(replace(made, table=table))


def test_pieces_that_are_not_the_whole(tmp_path: Path) -> None:
    made = workload(tmp_path, SUM, n=100)
    assert made.execution is not None
    verify(made, threads=TEAMS, caches=CACHES)
    profile = made.execution.work.profile._replace(weights=(float("nan"),) * 64)
    work = made.execution.work._replace(profile=profile)
    with pytest.raises(InconsistentWorkloadError, match=r"case.c:2:1: the pieces of 2 threads"):
        verify(replace(made, execution=replace(made.execution, work=work)), threads=(2,))


def test_a_statement_that_is_lost(tmp_path: Path) -> None:
    made = workload(tmp_path, SUM, n=100)
    table = replace(made.table, statements=made.table.statements * 2)
    with pytest.raises(InconsistentWorkloadError, match="1 statements in loops of 2"):
        verify(replace(made, table=table))
