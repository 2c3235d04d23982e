"""The working set, bytes of the boxes around what a region touches, by carrying the loops out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from texts import facts_of_loop, facts_of_texts

from regionpredict.analysis.footprint import (
    Reference,
    declared_bytes,
    footprint_bytes,
    may_be_less,
    touched_bytes,
)
from regionpredict.analysis.symbolic.domain import domain_of
from regionpredict.ir import Access, Array, Expr, Loop, Span
from regionpredict.ir.expr import ONE, ZERO

DECLARATIONS = """
double x[4000], y[4000], A[90][90], B[90][90];
float s[4000];
struct cell { double p, q, r; } cells[4000];
"""
Point = tuple[int, ...]


def box(points: Iterator[Point], element: int) -> int:
    """Bytes of the box around the points: the product of the lengths of its sides."""
    columns = list(zip(*points, strict=True))
    total = element if columns else 0
    for column in columns:
        total *= max(column) - min(column) + 1
    return total


def bytes_of(loops: str, declarations: str = DECLARATIONS, **sizes: int) -> int | None:
    """The working set by its expression, which holds for all sizes, not by its value alone."""
    expression = facts_of_loop(loops, declarations).working_set.expr
    value = None if expression is None else expression.evaluate(sizes)
    return None if value is None else int(value)


I_J = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
GRID = lambda n, m: ((i, j) for i in range(n) for j in range(m))  # noqa: E731


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("A[i][j] = 1;", lambda i, j: (i, j)),
        ("A[j][i] = 1;", lambda i, j: (j, i)),
        ("A[i + 1][j + 2] = 1;", lambda i, j: (i + 1, j + 2)),
        ("A[40 - i][2 * j] = 1;", lambda i, j: (40 - i, 2 * j)),
        ("A[40 - 3 * i][j] = 1;", lambda i, j: (40 - 3 * i, j)),
        ("A[i + j][3] = 1;", lambda i, j: (i + j, 3)),
        ("A[20 + i - j][i + j] = 1;", lambda i, j: (20 + i - j, i + j)),
        ("A[n][m] = 1;", lambda i, j: (0, 0)),
        ("x[i * m + j] = 1;", lambda i, j: (i * 5 + j,)),
        ("x[3] = 1;", lambda i, j: (3,)),
    ],
)
def test_one_reference(statement: str, place: Callable[[int, int], Point]) -> None:
    truth = box((place(i, j) for i, j in GRID(7, 5)), 8)
    assert bytes_of(I_J + statement, n=7, m=5) == truth


@pytest.mark.parametrize(
    ("statements", "places"),
    [
        # the box of several references lies around all of them
        ("x[j] = x[j + 1] + x[j + 3];", [lambda j: (j,), lambda j: (j + 1,), lambda j: (j + 3,)]),
        ("x[j + 3] = x[j + 1] + x[j];", [lambda j: (j + 3,), lambda j: (j + 1,), lambda j: (j,)]),
        ("x[j] = x[j + 100];", [lambda j: (j,), lambda j: (j + 100,)]),
        ("x[m + j] = x[m - 1 - j];", [lambda j: (5 + j,), lambda j: (4 - j,)]),
        ("x[2 * j] = x[j];", [lambda j: (2 * j,), lambda j: (j,)]),
    ],
)
def test_several_references(statements: str, places: list[Callable[[int], Point]]) -> None:
    truth = box((place(j) for place in places for j in range(5)), 8)
    assert bytes_of(I_J + statements, n=7, m=5) == truth


def test_rows_of_several_statements() -> None:
    loops = I_J + "{ A[i][j] = 1; A[i + 9][j + 2] = 1; A[4][j + 7] = 1; }"
    points = [p for i, j in GRID(7, 5) for p in ((i, j), (i + 9, j + 2), (4, j + 7))]
    assert bytes_of(loops, n=7, m=5) == box(iter(points), 8)


def test_arrays_add_up_by_their_elements() -> None:
    """7 doubles, 14 floats less one of the box, 7 structs of 24 bytes each."""
    loops = "for (int i = 0; i < n; i++) { x[i] = s[2 * i]; cells[i].q = 1; }"
    assert bytes_of(loops, n=7) == 7 * 8 + 13 * 4 + 7 * 24


def test_members_of_a_struct_lie_in_the_same_elements() -> None:
    loops = "for (int i = 0; i < n; i++) { cells[i].p = cells[i].q; cells[i + 1].r = 0; }"
    assert bytes_of(loops, n=7) == 8 * 24


def test_an_array_in_a_struct_lies_in_its_elements() -> None:
    """Seven structs of 32 bytes and seven doubles; the numbers inside are not counted again."""
    declared = "struct point { double p, flux[3]; } points[4000]; double x[4000];"
    loops = "for (int i = 0; i < n; i++) { x[i] = points[i].flux[2]; points[i].p = 1; }"
    assert bytes_of(loops, declared, n=7) == 7 * 32 + 7 * 8


def test_what_a_pointer_in_a_struct_points_to_lies_elsewhere() -> None:
    """The structs of a table of fields are few, and what their pointers lead to is as long as n."""
    declarations = "struct field { double *u; float w[2]; } grid[4]; struct field *level;"
    loop = "for (int i = 0; i < n; i++) "
    assert bytes_of(loop + "grid[2].u[i] += 1;", declarations, n=500) == 8 * 500
    assert bytes_of(loop + "level[k].u[i] = level[k + 1].u[i];", declarations, n=500, k=3) == (
        2 * 8 * 500
    )
    assert bytes_of(loop + "grid[i].w[1] = 0;", declarations, n=3) == 3 * 16  # in the structs


def test_a_thread_s_own_array_is_left_out() -> None:
    loops = "for (int i = 0; i < n; i++) { double own[9]; own[0] = x[i]; x[i] = own[0]; }"
    assert bytes_of(loops, n=7) == 7 * 8
    given = "for (int i = 0; i < n; i++) { y[0] = x[i]; x[i] = y[0]; }"
    text = f"{DECLARATIONS} void f(int n) {{\n#pragma omp parallel for private(y)\n{given}\n}}\n"
    (facts,) = facts_of_texts(text, n=7)
    assert facts.working_set.value == 7 * 8


@pytest.mark.parametrize(
    ("loops", "points"),
    [
        # steps: from the first to the last value taken
        ("for (int i = 0; i < n; i++) x[5 * i] = 1;", lambda n: ((5 * i,) for i in range(n))),
        ("for (int i = n - 1; i >= 0; i--) x[i] = 1;", lambda n: ((i,) for i in range(n))),
        ("for (int i = n; i > 2; i--) x[i] = 1;", lambda n: ((i,) for i in range(n, 2, -1))),
        ("for (int i = 3; i <= n; i++) x[i] = 1;", lambda n: ((i,) for i in range(3, n + 1))),
        ("for (int i = 3; i != n; i++) x[i] = 1;", lambda n: ((i,) for i in range(3, n))),
        # triangles: what the inner loop takes depends on the outer one
        ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) A[i][j] = 1;",
         lambda n: ((i, j) for i in range(n) for j in range(i))),
        ("for (int i = 0; i < n; i++) for (int j = i; j < n; j++) A[i][j] = 1;",
         lambda n: ((i, j) for i in range(n) for j in range(i, n))),
        ("for (int i = 0; i < n; i++) for (int j = i + 3; j < n; j++) A[i][j] = 1;",
         lambda n: ((i, j) for i in range(n) for j in range(i + 3, n))),
        ("for (int i = 0; i < n; i++) for (int j = i + 3; j < n; j++) A[j - i][i] = 1;",
         lambda n: ((j - i, i) for i in range(n) for j in range(i + 3, n))),
        ("for (int i = n - 1; i >= 0; i--) for (int j = n - 1; j > i; j--) A[i][j] = 1;",
         lambda n: ((i, j) for i in range(n) for j in range(i + 1, n))),
    ],
)  # fmt: skip
@pytest.mark.parametrize("n", [6, 11])
def test_ends_of_loops(loops: str, points: Callable[[int], Iterator[Point]], n: int) -> None:
    assert bytes_of(loops, n=n) == box(points(n), 8)


def test_a_strided_loop_reaches_less_than_a_step_beyond() -> None:
    """What it ends at is known as its bound: 0, 3, 6 below 8 is taken as 0 to 7."""
    found = bytes_of("for (int i = 0; i < n; i += 3) x[i] = 1;", n=8)
    assert found is not None
    assert 7 * 8 <= found <= 8 * 8


@pytest.mark.parametrize(
    ("loops", "size"),
    [
        # m and n cannot be compared: the shown form keeps both
        ("for (int i = 0; i < n; i++) { x[i] = 1; for (int j = 0; j < m; j++) x[j] = 1; }",
         lambda n, m: 8 * max(n, m)),
        ("for (int i = 0; i < n; i++) { x[n - i] = 1; for (int j = 0; j < m; j++) x[m + j] = 1; }",
         lambda n, m: 8 * (max(n, 2 * m - 1) - min(1, m) + 1)),
        ("for (int i = 0; i < n; i++) x[i + n] = x[i + m];",
         lambda n, m: 8 * (max(n, m) + n - 1 - min(n, m) + 1)),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("n", "m"), [(4, 9), (9, 4), (5, 5)])
def test_sizes_that_cannot_be_compared(
    loops: str, size: Callable[[int, int], int], n: int, m: int
) -> None:
    assert bytes_of(loops, n=n, m=m) == size(n, m)


def test_the_greater_of_sizes_that_can() -> None:
    """Names are sizes, at least one: n + 1 is beyond n, 2 n not below n, n + m beyond n."""
    for statement, size in (
        ("x[n] = x[n + 1];", 2),
        ("x[n + 1] = x[n];", 2),
        ("x[2 * n] = x[n];", 6 + 1),
        ("x[n] = x[2 * n];", 6 + 1),
        ("x[n] = x[n + m];", 4 + 1),
        ("x[0] = x[n * m];", 24 + 1),
    ):
        loops = f"for (int i = 0; i < w; i++) {statement}"
        shown = facts_of_loop(loops, DECLARATIONS).working_set.expr
        assert shown is not None
        assert shown.evaluate({"n": 6, "m": 4, "w": 3}) == 8 * size, statement
        assert "max" not in str(shown), statement


@pytest.mark.parametrize(
    ("declaration", "statement", "size"),
    [
        # a gather may touch every element: the whole array as declared, or nothing is said
        ("double t[30][20];", "t[row[i]][0] = 1;", 30 * 8),
        ("double t[30][20];", "t[row[i]][row[i]] = 1;", 30 * 20 * 8),
        ("double t[30][20];", "t[i][row[i]] = 1;", 7 * 20 * 8),
        ("float t[30];", "t[row[i]] = 1;", 30 * 4),
        ("double t[30][20];", "{ t[i][row[i]] = 1; t[n + 2][0] = 1; }", 10 * 20 * 8),
    ],
)
def test_gathers(declaration: str, statement: str, size: int) -> None:
    loops = f"for (int i = 0; i < n; i++) {statement}"
    assert bytes_of(loops, declaration + "int row[7];", n=7) == size + 7 * 4


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_gathers_by_numbers(n: int) -> None:
    """One may touch every element, none touches nothing."""
    facts = facts_of_loop("for (int i = 0; i < n; i++) t[row[i]] = 1;", "double t[30]; int row[7];",
                          n=n)  # fmt: skip
    size = (30 * 8 + n * 4) if n else 0
    assert facts.working_set.value == size
    assert touched_bytes(facts.region, facts.bindings) == size


def test_one_end_that_is_not_known() -> None:
    """j from 0 to where n - m, of unknown sign, lets it: anywhere in the 4000 of x."""
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < i * (n - m); j++) x[j] = 1;"
    assert bytes_of(loops, n=9, m=2) == 4000 * 8


def test_what_is_not_known_is_withheld() -> None:
    text = """
