"""Models as an experiment of Extra-P: exact terms, their errors, and what has no form there."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from math import log2
from pathlib import Path
from typing import Any

SIZES = (2, 4, 8, 16, 32)


def _written(folder: Path, data: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The experiment that `fit` writes of these measurements, and what it says."""
    (folder / "measured.json").write_text(json.dumps(data))
    target = folder / "models.extra-p"
    command = [sys.executable, "-m", "regionpredict", "fit", "measured.json", "-o", str(target)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    with zipfile.ZipFile(target) as archive:
        return json.loads(archive.read("experiment.json")), run.stderr


def test_one_parameter(tmp_path: Path) -> None:
    rows = [
        {"point": [p], "values": [3 + 2 * p**1.5 * log2(p), 5 + 2 * p**1.5 * log2(p)]}
        for p in SIZES
    ]
    flat = [{"point": [p], "values": [7.0]} for p in SIZES]
    measurements = {"main": {"time": rows}, "main->f": {"time": flat}}
    experiment, _ = _written(tmp_path, {"parameters": ["p"], "measurements": measurements})

    assert experiment["parameters"] == ["p"]
    first = experiment["measurements"]["main"]["time"][0]
    mean = 4 + 2 * 2**1.5
    assert first["coordinate"] == [2]
    assert abs(first["mean"] - mean) < 1e-12
    assert (first["repetitions"], first["std"]) == (2, 1.0)
    (modeler,) = experiment["modelers"]
    model = modeler["models"]["main"]["time"]["hypothesis"]
    assert model["$type"] == "SingleParameterHypothesis"
    assert model["function"]["$type"] == "SingleParameterFunction"
    assert abs(model["function"]["constant_coefficient"] - 4) < 1e-9
    (term,) = model["function"]["compound_terms"]
    assert abs(term["coefficient"] - 2) < 1e-9
    assert term["simple_terms"] == [
        {"term_type": "polynomial", "exponent": "3/2"},
        {"term_type": "logarithm", "exponent": "1"},
    ]
    assert model["RSS"] < 1e-18
    constant = modeler["models"]["main->f"]["time"]["hypothesis"]
    assert constant["$type"] == "ConstantHypothesis"
    assert constant["function"] == {"constant_coefficient": 7.0, "$type": "ConstantFunction"}


def test_two_parameters(tmp_path: Path) -> None:
    rows = [
        {"point": [p, n], "values": [3 + 2 * p**2 * n]} for p in SIZES for n in (10, 20, 30, 40, 50)
    ]
    experiment, _ = _written(
        tmp_path, {"parameters": ["p", "n"], "measurements": {"main": {"time": rows}}}
    )
    (modeler,) = experiment["modelers"]
    assert modeler["modeler"]["$type"] == "MultiParameterModeler"
    (term,) = modeler["models"]["main"]["time"]["hypothesis"]["function"]["compound_terms"]
    assert abs(term["coefficient"] - 2) < 1e-9
    assert term["parameter_term_pairs"] == {
        "0": {
            "coefficient": 1.0,
            "simple_terms": [{"term_type": "polynomial", "exponent": "2"}],
        },
        "1": {
            "coefficient": 1.0,
            "simple_terms": [{"term_type": "polynomial", "exponent": "1"}],
        },
    }


def test_models_of_several_pieces_are_left_out_and_named(tmp_path: Path) -> None:
    rows = [
        {"point": [p], "values": [float(p) if p <= 8 else 8 + 50.0 * (p - 8)]}
        for p in (1, 2, 3, 4, 5, 6, 7, 8, 16, 24, 32, 40, 48, 56)
    ]
    experiment, said = _written(
        tmp_path, {"parameters": ["p"], "measurements": {"main": {"time": rows}}}
    )
    assert experiment["modelers"][0]["models"] == {}
    assert len(experiment["measurements"]["main"]["time"]) == len(rows)
    assert "Extra-P has no form for these models: main: time" in said


def test_an_experiment_needs_a_file(tmp_path: Path) -> None:
    (tmp_path / "measured.csv").write_text("p,time\n1,1\n2,2\n4,4\n8,8\n16,16\n")
    command = [sys.executable, "-m", "regionpredict", "fit", "measured.csv", "--format", "extra-p"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "give -o FILE.extra-p" in run.stderr
