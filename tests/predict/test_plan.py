"""Plans: never worse than a constant, as good as trying everything, and what changes cost."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.machine import load
from regionpredict.predict import PlannedTeam, plan_of

MACHINE = load("clovertown")  # 2 packages of 4 cores
SIZES = (1, 2, 4, 8)


def change(one: int, other: int) -> float:
    if one == other:
        return 0.0
    return float(MACHINE.overheads.team_change.at(max(one, other))) / MACHINE.clock_hz


def total(
    teams: list[PlannedTeam], changes: dict[tuple[str, str], float], sizes: dict[str, int]
) -> float:
    own = sum(team.executions * team.seconds[sizes[team.id]] for team in teams)
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
    "times",
    [
        [(2, 6, 1), (2, 1, 5), (2, 4, 4)],
        [(6, 3, 5), (6, 3, 1), (4, 5, 5)],
        [(3, 6, 2), (2, 2, 5), (6, 5, 4), (4, 6, 6)],
    ],
)
def test_the_best_of_all_where_no_team_alone_nor_its_like_gain(
    times: list[tuple[int, int, int]],
) -> None:
    """On 2, 4 and 8 threads, in changes to 8: found on the way through the teams in their order."""
    teams = [
        PlannedTeam(
            f"t{number}",
            1.0,
            {2: two * change(1, 8), 4: four * change(1, 8), 8: eight * change(1, 8)},
        )
        for number, (two, four, eight) in enumerate(times)
    ]
    changes = {(f"t{k}", f"t{k + 1}"): 1.0 for k in range(len(teams) - 1)}
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
