"""Members of a configuration whose values stand in a list, `Config cfg = {.nx = 64}`, and that a
loop reads through a pointer: the list's values where nothing else in the program sets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from tests.frontend.reading import FRONTENDS
from tests.frontend.test_whole_programs import read

HEADER = """
#include <stdio.h>
#include <stdlib.h>
typedef struct { int n, m; } Box;
typedef struct { int nx, ny, steps; double dt; int grid[2], dims[3]; Box box; } Config;
typedef struct { Box low, high; } Pair;
extern double u[1000];
void run(Config *c);
void other(Config *c);
"""
RUN = """#include "config.h"
double u[1000];
void run(Config *c) {
  for (int t = 0; t < c->steps; t++) {
#pragma omp parallel for
    for (int i = 0; i < {size}; i++) u[i] += 1.0;
  }
}
"""
MAIN = """#include "config.h"
{before}
int main(int argc, char **argv) {{ {body} return 0; }}
"""
LIST = "Config cfg = {.nx = 64, .ny = 32, .steps = 10};"


def facts_of(
    folder: Path, frontend: str, body: str, *, before: str = "", size: str = "c->nx", more: str = ""
) -> RegionFacts:
    files = {
        "config.h": HEADER,
        "run.c": RUN.replace("{size}", size),
        "main.c": MAIN.format(before=before, body=body),
    }
    if more:
        files["more.c"] = f'#include "config.h"\n{more}\n'
    (facts,) = read(folder, files, frontend).facts
    return facts


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("before", "body"),
    [
        pytest.param("", f"{LIST} run(&cfg);", id="by names"),
        pytest.param("", "Config cfg = {64, 32, 10}; run(&cfg);", id="by positions"),
        pytest.param("", f"static {LIST} run(&cfg);", id="of a static in a function"),
        pytest.param("", "static Config cfg = {64, 32, 10, 0.5}; run(&cfg);",
                     id="of such a static by positions"),
        pytest.param("static Config cfg = {.nx = 64, .steps = 10, .dt = 0.5};", "run(&cfg);",
                     id="of a global with a number that is not an integer"),
        pytest.param("", "Config cfg; cfg = (Config){.nx = 64, .steps = 10}; run(&cfg);",
                     id="assigned"),
        pytest.param("", "Config *cfg = malloc(sizeof *cfg); *cfg = (Config){64, 32, 10};"
                     " run(cfg);", id="assigned through a pointer"),
        pytest.param("static void set(Config *c) { *c = (Config){.nx = 64, .steps = 10}; }",
                     "Config cfg; set(&cfg); run(&cfg);", id="assigned in a function"),
        pytest.param("static Config defaults(void) { return (Config){.nx = 64, .steps = 10}; }",
                     "Config cfg = defaults(); run(&cfg);", id="given back"),
        pytest.param("static Config defaults(void) { Config c = {64, 32, 10}; return c; }",
                     "Config cfg = defaults(); run(&cfg);", id="given back as a variable"),
        pytest.param("static void parse(Config *c, char **argv) { c->ny = atoi(argv[1]); }",
                     f"{LIST} parse(&cfg, argv); run(&cfg);", id="another member is read"),
        pytest.param("", f'{LIST} sscanf(argv[1], "%lf", &cfg.dt); run(&cfg);',
                     id="the address of another member is taken"),
    ],
)  # fmt: skip
def test_what_only_a_list_sets_is_its_value(
    tmp_path: Path, frontend: str, before: str, body: str
) -> None:
    assert facts_of(tmp_path, frontend, body, before=before).iterations.value == 64


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("before", "body", "more"),
    [
        pytest.param("static void parse(Config *c, char **v) { if (v[1]) c->nx = atoi(v[1]); }",
                     f"{LIST} parse(&cfg, argv); run(&cfg);", "", id="read from the command line"),
        pytest.param("static void parse(Config *c, char **v) { *c = (Config){.nx = 64, .ny = 3};"
                     " if (v[1]) c->nx = atoi(v[1]); }",
                     "Config cfg; parse(&cfg, argv); run(&cfg);", "",
                     id="assigned, and read from the command line"),
        pytest.param("", f"{LIST} other(&cfg); run(&cfg);",
                     "void other(Config *c) { c->nx = 7; }", id="set in another file"),
        pytest.param("", f"{LIST} other(&cfg); run(&cfg);", "", id="handed to what is not seen"),
        pytest.param("", f'{LIST} sscanf(argv[1], "%d", &cfg.nx); run(&cfg);', "",
                     id="its address taken"),
        pytest.param("", f"{LIST} fread(&cfg, sizeof cfg, 1, stdin); run(&cfg);", "",
                     id="read as a whole"),
        pytest.param("", f"{LIST} run(&cfg); Config b = {{.nx = 8, .steps = 10}}; run(&b);", "",
                     id="two objects"),
        pytest.param("", f"{LIST} run(&cfg); Config b = {{.steps = 10}}; run(&b);", "",
                     id="another object has none"),
        pytest.param("", f"{LIST} {{ Config cfg = {{8, 8, 10}}; run(&cfg); }}", "",
                     id="a local that shadows it"),
        pytest.param("", f"{LIST} run(&cfg); cfg = (Config){{.nx = 8, .steps = 10}}; run(&cfg);",
                     "", id="assigned anew"),
        pytest.param("", "Config cfg; if (argc > 1) cfg = (Config){64, 32, 10}; run(&cfg);", "",
                     id="under a condition"),
        pytest.param("static void use(void) { static Config s = {8, 8, 10}; run(&s); }",
                     f"{LIST} use(); run(&cfg);", "", id="a static of another function"),
        pytest.param("", "Config *p = malloc(2 * sizeof *p); p[0] = (Config){64, 32, 10};"
                     " p[1] = (Config){8, 8, 10}; run(p);", "", id="elements"),
    ],
)  # fmt: skip
def test_what_more_than_a_list_sets_is_open_by_its_name(
    tmp_path: Path, frontend: str, before: str, body: str, more: str
) -> None:
    facts = facts_of(tmp_path, frontend, body, before=before, more=more)
    assert facts.iterations.value is None
    names = facts.bindings.unbound(facts.free_names)
    assert [name for name in names if name in ("c->nx", "cfg.nx", "p->nx")]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("before", "body", "trips"),
    [
        pytest.param("", "Config cfg = {.nx = 64, .steps = 10}; run(&cfg);", 64, id="left out"),
        pytest.param("", "Config cfg = {.nx = 64, .ny = 0}; run(&cfg);", 64, id="zero"),
        pytest.param("", "Config cfg = {.nx = 64}; cfg.ny = 4; run(&cfg);", 60, id="set later"),
        pytest.param("", 'Config cfg = {.nx = 64}; scanf("%d", &cfg.ny); run(&cfg);', None,
                     id="its address taken"),
        pytest.param("", "Config cfg = {.nx = 64}; other(&cfg); run(&cfg);", None,
                     id="handed to what is not seen"),
        pytest.param("Config cfg = {.nx = 64};", "run(&cfg);", None,
                     id="of a global, which files that are not read may set"),
    ],
)  # fmt: skip
def test_what_a_list_leaves_out_is_zero(
    tmp_path: Path, frontend: str, before: str, body: str, trips: int | None
) -> None:
    facts = facts_of(tmp_path, frontend, body, before=before, size="c->nx - c->ny")
    assert facts.iterations.value == trips


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_struct_in_a_list_of_a_global_is_set_there_too(tmp_path: Path, frontend: str) -> None:
    text = """
