"""How long the memory of a pointer is, by what the program asks for; each length told by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.bindings import bind_names
from regionpredict.frontend import SourceRequest, read_alone, requests_for
from regionpredict.pipeline import analyse

GATHER = """
static void gather(double *y, const double *x, const int *p, int k)
{
#pragma omp parallel for
    for (int i = 0; i < k; i++) y[i] = x[p[i]];
}
"""
HEAD = "#include <fftw3.h>\n#include <stdlib.h>\nvoid seen_nowhere(double **);\n" + GATHER
CALL = " gather(y, x, p, 10); "
# the program around the call, and the length of x; None: nobody can tell
CASES = [
    ("double *x = malloc(70 * sizeof(double));", 70),
    ("double *x = malloc(sizeof *x * 70);", 70),
    ("double *x = calloc(7, 80);", 70),
    ("double *x = NULL; x = (double *)malloc(560);", 70),
    ("int m = 10; double *x = malloc((m + 4) * 5 * sizeof(double));", 70),
    ("double *x = aligned_alloc(64, 560);", 70),
    ("double *x = fftw_malloc(35 * sizeof(fftw_complex));", 70),
    ("double *x = malloc(561);", None),
    ("double *x = malloc(560); x = malloc(80);", None),
    ("double *x = malloc(560); x = realloc(x, 80);", None),
    ("double *x = malloc(560); seen_nowhere(&x);", None),
    ("double *x = malloc(560); x++;", None),
    ("double *x = malloc(560); x += 3;", None),
    ("double *x = malloc(560), *z = x; x = z;", 70),
    ("double *x = malloc(560); x = malloc(70 * 8);", 70),
    ("double *x = malloc(560), *z = malloc(560), *t = x; x = z; z = t;", 70),
    ("double *x = malloc(560), *z = malloc(800), *t = x; x = z; z = t;", None),
    ("double *x = malloc(560), *z = y, *t = x; x = z; z = t;", None),
    ("double *x = malloc(80), *z = y, *t = x; x = z; z = t;", 10),
    ("double *x, *z; x = z; z = x;", None),
    ("double *x = y;", 10),
    ("double *x = &y[0];", 10),
    ("double *x = &y[1];", None),
    ("double z[7][5], *x = z[0];", None),
    ("double z[7][5], *x = (double *)z;", 35),
    ("double z[p[0]], *x = z;", None),
    ("static double z[12]; double *x = z;", 12),
    ("char z[160]; double *x = (double *)z;", 20),
    ("char z[161]; double *x = (double *)z;", None),
    ("struct { double in[6]; } z; double *x = z.in;", 6),
]


def _length(source: Path, frontend: str, name: str = "x[]") -> object:
    part = read_alone(SourceRequest(str(source)), frontend)
    region, definitions = part.regions[0]
    return bind_names(region, definitions, {}).values.get(name)


def _written(folder: Path, text: str, name: str = "f.c") -> Path:
    source = folder / name
    source.write_text(text)
    return source


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize(("text", "length"), CASES)
def test_of_a_callers_variable(
    tmp_path: Path, text: str, length: int | None, frontend: str
) -> None:
    main = "int main(void) { double y[10]; int p[10]; " + text + CALL + "return 0; }\n"
    assert _length(_written(tmp_path, HEAD + main), frontend) == length


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
@pytest.mark.parametrize(
    ("others", "length"),
    [
        ("", 70),
        ("void f(double *y, int *p) { double *x = malloc(560);" + CALL + "}", 70),
        ("void f(double *y, int *p) { double *x = malloc(80);" + CALL + "}", None),
        ("void f(double *y, int *p, double *x) {" + CALL + "}", None),
    ],
)
def test_all_callers_have_to_agree(
    tmp_path: Path, others: str, length: int | None, frontend: str
) -> None:
    main = "int main(void) { double y[10], *x = malloc(560); int p[10];" + CALL + "return 0; }\n"
    assert _length(_written(tmp_path, f"{HEAD}{others}\n{main}"), frontend) == length


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_through_functions_that_allocate_hand_on_and_free(tmp_path: Path, frontend: str) -> None:
    text = (
        HEAD + "static double *vector(int n) { double *v = malloc(n * sizeof *v); if (!v) exit(1);"
        " return v; }\nstatic void drop(double **v) { free(*v); *v = NULL; }\n"
        "static void run(double *x, double *y, int *p, int n) { (void)n;" + CALL + "}\n"
        "int main(void) { double y[10], *x = vector(7 * 10); int p[10]; run(x, y, p, 70);"
        " drop(&x); return 0; }\n"
    )
    assert _length(_written(tmp_path, text), frontend) == 70


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_of_a_global_and_of_a_member(tmp_path: Path, frontend: str) -> None:
    text = """#include <stdlib.h>
