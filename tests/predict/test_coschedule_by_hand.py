"""Programs on one node, step by step: what each asks for, meets and gets, in round figures.

The machine has two packages of four cores, a NUMA domain each. Its memory gives the loads of a
domain 10 GB/s on one core and 20 on four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.machine import Machine
from regionpredict.machine.reader.machine_file import read
from regionpredict.predict.coschedule import (
    CoscheduledProgram,
    Phase,
    PhaseLoad,
    _condensed,
    _Path,
    _Running,
    _slowdowns,
    _splits,
    _together,
    coschedule,
    phases_of,
    with_cache_share,
)

PEAK = 20e9
BUS = ", shared_path: {traffic: 25}"
MACHINE = """
name: round
sources: {test: "round numbers"}
source: test
node: {packages: 2, cores_per_package: 4, clock: 2 GHz, simd: 256}
caches:
  - {level: 1, size: 32 KiB, ways: 8, cores: 1, latency: 4}
  - {level: 2, size: 4 MiB, ways: 16, cores: 4, latency: 40, bytes_per_cycle: 32}
memory: {latency: 200, bandwidth: {load: {1: 10, 4: 20}}PATH}
"""


def round_machine(packages: int = 2, path: str = "") -> Machine:
    """The machine, or one of fewer packages or with a bus."""
    text = MACHINE.replace("packages: 2", f"packages: {packages}").replace("PATH", path)
    return read(text, "round.yaml")


def phase(
    seconds: Mapping[int, float], rate: float = 0.0, beside: Mapping[int, float] | None = None
) -> Phase:
    """A phase that moves `rate` B/s on any number of threads; slower with less cache."""
    loads = {n: PhaseLoad(s, rate * s) for n, s in seconds.items()}
    other = {n: PhaseLoad(s, rate * s) for n, s in (beside or seconds).items()}
    return Phase("p.c:1", loads, other)


def program(name: str, *phases: Phase) -> CoscheduledProgram:
    """A program of these phases."""
    return CoscheduledProgram(name, phases)


# -- what is known before --------------------------------------------------------------------------


def test_shared_caches_are_divided_and_private_ones_are_not() -> None:
    middle = "  - {level: 2, size: 1 MiB, ways: 8, cores: 2, latency: 12, bytes_per_cycle: 32}\n"
    text = MACHINE.replace("PATH", "").replace("level: 2", "level: 3")
    three = read(text.replace("  - {level: 3", f"{middle}  - {{level: 3"), "round.yaml")
    sizes = [cache.size_bytes.whole for cache in with_cache_share(three, 3).caches]
    assert sizes == [32 << 10, (1 << 20) // 3, (4 << 20) // 3]


def test_a_team_counts_by_its_executions_where_it_has_times_both_ways() -> None:
    def team(name: str, runs: int | None, *points: tuple[int, float, float]) -> Any:
        made = [SimpleNamespace(threads=n, seconds=s, memory_bytes=b) for n, s, b in points]
        executions = SimpleNamespace(value=runs)
        return SimpleNamespace(facts=SimpleNamespace(id=name, executions=executions), points=made)

    alone = [team("a", 3, (1, 2.0, 5.0), (4, 1.0, 7.0)), team("b", None, (1, 2.0, 5.0)),
             team("c", 2), team("d", 2, (1, 1.0, 1.0))]  # fmt: skip
    beside = [team("a", 3, (1, 4.0, 6.0)), team("b", None, (1, 3.0, 8.0)),
              team("c", 2, (1, 1.0, 1.0)), team("d", 2)]  # fmt: skip
    assert phases_of(alone, beside) == (
        Phase("a", {1: PhaseLoad(6.0, 15.0), 4: PhaseLoad(3.0, 21.0)}, {1: PhaseLoad(12.0, 18.0)}),
        Phase("b", {1: PhaseLoad(2.0, 5.0)}, {1: PhaseLoad(3.0, 8.0)}),
    )


@pytest.mark.parametrize(("threads", "packages"), [(1, 1), (4, 1), (5, 2), (8, 2)])
def test_alone_a_program_has_the_threads_that_all_its_phases_know(
    threads: int, packages: int
) -> None:
    # On `threads` the two take 3 + 1 s, on three 1 + 4 s; two are known of one phase alone.
    both = program("a", phase({threads: 3.0, 3: 1.0, 2: 0.1}), phase({threads: 1.0, 3: 4.0}))
    assert both.best_alone() == (threads, 4.0)
    result = coschedule([both, program("b", phase({3: 1.0}))], round_machine())
    part = result.alone[0]
    assert (part.cores, part.packages, part.seconds, part.slowdown) == (threads, packages, 4.0, 1.0)
    assert result.turns == 5.0


@given(st.integers(1, 24), st.integers(1, 3))
def test_few_things_are_dealt_out_in_all_ways(total: int, parts: int) -> None:
    every = [deal for deal in product(range(1, total + 1), repeat=parts) if sum(deal) == total]
    assert list(_splits(total, parts)) == every


@pytest.mark.parametrize(("total", "step"), [(24, 1), (25, 2), (48, 2), (49, 3), (128, 6)])
def test_many_things_are_dealt_out_in_steps(total: int, step: int) -> None:
    firsts = list(range(step, total, step))
    assert list(_splits(total, 2)) == [(first, total - first) for first in firsts]


# -- what a phase asks for -------------------------------------------------------------------------


def test_a_path_gives_what_loads_get_or_what_the_phase_gets_alone() -> None:
    loads = {1: PhaseLoad(1.0, 10.0), 4: PhaseLoad(2.0, 80.0), 8: PhaseLoad(0.0, 7.0)}
    stream = Phase("s", loads, {1: PhaseLoad(1.0, 1000.0)})
    assert _Path(30.0, 4, 1).given(stream) == 40.0  # 40 B/s on four cores
    assert _Path(30.0, 3, 1).given(stream) == 30.0  # of one core 10 only
    assert _Path(30.0, 8, 2).given(stream) == 20.0  # half of the path
    assert _Path(50.0, 8, 2).given(stream) == 25.0
    assert _Path(5.0, 0, 1).given(stream) == 5.0
    assert _Path(0.5, 1, 1).given(phase({1: 0.0})) == 0.5


def test_phases_that_ask_for_about_as_much_are_one() -> None:
    path = _Path(10.0, 1, 1)

    def condensed(*loads: tuple[float, float], domains: int = 1) -> list[_Running]:
        made = [PhaseLoad(seconds, rate * seconds) for seconds, rate in loads]
        return _condensed([Phase("", {}, {})] * len(made), made, domains, path)

    one, two = (1.0, 4.0), (3.0, 2.0)
    # In the order of what they ask for, each domain with its part; what takes no time is nothing.
    assert condensed(one, (0.0, 9.0), two, domains=2) == [
        _Running(1.5, pytest.approx(0.2)), _Running(0.5, 0.4),
    ]  # fmt: skip
    assert condensed((0.0, 9.0)) == []
    six = [(1.0, float(k)) for k in range(6)]
    assert [one.asked for one in condensed(*six)] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    # Seven are two and two and ...: 1 s at 0.2 and 3 s at 0.6 of the path are 4 s at 0.5.
    seven = [(1.0, 2.0), (3.0, 6.0), *((1.0, 7.0) for _ in range(5))]
    busy = condensed(*seven)
    assert [one.seconds for one in busy] == [4.0, 2.0, 2.0, 1.0]
    assert [one.asked for one in busy] == [pytest.approx(x) for x in (0.5, 0.7, 0.7, 0.7)]
    assert len(condensed(*((1.0, 1.0) for _ in range(13)))) == 5  # threes, the last alone


def test_without_a_path_nobody_asks() -> None:
    stream = phase({1: 2.0}, rate=8.0)
    assert _condensed([stream], [stream.alone[1]], 1, None) == [_Running(2.0, 0.0)]


# -- what they meet --------------------------------------------------------------------------------

ASKED = st.floats(0.0, 1.0)
TAKES = st.floats(0.01, 10.0)


@given(st.lists(ASKED, min_size=1, max_size=4))
def test_of_single_phases_everyone_gets_the_fair_share(asked: list[float]) -> None:
    """Max-min fair: water poured into all of them at once until the path is full."""
    level = 1.0
    if sum(asked) > 1.0:
        low, level = 0.0, 1.0
        for _ in range(60):
            middle = (low + level) / 2
            low, level = (
                (middle, level) if sum(min(a, middle) for a in asked) < 1 else (low, middle)
            )
    slow = _slowdowns([[_Running(3.0, a)] for a in asked])
    assert slow == [pytest.approx(max(1.0, a / level), rel=1e-6) for a in asked]


def test_phases_meet_as_their_shares_of_the_time_say() -> None:
    """One program asks for the whole path; the other for 1 s for nothing, then for all of it for
    1 s that becomes 2. The first is undisturbed a third of the time, else takes twice as long."""
    whole = [_Running(5.0, 1.0)]
    half = [_Running(1.0, 0.0), _Running(1.0, 1.0)]
    assert _slowdowns([whole, half]) == [pytest.approx(5 / 3), pytest.approx(3 / 2)]
    assert _slowdowns([half, whole]) == [pytest.approx(3 / 2), pytest.approx(5 / 3)]


def test_chances_of_three_programs_multiply() -> None:
    """Two ask for half of the path or for nothing; a third asks for all of it at all times."""
    third = _Running(1e-9, 1.0)
    idle = [_Running(1.0, 0.0), _Running(1.0, 0.0)]
    assert _slowdowns([[third], idle, idle])[0] == pytest.approx(1.0)
    half = [_Running(1.0, 0.0), _Running(1.0, 0.5)]
    # Whoever asks for all of it gets all, beside one of the others 1/2, beside both 1/3. A phase
    # that asks for 1/2 gets it beside one that asks for all, and 1/3 beside two others.
    slow, *others = _slowdowns([[third], half, half])
    assert others[0] == pytest.approx(others[1])
    # x: the factor of the busy phase, y its share of the time, x/(1+x), for which the other one
    # meets it: then 1/2 becomes 1/3, and x = 1 - y + 1.5 y.
    x = 1.0
    for _ in range(4):
        y = x / (1 + x)
        shares, x = y, 1 + 0.5 * y
    assert others[0] == pytest.approx((1 + x) / 2)
    y = shares
    assert slow == pytest.approx((1 - y) ** 2 + 2 * 2 * y * (1 - y) + 3 * y * y)


def test_who_is_done_leaves_the_path_to_the_others() -> None:
    """Three that ask for all of it, alone for 1, 2 and 3 s. At 3 s each has had 1 s; at 5 s the
    others have had 2; the last second is the third's alone."""
    three = [[_Running(seconds, 1.0)] for seconds in (2.0, 1.0, 3.0)]
    assert _together(three) == [pytest.approx(x) for x in (5.0, 3.0, 6.0)]
    two = [[_Running(1.0, 1.0)], [_Running(1.0, 1.0)]]
    assert _together(two) == [2.0, 2.0]


