"""Updates through an index from memory, and what one thread runs alone: told or not, by hand."""

from __future__ import annotations

import pytest
from texts import facts_of_texts

from regionpredict.analysis.conflicts import conflict_diagnostics
from regionpredict.analysis.indirect_writes import indirect_updates, possible_races
from regionpredict.ir import Region

HEAD = """double y[999], b[999], A[99][99]; int h[999], idx[999], far[99][9];
"""
SETS = "k is one variable for all threads, and every iteration sets it: make it private(k)"
COUNTS = "k is one variable for all threads, and every iteration counts in it: make it private(k)"
I = "for (int i = 0; i < n; i++) "  # noqa: E741
I_J = I + "for (int j = 0; j < m; j++) "


def region_of(loops: str, clauses: str = "") -> Region:
    text = (
        f"{HEAD}void f(int n, int m, int k) {{\n#pragma omp parallel for {clauses}\n{loops}\n}}\n"
    )
    (facts,) = facts_of_texts(text)
    return facts.region


@pytest.mark.parametrize(
    ("loops", "told"),
    [
        # counting, by the worksharing loop's own index or by one inside
        (I + "h[idx[i]]++;", ["h[idx[i]]"]),
        (I + "h[idx[i]]--;", ["h[idx[i]]"]),
        (I + "h[idx[i]] += 1;", ["h[idx[i]]"]),
        (I + "h[idx[i]] -= 2;", ["h[idx[i]]"]),
        (I + "h[idx[i] % 10] += 1;", ["h[idx[i] % 10]"]),
        (I_J + "h[far[i][j]]++;", ["h[far[i][j]]"]),
        # sums: a list names each row once, several elements in one iteration may meet
        (I + "y[idx[i]] += b[i];", []),
        (I_J + "y[idx[j]] += b[i];", ["y[idx[j]]"]),
        (I_J + "y[far[i][j]] += b[i];", ["y[far[i][j]]"]),
        # what is only written, or read from another array or another place, grows nothing
        (I_J + "y[idx[j]] = b[i];", []),
        (I_J + "y[idx[j]] = b[idx[j]];", []),
        (I_J + "y[idx[j]] = y[i];", []),
        (I + "b[i] = y[idx[i]];", []),
        # an index that stands still, or none from memory
        (I + "h[idx[k]]++;", []),
        (I + "h[i]++;", []),
        (I + "h[k]++;", []),
        # a dimension that keeps threads apart
        (I_J + "A[i][idx[j]] += 1;", []),
        (I_J + "A[idx[j]][i] += 1;", []),
        (I_J + "A[k][idx[j]] += 1;", ["A[k][idx[j]]"]),
        (I_J + "A[idx[j]][j] += 1;", ["A[idx[j]][j]"]),
        (I_J + "h[idx[j] + i]++;", []),
        # each array once, in the order of the source
        (I + "{ h[idx[i]]++; y[idx[i]] += 1; h[idx[i + 1]]++; }", ["h[idx[i]]", "y[idx[i]]"]),
        # what may not run, or runs in turn
        (I + "if (b[i] > 0) h[idx[i]]++;", []),
        (I + "{\n#pragma omp atomic\n h[idx[i]]++; }", []),
    ],
)
def test_updates_through_an_index(loops: str, told: list[str]) -> None:
    assert [access.text for access in indirect_updates(region_of(loops))] == told


@pytest.mark.parametrize("clauses", ["private(h)", "reduction(+: h)"])
def test_a_thread_s_own_counts(clauses: str) -> None:
    assert indirect_updates(region_of(I + "h[idx[i]]++;", clauses)) == []


POSSIBLE = "is written through an index from memory: a race if two iterations use the same index"


