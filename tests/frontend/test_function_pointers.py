"""Calls through variables: followed where the program puts one function there."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import FRONTENDS, facts_of

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

KERNELS = """\
typedef double (*kernel)(double);
static double square(double x) { return x * x; }
static double twice(double x) { return x + x; }
double a[1000];
"""
LOOP = "#pragma omp parallel for\nfor (int i = 0; i < 1000; i++) a[i] = k(a[i]);\n"


def operations(folder: Path, text: str, frontend: str) -> tuple[str, list[str]]:
    """The region's status, and the kinds of operations that each iteration has."""
    facts = facts_of(folder, KERNELS + text, frontend)
    kinds = [kind.kind for one in facts.statements
             for kind, _ in one.statement.operations]  # fmt: skip
    return facts.status, kinds


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "text",
    [
        f"static kernel k = square;\nvoid f(void) {{\n{LOOP}}}\n",
        f"static kernel k = 0;\nvoid set(void) {{ k = &square; }}\nvoid f(void) {{\n{LOOP}}}\n",
        f"static kernel k = (kernel)0;\nvoid set(int n) {{ if (n) k = square; }}\n"
        f"void f(void) {{\n{LOOP}}}\n",
        f"static kernel k;\nvoid set(void) {{ k = square; }}\nvoid more(void) {{ k = *square; }}\n"
        f"void f(void) {{\n{LOOP}}}\n",
        f"static kernel k;\nstatic void set(kernel one) {{ k = one; }}\n"
        f"void g(void) {{ set(square); }}\nvoid f(void) {{\n{LOOP}}}\n",
        f"void f(void) {{ kernel k = square;\n{LOOP}}}\n",
        f"static void f(kernel k) {{\n{LOOP}}}\nvoid g(void) {{ f(square); }}\n",
        f"static void f(kernel k) {{\n{LOOP}}}\nvoid g(void) {{ f(square); f(&square); }}\n",
        f"static void f(kernel k) {{\n{LOOP}}}\nstatic void h(kernel one) {{ f(one); }}\n"
        "void g(void) { h(square); }\n",
    ],
    ids=["initialised", "set", "set in a branch", "set twice alike", "a setter", "local",
         "handed over", "by each call", "handed on"],
)  # fmt: skip
def test_one_function_is_followed(tmp_path: Path, frontend: str, text: str) -> None:
    assert operations(tmp_path, text, frontend) == ("complete", ["fp_mul"])


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_parameter_without_callers_leaves_the_region_partial(
    tmp_path: Path, frontend: str
) -> None:
    status, kinds = operations(tmp_path, f"void f(kernel k) {{\n{LOOP}}}\n", frontend)
    assert status == "partial"
    assert "call:k" in kinds


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "text",
    [
        f"static kernel k;\nvoid load(kernel *);\nvoid set(void) {{ load(&k); k = square; }}\n"
        f"void f(void) {{\n{LOOP}}}\n",
        "kernel given(int n);\nstatic kernel choose(int n) { return n ? square : given(n); }\n"
        f"void f(int n) {{ kernel k = choose(n);\n{LOOP}}}\n",
    ],
    ids=["its address is given away", "a result of a function without a body"],
)
def test_the_known_function_is_assumed_if_others_are_possible(
    tmp_path: Path, frontend: str, text: str
) -> None:
    facts = facts_of(tmp_path, KERNELS + text, frontend)
    kinds = [kind.kind for one in facts.statements for kind, _ in one.statement.operations]
    assert (facts.status, kinds) == ("complete", ["fp_mul"])
    (note,) = (note for note in facts.diagnostics if note.id == "RP123")
    assert note.message == (
        f"k() at line {note.span.line} may reach other functions than square(): square() is assumed"
    )


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "text",
    [
        f"static void f(kernel k) {{ if (a[0]) k = twice;\n{LOOP}}}\nvoid g(void)"
        " { f(square); }\n",
        "static kernel choose(int n) {\n  kernel chosen = 0;\n  switch (n) {\n"
        "    case 1: chosen = square; break;\n    case 2: chosen = twice; break;\n  }\n"
        "  return chosen;\n}\n"
        f"void f(int n) {{ kernel k = choose(n);\n{LOOP}}}\n",
    ],
    ids=["set in between", "chosen by a function"],
)
def test_one_of_two_functions_is_either(tmp_path: Path, frontend: str, text: str) -> None:
    facts = facts_of(tmp_path, KERNELS + text, frontend)
    kinds = [kind.kind for one in facts.statements for kind, _ in one.statement.operations]
    assert facts.status == "complete"
    assert kinds in (["fp_mul"], ["fp_add"])
    assert [note.id for note in facts.diagnostics if note.id in ("RP117", "RP123")] == ["RP117"]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_each_call_that_is_followed_hands_over_its_own(tmp_path: Path, frontend: str) -> None:
    """`apply` is called with both, but each call of it is followed by itself."""
    text = """\
static double apply(kernel k, double x) { return k(x); }
void f(void) {
#pragma omp parallel for
for (int i = 0; i < 1000; i++) { a[i] = apply(square, a[i]); a[i] = apply(&twice, a[i]); }
}
"""
    assert operations(tmp_path, text, frontend) == ("complete", ["fp_mul", "fp_add"])


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_of_another_file_is_followed(tmp_path: Path, frontend: str) -> None:
    (tmp_path / "k.c").write_text("double half(double x) { return x * 0.5; }\n")
    (tmp_path / "f.c").write_text(
        "double half(double);\ndouble (*k)(double) = half;\ndouble a[1000];\n"
        f"void f(void) {{\n{LOOP}}}\n"
    )
    (facts,) = analyse(requests_for([str(tmp_path)]), {}, frontend=frontend).facts
    assert facts.status == "complete"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_text_of_unknown_length_is_a_size_that_can_be_given(tmp_path: Path, frontend: str) -> None:
    """`strlen` reads its text, whose length nothing tells."""
    text = """\
#include <string.h>
char names[1000][64];
long lengths[1000];
void f(void) {
#pragma omp parallel for
for (int i = 0; i < 1000; i++)
  lengths[i] = strlen(names[i]);
}
"""
    facts = facts_of(tmp_path, text, frontend, given={"case.c:7": 40})
    assert facts.status == "complete"
    reads = [one for one in facts.statements
             if any(fact.access.array == "names" for fact in one.accesses)]  # fmt: skip
    assert [one.executions.value for one in reads] == [1000 * 40]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_text_behind_a_pointer_that_is_not_known_leaves_the_region_partial(
    tmp_path: Path, frontend: str
) -> None:
    text = """\
#include <string.h>
char *name(int i);
long lengths[1000];
void f(void) {
#pragma omp parallel for
for (int i = 0; i < 1000; i++) lengths[i] = strlen(name(i));
}
"""
    assert facts_of(tmp_path, text, frontend).status == "partial"


