"""How far apart iterations meet, which references surely run, and which inner loops may be shared.

Distances by hand: what iteration i writes, iteration i + distance touches.
"""

from __future__ import annotations

import pytest
from texts import facts_of_texts

from regionpredict.analysis.dependence import (
    carried_dependence,
    is_independent_loop,
    parallel_loops,
    root_of,
    unconditional_references,
)
from regionpredict.ir import Expr, Loop, Region

HEAD = """double a[999], b[999], y[999], A[99][99], B[99][99]; int idx[999];
struct pair { double u, v; } s[999];
double take(double *x); double sin(double x);
static double early(int i) { if (y[i] > 0) return 0; a[i] = 1; return 1; }
static void nothing(int i) { if (y[i] > 0) return; a[i] = 1; }
static void search(int i) { for (int j = 0; j < m; j++) if (y[j] > 0) return; a[i] = 1; }
static void leap(int i) { if (y[i] > 0) goto out; a[i] = 1; out: ; }
static double at_once(int i) { a[i] = 1; return 1; }
"""
I = "for (int i = 9; i < n; i++) "  # noqa: E741
I_J = I + "for (int j = 0; j < m; j++) "


def region_of(loops: str, clauses: str = "") -> Region:
    text = f"{HEAD}void f(int n, int m, int w, int k, double *restrict p) {{\n"
    (facts,) = facts_of_texts(f"{text}#pragma omp parallel for {clauses}\n{loops}\n}}\n")
    return facts.region


def distance(loops: str, clauses: str = "", trips: int | None = None) -> int | None:
    found = carried_dependence(region_of(loops, clauses), trips)
    return None if found is None else found.distance


@pytest.mark.parametrize(
    ("loops", "expected"),
    [
        (I + "a[i] = a[i - 1];", 1),
        (I + "a[i] = a[i - 3];", 3),
        (I + "a[i] = a[i + 2];", -2),
        (I + "a[i - 2] = a[i + 2];", -4),
        (I + "a[i] = a[i];", None),  # the same iteration
        (I + "a[2 * i] = a[2 * i - 4];", 2),
        (I + "a[2 * i] = a[2 * i - 3];", None),  # even and odd elements
        (I + "a[900 - 3 * i] = a[900 - 3 * i + 6];", 2),
        (I + "a[i] = a[2 * i];", None),  # not the same number of iterations everywhere
        # by steps and downwards
        ("for (int i = 8; i < n; i += 2) a[i] = a[i - 4];", 2),
        ("for (int i = 8; i < n; i += 2) a[i] = a[i - 3];", None),
        ("for (int i = 8; i < n; i += 3) a[i] = a[i + 3];", -1),
        ("for (int i = n; i > 8; i--) a[i] = a[i - 1];", -1),
        ("for (int i = n; i > 8; i -= 2) a[i] = a[i + 6];", 3),
        ("for (int i = 8; i < n; i += m) a[i] = a[i - 1];", None),  # an unknown step
        # several dimensions: the same shift in all of them
        (I + "A[i][i] = A[i - 1][i - 1];", 1),
        (I + "A[i][i] = A[i - 1][i - 2];", None),
        (I + "A[i][3] = A[i - 1][3];", 1),
        (I + "A[i][3] = A[i - 1][4];", None),
        (I_J + "A[i][j] = A[i - 2][j];", 2),
        (I_J + "A[i][j] = A[i - 2][j + 1];", None),  # there may be no such j
        (I_J + "A[i][j] = A[i][j - 1];", None),  # inside one iteration
        (I_J + "p[i * m + j] = p[(i - 2) * m + j];", 2),
        (I_J + "p[i * m + j] = p[(i - 2) * m + j + 1];", None),
        (I_J + "p[i * m + j] = p[i * m + j + m];", -1),
        (I_J + "a[i + j] = a[i + j - 1];", None),  # by i or by j, which is not clear
        (I_J + "A[i][j] = A[j][i];", None),
        ("for (int i = 9; i < n; i++) for (int j = i; j < m; j++) A[i][j] = A[i - 1][j];", None),
        (I + "for (int j = idx[0]; j < m; j++) A[i][j] = A[i - 1][j];", 1),  # always the same
        (I + "for (int j = idx[i]; j < m; j++) A[i][j] = A[i - 1][j];", None),
        # every iteration reads and writes one element
        (I + "y[k] += b[i];", 0),
        (I + "y[3] = y[3] * b[i];", 0),
        (I + "y[3] = y[4];", None),
        (I + "y[3] = 1;", None),  # all write the same
        (I + "{ b[i] = y[3]; y[3] = 1; }", None),  # as a flag that is set
        (I_J + "y[j] += A[i][j];", 0),
        (I_J + "y[j] = y[j + 1];", None),
        # names and shapes that do not compare
        (I + "s[i].u = s[i - 1].v;", None),
        (I + "a[i + k] = a[i + k - 1];", 1),
        (I + "a[i + k] = a[i + w - 1];", None),
        (I + "{ k = k + 1; a[k] = a[k - 1]; }", None),  # the region changes it
        (I + "a[idx[i]] = a[idx[i] - 1];", None),
        (I + "{ a[i] = 1; a[i + 1] = 2; }", -1),
    ],
)  # fmt: skip
def test_distances(loops: str, expected: int | None) -> None:
    found = distance(loops)
    # Two that are written, or that each precede the other, are found from either side.
    assert found == expected or (loops.count("] = ") > 1 and found == -(expected or 0))


