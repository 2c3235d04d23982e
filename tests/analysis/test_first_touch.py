"""Who writes an array first, by small programs whose answer is plain; through both front ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.history.first_touch import (
    INTERLEAVED,
    UNSEEN,
    ArrayPlacement,
    Placement,
    first_touched,
    in_domain,
    placements_of_regions,
)
from regionpredict.analysis.history.first_writes import simulate_first_writes
from regionpredict.frontend import read, requests_for
from regionpredict.ir import Program

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
void kernel(int n, double *x, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] += y[i];
}
"""
PARALLEL = """
void spread(int n, double *v) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) v[i] = 0;
}
"""
SERIAL = """
void fill(int n, double *v) {
  for (int i = 0; i < n; i++)
    v[i] = i;
}
"""

pytestmark = pytest.mark.parametrize("frontend", ["libclang", "pycparser"])


def placed(tmp_path: Path, frontend: str, *texts: str) -> dict[str, Placement]:
    """The placement of every region, by the function it stands in."""
    paths = []
    for number, text in enumerate(texts):
        path = tmp_path / f"part{number}.c"
        path.write_text("#include <stdlib.h>\n#include <string.h>\n" + text)
        paths.append(str(path))
    program = read(requests_for(paths), frontend, flows=True)
    return by_function(program)


def by_function(program: Program) -> dict[str, Placement]:
    found = placements_of_regions(program, simulate_first_writes(program.flows))
    return dict(zip((r.function for r in program.regions), found, strict=True))


def kinds(placement: Placement) -> dict[str, str]:
    return {one.array: one.kind + ("?" if one.assumed else "") for one in placement.arrays}


def array(placement: Placement, name: str) -> ArrayPlacement:
    return next(one for one in placement.arrays if one.array == name)


def test_by_position_not_by_name(tmp_path: Path, frontend: str) -> None:
    # main's x is the kernel's y: names cross, positions do not.
    found = placed(tmp_path, frontend, KERNEL, PARALLEL + SERIAL + """
void kernel(int n, double *x, double *y);
int main(void) {
  int n = 1000;
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
  fill(n, x);
  spread(n, y);
  kernel(n, y, x);
}
""")  # fmt: skip
    kernel = found["kernel"]
    assert kinds(kernel) == {"x": "parallel", "y": "serial"}
    assert kernel.kind == "mixed"
    assert kernel.is_serial("y")
    assert not kernel.is_serial("x")
    # Line 10 of part1: two includes, 5 lines of spread, the empty line, fill, its loop.
    assert "part1.c:10 in fill()" in array(kernel, "y").reason
    assert "main() calls fill() at part1.c:18" in array(kernel, "y").reason


def test_globals_and_the_order_of_writes(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, """
double a[1000], b[1000], c[1000];
void late(void) { for (int i = 0; i < 1000; i++) { a[i] = 1; b[i] = 1; } }
void first(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) a[i] = 0;
}
void kernel(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) c[i] = a[i] + b[i];
}
int main(void) { first(); late(); kernel(); }
""")  # fmt: skip
    assert kinds(found["first"]) == {"a": "parallel"}
    assert kinds(found["kernel"]) == {"a": "parallel", "b": "serial", "c": "parallel"}
    assert array(found["kernel"], "c").reason == "first written here"


def test_members_of_structs(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, """
struct grid { int n; double *u, *v; };
void make(struct grid *g, int n) {
  g->n = n;
  g->u = malloc(n * sizeof(double));
  g->v = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) g->u[i] = 0;
}
void step(struct grid *s) {
#pragma omp parallel for
  for (int i = 0; i < s->n; i++) s->v[i] = s->u[i];
}
int main(void) { struct grid g; make(&g, 1000); step(&g); }
""")  # fmt: skip
    assert kinds(found["step"]) == {"s->u": "serial", "s->v": "parallel"}