HOOK = """%s
struct model { void (*after)(double *, int); int n; };
void run(struct model *m, double *a%s) {
#pragma omp parallel for
  for (int i = 0; i < m->n; i++) {
    a[i] = 2.0 * a[i];
    if (%s) %s(a, i);
  }
}
%s
"""


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("before", "parameter", "pointer", "test"),
    [
        ("", "", "m->after", "m->after"),
        ("", "", "m->after", "m->after != 0"),
        ("void (*hook)(double *, int) = 0;", "", "hook", "hook"),
        ("", ", void (*hook)(double *, int)", "hook", "hook"),
    ],
)
def test_a_hook_that_nobody_sets_is_not_called(
    tmp_path: Path, frontend: str, before: str, parameter: str, pointer: str, test: str
) -> None:
    text = HOOK % (before, parameter, test, pointer, "")
    facts = facts_of(tmp_path, text, frontend)
    assert facts.status == "complete", facts.diagnostics
    assert [note.id for note in facts.diagnostics] == ["RP123"]
    assert "assumed to be null" in facts.diagnostics[0].message


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_hook_that_the_program_sets_is_called(tmp_path: Path, frontend: str) -> None:
    after = """static void shift(double *a, int i) { for (int k = 0; k < 5; k++) a[i] += k; }
void set(struct model *m) { m->after = shift; }"""
    facts = facts_of(tmp_path, HOOK % ("", "", "m->after", "m->after", after), frontend)
    assert any(one.statement.text.startswith("a[i] += k") for one in facts.statements)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("called", ["(*k)", "((kernel)held.any)", "choose(1)"])
def test_a_pointer_is_followed_through_casts_stars_and_calls(
    tmp_path: Path, frontend: str, called: str
) -> None:
    text = f"""\
static kernel k = square;
static struct {{ void (*any)(void); }} held;
static kernel choose(int n) {{ return square; }}
void set(void) {{ held.any = (void (*)(void))square; }}
void f(void) {{
#pragma omp parallel for
for (int i = 0; i < 1000; i++) a[i] = {called}(a[i]);
}}
"""
    assert operations(tmp_path, text, frontend) == ("complete", ["fp_mul"])
