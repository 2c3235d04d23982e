"""Loops and branches nested deeper than in any program: the outer ones are read, and the rest is
reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow
from reading import FRONTENDS, analysis_of, facts_of, predict

from regionpredict.frontend.lowering.region_builder import MOST_NESTED_BRANCHES
from regionpredict.frontend.syntax.loop_depth import MOST_NESTED


def _nest(depth: int, inside: str) -> str:
    """Loop number k is on line 3 + k."""
    loops = "".join(f"for (int i{k} = 0; i{k} < n; i{k}++)\n" for k in range(depth))
    return f"double x;\nvoid f(int n) {{\n#pragma omp parallel for\n{loops}{inside}}}\n"


# Behind the readers loops are counted and refused: the second reader repeats it.
SECOND_SLOW = pytest.mark.parametrize(
    "frontend", [FRONTENDS[0], pytest.param(FRONTENDS[1], marks=pytest.mark.slow)]
)


@SECOND_SLOW
def test_the_deepest_nest_that_is_read_is_counted(tmp_path: Path, frontend: str) -> None:
    facts = facts_of(tmp_path, _nest(MOST_NESTED, "x += 1;"), frontend, given={"n": 2})
    assert facts.status == "complete"
    assert facts.statements[0].executions.value == 2**MOST_NESTED


@pytest.mark.parametrize(
    ("more", "frontend"),
    [(1, "libclang"), pytest.param(1, "pycparser", marks=pytest.mark.slow),
     *further_slow(0, [(3000, "pycparser"), (3000, "libclang")])],
)  # fmt: skip
def test_a_loop_inside_too_many_is_reported(tmp_path: Path, frontend: str, more: int) -> None:
    deeper = "for (int j = 0; j < n; j++)\n" * more
    inside = f"{{ x += 1;\n{deeper}x += 2; }}"
    facts = facts_of(tmp_path, _nest(MOST_NESTED, inside), frontend, given={"n": 2})
    assert facts.status == "partial"
    assert [one.executions.value for one in facts.statements] == [2**MOST_NESTED]
    said = [one.span.line for one in facts.diagnostics if one.id == "RP106"]
    assert said == [5 + MOST_NESTED]


@SECOND_SLOW
def test_a_directive_inside_too_many_loops_is_not_lost(tmp_path: Path, frontend: str) -> None:
    inner = "{\n#pragma omp parallel for\nfor (int j = 0; j < n; j++) x += j;\n}\n"
    text = _nest(MOST_NESTED + 5, inner).replace("#pragma omp parallel for\n", "", 1)
    program = analysis_of(tmp_path, text, frontend).program
    lines = [one.span.line for one in (*program.regions, *program.diagnostics)]
    assert 4 + MOST_NESTED + 5 in lines


def _branches(text: str) -> str:
    return (
        "double a[9];\nint b[9];\nvoid f(int n) {\n#pragma omp parallel for\n"
        f"for (int i = 0; i < n; i++) {{\n{text}\na[i] = 1;\n}}\n}}\n"
    )


def _chain(links: int) -> str:
    return "else ".join(f"if (b[i] == {k}) a[i] = {k};\n" for k in range(links))


DEEP = {
    "else if": _chain(600),
    "continue": "".join(f"if (b[i] == {k}) continue;\n" for k in range(600)),
    "goto": "".join(f"l{k}: if (b[i]) goto l{k * 7 % 1000};\n" for k in range(1000)),
    "if": "".join(f"if (b[i] > {k})\n" for k in range(600)),
}


def test_the_deepest_branches_that_are_read(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, _branches(_chain(MOST_NESTED_BRANCHES)), "libclang")
    assert facts.status == "complete"
    assert sum("a[i] =" in one.statement.text for one in facts.statements) == (
        MOST_NESTED_BRANCHES + 1
    )


@pytest.mark.parametrize(
    "kind",
    ["if", *(pytest.param(kind, marks=pytest.mark.slow) for kind in DEEP if kind != "if")],
)
def test_deeper_branches_are_reported(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "deep.c"
    path.write_text(_branches(DEEP[kind]))
    done = predict(path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"a branch inside {MOST_NESTED_BRANCHES} others is not understood" in done.stdout
