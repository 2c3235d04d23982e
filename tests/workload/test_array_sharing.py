"""Who has which lines before a region runs: owners, readers, fetched lines, by hand."""

from __future__ import annotations

import pytest
from nest_texts import facts_of, facts_of_text, nest_of

from regionpredict.analysis.history.data_distribution import Part
from regionpredict.analysis.history.last_writes import UNKNOWN, History, LastWrite
from regionpredict.analysis.schedule import Schedule
from regionpredict.workload import ArraySharing
from regionpredict.workload.array_sharing import (
    array_sharing,
    fetched_before,
    other_readers,
    same_owner,
)
from regionpredict.workload.nest_lowering import loop_nest

STATIC, DYNAMIC = Schedule("static", None), Schedule("dynamic", 1.0)
ROWS = Part(0, "1", STATIC, 2)
COLUMNS = Part(1, "1", STATIC, 2)
ALL = Part(None, "", STATIC, 2)
CHUNKS = Part(0, "1", Schedule("static", 4.0), 2)
QUEUE = Part(0, "1", DYNAMIC, 2)
NOBODY: frozenset[Part] = frozenset()

LOOPS = """for (int i = 0; i < n; i++) {
  double t[4]; t[0] = i;
  for (int j = 0; j < n; j++) { a[i][j] = b[j][i] + c[j] + t[0]; d[2 * i] += 1; }
}"""
DECLARED = "int n, double a[n][n], double b[n][n], double *c, double *d"


def sharing(history: History = UNKNOWN, clauses: str = "") -> dict[str, ArraySharing]:
    region = facts_of(LOOPS, DECLARED, clauses, n=100).region
    nest = nest_of(LOOPS, DECLARED, clauses, n=100)
    made = array_sharing(region, nest, history)
    assert [one.name for one in made] == ["a", "b", "c", "d"]  # t is each thread's own
    return {one.name: one for one in made}


def test_what_the_source_says() -> None:
    """Neighbouring i: a row, one element, none, two elements apart."""
    made = sharing()
    assert {name: one.written for name, one in made.items()} == {
        "a": True, "b": False, "c": False, "d": True
    }  # fmt: skip
    assert {name: one.stride for name, one in made.items()} == {
        "a": 800.0, "b": 8.0, "c": None, "d": 16.0
    }  # fmt: skip
    assert {name: one.rank for name, one in made.items()} == {"a": 2, "b": 2, "c": 1, "d": 1}
    assert {(one.held_rank, one.held_whole) for one in made.values()} == {(0, False)}


def test_the_smallest_stride_and_the_step_count() -> None:
    loops = "for (int i = n; i > 0; i -= 3) { x[4 * i] = 1; x[2 * i] = 2; x[3 * i] = x[7]; }"
    region, nest = (
        facts_of(loops, "int n, double *x", n=90).region,
        nest_of(loops, "int n, double *x", n=90),
    )
    (made,) = array_sharing(region, nest, UNKNOWN)
    assert made.stride == 3 * 16


@pytest.mark.parametrize(
    ("array", "last", "held"),
    [
        # One thread wrote: a vector of it is surely with another core.
        ("a", LastWrite(None, NOBODY), (1, True)),
        ("b", LastWrite(None, NOBODY), (1, True)),
        # Dealt out alike: every thread finds its own.
        ("a", LastWrite(frozenset({ROWS}), NOBODY), (0, False)),
        ("b", LastWrite(frozenset({COLUMNS}), NOBODY), (0, False)),
        # Otherwise as chance has it, in all the dimensions in which it was written.
        ("a", LastWrite(frozenset({COLUMNS}), NOBODY), (2, False)),
        ("a", LastWrite(frozenset({CHUNKS}), NOBODY), (2, False)),
        ("a", LastWrite(frozenset({QUEUE}), NOBODY), (2, False)),
        ("b", LastWrite(frozenset({ROWS}), NOBODY), (2, False)),
        ("c", LastWrite(frozenset({Part(0, "1", STATIC, 1)}), NOBODY), (1, False)),
        # Read since by the same threads: fetched.
        ("b", LastWrite(frozenset({ROWS}), frozenset({COLUMNS})), (0, False)),
        ("b", LastWrite(None, frozenset({ALL})), (0, False)),
        ("b", LastWrite(None, frozenset({ROWS})), (1, True)),
        # Written here, and read since by others: they have to give it up.
        ("a", LastWrite(frozenset({ROWS}), frozenset({COLUMNS})), (2, False)),
        ("a", LastWrite(frozenset({ROWS}), frozenset({Part(1, "1", STATIC, 1)})), (1, False)),
        ("a", LastWrite(frozenset({ROWS}), frozenset({ROWS})), (0, False)),
        ("a", LastWrite(frozenset({COLUMNS}), frozenset({QUEUE})), (2, False)),
    ],
)
def test_what_other_cores_hold(array: str, last: LastWrite, held: tuple[int, bool]) -> None:
    made = sharing(History(last={array: last}))[array]
    assert (made.held_rank, made.held_whole) == held


