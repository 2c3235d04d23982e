"""Loops over transforms' arrays, whose types a header declares that few machines have."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

C_COMPLEX = """\
#include <complex.h>
#include <fftw3.h>
void scale(int n, fftwf_complex *box) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) box[i] /= 512.0f;
}
"""
PAIRS = """\
#include <fftw3.h>
void scale(int n, fftw_complex *box) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) { box[i][0] *= 0.5; box[i][1] *= 0.5; }
}
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(("text", "element"), [(C_COMPLEX, 8), (PAIRS, 16)])
def test_complex_elements_have_their_size(
    tmp_path: Path, text: str, element: int, frontend: str
) -> None:
    """A complex number of two floats has 8 bytes, one of two doubles 16: all of 1000 are used."""
    facts = facts_of(tmp_path, text, frontend)
    assert facts.status == "complete", facts.diagnostics
    assert facts.working_set.value == 1000 * element
    assert {access.array for one in facts.statements for access in one.statement.accesses} == {
        "box"
    }
