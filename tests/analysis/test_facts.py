"""A region's facts as one value: how counts are shown, what is left open, and what is noted."""

from __future__ import annotations

import pytest
from texts import facts_of_loop, facts_of_texts

from regionpredict.analysis import Bindings, Count, RegionFacts, symbolic_facts
from regionpredict.analysis.facts import count_of
from regionpredict.ir import Expr

N, M, W = Expr.name("n"), Expr.name("m"), Expr.name("w")
HEAD = "double x[9999], y[9999], A[90][90]; int g(int); void h(double *);"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (Count(N, None), "n"),
        (Count(N, 7), "n = 7"),
        (Count(Expr.const(7), 7), "7"),
        (Count(None, 7), "7"),
        (Count(None, None), "unknown"),
        (Count(N * M, 12, at_most=True), "at most m*n = 12"),
        (Count(N, None, (N - 3,)), "n (where n >= 3)"),
        (Count(N, 9, (N - M - 1, W)), "n = 9 (where n >= m + 1 and w >= 0)"),
        (Count(N, None, (M * 2 - N * 3 + 1,), at_most=True), "at most n (where 2*m + 1 >= 3*n)"),
        (Count(N, None, (-N,)), "n (where 0 >= n)"),
    ],
)
def test_counts_as_text(count: Count, shown: str) -> None:
    assert str(count) == shown


def test_a_statement_has_the_facts_of_its_references() -> None:
    loops = (
        "for (int i = 0; i < n; i++) { y[i] = x[2 * i]; for (int j = 0; j < m; j++) A[j][i] = 1; }"
    )
    facts = facts_of_loop(loops, HEAD, n=6, m=4)
    assert [
        (a.access.text, a.access.kind, a.pattern, a.reuse, a.counted)
        for s in facts.statements for a in s.accesses
    ] == [
        ("y[i]", "write", "streaming", "hit", False),
        ("x[2 * i]", "read", "streaming", "hit", False),
        ("A[j][i]", "write", "latency", "miss", True),
    ]  # fmt: skip
    assert [s.executions.value for s in facts.statements] == [6, 24]
    assert [tuple(loop.variable for loop in s.loops) for s in facts.statements] == [
        ("i",), ("i", "j"),
    ]  # fmt: skip
    assert [(a.name, a.dims, a.counted, len(a.accesses)) for a in facts.arrays] == [
        ("A", 2, True, 1), ("x", 1, False, 1), ("y", 1, False, 1),
    ]  # fmt: skip


def test_an_array_has_all_its_references() -> None:
    facts = facts_of_loop("for (int i = 0; i < n; i++) { y[i] += x[i]; y[0] = x[i + 1]; }", HEAD)
    found = {a.name: [fact.access.text for fact in a.accesses] for a in facts.arrays}
    assert {name: sorted(set(texts)) for name, texts in found.items()} == {
        "x": ["x[i + 1]", "x[i]"], "y": ["y[0]", "y[i]"],
    }  # fmt: skip


def test_facts_for_all_sizes_are_put_into_numbers() -> None:
    loops = "for (int i = 1; i < n; i++) for (int j = 0; j < i; j++) A[i][j] = x[j];"
    known = symbolic_facts(facts_of_loop(loops, HEAD).region)
    assert known.free_names == {"n"}
    counted = [
        (at.iterations.value, at.statements[0].executions.value, at.working_set.value)
        for at in (known.at(Bindings({"n": n})) for n in (1, 2, 5))
    ]
    # A: rows 1 to n - 1, columns 0 to n - 2; x: columns. A triangle's box counts whole.
    assert counted == [(0, 0, 0), (1, 1, 16), (4, 10, 8 * (4 * 4 + 4))]


def test_what_was_asked_before_changes_no_count() -> None:
    """n^2/2 with any w, in whichever order sizes are asked for; a size that is taken back is open
    again."""
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) y[w * i] += x[j];"
    known = symbolic_facts(facts_of_loop(loops, HEAD).region)
    asked = [{"n": 5, "w": 1}, {"n": 7, "w": 1}, {"n": 5, "w": 9}, {"w": 9}, {"n": 5}]
    counted = [
        (at.iterations.value, at.statements[0].executions.value)
        for at in (known.at(Bindings(values)) for values in asked)
    ]
    assert counted == [(5, 10), (7, 21), (5, 10), (None, None), (5, 10)]


def ids(facts: RegionFacts) -> set[str]:
    return {note.id for note in facts.diagnostics}