def test_elements_of_an_array_of_structs_lie_together(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, """
struct cell { double p, q; };
int main(void) {
  struct cell *c = malloc(1000 * sizeof *c);
  for (int i = 0; i < 1000; i++) c[i].p = 0;
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) c[i].q = 1;
}
""")  # fmt: skip
    assert kinds(found["main"]) == {"c": "serial"}


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("memset(a, 0, n * 8);", "serial"),
        ("memcpy(a, b, n * 8);", "serial"),
        ("", "parallel"),  # the region writes it itself
        ("a[0] = 1; a[n - 1] = 1;", "parallel"),  # two pages are not the array
        ("for (int t = 0; t < 3; t++) a[0] = t;", "parallel"),
        ("double *p = a + 1; for (int i = 0; i < n - 1; i++) p[i] = 0;", "serial"),
        ("double *p = a; while (p < a + n) *p++ = 0;", "serial"),
        ("for (int i = 0; i < n; i++) b[i] = a[i];", "parallel"),  # reads place nothing
        ("if (n > 3) for (int i = 0; i < n; i++) a[i] = 0;", "serial?"),
        ("fill(n, a);", "serial"),
        ("for (int i = 0; i < n; i++) set(a, i);", "serial"),
        ("unseen(a);", "parallel?"),
        ("unseen(b);", "parallel"),
        ("printf(\"%p\", (void *)a);", "parallel"),
        ("#pragma omp parallel for num_threads(1)\nfor (int i = 0; i < n; i++) a[i] = 0;",
         "serial"),
        ("#pragma omp parallel\n{\n#pragma omp single\nfill(n, a);\n}", "serial"),
        ("#pragma omp parallel\n{\n#pragma omp for\nfor (int i = 0; i < n; i++) a[i] = 0;\n}",
         "parallel"),
        ("#pragma omp parallel\norphan(n, a);", "parallel"),
        ("orphan(n, a);", "serial"),  # a worksharing loop that one thread runs
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) set(a, i);", "parallel"),
        ("a = realloc(a, 2 * n * 8); fill(n, a); a = realloc(a, 3 * n * 8);", "serial"),
        ("fill(n, a); free(a); a = malloc(n * 8);", "parallel"),  # new pages
        ("fill(n, a); double *t = a; a = b; b = t;", "parallel"),
        ("fill(n, b); double *t = a; a = b; b = t;", "serial"),
        # what library functions fill, by the position of its address
        ("fread(a, 8, n, stdin);", "serial"),
        ("fread(b, 8, n, stdin);", "parallel"),
        ("read(0, a, n * 8);", "serial"),
        ("pread(0, a, n * 8, 0);", "serial"),
        ("bzero(a, n * 8);", "serial"),
        ("memmove(a, b, n * 8);", "serial"),
        ("memmove(b, a, n * 8);", "parallel"),
        ("a = memset(b, 0, n * 8);", "serial"),  # gives back what it fills
        ("fill(n, a); posix_memalign((void **)&a, 64, n * 8);", "parallel"),
        ("a = realloc(b, 2 * n * 8); fill(n, b);", "serial"),  # the same memory
        ("strlen((char *)a); free(b);", "parallel"),
        ("a = same(b); fill(n, b);", "serial"),  # what a function gives back
        ("a = pick(b, a); fill(n, b);", "serial"),  # of two returns the first
        ("a = pick(a, b); fill(n, b);", "parallel"),
        ("a = got();", "parallel?"),  # memory that somebody else may have written
        ("fetch(&b, a);", "parallel?"),
        ("unseen(a); fill(n, a);", "serial?"),
        ("if (n > 3) fill(n, a);", "serial?"),
        ("if (n > 3) n++; fill(n, a);", "serial"),
        ("hand(n, b, a);", "serial"),
        ("hand(n, a, b);", "parallel"),
        # teams: all threads write all of it, one of them does, or any
        ("#pragma omp parallel\nfor (int i = 0; i < n; i++) a[i] = 0;", "parallel?"),
        ("#pragma omp parallel\n{\n#pragma omp master\nfill(n, a);\n}", "serial"),
        ("#pragma omp parallel\n{\n#pragma omp task\nfill(n, a);\n}", "parallel"),
        ("#pragma omp task\nfill(n, a);", "serial"),  # no team around it
        ("#pragma omp target\nfor (int i = 0; i < n; i++) a[i] = 0;", "parallel?"),
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = 0;\nfill(n, a);",
         "parallel"),
        ("fill(n, a);\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = 0;",
         "serial"),
    ],
)  # fmt: skip
def test_what_happens_before(tmp_path: Path, frontend: str, before: str, kind: str) -> None:
    text = (
        SERIAL
        + f"""
#include <stdio.h>
void unseen(double *);
double *got(void);
void fetch(double **, double *);
long read(int, void *, unsigned long);
long pread(int, void *, unsigned long, long);
void bzero(void *, unsigned long);
void hand(int n, double *first, double *second) {{ fill(n, second); }}
void set(double *v, int i) {{ v[i] = i; }}
double *same(double *v) {{ return v; }}
double *pick(double *v, double *w) {{ if (v) return v; return w; }}
void orphan(int n, double *v) {{
#pragma omp for
  for (int i = 0; i < n; i++) v[i] = 0;
}}
void kernel(int n, double *a) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 2;
}}
int main(void) {{
  int n = 1000;
  double *a = malloc(n * 8), *b = malloc(n * 8);
  {before}
  kernel(n, a);
}}
"""
    )
    assert kinds(placed(tmp_path, frontend, text)["kernel"]) == {"a": kind}