def test_a_program_that_takes_no_time_is_in_nobody_s_way() -> None:
    assert _together([[], [_Running(2.0, 1.0)]]) == [0.0, 2.0]
    nothing, work = program("n", phase({1: 0.0})), program("w", phase({1: 3.0}))
    ways = coschedule([nothing, work], round_machine()).allocations
    (apart,) = [one for one in ways if one.kind == "packages"]
    assert [(part.seconds, part.slowdown) for part in apart.parts] == [(0.0, 1.0), (3.0, 1.0)]


@given(st.lists(st.lists(st.tuples(TAKES, ASKED), min_size=1, max_size=3), min_size=1, max_size=3))
def test_nobody_waits_where_the_path_is_wide_enough_and_nobody_for_longer_than_in_turns(
    programs: list[list[tuple[float, float]]],
) -> None:
    running = [[_Running(*each) for each in phases] for phases in programs]
    alone = [sum(seconds for seconds, _ in phases) for phases in programs]
    ends = _together(running)
    assert all(end >= least * (1 - 1e-9) for end, least in zip(ends, alone, strict=True))
    assert max(ends) <= sum(alone) * (1 + 1e-9)
    narrow = [[one._replace(asked=one.asked / len(running)) for one in own] for own in running]
    assert _together(narrow) == [pytest.approx(least) for least in alone]


