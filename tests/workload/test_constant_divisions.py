"""What runs of divisions by constants: by hand from the published algorithms, and by gcc."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from nest_texts import facts_of_text, workload_in

from regionpredict.analysis import RegionFacts
from regionpredict.ir import Operation, Span, Statement
from regionpredict.workload import statement_table
from regionpredict.workload.constant_divisions import executed_operations, executed_path

DECLARED = "int n, double s, int m, double *a, int *c"


def run_of(*kinds: str, reassociates: bool = False) -> dict[str, int]:
    """What runs of one operation of each of these kinds."""
    operations = tuple((Operation(kind, 32), 1) for kind in kinds)
    statement = Statement("", Span("", 1), operations, ())
    made = executed_operations(statement, reassociates=reassociates)
    return {operation.kind: number for operation, number in made}


# By hand: for integers figures 4.2 (unsigned) and 5.2 (signed) of Granlund and Montgomery; a
# remainder is what the quotient times the divisor leaves, or, of a power of two, its lowest bits.
RUN = [
    ("fp_div", "fp_div"),
    ("fp_div:/2.0", "fp_mul"),
    ("fp_div:/-0.125", "fp_mul"),
    ("fp_div:/1.0", "fp_mul"),
    ("fp_div:/3.0", "fp_div"),  # its reciprocal would be rounded, and the product again
    ("fp_div:/0.1", "fp_div"),
    ("fp_div:/6.0", "fp_div"),
    ("fp_div:/8.507059173023462e+37", "fp_mul"),  # 2^126
    ("fp_div:/1.7014118346046923e+38", "fp_div"),  # 2^127, whose reciprocal is no normal float
    ("fp_div:/1.1754943508222875e-38", "fp_mul"),  # 2^-126
    ("fp_div:/5.877471754111438e-39", "fp_div"),
    ("fp_div:folded", ""),
    ("int_div", "int_div"),
    ("int_div:/7", "int_mul int_logic int_add"),
    ("int_div:/-7", "int_mul int_logic int_add"),
    ("int_div:/7u", "int_mul int_logic"),
    ("int_div:%7", "int_mul int_logic int_add int_mul int_add"),
    ("int_div:%7u", "int_mul int_logic int_mul int_add"),
    ("int_div:/8u", "int_logic"),
    ("int_div:%8u", "int_logic"),
    ("int_div:/8", "int_logic int_logic int_add int_logic"),
    ("int_div:/-8", "int_logic int_logic int_add int_logic"),
    ("int_div:/2", "int_logic int_add int_logic"),
    ("int_div:%8", "int_logic int_logic int_add int_logic int_add"),
    ("int_div:/1", ""),
    ("int_div:%1u", ""),
    ("int_div:folded", ""),
    ("call:div", "call:div"),
]
SIGN_BESIDE = ("int_div:/7", "int_div:/-7", "int_div:%7")


@pytest.mark.parametrize(("kind", "run"), RUN)
def test_what_runs_in_place_of_a_division(kind: str, run: str) -> None:
    assert executed_path((kind,), reassociates=False) == tuple(run.split())
    expected = {one: run.split().count(one) for one in run.split()}
    if kind in SIGN_BESIDE:  # one more shift tells the sign, which the quotient does not wait for
        expected["int_logic"] += 1
    assert run_of(kind) == expected


def test_operations_that_are_the_same_are_added_up() -> None:
    assert run_of("fp_add", "fp_mul", "fp_div:/2.0", "fp_div:/3.0", "fp_div") == {
        "fp_add": 1, "fp_mul": 2, "fp_div": 2,
    }  # fmt: skip
    several = ("fp_add", "fp_div:/2.0", "load", "int_div:%4u")
    assert executed_path(several, reassociates=False) == ("fp_add", "fp_mul", "load", "int_logic")


def test_a_compiler_that_may_round_otherwise_multiplies_by_any_reciprocal() -> None:
    assert run_of("fp_div:/3.0", reassociates=True) == {"fp_mul": 1}
    assert executed_path(("fp_div:/3.0", "fp_div"), reassociates=True) == ("fp_mul", "fp_div")


def _bodies(inner: str) -> dict[str, float]:
    text = f"for (int i = 0; i < 100; i++) for (int j = 0; j < n; j++) {{ {inner} }}"
    made = workload_in(text, DECLARED, n=50)
    assert made.execution is not None
    (body,) = made.execution.work.bodies
    assert dict(body.on_all_sides) == dict(body.operations)
    (step,) = body.steps
    assert dict(step.operations) == dict(body.operations)
    return dict(body.operations)


def test_bodies_count_what_runs() -> None:
    assert _bodies("a[j] = (a[j] + s) / 4.0;") == {"fp_add": 1, "fp_mul": 1}
    assert _bodies("a[j] = a[j] / 2.0 / 3.0;") == {"fp_mul": 1, "fp_div": 1}
    assert _bodies("a[j] = (1.0 / 3.0) * a[j];") == {"fp_mul": 1}
    assert _bodies("c[j] = c[j] % 16;") == {"int_logic": 3, "int_add": 2}


def test_a_sum_waits_for_the_product_that_runs() -> None:
    text = "for (int i = 0; i < 100; i++) for (int j = 0; j < n; j++) { s = (s + a[j]) / 2.0; }"
    made = workload_in(text, DECLARED, n=50)
    assert made.execution is not None
    chains = made.execution.work.bodies[0].recurrences
    assert [chain.operations for chain in chains if chain.in_order] == [(("fp_add", "fp_mul"),)]
    assert [chain.operations for chain in chains if not chain.in_order] == [(("fp_add", "fp_mul"),)]


def test_tables_have_what_the_source_has() -> None:
    """The density model counts a statement's operations as they are written."""
    (facts,) = facts_of_text(
        "void f(int n, double *a) {\n#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) { a[i] = a[i] / 2.0; a[i] = a[i] / 3.0 / 4.0; }\n}\n"
    )
    rows = [dict(row.operations) for row in statement_table(facts, 64).statements]
    assert rows == [{"fp_div": 1}, {"fp_div": 2}]