def test_a_fresh_array_is_with_nobody() -> None:
    last = {"a": LastWrite(None, NOBODY)}
    assert sharing(History(frozenset({"a"}), last))["a"].held_rank == 0


@pytest.mark.parametrize("written", ["q", "q[].v"])
def test_what_lies_in_a_struct_is_held_with_it(written: str) -> None:
    """Whether the struct itself or an array in it was written last, by one thread; where one of
    both is new, the other one tells."""
    text = """struct part { double m; double v[5]; };
struct part q[3000];
void f(int n) {
#pragma omp parallel for
for (int i = 0; i < n; i++) q[i].m += q[i].v[1] * q[i].v[i % 5]; }"""
    (facts,) = facts_of_text(text, n=100)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    by_one = {written: LastWrite(None, NOBODY)}
    for fresh, held in ((NOBODY, 1), ({"q", "q[].v"} - {written}, 1), ({written}, 0)):
        (made,) = array_sharing(facts.region, nest, History(frozenset(map(str, fresh)), by_one))
        assert (made.name, made.held_rank, made.held_whole) == ("q", held, held == 1)


def test_owners() -> None:
    rows, both = frozenset({ROWS}), frozenset({ROWS, COLUMNS})
    assert same_owner(rows, rows) and same_owner(rows, both)
    assert not same_owner(both, rows)
    # The rank is no part of how rows are dealt out.
    assert same_owner(rows, frozenset({ROWS._replace(rank=1)}))
    assert not same_owner(rows, frozenset({ROWS._replace(slope="2")}))
    # What all threads touch has no owner, and a queue deals out anew each time.
    assert not same_owner(frozenset({ALL}), frozenset({ALL}))
    assert not same_owner(frozenset({QUEUE}), frozenset({QUEUE}))


def test_readers_that_keep_to_no_part() -> None:
    rows = frozenset({ROWS})
    assert other_readers(rows, rows) == NOBODY
    assert other_readers(frozenset({ROWS, COLUMNS, QUEUE}), rows) == {COLUMNS, QUEUE}
    assert other_readers(frozenset({QUEUE}), frozenset({QUEUE})) == {QUEUE}


def test_what_an_earlier_loop_fetched() -> None:
    rows = frozenset({ROWS})
    assert fetched_before(rows, rows) and fetched_before(rows, frozenset({ALL}))
    assert fetched_before(rows, frozenset({COLUMNS, ALL}))
    assert not fetched_before(rows, frozenset({COLUMNS}))
    assert not fetched_before(frozenset({ROWS, COLUMNS}), rows)
    assert not fetched_before(frozenset({QUEUE}), frozenset({QUEUE}))


def test_lines_that_others_hold() -> None:
    """A row of a square of 10000 lines has 100; of a cube of 1000, a plane has 100."""
    square = ArraySharing("a", True, 8.0, 2, 1, False)
    assert square.held_lines(10_000.0) == pytest.approx(100)
    assert ArraySharing("a", True, 8.0, 3, 2, False).held_lines(1000.0) == pytest.approx(100)
    assert ArraySharing("a", True, 8.0, 2, 2, False).held_lines(10_000.0) == 10_000
    assert ArraySharing("a", True, 8.0, 1, 2, False).held_lines(10_000.0) == 10_000
    assert square.held_lines(0.25) == 0.25  # less than a line has no shorter side
    assert square.held_lines(1.0) == 1.0
    assert ArraySharing("a", True, None, 0, 0, False).held_lines(5.0) == 5.0  # nothing moves
