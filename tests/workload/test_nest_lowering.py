"""C text to loops and reference groups in numbers: bounds, addresses, guesses, by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from nest_texts import facts_of, facts_of_text, group_of, loop_named, nest_of

from regionpredict.workload.loop_nest import ReferenceGroup
from regionpredict.workload.nest_lowering import loop_nest

DOUBLE = 8.0


def test_a_region_that_cannot_be_read_has_no_nest() -> None:
    facts = facts_of("while (n) n--;")
    assert facts.region.nest is None and loop_nest(facts.region, {}) is None


@pytest.mark.parametrize(
    ("head", "values"),
    [
        ("i = 3; i < n; i++", range(3, 20)),
        ("i = 3; i <= n; i++", range(3, 21)),
        ("i = n; i > 3; i--", range(20, 3, -1)),
        ("i = n; i >= 3; i--", range(20, 2, -1)),
        ("i = 3; i < n; i += 5", range(3, 20, 5)),
        ("i = 0; i <= n; i += 5", range(0, 21, 5)),
        ("i = n; i >= 0; i -= 5", range(20, -1, -5)),
        ("i = 3; i != n; i++", range(3, 20)),
        ("i = 0; i <= (n < 15 ? n : 15); i++", range(16)),  # a minimum is no affine bound
        # steps that do not meet the bound
        ("i = 0; i <= n; i += 7", range(0, 21, 7)),
        ("i = n; i >= 0; i -= 7", range(20, -1, -7)),
        ("i = 0; i <= (n < 15 ? n : 15); i += 4", range(0, 16, 4)),
        ("i = n; i >= (n < 15 ? n : 14); i -= 4", range(20, 13, -4)),
    ],
)
def test_loop_headers(head: str, values: range) -> None:
    root = nest_of(f"for (int {head}) a[i] = 0;", "int n, double *a", n=20).root
    assert (root.trips({}), root.begin({}), root.step) == (len(values), values[0], values.step)
    assert (root.variable, root.index, root.parallel, root.line) == ("i", 0, True, 3)


def test_a_tile_s_curved_bound() -> None:
    """`j <= min(ii + 7, n - 1)`: 8 iterations of a tile, 4 of the last; `j > max(...)` falling."""
    loops = """for (int ii = 0; ii < n; ii += 8) {
      for (int j = ii; j <= (ii + 7 < n - 1 ? ii + 7 : n - 1); j++) a[j] = 0;
      for (int k = n; k >= (ii > 9 ? ii : 9); k--) a[k] = 0;
    }"""
    nest = nest_of(loops, "int n, double *a", n=20)
    tile, falling = loop_named(nest, "j"), loop_named(nest, "k")
    assert [tile.trips({"ii": at}) for at in (0, 8, 16)] == [8, 8, 4]
    assert [falling.trips({"ii": at}) for at in (0, 16)] == [12, 5]
    assert tile.depends == {"ii"} == nest.root.bounds_below
    assert (tile.parallel, tile.index, falling.index) == (False, 1, 2)


def test_collapsed_loops_share_their_iterations() -> None:
    loops = """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) a[i][j] = k;"""
    declared = "int n, double a[9][9]"
    for clause, names in (("", "i"), ("collapse(2)", "ij"), ("collapse(3)", "ijk")):
        nest = nest_of(loops, declared, clause, n=9)
        assert "".join(loop.variable for loop in nest.parallel) == names
    second = nest_of("for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) a[i][j] = 0; "
                     "for (int k = 0; k < n; k++) a[i][k] = 0; }", declared, n=9)  # fmt: skip
    assert [loop.variable for loop in second.parallel] == ["i"]


def test_which_loops_are_counted_and_branched() -> None:
    loops = """for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) { if (a[j] > 0) break; a[j] = 1; }
      for (int k = 0; k < n; k++) if (a[k] > 0) a[k] = 2;
      for (int l = 0; l < n; l++) a[l] = 3;
    }"""
    nest = nest_of(loops, "int n, double *a", n=9)
    assert [loop.counted for loop in nest.loops] == [True, False, True, True]
    assert [loop_named(nest, name).conditional for name in "ikl"] == ["", "elements", ""]


def test_a_statement_s_share_of_the_iterations() -> None:
    """Directly in a branch: as often as its condition holds, else half; in a loop in a branch: each
    of that loop's iterations."""
    loops = """for (int i = 0; i < n; i++) {
      a[i] = 0;
      if (i % 3) a[i] = 1; else { a[i] = 2; for (int j = 0; j < n; j++) a[j] = 3; }
      if (a[i] > 0) a[i] = 4;
      a[i] = 5;
    }"""
    nest = nest_of(loops, "int n, double *a", n=9)
    shares = {number: share for loop in nest.loops for number, share in loop.statements}
    own = dict(nest.root.statements)
    inside = dict(loop_named(nest, "j").statements)
    assert list(inside.values()) == [1.0]
    assert sorted(shares) == list(range(len(shares)))
    assert own[0] == 1.0 and own[max(own)] == 1.0
    assert sorted(set(own.values())) == pytest.approx([3 / 9, 0.5, 6 / 9, 1.0])