@pytest.mark.parametrize(
    ("loops", "told"),
    [
        # one row an iteration: a permutation or not
        (I + "y[idx[i]] = b[i];", ["y[idx[i]]"]),
        (I + "y[idx[i]] += b[i];", ["y[idx[i]]"]),
        (I + "y[idx[i]] = i;", ["y[idx[i]]"]),
        (I + "y[idx[i] % 10] = b[i];", ["y[idx[i] % 10]"]),
        (I + "{ int at = idx[i]; y[at] = b[i]; }", ["y[at]"]),
        (I + "y[3 * idx[i] + 1] += b[i];", ["y[3 * idx[i] + 1]"]),
        (I + "A[idx[i]][3] = b[i];", ["A[idx[i]][3]"]),
        (I_J + "y[far[i][j]] = b[i];", ["y[far[i][j]]"]),
        (I_J + "y[idx[j]] = b[i];", ["y[idx[j]]"]),
        (I + "{ y[idx[i]] = b[i]; y[idx[i + 1]] = 2 * b[i]; }", ["y[idx[i]]"]),
        # the same value by all: marks
        (I + "h[idx[i]] = 1;", []),
        (I + "y[idx[i]] = -1.5;", []),
        (I + "h[idx[i]] = m;", []),
        (I + "h[idx[i]] = -k;", []),
        (I + "{ k = i; h[idx[i]] = k; }", ["h[idx[i]]"]),
        (I + "h[idx[i]] = m * i;", ["h[idx[i]]"]),
        (I + "h[idx[i]] = b[i] == 1;", ["h[idx[i]]"]),
        # rows and blocks from an index on, by their own counter or one that counts on
        (I_J + "y[idx[i] + j] = b[j];", []),
        (I_J + "y[2 * idx[i] + 2 * j] = b[j];", []),
        (I + "{ int c = 0; for (int j = 0; j < m; j++) if (b[j] > 0) c++; y[idx[i] + c] = b[i]; }",
         []),
        (I_J + "y[3 * idx[i] + j] = b[j];", []),
        (I_J + "A[idx[i]][j] = b[j];", []),
        (I_J + "{ double *row = A[idx[i]]; row[j] = b[j]; }", []),
        # the list is the loop's own numbers
        (I + "{ idx[i] = i; y[idx[i]] = b[i]; }", []),
        (I + "{ idx[i] = n - 1 - i; y[idx[i]] = b[i]; }", []),
        (I + "{ idx[i] = i / 2; y[idx[i]] = b[i]; }", ["y[idx[i]]"]),
        (I + "{ idx[i] = h[i]; y[idx[i]] = b[i]; }", ["y[idx[i]]"]),
        (I + "{ idx[i] = k; y[idx[i]] = b[i]; }", ["y[idx[i]]"]),
        (I_J + "{ idx[i] = j; y[idx[i]] = b[i]; }", ["y[idx[i]]"]),
        (I + "{ idx[i] = i; y[idx[i] + h[i]] = b[i]; }", ["y[idx[i] + h[i]]"]),
        # no index from memory, one that stands still, one dimension of each thread's own
        (I + "y[i] = b[i];", []),
        (I + "y[2 * i + 1] = b[i];", []),
        (I + "y[idx[k]] = b[i];", []),
        (I_J + "A[i][idx[j]] = b[j];", []),
        # only read through it, counted (RP224), in turn, or perhaps not at all
        (I + "y[i] = b[idx[i]];", []),
        (I + "h[idx[i]]++;", []),
        (I + "if (b[i] > 0) y[idx[i]] = b[i];", []),
        (I + "{\n#pragma omp atomic\n y[idx[i]] += b[i]; }", []),
        (I + "{\n#pragma omp critical\n y[idx[i]] = b[i]; }", []),
        (I + "{ double own[9]; own[idx[i]] = b[i]; y[i] = own[1]; }", []),
    ],
)  # fmt: skip
def test_writes_that_may_meet(loops: str, told: list[str]) -> None:
    region = region_of(loops)
    assert [access.text for access in possible_races(region)] == told
    notes = [note for note in conflict_diagnostics(region, None) if note.id == "RP225"]
    assert [note.message.partition(f" {POSSIBLE}")[0] for note in notes] == told
    assert all(POSSIBLE in note.message for note in notes)


@pytest.mark.parametrize("clauses", ["private(y)", "reduction(+: y)", "num_threads(1)"])
def test_nobody_else_s_elements(clauses: str) -> None:
    assert rules(I + "y[idx[i]] += b[i];", clauses) == []
    assert rules(I + "y[idx[i]] += b[i];", trips=1) == []


def rules(loops: str, clauses: str = "", trips: int | None = None) -> list[str]:
    return [note.id for note in conflict_diagnostics(region_of(loops, clauses), trips)]


def test_one_thread_or_one_iteration_is_alone() -> None:
    wrong = I + "y[i + 1] = y[i];"
    assert rules(wrong) == rules(wrong, trips=2) == rules(wrong, "num_threads(2)") == ["RP221"]
    assert rules(wrong, "num_threads(1)") == rules(wrong, "num_threads( 1 )") == []
    assert rules(wrong, trips=1) == rules(wrong, trips=0) == []
    team = "#pragma omp parallel num_threads(%d)\n{\n#pragma omp for\n" + wrong + "\n}"
    for threads, told in ((1, []), (3, ["RP221"])):
        text = f"{HEAD}void f(int n) {{\n{team % threads}\n}}\n"
        (facts,) = facts_of_texts(text)
        assert [note.id for note in conflict_diagnostics(facts.region, None)] == told


def test_how_far_apart_is_told() -> None:
    def message(loops: str) -> str:
        (note,) = conflict_diagnostics(region_of(loops), None)
        return note.message

    assert message(I + "y[i + 1] = y[i];").endswith(
        "y[i + 1] is written and y[i] touches the same element in the next iteration: "
        "the iterations are not independent"
    )
    assert "in the iteration 3 further" in message(I + "y[i] = y[i + 3];")
    assert message(I + "y[k] += b[i];") == (
        "every iteration updates the same y[k], each thread at once"
    )


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("{ k = i; b[i] = k; }", [SETS]),
        ("{ k = i; b[i] = 1; }", []),  # nobody reads it
        ("b[i] = k;", []),
        ("for (k = 0; k < m; k++) A[i][k] = 0;",
         [COUNTS]),
        ("{ if (b[i] > 0) k = i; b[i] = k; }", []),
        ("{ if (b[i] > 0) continue; k = i; b[i] = k; }", []),
        ("{ for (int j = 0; j < m; j++) { if (j > 3) break; k = j; } b[i] = k; }", []),
        ("{ for (int j = 0; j < m; j++) k = j; b[i] = k; }",
         [SETS]),
        ("{ k = i; k = k + 1; b[i] = k; }",
         [SETS]),
        ("{ k = b[i] > 0 ? 1 : 2; b[i] = k; }", []),
    ],
)  # fmt: skip
def test_variables_of_all_threads(body: str, told: list[str]) -> None:
    text = f"{HEAD}int k;\nvoid f(int n, int m) {{\n#pragma omp parallel for\n{I}{body}\n}}\n"
    (facts,) = facts_of_texts(text)
    notes = conflict_diagnostics(facts.region, None)
    assert [note.message for note in notes if note.id == "RP222"] == told
    own = text.replace("parallel for", "parallel for private(k)")
    (facts,) = facts_of_texts(own)
    assert [note for note in conflict_diagnostics(facts.region, None) if note.id == "RP222"] == []
