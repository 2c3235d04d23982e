"""Text cases: `NAME.c` beside `NAME.program.txt`, what `--dump program` must print of it.

A new case is a C file and `pytest tests/golden --update-golden`; then read the text line by line
against the source before it is committed, and read the diff at every change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse, dump

FOLDER = Path(__file__).parent
CASES = sorted(path.stem for path in FOLDER.glob("*.c"))


@pytest.mark.parametrize("stage", ["program", "facts"])
@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize("name", CASES)
def test_dump(
    name: str,
    frontend: str,
    stage: str,
    update_golden: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(FOLDER)  # places are shown as `case.c:3`
    analysis = analyse(requests_for([f"{name}.c"]), {}, frontend=frontend)
    text = dump(stage, analysis, None) + "\n"
    expected = FOLDER / f"{name}.{stage}.txt"
    if update_golden and frontend == "libclang":
        expected.write_text(text)
    assert expected.exists(), "no expected text: run with --update-golden, then read it"
    assert text == expected.read_text()