struct part { int n; };
struct whole { struct part p; int steps; };
struct whole first = {.p = {.n = 64}, .steps = 10};
double u[1000];
void run(struct whole *w) {
#pragma omp parallel for
  for (int i = 0; i < w->p.n; i++) u[i] = 0.0;
}
int main(void) { struct whole b; b.p.n = 4; run(&first); run(&b); return 0; }
"""
    (facts,) = read(tmp_path, {"run.c": text}, frontend).facts
    assert facts.iterations.value is None


NESTED = "{.grid = {64, 32}, .dims = {4, 5}, .box = {7, 8}, .steps = 9}"


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("before", "body"),
    [
        pytest.param("", f"Config c = {NESTED}; run(&c);", id="a variable"),
        pytest.param(f"static Config c = {NESTED};", "run(&c);", id="a global"),
        pytest.param("", f"static Config c = {NESTED}; run(&c);", id="a static of a function"),
        pytest.param("", f"run(&(Config){NESTED});", id="made in the call"),
        pytest.param("", f"Config *p = &(Config){NESTED}; run(p);", id="made beside a pointer"),
        pytest.param("", f"Config c; c = (Config){NESTED}; run(&c);", id="assigned"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("size", "trips"),
    [
        ("c->grid[0]", 64), ("c->grid[1] * c->dims[0]", 128), ("c->dims[1] - c->dims[0]", 1),
        ("c->box.n", 7), ("c->box.m + c->grid[0]", 72),
    ],
)  # fmt: skip
def test_what_a_list_in_a_list_sets_is_its_value(
    tmp_path: Path, frontend: str, before: str, body: str, size: str, trips: int
) -> None:
    facts = facts_of(tmp_path, frontend, body, before=before, size=size)
    assert facts.iterations.value == trips


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("body", "size", "trips"),
    [
        pytest.param("Config c = {.grid = {64}, .box = {.m = 3}}; run(&c);",
                     "64 + c->grid[1] + c->box.n", 64, id="left out of them: zero"),
        pytest.param("int k = 6; run(&(Config){.box = {k, 2}});", "c->box.n", 6, id="a variable"),
        pytest.param("int k = 6; run(&(Config){.grid = {2, k}});", "c->grid[1]", 6,
                     id="a variable as an element"),
        pytest.param("Config c = {.grid = {[1] = 5}}; run(&c);", "c->grid[1]", 5,
                     id="an element by its number"),
        pytest.param("Config c = {.grid = {64, 2}}; c.grid[0] = 3; run(&c);", "c->grid[0]", None,
                     id="an element that is set again"),
        pytest.param("Config c = {.grid = {64, 2}}; c.box.n = 3; run(&c);", "c->box.n", 3,
                     id="a member of a member that is set later"),
        pytest.param("Config c = {.box = {64, 2}}; c.box.n = 3; run(&c);", "c->box.n", None,
                     id="a member of a member that is set again"),
        pytest.param("Config c = {.grid = {64, 2}}; run(&c); Config d = {.grid = {8, 2}}; run(&d);",
                     "c->grid[0]", None, id="two objects"),
        pytest.param("Config c = {.box = {64, 2}}; run(&c); Config d = {.steps = 2}; run(&d);",
                     "c->box.n", None, id="another object has none"),
        pytest.param("Config c = {.box = {64, 2}}; Box b = {3, 4}; c.box = b; run(&c);",
                     "c->box.n", None, id="another struct of the kind"),
        pytest.param("Pair p = {.low = {64, 2}}; Box low = p.low; Config c = {.box = p.high};"
                     " c.ny = low.m; run(&c);", "c->box.n", None, id="two in one list"),
        pytest.param("run(&(Config){.nx = 64, .steps = 2}); run(&(Config){.nx = 8});", "c->nx",
                     None, id="two that are made in calls"),
        pytest.param("run(&(Config){.nx = 64, .steps = 2}); run(&(Config){.steps = 2});", "c->nx",
                     None, id="another one made in a call has none"),
        pytest.param("if (argc > 1) run(&(Config){.nx = 64, .steps = 2});", "c->nx", None,
                     id="made under a condition"),
        pytest.param('Config c = {.grid = {64, 2}}; scanf("%d", c.grid); run(&c);', "c->grid[0]",
                     None, id="an array that is handed on"),
    ],
)  # fmt: skip
def test_what_else_sets_what_a_list_in_a_list_sets(
    tmp_path: Path, frontend: str, body: str, size: str, trips: int | None
) -> None:
    assert facts_of(tmp_path, frontend, body, size=size).iterations.value == trips
