"""Schedules that hand cores over between regions, against every schedule there is."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from further_cases import further_slow
from hypothesis import given, settings
from hypothesis import strategies as st
from test_coschedule_by_hand import PEAK, phase, round_machine

from regionpredict.machine import Machine
from regionpredict.predict.core_handover import best_handover
from regionpredict.predict.coschedule import CoscheduledProgram, Phase, coschedule
from regionpredict.predict.region_timeline import timeline_of
from regionpredict.predict.shared_memory import PathCurve, Running, seconds_together

Times = Mapping[int, float]


def one_package(change: float = 0.0) -> Machine:
    """Four cores on one path to memory; changes of size cost `change` seconds."""
    machine = round_machine(packages=1)
    costs = machine.overheads
    curve = replace(costs.team_change, x=(1,), y=(change * machine.clock_hz,))
    return replace(machine, overheads=replace(costs, team_change=curve))


def scaling(seconds: float, most: int = 4) -> Times:
    """Seconds by threads where up to `most` help."""
    return {n: seconds / min(n, most) for n in range(1, 5)}


def program(name: str, *phases: Phase, loops: int = 1) -> CoscheduledProgram:
    """A program of these phases, one after the other, all of them so many times."""
    ids = [f"{name}.c:{line}" for line in range(1, len(phases) + 1)]
    named = tuple(
        replace(own, id=one, runs=float(loops)) for own, one in zip(phases, ids, strict=True)
    )
    changes = dict.fromkeys(itertools.pairwise(ids), float(loops))
    if loops > 1:
        changes[ids[-1], ids[0]] = loops - 1.0
    return CoscheduledProgram(name, named, changes)


# -- the order of regions --------------------------------------------------------------------------


def test_a_loop_of_regions_alternates_and_is_left_at_its_end() -> None:
    changes = {("a", "b"): 3.0, ("b", "a"): 2.0, ("b", "c"): 1.0}
    visits = timeline_of({"a": 3.0, "b": 6.0, "c": 1.0}, changes)
    assert [visit.region for visit in visits] == ["a", "b", "a", "b", "a", "b", "c"]
    assert [visit.runs for visit in visits] == [1, 2, 1, 2, 1, 2, 1]
    assert sum(visit.share for visit in visits if visit.region == "b") == pytest.approx(1.0)


def test_an_inner_loop_runs_in_each_turn_of_the_outer_one() -> None:
    # for 2: a; for 3: b, c
    changes = {("a", "b"): 2.0, ("b", "c"): 6.0, ("c", "b"): 4.0, ("c", "a"): 1.0}
    visits = timeline_of({"a": 2.0, "b": 6.0, "c": 6.0}, changes)
    assert "".join(visit.region for visit in visits) == "abcbcbcabcbcbc"


def test_regions_that_nothing_leads_to_keep_their_place() -> None:
    assert [visit.region for visit in timeline_of({"a": 1.0, "b": 5.0}, {})] == ["a", "b"]


def test_many_visits_are_a_few_that_stand_for_them() -> None:
    changes = {("a", "b"): 1000.0, ("b", "a"): 999.0}
    visits = timeline_of({"a": 1000.0, "b": 1000.0}, changes, most=20)
    assert 20 <= len(visits) <= 24
    for name in "ab":
        own = [visit for visit in visits if visit.region == name]
        assert sum(visit.share for visit in own) == pytest.approx(1.0)
        assert sum(visit.runs for visit in own) == pytest.approx(1000.0)
        assert sum(visit.visits for visit in own) == pytest.approx(1000.0, rel=0.01)


def test_what_is_rare_comes_in_the_middle_of_many_visits() -> None:
    often = {("a", "b"): 1000.0, ("b", "a"): 990.0, ("b", "c"): 10.0, ("c", "a"): 9.0}
    visits = timeline_of({"a": 1000.0, "b": 1000.0, "c": 10.0}, often, most=20)
    places = [place for place, visit in enumerate(visits) if visit.region == "c"]
    assert len(visits) / 4 <= places[0] <= 3 * len(visits) / 4


# -- known schedules -------------------------------------------------------------------------------


def test_who_ends_leaves_its_cores_at_the_next_region() -> None:
    # `a` has one region of one thread, 4 s. A region of `b` that it ends in would keep its 3 cores.
    # So `a` best waits for the first one, and has all of the second beside it, 3 s, and as much of
    # the third as is left of its own: 1 s.
    first = program("a", phase(scaling(4.0, most=1)))
    second = program("b", phase(scaling(9.0)), phase(scaling(9.0)), phase(scaling(8.0)))
    result = best_handover([first, second], one_package())
    assert result is not None
    assert result.seconds == pytest.approx(9.0 / 4 + 9.0 / 3 + 8.0 / 3)
    assert result.ended == pytest.approx((9.0 / 4 + 4.0, result.seconds))
    assert result.fixed_seconds == pytest.approx(26.0 / 3)
    assert result.turns_seconds == pytest.approx(4.0 + 26.0 / 4)


def test_cores_come_back_between_executions_of_a_region() -> None:
    # Eight executions of 0.5 s on 4 cores: with 3 until `a` ends at 2 s, then with 4.
    first = program("a", phase(scaling(2.0, most=1)))
    second = program("b", phase(scaling(16.0)))
    second = replace(second, phases=(replace(second.phases[0], runs=8.0),))
    result = best_handover([first, second], one_package())
    assert result is not None
    assert result.seconds == pytest.approx(2.0 + (16.0 - 6.0) / 4)


def test_programs_that_both_want_memory_first_go_on_staggered() -> None:
    # Each fills memory for 2 s from one core, then has 6 core seconds of work. Together both need
    # 4 s for memory and 3 s for work. One after the other in memory: 2 s, then 2 s beside 6 core
    # seconds on 3 cores, then 6 on 4.
    streams = phase(dict.fromkeys(range(1, 5), 2.0), rate=PEAK)
    programs = [program(name, streams, phase(scaling(6.0))) for name in "ab"]
    result = best_handover(programs, one_package())
    assert result is not None
    assert result.fixed_seconds == pytest.approx(4.0 + 3.0)
    assert result.turns_seconds == pytest.approx(7.0)
    assert result.seconds == pytest.approx(2.0 + 2.0 + 1.5)
    assert result.over_fixed == pytest.approx(7.0 / 5.5)


def test_complementary_regions_pass_cores_both_ways() -> None:
    serial, wide = phase(scaling(3.0, most=1)), phase(scaling(9.0))
    result = best_handover(
        [program("a", serial, wide), program("b", wide, serial)], one_package()
    )  # fmt: skip
    assert result is not None
    assert result.seconds == pytest.approx(6.0)
    assert [[turn.threads for turn in step.turns] for step in result.steps] == [[1, 3], [3, 1]]
    assert result.fixed_seconds == pytest.approx(7.5)  # halves: 3 + 4.5
    assert result.turns_seconds == pytest.approx(2 * (3.0 + 9.0 / 4))


def test_sizes_stay_where_their_changes_cost_more_than_they_gain() -> None:
    serial, wide = phase(scaling(3.0, most=1)), phase(scaling(9.0))
    programs = [program("a", serial, wide, loops=4), program("b", wide, serial, loops=4)]
    free, dear = (best_handover(programs, one_package(cost)) for cost in (0.0, 50.0))
    assert free is not None
    assert dear is not None
    assert free.seconds == pytest.approx(6.0)
    assert dear.seconds == pytest.approx(min(dear.turns_seconds, dear.fixed_seconds), rel=0.03)


def test_more_programs_than_cores() -> None:
    programs = [program(name, phase(scaling(1.0))) for name in "abcde"]
    assert best_handover(programs, one_package()) is None


# -- against every schedule ------------------------------------------------------------------------


def every_schedule(programs: Sequence[Sequence[Running | Times]]) -> float:
    """The least time of all schedules that decide where a region ends; by trying each."""
    best = float("inf")
    path = PathCurve((1.0, 4.0), (10e9, 20e9))

    def together(running: Sequence[tuple[int, int, int]]) -> list[float]:
        made = []
        for k, at, cores in running:
            own = programs[k][at]
            if isinstance(own, Running):
                rate = path.at(float(cores))
                made.append(Running(own.seconds * PEAK / rate, 0.0, own.seconds * PEAK / rate,
                                    float(cores), rate, path))  # fmt: skip
            else:
                made.append(Running(own[cores]))
        return seconds_together(made)

    def go(now: float, at: tuple[int, ...], done: tuple[float, ...], held: tuple[int, ...]) -> None:
        nonlocal best
        going = [k for k in range(len(programs)) if at[k] < len(programs[k])]
        if not going:
            best = min(best, now)
            return
        choices = [(0,) if k not in going else (held[k],) if held[k] else (0, 1, 2, 3, 4)
                   for k in range(len(programs))]  # fmt: skip
        for dealt in itertools.product(*choices):
            if not 0 < sum(dealt) <= 4:
                continue
            running = [(k, at[k], dealt[k]) for k in going if dealt[k]]
            took = dict(zip([k for k, _, _ in running], together(running), strict=True))
            span = min((1.0 - done[k]) * took[k] for k in took)
            part = {k: done[k] + span / took[k] for k in took}
            ends = {k for k in took if part[k] > 1.0 - 1e-9}
            go(
                now + span,
                tuple(at[k] + (k in ends) for k in range(len(programs))),
                tuple(0.0 if k in ends else part.get(k, done[k]) for k in range(len(programs))),
                tuple(0 if k in ends else dealt[k] for k in range(len(programs))),
            )

    go(0.0, (0,) * len(programs), (0.0,) * len(programs), (0,) * len(programs))
    return best


@pytest.mark.parametrize("seed", further_slow(4, range(12)))
def test_random_timelines_are_within_three_percent_of_the_optimum(seed: int) -> None:
    draw = random.Random(seed)
    programs: list[list[Running | Times]] = []
    known = []
    for name in "ab":
        own: list[Running | Times] = []
        phases = []
        for _ in range(draw.choice((2, 3))):
            seconds = draw.uniform(1.0, 10.0)
            if draw.random() < 0.3:
                times = {n: seconds * PEAK / PathCurve((1.0, 4.0), (10e9, 20e9)).at(n)
                         for n in range(1, 5)}  # fmt: skip
                own.append(Running(seconds))
                made = phase(times, rate=1.0)
                loads = {n: load._replace(bandwidth=PathCurve((1.0, 4.0), (10e9, 20e9)).at(n))
                         for n, load in made.alone.items()}  # fmt: skip
                phases.append(replace(made, alone=loads, beside=loads))
            else:
                efficiency = draw.uniform(0.0, 1.0)
                times = {n: seconds / (1 + (n - 1) * efficiency) for n in range(1, 5)}
                own.append(times)
                phases.append(phase(times))
        programs.append(own)
        known.append(program(name, *phases))
    result = best_handover(known, one_package())
    assert result is not None
    optimum = every_schedule(programs)
    assert optimum * (1 - 1e-9) <= result.seconds <= 1.03 * optimum


# -- laws ------------------------------------------------------------------------------------------

WORK = st.lists(st.tuples(st.floats(0.1, 20.0), st.integers(1, 4), st.booleans()),
                min_size=1, max_size=3)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.lists(WORK, min_size=2, max_size=3), st.integers(1, 3))
def test_no_schedule_is_worse_than_shares_or_turns_or_better_than_the_work(
    works: Sequence[Sequence[tuple[float, int, bool]]], loops: int
) -> None:
    programs = [
        program(
            name,
            *(phase(scaling(seconds, most), rate=PEAK if memory else 0.0)
              for seconds, most, memory in own),
            loops=loops,
        )
        for name, own in zip("abc", works, strict=False)
    ]  # fmt: skip
    machine = one_package()
    result = best_handover(programs, machine)
    assert result is not None
    assert result.seconds <= min(result.turns_seconds, result.fixed_seconds) * (1 + 1e-9)
    alone = [sum(own.alone[4].seconds for own in one.phases) for one in programs]
    assert result.seconds >= max(alone) * (1 - 1e-9)
    assert result.turns_seconds == pytest.approx(sum(alone))
    assert sum(step.seconds for step in result.steps) == pytest.approx(result.seconds)
    assert all(sum(turn.threads for turn in step.turns) <= 4 for step in result.steps)
    assert result.turns_seconds == pytest.approx(coschedule(programs, machine).sequential_seconds)
