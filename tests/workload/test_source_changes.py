"""Changes to the source as the workload after them, and which loops allow them: by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from nest_texts import MEBIBYTE, facts_of

from regionpredict.analysis import RegionFacts
from regionpredict.analysis.history.first_touch import ArrayPlacement
from regionpredict.analysis.schedule import Schedule
from regionpredict.workload import Placement, Workload, workload_of
from regionpredict.workload.contended_writes import ContendedWrites
from regionpredict.workload.source_changes import (
    Change,
    changes_of,
    clause_of,
    names_of,
    with_parallel_first_touch,
    without_fork,
)

DECLARED = "int n, int m, double a[n][m], double b[n][m], double *y"
I = "for (int i = 0; i < n; i++) "  # noqa: E741
GRID = I + "for (int j = 0; j < m; j++) a[i][j] = b[i][j];"


def built(facts: RegionFacts) -> Workload:
    return workload_of(facts, MEBIBYTE, 64)


def changes(
    loops: str, clauses: str = "", contended: tuple[ContendedWrites, ...] = ()
) -> list[Change]:
    facts = facts_of(loops, DECLARED, clauses, n=6, m=1000)
    workload = built(facts)
    assert workload.execution is not None
    execution = replace(workload.execution, contended=contended)
    return list(changes_of(facts, replace(workload, execution=execution), built))


def messages(loops: str, clauses: str = "", rule: str = "RP202") -> list[str]:
    return [change.message for change in changes(loops, clauses) if change.id == rule]


@pytest.mark.parametrize(
    ("schedule", "clause"),
    [
        (("static", None), "schedule(static)"),
        (("static", 1.0), "schedule(static, 1)"),
        (("static", 7.0), "schedule(static, 7)"),
        (("dynamic", 1.0), "schedule(dynamic)"),
        (("dynamic", 16.0), "schedule(dynamic, 16)"),
        (("guided", 1.0), "schedule(guided)"),
        (("guided", 3.0), "schedule(guided, 3)"),
    ],
)
def test_clauses(schedule: tuple[str, float | None], clause: str) -> None:
    """A chunk of one is what `dynamic` and `guided` have without one; `static` has pieces."""
    assert clause_of(Schedule(*schedule)) == clause


def test_every_schedule_but_the_one_it_has_is_tried() -> None:
    every = ["static", "static, 1", "guided", "dynamic", "dynamic, 16"]
    for clauses, now in (
        ("", "static"), ("schedule(static, 1)", "static, 1"), ("schedule(dynamic)", "dynamic"),
        ("schedule(dynamic, 16)", "dynamic, 16"), ("schedule(guided)", "guided"),
        ("schedule(dynamic, 3)", ""),
    ):  # fmt: skip
        expected = [f"write schedule({one})" for one in every if one != now]
        assert messages(GRID, clauses) == expected


def test_terms_that_a_schedule_can_take() -> None:
    """Of a static loop pieces cost nothing that another schedule could save."""
    static, dynamic = changes(GRID)[0], changes(GRID, "schedule(dynamic)")[0]
    assert static.terms == {"imbalance", "cache"}
    assert dynamic.terms == {"imbalance", "cache", "overhead"}
    assert dynamic.workload().schedule == Schedule("static", None)
    assert changes(GRID)[-2].workload().schedule == Schedule("dynamic", 16.0)
    assert static.span.line == 2


@pytest.mark.parametrize(
    ("loops", "clauses", "told"),
    [
        (GRID, "", True),
        (GRID, "collapse(2)", False),  # they share already
        (I + "{ y[i] = 0; for (int j = 0; j < m; j++) a[i][j] = 1; }", "", False),  # not alone
        (I + "y[i] = a[i][0];", "", False),
        (I + "for (int j = i; j < m; j++) a[i][j] = 1;", "", False),  # a triangle
        (I + "for (int j = 0; j < m - i; j++) a[i][j] = 1;", "", False),
        (I + "for (int j = 0; j < m; j += i + 1) a[i][j] = 1;", "", False),
        (I + "for (int j = 1; j < m; j++) a[i][j] = a[i][j - 1];", "", False),  # a recurrence
        (I + "for (int j = 0; j < m; j++) y[i] += a[i][j];", "", False),
        (I + "{ int j = 0; while (j < m) { a[i][j] = 1; j++; } }", "", False),
        (I + "if (y[i] > 0) for (int j = 0; j < m; j++) a[i][j] = 1;", "", False),
    ],
)
def test_loops_that_may_share_their_iterations_together(
    loops: str, clauses: str, told: bool
) -> None:
    assert messages(loops, clauses, "RP203") == ["write collapse(2)"] * told


def test_the_workload_of_collapsed_loops() -> None:
    """6 times 1000 iterations for the threads instead of 6."""
    (change,) = (one for one in changes(GRID) if one.id == "RP203")
    execution = change.workload().execution
    assert execution is not None
    assert execution.work.profile.iterations == 6000
    assert change.terms == {"imbalance"}


def test_an_ordered_loop_keeps_schedule_and_iterations() -> None:
    body = GRID.replace("a[i][j] = b[i][j];", "{\n#pragma omp ordered\n a[i][j] = b[i][j]; }")
    assert changes(body, "ordered") == []
    narrow = (ContendedWrites("y", 9.0, 8.0),)
    assert [one.id for one in changes(body, "ordered", narrow)] == ["RP204"]


def test_rows_that_threads_find_by_their_number_get_lines_of_their_own() -> None:
    """Those nearer than a line; what lies a line apart, or anywhere, stays."""
    contended = (
        ContendedWrites("y", 9.0, 8.0), ContendedWrites("far", 8.0, 64.0),
        ContendedWrites("any", 7.0, None), ContendedWrites("x", 6.0, 63.0),
    )  # fmt: skip
    (change,) = (one for one in changes(GRID, contended=contended) if one.id == "RP204")
    assert change.message == "put each thread's part of x, y on a separate line (64 B)"
    assert change.terms == {"cache"}
    execution = change.workload().execution
    assert execution is not None
    assert [one.apart for one in execution.contended] == [64.0, 64.0, None, 64.0]
    assert [one.updates for one in execution.contended] == [9.0, 8.0, 7.0, 6.0]
    for few in ((), contended[1:3]):
        assert not [one for one in changes(GRID, contended=few) if one.id == "RP204"]


def test_what_cannot_be_read_has_no_changes() -> None:
    facts = facts_of(GRID, DECLARED, n=6, m=1000)
    assert list(changes_of(facts, replace(built(facts), execution=None), built)) == []
    unread = facts_of("while (n) n--;", DECLARED)
    assert list(changes_of(unread, built(unread), built)) == []


# -- pages and teams ------------------------------------------------------------------------------


def test_pages_as_if_all_threads_had_written_first() -> None:
    workload = built(facts_of(GRID, DECLARED, n=6, m=1000))
    one, two = ArrayPlacement("a", "serial", "", True), ArrayPlacement("b", "parallel", "", False)
    placed = replace(workload, placement=Placement("mixed", "so", True, (one, two)))
    made = with_parallel_first_touch(placed)
    assert made is not None
    spread, serial = made
    assert serial == (one,)
    assert (spread.placement.kind, spread.placement.reason) == ("parallel", "so")
    assert {array.kind for array in spread.placement.arrays} == {"parallel"}
    for arrays in ((), (two,)):
        assert (
            with_parallel_first_touch(replace(workload, placement=Placement("", "", False, arrays)))
            is None
        )


def test_a_loop_in_a_team_that_is_running() -> None:
    workload = built(facts_of(GRID, DECLARED, n=6, m=1000))
    assert workload.execution is not None and workload.execution.synchronisation.forks
    inside = without_fork(workload)
    assert inside is not None and inside.execution is not None
    assert not inside.execution.synchronisation.forks
    assert inside.execution.synchronisation.waits == workload.execution.synchronisation.waits
    assert without_fork(inside) is None
    assert without_fork(replace(workload, execution=None)) is None


def test_names_of_arrays_once_and_in_order() -> None:
    arrays = [ArrayPlacement(name, "serial", "", True) for name in ("b", "a", "b")]
    assert names_of(arrays) == "a, b"
