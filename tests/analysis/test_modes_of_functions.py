"""Functions whose calls say by a number which side they take, held against programs that count."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from further_cases import further_slow

from tests.analysis.test_possible_callees import counted, executions, frontends, program, read

EXACT = {
    "a flag": (
        "static void pass(int predict) { if (predict) a(); else b(); c(); }\n",
        "for (int t = 0; t < 5; t++) { pass(1); pass(0); pass(0); }"),
    "handed on": (
        "static void inner(int mode) { if (mode == 2) a(); else b(); }\n"
        "static void pass(double *p, int mode) { (void)p; inner(mode); if (mode > 2) c(); }\n",
        "for (int t = 0; t < 5; t++) { pass(0, 2); pass(0, 1); if (t == 3) pass(0, 7); }"),
    "cases of an enumeration": (
        "enum { FORTH, BACK, BOTH };\nstatic void sweep(int mode) { switch (mode) {"
        " case FORTH: a(); break; case BACK: b(); break; default: c(); } }\n",
        "for (int t = 0; t < 4; t++) { sweep(FORTH); sweep(BACK); if (t == 2) sweep(BOTH); }"),
    "another number is open": (
        "static void pass(int mode, int n) { if (mode) a(); for (int i = 0; i < n; i++) b(); }\n",
        "for (int t = 0; t < 4; t++) { pass(1, 3); pass(0, 3); } c();"),
    "an early return": (
        "static void pass(int last) { a(); if (last) { c(); return; } b(); b(); }\n",
        "for (int t = 0; t < 4; t++) { pass(0); pass(1); }"),
    "levels": (
        "#define LEVELS 5\nstatic void cycle(int level) { a(); if (level == LEVELS - 1) { b();"
        " return; } cycle(level + 1); if (level < 2) cycle(level + 1); if (level == 2) c(); }\n",
        "for (int t = 0; t < 3; t++) cycle(0);"),
    "levels down, in turns": (
        "static void up(int level);\n"
        "static void down(int level) { a(); if (level > 0) up(level - 1); }\n"
        "static void up(int level) { b(); if (level > 0) down(level - 1); else c(); }\n",
        "down(7); down(2);"),
    "handed on by a condition": (
        "static void inner(int mode) { if (mode == 2) a(); else b(); }\n"
        "static void pass(int forward) { inner(forward ? 2 : 1); inner(!forward); c(); }\n",
        "for (int t = 0; t < 5; t++) { pass(1); pass(0); pass(0); }"),
    "handed on by two numbers": (
        "static void inner(int mode) { if (mode > 2) a(); else b(); }\n"
        "static void pass(int k, int m) { inner(k > m ? k : m); inner(2 * k - m); c(); }\n",
        "for (int t = 0; t < 3; t++) { pass(1, 0); pass(2, 1); pass(1, 4); }"),
    "a value of two calls": (
        "static int ones(void) { a(); return 1; }\nstatic int twos(void) { b(); b(); return 2; }\n"
        "static int pick(int forward) { return forward ? ones() : twos(); }\n"
        "static void pass(int forward) { int v = forward ? ones() : twos(); int w;"
        " w = !forward ? ones() : twos(); w += forward > 1 ? pick(0) : v; c(); }\n",
        "for (int t = 0; t < 3; t++) { pass(1); pass(0); pass(2); pick(1); }"),
    "a factor": (
        "static void axpy(double alpha, double beta) { if (beta == 0.0) a();"
        " else if (beta != 1.0) b(); if (alpha == -1.0) c(); }\n",
        "for (int t = 0; t < 5; t++) { axpy(1.0, 0.0); axpy(-1.0, 1.0); axpy(-1, 0.5); }"),
    "a factor that is handed on": (
        "static void inner(double by) { if (by < 0.5 || by >= 4) a(); else b(); }\n"
        "static void pass(double by) { inner(by); inner(-by); if (!by) c(); }\n",
        "for (int t = 0; t < 5; t++) { pass(0.0); pass(2.5); pass(4.0f); }"),
    "a quotient of two": (
        "static void matvec(double alpha, double beta) { double scale = beta / alpha;"
        " if (alpha == 0.0) { a(); return; }"
        " if (scale != 1.0) { if (scale == 0.0) b(); else a(); } if (alpha != 1.0) c(); }\n",
        "for (int t = 0; t < 5; t++) { matvec(1.0, 0.0); matvec(-1.0, 1.0); matvec(2.0, 2.0);"
        " matvec(0.0, 3.0); }"),
    "divided by zero": (
        "static void divide(double alpha, double beta) { double scale = beta / alpha;"
        " if (scale == 0.0) a(); if (scale != 2.0) b(); c(); }\n",
        "divide(0.0, 0.0); divide(0.0, 1.0); divide(4.0, 0.0); divide(0.5, 1.0);"),
    "a number that is a constant": (
        "static const double ONE = 1.0;\n"
        "static void scale(float by) { if (by == ONE) a(); else b(); c(); }\n",
        "scale(1.0f); scale(ONE); scale(3);"),
    "levels of loops": (
        "static void cycle(int level) { for (int i = 0; i < 2; i++) { a();"
        " if (level < 3) cycle(level + 1); else b(); } c(); }\n", "cycle(0);"),
}  # fmt: skip
NOT_TOLD = {
    "halves": (
        "static void cut(int n) { a(); if (n > 1) { cut(n / 2); b(); } }\n", "cut(64); c();"),
    "an open depth": (
        "static void cycle(int level, int depth) { a(); if (level == 2) b();"
        " if (level < depth) cycle(level + 1, depth); }\n", "cycle(0, argc); c();"),
    "a factor that changes": (
        "static void scale(double by) { by = by * x[0]; if (by == 1.0) a(); else b(); }\n",
        "scale(1.0); scale(2.0); c();"),
    "a factor that nobody writes so": (
        "static void scale(double by) { if (by * 3.0 == 1.0) a(); else b(); }\n",
        "scale(0.1); scale(1.0 / 3.0); c();"),
    "a factor that is cut": (
        "static void inner(int mode) { if (mode == 0) a(); else b(); }\n"
        "static void scale(double by) { inner(by); }\n", "scale(0.5); scale(0.25); c();"),
    "a sum of factors": (
        "static void scale(double by, double with) { if (by + with == 1.0) a(); else b(); }\n",
        "scale(0.5, 0.5); scale(2.0, 0.25); c();"),
    "changed on the way": (
        "static void pass(int mode) { if (mode > 1) mode = 0; if (mode == 0) a(); else b(); }\n",
        "pass(2); pass(1); c();"),
}  # fmt: skip


@frontends
@pytest.mark.compiler
@pytest.mark.parametrize("case", further_slow(9, EXACT))
def test_sides_are_those_that_the_calls_ask_for(case: str, frontend: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(program(*EXACT[case]))
    runs = executions(read(path, frontend))
    assert [each.value for each in runs] == counted(path)
    assert not any(each.assumed for each in runs)


@frontends
@pytest.mark.parametrize("case", NOT_TOLD)
def test_what_no_call_tells_is_not_known(case: str, frontend: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(program(*NOT_TOLD[case]))
    first, second, third = executions(read(path, frontend))
    assert (first.value, second.value, third.value) == (None, None, 1)
    assert first.assumed
    assert second.assumed
    assert first.weight > 0
    assert second.weight > 0


@frontends
def test_what_the_user_gives_holds_in_every_call(frontend: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(program(*EXACT["a flag"]))
    first, second, third = executions(read(path, frontend, predict=1))
    assert (first.value, second.value, third.value) == (15, 0, 15)


@frontends
def test_a_number_that_a_recursion_changes_is_no_size(frontend: str, tmp_path: Path) -> None:
    """`cut(64)` is the first call; the others go over 32, 16, ... elements."""
    path = tmp_path / "case.c"
    path.write_text(
        "static double x[64];\nstatic void cut(int n) {\n#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) x[i] += 1;\nif (n > 1) cut(n / 2); }\n"
        "int main(void) { cut(64); return 0; }\n"
    )
    (facts,) = read(path, frontend).facts
    assert facts.iterations.value is None


@frontends
@pytest.mark.compiler
@pytest.mark.parametrize("seed", further_slow(2, range(6)))
def test_modes_of_random_programs(seed: int, frontend: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(program(*made(random.Random(seed))))
    runs = executions(read(path, frontend))
    assert [each.value for each in runs] == counted(path)


def made(draw: random.Random) -> tuple[str, str]:
    """Functions of a mode that call those before them, with numbers or with their own mode."""
    functions: list[str] = []

    def statement(depth: int, mode: str) -> str:
        kind = draw.choice(["kernel", "call", "if", "loop", "return"][: 3 + 2 * (depth > 0)])
        if kind == "call" and functions:
            argument = draw.choice([str(draw.randint(0, 3)), mode, f"{mode} + 1", f"{mode} - 1"])
            return f"{draw.choice(functions)}({argument});"
        if kind == "if" and depth:
            test = f"{mode} {draw.choice(['==', '<', '>', '!='])} {draw.randint(0, 3)}"
            other = f" else {{ {block(depth - 1, mode)} }}" if draw.random() < 0.5 else ""
            return f"if ({test}) {{ {block(depth - 1, mode)} }}{other}"
        if kind == "loop":
            turns = draw.randint(1, 3)
            return f"for (int k{depth} = 0; k{depth} < {turns}; k{depth}++) {{ {block(0, mode)} }}"
        return f"{draw.choice('abc')}();"

    def block(depth: int, mode: str) -> str:
        return " ".join(statement(depth, mode) for _ in range(draw.randint(1, 3)))

    text = ""
    for number in range(4):
        early = f"if (mode == {draw.randint(0, 4)}) {{ a(); return; }} "
        body = (early if draw.random() < 0.5 else "") + block(2, "mode")
        text += f"static void f{number}(int mode) {{ {body} }}\n"
        functions.append(f"f{number}")
    # What nobody calls is taken to run once, so each is called.
    calls = " ".join(f"{name}({draw.randint(0, 4)});" for name in functions)
    return text, f"{calls} {block(2, '2')}"
