"""Cores of several kinds, and virtual CPUs that are hardware threads: speedups in closed form.

With equal pieces (a static schedule) the slowest core decides: n threads are n times as fast as the
slowest of their cores. Otherwise the speeds of all cores add up.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from round_machine import round_machine, workload_of_text

from regionpredict.errors import InputError
from regionpredict.machine import Machine
from regionpredict.predict.saturation import predict_saturation
from regionpredict.predict.saturation.model import region_time
from regionpredict.predict.saturation.region_time import RegionTime

NODE = "packages: 2, cores_per_package: 4"
ONE_OF_14 = "packages: 1, cores_per_package: 14"
ROOTS = """void f(double *s) {
#pragma omp parallel for schedule(SCHEDULE)
  for (int i = 0; i < 84000; i++) {
    double x = i;
    for (int k = 0; k < 1000; k++) x = sqrt(x);
    s[i] = x;
  }
}
"""
SLOW = 0.5567
"""The speed of the efficiency cores of a part with 6 performance and 8 efficiency cores, from its
published speedup of 6.68 on 12 threads: 6.68 / 12. (It also reports 3.82 on 4 threads.)"""
KINDS = round_machine((NODE, f"{ONE_OF_14}, core_speed: {{1: 1, 7: {SLOW}}}"))
VCPUS = round_machine(
    (NODE, "packages: 1, cores_per_package: 8, vcpus_per_core: 2"),
    ("ways: 8, cores: 1, latency: 4,", "ways: 8, cores: 2, latency: 4,"),
    ("ways: 8, cores: 1, latency: 14,", "ways: 8, cores: 2, latency: 14,"),
)


def speedup(
    folder: Path, machine: Machine, threads: int, schedule: str, code: str = ROOTS
) -> float:
    """Of the loops alone, without the costs of OpenMP."""
    workload = workload_of_text(folder, code.replace("SCHEDULE", schedule), machine)
    time = region_time(workload, machine)
    assert isinstance(time, RegionTime)
    return threads * time.loops.at(1).busy / time.loops.at(threads).busy


@pytest.mark.parametrize(
    ("threads", "binding", "schedule", "expected"),
    [
        (4, "close", "static", 4.0),  # published: 3.82
        (6, "close", "static", 6.0),
        (7, "close", "static", 7 * SLOW),
        (12, "close", "static", 6.68),
        (14, "close", "static", 14 * SLOW),
        (12, "close", "dynamic", 6 + 6 * SLOW),
        (14, "close", "guided", 6 + 8 * SLOW),
        (7, "spread", "static", 7 * SLOW),  # cores 0, 2, ... 12
        (7, "spread", "dynamic", 3 + 4 * SLOW),
        (4, "{6},{7},{8},{9}", "dynamic", 4 * SLOW),
    ],
)
def test_cores_of_two_kinds(
    tmp_path: Path, threads: int, binding: str, schedule: str, expected: float
) -> None:
    machine = KINDS.as_run(binding=binding)
    alone = speedup_over_first(tmp_path, machine, threads, schedule)
    assert alone == pytest.approx(expected, rel=2e-3)


def speedup_over_first(folder: Path, machine: Machine, threads: int, schedule: str) -> float:
    """The speedup over one thread on the first core."""
    code = ROOTS.replace("SCHEDULE", schedule)
    times = [
        region_time(workload_of_text(folder, code, own), own)
        for own in (machine, machine.as_run(binding="close"))
    ]
    own, first = times
    assert own is not None and first is not None
    return threads * first.loops.at(1).busy / own.loops.at(threads).busy


def test_more_threads_than_fast_cores_are_not_hinted(tmp_path: Path) -> None:
    """Equal pieces are 6 times as fast on 6 cores, 3.5 times on 7, and 4 times on 8."""
    few = round_machine((NODE, "packages: 1, cores_per_package: 8, core_speed: {1: 1, 7: 0.5}"))
    code = ROOTS.replace("SCHEDULE", "static")
    assert predict_saturation(workload_of_text(tmp_path, code, few), few).threads == 6
    dynamic = ROOTS.replace("SCHEDULE", "dynamic, 64")
    assert predict_saturation(workload_of_text(tmp_path, dynamic, few), few).threads == 8


@pytest.mark.parametrize(
    ("threads", "binding", "schedule", "expected"),
    [
        (2, "close", "static", 1.0),  # both on one physical core
        (3, "close", "static", 1.5),  # the core with two decides
        (3, "close", "dynamic", 2.0),
        (8, "close", "static", 4.0),
        (4, "spread", "static", 4.0),  # one on each physical core
        (5, "spread", "static", 2.5),
        (4, "{0}:4:2", "static", 4.0),
        (8, "spread", "dynamic", 4.0),
    ],
)
def test_virtual_cpus_of_one_core_share_its_pipes(
    tmp_path: Path, threads: int, binding: str, schedule: str, expected: float
) -> None:
    """Independent divisions keep the divider busy, so that a second thread gains nothing."""
    code = """void f(double *s) {
#pragma omp parallel for schedule(SCHEDULE)
  for (int i = 0; i < 8000; i++) s[i % 64] = 1.0 / (s[i % 64] + i);
}
"""
    machine = VCPUS.as_run(binding=binding)
    found = speedup(tmp_path, machine, threads, schedule, code)
    assert found == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("core_speed: {1: 1, 15: 0.5}", "core speeds from core 15 of 14 on"),
        ("core_speed: {1: 2, 7: 1}", "2 for the first; give speeds relative to the first core"),
        ("vcpus_per_core: 4", "14 cores of a package are not whole cores of 4 virtual CPUs"),
    ],
)
def test_impossible_shapes_are_one_line(shape: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        round_machine((NODE, f"{ONE_OF_14}, {shape}"))
    assert said in str(raised.value)
