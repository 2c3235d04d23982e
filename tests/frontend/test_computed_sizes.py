"""What `main` computes for its loops, and what a `switch` leaves at a directive inside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, analysis_of

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

COMPUTED = {
    "float third = 1.0f / 3; int n = third == 1.0 / 3 ? 11 : 22;": 22,
    "int t[3] = {1, 2, 3}, k = 0; t[k++] += 4; int n = t[0] + k;": 6,
    "int n; switch (argc + rand()) { case 1: n = 5; break; default: n = 5; }": 5,
}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("body", COMPUTED)
def test_main_computes_as_the_program_does(tmp_path: Path, body: str, frontend: str) -> None:
    text = (
        f"int rand(void); double a[99];\nint main(int argc, char **argv) {{ {body}\n"
        "#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = 1;\n}\n"
    )
    source = tmp_path / "main.c"
    source.write_text(text)
    (facts,) = analyse(requests_for([str(source)]), {}, frontend=frontend, arguments=()).facts
    assert facts.iterations.value == COMPUTED[body]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_case_is_also_reached_from_the_head_of_its_switch(tmp_path: Path, frontend: str) -> None:
    text = (
        "double a[99];\nvoid f(int m) { int n = 4; switch (m) { case 0: n = 44; case 1: n += 3;\n"
        "#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = 1;\n} }\n"
    )
    (facts,) = analysis_of(tmp_path, text, frontend).facts
    assert facts.iterations.value is None  # 7 or 47