def test_calloc_places_nothing(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, KERNEL + """
int main(void) {
  double *x = calloc(1000, 8), *y = calloc(1000, 8);
  for (int i = 0; i < 1000; i++) y[i] = 1;
  kernel(1000, x, y);
}
""")  # fmt: skip
    assert kinds(found["kernel"]) == {"x": "parallel", "y": "serial"}


def test_memory_from_an_own_allocator(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, KERNEL + SERIAL + """
static void *get(size_t bytes) { void *p = malloc(bytes); if (!p) exit(1); return p; }
int main(void) {
  double *x = get(8000);
  double *y = (double *)get(8000);
  fill(1000, x);
  kernel(1000, x, y);
}
""")  # fmt: skip
    assert kinds(found["kernel"]) == {"x": "serial", "y": "parallel?"}


def test_rows_behind_pointers(tmp_path: Path, frontend: str) -> None:
    # Setting the table of rows does not write the rows.
    found = placed(tmp_path, frontend, """
double **table(int n) {
  double **t = malloc(n * sizeof *t);
  for (int i = 0; i < n; i++) t[i] = malloc(n * sizeof **t);
  return t;
}
int main(void) {
  int n = 100;
  double **a = table(n), **b = table(n);
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i][j] = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = b[i][j];
}
""")  # fmt: skip
    assert kinds(found["main"]) == {"a": "parallel", "b": "serial"}


def test_two_programs_in_one_reading(tmp_path: Path, frontend: str) -> None:
    # Each main begins with memory that nobody has touched, and calls its own init().
    one = "static double g[1000]; static void init(void) "
    body = """
int main(void) {
  init();
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) g[i] *= 2;
}
"""
    serial = one + "{ for (int i = 0; i < 1000; i++) g[i] = 1; }" + body
    spread = one + "{\n#pragma omp parallel for\nfor (int i = 0; i < 1000; i++) g[i] = 1; }" + body
    paths = []
    for name, text in (("a.c", serial), ("b.c", spread)):
        (tmp_path / name).write_text(text)
        paths.append(str(tmp_path / name))
    program = read(requests_for(paths), frontend, flows=True)
    found = zip(
        program.regions,
        placements_of_regions(program, simulate_first_writes(program.flows)),
        strict=True,
    )
    assert [p.kind for r, p in found if r.function == "main"] == ["serial", "parallel"]


def test_a_region_that_is_called_with_both(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, KERNEL + SERIAL + PARALLEL + """
int main(void) {
  double *x = malloc(8000), *y = malloc(8000), *z = malloc(8000);
  spread(1000, x); spread(1000, y); fill(1000, z);
  kernel(1000, x, y);
  kernel(1000, z, y);
}
""")  # fmt: skip
    assert kinds(found["kernel"]) == {"x": "serial?", "y": "parallel"}
    assert "in 1 of 2 runs of the region" in array(found["kernel"], "x").reason


def test_without_main_nothing_is_sure(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, """
void f(int n, double *a, double *b) {
  for (int i = 0; i < n; i++) a[i] = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += b[i];
}
""")  # fmt: skip
    assert kinds(found["f"]) == {"a": "serial?", "b": "parallel?"}


