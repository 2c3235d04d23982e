"""Programs on one node, step by step: what each asks for, meets and gets, in round figures.

The machine has two packages of four cores, a NUMA domain each. Its memory gives the loads of a
domain 10 GB/s on one core and 20 on four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
    DomainPath,
    Phase,
    PhaseLoad,
    _end_times,
    _merged_phases,
    _slowdowns_of_programs,
    coschedule,
    on_domains,
    phases_of,
    ways_to_split,
    with_cache_share,
)
from regionpredict.predict.shared_memory import PathCurve, Running

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
openmp: {team_change: {1: 1e9, 8: 1e9}}
"""


def round_machine(packages: int = 2, path: str = "") -> Machine:
    """The machine, or one of fewer packages or with a bus; making threads costs nothing."""
    text = MACHINE.replace("packages: 2", f"packages: {packages}").replace("PATH", path)
    machine = read(text, "round.yaml")
    costs = machine.overheads
    nothing = replace(costs.first_team, x=(1,), y=(0.0,))
    return replace(machine, overheads=replace(costs, first_team=nothing))


def of_cores(seconds: float, fixed: float = 0.0) -> PhaseLoad:
    """A load that asks memory for nothing."""
    return PhaseLoad(seconds, fixed, waiting=0.0, requesting=0.0, bandwidth=0.0)


def phase(
    seconds: Mapping[int, float], rate: float = 0.0, beside: Mapping[int, float] | None = None
) -> Phase:
    """A phase of which all threads wait all the time for `rate` B/s; slower with less cache."""

    def load(threads: int, took: float) -> PhaseLoad:
        return PhaseLoad(took, 0.0, took, float(threads), rate) if rate else of_cores(took)

    return Phase(
        "p.c:1", {n: load(n, s) for n, s in seconds.items()},
        {n: load(n, s) for n, s in (beside or seconds).items()},
    )  # fmt: skip


def program(name: str, *phases: Phase) -> CoscheduledProgram:
    """A program of these phases, whose changes of size cost nothing."""
    named = [replace(own, id=f"p.c:{line}") for line, own in enumerate(phases, 1)]
    return CoscheduledProgram(name, tuple(named))