def test_messages_and_allocations_behind_a_condition_are_rare() -> None:
    """A side with one runs 4 of 68 times, its loops too, and the other side the rest of the time;
    where both have one, each half."""
    loops = """for (int i = 0; i < n; i++) {
      if (a[i] < 0) { printf("%d", i); a[i] = 1; for (int j = 0; j < n; j++) b[j] = a[j]; }
      else a[i] = 2;
      if (a[i] < 1) { puts("low"); a[i] = 3; } else { puts("high"); a[i] = 4; }
    }"""
    before = "int printf(const char *, ...); int puts(const char *);"
    text = f"{before}\nvoid f(int n, double *restrict a, double *restrict b)\n{{\n"
    (facts,) = facts_of_text(f"{text}#pragma omp parallel for\n{loops}\n}}\n")
    nest = loop_nest(facts.region, {"n": 9})
    assert nest is not None
    texts = [statement.text for statement, _ in facts.region.statements()]
    shares = {texts[number]: share for number, share in nest.root.statements}
    assert shares["a[i] = 1"] == pytest.approx(4 / 68) == loop_named(nest, "j").share
    assert shares["a[i] = 2"] == pytest.approx(64 / 68)
    assert shares["a[i] = 3"] == shares["a[i] = 4"] == 0.5


def test_branches_in_branches_share_what_is_left() -> None:
    """A store in each place, counted in the nine iterations; `critical` is no branch."""
    loops = """for (int i = 0; i < n; i++) {
      if (i % 3) a[i] = 1;
      else if (i % 5) a[i] = 2;
      else { if (i % 7) a[i] = 3; a[i] = 4; }
      if (i % 2) {
#pragma omp critical
        a[0] = 5;
      }
#pragma omp critical
      { if (i % 4) a[0] = 6; a[0] = 7; }
    }"""
    facts = facts_of(loops, "int n, double *a", n=9)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    shares = dict(nest.root.statements)
    stored = [
        shares[number]
        for number, fact in enumerate(facts.statements)
        if any(one.access.kind == "write" for one in fact.accesses)
    ]
    runs = [
        [i for i in range(9) if i % 3],
        [i for i in range(9) if not i % 3 and i % 5],
        [i for i in range(9) if not i % 3 and not i % 5 and i % 7],
        [i for i in range(9) if not i % 3 and not i % 5],
        [i for i in range(9) if i % 2],
        [i for i in range(9) if i % 4],
        list(range(9)),
    ]
    assert stored == pytest.approx([max(len(places), 1) / 9 for places in runs])


