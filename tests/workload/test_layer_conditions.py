"""Which groups stay, where an iteration begins to fit, and what gathers miss: by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from nest_texts import STATIC, loop_named, nest_of
from small_nests import NESTS, lowered

from regionpredict.workload.footprint_tables import FootprintTables
from regionpredict.workload.layer_conditions import LayerConditions, _add_lines, _uncounted_groups
from regionpredict.workload.line_overlap import Lines
from regionpredict.workload.loop_nest import LoopNest, ReferenceGroup
from regionpredict.workload.team_footprint import TeamFootprints
from regionpredict.workload.thread_nest import distribute_nest, undivided_nest

DECLARED = "int n, double a[99][99], double b[99][99], double c[99][99], double *x, int *k"
I_J = "for (int i = 0; i < 50; i++) for (int j = 0; j < 60; j++) "


def conditions(nest: LoopNest, capacity: float = 1e9, threads: int = 1) -> LayerConditions:
    dealt = distribute_nest(nest, threads, STATIC) if threads > 1 else undivided_nest(nest)
    team = TeamFootprints(dealt, float(threads), 64, FootprintTables())
    return LayerConditions(team, capacity, {})


def names(groups: Sequence[ReferenceGroup]) -> list[str]:
    return sorted(group.accesses[0].text for group in groups)


# -- places along a loop --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "threads", "places"),
    [
        ("i = 0; i < 100; i++", 1, (0.0, 49.5, 99.0)),
        ("i = 10; i < 30; i += 2", 1, (10.0, 19.0, 28.0)),
        ("i = 99; i >= 0; i--", 1, (99.0, 49.5, 0.0)),
        ("i = 5; i < 5; i++", 1, (5.0, 5.0, 5.0)),
        # two threads' mean stands at a quarter, at the middle, at three quarters
        ("i = 0; i < 100; i++", 2, (24.75, 49.5, 74.25)),
        ("i = 99; i >= 0; i--", 2, (74.25, 49.5, 24.75)),
    ],
)
def test_places(head: str, threads: int, places: tuple[float, float, float]) -> None:
    # The position matters: it changes the distance between the two elements.
    nest = nest_of(f"for (int {head}) x[i] = x[2 * i];", DECLARED)
    at = conditions(nest, threads=threads)._environment_at
    assert [at(nest.root, {"o": 7.0}, place) for place in (0.0, 0.5, 1.0)] == [
        {"o": 7.0, "i": pytest.approx(value)} for value in places
    ]


def test_an_inner_loop_is_walked_whole_by_each_thread() -> None:
    nest = nest_of(I_J + "a[i][j] = a[i][2 * j];", DECLARED)
    at = conditions(nest, threads=2)._environment_at
    assert at(loop_named(nest, "j"), {"i": 3.0}, 0.0) == {"i": 3.0, "j": 0.0}
    assert at(loop_named(nest, "j"), {"i": 3.0}, 1.0) == {"i": 3.0, "j": 59.0}


def test_a_position_that_changes_no_distance_and_no_bound_is_zero() -> None:
    """All numbers of threads then count the inner loops once."""
    for body, moves_only in (
        ("for (int j = 0; j < 60; j++) a[i][j] = a[i + 1][j] + b[j][i];", True),
        ("for (int j = 0; j < i; j++) a[0][j] = 1;", False),  # an inner bound
        ("for (int j = 0; j < 60; j++) a[i][j] = a[j][i];", False),  # a distance
        ("for (int j = 0; j < 60; j++) a[i][j] = x[k[i]];", True),  # random in each iteration
    ):
        nest = nest_of(f"for (int i = 0; i < 50; i++) {body}", DECLARED)
        at = conditions(nest, threads=2)._environment_at
        assert nest.root.moves_only is moves_only
        places = [at(nest.root, {}, place)["i"] for place in (0.0, 0.5, 1.0)]
        assert places == ([0.0, 0.0, 0.0] if moves_only else [12.25, 24.5, 36.75])


# -- where iterations fit -------------------------------------------------------------------------

RISING = "for (int i = 0; i < 100; i++) for (int j = 0; j <= i; j++) x[j] = 1;"
FALLING = "for (int i = 0; i < 100; i++) for (int j = i; j < 100; j++) x[j] = 1;"


@pytest.mark.parametrize(("loops", "rises"), [(RISING, True), (FALLING, False)])
def test_the_edge_from_which_on_an_iteration_fits(loops: str, rises: bool) -> None:
    """i + 1 doubles in a row are 64 + 8 i bytes of lines: 464 for the fiftieth and first."""
    nest = nest_of(loops, DECLARED)
    for capacity, place in ((464.0, 50 / 99), (264.0, 25 / 99), (800.0, 92 / 99)):
        edge = place if rises else 1.0 - place
        (begin, first, fits), (second, end, then) = conditions(nest, capacity)._fitting_parts(
            nest.root, {}
        )
        assert (begin, end, fits, then) == (0.0, 1.0, rises, not rises)
        assert first == second == pytest.approx(edge, abs=1 / 128)
    for capacity, fits in ((10_000.0, True), (10.0, False), (64.0 + 8 * 99, True)):
        assert conditions(nest, capacity)._fitting_parts(nest.root, {}) == [(0.0, 1.0, fits)]


def test_bytes_of_an_iteration() -> None:
    nest = nest_of(RISING, DECLARED)
    made = conditions(nest)
    assert made.window(nest.root, {"i": 50.0}) == pytest.approx(464)
    assert made.window(loop_named(nest, "j"), {"i": 50.0, "j": 3.0}) == pytest.approx(64)


# -- what stays -----------------------------------------------------------------------------------

PRODUCT = I_J + "for (int l = 0; l < 70; l++) c[i][j] += a[i][l] * b[l][j];"


def test_what_stands_still_in_everything_inside_stays() -> None:
    nest = nest_of(PRODUCT, DECLARED)
    standing = conditions(nest)._invariant_groups
    assert names(standing(loop_named(nest, "j"))) == ["c[i][j]"]
    assert standing(nest.root) == []  # all move with j or with l
    assert standing(loop_named(nest, "l")) == []  # nothing is inside
    # Cleared before the sum: the same element.
    cleared = nest_of(
        I_J + "{ c[i][j] = 0; x[j] = 1; for (int l = 0; l < 70; l++) c[i][j] += a[i][l]; }",
        DECLARED,
    )
    assert names(conditions(cleared)._invariant_groups(loop_named(cleared, "j"))) == ["c[i][j]"] * 2
    both = nest_of(
        I_J + "{ c[i][j] = 0; b[i][j] = 1;"
        " for (int l = 0; l < 70; l++) { c[i][j] += a[i][l]; b[i][j] *= a[i][l]; } }", DECLARED,
    )  # fmt: skip
    kept = names(conditions(both)._invariant_groups(loop_named(both, "j")))
    assert sorted(kept) == ["b[i][j]"] * 2 + ["c[i][j]"] * 2
    # Beside it another element of its array, and one of another array in the same place: neither.
    beside = nest_of(
        I_J + "{ c[i][j] = 0; c[j][i] = 1; b[i][j] = 1;"
        " for (int l = 0; l < 70; l++) c[i][j] += a[i][l]; }", DECLARED,
    )  # fmt: skip
    assert names(conditions(beside)._invariant_groups(loop_named(beside, "j"))) == ["c[i][j]"] * 2
    # Of two loops inside neither is the last to have touched it.
    two = nest_of(
        I_J + "{ for (int l = 0; l < 9; l++) c[i][j] += a[i][l];"
        " for (int m = 0; m < 9; m++) c[i][j] += b[m][j]; }", DECLARED,
    )  # fmt: skip
    assert conditions(two)._invariant_groups(loop_named(two, "j")) == []
    gathered = nest_of(I_J + "for (int l = 0; l < 9; l++) x[k[i]] += a[i][l];", DECLARED)
    assert names(conditions(gathered)._invariant_groups(loop_named(gathered, "j"))) == ["k[i]"]


def test_a_small_matrix_that_every_iteration_touches_stays() -> None:
    """x[l] in i, j, l: all of it in each j, of any i, where an iteration of j fits."""
    loops = I_J + "for (int l = 0; l < 70; l++) c[i][j] += a[i][l] * x[l];"
    nest = nest_of(loops, DECLARED)
    j = nest.loops[1]
    assert j.variable == "j"
    fits = conditions(nest, 1e4)
    assert names(fits._always_touched(nest.root, {"i": 3.0})) == ["x[l]"]
    # a[i][l] is the same for all j of an i, and c[i][j] for nobody.
    assert fits._always_touched(j, {"i": 3.0, "j": 4.0}) == []
    # Where an iteration of j does not fit one has to look further in.
    tight = conditions(nest, 100.0)
    assert tight._always_touched(nest.root, {"i": 3.0}) == []
    deep = I_J + "for (int l = 0; l < 70; l++) for (int m = 0; m < 5; m++) c[i][j] += b[l][m]*x[m];"
    inner = nest_of(deep, DECLARED)
    # m runs over a line of x; b has 70 rows: an iteration of l fits, one of j does not.
    assert names(conditions(inner, 400.0)._always_touched(inner.root, {"i": 3.0})) == ["x[m]"]
    assert names(conditions(inner, 1e5)._always_touched(inner.root, {"i": 3.0})) == [
        "b[l][m]", "x[m]",
    ]  # fmt: skip
    # A row that every iteration of l touches is another one for each i.
    rows = nest_of(deep.replace("x[m]", "x[m] * a[i][m]"), DECLARED)
    row = conditions(rows, 600.0)
    assert names(row._always_touched(rows.loops[1], {"i": 3.0, "j": 4.0})) == [
        "a[i][m]", "x[m]",
    ]  # fmt: skip
    assert names(row._always_touched(rows.root, {"i": 3.0})) == ["x[m]"]


@pytest.mark.parametrize(
    "loops",
    [
        # something beside the inner loop, a range that moves, or two loops
        "for (int i = 0; i < 50; i++) { x[i] = 1; for (int j = 0; j < 9; j++)"
        " for (int l = 0; l < 9; l++) a[i][j] += x[l]; }",
        "for (int i = 0; i < 50; i++) for (int j = i; j < 60; j++)"
        " for (int l = 0; l < 9; l++) a[i][j] += x[l];",
        "for (int i = 0; i < 50; i++) for (int j = 0; j < 60; j++)"
        " for (int l = j; l < 70; l++) a[i][j] += x[l];",
        "for (int i = 0; i < 50; i++) { for (int j = 0; j < 9; j++) a[i][j] += x[3];"
        " for (int l = 0; l < 9; l++) b[i][l] += x[3]; }",
    ],
)
def test_no_matrix_is_touched_by_every_iteration(loops: str) -> None:
    nest = nest_of(loops, DECLARED)
    kept = conditions(nest)._always_touched(nest.root, {"i": 3.0})
    assert "x[l]" not in names(kept) and "x[3]" not in names(kept)


# -- sums and gathers -----------------------------------------------------------------------------


def test_volumes_add_up() -> None:
    total = {"a": Lines(1.0, 2.0)}
    _add_lines(total, {"a": Lines(10.0, 20.0), "b": Lines(3.0, 4.0)}, 0.5)
    assert total == {"a": (6.0, 12.0), "b": (1.5, 2.0)}
    _add_lines(total, {"b": Lines(1.0, 1.0)})
    assert total["b"] == (2.5, 3.0)


def test_groups_that_are_counted_already_are_left_out() -> None:
    nest = nest_of("for (int i = 0; i < 9; i++) a[i][0] = b[i][0] + x[k[i]];", DECLARED)
    groups = list(nest.groups())
    held = frozenset(group.index for group in groups if group.array == "b")
    assert {group.array for group in _uncounted_groups(groups, frozenset())} == {"a", "b", "k"}
    assert {group.array for group in _uncounted_groups(groups, held)} == {"a", "k"}


@pytest.mark.parametrize(
    ("capacity", "threads", "lines"),
    [
        # 1000 over 500 doubles, 62.5 lines, in a cache of half of it: half of them miss
        (2000.0, 1, 500.0),
        (1000.0, 1, 750.0),
        (0.0, 1, 1000.0),
        (2000.0, 4, 500.0),  # of 250 each, four together
        # all of it, or nearly: each line once
        (4000.0, 1, 62.5 * (1 - math.exp(-16))),
        (1e9, 1, 62.5 * (1 - math.exp(-16))),
        (3990.0, 1, 62.5 * (1 - math.exp(-16))),
    ],
)
def test_gathers_miss_by_what_does_not_fit(capacity: float, threads: int, lines: float) -> None:
    nest = nest_of("for (int i = 0; i < 1000; i++) g[k[i]] += 1;", "double g[500], int *k")
    (group,) = (one for one in nest.groups() if one.array == "g")
    found = conditions(nest, capacity, threads)._random_misses(group)
    assert found.touched == found.written == pytest.approx(lines)


@pytest.mark.parametrize("capacity", [0.0, 1000.0, 6000.0, 1e9])
def test_gathers_from_arrays_of_each_threads_own(capacity: float) -> None:
    """Four threads have 62.5 lines each and 250 throws into them, 16000 bytes in all."""
    loops = "for (int i = 0; i < 1000; i++) { double t[500]; t[k[i]] = i; }"
    (group,) = (one for one in nest_of(loops, "int *k").groups() if one.array == "t")
    assert group.private
    lines = max(250 * (1 - math.exp(-4)), 1000 * max(0.0, 1 - capacity / 16_000))
    made = conditions(nest_of(loops, "int *k"), capacity, 4)._random_misses(group)
    assert made.touched == made.written == pytest.approx(lines)


def test_gathers_from_less_than_a_line() -> None:
    """Two doubles are a line, which comes once; a read of them writes nothing."""
    nest = nest_of(
        "for (int i = 0; i < 1000; i++) x[i] = g[k[i]];", "double g[2], int *k, double *x"
    )
    (group,) = (one for one in nest.groups() if one.array == "g")
    assert conditions(nest, 64.0)._random_misses(group) == (pytest.approx(1.0), 0.0)
    assert conditions(nest, 4.0)._random_misses(group) == (pytest.approx(1000 * 3 / 4), 0.0)


def test_iterations_in_a_row_that_a_cache_holds() -> None:
    """The first touches a line; each further one of a hundred doubles in a row adds 8 B."""
    nest = nest_of("for (int i = 0; i < 100; i++) x[i] = 1;", DECLARED)
    for capacity, turns in ((464.0, 51.0), (64.0, 1.0), (10.0, 1.0), (64.0 + 8 * 99, 100.0),
                            (848.0, 99.0), (1e9, 100.0)):  # fmt: skip
        assert conditions(nest, capacity)._fitting_iterations(nest.root, {}) == pytest.approx(turns)
    one = nest_of("for (int i = 0; i < 1; i++) x[i] = 1;", DECLARED)
    assert conditions(one, 10.0)._fitting_iterations(one.root, {}) == 1.0
    # Two rows of 60 doubles: 64 + 8 * 59 bytes the first, as many the second.
    two = nest_of("for (int i = 0; i < 2; i++) for (int j = 0; j < 60; j++) r[i][j] = 1;",
                  "double r[2][640]")  # fmt: skip
    assert conditions(two, 1.5 * 536.0)._fitting_iterations(two.root, {}) == pytest.approx(1.5)


def test_iterations_in_a_row_of_a_triangle() -> None:
    """In the middle, i = 49.5, a row is 50.5 doubles of 64 + 8 * 49.5 = 460 B; all are 856 B."""
    loops = "for (int i = 0; i < 100; i++) for (int j = 0; j <= i; j++) x[j] = 1;"
    nest = nest_of(loops, DECLARED)
    for capacity, turns in ((460.0, 1.0), (658.0, 50.5), (800.0, 86.0), (856.0, 100.0)):
        assert conditions(nest, capacity)._fitting_iterations(nest.root, {}) == pytest.approx(turns)


# -- references that find each other's lines ------------------------------------------------------


def parts_of(loops: str, variable: str, capacity: float) -> list[list[list[float]]]:
    """The offsets of the groups, in the parts in which lines are found again."""
    nest = nest_of(loops, DECLARED)
    loop = loop_named(nest, variable)
    around = {other.variable: 0.0 for other in nest.loops if other is not loop}
    made = conditions(nest, capacity)._reuse_partitions(loop, around, loop.groups_below)
    return [[list(group.offsets) for group in part] for part in made]


def test_parts_are_numbered_apart() -> None:
    """Footprints are known by a group's number: no part has that of another, or of a group."""
    loops = "for (int i = 0; i < 1000; i++) x[i] = x[i + 200] + x[i + 400] + y[i] + y[i + 300];"
    nest = nest_of(loops, "double *x, double *y")
    parts = conditions(nest, 640.0)._reuse_partitions(nest.root, {}, nest.root.groups_below)
    numbers = [group.index for part in parts for group in part]
    assert len(numbers) == len(set(numbers)) == 3 + 2
    assert not {*numbers} & {group.index for group in nest.groups()}