# -- what gcc makes of them ------------------------------------------------------------------------

HEAD = """
#define TWO 2.0
#define SEVEN 7
enum { EIGHT = 8 };
typedef const float weight;
static const double third = 3.0;
const double step = 1.0 / 4;
static weight quarter = 0.25f;
static const int five = 5;
const volatile double measured = 2.0;
double plain = 2.0;
extern const double elsewhere;
"""
_DIVIDES = re.compile(r"^\s+(?:v?div[sp][sd]|i?div[bwlq]?|[us]div|fdiv)\s", re.MULTILINE)


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("statement", "flags", "divides"),
    [
        ("a[i] = a[i] / 2.0;", "", False),
        ("a[i] = a[i] / TWO;", "", False),
        ("a[i] /= -TWO * TWO;", "", False),
        ("a[i] = a[i] / step;", "", False),
        ("a[i] = a[i] / half;", "", False),
        ("a[i] = a[i] / 2;", "", False),
        ("a[i] = a[i] / (double) EIGHT;", "", False),
        ("b[i] = b[i] / quarter;", "", False),
        ("b[i] = b[i] / 8.507059173023462e+37f;", "", False),
        ("b[i] = b[i] / 16777217;", "", False),
        ("s = (s + a[i]) / TWO; a[i] = s;", "", False),
        ("a[i] = (1.0 / 3.0) * a[i];", "", False),
        ("a[i] = third / step;", "", False),
        ("c[i] = c[i] / SEVEN;", "", False),
        ("c[i] = c[i] / -7;", "", False),
        ("c[i] = c[i] % five;", "", False),
        ("c[i] = c[i] % width;", "", False),
        ("c[i] = c[i] / EIGHT;", "", False),
        ("c[i] %= -4;", "", False),
        ("m = (m * 5 + 3) % 17; c[i] = m;", "", False),
        ("u[i] = u[i] / 3;", "", False),
        ("u[i] %= 16;", "", False),
        ("l[i] = l[i] / 10;", "", False),
        ("l[i] = l[i] % (long) sizeof(double);", "", False),
        ("a[i] = a[i] / 3.0;", "", True),
        ("a[i] = a[i] / third;", "", True),
        ("a[i] = a[i] / 0.1;", "", True),
        ("b[i] = b[i] / 6.0f;", "", True),
        ("a[i] = a[i] / s;", "", True),
        ("a[i] = a[i] / plain;", "", True),
        ("a[i] = a[i] / measured;", "", True),
        ("a[i] = a[i] / elsewhere;", "", True),
        ("a[i] = 2.0 / a[i];", "", True),
        ("c[i] = c[i] / n;", "", True),
        ("c[i] %= n;", "", True),
        ("c[i] = 100 / c[i];", "", True),
        ("u[i] = u[i] % (unsigned) n;", "", True),
        ("a[i] = a[i] / 3.0;", "-ffast-math", False),
        ("a[i] = a[i] / third;", "-ffast-math", False),
        ("a[i] = s / a[i];", "-ffast-math", True),
        ("c[i] = c[i] / n;", "-ffast-math", True),
    ],
)
def test_gcc_divides_where_the_workload_has_a_division(
    tmp_path: Path, statement: str, flags: str, divides: bool
) -> None:
    """At -O2; `s` and `m` are each thread's own, and go on from iteration to iteration."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    text = f"""{HEAD}
void f(int n, double s, int m, double *a, float *b, int *c, unsigned *u, long *l) {{
  const double half = 1.0 / TWO;
  const int width = five * 12;
#pragma omp parallel for firstprivate(s, m) schedule(dynamic, 1)
  for (int i = 0; i < n; i++) {{ {statement} }}
}}
"""
    source = tmp_path / "case.c"
    source.write_text(text)
    command = [compiler, "-O2", "-fopenmp", *flags.split(), "-S", "-o", "-", str(source)]
    assembly = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert bool(_DIVIDES.search(assembly)) == divides
    (facts,) = facts_of_text(text)
    assert _divides(facts, fast=bool(flags)) == divides


def _divides(facts: RegionFacts, *, fast: bool) -> bool:
    run = [executed_operations(one.statement, reassociates=fast) for one in facts.statements]
    return any(op.kind in ("fp_div", "int_div") for operations in run for op, _ in operations)
