"""Plans: never worse than a constant, as good as trying everything, and what changes cost."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.machine import load
from regionpredict.predict import PlannedTeam, changes_between, plan_of
from regionpredict.predict.plan import _PlanCosts

MACHINE = load("clovertown")  # 2 packages of 4 cores
SIZES = (1, 2, 4, 8)


def change(one: int, other: int) -> float:
    if one == other:
        return 0.0
    return float(MACHINE.overheads.team_change.at(max(one, other))) / MACHINE.clock_hz


def total(
    teams: list[PlannedTeam], changes: dict[tuple[str, str], float], sizes: dict[str, int],
    *, cold: bool = True,
) -> float:  # fmt: skip
    """Seconds of a program; `cold`: its first team makes its threads."""
    own = sum(team.executions * team.seconds[sizes[team.id]] for team in teams)
    if cold:
        own += float(MACHINE.overheads.first_team.at(sizes[teams[0].id])) / MACHINE.clock_hz
    return own + sum(
        often * change(sizes[one], sizes[other]) for (one, other), often in changes.items()
    )


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[PlannedTeam], dict[tuple[str, str], float]]:
    count = draw(st.integers(1, 5))
    seconds = st.floats(1e-6, 1e-2)
    teams = []
    for number in range(count):
        allowed = SIZES[: draw(st.integers(1, 4))]  # a num_threads of its own
        runs = float(draw(st.integers(1, 50)))
        teams.append(PlannedTeam(f"t{number}", runs, {size: draw(seconds) for size in allowed}))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    changes = {
        (f"t{a}", f"t{b}"): float(draw(st.integers(1, 50)))
        for a, b in draw(st.lists(pairs, max_size=8)) if a != b
    }  # fmt: skip
    return teams, changes


@settings(max_examples=150, deadline=None)
@given(programs())
def test_no_plan_is_worse_than_a_constant(
    program: tuple[list[PlannedTeam], dict[tuple[str, str], float]],
) -> None:
    teams, changes = program
    plan = plan_of(teams, changes, MACHINE)
    assert plan is not None
    # It tells the truth of itself.
    assert plan.seconds == pytest.approx(total(teams, changes, dict(plan.sizes)))
    constants = {
        count: total(teams, changes, {
            team.id: max(size for size in team.seconds if size <= count) for team in teams
        })
        for count in SIZES if any(count in team.seconds for team in teams)
    }  # fmt: skip
    assert plan.best_constant.seconds == pytest.approx(min(constants.values()))
    assert plan.seconds <= min(constants.values()) * (1 + 1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.floats(1e-6, 1e-3), min_size=4, max_size=4), min_size=1, max_size=5))
def test_a_chain_of_teams_has_the_best_plan_of_all(times: list[list[float]]) -> None:
    teams = [
        PlannedTeam(f"t{number}", 1.0, dict(zip(SIZES, each, strict=True)))
        for number, each in enumerate(times)
    ]
    changes = {(f"t{k}", f"t{k + 1}"): 1.0 for k in range(len(teams) - 1)}
    plan = plan_of(teams, changes, MACHINE)
    best = min(
        total(teams, changes, {team.id: size for team, size in zip(teams, sizes, strict=True)})
        for sizes in product(SIZES, repeat=len(teams))
    )
    assert plan is not None and plan.seconds == pytest.approx(best)


@pytest.mark.parametrize(
    ("times", "pairs"),
    [
        # the way through the teams in their order begins nearer to it
        ([(2, 6, 1), (2, 1, 5), (2, 4, 4)], ["01", "12"]),
        ([(6, 3, 5), (6, 3, 1), (4, 5, 5)], ["01", "12"]),
        ([(3, 6, 2), (2, 2, 5), (6, 5, 4), (4, 6, 6)], ["01", "12", "23"]),
        ([(1, 4, 3), (1, 1, 2), (6, 5, 4), (6, 3, 3)], ["01", "12", "23"]),
        # where others than neighbours follow each other, the best constant does
        ([(6, 6, 2), (1, 2, 2), (3, 4, 4), (5, 1, 2)], ["02", "03", "23"]),
    ],
)
def test_the_best_of_all_where_no_team_alone_nor_its_like_gain(
    times: list[tuple[int, int, int]], pairs: list[str]
) -> None:
    """On 2, 4 and 8 threads, in changes to 8, by trying all sizes."""
    teams = [
        PlannedTeam(
            f"t{number}",
            1.0,
            {2: two * change(1, 8), 4: four * change(1, 8), 8: eight * change(1, 8)},
        )
        for number, (two, four, eight) in enumerate(times)
    ]
    changes = {(f"t{first}", f"t{then}"): 1.0 for first, then in pairs}
    plan = plan_of(teams, changes, MACHINE)
    best = min(
        total(teams, changes, {team.id: size for team, size in zip(teams, sizes, strict=True)})
        for sizes in product((2, 4, 8), repeat=len(teams))
    )
    assert plan is not None and plan.seconds == pytest.approx(best)


def test_a_change_is_worth_it_only_where_it_gains_more_than_it_costs() -> None:
    cost = change(2, 8)
    often = PlannedTeam("often", 1.0, {2: 1.0, 8: 0.5})
    for gain, sizes in ((0.9 * cost, {8}), (2.1 * cost, {2, 8})):
        small = PlannedTeam("small", 1.0, {2: 1e-4, 8: 1e-4 + gain})
        plan = plan_of([often, small], {("often", "small"): 1.0}, MACHINE)
        assert plan is not None
        assert set(plan.sizes.values()) == sizes
        assert plan.team_changes == len(sizes) - 1
        assert (plan.threads, plan.packages, plan.best_constant.threads) == (8, 2, 8)


def test_without_times_there_is_no_plan() -> None:
    assert plan_of([PlannedTeam("t", 1.0, {})], {}, MACHINE) is None


# -- the ways to a plan, each by itself ------------------------------------------------------------

TIMES = st.lists(st.lists(st.floats(1e-6, 3e-5), min_size=4, max_size=4), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(TIMES, st.data())
def test_the_way_through_the_order_is_the_best_of_all(
    times: list[list[float]], data: st.DataObject
) -> None:
    """Of a chain of teams, run so often and so often one after the other, by trying all sizes."""
    often = st.integers(1, 3).map(float)
    teams = [
        PlannedTeam(f"t{number}", data.draw(often), dict(zip(SIZES, each, strict=True)))
        for number, each in enumerate(times)
    ]
    changes = {(f"t{k}", f"t{k + 1}"): data.draw(often) for k in range(len(teams) - 1)}
    sizes = _PlanCosts(teams, changes, MACHINE).along_the_order(SIZES)
    best = min(
        total(
            teams,
            changes,
            {team.id: size for team, size in zip(teams, tried, strict=True)},
            cold=False,
        )
        for tried in product(SIZES, repeat=len(teams))
    )
    assert total(teams, changes, sizes, cold=False) == pytest.approx(best)


def test_only_the_sizes_that_are_tried_are_taken() -> None:
    """Eight threads would be best; of 1 and 2 the second is, and a team may have no such size."""
    seconds = {1: 8.0, 2: 4.0, 4: 2.0, 8: 1.0}
    times = _PlanCosts(
        [PlannedTeam("t", 1.0, seconds), PlannedTeam("u", 1.0, {4: 2.0})], {}, MACHINE
    )
    assert times.along_the_order([1, 2]) == {"t": 2, "u": 4}
    assert times.constant(3) == {"t": 2, "u": 4}  # the largest that is no larger, or the smallest


@settings(max_examples=60, deadline=None)
@given(programs(), st.data())
def test_what_a_group_changes_is_what_the_whole_changes(
    program: tuple[list[PlannedTeam], dict[tuple[str, str], float]], data: st.DataObject
) -> None:
    """The part of a group differs between two plans by as much as all teams' time does."""
    teams, changes = program
    times = _PlanCosts(teams, changes, MACHINE)
    sizes = {team.id: data.draw(st.sampled_from(sorted(team.seconds))) for team in teams}
    group = data.draw(st.lists(st.sampled_from([t.id for t in teams]), min_size=1, unique=True))
    new = {
        team.id: data.draw(st.sampled_from(sorted(team.seconds)))
        for team in teams if team.id in group
    }  # fmt: skip
    tried = {**sizes, **new}
    assert times.total(sizes) == pytest.approx(total(teams, changes, sizes, cold=False))
    gained = times.total(sizes) - times.total(tried)
    apart = times._group_cost(group, sizes) - times._group_cost(group, tried)
    assert apart == pytest.approx(gained, rel=1e-6, abs=1e-9)
    assert times.changes_of(sizes) == pytest.approx(
        sum(often for (one, other), often in changes.items() if sizes[one] != sizes[other])
    )