@pytest.mark.parametrize("loops", [
    "for (int i = 0; i < 20000; i++) x[i] = x[i + 200] + x[i + 8000];",
    "for (int i = 0; i < 20; i++) for (int j = 0; j < 2000; j++) y[i] = x[j] + x[j+99] + x[j+999];",
])  # fmt: skip
def test_a_cache_misses_the_same_whatever_others_were_asked_before(loops: str) -> None:
    """Parts of a group in one cache are no parts in another."""
    nest = nest_of(loops, "double *x, double *y")
    capacities = (300.0, 2000.0, 20_000.0, 1e6)
    anew = {capacity: conditions(nest, capacity).misses(nest.root) for capacity in capacities}
    for order in (capacities, capacities[::-1]):
        tables = FootprintTables()
        for capacity in order:
            team = TeamFootprints(undivided_nest(nest), 1.0, 64, tables)
            assert LayerConditions(team, capacity, {}).misses(nest.root) == anew[capacity]
    # By hand: 20000 stores, with those 200 further on one run; another apart from them.
    if "y" not in loops:
        stored, ahead = 1 + 8 * 19_999 / 64, 1 + 8 * (19_999 + 200) / 64
        assert anew[20_000.0].volume["x"] == (pytest.approx(ahead + stored), pytest.approx(stored))


