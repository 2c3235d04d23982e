"""A prediction is its estimate with the facts of its region."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse
from regionpredict.predict import Estimate, Prediction


def test_a_prediction_says_what_its_estimate_says(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text("void f(double *a) {\n#pragma omp parallel for\n"
                    "  for (int i = 0; i < 9; i++) a[i] = 1;\n}\n")  # fmt: skip
    (facts,) = analyse(requests_for([str(path)]), {}).facts
    estimate = Estimate(
        "density", "partial", 0.25, 0.5, 72, ((1, 1.0), (2, 1.5)), 2, 4, "cache", 0.75, True,
        ("n = 9",), (),
    )  # fmt: skip
    made = Prediction.of(estimate, facts)
    for field in fields(Estimate):
        assert getattr(made, field.name) == getattr(estimate, field.name)
    assert made.facts is facts
    assert made.derivation is None
