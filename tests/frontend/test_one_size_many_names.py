"""One size under several names, over several files: it is asked for once, by the name that it has
where it begins, and what may be two sizes is asked for as two.

The members are set at several places, as those of options are: by a default, and by what the
command line says. They have one value for all that is behind these places.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.given_sizes import functions_owning
from tests.frontend.reading import FRONTENDS
from tests.frontend.test_whole_programs import read

HEADER = """
#include <stdio.h>
#include <stdlib.h>
typedef struct { int n, m; } Options;
typedef struct { int nx, ny; } Grid;
typedef struct { int n, edge; Grid *grid; double *u; } Level;
typedef struct { int size; double *data; } Vector;
void parse(Options *o, int argc, char **argv);
Options parsed(int argc, char **argv);
Level *make_level(Grid *grid);
Vector *make_vector(int size);
void smooth(Level *l);
void scale(Vector *v, double by);
void copy(double *u, int n);
void by_value(Options o, double *u);
void fill(const Options *o, double *u);
void register_option(const char *name, int *where);
"""
PARSE = """#include "app.h"
void parse(Options *o, int argc, char **argv) {
  o->n = 100; o->m = 5;
  for (int i = 1; i < argc; i++) o->n = atoi(argv[i]);
}
Options parsed(int argc, char **argv) {
  Options o = {.m = 5};
  o.n = 64;
  if (argc > 1) o.n = atoi(argv[1]);
  return o;
}
"""
LEVEL = """#include "app.h"
Level *make_level(Grid *grid) {
  Level *l = malloc(sizeof *l);
  l->grid = grid;
  l->edge = grid->nx;
  l->n = grid->nx * grid->ny;
  return l;
}
Vector *make_vector(int size) {
  Vector *v = malloc(sizeof *v);
  v->size = size;
  return v;
}
"""
LOOPS = """#include "app.h"
void smooth(Level *l) {
#pragma omp parallel for
  for (int i = 0; i < l->n; i++) l->u[i] *= 0.5;
}
void scale(Vector *v, double by) {
  int size = v->size;
#pragma omp parallel for
  for (int i = 0; i < size; i++) v->data[i] *= by;
}
void copy(double *u, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) u[i] = 0.0;
}
void by_value(Options o, double *u) {
#pragma omp parallel for
  for (int i = 0; i < o.n; i++) u[i] = 1.0;
}
void fill(const Options *opt, double *u) {
#pragma omp parallel for
  for (int i = 0; i < opt->n; i++) u[i] = 2.0;
}
"""


def asked_of(
    folder: Path, frontend: str, body: str, *, before: str = "", calls: frozenset[str]
) -> set[str]:
    """The names that the loops of the functions called ask for, each as at home."""
    files = {
        "app.h": HEADER,
        "parse.c": PARSE,
        "level.c": LEVEL,
        "loops.c": LOOPS,
        "main.c": '#include "app.h"\ndouble *u;\n'
        f"{before}\nint main(int argc, char **argv) {{ {body} return 0; }}\n",
    }
    asked: set[str] = set()
    for facts in read(folder, files, frontend).facts:
        region = facts.region
        if region.function not in calls:
            continue
        assert facts.iterations.value is None
        for name in facts.bindings.unbound(facts.free_names):
            home, own = next(functions_owning(region, name), (region.function, name))
            asked.add(f"{home}:{own}")
    return asked


OPTIONS = "Options o; parse(&o, argc, argv);"
GRID = "Grid g; g.nx = o.n; g.ny = o.n; Level *l = make_level(&g);"


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("body", "calls", "names"),
    [
        pytest.param(f"{OPTIONS} {GRID} smooth(l);", ("smooth",), {"main:o.n"},
                     id="a member made of others"),
        pytest.param(f"{OPTIONS} {GRID} smooth(l); fill(&o, u); copy(u, o.n);",
                     ("smooth", "fill", "copy"), {"main:o.n"},
                     id="through a pointer, and as a number"),
        pytest.param(f"{OPTIONS} by_value(o, u); fill(&o, u);", ("by_value", "fill"), {"main:o.n"},
                     id="a struct by value"),
        pytest.param("Options o = parsed(argc, argv); by_value(o, u); copy(u, o.n);",
                     ("by_value", "copy"), {"main:o.n"}, id="a struct given back"),
        pytest.param(f"{OPTIONS} Options c = o; by_value(c, u); fill(&o, u);",
                     ("by_value", "fill"), {"main:o.n"}, id="a copy"),
        pytest.param(f"{OPTIONS} Vector *v = make_vector(o.n), *w = make_vector(o.n);"
                     " scale(v, 2.0); scale(w, 3.0); fill(&o, u);", ("scale", "fill"), {"main:o.n"},
                     id="two objects of one size"),
        pytest.param(f"{OPTIONS} {GRID} int n = l->n; Vector *v = make_vector(l->n),"
                     " *w = make_vector(n); scale(v, 2.0); scale(w, 3.0); smooth(l);",
                     ("scale", "smooth"), {"main:o.n"}, id="two objects, each by another word"),
        pytest.param(f"{OPTIONS} {GRID} int n = l->n; copy(u, l->n); copy(u, n); smooth(l);",
                     ("copy", "smooth"), {"main:o.n"}, id="calls that say it by two words"),
        pytest.param("Options o; o.n = 8; if (argc > 1) o.n = atoi(argv[1]);"
                     " if (o.n < 1) exit(1); fill(&o, u); by_value(o, u);",
                     ("fill", "by_value"), {"main:o.n"}, id="set in main itself"),
        pytest.param('Options o; scanf("%d", &o.n); fill(&o, u); by_value(o, u);',
                     ("fill", "by_value"), {"main:o.n"}, id="read into"),
        pytest.param(f"{OPTIONS} o.n *= 2; for (int t = 0; t < o.m; t++) fill(&o, u);"
                     " by_value(o, u);", ("fill", "by_value"), {"main:o.n"},
                     id="doubled, and used in a loop"),
    ],
)  # fmt: skip
def test_it_is_asked_for_once(
    tmp_path: Path, frontend: str, body: str, calls: tuple[str, ...], names: set[str]
) -> None:
    assert asked_of(tmp_path, frontend, body, calls=frozenset(calls)) == names


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_one_function_does_in_turn_is_followed(tmp_path: Path, frontend: str) -> None:
    before = f"static void run(int argc, char **argv) {{ {OPTIONS} fill(&o, u); by_value(o, u); }}"
    calls = frozenset(("fill", "by_value"))
    asked = asked_of(tmp_path, frontend, "run(argc, argv);", before=before, calls=calls)
    assert asked == {"run:o.n"}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("body", "before", "calls"),
    [
        pytest.param(f"{OPTIONS} fill(&o, u); o.n /= 2; by_value(o, u);", "", ("fill", "by_value"),
                     id="changed in between"),
        pytest.param(f"{OPTIONS} for (int t = 0; t < 9; t++) {{ fill(&o, u); by_value(o, u);"
                     " o.n++; }", "", ("fill", "by_value"), id="changed in their loop"),
        pytest.param(f"{OPTIONS} Options c = o; o.n = atoi(argv[2]); by_value(c, u); fill(&o, u);",
                     "", ("fill", "by_value"), id="a copy made before"),
        pytest.param(f"{OPTIONS} Options c = o; c.n = atoi(argv[2]); by_value(c, u); fill(&o, u);",
                     "", ("fill", "by_value"), id="a copy that changes"),
        pytest.param("Options o, c; parse(&o, argc, argv); fill(&o, u); parse(&c, argc, argv);"
                     " o = c; by_value(o, u);", "", ("fill", "by_value"),
                     id="assigned as a whole in between"),
        pytest.param("Options o, c; parse(&o, argc, argv); parse(&c, argc, argv); fill(&o, u);"
                     " by_value(c, u);", "", ("fill", "by_value"), id="two objects"),
        pytest.param(f"{OPTIONS} fill(&o, u); fread(&o, sizeof o, 1, stdin); by_value(o, u);", "",
                     ("fill", "by_value"), id="read as a whole in between"),
        pytest.param('Options o; register_option("n", &o.n); fill(&o, u); by_value(o, u);',
                     "static int *kept; void register_option(const char *name, int *where)"
                     " { kept = where; } void later(void) { *kept = 7; }",
                     ("fill", "by_value"), id="its address kept"),
        pytest.param(f"{OPTIONS} void (*again)(Options *, int, char **) = parse;"
                     " fill(&o, u); again(&o, argc, argv); by_value(o, u);", "",
                     ("fill", "by_value"), id="set again through a pointer"),
        pytest.param(f"{OPTIONS} change(&o, u); by_value(o, u);",
                     "static void change(Options *p, double *u) { fill(p, u); p->n = 3 * p->m; }",
                     ("fill", "by_value"), id="set behind the loop in the same function"),
        pytest.param(f"{OPTIONS} Vector *v = make_vector(o.n), *w = make_vector(o.n + 1);"
                     " scale(v, 2.0); scale(w, 3.0); fill(&o, u);", "", ("scale", "fill"),
                     id="two objects of two sizes"),
        pytest.param("Options o; parse(&o, argc, argv); Vector *v = make_vector(o.n);"
                     " o.n = atoi(argv[2]); Vector *w = make_vector(o.n);"
                     " scale(v, 2.0); scale(w, 3.0); fill(&o, u);", "", ("scale", "fill"),
                     id="two objects, the size changed in between"),
        pytest.param(f"{OPTIONS} copy(u, o.n); goto on; back: o.n = 3; on: fill(&o, u);"
                     " if (argc > 7) { argc = 0; goto back; }", "", ("copy", "fill"),
                     id="a jump back"),
    ],
)  # fmt: skip
def test_what_may_be_two_sizes_is_asked_for_as_two(
    tmp_path: Path, frontend: str, body: str, before: str, calls: tuple[str, ...]
) -> None:
    assert len(asked_of(tmp_path, frontend, body, before=before, calls=frozenset(calls))) == 2


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_two_values_of_one_member_of_main_do_not_get_its_name(
    tmp_path: Path, frontend: str
) -> None:
    """`copy` is called before the second one is read, and `fill` behind it."""
    body = 'Options o; scanf("%d", &o.n); copy(u, o.n); scanf("%d", &o.n); fill(&o, u);'
    asked = asked_of(tmp_path, frontend, body, calls=frozenset(("copy", "fill")))
    assert asked == {"main:o.n", "fill:opt->n"}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_struct_given_by_value_that_its_function_changes_is_its_own(
    tmp_path: Path, frontend: str
) -> None:
    before = (
        'static void less(Options o, double *u) {\n  o.n = o.n / 2 + atoi(getenv("N"));\n'
        "#pragma omp parallel for\n  for (int i = 0; i < o.n; i++) u[i] = 3.0;\n}"
    )
    body = f"{OPTIONS} less(o, u); fill(&o, u);"
    asked = asked_of(tmp_path, frontend, body, before=before, calls=frozenset(("less", "fill")))
    assert len(asked) == 2