@pytest.mark.parametrize(
    ("head", "step", "trips"),
    [
        ("i = 0; i < 1000; i++", 1, 1000),
        ("i = 0; i < 1000; i += 2", 2, 500),
        ("i = 999; i >= 0; i--", 1, 1000),
        ("i = 1200; i > 200; i -= 4", 4, 250),
    ],
)
def test_references_far_apart_find_each_other_in_a_large_cache(
    head: str, step: int, trips: int
) -> None:
    """x[i] and x[i + 240] lie 240 / `step` iterations apart.

    One iteration touches a line of each and k's, all of them one run of doubles and k's line.
    """
    loops = f"for (int {head}) k[0] = x[i] + x[i + 240];"
    one, all_of_them = 3 * 64, 64 + 64 + 8 * ((trips - 1) * step + 240)
    holds = one + (240 / step - 1) * (all_of_them - one) / (trips - 1)
    near, *far = parts_of(loops, "i", holds + 100)
    assert sorted(near) == [[0.0], [0.0, 1920.0]] and not far
    near, *far = parts_of(loops, "i", holds - 100)
    assert near == [[0.0], [0.0]] and far == [[[1920.0]]]


def test_references_that_stand_still_stay_together() -> None:
    """x[i] and x[i + 100] in a loop over j: no iteration comes to the other's line."""
    loops = "for (int i = 0; i < 50; i++) for (int j = 0; j < 2000; j++) k[j] = x[i] + x[i + 100];"
    for capacity in (200.0, 1000.0, 4000.0, 1e9):
        near, *far = parts_of(loops, "j", capacity)
        assert [0.0, 800.0] in near and not far


