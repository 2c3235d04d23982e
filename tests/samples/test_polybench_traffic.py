"""The memory traffic of the PolyBench kernels against a simulated cache (lru.c)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from polybench_traffic import KERNELS, counted_bytes, kernel_regions, simulated_bytes

pytestmark = pytest.mark.slow

COMPILER = shutil.which("cc") or shutil.which("gcc")


@pytest.mark.compiler
@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("threads", [1, 4])
def test_most_kernels_within_a_tenth(threads: int, tmp_path: Path) -> None:
    # A matrix of the small data set is 128 KiB.
    assert COMPILER is not None
    assert len(KERNELS) == 30
    sizes = [size * 1024 for size in (16, 32, 64, 128)]
    far: dict[int, dict[str, float]] = {size: {} for size in sizes}
    for kernel in KERNELS:
        regions = kernel_regions(kernel)
        simulated = [0.0] * len(sizes)
        for facts in regions:
            found = simulated_bytes(facts, threads, sizes, tmp_path, COMPILER)
            simulated = [a + b for a, b in zip(simulated, found, strict=True)]
        for size, true in zip(sizes, simulated, strict=True):
            counted = sum(sum(counted_bytes(facts, threads, size)) for facts in regions)
            if abs(counted / true - 1) > 0.1:
                far[size][kernel] = round(counted / true, 2)
    assert max(map(len, far.values())) <= 5, far
