"""Calls and globals of other files: followed, told to be ambiguous, or not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.ir.pprint import dump_program
from regionpredict.pipeline import Analysis, analyse
from tests.frontend.reading import FRONTENDS

SCALE = "void scale(int m, double *row) { for (int j = 0; j < m; j++) row[j] *= 2.0; }\n"
LOOP = """
void scale(int m, double *row);
void run(int n, double (*a)[50]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) scale(50, a[i]);
}
"""


def read(folder: Path, files: dict[str, str], frontend: str, *, processes: int = 1) -> Analysis:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    requests = requests_for([str(folder)], ())
    return analyse(requests, {}, frontend=frontend, processes=processes, defaults=False)


def only(analysis: Analysis) -> RegionFacts:
    (facts,) = analysis.facts
    return facts


def ids(facts: RegionFacts) -> set[str]:
    return {note.id for note in facts.diagnostics}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_of_another_file_is_as_one_of_the_same(tmp_path: Path, frontend: str) -> None:
    apart = only(read(tmp_path / "apart", {"run.c": LOOP, "scale.c": SCALE}, frontend))
    together = only(read(tmp_path / "one", {"run.c": SCALE + LOOP}, frontend))
    assert apart.status == together.status == "complete"
    assert str(apart.working_set) == str(together.working_set) == "400*n"
    (executions,) = {str(one.executions) for one in apart.statements}
    assert executions == "50*n"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_static_function_is_its_files_own(tmp_path: Path, frontend: str) -> None:
    """Of another file it is not followed, and its own file takes it before any other."""
    hidden = only(read(tmp_path / "a", {"run.c": LOOP, "scale.c": "static " + SCALE}, frontend))
    assert hidden.status == "partial"
    assert "RP113" in ids(hidden)
    own = "static void scale(int m, double *row) { row[0] = m; }\n"
    text = own + LOOP.replace("void scale(int m, double *row);\n", "")
    taken = only(read(tmp_path / "b", {"run.c": text, "scale.c": SCALE}, frontend))
    assert {str(one.executions) for one in taken.statements} == {"n"}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_of_several_definitions_the_nearest_is_meant(tmp_path: Path, frontend: str) -> None:
    far = SCALE.replace("row[j] *= 2.0", "row[0] *= 2.0")
    files = {"one/run.c": LOOP, "one/scale.c": SCALE, "two/scale.c": far}
    facts = only(read(tmp_path, files, frontend))
    assert str(facts.working_set) == "400*n"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_two_definitions_as_near_are_told(tmp_path: Path, frontend: str) -> None:
    files = {"run.c": LOOP, "b.c": SCALE, "c.c": SCALE}
    facts = only(read(tmp_path, files, frontend))
    assert facts.status == "partial"
    (note,) = (one for one in facts.diagnostics if "several definitions" in one.message)
    assert "b.c:1" in note.message
    assert "c.c:1" in note.message


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_values_travel_between_files(tmp_path: Path, frontend: str) -> None:
    """An argument, a global with its first value, and one that a single place sets."""
    files = {
        "run.c": """
extern int width, height;
void run(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n * width * height; i++) a[i] = 0.0;
}
""",
        "main.c": """
void run(int n, double *a);
int width = 7;
int height;
double a[4000];
int main(void) { height = 5; run(100, a); return 0; }
""",
    }
    assert only(read(tmp_path, files, frontend)).iterations.value == 3500


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_global_that_another_file_sets_is_unknown(tmp_path: Path, frontend: str) -> None:
    files = {
        "run.c": """
int width = 7;
void run(double *a) {
#pragma omp parallel for
  for (int i = 0; i < width; i++) a[i] = 0.0;
}
""",
        "set.c": "extern int width;\nvoid set(int w) { width = w; }\n",
    }
    facts = only(read(tmp_path, files, frontend))
    assert facts.iterations.value is None
    local = {**files, "set.c": "void set(int w) { int width = w; (void)width; }\n"}
    assert only(read(tmp_path, local, frontend)).iterations.value == 7


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_two_calls_that_differ_leave_an_argument_open(tmp_path: Path, frontend: str) -> None:
    files = {
        "run.c": """
void run(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 0.0;
}
""",
        "a.c": "void run(int n, double *a);\nvoid f(double *a) { run(3, a); }\n",
        "b.c": "void run(int n, double *a);\nvoid g(double *a) { run(4, a); }\n",
    }
    assert only(read(tmp_path, files, frontend)).iterations.value is None
    same = {**files, "b.c": files["b.c"].replace("4", "3")}
    assert only(read(tmp_path, same, frontend)).iterations.value == 3


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_an_external_variable_is_one_in_all_files(tmp_path: Path, frontend: str) -> None:
    """`n` of two files in one region is one name; a `static` one of another file is another."""
    callee = "{} int n;\nvoid fill(double *row) {{ for (int j = 0; j < n; j++) row[j] = 0; }}\n"
    files = {
        "run.c": """
extern int n;
void fill(double *row);
void run(double (*a)[100]) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) fill(a[i]);
}
""",
        "fill.c": callee.format("extern"),
    }
    (one,) = {str(s.executions) for s in only(read(tmp_path, files, frontend)).statements}
    assert one == "n*n"
    apart = {**files, "fill.c": callee.format("static") + "void set(int k) { n = k; }\n"}
    (two,) = {str(s.executions) for s in only(read(tmp_path, apart, frontend)).statements}
    assert two == "n*n'"


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_the_answer_does_not_depend_on_processes(tmp_path: Path, frontend: str) -> None:
    files = {f"run{k}.c": LOOP.replace("run", f"run{k}") for k in range(5)}
    files |= {"scale.c": SCALE.replace("*= 2.0", "= half(row[j])"),
              "half.c": "double half(double x) { return 0.5 * x; }\n"}  # fmt: skip
    files["scale.c"] = "double half(double x);\n" + files["scale.c"]
    one = dump_program(read(tmp_path, files, frontend).program)
    three = dump_program(read(tmp_path, files, frontend, processes=3).program)
    assert one == three
    assert one.count("return") == 5


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_call_in_circles_over_files_ends(tmp_path: Path, frontend: str) -> None:
    files = {
        "run.c": LOOP,
        "scale.c": "void other(int m, double *r);\nvoid scale(int m, double *r) { other(m, r); }\n",
        "other.c": "void scale(int m, double *r);\nvoid other(int m, double *r) { scale(m, r); }\n",
    }
    facts = only(read(tmp_path, files, frontend))
    assert facts.status == "complete"
    assert "RP105" in ids(facts)
