"""Pointers in structs that an iteration sets: as the same loop over the pointers themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts_compared import Facts, compared
from reading import FRONTENDS, analysis_of, facts_of

DECLARATIONS = """
struct row { double *p; int n; };
struct both { struct row in; double *q; };
static void put(struct row *r, double *to) { r->p = to; }
static struct row *next(struct row *r) { r->p++; return r; }
"""
FIRST = "double *p = a + i*w; "
ROW = "for (int j = 0; j < m; j++) p[j] = b[j];"

# What the body of the loop over i does, and the same without a struct.
SAME = {
    "assigned": ("struct row r; r.p = a + i*w; for (int j = 0; j < m; j++) r.p[j] = b[j];",
                 FIRST + ROW),
    "listed": ("struct row r = {a + i*w, m}; for (int j = 0; j < m; j++) r.p[j] = b[j];",
               FIRST + ROW),
    "listed by name": ("struct row r = {.n = 3, .p = a + i*w};"
                       " for (int j = 0; j < m; j++) r.p[j] = b[j];", FIRST + ROW),
    "behind a pointer": ("struct row r, *q = &r; q->p = a + i*w;"
                         " for (int j = 0; j < m; j++) q->p[j] = b[j];", FIRST + ROW),
    "by a function": ("struct row r; put(&r, a + i*w); for (int j = 0; j < m; j++) r.p[j] = b[j];",
                      FIRST + ROW),
    "a copy": ("struct row s, r; s.p = a + i*w; r = s; for (int j = 0; j < m; j++) r.p[j] = b[j];",
               FIRST + ROW),
    "in a struct": ("struct both r; r.in.p = a + i*w; r.q = b;"
                    " for (int j = 0; j < m; j++) r.in.p[j] = r.q[j];", FIRST + ROW),
    "set again": ("struct row r = {b, 1}; r.p = a + i*w;"
                  " for (int j = 0; j < m; j++) r.p[j] = b[j];", FIRST + ROW),
}  # fmt: skip


def region(body: str) -> str:
    parameters = "double *a, double *b, struct row *rows, int n, int m, int w"
    loop = f"#pragma omp parallel for\nfor (int i = 0; i < n; i++) {{ {body} }}\n"
    return f"{DECLARATIONS}void f({parameters}) {{\n{loop}}}\n"


def memory(folder: Path, body: str, frontend: str) -> list[Facts]:
    """All but the operations, which a struct's list of values is part of."""
    given = {"n": 50, "m": 30, "w": 40}
    analysis = analysis_of(folder, region(body), frontend, given=given)
    return [facts._replace(operations={}) for facts in compared(analysis)]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("way", SAME)
def test_it_is_the_memory_that_the_pointer_leads_to(
    tmp_path: Path, way: str, frontend: str
) -> None:
    struct, pointers = SAME[way]
    ours = memory(tmp_path, struct, frontend)
    assert ours == memory(tmp_path, pointers, frontend)
    assert ours[0].working_set == 8 * (49 * 40 + 30) + 8 * 30


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_copy_of_a_struct_leads_where_that_one_does(tmp_path: Path, frontend: str) -> None:
    facts = facts_of(
        tmp_path,
        region("struct row r = rows[i]; for (int j = 0; j < m; j++) r.p[j] = b[j];"),
        frontend,
    )
    (write,) = [access.access for one in facts.statements for access in one.accesses
                if access.access.kind == "write"]  # fmt: skip
    assert write.array == "rows[].p"
    assert [str(subscript) for subscript in write.subscripts] == ["i", "j"]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_number_in_a_copy_is_the_element_s(tmp_path: Path, frontend: str) -> None:
    """Data says how long each row is: no size, which all rows would share."""
    copied = "struct row r = rows[i]; for (int j = 0; j < r.n; j++) r.p[j] = b[j];"
    direct = "for (int j = 0; j < rows[i].n; j++) rows[i].p[j] = b[j];"
    by_copy, by_element = (facts_of(tmp_path, region(body), frontend) for body in (copied, direct))
    bounds = [[str(loop.bound) for loop in facts.region.loops()] for facts in (by_copy, by_element)]
    assert bounds[0] == bounds[1]
    assert "r.n" not in by_copy.free_names
    # What is set in front of the loop is one struct for all iterations, and a size.
    outside = region("for (int j = 0; j < s.n; j++) s.p[j] = b[j];").replace(
        "#pragma", "struct row s = rows[0];\n#pragma"
    )
    assert any(name.endswith("n") and name != "n" for name in
               facts_of(tmp_path, outside, frontend).free_names)  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_an_array_in_a_copy_is_the_copy_s_own(tmp_path: Path, frontend: str) -> None:
    facts = facts_of(tmp_path, "struct cell { double v[3], s; } cells[900]; double a[900];\n"
        "void f(int n) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) {"
        " struct cell c = cells[i]; c.v[1] = 2; a[i] = c.v[1]; }\n}\n", frontend)  # fmt: skip
    accesses = [access.access for one in facts.statements for access in one.accesses]
    written = {access.array for access in accesses if access.kind == "write"}
    assert "a" in written
    assert not any(name.startswith("cells") for name in written)


MOVED = {
    "in an inner loop": "struct row r; r.p = a; for (int j = 0; j < m; j++) { r.p[0] = 1; r.p++; }",
    "by a function": "struct row r; r.p = a; for (int j = 0; j < m; j++) { next(&r); *r.p = 1; }",
    "to what is read": "struct row r; r.p = a; r.p = r.p + (int) b[i]; r.p[0] = 1;",
}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("way", MOVED)
def test_where_a_moved_one_leads_is_not_the_same_element_each_time(
    tmp_path: Path, way: str, frontend: str
) -> None:
    facts = facts_of(tmp_path, region(MOVED[way]), frontend)
    (write,) = [access for one in facts.statements for access in one.accesses
                if access.access.kind == "write"]  # fmt: skip
    assert write.access.array == "a"
    assert write.pattern == "irregular"
