"""Reuse distances by hand, and against the LRU stack distances of small nests that are run."""

from __future__ import annotations

from fractions import Fraction

import pytest
from further_cases import further_slow
from nest_texts import facts_of, facts_of_text, nest_of
from simulated_nest import stack_distances
from small_nests import NESTS, lowered

from regionpredict.analysis import RegionFacts
from regionpredict.workload import ReuseFact, ReuseShare, reuse_facts, reuse_histogram
from regionpredict.workload.cache_traffic import touched_bytes
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.reuse_distance import _environment_at, count_misses, reuse_distances

ROUGH = {"triangle": 0.12, "rowsdown": 0.4, "syrk": 0.3, "columns": 0.15}
"""Triangles are looked at in eight places, and lines at the ends of columns weigh in 25 rows."""


@pytest.mark.parametrize("name", further_slow(10, NESTS))
def test_misses_of_caches_of_all_sizes(name: str) -> None:
    """From 10 to 120 % of the data; a reference that the trace has once more hits at once."""
    nest = lowered(name)
    found = stack_distances(nest)
    reuse = reuse_distances(nest, 64)
    lines = touched_bytes(nest, 64) / 64
    for share in (0.1, 0.15, 0.3, 0.45, 0.6, 0.8, 1.2):
        cache = max(4, int(share * lines))
        truth = sum(n for away, n in found.items() if away is None or away >= cache)
        assert count_misses(reuse, cache) == pytest.approx(truth, rel=ROUGH.get(name, 0.15)), share
    executions = sum(one.executions for one in reuse)
    assert sum(n for away, n in found.items() if away is None) == pytest.approx(
        count_misses(reuse, float("inf")), rel=0.1
    )
    assert executions >= sum(found.values()) * 0.999


MATRIX = "int n, double a[n][n], double *x, double *y"
SEVERAL_LOOPS = {
    "a row, and again": "{ for (int j = 0; j < n; j++) x[i] += a[i][j];"
    " for (int k = 0; k < n; k++) y[i] += a[i][k]; }",
    "a row, another, and the first again": "{ for (int j = 0; j < n; j++) x[i] += a[i][j];"
    " for (int l = 0; l < n; l++) y[l] += i; for (int k = 0; k < n; k++) x[i] += a[i][k]; }",
    "an element before its row": "{ y[i] = a[i][7]; for (int j = 0; j < n; j++) x[j] += a[i][j]; }",
    "a row before an element": "{ for (int j = 0; j < n; j++) x[j] += a[i][j]; y[i] = a[i][7]; }",
    "two elements around a vector": "{ y[i] = 1; for (int j = 0; j < n; j++) x[j] += a[i][j];"
    " for (int k = 0; k < n; k++) x[k] *= y[i]; }",
}


@pytest.mark.parametrize(
    "text", further_slow(2, [pytest.param(text, id=name) for name, text in SEVERAL_LOOPS.items()])
)
def test_misses_of_loops_side_by_side(text: str) -> None:
    """A row is nine lines: of caches of less than one, of all of an iteration, of all there is."""
    nest = nest_of(f"for (int i = 0; i < n; i++) {text}", MATRIX, n=64)
    found, reuse = stack_distances(nest), reuse_distances(nest, 64)
    for cache in (4, 8, 32, 300, 600):
        truth = sum(n for away, n in found.items() if away is None or away >= cache)
        assert count_misses(reuse, cache) == pytest.approx(truth, rel=0.12), cache


def test_a_part_of_a_loop_is_not_taken_for_the_loop_beside_it() -> None:
    """The edges of a box: three loops with two groups, of which one meets a row many rows ago."""
    loops = """for (int i = 1; i < l - 1; i++) {
      for (int j = 1; j < m - 1; j++) { u[i][j][n-1] = u[i][j][1]; u[i][j][0] = u[i][j][n-2]; }
      for (int k = 0; k < n; k++) { u[i][m-1][k] = u[i][1][k]; u[i][0][k] = u[i][m-2][k]; }
    }"""
    nest = nest_of(loops, "int l, int m, int n, double ***u", l=40, m=30, n=20)
    found, reuse = stack_distances(nest), reuse_distances(nest, 64)
    for cache in (4, 20_000):
        truth = sum(n for away, n in found.items() if away is None or away >= cache)
        assert count_misses(reuse, cache) == pytest.approx(truth, rel=0.12), cache