struct grid { double *u; int n; };
double *x;
static void make(struct grid *g, int n) { x = malloc(560); g->u = malloc(n * 4 * sizeof(double)); }
static void run(struct grid *g, const int *p)
{
#pragma omp parallel for
    for (int i = 0; i < 10; i++) g->u[p[i]] = x[p[i]];
}
int main(void) { struct grid g; int p[10]; make(&g, 20); run(&g, p); return 0; }
"""
    source = _written(tmp_path, text)
    assert _length(source, frontend) == 70
    assert _length(source, frontend, "g->u[]") == 80


SWAPPING = """#include <stdlib.h>
struct grid { int n; double *u, *v; };
void step(struct grid *g, const int *p)
{
    for (int s = 0; s < 10; s++) {
#pragma omp parallel for
        for (int i = 0; i < g->n; i++) g->v[i] = g->u[p[i]];
        double *t = g->u; g->u = g->v; g->v = t;
    }
}
"""
MADE = """int main(void)
{
    struct grid g;
    int p[70];
    g.n = 70;
    g.u = malloc(560);
    g.v = malloc(%d);
    step(&g, p);
    return 0;
}
"""


@pytest.mark.parametrize("frontend", ["libclang", "pycparser"])
def test_two_members_that_change_places(tmp_path: Path, frontend: str) -> None:
    """They go round in a circle, and what is put into it from outside counts."""
    alone = _written(tmp_path, SWAPPING, "part.c")
    assert _length(alone, frontend, "g->u[]") is None
    whole = _written(tmp_path, SWAPPING + MADE % 560, "whole.c")
    assert _length(whole, frontend, "g->u[]") == 70
    unlike = _written(tmp_path, SWAPPING + MADE % 80, "unlike.c")
    assert _length(unlike, frontend, "g->u[]") is None


def test_of_a_member_that_two_places_allocate(tmp_path: Path) -> None:
    text = """#include <stdlib.h>
struct grid { double *u; };
static void make(struct grid *g) { g->u = malloc(560); }
static void more(struct grid *g) { g->u = malloc(80); }
static void run(struct grid *g, const int *p)
{
#pragma omp parallel for
    for (int i = 0; i < 10; i++) g->u[p[i]] = 1;
}
int main(void) { struct grid g; int p[10]; make(&g); more(&g); run(&g, p); return 0; }
"""
    assert _length(_written(tmp_path, text), "libclang", "g->u[]") is None


def test_in_cplusplus(tmp_path: Path) -> None:
    text = """#include <cstdlib>
template <typename T> T *allocate(std::size_t n) { return static_cast<T *>(malloc(sizeof(T) * n)); }
static void run(double *y, float *x, int *p)
{
#pragma omp parallel for
    for (int i = 0; i < 10; i++) y[p[i]] = x[p[i]];
}
int main() { float *x = allocate<float>(70); double *y = new double[8 * 10]; int p[10];
    run(y, x, p); delete[] y; return 0; }
"""
    source = _written(tmp_path, text, "f.cpp")
    assert _length(source, "libclang") == 70
    assert _length(source, "libclang", "y[]") == 80


OBJECTS = """\
struct plain {{ double x, y; }};
struct grid {{ double x; grid(double a) : x(a) {{}} }};
void f(int n, int m, double *a) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{
    {code}
  }}
}}
"""


@pytest.mark.parametrize(
    ("code", "length"),
    [
        ("double *w = new double[100]; w[3] = i; a[i] = w[3]; delete[] w;", 100),
        ("double *w = new double[2 * m]; w[3] = i; a[i] = w[3]; delete[] w;", 8),
        ("plain *w = new plain[5]; w[3].x = i; a[i] = w[3].x; delete[] w;", 5),
        ("double *w = new double; *w = i; a[i] = *w; delete w;", 1),
        ("grid *p = new grid(2.0); a[i] = p->x; delete p;", None),
        ("plain *p = new plain(); p->x = i; a[i] = p->x; delete p;", None),
    ],
)
def test_new_in_a_region_is_the_thread_s_own(tmp_path: Path, code: str, length: int | None) -> None:
    source = tmp_path / "case.cpp"
    source.write_text(OBJECTS.format(code=code), encoding="utf-8")
    sizes = {"n": 9, "m": 4} if "2 * m" in code else {"n": 9}
    (facts,) = analyse(requests_for([str(source)]), sizes, frontend="libclang").facts
    assert facts.status == "complete", facts.diagnostics
    assert not [note for note in facts.diagnostics if note.id == "RP222"]
    arrays = {array.name: array for array in facts.region.arrays}
    if length is not None:
        assert arrays["w"].storage == "private"
        assert [facts.bindings.whole(extent) for extent in arrays["w"].dims] == [length]