def test_groups_of_a_stencil() -> None:
    """Uniformly generated references are one group; 9 columns of doubles a row."""
    loops = """for (int i = 1; i < n; i++)
      for (int j = 1; j < 8; j++)
        b[i][j] = a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[j][i] + x[2 * j + 3];"""
    nest = nest_of(loops, "int n, double a[n][9], double b[n][9], float x[99]", n=50)
    groups = list(nest.groups())
    assert [group.index for group in groups] == list(range(4))
    rows, columns = (group for group in groups if group.array == "a")
    assert rows.slopes == {"i": 72.0, "j": 8.0} and columns.slopes == {"i": 8.0, "j": 72.0}
    assert rows.offsets == (-72.0, -8.0, 8.0) and rows.written == ()
    assert columns.offsets == (0.0,) and columns.element == 8
    stored, single = group_of(nest, "b"), group_of(nest, "x")
    assert (stored.offsets, stored.written) == ((0.0,), (0.0,))
    assert (single.slopes, single.offsets, single.element) == ({"j": 8.0}, (12.0,), 4)
    assert not any(group.irregular or group.private or group.extent for group in groups)
    assert [loop.variable for loop in rows.loops] == ["i", "j"]
    assert nest.root.groups == () and len(nest.root.groups_below) == 4


def test_groups_below_hold_the_own_first() -> None:
    loops = "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) a[j] = 0; b[i] = 0; }"
    root = nest_of(loops, "int n, double *a, double *b", n=9).root
    assert [group.array for group in root.groups_below] == ["b", "a"]


def test_a_product_of_sizes_is_a_stride() -> None:
    """Linearised: i * n * n + j * n moves n² and n elements; a square of i is no affine address."""
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i * n * n + j * n + 5] = 1;"
    group = group_of(nest_of(loops, "int n, double *a", n=10), "a")
    assert (group.slopes, group.offsets) == ({"i": 800.0, "j": 80.0}, (40.0,))
    curved = group_of(nest_of(loops.replace("i * n * n", "i * i"), "int n, double *a", n=10), "a")
    assert curved.irregular


def test_opposite_terms_stand_still() -> None:
    """a[i - i + j]: the slope of i is gone."""
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[(i + j) - i] = 1;"
    assert group_of(nest_of(loops, "int n, double *a", n=10), "a").slopes == {"j": 8.0}


def irregular(declared: str, **sizes: int) -> tuple[ReferenceGroup, tuple[str, ...]]:
    loops = "for (int i = 0; i < n; i++) a[row[i]] += 1;"
    nest = nest_of(loops, f"int n, int *row, {declared}", **sizes)
    return next(group for group in nest.groups() if group.array == "a"), nest.assumed


def test_gathers_spread_over_their_array() -> None:
    """Of a known length, or as long as the loop where nobody says."""
    known, assumed = irregular("double a[500]", n=9)
    assert (known.irregular, known.extent, known.slopes, assumed) == (True, 4000.0, {}, ())
    assert known.written == known.offsets == (0.0,)
    guessed, assumed = irregular("float *a", n=9)
    assert guessed.extent == 4 * 9
    assert assumed == ("a[] = 9 (no value given: elements of a)",)


def test_gathers_spread_over_one_element_at_least() -> None:
    """However many dimensions it has; of none there is no array."""
    loops = "for (int i = 0; i < n; i++) a[0][row[i]] += 1;"
    for rows, columns, extent in ((1, 500, 500), (3, 500, 1500), (1, 1, 1), (0, 500, 500)):
        sizes = {"n": 9, "m": rows, "l": columns}
        nest = nest_of(loops, "int n, int m, int l, int *row, double a[m][l]", **sizes)
        assert group_of(nest, "a").extent == 8 * extent
    guessed, _ = irregular("double *a", n=1)
    assert guessed.extent == 8


