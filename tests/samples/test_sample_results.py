"""Every sample computes what NumPy computes, whatever the number of threads."""

from __future__ import annotations

import importlib
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sample_grids import Outputs

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
ROOM = HERE.parents[1] / "polybench_samples"
SAMPLES = {path.stem: path for path in sorted(ROOM.glob("*/*/*.c"))}
REFERENCES = {
    name: reference
    for path in sorted(HERE.glob("reference_*.py"))
    for name, reference in importlib.import_module(path.stem).REFERENCES.items()
}


def run(program: Path, threads: int) -> tuple[Outputs, list[str]]:
    """Runs a sample; returns its live-out arrays, flat, and its other lines."""
    result = subprocess.run(
        [program, "--dump"],
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    lines = result.stdout.splitlines()
    arrays: Outputs = {}
    at = 0
    while lines[at].startswith("array "):
        _, name, count = lines[at].split()
        values = lines[at + 1 : at + 1 + int(count)]
        arrays[name] = np.array(values, dtype=float)
        at += 1 + int(count)
    return arrays, lines[at:]


def test_every_sample_has_a_reference() -> None:
    assert SAMPLES.keys() == REFERENCES.keys()


@pytest.mark.compiler
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("name", SAMPLES)
def test_result(name: str, threads: int, built_samples: Path) -> None:
    arrays, rest = run(built_samples / name, threads)
    expected = REFERENCES[name]()
    assert arrays.keys() == expected.keys()
    for array, values in expected.items():
        # Sums may be taken in another order than NumPy's: what cancels to nearly nothing is
        # held against the size of the array's values, not its own.
        scale = 1e-12 * np.abs(values).max()
        np.testing.assert_allclose(arrays[array], values.ravel(), rtol=1e-9, atol=scale)
    assert rest[-2].startswith("checksum ")
    assert rest[-1].startswith("time ")
    weights = [1 + np.arange(v.size) % 8 / 8 for v in arrays.values()]
    checksum = sum(float(v @ w) for v, w in zip(arrays.values(), weights, strict=True))
    assert float(rest[-2].split()[1]) == pytest.approx(checksum, rel=1e-9, abs=1e-9)