@pytest.mark.parametrize("name", NESTS)
def test_shares_are_whole_and_larger_caches_hit_more(name: str) -> None:
    reuse = reuse_distances(lowered(name), 64)
    for one in reuse:
        assert sum(use.share for use in one.uses) == pytest.approx(1.0)
        assert all(use.share > 0 and (use.lines is None or use.lines >= 0) for use in one.uses)
    sizes = [1, 2, 4, 16, 64, 256, 1024, 1e9]
    missed = [count_misses(reuse, size) for size in sizes]
    assert missed == sorted(missed, reverse=True)


def told(facts: RegionFacts) -> dict[str, tuple[str, float | None, str | None]]:
    return {
        f"{one.access.kind} {one.access.text}": (str(one.expr), one.lines, one.carried_by)
        for one in reuse_facts(facts, 64)
    }


MATMUL = """for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];"""
SQUARES = "int n, double a[n][n], double b[n][n], double c[n][n]"


def test_matrix_multiplication_by_hand() -> None:
    """A row of n doubles lies in 1 + (n-1)/8 lines, a column in n, the matrix in 1 + (n*n-1)/8.

    Between two uses of c lie the lines of a and b of one k; of a row of a, a row, a column and
    the line of c of one j, but for itself; of b, all of b and a row of each of a and c.
    """
    n = 2000
    row, matrix = 1 + (n - 1) / 8, 1 + (n * n - 1) / 8
    assert told(facts_of(MATMUL, SQUARES, n=n)) == {
        "read c[i][j]": ("2", 2.0, "k"),
        "write c[i][j]": ("0", 0.0, None),
        "read a[i][k]": ("(9*n + 7)/8", row + n + 1 - 1, "j"),
        "read b[k][j]": ("(n*n + 2*n + 13)/8", matrix + 2 * row - 1, "i"),
    }


def test_sizes_without_a_value_leave_the_expression() -> None:
    known = told(facts_of(MATMUL, SQUARES, n=2000))
    for text, (expr, lines, carrier) in told(facts_of(MATMUL, SQUARES)).items():
        assert (expr, carrier) == (known[text][0], known[text][2])
        assert lines is None
    facts = reuse_facts(facts_of(MATMUL, SQUARES), 64)
    assert all(one.uses == () and one.executions is None for one in facts)
    assert reuse_histogram(facts) == ()


def test_a_stencil_by_hand() -> None:
    """The row above was the middle one an iteration ago: between lie three rows of a, one of b.

    The rows of a, of 802 doubles of which 800 are read, leave out no line between them.
    """
    loops = """for (int i = 1; i < n-1; i++)
      for (int j = 1; j < m-1; j++) b[i][j] = a[i-1][j] + a[i][j] + a[i+1][j];"""
    facts = facts_of(loops, "int n, int m, double a[n][m], double b[n][m]", n=500, m=802)
    rows, row = 1 + (2 * 802 + 799) / 8, 1 + 799 / 8
    seen = told(facts)
    for text in ("read a[i - 1][j]", "read a[i][j]"):
        assert seen[text][1] == pytest.approx(rows + row - 1)
        assert seen[text][2] == "i"
    # Neighbours in a line: three lines of a and one of b in an iteration of j.
    assert seen["read a[i + 1][j]"] == ("3", 3.0, "j")
    assert seen["write b[i][j]"] == ("3", 3.0, "j")


def test_another_reference_far_behind() -> None:
    """a[i] was a[i + 1000] a thousand iterations ago: 1000 doubles of a at two places, and of b."""
    loops = "for (int i = 0; i < n; i++) b[i] = a[i] + a[i+1000];"
    seen = told(facts_of(loops, "int n, double *a, double *b", n=100_000))
    expr, lines, carrier = seen["read a[i]"]
    assert lines == pytest.approx(3 * 1000 / 8, rel=0.01)
    assert carrier == "i"
    assert float(Fraction(expr)) == lines
    assert seen["read a[i + 1000]"][1] == 2.0
    # Where the loop is shorter than that, it never comes there.
    assert told(facts_of(loops, "int n, double *a, double *b", n=500))["read a[i]"][1] == 2.0


BACK = "int n, double a[9000], double b[9000], double c[999][300], double d[999][300]"


