"""Streaming, latency-bound or irregular: by the bytes from one iteration's element to the next's.

A line has 64 bytes: a step shorter than that takes some elements from the line before (a stream),
one of 64 bytes or more takes a new line each (Chatzopoulos 2012, listings 4.5 and 4.6).
"""

from __future__ import annotations

import pytest
from texts import facts_of_texts, the_access

from regionpredict.analysis.patterns import access_pattern
from regionpredict.ir import Access, Array, Expr, Loop, Span

I_J = "for (int i = 0; i < 50; i++) for (int j = 0; j < 50; j++) "


@pytest.mark.parametrize(
    ("declaration", "loops", "kind"),
    [
        # bytes between neighbours: the factor of the variable, times its step, times the element
        ("double a[9999]", "for (int i = 0; i < 50; i++) a[i] = 1;", "streaming"),  # 8
        ("double a[9999]", "for (int i = 0; i < 50; i++) a[7 * i] = 1;", "streaming"),  # 56
        ("double a[9999]", "for (int i = 0; i < 50; i++) a[8 * i] = 1;", "latency"),  # 64
        ("double a[9999]", "for (int i = 0; i < 50; i += 7) a[i] = 1;", "streaming"),  # 56
        ("double a[9999]", "for (int i = 0; i < 50; i += 8) a[i] = 1;", "latency"),  # 64
        ("double a[9999]", "for (int i = 0; i < 50; i += 2) a[3 * i] = 1;", "streaming"),  # 48
        ("double a[9999]", "for (int i = 0; i < 50; i += 2) a[4 * i] = 1;", "latency"),  # 64
        ("double a[9999]", "for (int i = 49; i >= 0; i--) a[i] = 1;", "streaming"),  # -8
        ("double a[9999]", "for (int i = 49; i >= 0; i -= 9) a[i] = 1;", "latency"),  # -72
        ("double a[9999]", "for (int i = 0; i < 50; i++) a[900 - 9 * i] = 1;", "latency"),  # -72
        ("double a[9999]", "for (int i = 0; i < 50; i++) a[900 - 2 * i] = 1;", "streaming"),
        ("float a[9999]", "for (int i = 0; i < 50; i++) a[15 * i] = 1;", "streaming"),  # 60
        ("float a[9999]", "for (int i = 0; i < 50; i++) a[16 * i] = 1;", "latency"),  # 64
        ("char a[9999]", "for (int i = 0; i < 50; i++) a[63 * i] = 1;", "streaming"),
        ("char a[9999]", "for (int i = 0; i < 50; i++) a[64 * i] = 1;", "latency"),
        # a distance by a size that is not known is long
        ("double a[9999]", "for (int i = 0; i < 50; i++) a[n * i] = 1;", "latency"),
        ("double a[9999]", "for (int i = 0; i < 50; i += m) a[i] = 1;", "latency"),
        # what no loop moves stays in its line
        ("double a[9999]", "for (int i = 0; i < 50; i++) a[3] = 1;", "streaming"),
        ("double a[9999]", "for (int i = 0; i < 50; i++) a[n] = 1;", "streaming"),
    ],
)
def test_one_dimension(declaration: str, loops: str, kind: str) -> None:
    assert the_access(loops, "a", declaration + ";").pattern == kind


@pytest.mark.parametrize(
    ("dims", "reference", "kind"),
    [
        # the innermost loop that moves the reference decides, j where it is in it
        ("[99][99]", "[i][j]", "streaming"),
        ("[99][99]", "[j][i]", "latency"),
        ("[9999]", "[i]", "streaming"),
        ("[9999]", "[9 * i]", "latency"),
        ("[9999]", "[9 * i + j]", "streaming"),
        ("[9999]", "[i + 9 * j]", "latency"),
        ("[99][99]", "[i][0]", "latency"),
        ("[99][99]", "[0][i]", "streaming"),
        # rows shorter than a line lie side by side: 5, 7, 8 doubles are 40, 56, 64 bytes
        ("[99][5]", "[j][2]", "streaming"),
        ("[99][7]", "[j][2]", "streaming"),
        ("[99][8]", "[j][2]", "latency"),
        ("[99][5]", "[98 - j][2]", "streaming"),
        ("[99][3]", "[2 * j][2]", "streaming"),  # 2 rows of 24 bytes
        ("[99][4]", "[2 * j][2]", "latency"),  # 2 rows of 32 bytes
        ("[99][2][3]", "[j][1][1]", "streaming"),  # 48 bytes
        ("[99][2][4]", "[j][1][1]", "latency"),  # 64 bytes
        ("[9][99][5]", "[i][j][1]", "streaming"),
        ("[9][99][5]", "[j][i][1]", "latency"),  # 99 rows of 40 bytes
        # moved along two dimensions: a row and an element further
        ("[99][6]", "[j][j]", "streaming"),  # 48 + 8 bytes
        ("[99][7]", "[j][j]", "latency"),  # 56 + 8 bytes
    ],
)
def test_several_dimensions(dims: str, reference: str, kind: str) -> None:
    found = the_access(I_J + f"a{reference} = 1;", "a", f"double a{dims};")
    assert found.pattern == kind