# -- ways to share ---------------------------------------------------------------------------------


def seconds_of(result: Any, kind: str) -> dict[tuple[int, ...], list[float]]:
    """Of the ways of one kind: seconds of each program, by the cores of each."""
    return {
        tuple(part.cores for part in one.parts): [part.seconds for part in one.parts]
        for one in result.allocations if one.kind == kind
    }  # fmt: skip


def times(work: float, counts: Sequence[int] = range(1, 9)) -> dict[int, float]:
    """Of work that scales perfectly."""
    return {n: work / n for n in counts}


def test_packages_of_one_s_own_are_nobody_else_s() -> None:
    """Both keep the memory of a package busy; nothing is shared by packages. Each does as much
    alone as on its own package; in parts of all domains half of the work has half of the path."""
    stream = phase(dict.fromkeys(range(1, 9), 4.0), PEAK)
    result = coschedule([program("a", stream), program("b", stream)], round_machine())
    assert seconds_of(result, "packages") == {(4, 4): [4.0, 4.0]}
    spread = seconds_of(result, "cores")
    assert list(spread) == [(2, 6), (4, 4), (6, 2)]
    # On each of two domains half of the work, in twice the time.
    assert all(took == [pytest.approx(4.0)] * 2 for took in spread.values())
    kinds = [(one.kind, *(part.packages for part in one.parts)) for one in result.allocations]
    assert sorted(kinds) == [*[("cores", 2, 2)] * 3, ("packages", 1, 1)]
    assert result.turns == 8.0 and result.shares