def test_without_main_a_function_knows_what_is_its_own(tmp_path: Path, frontend: str) -> None:
    """A global may have been written before; an array of the function's own cannot."""
    found = placed(tmp_path, frontend, """
double g[1000];
void f(void) {
  double own[1000];
  for (int i = 0; i < 1000; i++) { g[i] = 0; own[i] = 0; }
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) g[i] += own[i];
}
""")  # fmt: skip
    assert kinds(found["f"]) == {"g": "serial?", "own": "serial"}


def test_recursion_ends(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, """
double a[1000];
void down(int n) { if (n) { down(n - 1); down(n - 2); } for (int i = 0; i < n; i++) a[i] = 0; }
int main(void) {
  down(30);
#pragma omp parallel for
  for (int i = 0; i < 1000; i++) a[i] += 1;
}
""")  # fmt: skip
    assert kinds(found["main"]) == {"a": "serial"}


def test_the_samples(tmp_path: Path, frontend: str) -> None:
    samples = ROOT / "polybench_samples"
    for path, kind in (
        ("by_cause/serial_first_touch/serial_first_touch.c", "serial"),
        ("by_cause/stream_triad/stream_triad.c", "parallel"),
        ("linear_algebra/gemm/gemm.c", "parallel"),
    ):
        program = read(requests_for([str(samples / path)]), frontend, flows=True)
        found = by_function(program)
        kernel = next(place for name, place in found.items() if name.startswith("kernel"))
        assert kernel.kind == kind
        assert kernel.assumed == (kind == "serial")  # its control is spread


def test_twins_follow_alike(tmp_path: Path, frontend: str) -> None:
    for path in sorted((ROOT / "polybench_samples").glob("*/*/*.c"))[::4]:
        found = read(requests_for([str(path)]), frontend, flows=True).flows
        other = read(requests_for([str(path)]), "libclang", flows=True).flows
        assert found == other


def test_what_is_assumed_by_kind(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, """
void unseen(double *);
void f(int n, double *a, double *b, double *c, double *d) {
  for (int i = 0; i < n; i++) { a[i] = 0; c[i] = 0; }
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += b[i] + c[i] + d[i];
}
""")["f"]  # fmt: skip
    assert found.assumed
    assert found.assumption_lines == (
        "pages of b, d placed by a parallel first touch",
        "pages of a, c placed by a serial first touch",
    )
    # one part for the arrays that have all in common; two includes, an empty line,
    # a prototype and the head stand above the loop
    first, second = found.reason.split("; ")
    assert (
        first == "a, c: serial, first written by a loop of one thread at part0.c:6 in f() (assumed)"
    )
    assert second == "b, d: parallel, no first write is visible (assumed)"


def test_nothing_is_assumed_of_what_is_seen(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, KERNEL + SERIAL + """
int main(void) {
  double *x = malloc(8000), *y = malloc(8000);
  fill(1000, x); fill(1000, y);
  kernel(1000, x, y);
}
""")["kernel"]  # fmt: skip
    assert (found.kind, found.assumed, found.assumption_lines) == ("serial", False, ())
    assert not found.is_serial("z")  # no array of the region
    assert "assumed" not in found.reason


def test_placements_without_arrays(frontend: str) -> None:
    """As a caller gives them, for all arrays at once; and where no reading of a region was seen."""
    for kind in ("serial", "parallel"):
        given = Placement(kind, "as given", False)
        assert (given.is_serial("any"), given.assumption_lines) == (kind == "serial", ())
        assumed = Placement(kind, "as nobody knows", True)
        assert assumed.assumption_lines == (f"pages placed by a {kind} first touch",)
        assert (first_touched(kind).is_serial("any"), first_touched(kind).assumption_lines) == (
            kind == "serial", (),
        )  # fmt: skip
    assert (INTERLEAVED.is_serial("any"), INTERLEAVED.assumption_lines) == (False, ())
    chosen = in_domain(3)
    assert (chosen.is_serial("any"), chosen.assumption_lines, chosen.domain) == (True, (), 3)
    assert UNSEEN.assumption_lines == ("pages placed by a parallel first touch",)


def test_a_region_without_shared_arrays(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, """
int main(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) { double own[3]; own[0] = i; sum += own[0]; }
  return sum > 0;
}
""")["main"]  # fmt: skip
    assert (found.kind, found.arrays, found.assumed) == ("parallel", (), True)