def test_the_sizes_that_are_tried() -> None:
    """Powers of two below 40 cores, whole domains of 20, all cores, and the best constant."""
    machine = load("skylake-gold-6148")
    assert (machine.cores, machine.cores_per_domain) == (40, 20)
    assert _PlanCosts([], {}, machine).labels(7) == [1, 2, 4, 7, 8, 16, 20, 32, 40]
    assert _PlanCosts([], {}, MACHINE).labels(8) == [1, 2, 4, 8]


def test_neighbours_of_one_size_are_changed_together() -> None:
    """Each of three alike gains a half of a change on two threads: together more than the two
    changes that each alone would cost."""
    unit = change(2, 8)
    teams = [PlannedTeam(f"t{k}", 1.0, {2: 0.5 * unit, 8: unit}) for k in range(3)]
    changes = {("t0", "t1"): 1.0, ("t1", "t2"): 1.0}
    times = _PlanCosts(teams, changes, MACHINE)
    eight = times.constant(8)
    assert times._neighbors_with_equal_size("t1", eight) == ["t1", "t0", "t2"]
    assert times._neighbors_with_equal_size("t1", {**eight, "t2": 2}) == ["t1", "t0"]
    assert times.improved_plan(eight, [2, 8]) == dict.fromkeys(eight, 2)
    # One alone: half a change less for itself, and two changes more.
    assert times._best_change(["t1"], eight, [2, 8]) is None
    assert times._best_change(["t1", "t0", "t2"], eight, [8]) is None  # nothing gained by staying