extern void g(double *);
void f(int n, double *p, double *q, int *row) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) p[row[i]] = q[row[i]];
#pragma omp parallel for
  for (int i = 0; i < n; i++) { g(q); p[i] = 1; }
#pragma omp parallel for
  for (int i = 0; i < n; i++) p[i] = q[i];
}
"""
    gather, call, plain = facts_of_texts(text, n=9)
    for facts, names in ((gather, "p, q"), (call, "g()")):
        assert (facts.working_set.expr, facts.working_set.value) == (None, None)
        (note,) = (one for one in facts.diagnostics if one.id == "RP104")
        assert f"the accessed part of {names} is unknown" in note.message
    assert plain.working_set.value == 2 * 9 * 8
    assert not any(one.id == "RP104" for one in plain.diagnostics)


def test_bands_with_clamped_ends() -> None:
    """Rows i, columns from max(0, i - w) to min(n, i + w + 1); by the distance 2 w + 1 of them."""
    head = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
double A[90][90];
"""
    loops = "for (int i = 0; i < n; i++) for (int j = MAX(0, i - w); j < MIN(n, i + w + 1); j++) "
    for n, w in ((9, 2), (12, 3)):
        points = [(i, j) for i in range(n) for j in range(max(0, i - w), min(n, i + w + 1))]
        for statement, place in (
            ("A[i][j] = 1;", lambda i, j, w: (i, j)),
            ("A[i][i - j + w] = 1;", lambda i, j, w: (i, i - j + w)),
            ("A[i][2 * j - 2 * i + 2 * w] = 1;", lambda i, j, w: (i, 2 * (j - i + w))),
        ):
            truth = box((place(i, j, w) for i, j in points), 8)
            assert bytes_of(loops + statement, head, n=n, w=w) == truth, statement