@pytest.mark.parametrize(
    ("loops", "status", "notes"),
    [
        ("for (int i = 0; i < n; i++) x[i] = 1;", "complete", set()),
        # nothing is referred to: known, with a note
        ("for (int i = 0; i < n; i++) { int v = i; (void)v; }", "complete", {"RP107"}),
        # memory that a function not seen is handed: what it touches is left open
        ("for (int i = 0; i < n; i++) { h(x); y[i] = 1; }", "complete", {"RP104"}),
        # an early end leaves an upper bound
        ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
         " { if (x[j] > 0) break; x[j] = 1; }", "complete", {"RP114"}),
    ],
)  # fmt: skip
def test_notes(loops: str, status: str, notes: set[str]) -> None:
    facts = facts_of_loop(loops, HEAD)
    told = ids(facts) & {"RP104", "RP107", "RP114"}
    assert told == notes, facts.diagnostics
    if not ids(facts) & {"RP102", "RP105", "RP106", "RP111", "RP113"}:
        assert facts.status == status


def test_no_note_on_references_where_memory_is_handed_on() -> None:
    """What is touched is not known: that there is no reference cannot be said."""
    facts = facts_of_loop("for (int i = 0; i < n; i++) n * n;", HEAD)
    unseen = facts_of_loop("for (int i = 0; i < n; i++) h(0);", HEAD)
    handed = facts_of_loop("for (int i = 0; i < n; i++) h(x);", HEAD)
    assert "RP107" in ids(facts)
    assert {"RP104", "RP113"} <= ids(handed)
    assert {"RP104", "RP113"} <= ids(unseen)
    assert "RP107" not in ids(handed) | ids(unseen)


def test_an_array_of_unknown_part_is_told_once() -> None:
    text = """
void f(int n, double *p, int *t, int *s) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) { p[t[i]] = 1; p[s[i]] = 2; }
}
"""
    (facts,) = facts_of_texts(text)
    (note,) = (one for one in facts.diagnostics if one.id == "RP104")
    assert note.message.count("p") - note.message.count("part") == 1
    assert (facts.working_set.expr, facts.working_set.value) == (None, None)


def test_what_is_not_understood_is_partial_or_skipped() -> None:
    facts = facts_of_texts("""
struct node { struct node *next; double v; };
double x[100];
void f(struct node *head, int n) {
#pragma omp parallel for
  for (struct node *p = head; p; p = p->next) p->v = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] = 1;
#pragma omp parallel for
  x[0] = 1;
}
""")
    statuses = {one.region.line if hasattr(one.region, "line") else one.region.span.line: one.status
                for one in facts}  # fmt: skip
    assert statuses[7] == "complete"
    assert statuses[5] == "partial"
    assert statuses.get(9, "skipped") == "skipped"


def test_each_loop_that_may_end_early_is_assumed_to_run_to_its_end() -> None:
    text = """double x[100];
void f(int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) { if (x[j] > 0) break; x[j] = 1; x[j + 1] = 2; }
    for (int j = 0; j < m; j++) x[j] = 1;
    for (int j = 0; j < m; j++) if (x[j] > 0) break;
  }
}
"""
    (facts,) = facts_of_texts(text)
    assert [one.span.line for one in facts.diagnostics if one.id == "RP114"] == [5, 7]
    assert facts.bindings.assumed == tuple(
        f"the loop at line {line} runs to its end, though it may be left early" for line in (5, 7)
    )


def test_a_while_loop_has_no_end_to_be_assumed() -> None:
    body = "{ double v = y[i]; while (v > 1) { if (v > 9) break; v *= x[i]; } }"
    loops = f"for (int i = 0; i < n; i++) {body}"
    facts = facts_of_loop(loops, HEAD)
    assert "RP114" not in ids(facts)
    assert facts.bindings.assumed == ()


def test_counts_are_never_below_zero() -> None:
    facts = facts_of_loop("for (int i = 5; i < n; i++) A[i][i] = 1;", HEAD, n=1)
    assert facts.iterations.value == facts.statements[0].executions.value == 0
    assert facts.working_set.value == 0
    one = facts_of_loop("for (int i = 5; i < n; i++) A[i][i] = 1;", HEAD, n=6)
    assert (one.iterations.value, one.working_set.value) == (1, 8)


@pytest.mark.parametrize(("n", "value"), [(3, 0), (5, 0), (6, 1), (9, 4)])
def test_a_count_is_its_expression_or_nothing(n: int, value: int) -> None:
    assert count_of(N - 5, Bindings({"n": n})) == Count(N - 5, value)


def test_what_has_no_number_has_no_value() -> None:
    assert count_of(N - 5, Bindings({})) == Count(N - 5, None)
    assert count_of(None, Bindings({"n": 3})) == Count(None, None)
