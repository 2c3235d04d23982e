"""The statements of a region with their operations and references, as the source has them."""

from __future__ import annotations

import pytest
from nest_texts import facts_of

from regionpredict.workload import SizeTarget, statement_table

LOOPS = """for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    a[i][j] = a[i][j] * s + b[j][i];
    v[i] += 1;
  }"""
DECLARED = "int n, double s, double a[n][n], double b[n][n], double *v"


def test_rows() -> None:
    table = statement_table(facts_of(LOOPS, DECLARED, n=100), 64)
    assert (table.status, table.iterations) == ("complete", 100)
    assert table.working_set_bytes == 8 * (2 * 100**2 + 100)
    assert table.unbound == () and table.assumed == () and table.region.endswith("case.c:2")
    first, second = table.statements
    assert (first.line, second.line) == (5, 6)
    assert dict(first.operations)["fp_mul"] == dict(first.operations)["fp_add"] == 1
    assert [(one.text, one.kind, one.counted) for one in first.references] == [
        ("a[i][j]", "write", True), ("a[i][j]", "read", True), ("b[j][i]", "read", True)
    ]  # fmt: skip
    assert [(one.text, one.counted) for one in second.references] == [
        ("v[i]", False), ("v[i]", False)
    ]  # fmt: skip
    assert {one.reuse for row in table.statements for one in row.references} <= {"hit", "miss"}


def test_names_without_a_value() -> None:
    table = statement_table(facts_of(LOOPS, DECLARED), 64)
    assert table.unbound == ("n",)
    loops = "for (int i = 0; i < n; i++) a[i][m] = a[i][0];"
    part = facts_of(loops, "int n, int m, double a[n][m]", n=9)
    assert statement_table(part, 64).unbound == ("m",)
    assert table.iterations is None and table.working_set_bytes is None


TRIANGLE = """for (int i = 0; i < n; i++) {
  v[i] = 0;
  for (int j = 0; j <= i; j++) w[j] = i;
}"""


def test_executions_and_what_is_moved() -> None:
    """A double and a float; the inner statement runs 1 + 2 + ... + 100 times."""
    table = statement_table(facts_of(TRIANGLE, "int n, double *v, float *w", n=100), 64)
    assert [row.executions for row in table.statements] == [100, 5050]
    assert [one.bytes for row in table.statements for one in row.references] == [8, 4]


def test_executions_of_open_sizes_are_those_of_data_as_large_as_asked() -> None:
    facts = facts_of(TRIANGLE, "int n, double *v, float *w")
    assert [row.executions for row in statement_table(facts, 64).statements] == [None, None]
    table = statement_table(facts, 64, SizeTarget(12_000, "12 bytes an iteration"))
    assert [row.executions for row in table.statements] == [1000, 1000 * 1001 // 2]
    assert table.assumed == ("n = 1000 (no value given: 12 bytes an iteration)",)
    assert table.working_set_bytes is None  # what is assumed is not called known
    # Where nothing is open, nothing is assumed.
    known = facts_of(TRIANGLE, "int n, double *v, float *w", n=7)
    assert statement_table(known, 64, SizeTarget(12_000, "so")).assumed == ()


@pytest.mark.parametrize(("line_bytes", "shown"), [(64, "latency"), (256, "streaming")])
def test_patterns_are_those_of_the_machine_s_lines(line_bytes: int, shown: str) -> None:
    """Every 16th double: a new line each time if lines have 64 bytes, two in one of 256."""
    facts = facts_of("for (int i = 0; i < n; i++) a[16 * i] = 0;", "int n, double *a", n=9)
    (row,) = statement_table(facts, line_bytes).statements
    assert [one.pattern for one in row.references] == [shown]
    assert [one.pattern for s in facts.statements for one in s.accesses] == ["latency"]


def test_a_diagnostic_stands_at_the_region() -> None:
    table = statement_table(facts_of(LOOPS, DECLARED, n=9), 64)
    made = table.diagnostic("RP101", "a message")
    assert (made.id, made.span, made.message) == ("RP101", table.span, "a message")
    assert table.span.line == 2


def test_a_skipped_region_has_no_statements() -> None:
    table = statement_table(facts_of("while (n) n--;"), 64)
    assert (table.status, table.statements, table.iterations) == ("skipped", (), None)
    assert table.diagnostics
