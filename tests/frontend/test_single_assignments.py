"""Members, elements and globals that one place of the whole program sets, over several files."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from tests.frontend.reading import FRONTENDS
from tests.frontend.test_whole_programs import read

HEADER = """
struct grid { int nx, ny; };
struct dom { int n; struct grid g; int dims[2]; double *u; };
void init(struct dom *d, int n);
void other(struct dom *d);
void step(struct dom *d);
"""
STEP = """#include "dom.h"
void step(struct dom *dom) {
#pragma omp parallel for
  for (int i = 0; i < {size}; i++) dom->u[i] = 0.0;
}
"""
INIT = """#include "dom.h"
void init(struct dom *d, int n) {{ {body} }}
"""
MAIN = """#include "dom.h"
#include <stdio.h>
int main(int argc, char **argv) {{ struct dom d; {body} step(&d); return 0; }}
"""


def facts_of(folder: Path, frontend: str, size: str, init: str, main: str) -> RegionFacts:
    files = {
        "dom.h": HEADER,
        "step.c": STEP.replace("{size}", size),
        "init.c": INIT.format(body=init),
        "main.c": MAIN.format(body=main),
    }
    (facts,) = read(folder, files, frontend).facts
    return facts


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("size", "init", "main", "trips"),
    [
        pytest.param("dom->n", "d->n = 70;", "init(&d, 0);", 70, id="a constant"),
        pytest.param("dom->n", "d->n = n;", "init(&d, 40);", 40, id="a parameter"),
        pytest.param("dom->n", "d->n = 2 * n + 1;", "init(&d, 4 * 10);", 81, id="a sum"),
        pytest.param("dom->g.ny", "d->g.nx = n; d->g.ny = 3 * d->g.nx;", "init(&d, 5);", 15,
                     id="of another member of a struct inside"),
        pytest.param("dom->n", "struct grid *g = &d->g; g->nx = n; d->n = g->nx;", "init(&d, 6);",
                     6, id="through a pointer to the struct inside"),
        pytest.param("dom->dims[1]", "d->dims[0] = n; d->dims[1] = n + 2;", "init(&d, 7);", 9,
                     id="an element"),
        pytest.param("dom->n", "", "int m = 4; d.n = m;", 4, id="a local variable"),
        pytest.param("dom->n", "d->n = n;", "init(&d, 8); init(&d, 8);", 8, id="twice the same"),
        pytest.param("dom->g.nx", "d->n = n;", "d.g = (struct grid){.nx = 3, .ny = 4};", 3,
                     id="a list that is assigned"),
    ],
)  # fmt: skip
def test_what_one_place_sets_is_known_in_other_files(
    tmp_path: Path, frontend: str, size: str, init: str, main: str, trips: int | None
) -> None:
    assert facts_of(tmp_path, frontend, size, init, main).iterations.value == trips


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("init", "main"),
    [
        pytest.param("d->n = n;", "d.n = 5; init(&d, 5);", id="two places"),
        pytest.param("d->n = n;", "init(&d, 5); d.n++;", id="moved"),
        pytest.param("d->n = n;", "init(&d, 5); d.n *= 2;", id="multiplied"),
        pytest.param("d->n = n;", "init(&d, 5); scanf(\"%d\", &d.n);", id="its address taken"),
        pytest.param("d->n = n;", "init(&d, 5); other(&d);", id="handed to what is not seen"),
        pytest.param("d->n = n;", "init(&d, 5); init(&d, 6);", id="two values"),
        pytest.param("d->n = n;", "for (int k = 1; k < 9; k++) init(&d, k);", id="many values"),
        pytest.param("if (n > 3) d->n = 4;", "init(&d, argc);", id="under a condition"),
        pytest.param("for (; n < 50; n *= 3) { int k = n; d->n = k; }", "init(&d, argc);",
                     id="in a loop"),
        pytest.param("int k; for (int i = 0; i < n; i++) { k = 2 * i; d->n = k; } other(0); n = k;",
                     "init(&d, 9);", id="of what a loop changes"),
        pytest.param("*(int *)d = 4; d->n = n;", "init(&d, 5);", id="the struct as a number"),
        pytest.param("d->n = n;", "init(&d, 5); struct dom e = {9}; step(&e);", id="a list, too"),
    ],
)  # fmt: skip
def test_what_more_may_set_stays_unknown(
    tmp_path: Path, frontend: str, init: str, main: str
) -> None:
    facts = facts_of(tmp_path, frontend, "dom->n", init, main)
    assert facts.iterations.value is None
    # All that sets it comes before the loop: the name is that of main's own. Not where there are
    # two objects, or where it may be set under another type.
    apart = "step(&e)" in main or "*(int *)d" in init
    known_as = "dom->n" if apart else "d.n"
    assert facts.bindings.unbound(facts.free_names) == [known_as]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("size", "init", "main", "unknown"),
    [
        pytest.param("dom->n", "n = n / 2; d->n = n;", "init(&d, argc);", ["dom.n"],
                     id="of what changed"),
        pytest.param("dom->n", "d->n = 2.5 * n;", "init(&d, argc);", ["dom.n"], id="of a real"),
        pytest.param("dom->g.nx * dom->n", "d->g.nx = 2.5 * n; d->n = d->g.nx + 1;",
                     "init(&d, argc);", ["grid.nx"], id="another is made of it"),
        pytest.param("dom->dims[1]", "d->dims[1] = 2.5 * n;", "init(&d, argc);", ["dom.dims[1]"],
                     id="an element"),
        pytest.param("dom->n", "d->n = 2.5 * n;", "init(&d, argc); struct dom e; init(&e, argc);",
                     ["d.n"], id="two objects"),
        pytest.param("dom->n", "d->n = 2.5 * n;", "while (argc-- > 0) init(&d, argc);", ["d.n"],
                     id="in a loop"),
        pytest.param("dom->n", "d->n = 2.5 * n;",
                     "void (*make)(struct dom *, int) = init; make(&d, 3); init(&d, 4);",
                     ["dom->n"], id="called through a pointer, too"),
    ],
)  # fmt: skip
def test_a_member_that_is_set_but_once_is_one_unknown(
    tmp_path: Path, frontend: str, size: str, init: str, main: str, unknown: list[str]
) -> None:
    facts = facts_of(tmp_path, frontend, size, init, main)
    assert facts.iterations.value is None
    assert facts.bindings.unbound(facts.free_names) == unknown


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("length", "main", "trips"),
    [
        pytest.param("static int length = 5;", "init(&d, 0);", 5, id="nobody sets it"),
        pytest.param("static int length = 5; void longer(int n) { length = n; }",
                     "longer(argc); init(&d, 0);", None, id="another function sets it"),
    ],
)  # fmt: skip
def test_a_static_variable_is_asked_for_in_its_own_file(
    tmp_path: Path, frontend: str, length: str, main: str, trips: int | None
) -> None:
    files = {
        "dom.h": f"{HEADER}void longer(int n);",
        "step.c": STEP.replace("{size}", "dom->n"),
        "init.c": f'#include "dom.h"\n{length}\nvoid init(struct dom *d, int n)'
        " { d->n = length; }",
        "main.c": MAIN.format(body=main),
    }
    (facts,) = read(tmp_path, files, frontend).facts
    assert facts.iterations.value == trips


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_static_function_of_another_file_is_called_from_there(
    tmp_path: Path, frontend: str
) -> None:
    files = {
        "dom.h": HEADER,
        "step.c": STEP.replace("{size}", "dom->n"),
        "init.c": INIT.format(body="d->n = 3 * n;"),
        "main.c": '#include "dom.h"\nstatic void begin(struct dom *d, int n) { init(d, n + 1); }\n'
        "int main(void) { struct dom d; begin(&d, 6); step(&d); return 0; }",
    }
    (facts,) = read(tmp_path, files, frontend).facts
    assert facts.iterations.value == 21


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_member_of_an_unknown_is_that_unknown(tmp_path: Path, frontend: str) -> None:
    main = 'int cells = 10; if (argc > 1) sscanf(argv[1], "%d", &cells); init(&d, cells);'
    facts = facts_of(tmp_path, frontend, "dom->g.nx * dom->n", "d->n = n; d->g.nx = n * n;", main)
    assert facts.bindings.unbound(facts.free_names) == ["cells"]
    assert facts.bindings.with_derived({"cells": 3})["dom->n"] == 3
    assert facts.bindings.with_derived({"cells": 3})["dom->g.nx"] == 9


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("declared", "setup", "size", "trips"),
    [
        pytest.param("int grid[3];", "grid[0] = 64; grid[1] = 8;", "grid[0] + grid[1]", 72,
                     id="elements"),
        pytest.param("int grid[3] = {7, 8, 9};", "", "grid[2]", 9, id="elements of a list"),
        pytest.param("int grid[3] = {7, 8, 9};", "grid[2] = 4;", "grid[2]", None, id="and set"),
        pytest.param("int grid[3];", "for (int i = 0; i < 3; i++) grid[i] = 5; grid[0] = 4;",
                     "grid[0]", None, id="by a subscript that moves"),
        pytest.param("int grid[3]; void more(int *);", "grid[0] = 64; more(grid);", "grid[0]", None,
                     id="handed on"),
        pytest.param("struct c { int n, m; }; struct c c = {5, 6};", "", "c.m", 6,
                     id="a member of a list"),
        pytest.param("struct c { int n, m; }; struct c c = {.m = 6}, e = {1, 2};", "", "c.m", None,
                     id="of two lists"),
        pytest.param("int grid[2]; static int cells;", "grid[0] = 4; cells = 3 * grid[0];", "cells",
                     12, id="a global made of an element"),
    ],
)  # fmt: skip
def test_globals_with_several_sizes(
    tmp_path: Path, frontend: str, declared: str, setup: str, size: str, trips: int | None
) -> None:
    text = f"""
{declared}
double a[1000];
void run(void) {{
#pragma omp parallel for
  for (int i = 0; i < {size}; i++) a[i] = 0.0;
}}
void setup(void) {{ {setup} }}
"""
    main = "void setup(void); void run(void);\nint main(void) { setup(); run(); return 0; }\n"
    (facts,) = read(tmp_path, {"run.c": text, "main.c": main}, frontend).facts
    assert facts.iterations.value == trips


DOMAIN = """
#include <vector>
class Domain {
public:
  Domain(int nx, int regions);
  int &numElem() { return m_numElem; }
  int numNode() const { return m_numNode; }
  int sizeX() const { return m_sizeX; }
  double &x(int i) { return m_x[i]; }
  int symm(int i) { return m_symm[i]; }
private:
  int m_sizeX, m_regions, m_numElem, m_numNode;
  std::vector<double> m_x;
  std::vector<int> m_symm;
};
"""
CONSTRUCTOR = """#include "domain.h"
Domain::Domain(int nx, int regions) : m_sizeX(nx), m_regions(regions) {
  int edge = nx + 1;
  m_numElem = nx * nx * nx;
  m_numNode = edge * edge * edge;
  m_x.resize(m_numNode);
  m_symm.resize(edge * edge);
}
"""
LOOPS = """#include "domain.h"
void nodes(Domain &domain) {
  int numNode = domain.numNode();
#pragma omp parallel for
  for (int i = 0; i < numNode; i++) domain.x(i) = 0.0;
}
void boundary(Domain &domain) {
  int size = domain.sizeX();
  int numNodeBC = (size + 1) * (size + 1);
#pragma omp parallel for
  for (int i = 0; i < numNodeBC; i++) domain.x(domain.symm(i)) = 0.0;
}
void elements(Domain &domain, int numElem) {
#pragma omp parallel for
  for (int i = 0; i < numElem; i++) domain.x(i) += 1.0;
}
"""
DOMAIN_MAIN = """#include "domain.h"
#include <cstdlib>
void nodes(Domain &); void boundary(Domain &); void elements(Domain &, int);
struct options { int nx, regions; };
void parse(int argc, char **argv, options *o) { if (argc > 1) o->nx = std::atoi(argv[1]); }
int main(int argc, char **argv) {
  options opts;
  opts.nx = 30; opts.regions = 11;
  parse(argc, argv, &opts);
  MADE
  nodes(*d); boundary(*d); elements(*d, d->numElem());
}
"""


def domain(folder: Path, made: str) -> list[RegionFacts]:
    files = {
        "domain.h": DOMAIN, "domain.cc": CONSTRUCTOR, "loops.cc": LOOPS,
        "main.cc": DOMAIN_MAIN.replace("MADE", made),
    }  # fmt: skip
    return list(read(folder, files, "libclang").facts)


def test_a_constructor_sets_the_members_of_the_one_object(tmp_path: Path) -> None:
    known = domain(tmp_path, "Domain *d = new Domain(9, opts.regions);")
    assert [facts.iterations.value for facts in known] == [1000, 100, 729]


def test_the_size_of_a_domain_is_one_unknown(tmp_path: Path) -> None:
    """Nodes, the boundary and elements are powers of `opts.nx`, which two places set."""
    known = domain(tmp_path, "Domain *d = new Domain(opts.nx, opts.regions);")
    assert [facts.bindings.unbound(facts.free_names) for facts in known] == 3 * [["opts.nx"]]
    bounds = ["domain.m_numNode", "numNodeBC", "domain.m_numElem"]
    given = [
        facts.bindings.with_derived({"opts.nx": 4})[name]
        for facts, name in zip(known, bounds, strict=True)
    ]
    assert given == [125, 25, 64]


def test_two_objects_of_two_sizes_are_not_one(tmp_path: Path) -> None:
    known = domain(tmp_path, "Domain *d = new Domain(9, 1); Domain *e = new Domain(8, 1);")
    assert [facts.iterations.value for facts in known] == [None, None, None]