def test_a_change_costs_that_of_the_larger_size() -> None:
    teams = [PlannedTeam("a", 1.0, {2: 0.0, 8: 0.0}), PlannedTeam("b", 1.0, {2: 0.0, 8: 0.0})]
    times = _PlanCosts(teams, {("a", "b"): 3.0, ("b", "a"): 2.0, ("a", "a"): 7.0}, MACHINE)
    assert times.total({"a": 2, "b": 8}) == pytest.approx(5 * change(2, 8))
    assert times.total({"a": 8, "b": 2}) == pytest.approx(5 * change(2, 8))
    assert times.total({"a": 8, "b": 8}) == 0.0
    assert times.changes_of({"a": 2, "b": 8}) == 5.0


def test_packages_are_those_that_the_threads_fill() -> None:
    """Four cores a package: four threads are one, five two."""
    for threads, packages in ((1, 1), (4, 1), (5, 2), (8, 2)):
        plan = plan_of([PlannedTeam("t", 1.0, {threads: 1.0})], {}, MACHINE, "main.c")
        assert plan is not None
        assert (plan.threads, plan.packages, plan.main) == (threads, packages, "main.c")


@settings(max_examples=150, deadline=None)
@given(programs())
def test_where_sizes_differ_they_change(
    program: tuple[list[PlannedTeam], dict[tuple[str, str], float]],
) -> None:
    """Whatever is known of the order: to get from one size to another takes a change, and from
    one to each of several others as many as there are others."""
    teams, changes = program
    plan = plan_of(teams, changes_between(teams, changes), MACHINE)
    assert plan is not None
    assert plan.team_changes >= len(set(plan.sizes.values())) - 1


def test_a_change_in_some_runs_alone_is_one() -> None:
    """Eight threads are ten seconds faster here and one thread there, in four runs of ten."""
    teams = [PlannedTeam("a", 1, {1: 11.0, 8: 1.0}), PlannedTeam("b", 1, {1: 1.0, 8: 11.0})]
    for often, told in ((0.4, 1), (1.6, 2)):
        plan = plan_of(teams, {("a", "b"): often}, MACHINE)
        assert plan is not None
        assert (plan.sizes, plan.team_changes) == ({"a": 8, "b": 1}, told)


def test_a_team_without_a_time_parts_no_others() -> None:
    """a, u, b fifty times in turns: a follows b directly, and b follows a past u."""
    teams = [PlannedTeam("a", 50, {1: 2.0, 8: 1.0}), PlannedTeam("u", 50, {}),
             PlannedTeam("b", 50, {1: 1.0, 8: 2.0})]  # fmt: skip
    turns = {("a", "u"): 50.0, ("u", "b"): 50.0, ("b", "a"): 49.0}
    plan = plan_of(teams, changes_between(teams, turns), MACHINE)
    assert plan is not None
    assert (plan.sizes, plan.team_changes) == ({"a": 8, "b": 1}, 99)
