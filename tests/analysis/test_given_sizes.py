"""What sizes that a caller gives mean in one region: by name, by function, by place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from texts import facts_of_texts

from regionpredict.analysis.given_sizes import (
    every_loop,
    extent_name,
    loops_at,
    names_here,
    place_of,
    qualified_name,
    scope_of,
    sizes_in,
    trip_name,
    with_given_trips,
)
from regionpredict.analysis.implied_sizes import with_implied
from regionpredict.errors import UsageError
from regionpredict.frontend import requests_for
from regionpredict.ir import Array, Expr, Loop, Program, Region, Span
from regionpredict.ir.region import OtherName
from regionpredict.pipeline import analyse

TEXT = """double x[9999]; int row[99];
void solve(int n, int m) {
  for (int t = 0; t < m; t++) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      for (int k = row[i]; k < row[i + 1]; k++) x[k] = 1;
      if (x[i] > 0) {
        for (int j = n; j > row[i]; j -= 2) x[j] = 1;
      }
#pragma omp critical
      { int w = 0; while (x[w] > 0) w++; }
    }
  }
}
"""


@pytest.fixture(scope="module")
def region() -> Region:
    (facts,) = facts_of_texts(TEXT)
    return facts.region


def loops_of(region: Region) -> dict[int, Loop]:
    """The loops by their lines."""
    return {loop.span.line: loop for loop in every_loop(region)}


def test_every_loop_around_and_in_the_nest(region: Region) -> None:
    assert sorted(loops_of(region)) == [3, 5, 6, 8, 11]


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("n", None),
        ("solve:n", ("solve", "n")),
        ("Grid::size()", None),
        ("Grid::solve:n", ("Grid::solve", "n")),
        ("solve:Grid::n", ("solve", "Grid::n")),
        (":n", None),
        ("forward ? a->x : a->y[]", None),
        ("solve:forward ? a->x : a->y[]", ("solve", "forward ? a->x : a->y[]")),
        ("solve:", None),
    ],
)
def test_scopes(name: str, scope: tuple[str, str] | None) -> None:
    assert scope_of(name) == scope


@pytest.mark.parametrize(
    ("name", "place"),
    [("f.c:17", ("f.c", 17)), ("a/f.c:3", ("a/f.c", 3)), ("solve:n", None), ("n", None),
     ("f.c:", None), (":17", None), ("f.c:17x", None)],
)  # fmt: skip
def test_places(name: str, place: tuple[str, int] | None) -> None:
    assert place_of(name) == place


def test_names_of_what_has_no_name(region: Region) -> None:
    assert trip_name(loops_of(region)[5]).endswith("/text.c:5")
    assert extent_name(Array("x", 8, (None,), "global")) == "x[]"


def test_a_size_of_the_function_goes_before_one_of_all(region: Region) -> None:
    assert sizes_in(region, {"n": 3, "solve:n": 5, "other:n": 7, "m": 9}) == {"n": 5, "m": 9}
    assert sizes_in(region, {"solve:n": 5, "n": 3}) == {"n": 5}
    assert sizes_in(region, {"other:n": 7}) == {}


def test_iterations_by_whatever_part_of_the_path(region: Region) -> None:
    whole = trip_name(loops_of(region)[6])
    folder = Path(whole).parent.name
    for name in ("text.c:6", f"{folder}/text.c:6", whole):
        assert sizes_in(region, {name: 4}) == {whole: 4}
    for name in ("ext.c:6", "text.c:7", "other/text.c:6"):
        assert sizes_in(region, {name: 4}) == {}
    assert [loop.variable for loop in loops_at(region, "text.c", 6)] == ["k"]
    assert list(loops_at(region, "text.c", 7)) == []


def test_a_loop_with_given_iterations_counts_them(region: Region) -> None:
    """k goes on behind the row of the iteration before; j falls by twos from n on."""
    made = loops_of(with_given_trips(region, {"text.c:6": 4, "text.c:8": 7, "text.c:11": 9}))
    k, j, w = made[6], made[8], made[11]
    trips = Expr.name(trip_name(k))
    assert (k.start, k.bound, k.step) == (
        Expr.name("i") * trips, Expr.name("i") * trips + trips, Expr.const(1),
    )  # fmt: skip
    assert (k.trips, k.kind, k.comparison) == (trips, "for", "<")
    down = Expr.name(trip_name(j))
    assert (j.start, j.bound, j.step) == (Expr.name("n"), Expr.name("n") - 2 * down, Expr.const(-2))
    assert (turns(j), j.comparison, j.exits) == ([0, 1, 7], ">", False)
    # One that is no `for` becomes one, from 0 up.
    assert (w.start, w.step, w.kind) == (Expr.const(0), Expr.const(1), "for")
    assert w.trips == Expr.name(trip_name(w))
    # The others are as they were.
    before = loops_of(region)
    assert made[5].bound == before[5].bound and made[3] == before[3]


def test_the_loop_around_the_region_and_its_own(region: Region) -> None:
    made = with_given_trips(region, {"text.c:3": 6, "text.c:5": 50})
    loops = loops_of(made)
    assert loops[3].trips == Expr.name(trip_name(loops[3]))
    assert loops[5].trips == Expr.name(trip_name(loops[5]))
    assert loops[5].start == Expr.const(0)
    assert loops[6].bound == loops_of(region)[6].bound


def test_sizes_that_concern_no_loop_leave_the_region_as_it_is(region: Region) -> None:
    for given in ({}, {"n": 5}, {"other.c:6": 5}, {"text.c:7": 5}, {"solve:n": 2}):
        assert with_given_trips(region, given) is region


def turns(loop: Loop) -> list[object]:
    """The iterations of a loop for which 0, 1 and 7 are given."""
    assert loop.trips is not None
    return [loop.trips.evaluate({trip_name(loop): given}) for given in (0, 1, 7)]


def test_a_loop_that_begins_at_one_entry_of_a_table_begins_there() -> None:
    text = "int row[9]; double x[999];\nvoid f(void) {\n#pragma omp parallel for\n"
    (facts,) = facts_of_texts(f"{text}for (int i = row[0]; i < row[1]; i += 3) x[i] = 1;\n}}\n")
    made = with_given_trips(facts.region, {"text.c:4": 9})
    (loop,) = loops_of(made).values()
    assert facts.region.nest is not None
    assert (loop.start, loop.step) == (facts.region.nest.start, Expr.const(3))
    assert turns(loop) == [0, 1, 7]


def test_a_loop_that_cannot_be_counted_is_no_note_any_more_where_it_is_told() -> None:
    text = """double x[99];
