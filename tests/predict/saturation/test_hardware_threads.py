"""All hardware threads of some packages, where pages lie in several domains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from round_machine import workload_of_text

from regionpredict.machine import load
from regionpredict.predict.curve import Point
from regionpredict.predict.saturation.ablation import ALL_PARTS
from regionpredict.predict.saturation.hardware_threads import all_hardware_threads
from regionpredict.workload import CacheContents, Placement

EPYC = load("epyc-7451")
"""Two packages of four domains and 24 cores, two threads a core, and a link between them."""
LOOP = """void scale(long n, double *a) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] = 2.0 * a[i];
}
"""


def placed(folder: Path, packages: int, placement: Placement) -> Point | None:
    workload = workload_of_text(folder, LOOP, EPYC, n=100_000_000)
    workload = replace(workload, placement=placement)
    return all_hardware_threads(workload, EPYC, packages, contents=CacheContents(), parts=ALL_PARTS)


def test_one_package_has_no_link(tmp_path: Path) -> None:
    """Pages in turn on all domains of one package: its threads cross no link to another."""
    spread = placed(tmp_path, 1, Placement("interleave", "the test's", False))
    own = placed(tmp_path, 1, Placement("parallel", "the test's", False))
    assert spread is not None and own is not None
    assert spread.threads == own.threads == 48
    # All four memories serve as many bytes either way.
    assert spread.seconds == pytest.approx(own.seconds, rel=0.02)


@pytest.mark.parametrize(("limit", "told"), [(None, True), (96, True), (48, True), (47, False)])
def test_a_team_that_may_not_be_so_large_is_not_told_of(
    tmp_path: Path, limit: int | None, *, told: bool
) -> None:
    """48 threads of 24 cores: as many may be asked for, and no fewer."""
    workload = replace(workload_of_text(tmp_path, LOOP, EPYC, n=1_000_000), team_limit=limit)
    point = all_hardware_threads(workload, EPYC, 1, contents=CacheContents(), parts=ALL_PARTS)
    assert (point is not None) == told


@pytest.mark.parametrize(("n", "told"), [(48, True), (47, False)])
def test_a_loop_of_fewer_iterations_leaves_threads_without_work(
    tmp_path: Path, n: int, *, told: bool
) -> None:
    workload = workload_of_text(tmp_path, LOOP, EPYC, n=n)
    point = all_hardware_threads(workload, EPYC, 1, contents=CacheContents(), parts=ALL_PARTS)
    assert (point is not None) == told


@pytest.mark.parametrize(
    ("packages", "domain", "told"), [(1, 3, True), (1, 4, False), (2, 7, True)]
)
def test_pages_of_another_package_are_not_told_of(
    tmp_path: Path, packages: int, domain: int, *, told: bool
) -> None:
    one = Placement("serial", "the test's", False, domain=domain)
    assert (placed(tmp_path, packages, one) is not None) == told