@pytest.mark.parametrize(
    "text",
    [
        "b[{i}] = a[{i}] + a[{i} + 1200] + a[{i} + 600];",
        "b[{i}] = a[{i} + 1200] * a[{i}];",
        "for (int j = 0; j < 200; j++) d[{i}][j] = c[{i}][j] + c[{i} + 12][j] + c[{i} + 6][j];",
        "for (int j = 0; j < 200; j++) a[j] += c[{i}][j] * c[{i} + 6][7];",
        "for (int j = 0; j < 90; j++) d[j][{i}] = c[j][{i}] + c[j][{i} + 12];",
    ],
)
@pytest.mark.parametrize(("step", "subscript"), [(2, "2 * i"), (3, "3 * i"), (-1, "(599 - i)")])
def test_a_loop_by_steps_is_one_of_which_the_subscripts_are_a_multiple(
    text: str, step: int, subscript: str
) -> None:
    """What another reference used so many iterations ago, counted in these."""
    by_ones = f"for (int i = 0; i < 90; i++) {{ {text.format(i=subscript)} }}"
    heads = {-1: "i = 599; i > 509; i--", 2: "i = 0; i < 180; i += 2", 3: "i = 0; i < 270; i += 3"}
    by_steps = f"for (int {heads[step]}) {{ {text.format(i='i')} }}"
    one, other = (reuse_distances(nest_of(loops, BACK), 64) for loops in (by_ones, by_steps))
    for a, b in zip(one, other, strict=True):
        assert (a.number, a.executions) == (b.number, b.executions)
        assert [use[2:] for use in a.uses] == [use[2:] for use in b.uses]
        for place in (0, 1):
            assert [use[place] for use in a.uses if use.lines is not None] == pytest.approx(
                [use[place] for use in b.uses if use.lines is not None]
            )


@pytest.mark.parametrize(
    ("head", "ahead"),
    [("i = 0; i < 90; i++", 6), ("i = 0; i < 180; i += 2", 12), ("i = 100; i > 10; i--", -6)],
)
def test_what_lies_between_so_many_iterations(head: str, ahead: int) -> None:
    """What was `ahead` is needed six iterations later: six rows of c at each of two places, and six
    of d, lie between; a row of 200 doubles has 1 + 199/8 lines."""
    loops = f"""for (int {head}) for (int j = 0; j < 200; j++)
      d[i][j] = c[i + 9][j] + c[i + 9 + {ahead}][j];"""
    reuse = reuse_distances(nest_of(loops, BACK), 64)
    (far,) = (use for one in reuse for use in one.uses if use.carried_by == "i")
    assert far.lines == pytest.approx(3 * 6 * (1 + 199 / 8) - 1)


def test_a_line_of_the_same_iteration_is_as_far_as_its_latest_use() -> None:
    """a[16 * i + 2] lies in the line of a[16 * i + 1], c alone is between; b stands before both."""
    loops = (
        "for (int i = 0; i < n; i++) s[0] += a[16*i] * b[16*i] * a[16*i+1] * c[16*i] * a[16*i+2];"
    )
    seen = told(facts_of(loops, "int n, double *a, double *b, double *c, double *s", n=5000))
    assert seen["read a[16 * i + 1]"] == ("1", 1.0, None)
    assert seen["read a[16 * i + 2]"] == ("1", 1.0, None)


def test_a_row_of_the_same_iteration_is_as_far_as_the_loop_that_used_it_last() -> None:
    """Rows of 64 doubles lie in 1 + 63/8 lines. Since the third loop used the row of a, its own
    row, u[i] and v[i] lie between; b, which the second loop reads, does not."""
    loops = """for (int i = 0; i < n; i++) {
      for (int j = 0; j < 64; j++) s[i] += a[i][j];
      for (int k = 0; k < 64; k++) t[i] += b[i][k];
      for (int l = 0; l < 64; l++) u[i] += a[i][l];
      for (int q = 0; q < 64; q++) v[i] += a[i][q]; }"""
    declared = "int n, double a[n][64], double b[n][64], double *s, double *t, double *u, double *v"
    _, lines, carrier = told(facts_of(loops, declared, n=500))["read a[i][q]"]
    assert (lines, carrier) == (pytest.approx(1 + 63 / 8 + 2 - 1), None)


def test_a_row_behind_one_of_its_elements_and_another_loop() -> None:
    """The line of a[i][7] comes before both loops: rows of b and a, t[i] and u[i] lie between."""
    loops = """for (int i = 0; i < n; i++) { s[i] = a[i][7];
      for (int k = 0; k < 64; k++) t[i] += b[i][k];
      for (int q = 0; q < 64; q++) u[i] += a[i][q]; }"""
    declared = "int n, double a[n][64], double b[n][64], double *s, double *t, double *u"
    facts = reuse_facts(facts_of(loops, declared, n=500), 64)
    (row,) = (fact for fact in facts if fact.access.text == "a[i][q]")
    between = [use.lines for use in row.uses if use.carried_by is None and use.lines is not None]
    assert between == [pytest.approx(2 * (1 + 63 / 8) + 2 - 1)]


