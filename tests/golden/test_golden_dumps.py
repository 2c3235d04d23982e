"""Text cases: `NAME.c` beside `NAME.STAGE.txt`, what `--dump STAGE` must print of it.

The workload and the prediction are those of one machine, dunnington, by the saturation model.

A new case is a C file and `pytest tests/golden --update-golden`; then read the text line by line
against the source before it is committed, and read the diff at every change.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import STAGES, Analysis, Predictions, analyse, predict
from regionpredict.stage_dumps import dump_stage

FOLDER = Path(__file__).parent
CASES = sorted(path.stem for path in FOLDER.glob("*.c"))
# Not claimed to be right: gathers under a chunked schedule count as cold in every piece, and the
# members of an array of structs as lines of their own.
UNCLAIMED = {"branches": ("workload", "prediction"), "structs": ("workload", "prediction")}
DUMPS = [(name, stage) for name in CASES for stage in STAGES
         if stage not in UNCLAIMED.get(name, ())]  # fmt: skip
# Both readers give one program. After it, the second one repeats what the first one shows.
READ = [
    pytest.param(
        name, stage, frontend,
        marks=[pytest.mark.slow] * (frontend == "pycparser" and stage != "program"),
    )
    for name, stage in DUMPS for frontend in ("libclang", "pycparser")
]  # fmt: skip


@cache
def analysed(name: str, frontend: str) -> Analysis:
    return analyse(requests_for([f"{name}.c"]), {}, frontend=frontend)


@cache
def predicted(name: str, frontend: str) -> Predictions:
    return predict(analysed(name, frontend), load("dunnington"), "saturation")


@pytest.mark.parametrize(("name", "stage", "frontend"), READ)
def test_dump(
    name: str,
    frontend: str,
    stage: str,
    update_golden: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(FOLDER)  # places are shown as `case.c:3`
    predictions = predicted(name, frontend) if stage in ("workload", "prediction") else None
    text = dump_stage(stage, analysed(name, frontend), predictions) + "\n"
    expected = FOLDER / f"{name}.{stage}.txt"
    if update_golden and frontend == "libclang":
        expected.write_text(text)
    assert expected.exists(), "no expected text: run with --update-golden, then read it"
    assert text == expected.read_text()