def test_an_array_that_is_not_what_it_was_declared() -> None:
    """Two subscripts of what has one extent: the whole as declared, where one is not known."""
    i, span = Expr.name("i"), Span("f.c", 1)
    table = Expr.atom("ref", i, label="t")
    access = Access("a", "write", (i, table), "a[i][t[i]]", span)
    ranges = domain_of((Loop("i", ZERO, Expr.const(4), "<", ONE, (), span),)).ranges
    for dims, size in (((Expr.const(5),), 5 * 8), ((None,), None)):
        found = footprint_bytes(Array("a", 8, dims, "global"), [Reference(access, ranges)])
        assert (None if found is None else found.constant) == size
    square = Array("a", 8, (Expr.const(5), Expr.const(3)), "global")
    assert declared_bytes(square) == 5 * 3 * 8
    assert footprint_bytes(square, ()) == 0  # nothing refers to it


def test_a_clamp_that_holds_nothing_back() -> None:
    """0 to n - 1 by the clamp, 3 to n + 2 by the other reference."""
    loops = "for (int i = 0; i < n; i++) x[i > 0 ? i : 0] = x[i + 3];"
    assert bytes_of(loops, n=9) == (9 + 3) * 8


def test_a_region_that_runs_nothing_has_no_negative_size() -> None:
    facts = facts_of_loop("for (int i = 5; i < n; i++) x[i] = 1;", DECLARATIONS, n=2)
    assert facts.working_set.value == 0