@pytest.mark.parametrize("n", [200, 2000, 8000])
def test_as_many_throws_find_a_line_for_the_first_time(n: int) -> None:
    """Of 2000 lines n throws hit 2000 (1 - (1 - 1/2000)^n), each once for the first time."""
    loops = "for (int i = 0; i < n; i++) s[0] += x[row[i]];"
    facts = reuse_facts(facts_of(loops, "int n, int *row, double *s, double x[16000]", n=n), 64)
    (thrown,) = (fact for fact in facts if fact.access.array == "x")
    (first,) = (use.share for use in thrown.uses if use.lines is None)
    assert first == pytest.approx(2000 * (1 - (1 - 1 / 2000) ** n) / n, rel=1e-3)


def test_the_expression_has_the_value() -> None:
    text = """void f(int n, int m, int w, double a[n][m], double b[n][m], double *x) {
#pragma omp parallel for
  for (int i = w; i < n - w; i++) {
    for (int j = 0; j < m; j += 2) b[i][j] = a[i-w][j] + a[i+w][j] + x[j];
    for (int j = 0; j < i; j++) x[j] += b[i][j]; }
}"""
    sizes = {"n": 300, "m": 400, "w": 3}
    (facts,) = facts_of_text(text, **sizes)
    for one in reuse_facts(facts, 64):
        assert one.expr is not None
        assert one.lines is not None
        value = one.expr.evaluate(sizes)
        assert value is not None
        assert float(value) == pytest.approx(one.lines, rel=1e-3)


def test_facts_of_a_triangle_are_those_of_all_its_iterations() -> None:
    """The middle i and j have three quarters of the products that all have on average."""
    loops = """for (int i = 0; i < n; i++) for (int j = 0; j < i; j++)
      for (int k = 0; k <= j; k++) a[i][j] += a[i][k] * b[j][k];"""
    case = facts_of(loops, "int n, double a[n][n], double b[n][n]", n=24)
    nest = loop_nest(case.region, case.bindings.values)
    assert nest is not None
    facts, found = reuse_facts(case, 64), stack_distances(nest)
    products = sum(j + 1 for i in range(24) for j in range(i))
    for fact in facts:
        assert fact.executions == pytest.approx(products, rel=0.03)
    for cache in (4, 8, 16, 32, 64, 128):
        missed = sum(
            (fact.executions or 0.0) * (1.0 - sum(use.hits(cache) for use in fact.uses))
            for fact in facts
        )
        truth = sum(n for away, n in found.items() if away is None or away >= cache)
        assert missed == pytest.approx(truth, rel=0.12), cache


def test_gathers_are_spread_over_their_array() -> None:
    loops = "for (int i = 0; i < n; i++) s[0] += x[row[i]];"
    facts = facts_of(loops, "int n, int *row, double *s, double x[8192]", n=1 << 20)
    one = next(f for f in reuse_facts(facts, 64) if f.access.array == "x")
    assert (str(one.expr), one.lines, one.carried_by) == ("1023", 1023.0, "i")
    again, first = one.uses
    assert again.hits(512) == pytest.approx(0.5, rel=0.01)
    assert first.share == pytest.approx(1024 / 2**20, rel=0.01)
    bars = {bar.below: bar.share for bar in reuse_histogram([one])}
    assert bars[1024] == pytest.approx(0.5, rel=0.01)
    assert bars[256] == pytest.approx(0.125, rel=0.01)
    assert bars[1] == bars[2] == pytest.approx(1 / 1023, rel=0.01)  # none and one line between
    assert sum(bars.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("elements", "below"), [(8, {1: 1.0}), (16, {1: 1.0}), (24, {1: 0.5, 2: 0.5})]
)
def test_gathers_from_few_lines(elements: int, below: dict[int, float]) -> None:
    """Of one line, of two, of three: spread evenly over none, one or two others."""
    loops = "for (int i = 0; i < n; i++) s[0] += x[row[i]];"
    facts = facts_of(loops, f"int n, int *row, double *s, double x[{elements}]", n=1 << 20)
    one = next(fact for fact in reuse_facts(facts, 64) if fact.access.array == "x")
    bars = {bar.below: bar.share for bar in reuse_histogram([one]) if bar.share > 1e-3}
    assert bars == {number: pytest.approx(share, rel=1e-3) for number, share in below.items()}


