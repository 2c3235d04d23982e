"""Assumed figures of a machine that decide a prediction are listed and lower its confidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import Prediction

COPY = """
void copy(int n, double *a, double *b)
{
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) a[i] = b[i];
}
"""


def _predicted(folder: Path, machine: Machine, n: int = 50_000_000) -> Prediction:
    path = folder / "copy.c"
    path.write_text(COPY)
    analysis = analyse(requests_for((str(path),)), {"n": n})
    return predict(analysis, machine, "saturation").predictions[0]


def _with_memory_of(machine: Machine, evidence: str) -> Machine:
    curves = {
        name: replace(curve, evidence=evidence, source="said so")
        for name, curve in machine.memory.bandwidth.items()
    }
    return replace(machine, memory=replace(machine.memory, bandwidth=curves))


def test_the_bandwidth_that_limits_a_copy_is_told_and_costs_a_guess(tmp_path: Path) -> None:
    machine = load("skylake-gold-6148")
    sure = _predicted(tmp_path, _with_memory_of(machine, "measured"))
    unsure = _predicted(tmp_path, _with_memory_of(machine, "assumed"))
    assert sure.bottleneck == unsure.bottleneck == "memory-bandwidth"
    assert sure.speedup == unsure.speedup
    added = set(unsure.assumed) - set(sure.assumed)
    assert [line for line in added if line.startswith("memory.bandwidth.")] == list(added)
    assert len(added) == 1
    assert unsure.confidence == pytest.approx(0.9 * sure.confidence, abs=1e-3)


def test_figures_of_other_terms_say_nothing(tmp_path: Path) -> None:
    """A copy from memory does not depend on what an addition takes."""
    machine = load("skylake-gold-6148")
    slow = replace(machine.operations["fp_add"].throughput_cycles, evidence="assumed")
    changed = {**machine.operations,
               "fp_add": replace(machine.operations["fp_add"], throughput_cycles=slow)}  # fmt: skip
    prediction = _predicted(tmp_path, replace(machine, operations=changed))
    assert not any(line.startswith("operations.") for line in prediction.assumed)


def test_where_no_line_is_claimed_by_reading_a_copy_moves_16_bytes(tmp_path: Path) -> None:
    """ThunderX2 reads none of the lines that a copy writes; its table is that of the same copy."""
    machine = load("thunderx2")
    assert machine.processor.write_allocate.value == 0
    prediction = _predicted(tmp_path, machine)
    memory = prediction.derivation.levels[-1]
    assert memory.total == pytest.approx(16 * 50_000_000, rel=1e-3)
    one = replace(machine.processor.write_allocate, value=1.0)
    other = replace(machine, processor=replace(machine.processor, write_allocate=one))
    allocating = _predicted(tmp_path, other)
    assert allocating.derivation.levels[-1].total == pytest.approx(24 * 50_000_000, rel=1e-3)