# -- what is known to be wrong --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "size"),
    [
        ("x[i - 1 > 0 ? i - 1 : 0] = 1;", 3 * 8),  # 0, 0, 1, 2: taken as -1 to 2
        ("x[i + 1 < n - 1 ? i + 1 : n - 1] = 1;", 3 * 8),  # 1, 2, 3, 3: taken as n - 1 alone
    ],
)
def test_clamped_subscripts(statement: str, size: int) -> None:
    loops = f"for (int i = 0; i < n; i++) {statement}"
    assert facts_of_loop(loops, DECLARATIONS, n=4).working_set.value == size


def test_the_last_value_of_a_strided_loop() -> None:
    loops = "for (int i = 0; i < 6; i += 3) for (int j = 0; j < 6; j += 3) A[i][j] = 1;"
    assert facts_of_loop(loops, DECLARATIONS).working_set.value == 4 * 4 * 8  # 0 and 3 in both


def test_known_sizes_that_are_small() -> None:
    loops = "for (int i = 0; i < n; i++) x[i] += x[50];"
    assert facts_of_loop(loops, DECLARATIONS, n=10).working_set.value == 51 * 8


def test_an_inner_loop_that_is_mostly_empty() -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = i + 4; j < 9; j++) A[i][j] = 1;"
    assert facts_of_loop(loops, DECLARATIONS, n=90).working_set.value == 5 * 5 * 8  # i < 5, j 4-8


