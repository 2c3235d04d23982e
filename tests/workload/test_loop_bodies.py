"""What a core does in one iteration: operations, loads, stores, scalars, reasons, by hand."""

from __future__ import annotations

import pytest
from nest_texts import workload_in

from regionpredict.workload import LoopBody

DECLARED = "int n, int m, double s, double t, double *a, double *b, float *x, int *row"


def bodies(loops: str, declared: str = DECLARED, **sizes: int) -> tuple[LoopBody, ...]:
    made = workload_in(loops, declared, **sizes)
    assert made.execution is not None
    return made.execution.work.bodies


def body(inner: str, **sizes: int) -> LoopBody:
    """The body of an inner loop over j, around which i runs 100 times."""
    loops = f"for (int i = 0; i < 100; i++)\n for (int j = 0; j < n; j++) {{ {inner} }}"
    (made,) = bodies(loops, **({"n": 50} | sizes))
    return made


def test_operations_and_their_shares() -> None:
    """`a * b + c` is a multiplication and an addition; under a branch half of each."""
    made = body("a[j] = s * b[j] + t; if (b[j] > t) { a[j] = b[j] * s; a[j] = b[j] / s; }")
    count = dict(made.operations)
    assert count["fp_mul"] == 1.5 and count["fp_add"] >= 1 and count["fp_div"] == 0.5
    plain = dict(body("a[j] = s * b[j] + t * b[j];").operations)
    assert plain["fp_mul"] == 2 and plain["fp_add"] == 1


def test_executions() -> None:
    loops = """for (int i = 0; i < 100; i++) {
      s = 0;
      for (int j = 0; j <= i; j++) a[j] = 1;
      for (int j = 0; j < 7; j++) { a[j] = 2; b[j] = 2; }
    }"""
    made = bodies(loops)
    assert [(one.variable[0], one.line, one.executions, one.innermost) for one in made] == [
        ("i", 3, 100, False), ("j", 5, 5050, True), ("j", 6, 700, True)
    ]  # fmt: skip


def test_executions_that_no_closed_form_counts() -> None:
    """Sixteen iterations between data, each of 100."""
    (made,) = bodies("for (int i = 0; i < 100; i++) for (int k = row[i]; k < row[i + 1]; k++) "
                     "a[k] = 1;")  # fmt: skip
    assert made.executions == 1600


@pytest.mark.parametrize(
    ("inner", "loads", "stores"),
    [
        ("a[j] = b[j];", 1, 1),
        ("a[j] = b[j] + b[j] * b[j];", 1, 1),  # one reference, however often
        ("a[j] = b[j - 1] + b[j] + b[j + 1];", 3, 1),
        ("a[j] += 1;", 1, 1),
        ("a[j] += b[i];", 1, 1),  # b[i] stands still
        ("a[i] += b[j];", 1, 0),  # so does a[i]: in a register
        ("a[j] = 0; a[j + 1] = 0;", 0, 2),
        ("a[j] = b[row[j]];", 3, 1),  # row[j]; address and value of the gather
        ("b[row[j]] = 1;", 1, 1),  # a scatter is one store
    ],
)
def test_loads_and_stores(inner: str, loads: float, stores: float) -> None:
    made = body(inner)
    assert (made.loads, made.stores) == (loads, stores)


def test_references_of_a_loop_around_others_count() -> None:
    """Not innermost: what stands still along i is read anew by each i."""
    loops = "for (int i = 0; i < 100; i++) { a[0] = b[3]; for (int j = 0; j < n; j++) x[j] = 0; }"
    outer, inner = bodies(loops, n=5)
    assert (outer.loads, outer.stores, outer.scalar_because) == (1, 1, "not innermost")
    assert (inner.loads, inner.stores, inner.element_bytes) == (0, 1, 4)


def test_the_widest_element() -> None:
    assert body("a[j] = x[j];").element_bytes == 8
    assert body("x[j] = 1;").element_bytes == 4
    assert body("s = t;").element_bytes == 8  # double where nothing is referred to