def test_arrays_that_begin_with_a_line() -> None:
    """Those that are declared outside of functions, with all their extents."""
    text = """double table[9], rows[9][7], (*behind)[7], *pointer;
    void f(double given[9], double *passed) {
      static double lasting[9]; double own[9];
    #pragma omp parallel for
      for (int i = 0; i < 9; i++) {
        double mine[9];
        table[i] = rows[i][0] + behind[i][0] + pointer[i] + given[i] + passed[i] + own[i];
        mine[0] = i; lasting[i] = mine[0];
      }
    }"""
    (facts,) = facts_of_text(text)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    aligned = {group.array: group.aligned for group in nest.groups()}
    assert {name for name in aligned if aligned[name]} >= {"table", "rows"}
    assert not any(aligned[name] for name in ("behind", "pointer", "given", "passed", "mine"))


def test_a_loop_between_data_is_sixteen_iterations() -> None:
    """Rows of a sparse matrix lie end to end: k = k' + 16 i."""
    loops = """for (int i = 0; i < n; i++)
      for (int k = row[i]; k < row[i + 1]; k++) s[i] += v[k] * 2;"""
    nest = nest_of(loops, "int n, int *row, double *v, double *s", n=90)
    (name,), (told,) = nest.unbound, nest.assumed
    assert name == "row[i+1]-row[i]"
    assert told == f"{name} = 16 (no value given: iterations of the loop over k)"
    assert group_of(nest, "v").slopes == {"k": 8.0, "i": 128.0}
    loop = loop_named(nest, "k")
    assert (loop.first, loop.limit, loop.depends, loop.trips({})) == (None, None, frozenset(), 16)


@pytest.mark.parametrize(
    ("move", "values", "step"),
    [("k += 3", {}, 3), ("k += m", {"m": 3}, 3), ("k += m", {"m": 0}, 1), ("k += m", {}, 1),
     ("k += row[0]", {}, 1), ("k -= 2", {}, -2)],
)  # fmt: skip
def test_a_step_that_is_not_known_is_one(move: str, values: dict[str, int], step: int) -> None:
    """Sixteen iterations go over 16 * step elements, which lie behind those of the row before."""
    loops = f"""for (int i = 0; i < n; i++)
      for (int k = row[i]; k {">" if step < 0 else "<"} row[i + 1]; {move}) s[i] += v[k] * 2;"""
    facts = facts_of(loops, "int n, int m, int *row, double *v, double *s")
    nest = loop_nest(facts.region, {"n": 90, **values})
    assert nest is not None
    assert (loop_named(nest, "k").step, loop_named(nest, "k").trips({})) == (step, 16)
    assert group_of(nest, "v").slopes == {"k": 8.0, "i": 128.0 * abs(step)}


def test_data_bounds_from_zero_begin_each_time_anew() -> None:
    loops = """for (int i = 0; i < n; i++)
      for (int k = 0; k < row[i]; k++) s[i] += v[k] * 2;"""
    nest = nest_of(loops, "int n, int *row, double *v, double *s", n=90)
    assert group_of(nest, "v").slopes == {"k": 8.0}
    assert loop_named(nest, "k").trips({}) == 16


def test_rows_of_a_table_concern_their_loop_alone() -> None:
    """A second loop of the same variable stands in no loop over rows, and moves with none."""
    loops = """for (int i = 0; i < n; i++) {
      for (int r = 0; r < n; r++)
        for (k = row[r]; k < row[r + 1]; k++) a[k] = 0;
      for (k = 0; k < n; k++) a[k] = 1;
    }"""
    nest = nest_of(loops, "int n, int k, double *a, const int *row", n=64)
    first, second = [loop for loop in nest.loops if loop.variable == "k"]
    assert [group.slopes for group in second.groups] == [{"k": DOUBLE}]
    [rows] = [group.slopes for group in first.groups if group.array == "a"]
    assert rows == {"k": DOUBLE, "r": 16 * DOUBLE}