def test_short_rows_at_a_step_of_unknown_size() -> None:
    """As in one dimension: m rows of 24 bytes are a long way."""
    loops = "for (int i = 0; i < 50; i += m) a[i][1] = 1;"
    assert the_access(loops, "a", "double a[99][3];").pattern == "latency"


@pytest.mark.parametrize(
    ("step", "kind"),
    [(1, "streaming"), (2, "streaming"), (3, "latency")],  # rows of 3 doubles: 24, 48, 72 bytes
)
def test_short_rows_by_the_loop_s_step(step: int, kind: str) -> None:
    loops = f"for (int i = 0; i < 50; i += {step}) a[i][1] = 1;"
    assert the_access(loops, "a", "double a[99][3];").pattern == kind


@pytest.mark.parametrize(("length", "kind"), [(63, "streaming"), (64, "latency")])
def test_short_rows_to_the_byte(length: int, kind: str) -> None:
    loops = "for (int i = 0; i < 50; i++) a[i][1] = 1;"
    assert the_access(loops, "a", f"char a[99][{length}];").pattern == kind


def test_rows_of_an_array_of_other_rank_are_long() -> None:
    """Two subscripts of what is declared with one extent: how long a row is cannot be known."""
    i, one, span = Expr.name("i"), Expr.const(1), Span("f.c", 1)
    loop = Loop("i", Expr.const(0), Expr.const(9), "<", one, (), span)
    access = Access("a", "write", (i, one), "a[i][1]", span)
    assert access_pattern(access, Array("a", 8, (Expr.const(5),), "global"), (loop,)) == "latency"
    five = (Expr.const(9), Expr.const(5))
    assert access_pattern(access, Array("a", 8, five, "global"), (loop,)) == "streaming"


def test_rows_of_unknown_length_are_long() -> None:
    rows = "void g(int n, int m, double a[n][m]) {\n#pragma omp parallel for\n"
    (facts,) = facts_of_texts(rows + "for (int i = 0; i < n; i++) a[i][0] = 1;\n}\n")
    assert facts.statements[0].accesses[0].pattern == "latency"


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("a[t[j]]", "irregular"),  # a gather
        ("a[t[i]]", "irregular"),
        ("b[t[j]][0]", "irregular"),
        ("b[t[j]][j]", "irregular"),
        ("b[j][t[j]]", "irregular"),
        ("b[t[0]][j]", "streaming"),
        ("a[t[0]]", "streaming"),  # the same all the time
        ("a[n % 7]", "streaming"),
        ("a[(3 * j) % 100]", "irregular"),
        ("a[j / 3]", "irregular"),
        ("a[j * j]", "irregular"),  # no affine function
        ("a[g(j)]", "irregular"),
        ("a[j - 1 > 0 ? j - 1 : 0]", "streaming"),  # a clamp moves as what it clamps
        ("a[9 * j - 1 > 0 ? 9 * j - 1 : 0]", "latency"),
        ("a[t[i] > 0 ? j : 9]", "irregular"),  # one of two things, no clamp
    ],
)
def test_what_is_no_affine_function(reference: str, kind: str) -> None:
    declarations = "double a[9999], b[99][99]; int t[9999]; int g(int);"
    assert the_access(I_J + f"{reference} = 1;", reference[0], declarations).pattern == kind
