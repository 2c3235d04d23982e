"""Calls that a condition decides on, held against programs that count them."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow

from tests.analysis.test_possible_callees import counted, executions, frontends, program, read

EXACT = {
    "every tenth": "for (int t = 0; t < 50; t++) { a(); if (t % 10 == 0) b(); if (t > 5) c(); }",
    "the first, and both ends": (
        "for (int t = 0; t < 50; t++) { if (t == 0) a(); else b(); if (t < 5 || t >= 48) c(); }"),
    "odd and late": (
        "for (int t = 1; t <= 50; t++) { if (t % 2 && t > 9) a(); if (!(t & 1)) b();"
        " if (t == 50) c(); }"),
    "two loops": (
        "for (int t = 0; t < 50; t++) for (int j = 0; j < 4; j++) {"
        " if (t > 5 && j == 1) a(); if (j <= t) b(); if (t + j == 7) c(); }"),
    "many iterations": (
        "for (int t = 0; t < 3000000; t++) {"
        " if (t % 1000000 == 0) a(); if (t == 2000000) b(); if (t > 2999990) c(); }"),
    "loops inside": (
        "for (int t = 0; t < 50; t++) { if (t % 5 == 0) for (int i = 0; i < t; i++) a();"
        " if (t < 3) { b(); if (t) c(); } }"),
    "an expression's sides": (
        "for (int t = 0; t < 50; t++) { t % 10 ? a() : b(); (void)(t == 3 && (c(), 1)); }"),
    "cases": (
        "for (int t = 0; t < 50; t++) switch (t % 4) {"
        " case 0: a(); break; case 1: case 2: b(); default: c(); }"),
    "passed over": "for (int t = 0; t < 50; t++) { a(); if (t % 10) continue; b(); c(); }",
    "never": "for (int t = 0; t < 50; t++) { a(); if (0) b(); c(); }",
    "a constant": "enum { LOUD = 0 }; for (int t = 0; t < 5; t++) { a(); if (LOUD) b(); c(); }",
    "a variable of each turn": (
        "for (int t = 0; t < 50; t++) { const int odd = t % 2; if (odd) a(); else b();"
        " if (!odd) c(); }"),
    "downwards by three": (
        "for (int t = 100; t > 0; t -= 3) { if (t >= 50) a(); if (t % 2) b(); c(); }"),
}  # fmt: skip
NOT_TOLD = {
    "data": "for (int t = 0; t < 50; t++) { if (x[t] > 0) a(); else b(); } c();",
    "the command line": "for (int t = 0; t < 50; t++) { if (argc > 1) a(); else b(); } c();",
    "a flag that changes": (
        "int done = 0; for (int t = 0; t < 50; t++) { if (!done) a(); else b(); done = t > 9; }"
        " c();"),
}  # fmt: skip


@frontends
@pytest.mark.compiler
@pytest.mark.parametrize("case", further_slow(8, EXACT))
def test_conditions_on_counters_are_counted(case: str, frontend: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(program("", EXACT[case]))
    runs = executions(read(path, frontend))
    made = counted(path)
    assert [each.value for each in runs] == made
    assert [each.weight for each in runs] == made
    assert not any(each.assumed for each in runs)


@frontends
@pytest.mark.parametrize("case", NOT_TOLD)
def test_what_nothing_decides_is_said(case: str, frontend: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(program("", NOT_TOLD[case]))
    first, second, third = executions(read(path, frontend))
    assert [first.weight, second.weight, third.weight] == [50, 50, 1]
    assert [first.value, second.value, third.value] == [None, None, 1]
    assert "case.c:" in first.assumed[0]
    assert "each time" in first.assumed[0]
    assert not third.assumed


@frontends
def test_a_name_that_decides_is_named_and_settles_it(frontend: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    body = (
        "int every = atoi(argv[1]); for (int t = 0; t < 50; t++) { a(); if (t % every == 0) b(); }"
    )
    path.write_text(program("", body + " c();"))
    open_runs = executions(read(path, frontend))[1]
    assert open_runs.value is None
    assert "--set every=..." in open_runs.assumed[0]
    assert executions(read(path, frontend, every=25))[1].value == 2


@frontends
def test_a_loop_that_may_end_early_says_so(frontend: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(program("", "for (int t = 0; t < 50; t++) { a(); if (x[t] > 3) break; } b();"))
    first, second, _ = executions(read(path, frontend))
    assert (first.value, first.weight) == (None, 50)
    assert "break" in first.assumed[0]
    assert second.value == 1


@frontends
def test_loops_of_a_team_that_a_condition_outside_decides(frontend: str, tmp_path: Path) -> None:
    """Fifty runs of one team, in five of which it has another loop."""
    body = "for (int t = 0; t < 50; t++) {\n#pragma omp parallel\n{ a(); if (t % 10 == 0) b(); }\n}"
    path = tmp_path / "case.c"
    path.write_text(program("", body + " c();", "for"))
    first, second, _ = executions(read(path, frontend))
    assert first.value == 50
    assert second.weight == pytest.approx(5)
