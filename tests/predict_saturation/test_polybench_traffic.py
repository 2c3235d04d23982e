"""The memory traffic of the PolyBench kernels against a simulated cache (lru.c)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from polybench_traffic import KERNELS, counted_bytes, kernel_regions, simulated_bytes

CACHE = 32 * 1024  # a matrix of the small data set is 128 KiB
COMPILER = shutil.which("cc") or shutil.which("gcc")


@pytest.mark.compiler
@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("threads", [1, 4])
def test_most_kernels_within_a_tenth(threads: int, tmp_path: Path) -> None:
    assert COMPILER is not None
    assert len(KERNELS) == 30
    far = {}
    for kernel in KERNELS:
        counted = simulated = 0.0
        for facts in kernel_regions(kernel):
            counted += sum(counted_bytes(facts, threads, CACHE))
            simulated += sum(simulated_bytes(facts, threads, CACHE, tmp_path, COMPILER))
        if abs(counted / simulated - 1) > 0.1:
            far[kernel] = round(counted / simulated, 2)
    assert len(far) <= 5, far
