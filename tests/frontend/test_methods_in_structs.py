"""Functions that a program puts into the first member of its structs, and calls with that struct:
`op->apply(op, x)` means what the program puts there, though it is handed the struct itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis import RegionFacts
from tests.frontend.reading import FRONTENDS
from tests.frontend.test_whole_programs import ids, read

HEADER = """
#include <stdlib.h>
struct op { double (*apply)(const struct op *, double); double scale; int n; };
struct lap { struct op base; double shift; };
struct lap *lap_new(int n);
double unseen(const struct op *, double);
void run(struct op *op, double *x, int n);
"""
LAP = """#include "op.h"
static double apply_lap(const struct op *o, double x) {
  const struct lap *l = (const struct lap *)o;
  return x * l->base.scale + l->shift;
}
struct lap *lap_new(int n) {
  struct lap *l = malloc(sizeof *l);
  l->base.apply = apply_lap; l->base.scale = 2.0; l->base.n = n; l->shift = 1.0;
  return l;
}
"""
RUN = """#include "op.h"
void run(struct op *op, double *x, int n) {
#pragma omp parallel for
  for (int i = 0; i < op->n; i++) x[i] = op->apply(op, x[i]);
}
"""
MAIN = '#include "op.h"\ndouble x[1000];\nint main(void) {{ {body} return 0; }}\n'


def facts_of(folder: Path, frontend: str, body: str, **other: str) -> RegionFacts:
    files = {"op.h": HEADER, "lap.c": LAP, "run.c": RUN, "main.c": MAIN.format(body=body)}
    files |= {f"{name}.c": f'#include "op.h"\n{text}\n' for name, text in other.items()}
    (facts,) = read(folder, files, frontend).facts
    return facts


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("struct lap *l = lap_new(500); run(&l->base, x, 1000);", id="its member"),
        pytest.param("struct lap *l = lap_new(500); run((struct op *)l, x, 1000);", id="a cast"),
    ],
)
def test_it_is_the_function_that_the_program_puts_there(
    tmp_path: Path, frontend: str, body: str
) -> None:
    """A product and a sum an iteration; and what the call is handed keeps the size that one place
    sets."""
    facts = facts_of(tmp_path, frontend, body)
    assert facts.status == "complete"
    assert facts.iterations.value == 500
    assert not ids(facts) & {"RP103", "RP113"}
    kinds = [made.kind for told in facts.statements for made, _ in told.statement.operations]
    assert sorted(kinds) == ["fp_add", "fp_mul"]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("body", "other"),
    [
        pytest.param("struct lap *l = lap_new(500); l->base.apply = unseen;"
                     " run(&l->base, x, 1000);", {}, id="one without a body"),
        pytest.param("struct lap *l = lap_new(500); run(&l->base, x, 1000);",
                     {"more": "void set(struct op *o, double (*f)(const struct op *, double))"
                      " { o->apply = f; }"}, id="one that a caller gives"),
        pytest.param("struct lap *l = lap_new(500); fill(l); run(&l->base, x, 1000);",
                     {"more": "int fill(void *);"}, id="handed as a struct to what is not seen"),
    ],
)  # fmt: skip
def test_where_another_may_stand_there_it_may_set_the_struct(
    tmp_path: Path, frontend: str, body: str, other: dict[str, str]
) -> None:
    facts = facts_of(tmp_path, frontend, body, **other)
    assert facts.iterations.value is None


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_one_that_hands_it_on_to_another_that_is_not_seen_loses_both(
    tmp_path: Path, frontend: str
) -> None:
    """`op->apply` is the program's, but calls `hook->call`, which anybody may have set."""
    more = """
struct hook { double (*call)(const struct op *, struct hook *); };
extern struct hook *hook;
double unseen_hook(const struct op *, struct hook *);
double use(const struct op *o) { return hook->call(o, hook); }
void put(struct hook *h) { h->call = unseen_hook; }
"""
    body = "struct lap *l = lap_new(500); run(&l->base, x, 1000);"
    facts = facts_of(tmp_path, frontend, body, more=more)
    assert facts.iterations.value is None


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_in_a_part_of_a_program_others_may_set_it(tmp_path: Path, frontend: str) -> None:
    files = {"op.h": HEADER, "lap.c": LAP, "run.c": RUN}
    (facts,) = read(tmp_path, files, frontend).facts
    assert facts.iterations.value is None
    assert "RP123" in ids(facts)


OPS = """
#include <stdlib.h>
struct op;
struct ops { void (*apply)(struct op *, double *, int); };
struct op { const struct ops *ops; void (*solve)(struct op *, double *, int); };
struct op *op_new(void);
void step(struct op *op, double *x, int n);
void other(void (*f)(struct op *, double *, int));
"""
METHODS = """#include "ops.h"
static void apply_lap(struct op *o, double *x, int n) {
  (void)o;
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] *= 2.0;
}
static void solve_lap(struct op *o, double *x, int n) {
  (void)o;
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] += 1.0;
}
static const struct ops lap_ops = {apply_lap};
struct op *op_new(void) {
  struct op *o = malloc(sizeof *o);
  o->ops = &lap_ops; o->solve = solve_lap;
  return o;
}
"""
STEP = """#include "ops.h"
void step(struct op *op, double *x, int n) {
  for (int k = 0; k < 50; k++) { op->ops->apply(op, x, n); op->solve(op, x, n / 2); }
}
"""
STEPS = (
    '#include "ops.h"\ndouble x[1000];\nint main(void) {{ struct op *o = op_new(); {} return 0; }}'
)


def trips_of(folder: Path, frontend: str, body: str, more: str = "") -> dict[str, int | None]:
    files = {
        "ops.h": OPS, "methods.c": METHODS + more, "step.c": STEP, "main.c": STEPS.format(body)
    }  # fmt: skip
    return {
        facts.region.function: None if (value := facts.iterations.value) is None else int(value)
        for facts in read(folder, files, frontend).facts
    }


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_what_all_calls_through_the_member_hand_over_is_known_in_it(
    tmp_path: Path, frontend: str
) -> None:
    known = trips_of(tmp_path, frontend, "step(o, x, 1000);")
    assert known == {"apply_lap": 1000, "solve_lap": 500}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("body", "more"),
    [
        pytest.param("step(o, x, 1000); o->solve(o, x, 7); o->ops->apply(o, x, 7);", "",
                     id="another number"),
        pytest.param("step(o, x, 1000); void (*f)(struct op *, double *, int) = o->solve;"
                     " f(o, x, 7); f = o->ops->apply; f(o, x, 7);", "", id="read from there"),
        pytest.param("step(o, x, 1000);", "void give(void) { other(solve_lap); other(apply_lap); }",
                     id="handed to what is not seen"),
        pytest.param("step(o, x, 1000);", "void direct(struct op *o, double *x, int m) {"
                     " solve_lap(o, x, m); apply_lap(o, x, m); }", id="called by itself, too"),
        pytest.param("step(o, x, 1000);",
                     "static void (*const kept[])(struct op *, double *, int) ="
                     " {solve_lap, apply_lap};\n"
                     "void use(struct op *o, double *x) { kept[0](o, x, 7); kept[1](o, x, 7); }",
                     id="called through a table, too"),
    ],
)  # fmt: skip
def test_where_other_calls_may_hand_over_others_it_is_open(
    tmp_path: Path, frontend: str, body: str, more: str
) -> None:
    known = trips_of(tmp_path, frontend, body, more)
    assert known == {"apply_lap": None, "solve_lap": None}