@pytest.mark.parametrize(
    ("inner", "number"),
    [("a[j] = s * t;", 2), ("a[j] = s * b[m];", 1), ("a[j] = b[j];", 0), ("a[j] = s * j;", 1),
     ("s += t;", 1), ("a[j] = s; b[j] = s + t;", 2)],
)  # fmt: skip
def test_scalars(inner: str, number: int) -> None:
    """Indices, the loop's own variable and what a statement writes itself need no register."""
    assert body(inner).scalars == number


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        ("a[j] = b[j];", ""),
        ("s += b[j];", ""),
        ("a[j] = b[i];", ""),
        ("if (b[j] > 0) a[j] = 1;", ""),  # masked, where the machine has masks
        ("if (b[j] > 0) a[i] = 1;", "conditional"),  # one place: which iteration was last?
        ("if (b[j] > 0) a[j] = unknown(s);", "calls a function"),
        ("if (b[j] > t) { t = b[j]; s = 1; }", "conditional"),  # a greatest value and its mark
        ("if (b[j] > t) exit(1); a[j] = 1;", ""),  # never taken where the program goes on
        ("a[j] = b[row[j]];", "gathers"),
        ("a[2 * j] = b[j];", "stride of 16 bytes"),
        ("x[j] = x[n * j];", "stride of 200 bytes"),
        ("if (b[j] > 0) break; a[j] = 1;", "not counted or left early"),
        ("a[j] = unknown(b[j]);", "calls a function"),
    ],
)
def test_why_a_loop_stays_scalar(inner: str, reason: str) -> None:
    assert body(inner).scalar_because == reason


@pytest.mark.parametrize(
    ("inner", "masked"),
    [("if (b[j] > 0) a[j] = 1;", True), ("double u = b[j]; if (u > t) u = t; a[j] = u;", False),
     ("a[j] = b[j];", False), ("if (b[j] > t) exit(1); a[j] = 1;", False)],
)  # fmt: skip
def test_what_needs_masks(inner: str, masked: bool) -> None:
    assert body(inner).masked == masked


def test_a_vector_works_out_both_sides() -> None:
    made = body("if (b[j] > t) a[j] = s / b[j]; else a[j] = s * b[j];")
    assert dict(made.operations)["fp_div"] == dict(made.operations)["fp_mul"] == 0.5
    assert dict(made.on_all_sides)["fp_div"] == dict(made.on_all_sides)["fp_mul"] == 1.0


def test_what_ends_the_program_counts_nothing() -> None:
    """Neither its operations nor its references: `x` is not touched."""
    made = body("if (b[j] > t) { x[j] = s / t; exit(1); } a[j] = b[j] * s;")
    assert "fp_div" not in dict(made.operations) and "fp_div" not in dict(made.on_all_sides)
    assert (made.loads, made.stores) == (1, 1)


def test_a_known_function_is_a_call_too() -> None:
    text = "for (int i = 0; i < 100; i++) for (int j = 0; j < n; j++) a[j] = sin(b[j]);"
    (made,) = bodies(text, f"double (*unused)(double), {DECLARED}", n=9)
    assert made.scalar_because == "calls a function"


def test_a_loop_between_data_is_not_counted() -> None:
    loops = "for (int i = 0; i < 9; i++) for (int k = row[i]; k < row[i + 1]; k++) a[k] = 1;"
    (made,) = bodies(loops)
    assert made.scalar_because == "not counted or left early"


def test_a_falling_step_strides_too() -> None:
    (made,) = bodies("for (int i = 0; i < 9; i++) for (int j = n; j > 0; j -= 3) a[j] = 1;", n=90)
    assert made.scalar_because == "stride of 24 bytes"


def test_what_stands_still_has_no_stride() -> None:
    """b[i] is one element for all j, however far apart these are; a[j] moves by 800 bytes."""
    loops = "for (int i = 0; i < 9; i++) for (int j = 0; j < n; j += 100) "
    (still,) = bodies(loops + "b[i] += 1;", n=5000)
    (moving,) = bodies(loops + "a[j] += 1;", n=5000)
    assert (still.scalar_because, moving.scalar_because) == ("", "stride of 800 bytes")