void f(void) {
#pragma omp parallel for
  for (int i = 0; x[i] > 0; i++)
    for (int j = 0; x[j] > 0; j++) x[j] = 1;
}
"""
    (facts,) = facts_of_texts(text)
    known = [note.id for note in facts.region.diagnostics]
    assert "RP102" in known
    made = with_given_trips(facts.region, {"text.c:4": 9})
    assert [note.id for note in made.diagnostics] == [one for one in known if one != "RP102"]
    # What is told of another loop leaves it as it is.
    inner = with_given_trips(facts.region, {"text.c:5": 9})
    assert [note.id for note in inner.diagnostics] == known


# -- sizes that follow ----------------------------------------------------------------------------

LINKED = """struct domain { int elements; double *x; } d;
void first(int count, double *x) {
  int n = count;
  int m = n;
#pragma omp parallel for
  for (int i = 0; i < m; i++) x[i] = 1;
}
void second(double *x) {
  int size = d.elements;
#pragma omp parallel for
  for (int i = 0; i < size; i++) x[i] = 2;
}
void third(double *x) {
  int much = d.elements, half = d.elements / 2;
#pragma omp parallel for
  for (int i = 0; i < much; i++) x[i] = half;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    path = tmp_path_factory.mktemp("linked") / "f.c"
    path.write_text(LINKED)
    return analyse(requests_for([str(path)]), {}).program


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ({"size": 7}, {"d.elements": 7}),  # a member has one name everywhere
        ({"d.elements": 7}, {}),
        ({"first:m": 5}, {"first:count": 5}),  # through a name between that nothing depends on
        ({"m": 5}, {"first:count": 5}),
        ({"half": 3}, {}),  # half of it is not it
        ({"size": 7, "much": 7}, {"d.elements": 7}),
        ({"other": 3}, {}),
        ({}, {}),
    ],
)
def test_sizes_that_follow(program: Program, given: dict[str, int], added: dict[str, int]) -> None:
    assert with_implied(program, given) == {**given, **added}


@pytest.mark.parametrize("given", [{"m": 5, "first:count": 6}, {"size": 7, "d.elements": 8}])
def test_one_size_under_two_names_has_one_value(program: Program, given: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="are the same size in"):
        with_implied(program, given)


def test_variables_of_other_functions(region: Region) -> None:
    """n' is the n of main. Both m of main have one name. The function of k' is unknown."""
    others = tuple(
        OtherName(name, function, Span("f.c", 1))
        for name, function in (
            ("n'", "main"), ("m'", "main"), ("m''", "main"), ("k'", ""), ("l'", "solve"),
        )
    )  # fmt: skip
    primed = replace(region, others=others)
    here = {name: names_here(primed, "main", name) for name in ("n", "n[]", "m", "q", "[]")}
    assert here == {"n": ["n'"], "n[]": ["n'[]"], "m": ["m'", "m''"], "q": [], "[]": []}
    assert names_here(primed, "solve", "n") == ["n"]
    home = {name: qualified_name(primed, name) for name in ("n'", "n'[]", "n", "m'", "k'", "l'")}
    assert home == {
        "n'": "main:n", "n'[]": "main:n[]", "n": None, "m'": "main:m", "k'": None, "l'": None,
    }  # fmt: skip