@pytest.mark.parametrize(
    ("loops", "expected"),
    [
        (I_J + "A[i][j] = A[i - 1][j];", 1),
        (I_J + "A[i][j] = A[i][j - 1];", None),
        (I_J + "A[i][j] = A[i - 1][j - 1];", None),
        (I_J + "y[i] += A[i][j];", None),  # all j, but for one i
        (I_J + "y[3] += A[i][j];", 0),
        (I_J + "for (int l = 0; l < w; l++) A[i][j] = A[i - 3][j];", 3),
        (I_J + "for (int l = 0; l < w; l++) y[l] += A[i][j];", 0),
    ],
)
def test_distances_of_collapsed_loops(loops: str, expected: int | None) -> None:
    assert distance(loops, "collapse(2)") == expected


@pytest.mark.parametrize(
    ("loops", "apart"),
    [(I + "a[i] = a[i - 5];", 5), (I + "a[i] = a[i + 5];", 5), (I + "y[k] += b[i];", 1)],
)
def test_a_distance_beyond_the_iterations_meets_nothing(loops: str, apart: int) -> None:
    assert distance(loops, trips=apart) is None
    assert distance(loops, trips=apart + 1) is not None


def test_pairs_of_subscripts_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 writes and 16 reads of one row, by the inner loop apart: all have one pair of first
    subscripts in common, and 16 * 32 of second ones."""
    asked = 0
    coefficient = Expr.coefficient

    def counted(self: Expr, name: str) -> Expr | None:
        nonlocal asked
        asked += 1
        return coefficient(self, name)

    statements = [f"A[i][j + {2 * at}] = A[i][j + {2 * at + 1}];" for at in range(16)]
    region = region_of(I_J + "{ " + " ".join(statements) + " }")
    monkeypatch.setattr(Expr, "coefficient", counted)
    assert carried_dependence(region, None) is None
    assert asked <= 2 * (1 + 16 * 32)  # of each of the two subscripts


def test_what_is_found() -> None:
    found = carried_dependence(region_of(I + "{ b[i] = 1; a[i] = b[i] + a[i - 2]; }"), None)
    assert found is not None
    assert (found.write.text, found.other.text, found.distance) == ("a[i]", "a[i - 2]", 2)
    # What a clause makes a thread's own, or puts in order, carries nothing.
    for clauses in ("private(a)", "ordered", "reduction(+: a)"):
        assert distance(I + "a[i] = a[i - 1];", clauses) is None


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ("{ a[i] = b[i]; y[i] = 1; }", {"a[i]", "b[i]", "y[i]"}),
        ("{ a[i] = 1; if (k) b[i] = 1; y[i] = 1; }", {"a[i]", "y[i]"}),
        ("{ a[i] = k ? b[i] : y[i]; y[0] = 1; }", {"y[0]"}),
        ("{ a[i] = k && b[i]; y[0] = 1; }", {"y[0]"}),
        ("{ a[i] = k || b[i]; y[0] = 1; }", {"y[0]"}),
        ("{ y[0] = 1; for (int j = 0; j < m; j++) a[j] = 1; }", {"y[0]", "a[j]"}),
        ("{ y[0] = 1; for (int j = 0; j < m; j++) { if (k) break; a[j] = 1; } }", {"y[0]"}),
        ("{ y[0] = 1; for (int j = 0; j < m; j++) { if (k) continue; a[j] = 1; } }", {"y[0]"}),
        ("{ y[0] = 1; while (k) { a[i] = 1; k--; } }", {"y[0]"}),
        ("{ y[0] = 1;\n#pragma omp critical\n a[i] = 1; }", {"y[0]"}),
        ("{ y[0] = 1; if (k) continue; a[i] = 1; }", {"y[0]"}),
        ("{ y[0] = 1; if (k) { y[1] = 1; continue; } else y[2] = 1; a[i] = 1; }", {"y[0]"}),
        ("{ y[0] = 1; if (k) y[1] = 1; else continue; a[i] = 1; }", {"y[0]"}),
        ("{ y[0] = 1; { if (k) continue; a[i] = 1; } y[1] = 1; }", {"y[0]"}),
        ("{ y[0] = 1; if (k) goto out; a[i] = 1; out: y[1] = 1; }", {"y[0]"}),
        # What a function does before it may return is sure, and so is what comes behind its call.
        ("{ y[0] = 1; y[1] = early(i); }", {"y[0]", "y[1]", "y[i]"}),
        ("{ y[0] = 1; nothing(i); }", {"y[0]", "y[i]"}),
        ("{ y[0] = 1; search(i); b[i] = 1; }", {"y[0]", "b[i]"}),
        ("{ y[0] = 1; leap(i); b[i] = 1; }", {"y[0]", "y[i]", "b[i]"}),
        ("{ y[0] = 1; y[1] = at_once(i); }", {"y[0]", "y[1]", "a[i]"}),
        # A call that may not be made.
        ("{ y[0] = 1; if (k && at_once(i)) m = 1; }", {"y[0]"}),
        ("{ y[0] = 1; k = m ? at_once(i) : 0; }", {"y[0]"}),
    ],
)
def test_references_that_surely_run(body: str, texts: set[str]) -> None:
    region = region_of(I + body)
    assert {one.access.text for one in unconditional_references(region)} == texts


def test_the_loops_around_a_reference() -> None:
    (inner, outer) = sorted(
        unconditional_references(
            region_of(I + "{ y[i] = 1; for (int j = 0; j < m; j++) a[j] = 1; }")
        ),
        key=lambda one: -len(one.loops),
    )
    assert [loop.variable for loop in inner.loops] == ["i", "j"]
    assert [loop.variable for loop in outer.loops] == ["i"]


@pytest.mark.parametrize(
    ("array", "root"),
    [("a", "a"), ("s->a", "s"), ("s.a.b", "s"), ("rows[].x", "rows"), ("&x", "x"), ("p->q.r", "p")],
)
def test_the_variable_that_memory_is_reached_by(array: str, root: str) -> None:
    assert root_of(array) == root


@pytest.mark.parametrize(
    ("clauses", "names"), [("", "i"), ("collapse(1)", "i"), ("collapse(2)", "ij")]
)
def test_the_loops_that_are_shared(clauses: str, names: str) -> None:
    three = region_of(I_J + "for (int l = 0; l < w; l++) A[i][j] = l;", clauses)
    assert "".join(loop.variable for loop in parallel_loops(three)) == names


# -- inner loops ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "sure"),
    [
        ("A[i][j] = B[i][j];", True),
        ("A[j][i] = B[j][i];", True),
        ("A[i][2 * j + 1] = 1;", True),
        ("A[i][j] = A[i][j] + 1;", True),
        ("A[i][j] = A[i][j - 1];", False),  # what the j before has written
        ("{ A[i][j] = 1; A[i][j + 1] = 2; }", False),
        ("A[i][0] = j;", False),  # all j write it
        ("a[i] += A[i][j];", False),
        ("A[i][idx[j]] = 1;", False),
        ("A[i][j / 2] = 1;", False),
        ("A[i][j * j] = 1;", False),
        # scalars: set before they are read, or handed from one j to the next
        ("{ double t = B[i][j]; A[i][j] = t * t; }", True),
        ("{ p[j] = k; k = j; }", False),
        ("{ k = j; p[j] = k; }", True),
        ("k += j;", False),
        # whatever may end it or is in turn
        ("{ if (B[i][j] > 1) break; A[i][j] = 1; }", False),
        ("{\n#pragma omp critical\n A[i][j] = 1; }", False),
        ("{\n#pragma omp atomic\n a[0] += 1; A[i][j] = 1; }", False),
        ("A[i][j] = sin(B[i][j]);", True),
        ("A[i][j] = take(&B[i][j]);", False),
        # what stands in branches and in loops inside counts too
        ("if (B[i][j] > 1) A[i][j] = 1;", True),
        ("if (B[i][j] > 1) A[i][j] = 1; else A[i][0] = 1;", False),
        ("for (int l = 0; l < w; l++) A[j][l] = 1;", True),
        ("for (int l = 0; l < w; l++) A[i][j + l] = 1;", False),
        ("for (int l = 0; l < w; l++) { A[j][l] = 1;\n#pragma omp critical\n a[0] = 1; }", False),
        ("{ A[i][j] = B[i][j]; a[j] = b[0]; }", True),
        ("{ A[i][j] = B[i][j]; a[0] = b[j]; }", False),
    ],
)
def test_inner_loops_that_may_be_shared(body: str, sure: bool) -> None:
    region = region_of(I_J + body)
    assert region.nest is not None
    (inner,) = (node for node in region.nest.body if isinstance(node, Loop))
    assert is_independent_loop(region, inner) == sure


def test_a_thread_s_own_array_may_carry_something() -> None:
    body = I + "{ double t[99]; for (int j = 0; j < m; j++) { t[j] = 1; A[i][j] = t[j]; } }"
    region = region_of(body)
    assert region.nest is not None
    (inner,) = (node for node in region.nest.body if isinstance(node, Loop))
    assert not is_independent_loop(region, inner)
