"""The C texts that stand for the measured programs are C, and do what they are named after."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import data_game_of_life
import data_machines
import data_npb
import data_vectors
import pytest
from core_cycles import TEXTS
from data_bandwidth import STATEMENTS, _one_sweep, _own_sweeps
from data_lattice import half_staple, multiply, plaquette
from lulesh_kernels import KERNELS
from lulesh_sources import lulesh_source
from stencil_sources import stencil_source

COMPILER = os.environ.get("CC") or "gcc"
PLAIN = {
    "life": data_game_of_life.SOURCE,
    "wait": data_machines.WAIT,
    "stream": data_machines.TRIAD,
    "pairs": data_npb.EP,
    "dot": data_vectors.DOT,
    "gather": data_vectors.GATHER,
    "lulesh": lulesh_source(),
    "lulesh of one thread": lulesh_source(alone=True),
    "multiply": multiply(conjugate=False),
    "conjugate multiply": multiply(conjugate=True),
    "staple": half_staple(),
    "plaquette": plaquette(),
    "stencil": stencil_source("3D/r2/point-symmetric/star/variable/double"),
    **{f"core {name}": text for name, text in TEXTS.items()},
    **{f"one sweep {name}": _one_sweep(name) for name in STATEMENTS},
    **{f"own sweeps {name}": _own_sweeps(name) for name in STATEMENTS},
    **KERNELS,
}


@pytest.mark.compiler
@pytest.mark.skipif(shutil.which(COMPILER.split()[0]) is None, reason="needs a C compiler")
def test_every_text_is_c(tmp_path: Path) -> None:
    files = []
    for number, text in enumerate(PLAIN.values()):
        files.append(tmp_path / f"{number}.c")
        files[-1].write_text(text)
    made = subprocess.run(
        [*COMPILER.split(), "-std=gnu11", "-fopenmp", "-fsyntax-only", "-Werror", *map(str, files)],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr


_CHECK = """
#include <math.h>
#include <stdlib.h>
int main(void)
{
  int n = 2;
  size_t size = (size_t)n*n*n*n*18;
  double *a = malloc(8*size), *b = malloc(8*size), *c = malloc(8*size);
  for (size_t i = 0; i < size; i++) { a[i] = 0.5 + i % 7; b[i] = 1.5 - i % 5; }
  multiply(n, (void *)a, (void *)b, (void *)c);
  for (int site = 0; site < n*n*n*n; site++)
    for (int r = 0; r < 3; r++)
      for (int k = 0; k < 3; k++) {
        double re = 0.0, im = 0.0;
        for (int m = 0; m < 3; m++) {
          double ar = a[18*site + 6*r + 2*m], ai = a[18*site + 6*r + 2*m + 1];
          double br = b[18*site + 6*m + 2*k], bi = b[18*site + 6*m + 2*k + 1];
          re += ar * br - ai * bi;
          im += ar * bi + ai * br;
        }
        if (fabs(c[18*site + 6*r + 2*k] - re) > 1e-12) return 1;
        if (fabs(c[18*site + 6*r + 2*k + 1] - im) > 1e-12) return 2;
      }
  return 0;
}
"""


@pytest.mark.compiler
@pytest.mark.skipif(shutil.which(COMPILER.split()[0]) is None, reason="needs a C compiler")
def test_the_lattice_product_is_the_complex_matrix_product(tmp_path: Path) -> None:
    source, program = tmp_path / "check.c", tmp_path / "check"
    source.write_text(multiply(conjugate=False) + _CHECK)
    command = [*COMPILER.split(), "-std=gnu11", "-O1", str(source), "-o", str(program), "-lm"]
    subprocess.run(command, check=True, timeout=600)
    assert subprocess.run([program], check=False, timeout=600).returncode == 0


def test_there_are_22_loops() -> None:
    assert len(KERNELS) == 22
