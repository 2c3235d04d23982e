"""A loop under a condition moves the share of its bytes that the condition holds for."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import SaturationDerivation

TEXT = """void f(double *a, double *b, double *test) {
  double most = 0;
  #pragma omp parallel for firstprivate(most)
  for (int j = 0; j < 1000; j++)
    IF { for (int k = 0; k < 1000000; k++) a[k] = b[k]; most = test[j]; }
}
"""


def bytes_of(folder: Path, condition: str) -> float:
    (folder / "f.c").write_text(TEXT.replace("IF", condition))
    analysis = analyse(requests_for([str(folder / "f.c")]), {})
    (one,) = predict(analysis, load("skylake-gold-6148"), "saturation").predictions
    assert isinstance(one.derivation, SaturationDerivation)
    return one.derivation.levels[0].total


def test_an_extreme_is_found_seven_times_in_a_thousand(tmp_path: Path) -> None:
    """ln 1000 + 0.577 = 7.485 of 1000 iterations."""
    always = bytes_of(tmp_path, "")
    assert bytes_of(tmp_path, "if (test[j] > most)") / always == pytest.approx(7.485e-3, rel=0.01)