def test_rows_that_do_not_meet_while_a_loop_runs_stay_together() -> None:
    """a[i][j] and a[i + 1][j] lie 99 iterations of j apart, of which there are 60."""
    (near,) = parts_of(I_J + "b[i][j] = a[i][j] + a[i + 1][j];", "j", 300.0)
    assert [0.0, 792.0] in near


@pytest.mark.parametrize("step", [1, 3, -2])
def test_references_meet_in_the_last_iteration_at_the_latest(step: int) -> None:
    """Of fifty iterations the last comes to what lies 49 before it, and none to what lies 50."""
    head = f"i = 0; i < {50 * step}; i += {step}" if step > 0 else "i = 98; i >= 0; i -= 2"
    for apart, meet in ((48, True), (49, True), (50, False), (51, False)):
        loops = f"for (int {head}) k[i] = x[i] + x[i + {apart * abs(step)}];"
        other = 8.0 * apart * abs(step)
        near, *far = parts_of(loops, "i", 200.0)
        assert sorted(near) == ([[0.0], [0.0]] if meet else [[0.0], [0.0, other]])
        assert far == ([[[other]]] if meet else [])


@pytest.mark.parametrize("name", NESTS)
def test_data_exceed_each_capacity_below_their_size(name: str) -> None:
    nest = lowered(name)
    root, tables = nest.root, FootprintTables()
    asked = (root,), {}, root.groups_below
    size = TeamFootprints(undivided_nest(nest), 1.0, 64, FootprintTables()).bytes(*asked)
    for capacity in (size / 8, size / 2, size * 0.999, size, size * 1.001, size / 4):
        for kept in (tables, FootprintTables()):
            team = TeamFootprints(undivided_nest(nest), 1.0, 64, kept)
            assert team.exceeds_capacity(*asked, capacity) == (size > capacity)