def test_no_more_threads_than_gain_and_no_more_than_there_are_cores() -> None:
    """Work that scales to three threads and grows slower beyond; with less cache, by a half."""
    best = {1: 6.0, 2: 3.0, 3: 2.0, 4: 5.0, 8: 7.0}
    a = program("a", phase(best, beside={n: 1.5 * s for n, s in best.items()}))
    b = program("b", phase(times(8.0)))
    result = coschedule([a, b], round_machine())
    assert seconds_of(result, "packages") == {(4, 4): [2.0, 2.0]}
    # A thread a core of each of two domains, each half of the work: one core of a domain is half of
    # what one thread takes.
    assert seconds_of(result, "cores") == {
        (2, 6): [4.5, pytest.approx(8 / 3 / 2)],
        (4, 4): [2.25, 2.0],
        (6, 2): [1.5, 4.0],
    }
    order = [one.seconds for one in result.allocations]
    assert order == sorted(order)
    assert [part.slowdown for part in result.allocations[0].parts] == [1.0, 2.0]


def test_all_packages_share_one_path() -> None:
    """A bus of 25 GB/s. Each program asks for 15 on a package, 60 % of the bus, and gets 1/2: 5/6
    of what it asks for, until both are done after 6/5 of the time."""
    machine = round_machine(path=BUS)
    stream = phase(dict.fromkeys(range(1, 9), 10.0), 15e9)
    result = coschedule([program("a", stream), program("b", stream)], machine)
    assert seconds_of(result, "packages") == {(4, 4): [pytest.approx(12.0)] * 2}
    # A domain's part of the bus is 12.5 GB/s, of which half of each program asks for 15: it gets
    # 6.25 of them.
    assert seconds_of(result, "cores")[4, 4] == [pytest.approx(5.0 * 15 / 6.25)] * 2


def test_writers_draw_more_from_the_bus_than_its_figure() -> None:
    """Alone the stream draws 50 GB/s of the bus, on eight threads: so much it is taken to give it,
    and what it asks for on four threads, 25, is a half."""
    machine = round_machine(path=BUS)
    loads = {4: PhaseLoad(10.0, 250e9), 8: PhaseLoad(5.0, 250e9)}
    stream = program("a", Phase("a", loads, loads))
    result = coschedule([stream, stream], machine)
    assert seconds_of(result, "packages") == {(4, 4): [pytest.approx(10.0)] * 2}


def test_what_needs_more_cores_than_a_share_has_is_not_shared() -> None:
    """Phases known on eight threads alone, in either program: only turns are left."""
    wide, narrow = program("w", phase({8: 1.0})), program("n", phase(times(8.0)))
    for pair in ([wide, narrow], [narrow, wide]):
        result = coschedule(pair, round_machine())
        assert result.allocations == ()
        assert result.turns == 2.0
        assert not result.shares
    # One phase of two is enough.
    mixed = program("m", phase(times(8.0)), phase({8: 1.0}))
    assert coschedule([narrow, mixed], round_machine()).allocations == ()


@pytest.mark.parametrize(("gain", "shares"), [(1.01, False), (1.03, True)])
def test_sharing_that_gains_less_than_a_fiftieth_is_no_reason(gain: float, shares: bool) -> None:
    """On its own package each takes 1 s; alone on both the first takes `gain` - 1 s."""
    first = {4: 1.0, 8: gain - 1.0}
    second = phase({4: 1.0})
    result = coschedule([program("a", phase(first)), program("b", second)], round_machine())
    assert result.turns == pytest.approx(gain)
    assert result.allocations[0].seconds == 1.0
    assert result.shares is shares


def test_three_programs_get_cores_of_every_domain() -> None:
    """Two packages cannot be dealt to three; four cores of a domain can in three ways."""
    result = coschedule([program(name, phase(times(8.0))) for name in "abc"], round_machine())
    assert seconds_of(result, "packages") == {}
    assert sorted(seconds_of(result, "cores")) == [(2, 2, 4), (2, 4, 2), (4, 2, 2)]


def test_on_one_domain_sharing_is_that_of_its_path() -> None:
    """A machine of one package whose memory gives 20 GB/s to four cores."""
    machine: Machine = round_machine(packages=1)
    result = coschedule(
        [program("a", phase(times(4.0), PEAK)), program("b", phase({1: 9.0}, 5e9))], machine
    )
    assert seconds_of(result, "packages") == {}
    # On one core `a` takes 4 s and asks for all of the path, of which `b` asks for a quarter: `a`
    # has 3/4 of it and ends after 16/3 s; `b` has what it asks for.
    assert seconds_of(result, "cores")[1, 3] == [pytest.approx(16 / 3), pytest.approx(9.0)]