def test_an_inner_loop_that_never_runs() -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = m; j < 2; j++) x[i * m + j] = 1;"
    assert facts_of_loop(loops, DECLARATIONS, n=21, m=12).working_set.value == 0


VIEW = "double d[4000]; "
AS_FLOATS = (
    "for (int i = 0; i < 7; i++) {{ float *g = (float *) d; g[{view}] = 1; d[{own}] += 2; }}"
)


@pytest.mark.parametrize(
    ("view", "own", "truth"),
    [
        ("i", "i", 7 * 8),  # floats 0..6 lie inside doubles 0..6
        ("2 * i + 40", "i", (52 + 1) * 4),  # bytes 0..56 and 160..212: one box around both
        ("i", "i + 10", 17 * 8),  # bytes 0..28 and 80..136
        ("i + 20", "i + 3", (26 + 1) * 4 - 24),  # bytes 80..108 and 24..80
        ("60 - i", "i + 20", 240 - 160 + (60 + 1) * 4 - 240),  # bytes 216..244 and 160..216
    ],
)
def test_numbers_of_another_size_in_the_same_bytes(view: str, own: str, truth: int) -> None:
    facts = facts_of_loop(AS_FLOATS.format(view=view, own=own), VIEW)
    assert facts.working_set.value == truth
    alone = facts_of_loop(AS_FLOATS.format(view=view, own=own).replace(f"d[{own}] += 2;", ""), VIEW)
    assert alone.working_set.value is not None
    assert alone.working_set.value <= truth


def test_a_loop_that_may_end_early_touches_at_most_its_box() -> None:
    """Also where only one of the loops may."""
    inner = "for (int i = 0; i < 7; i++) for (int j = 0; j < 5; j++) {{ A[i][j] = 1; {end} }}"
    assert facts_of_loop(inner.format(end="if (x[j] > 1) break;"), DECLARATIONS).working_set.at_most
    assert not facts_of_loop(inner.format(end=""), DECLARATIONS).working_set.at_most


@pytest.mark.parametrize(
    ("body", "less"),
    [
        ("d[i] = 1; x[i] = 2;", False),
        ("((float *) d)[i] = 1;", False),  # the only numbers there
        ("((float *) d)[i] = 1; x[i] = 2;", False),
        ("((float *) d)[i] = 1; d[i + 1] = 2;", True),  # in the same bytes
        ("x[i] = 2; ((float *) d)[i] = 1; d[i + 1] = 2;", True),
        ("int k = 0; while (x[k] > i) k++; d[i] = k;", True),
        ("for (int j = 0; j < 3; j++) d[i] = j;", False),
        ("d[(int) x[i]] = 1;", True),  # nobody knows which
        ("double own[4]; own[(int) x[i]] = 1; d[i] = own[0];", False),  # a thread's own
    ],
)
def test_what_may_be_less_than_its_boxes(body: str, less: bool) -> None:
    facts = facts_of_loop(f"for (int i = 0; i < 7; i++) {{ {body} }}", VIEW + "double x[4000];")
    assert may_be_less(facts.region, facts.bindings) is less