def test_histogram_by_hand() -> None:
    """A copy: seven of eight find the line of the iteration before, one line of the other array
    between; one of eight is new.
    """
    loops = "for (int i = 0; i < n; i++) b[i] = a[i];"
    facts = reuse_facts(facts_of(loops, "int n, double *a, double *b", n=1 << 20), 64)
    again, first = reuse_histogram(facts)
    assert (again.below, first.below) == (2, None)
    assert again.share == pytest.approx(7 / 8, rel=1e-4)
    assert first.share == pytest.approx(1 / 8, rel=1e-4)


def test_a_line_found_at_once_is_below_one() -> None:
    """Of a read and a write of each element the write and seven of eight reads have no other line
    between; three lines of others between are below four, four below eight.
    """
    loops = "for (int i = 0; i < n; i++) a[i] += 1;"
    facts = reuse_facts(facts_of(loops, "int n, double *a", n=1 << 20), 64)
    bars = reuse_histogram(facts)
    assert [bar.below for bar in bars] == [1, None]
    assert [bar.share for bar in bars] == pytest.approx([15 / 16, 1 / 16], rel=1e-4)
    for others, below in ((1, 2), (2, 4), (3, 4), (4, 8), (7, 8), (8, 16)):
        names = [f"x{number}" for number in range(others + 1)]
        loops = "for (int i = 0; i < n; i++) {" + "".join(f"{name}[i] = i;" for name in names) + "}"
        declared = "int n, " + ", ".join(f"double *{name}" for name in names)
        bars = reuse_histogram(reuse_facts(facts_of(loops, declared, n=1 << 20), 64))
        assert [bar.below for bar in bars] == [below, None]


def test_lines_of_another_length() -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s[i] += a[i][j] * x[j];"
    facts = facts_of(loops, "int n, double *s, double *x, double a[n][n]", n=1600)
    for line in (64, 128, 256):
        x = next(f for f in reuse_facts(facts, line) if f.access.array == "x")
        row = 1 + 1599 * 8 / line
        assert x.lines == pytest.approx(row + row + 1 - 1)


def facts_not_known() -> ReuseFact:
    """Of a reference that the nest does not have."""
    facts = facts_of("for (int i = 0; i < n; i++) b[i] = i;", "int n, double *b")
    (one,) = reuse_facts(facts, 64)
    assert one.executions is None
    return one


def test_what_is_not_known() -> None:
    facts = facts_of("for (int i = 0; i < n; i++) { int k = 0; while (a[k] > i) k++; b[i] = k; }",
                     "int n, double *a, double *b", n=100)  # fmt: skip
    assert all(one[1:] == (None, None, None, None, ()) for one in reuse_facts(facts, 64))
    none = facts_of("for (int i = 5; i < 5; i++) b[i] = i;", "double *b")
    (never,) = reuse_facts(none, 64)
    assert never == ReuseFact(never.access, None, None, None, 0.0, ())
    assert reuse_histogram([never]) == ()
    (known,) = reuse_facts(facts_of("for (int i = 0; i < 9; i++) b[i] = i;", "double *b"), 64)
    assert reuse_histogram([known, never]) == reuse_histogram([known]) != ()
    # One whose executions nobody knows: there are no shares of all.
    assert reuse_histogram([known, facts_not_known()]) == ()


def test_hits() -> None:
    near = ReuseShare(0.75, 4.0, "i")
    assert (near.hits(4), near.hits(5)) == (0.0, 0.75)
    assert ReuseShare(0.25, None, None).hits(float("inf")) == 0.0


@pytest.mark.parametrize(
    ("head", "values"),
    [
        ("i = 0; i < 100; i++", (0.0, 49.5, 99.0)),
        ("i = 10; i < 30; i += 2", (10.0, 19.0, 28.0)),
        ("i = 99; i >= 0; i--", (99.0, 49.5, 0.0)),
        ("i = 5; i < 5; i++", (5.0, 5.0, 5.0)),
    ],
)
def test_the_first_the_middle_and_the_last_iteration(
    head: str, values: tuple[float, float, float]
) -> None:
    loop = nest_of(f"for (int {head}) x[i] = 1;", "double *x").root
    places = [_environment_at(loop, {"o": 7.0}, place) for place in (0.0, 0.5, 1.0)]
    assert places == [{"o": 7.0, "i": value} for value in values]
