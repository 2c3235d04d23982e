"""What is wrong on several threads is told only where it surely is: by hand, and by enumeration."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regionpredict.analysis import RegionFacts
from regionpredict.frontend import requests_for
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict

FRONTENDS = ("libclang", "pycparser")
each_frontend = pytest.mark.parametrize("frontend", FRONTENDS)
HEAD = """#include <omp.h>
double a[1000], b[1000], y[1000], A[100][100], g, own;
int h[100], idx[1000], n, m;
#pragma omp threadprivate(own)
static void perhaps(int i) { if (y[i] > 0) return; a[i] = a[i - 1]; }
static double perhaps_one(int i) { if (y[i] > 0) return 1; a[i] = a[i - 1]; return 2; }
static void perhaps_sum(int i) { if (y[i] > 0) return; g += a[i]; }
static double always(int i) { a[i] = a[i - 1]; return 2; }
static int first(int i) { a[i] = a[i - 1]; if (y[i] > 0) return 1; return 0; }
"""
FOR = "#pragma omp parallel for\n  "
I = "for (int i = 1; i < n; i++) "  # noqa: E741


def facts_of(folder: Path, body: str, frontend: str = "libclang", head: str = HEAD) -> RegionFacts:
    (folder / "f.c").write_text(f"{head}void f(int k, double *p, double *q) {{\n  {body}\n}}\n")
    analysis = analyse(requests_for([str(folder / "f.c")]), {}, frontend=frontend)
    return analysis.facts[-1]


def conflicts(facts: RegionFacts) -> list[str]:
    return [note.id for note in facts.diagnostics if note.id.startswith("RP22")]


WRONG = {
    "next": (FOR + I + "a[i] = a[i - 1] + b[i];", "RP221"),
    "behind": (FOR + I + "a[i] = a[i + 1] + b[i];", "RP221"),
    "two written": (FOR + I + "{ a[i] = 1; a[i + 1] = 2; }", "RP221"),
    "pointer": (FOR + I + "p[i] += p[i - 2];", "RP221"),
    "row": (FOR + I + "for (int j = 0; j < m; j++) A[i][j] = A[i - 1][j];", "RP221"),
    "linear": (FOR + I + "for (int j = 0; j < m; j++) p[i * m + j] = p[(i - 1) * m + j];", "RP221"),
    "same row": (FOR + I + "for (int j = 0; j < m; j++) y[j] += A[i][j];", "RP221"),
    "one element": (FOR + I + "y[k] += b[i];", "RP221"),
    "step": (FOR + "for (int i = 2; i < n; i += 2) a[i] = a[i - 2];", "RP221"),
    "down": (FOR + "for (int i = n; i > 0; i--) a[i] = a[i - 1];", "RP221"),
    "sum": ("double s = 0; " + FOR.replace("#", "\n#") + I + "s += a[i];", "RP222"),
    "global": (FOR + I + "g += a[i];", "RP222"),
    "temporary": ("double t;\n" + FOR + I + "{ t = a[i]; b[i] = t * t; }", "RP222"),
    "counter": ("int j;\n" + FOR + I + "for (j = 0; j < m; j++) A[i][j] = 0;", "RP222"),
    "before a return": (FOR + I + "{ if (first(i)) b[i] = 1; }", "RP221"),
    "behind a call": (FOR + I + "{ perhaps(i); a[i] = a[i - 1]; }", "RP221"),
    "of a call": (FOR + I + "b[i] = always(i);", "RP221"),
    "count": (FOR + I + "h[idx[i]]++;", "RP224"),
    "count one": (FOR + I + "h[idx[i] % 10] += 1;", "RP224"),
    "list": (FOR + I + "y[idx[i]] += b[i];", "RP225"),
    "set by a list": (FOR + I + "y[idx[i]] = b[i];", "RP225"),
    "of a part": (
        FOR + I + "for (int j = idx[i]; j < idx[i + 1]; j++) y[idx[j]] += b[j];",
        "RP225",
    ),
    "count of a part": (
        FOR + I + "for (int j = idx[i]; j < idx[i + 1]; j++) h[idx[j]]++;",
        "RP224",
    ),
    "end of a row": (
        FOR + I + "for (int j = k; j < m; j++) h[idx[i]]++;",
        "RP225",
    ),
    "scatter": (FOR + I + "for (int j = 0; j < m; j++) y[idx[j]] += A[i][j];", "RP224"),
}
RIGHT = {
    "own element": FOR + I + "a[i] = a[i] + b[i - 1];",
    "odd step": FOR + "for (int i = 2; i < n; i += 2) a[i] = a[i - 1] + a[i + 1];",
    "branch": FOR + I + "if (i % 2) a[i] = a[i - 1];",
    "continue": FOR + I + "{ if (i % 2) continue; a[i] = a[i - 1]; }",
    "returned": FOR + I + "perhaps(i);",
    "returned with a value": FOR + I + "b[i] = perhaps_one(i);",
    "call by condition": FOR + I + "if (b[i] > 0 && always(i)) b[i] = 0;",
    "returned sum": FOR + I + "perhaps_sum(i);",
    "choice": FOR + I + "a[i] = i % 2 ? a[i - 1] : a[i];",
    "break inside": FOR + I + "for (int j = 0; j < m; j++) { if (j > k) break; A[i][j] = 1; }",
    "too far": FOR + "for (int i = 0; i < 10; i++) a[i] = a[i + 10];",
    "members": FOR + I + "A[i][0] = A[i - 1][1];",
    "red and black": FOR + I + "for (int j = i % 2; j < m; j += 2) A[i][j] = A[i - 1][j];",
    "parts": FOR + I + "for (int j = idx[i]; j < idx[i + 1]; j++) y[j] += b[j];",
    "reduction": FOR.strip() + " reduction(+:g)\n  " + I + "g += a[i];",
    "array reduction": FOR.strip() + " reduction(+:y[:m])\n  " + I
    + "for (int j = 0; j < m; j++) y[j] += A[i][j];",
    "private": "double t;\n" + FOR.strip() + " private(t)\n  " + I + "{ t = a[i]; b[i] = t; }",
    "threadprivate": FOR + I + "{ own = own + a[i]; b[i] = own; }",
    "atomic": FOR + I + "{\n#pragma omp atomic\n g += a[i]; }",
    "critical": FOR + I + "{\n#pragma omp critical\n { g += a[i]; h[idx[i]]++; } }",
    "ordered": FOR.strip() + " ordered\n  " + I + "{\n#pragma omp ordered\n a[i] = a[i - 1]; }",
    "one thread": FOR.strip() + " num_threads(1)\n  " + I + "a[i] = a[i - 1];",
    "own array": FOR + I + "{ double t[9] = {0}; for (int j = 0; j < 9; j++) t[j] += a[i]; "
    "b[i] = t[3]; }",
    "flag": FOR + I + "{ if (a[i] < 0) m = 1; }",
    "same value": FOR + I + "y[0] = 1;",
    "own counts": FOR + I + "h[omp_get_thread_num() * 10 + idx[i]]++;",
    "own variables": "\n#pragma omp parallel\n{ double t; double z[10]; double *r = p + k * "
    "omp_get_thread_num();\n#pragma omp for\n" + I + "{ t = a[i]; for (int j = 0; j < 9; j++) "
    "{ z[j] += t; r[j] += z[j]; } } }",
    "orphaned": "double t;\n#pragma omp for\n" + I + "{ t = a[i]; b[i] = t * t; }",
    "pointer moved": FOR + I + "{ double *r = p + i * 10; for (int j = 1; j < 10; j++) "
    "r[j] += r[j - 1]; }",
}  # fmt: skip


@each_frontend
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(frontend: str, name: str, tmp_path: Path) -> None:
    body, rule = WRONG[name]
    assert conflicts(facts_of(tmp_path, body, frontend)) == [rule]


@each_frontend
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_or_not_known(frontend: str, name: str, tmp_path: Path) -> None:
    assert conflicts(facts_of(tmp_path, RIGHT[name], frontend)) == []


small = st.integers(-3, 3)


LAMBDA = """double a[100000];
struct Engine { unsigned state; double draw() { state = state * 69069u + 1; return state; } };
double seen;
int main() {
  double sum = 0, last = 0;
  auto chunk = [&](int c) {
    Engine engine{(unsigned)c};
    double own = 0;
    for (int i = 0; i < 1000; i++) { own += a[c * 1000 + i]; a[c * 1000 + i] = engine.draw(); }
    a[c * 1000] = own;@
  };
#pragma omp parallel for
  for (int c = 0; c < 100; c++) chunk(c);
  return sum > last;
}
"""


@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        ("", []),
        (" sum += own;", ["RP222"]),
        (" seen += own;", ["RP222"]),
        (" static int calls; calls++;", ["RP222"]),
    ],
    ids=["own variables", "of the caller", "global", "static"],
)
def test_variables_of_a_lambda(tmp_path: Path, statement: str, rules: list[str]) -> None:
    """Each call has those that are declared in it, and all have those around it."""
    (tmp_path / "f.cpp").write_text(LAMBDA.replace("@", statement))
    (facts,) = analyse(requests_for([str(tmp_path / "f.cpp")]), {}).facts
    assert conflicts(facts) == rules


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    collapse=st.booleans(), step=st.integers(1, 3),
    write=st.tuples(small, small, small), read=st.tuples(small, small, small),
    start=st.integers(0, 2),
)  # fmt: skip
def test_each_alarm_is_a_race(
    tmp_path_factory: pytest.TempPathFactory, collapse: bool, step: int,
    write: tuple[int, int, int], read: tuple[int, int, int], start: int,
) -> None:  # fmt: skip
    """a[c + ci*i + cj*j] over 8 x 6 iterations: two threads touch one element, one writing."""
    clause = " collapse(2)" if collapse else ""
    target, source = (f"a[100 + {c} + ({ci}) * i + ({cj}) * j]" for c, ci, cj in (write, read))
    body = (
        f"\n#pragma omp parallel for{clause}\n"
        f"for (int i = {start}; i < {start + 8 * step}; i += {step}) for (int j = 0; j < 6; j++) "
        f"{target} = {source} + 1;"
    )
    folder = tmp_path_factory.mktemp("race")
    told = conflicts(facts_of(folder, body))
    points = list(product(range(start, start + 8 * step, step), range(6)))
    reached: dict[int, set[object]] = {}
    for i, j in points:
        owner = (i, j) if collapse else i
        reached.setdefault(100 + write[0] + write[1] * i + write[2] * j, set()).add(owner)
    race = any(len(owners) > 1 for owners in reached.values()) or any(
        reached.get(100 + read[0] + read[1] * i + read[2] * j, set()) - {(i, j) if collapse else i}
        for i, j in points
    )
    if told:
        assert race


@each_frontend
def test_rows_by_thread_number_narrower_than_a_line(frontend: str, tmp_path: Path) -> None:
    def told(text: str, machine: str) -> list[str]:
        (tmp_path / "f.c").write_text(HEAD + f"void f(void) {{\n{FOR}{I}{{ {text} }}\n}}\n")
        analysis = analyse(requests_for([str(tmp_path / "f.c")]), {}, frontend=frontend)
        (one,) = predict(analysis, load(machine), "saturation").predictions
        return [note.message for note in one.diagnostics if note.id == "RP223"]

    single = told("int t = omp_get_thread_num(); y[t] += a[i];", "skylake-gold-6148")
    assert single == ["neighboring threads' writes at y[t] are 8 B apart, in one line of 64 B"]
    assert told("y[omp_get_thread_num() * 4 + 1] += a[i];", "skylake-gold-6148") == [
        "neighboring threads' writes at y[omp_get_thread_num() * 4 + 1] are 32 B apart, in "
        "one line of 64 B"
    ]
    assert not told("y[omp_get_thread_num() * 8] += a[i];", "skylake-gold-6148")
    # Rows of 100 doubles; and lines of 256 B on another machine.
    assert not told("A[omp_get_thread_num()][0] += a[i];", "skylake-gold-6148")
    assert told("y[omp_get_thread_num() * 8] += a[i];", "a64fx")
    # Reading takes no line away.
    assert not told("b[i] = y[omp_get_thread_num()];", "skylake-gold-6148")


MEMBERS = """struct state { double sum; int count; double *list; } whole;
struct node { struct state inner; };
"""
SET_BY_ALL = {
    "through a pointer": "s->sum += a[i];",
    "of a variable": "whole.sum += a[i];",
    "counted": "s->list[s->count++] = a[i];",
    "of a struct inside": "n->inner.sum += a[i];",
    "handed on": "{ struct state *t = s; t->sum += a[i]; }",
    "used": "{ s->count = i; a[i] = s->count; }",
}
OWN = {
    "a copy": "{ struct state t = whole; t.sum += a[i]; a[i] = t.sum; }",
    "only read": "a[i] += s->sum;",
    "only set": "s->count = m;",
    "of an element": "all[i].sum += a[i];",
    "a pointer of the iteration": "{ struct state *t = &all[i]; t->sum += a[i]; }",
    "protected": "{\n#pragma omp critical\n s->sum += a[i]; }",
    "perhaps": "if (a[i] > 0) s->sum += a[i];",
}


def members_of_all(folder: Path, statement: str, clause: str, frontend: str) -> list[str]:
    (folder / "f.c").write_text(
        f"{MEMBERS}"
        "void f(int m, double *a, struct state *s, struct node *n, struct state *all) {\n"
        f"  #pragma omp parallel for {clause}\n"
        f"  for (int i = 0; i < m; i++) {statement}\n}}\n"
    )
    return conflicts(analyse(requests_for([str(folder / "f.c")]), {}, frontend=frontend).facts[0])


@each_frontend
@pytest.mark.parametrize("statement", SET_BY_ALL.values(), ids=SET_BY_ALL)
def test_a_member_that_all_threads_set(tmp_path: Path, statement: str, frontend: str) -> None:
    assert members_of_all(tmp_path, statement, "", frontend) == ["RP222"]


@each_frontend
@pytest.mark.parametrize("statement", OWN.values(), ids=OWN)
def test_a_member_that_is_no_race_for_sure(tmp_path: Path, statement: str, frontend: str) -> None:
    assert not members_of_all(tmp_path, statement, "", frontend)


@each_frontend
@pytest.mark.parametrize("clause", ["private(whole)", "firstprivate(whole)"])
def test_a_member_of_a_struct_that_each_thread_has(
    tmp_path: Path, clause: str, frontend: str
) -> None:
    assert not members_of_all(tmp_path, "{ whole.sum = a[i]; a[i] = whole.sum; }", clause, frontend)


MEMBER_OF_A_CLASS = """struct Sum {
  double total; int n; double *a;
  void all() {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) total += a[i];
  }
  void reduced() {
    double sum = 0;
    #pragma omp parallel for reduction(+:sum)
    for (int i = 0; i < n; i++) sum += a[i];
    total = sum;
  }
};
void both(Sum &s) { s.all(); s.reduced(); }
"""


def test_a_member_of_the_object_that_all_threads_set(tmp_path: Path) -> None:
    (tmp_path / "f.cpp").write_text(MEMBER_OF_A_CLASS)
    facts = analyse(requests_for([str(tmp_path / "f.cpp")]), {}).facts
    assert [conflicts(one) for one in facts] == [["RP222"], []]