# -- what is known before --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sharers", "parts"),
    [
        (2, (1, 1, 2)),  # two of four cores have a second-level cache of their own
        (3, (1, 2, 3)),  # one core each: two programs meet at such a cache, three at the third
        (4, (1, 2, 4)),
    ],
)
def test_caches_are_divided_where_programs_meet(sharers: int, parts: tuple[int, ...]) -> None:
    middle = "  - {level: 2, size: 1 MiB, ways: 8, cores: 2, latency: 12, bytes_per_cycle: 32}\n"
    text = MACHINE.replace("PATH", "").replace("level: 2", "level: 3")
    three = read(text.replace("  - {level: 3", f"{middle}  - {{level: 3"), "round.yaml")
    sizes = [cache.size_bytes.whole for cache in with_cache_share(three, sharers).caches]
    whole = (32 << 10, 1 << 20, 4 << 20)
    assert sizes == [size // part for size, part in zip(whole, parts, strict=True)]


def test_a_team_counts_by_its_executions_where_it_has_times_both_ways() -> None:
    def team(name: str, runs: float, *points: tuple[int, float, float]) -> Any:
        made = [
            SimpleNamespace(
                threads=n, seconds=own + waited + 0.5, requesting=0.25 * n, bandwidth=1e9 * n,
                terms={"compute": 0.75 * own, "cache": 0.25 * own, "memory-bandwidth": waited,
                       "overhead": 0.5},
            )
            for n, own, waited in points
        ]  # fmt: skip
        executions = SimpleNamespace(weight=runs)
        return SimpleNamespace(facts=SimpleNamespace(id=name, executions=executions), points=made,
                               threads=None if name == "open" else 1)  # fmt: skip

    # Own work and waiting that take 9 + 16 s as shares of the squares are 15 and 20 s: of 25, in
    # which they overlap.
    never = team("never", 0.0, (1, 1.0, 1.0)), team("open", 5.0, (1, 1.0, 1.0))
    alone = [team("a", 3, (1, 9.0, 16.0), (4, 4.0, 0.0)), team("b", 1.0, (1, 2.0, 0.0)),
             team("c", 2), team("d", 2, (1, 1.0, 1.0)), *never]  # fmt: skip
    beside = [team("a", 3, (1, 16.0, 9.0)), team("b", 1.0, (1, 3.0, 0.0)),
              team("c", 2, (1, 1.0, 1.0)), team("d", 2), *never]  # fmt: skip
    assert phases_of(alone, beside) == (
        Phase("a", {1: PhaseLoad(76.5, 1.5, 60.0, 0.25, 1e9),
                    4: PhaseLoad(13.5, 1.5, 0.0, 1.0, 4e9)},
              {1: PhaseLoad(76.5, 1.5, 45.0, 0.25, 1e9)}, runs=3),
        Phase("b", {1: PhaseLoad(2.5, 0.5, 0.0, 0.25, 1e9)},
              {1: PhaseLoad(3.5, 0.5, 0.0, 0.25, 1e9)}),
    )  # fmt: skip


def changing(often: float) -> CoscheduledProgram:
    """Two phases, the first best on one thread, the second on eight, with so many changes."""
    first = replace(phase({1: 4.0, 8: 8.0}), id="first")
    second = replace(phase({1: 8.0, 8: 4.0}), id="second")
    return CoscheduledProgram("a", (first, second), {("first", "second"): often})


@pytest.mark.parametrize(
    ("often", "threads", "packages", "seconds"),
    [
        (1, 8, 2, 8.5),  # a change is 1e9 cycles of 2 GHz, half a second
        (7, 8, 2, 11.5),
        (9, 1, 1, 12.0),  # dearer than one size for both, 12 s either way
    ],
)
def test_alone_a_program_runs_by_its_plan(
    often: float, threads: int, packages: int, seconds: float
) -> None:
    result = coschedule([changing(often), program("b", phase({1: 1.0}))], round_machine())
    part = result.alone[0]
    assert (part.cores, part.packages, part.seconds, part.slowdown) == (
        threads, packages, seconds, 1.0,
    )  # fmt: skip
    assert result.sequential_seconds == seconds + 1.0


def test_beside_others_a_program_runs_by_its_plan_too() -> None:
    """On one package of four: two phases that want one thread and four, 4 s each, else 8; a change
    is half a second. Nine changes are dearer than one size."""
    wide, narrow = phase({1: 8.0, 4: 4.0}), phase({1: 4.0, 4: 8.0})
    for often, seconds in ((1, 8.5), (9, 12.0)):
        phases = (replace(narrow, id="first"), replace(wide, id="second"))
        a = CoscheduledProgram("a", phases, {("first", "second"): often})
        result = coschedule([a, program("b", phase({1: 1.0}))], round_machine())
        assert seconds_of(result, "packages")[4, 4] == [pytest.approx(seconds), 1.0]
        assert result.alone[0].seconds == seconds


def test_teams_of_open_sizes_are_named_by_program() -> None:
    a = replace(program("a", phase({1: 1.0})), open=("a.c:3", "a.c:9"))
    result = coschedule([a, program("b", phase({1: 1.0}))], round_machine())
    assert result.open == {"a": ("a.c:3", "a.c:9")}


@given(st.integers(1, 24), st.integers(1, 3))
def test_few_things_are_dealt_out_in_all_ways(total: int, parts: int) -> None:
    every = [deal for deal in product(range(1, total + 1), repeat=parts) if sum(deal) == total]
    assert list(ways_to_split(total, parts)) == every


@pytest.mark.parametrize(("total", "step"), [(24, 1), (25, 2), (48, 2), (49, 3), (128, 6)])
def test_many_things_are_dealt_out_in_steps(total: int, step: int) -> None:
    firsts = list(range(step, total, step))
    assert list(ways_to_split(total, 2)) == [(first, total - first) for first in firsts]


# -- what a phase asks for -------------------------------------------------------------------------


GROWS = round_machine().memory.curve("load")  # 10 GB/s on one core, 20 on four


def _stream(*loads: tuple[int, float, float]) -> Phase:
    """A phase by threads, cores that wait and the GB/s that they get."""
    known = {n: PhaseLoad(1.0, 0.0, 1.0, m, 1e9 * rate) for n, m, rate in loads}
    return Phase("s", known, {})


def test_a_path_gives_what_the_phase_gets_alone_and_grows_beyond_as_for_loads() -> None:
    stream = _stream((1, 0.5, 6.0), (2, 1.0, 6.0), (4, 2.5, 12.0), (8, 4.0, 30.0))
    curve = DomainPath(4, GROWS, None, 1).of(stream)
    # Loads get 15 GB/s on 2.5 cores and 20 on four: from 12 to 16.
    assert curve == PathCurve((0.5, 1.0, 2.5, 4.0), (6e9, 6e9, 12e9, 16e9))
    assert DomainPath(4, None, None, 1).of(stream) == PathCurve((0.5, 1.0, 2.5), (6e9, 6e9, 12e9))
    assert DomainPath(4, GROWS, None, 1).of(_stream((1, 0.0, 6.0))) is None
    assert DomainPath(4, GROWS, None, 1).of(_stream((8, 1.0, 6.0))) is None


def test_a_domain_has_its_part_of_a_ceiling() -> None:
    stream = _stream((1, 1.0, 6.0), (4, 4.0, 18.0), (8, 8.0, 24.0))
    assert DomainPath(4, GROWS, 20e9, 2).of(stream) == PathCurve((1.0, 4.0), (6e9, 12e9))
    # More than the figure says is drawn alone, by streams that write: 24 GB/s.
    assert DomainPath(8, None, 20e9, 1).of(stream) == PathCurve((1.0, 4.0, 8.0), (6e9, 18e9, 24e9))


FLAT = PathCurve((1.0,), (PEAK,))


def waits(seconds: float, requesting: float = 1.0) -> Running:
    """A phase that waits all the time on a path that gives no more to more cores."""
    return Running(seconds, 0.0, seconds, requesting, PEAK, FLAT)


def test_phases_that_request_about_as_much_are_one() -> None:
    def condensed(*loads: tuple[float, float], domains: int = 1) -> list[Running]:
        made = [PhaseLoad(s, 0.0, s, requesting, PEAK) for s, requesting in loads]
        path = DomainPath(4, None, None, 1)
        return _merged_phases([
            on_domains(Phase("", {1: load}, {1: load}), load, domains, path) for load in made
        ])  # fmt: skip

    few, many = (1.0, 1.0), (3.0, 2.0)
    # In the order of their requests, each domain with its part; what takes no time is nothing.
    assert [(one.seconds, one.waiting, one.requesting)
            for one in condensed(many, (0.0, 9.0), few, domains=2)] == [
        (0.5, 0.5, 1.0), (1.5, 1.5, 2.0),
    ]  # fmt: skip
    assert condensed((0.0, 9.0)) == []
    six = [(1.0, float(k)) for k in range(1, 7)]
    assert [one.requesting for one in condensed(*six)] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    # Seven are two and two and ...: 1 s of 2 cores and 3 s of 6 are 4 s of 5.
    busy = condensed((1.0, 2.0), (3.0, 6.0), *((1.0, 7.0) for _ in range(5)))
    assert [one.seconds for one in busy] == [4.0, 2.0, 2.0, 1.0]
    assert [one.requesting for one in busy] == [5.0, 7.0, 7.0, 7.0]
    assert len(condensed(*((1.0, 1.0) for _ in range(13)))) == 5  # threes, the last alone


def test_a_team_of_all_domains_costs_what_it_costs() -> None:
    """Two threads of a domain of two, of four and eight that wait for each other for 0.5 and 0.7 s:
    half of the work each, but the team of four at its cost."""
    loads = {2: of_cores(8.4, 0.4), 4: of_cores(4.5, 0.5), 8: of_cores(2.7, 0.7)}
    running = on_domains(Phase("", loads, loads), loads[2], 2, None)
    assert running == Running(pytest.approx(4.5), 0.5)
    alone = on_domains(Phase("", loads, loads), loads[2], 1, None)
    assert alone == Running(pytest.approx(8.4), 0.4)


def test_without_a_path_nobody_waits() -> None:
    stream = phase({1: 2.0}, rate=8.0)
    assert on_domains(stream, stream.alone[1], 1, None) == Running(2.0)


# -- what they meet --------------------------------------------------------------------------------

TAKES = st.floats(0.01, 10.0)
WAITS = st.floats(0.01, 1.0)


def test_phases_meet_as_their_shares_of_the_time_say() -> None:
    """One program waits all the time; the other for 1 s not at all, then for 1 s that becomes 2.
    The first is undisturbed a third of the time, else takes twice as long."""
    whole = [waits(5.0)]
    half = [Running(1.0), waits(1.0)]
    assert _slowdowns_of_programs([whole, half]) == [pytest.approx(5 / 3), pytest.approx(3 / 2)]
    assert _slowdowns_of_programs([half, whole]) == [pytest.approx(3 / 2), pytest.approx(5 / 3)]


def test_chances_of_three_programs_multiply() -> None:
    """Two wait for 1 s and work for 1 s; a third waits all the time. Two that wait take twice as
    long, three three times."""
    half = [Running(1.0), waits(1.0)]
    slow, *others = _slowdowns_of_programs([[waits(1e-9)], half, half])
    assert others[0] == pytest.approx(others[1])
    # x: the factor of the waiting phase, y its share of the time, x/(1+x), for which the other one
    # meets it: x = 2 (1 - y) + 3 y.
    x, y = 1.0, 0.5
    for _ in range(4):
        y = x / (1 + x)
        x = 2 + y
    assert others[0] == pytest.approx((1 + x) / 2)
    assert slow == pytest.approx((1 - y) ** 2 + 2 * 2 * y * (1 - y) + 3 * y * y)


def test_who_is_done_leaves_the_path_to_the_others() -> None:
    """Three that wait for it all the time, alone for 1, 2 and 3 s. At 3 s each has had 1 s; at 5 s
    the others have had 2; the last second is the third's alone."""
    three = [[waits(seconds)] for seconds in (2.0, 1.0, 3.0)]
    assert _end_times(three) == [pytest.approx(x) for x in (5.0, 3.0, 6.0)]
    two = [[waits(1.0)], [waits(1.0)]]
    assert _end_times(two) == [pytest.approx(2.0)] * 2


def test_a_program_that_takes_no_time_is_in_nobody_s_way() -> None:
    assert _end_times([[], [waits(2.0)]]) == [0.0, pytest.approx(2.0)]
    nothing, work = program("n", phase({1: 0.0})), program("w", phase({1: 3.0}))
    ways = coschedule([nothing, work], round_machine()).allocations
    (apart,) = [one for one in ways if one.kind == "packages"]
    assert [(part.seconds, part.slowdown) for part in apart.parts] == [(0.0, 1.0), (3.0, 1.0)]


@given(st.lists(st.lists(st.tuples(TAKES, WAITS), min_size=1, max_size=3), min_size=1, max_size=3))
def test_nobody_waits_where_the_path_is_wide_enough_and_nobody_for_longer_than_in_turns(
    programs: list[list[tuple[float, float]]],
) -> None:
    """Each is a core that waits for a share of the time (n cores of which m wait: m = n W / T)."""

    def on(cores: float) -> list[list[Running]]:
        return [[Running(seconds, 0.0, share * seconds, cores * share, PEAK, FLAT)
                 for seconds, share in phases] for phases in programs]  # fmt: skip

    alone = [sum(seconds for seconds, _ in phases) for phases in programs]
    ends = _end_times(on(1.0))
    assert all(end >= least * (1 - 1e-9) for end, least in zip(ends, alone, strict=True))
    assert max(ends) <= sum(alone) * (1 + 1e-9)
    assert _end_times(on(1 / len(programs))) == [pytest.approx(least) for least in alone]


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
    assert result.sequential_seconds == 8.0 and result.shares


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
    """A bus of 25 GB/s, on which each program moves 150 GB: alone on two, four and eight cores at
    12.5, 15 and 25 GB/s. Both together move 300 GB, for 12 s, however they share."""
    machine = round_machine(path=BUS)
    loads = {n: PhaseLoad(150e9 / rate, 0.0, 150e9 / rate, float(n), rate)
             for n, rate in ((2, 12.5e9), (4, 15e9), (8, 25e9))}  # fmt: skip
    stream = program("a", Phase("a", loads, loads))
    result = coschedule([stream, stream], machine)
    assert seconds_of(result, "packages") == {(4, 4): [pytest.approx(12.0)] * 2}
    assert seconds_of(result, "cores") == {(4, 4): [pytest.approx(12.0)] * 2}
    assert result.sequential_seconds == pytest.approx(12.0) and not result.shares


def test_writers_draw_more_from_the_bus_than_its_figure() -> None:
    """Alone the stream draws 50 GB/s of the bus, on eight threads: so much it is taken to give it,
    and on four threads each two have what they have alone."""
    machine = round_machine(path=BUS)
    loads = {4: PhaseLoad(10.0, 0.0, 10.0, 4.0, 25e9), 8: PhaseLoad(5.0, 0.0, 5.0, 8.0, 50e9)}
    stream = program("a", Phase("a", loads, loads))
    result = coschedule([stream, stream], machine)
    assert seconds_of(result, "packages") == {(4, 4): [pytest.approx(10.0)] * 2}


def test_what_needs_more_cores_than_a_share_has_is_not_shared() -> None:
    """Phases known on eight threads alone, in either program: only turns are left."""
    wide, narrow = program("w", phase({8: 1.0})), program("n", phase(times(8.0)))
    for pair in ([wide, narrow], [narrow, wide]):
        result = coschedule(pair, round_machine())
        assert result.allocations == ()
        assert result.sequential_seconds == 2.0
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
    assert result.sequential_seconds == pytest.approx(gain)
    assert result.allocations[0].seconds == 1.0
    assert result.shares is shares


def test_three_programs_get_cores_of_every_domain() -> None:
    """Two packages cannot be dealt to three; four cores of a domain can in three ways."""
    result = coschedule([program(name, phase(times(8.0))) for name in "abc"], round_machine())
    assert seconds_of(result, "packages") == {}
    assert sorted(seconds_of(result, "cores")) == [(2, 2, 4), (2, 4, 2), (4, 2, 2)]


def test_on_one_domain_sharing_is_that_of_its_path() -> None:
    """A core that waits all the time for 20 GB/s, and one that works for 4 s and waits for 3: the
    root of the squares, 5 s. M cores request: the first, and 3 M / sqrt(16 + 9 M^2) of the second,
    which then takes sqrt(16 + 9 M^2) s and leaves the path to the first."""
    machine: Machine = round_machine(packages=1)
    second = PhaseLoad(5.0, 0.0, 3.0, 0.6, PEAK)
    flat = {1: PhaseLoad(4.0, 0.0, 4.0, 1.0, PEAK), 4: PhaseLoad(4.0, 0.0, 4.0, 4.0, PEAK)}
    result = coschedule(
        [program("a", Phase("a", flat, flat)),
         program("b", Phase("b", {1: second, 4: second._replace(requesting=4.0)}, {1: second}))],
        machine,
    )  # fmt: skip
    requesting = 1.0
    for _ in range(100):
        requesting = 1 + 3 * requesting / (16 + 9 * requesting**2) ** 0.5
    ended = (16 + 9 * requesting**2) ** 0.5
    left = 1 - ended / (4 * requesting)
    assert seconds_of(result, "packages") == {}
    assert seconds_of(result, "cores")[1, 3] == [
        pytest.approx(ended + 4 * left), pytest.approx(ended),
    ]  # fmt: skip