def test_a_row_of_unknown_length_is_as_long_as_the_loops_reach() -> None:
    """a[][m] with m unknown, j up to 30 by twos: 2 * 30 + 2 elements lie between rows."""
    facts = facts_of(
        "for (int i = 0; i < n; i++) for (int j = 0; j < 30; j++) a[i][2 * j] = 1;",
        "int n, int m, double a[n][m]", n=10,
    )  # fmt: skip
    values = {name: value for name, value in facts.bindings.values.items() if name != "m"}
    nest = loop_nest(facts.region, values)
    assert nest is not None
    assert group_of(nest, "a").slopes == {"i": 8.0 * (2 + 2 * 30), "j": 16.0}
    # So it is where a size makes no sense; one element is a length.
    for length, row in ((0, 2 + 2 * 30), (-1, 2 + 2 * 30), (1, 1)):
        sized = loop_nest(facts.region, {**values, "m": length})
        assert sized is not None
        assert group_of(sized, "a").slopes == {"i": 8.0 * row, "j": 16.0}


def test_private_arrays_are_marked() -> None:
    loops = "for (int i = 0; i < n; i++) { double t[4]; t[1] = i; a[i] = t[1]; }"
    nest = nest_of(loops, "int n, double *a", n=9)
    assert {group.array: group.private for group in nest.groups()} == {"t": True, "a": False}


TRIANGLE = """for (int i = 0; i < n; i++)
  for (int j = %s; j < n; j++)
    for (int k = 0; k < n; k++) c[i] += a[j] * b[k];"""


def test_drift_in_a_triangle() -> None:
    """Threads at other i see other j: a drifts by j; b, the same for all, and c[i] do not."""
    declared = "int n, double *a, double *b, double *c"
    drifts = {g.array: g.drifts for g in nest_of(TRIANGLE % "i", declared, n=100).groups()}
    assert drifts == {"a": frozenset("j"), "b": frozenset(), "c": frozenset()}
    even = {g.array: g.drifts for g in nest_of(TRIANGLE % "0", declared, n=100).groups()}
    assert set(even.values()) == {frozenset()}
    band = "for (int i = 0; i < n; i++) for (int j = i; j < i + 9; j++) c[i] += a[j];"
    # A band: every iteration does the same work, threads stay in step.
    assert {g.drifts for g in nest_of(band, declared, n=100).groups()} == {frozenset()}


def test_of_two_shared_loops_one_moves_it_with_the_team() -> None:
    """j deals out the rows of a, so that its columns, from i on, are each thread's own."""
    loops = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
      for (int k = i; k < n; k++) c[k] += a[j][k];"""
    nest = nest_of(loops, "int n, double a[n][n], double *c", "collapse(2)", n=100)
    assert {g.array: g.drifts for g in nest.groups()} == {"a": frozenset(), "c": frozenset("k")}


@pytest.mark.parametrize(
    ("inner", "uneven"), [(3000, False), (500, True), (1989, False), (1988, True)]
)
def test_a_tenth_makes_threads_fall_out_of_step(inner: int, uneven: bool) -> None:
    """INNER + i iterations and one more, i up to 199: from 3001 to 3200 is 7 % more, from 501 to
    700 40 %, from 1990 to 2189 just a tenth.
    """
    loops = f"for (int i = 0; i < 200; i++) for (int j = 0; j < {inner} + i; j++) a[j] = i;"
    assert bool(group_of(nest_of(loops, "double *a"), "a").drifts) is uneven


def test_a_falling_triangle_drifts_too() -> None:
    loops = "for (int i = 199; i >= 0; i--) for (int j = 0; j < i; j++) a[j] = i;"
    assert group_of(nest_of(loops, "double *a"), "a").drifts == frozenset("j")
    # And through a loop in between: k's range moves with j, whose range moves with i.
    chain = """for (int i = 0; i < 99; i++) for (int j = i; j < 99; j++)
      for (int k = j; k < 99; k++) a[k] += b[j];"""
    nest = nest_of(chain, "double *a, double *b")
    assert group_of(nest, "a").drifts == frozenset("k")
    assert group_of(nest, "b").drifts == frozenset("j")


@pytest.mark.parametrize("head", ["k = 0; k < row[i]", "k = row[i]; k < 100", "k = 0; k < 9"])
def test_a_loop_has_both_ends_or_none(head: str) -> None:
    """Where data decide one end, the other alone would tell of no iterations."""
    loops = f"for (int i = 0; i < 50; i++) for (int {head}; k++) a[k] = 1;"
    loop = loop_named(nest_of(loops, "double *a, int *row"), "k")
    assert (loop.first is None, loop.limit is None) == ("row" in head, "row" in head)


def test_threads_drift_apart_along_what_they_have_in_common() -> None:
    """Each at another i is at another j of a; of its own t nothing is another's."""
    loops = """for (int i = 0; i < n; i++) { double t[64];
      for (int j = i; j < n; j++) { t[j] = a[j]; x[j] = t[j]; } }"""
    nest = nest_of(loops, "int n, double *a, double *x", n=64)
    assert group_of(nest, "a").drifts == {"j"}
    assert group_of(nest, "x").drifts == {"j"}
    assert group_of(nest, "t").drifts == frozenset()