def test_a_loop_that_runs_nothing_touches_nothing() -> None:
    """Also one whose counter stands in no subscript."""
    text = "for (int i = 0; i < 7; i++) for (int k = 0; k < m; k++) x[i] = 1;"
    assert facts_of_loop(text, DECLARATIONS, m=0).working_set.value == 0
    assert facts_of_loop(text, DECLARATIONS, m=3).working_set.value == 7 * 8


def test_the_form_is_left_out_where_the_number_is_another() -> None:
    """Rows 0 to 4 of seven, columns 0 to 4: 25 doubles, though 7 rows are counted through."""
    rows = "for (int i = 0; i < {n}; i++) for (int j = i; j < 5; j++) A[i][j] = 1;"
    known = facts_of_loop(rows.format(n=7), DECLARATIONS).working_set
    assert (str(known.expr), known.value) == ("200", 200)
    given = facts_of_loop(rows.format(n="n"), DECLARATIONS, n=7).working_set
    assert given.value == 200
    assert given.expr is None or given.expr.evaluate({"n": 7}) == 200


def test_a_bound_over_many_references_does_not_grow_with_each() -> None:
    """Two strides of which neither is known to be the larger: the farther of two ends, at most."""
    body = "".join(f"s[{r} + i * {'pq'[r % 2]}] = 1; " for r in range(100))
    loop = f"for (int i = 0; i < n; i++) {{ {body}}}"
    expression = facts_of_loop(loop, DECLARATIONS).working_set.expr
    assert expression is not None
    assert len([atom for atom in expression.atoms() if atom.kind == "max"]) == 1
    for p, q in ((3, 5), (5, 3), (4, 4), (1, 9)):
        touched = ((r + i * (p, q)[r % 2],) for r in range(100) for i in range(10))
        assert expression.evaluate({"n": 10, "p": p, "q": q}) == box(touched, 4)


@pytest.mark.parametrize(("allocated", "touched"), [("50", 1600), ("n", None)])
def test_an_array_behind_a_table_is_touched_whole_where_its_length_is_known(
    allocated: str, touched: int | None
) -> None:
    (facts,) = facts_of_texts(
        "#include <stdlib.h>\ndouble y[100]; int list[100];\n"
        f"void f(int n) {{\n  double *x = malloc({allocated} * sizeof(double));\n"
        "#pragma omp parallel for\n  for (int i = 0; i < 100; i++) y[i] = x[list[i]];\n}\n"
    )
    assert touched_bytes(facts.region, facts.bindings) == touched  # 50 of x, 100 of y and of list


def test_rows_behind_a_table_are_as_many_as_were_allocated() -> None:
    """Fifty rows of four doubles, of which the loop reads one column: 50 * 1 * 8 bytes in boxes."""
    (facts,) = facts_of_texts(
        "#include <stdlib.h>\ndouble y[100]; int list[100];\n"
        "void f(void) {\n  double (*x)[4] = malloc(50 * sizeof(double[4]));\n"
        "#pragma omp parallel for\n  for (int i = 0; i < 100; i++) y[i] = x[list[i]][2];\n}\n"
    )
    assert touched_bytes(facts.region, facts.bindings) == 400 + 800 + 400  # x, y and list


def test_what_is_held_without_a_form_is_at_most_that() -> None:
    """Ten rows of 50 doubles, some of them picked, ten indices, five doubles from 0 to 4."""
    facts = facts_of_loop(
        "for (int i = 0; i < n; i++) x[(i * i) % 7] += y[i][idx[i]];",
        "double x[100], y[99][50]; int idx[50];", n=10,
    )  # fmt: skip
    assert (facts.working_set.expr, facts.working_set.at_most) == (None, True)
    assert facts.working_set.value == 10 * 50 * 8 + 10 * 4 + 5 * 8