def test_runs_that_disagree(tmp_path: Path, frontend: str) -> None:
    """Three runs: y by one thread, by all, and by nobody before the region, which only reads it."""
    text = (
        KERNEL
        + SERIAL
        + PARALLEL
        + """
int main(void) {
  double *x = malloc(8000), *y = malloc(8000), *z = malloc(8000), *u = malloc(8000);
  spread(1000, x); CALLS
}
"""
    )
    for calls, kind, runs in (
        ("fill(1000, y); kernel(1000, x, y); fill(1000, z); kernel(1000, x, z);", "serial", ""),
        ("spread(1000, y); kernel(1000, x, y); kernel(1000, x, u);", "parallel?", ""),
        ("spread(1000, z); kernel(1000, x, z); fill(1000, y); kernel(1000, x, y);"
         " kernel(1000, x, u);", "serial?", "in 1 of 3 runs of the region"),
    ):  # fmt: skip
        found = placed(tmp_path, frontend, text.replace("CALLS", calls))["kernel"]
        assert kinds(found)["y"] == kind, calls
        reason = array(found, "y").reason
        assert reason.endswith(runs) and ("runs of" in reason) == bool(runs)


GRID = """
struct grid { int n; double *u, *v; };
"""


def test_structs_by_value(tmp_path: Path, frontend: str) -> None:
    """One is given back by its value, copied, and handed on by its value; two change places."""
    found = placed(tmp_path, frontend, GRID + SERIAL + """
struct grid made(int n) {
  struct grid g;
  g.n = n;
  g.u = malloc(n * sizeof *g.u);
  g.v = malloc(n * sizeof *g.v);
  fill(n, g.u);
  return g;
}
void kernel(struct grid h) {
#pragma omp parallel for
  for (int i = 0; i < h.n; i++) h.v[i] = h.u[i];
}
void swapped(struct grid h) {
#pragma omp parallel for
  for (int i = 0; i < h.n; i++) h.u[i] += 1;
}
int main(void) {
  struct grid g = made(1000), other, kept;
  other = g;
  kernel(other);
  kept = g;
  g.u = g.v;  /* what is left in the copy is not changed */
  swapped(kept);
}
""")  # fmt: skip
    assert kinds(found["kernel"]) == {"h.u": "serial", "h.v": "parallel"}
    assert kinds(found["swapped"]) == {"h.u": "serial"}


def test_the_result_of_a_call_is_copied_on(tmp_path: Path, frontend: str) -> None:
    found = placed(tmp_path, frontend, GRID + SERIAL + """
struct grid made(int n);
struct grid same(struct grid g) { return g; }
void kernel(struct grid *h) {
#pragma omp parallel for
  for (int i = 0; i < h->n; i++) h->u[i] += 1;
}
int main(void) {
  struct { struct grid inside; } outer;
  outer.inside = same(made(1000));
  kernel(&outer.inside);
}
struct grid made(int n) {
  struct grid g = { n, malloc(n * 8), malloc(n * 8) };
  g.u = malloc(n * 8);
  fill(n, g.u);
  return g;
}
""")  # fmt: skip
    assert kinds(found["kernel"]) == {"h->u": "serial"}


def test_a_loop_that_threads_share_by_their_numbers(tmp_path: Path, frontend: str) -> None:
    """In a function of another file, too, it is a parallel first touch; else a serial one."""
    head = "#include <omp.h>\n"
    share = """
void share(int t, int p, int n, double *v) {
  for (int i = t * n / p; i < (t + 1) * n / p; i++)
    v[i] = 0;
}
"""
    main = (
        KERNEL
        + """
void share(int t, int p, int n, double *v);
static double a[9000], b[9000];
int main(void) {
#pragma omp parallel
  {
    int t = omp_get_thread_num(), p = omp_get_num_threads();
    share(t, p, 9000, a);
    if (t == 0)
      for (int i = 0; i < 9000; i++)
        b[i] = 1;
  }
  kernel(9000, a, b);
  return 0;
}
"""
    )
    told = placed(tmp_path, frontend, head + main, head + share)
    assert kinds(told["kernel"])["x"] == "parallel"
    assert set(told) == {"kernel", "share"}