@pytest.mark.parametrize(
    ("declared", "reference", "byte"),
    [
        ("double *a", "a[i / 3]", lambda i: 8 * (i // 3)),
        ("float *a", "a[i % 5 + 2]", lambda i: 4 * (i % 5 + 2)),
        ("double a[][50]", "a[i / 3][i % 7]", lambda i: 8 * (50 * (i // 3) + i % 7)),
        ("double a[100][50]", "a[5][i / 2]", lambda i: 8 * (250 + i // 2)),
        ("double a[][4][50]", "a[i / 2][3][i]", lambda i: 8 * (200 * (i // 2) + 150 + i)),
        ("struct part *a", "a[i / 2].m", lambda i: 48 * (i // 2)),
        ("struct part *a", "a[i / 2].v[i % 5]", lambda i: 48 * (i // 2) + 8 + 8 * (i % 5)),
        ("struct part a[][9]", "a[i / 2][3].v[i]", lambda i: 48 * (9 * (i // 2) + 3) + 8 + 8 * i),
        ("double *a", "a[2 * i + 1]", None),  # affine: its group says it
        ("double *a", "a[t[i]]", None),  # data say where
        ("double *a", "a[t[i] / 2]", None),
        ("int w, double a[][w]", "a[i / 2][3]", None),  # rows of no length that is known
        ("double **a", "a[i / 2][3]", None),
    ],
)
def test_where_what_is_no_affine_function_lies(
    declared: str, reference: str, byte: Callable[[int], int] | None
) -> None:
    """Byte by byte; nothing is told of what is affine, or hangs on more than loop variables."""
    text = f"""struct part {{ double m; double v[5]; }};
void f({declared}, int *t) {{
#pragma omp parallel for
for (int i = 0; i < 40; i++) {reference} = 1; }}"""
    (facts,) = facts_of_text(text)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    (exact,) = group_of(nest, "a").exact
    if byte is None:
        assert exact is None
    else:
        assert exact is not None
        assert [exact.at({"i": float(i)}) for i in range(40)] == [byte(i) for i in range(40)]


def test_a_bound_that_has_no_value_at_one() -> None:
    """`i - 2` of an unsigned i is beyond all numbers at 1, where the loop over i never is."""
    nest = nest_of(
        "for (unsigned long i = 4; i < n; i += 2) for (int j = 2; j <= i - 2; j++) a[j] = 1;",
        "int n, double *a", n=21,
    )  # fmt: skip
    inner = nest.loops[1]
    assert [inner.trips({"i": i}) for i in (4.0, 10.0, 20.0)] == [1, 7, 17]
    assert nest.assumed == ()


def test_a_bound_with_a_size_that_nobody_knows_is_none() -> None:
    """Wherever the loops around are."""
    nest = nest_of(
        "for (unsigned long i = 4; i < 21; i++) for (int j = 2; j <= i - m; j++) a[j] = 1;",
        "int m, double *a",
    )
    assert nest.loops[1].limit is None
