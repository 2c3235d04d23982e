"""The traffic by threads, from bytes made up: exact where counted, straight between, few counts."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from round_machine import GivenTraffic, Traffic, round_machine, workload_of_text

from regionpredict.machine import Machine
from regionpredict.predict.saturation.traffic_curve import TrafficCurve
from regionpredict.workload import CacheContents, CacheLevel, warm_cache_contents
from regionpredict.workload.loop_nest import LoopNest

MACHINE = round_machine()  # eight cores: four share a third cache
KIB = 1024.0
TEXT = """void f(int n, double *restrict a, double *restrict x, int *restrict k) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = x[k[i]];
}
"""


@pytest.fixture(scope="module")
def nest(tmp_path_factory: pytest.TempPathFactory) -> LoopNest:
    """A loop that gathers from `x`."""
    workload = workload_of_text(tmp_path_factory.mktemp("text"), TEXT, MACHINE, n=1000)
    assert workload.execution is not None
    return workload.execution.work.nest


def curve_of(
    nest: LoopNest, given: Traffic, machine: Machine = MACHINE, *, warm: bool = True
) -> tuple[TrafficCurve, GivenTraffic]:
    """A curve that was asked between the ends, and so has looked for all it counts."""
    counter = GivenTraffic(nest, given)
    contents = warm_cache_contents(nest) if warm else CacheContents()
    curve = TrafficCurve(counter, machine, contents=contents)
    curve.at(3)
    return curve, counter


def below_memory(bytes_of: dict[int, float]) -> Traffic:
    """The same bytes below every cache, none of them written."""
    return lambda position, threads: {"a": (bytes_of[threads], 0.0)}


def test_a_straight_line_is_counted_where_caches_fill_and_once_between(nest: LoopNest) -> None:
    bytes_of = {threads: 1000.0 + 100.0 * threads for threads in range(1, 9)}
    curve, counter = curve_of(nest, below_memory(bytes_of))
    # 1, 4 (a full third cache), 8; between them the roots of 1 * 4 and 4 * 8
    assert sorted(counter.asked) == [1, 2, 4, 6, 8]
    for threads, expected in bytes_of.items():
        assert curve.at(threads).memory == pytest.approx(expected)
    assert sorted(counter.asked) == [1, 2, 4, 6, 8]


def test_at_the_ends_nothing_is_counted_beside(nest: LoopNest) -> None:
    counter = GivenTraffic(nest, below_memory({t: 1e6 / t for t in (1, 4, 8, 9, 16)}))
    curve = TrafficCurve(counter, MACHINE, contents=warm_cache_contents(nest))
    for threads in (8, 1, 16):
        assert curve.at(threads).memory == 1e6 / threads
    assert sorted(counter.asked) == [1, 8, 16]


def test_where_nothing_changes_only_the_ends_are_counted(nest: LoopNest) -> None:
    curve, counter = curve_of(nest, below_memory(dict.fromkeys(range(1, 9), 5000.0)))
    assert sorted(counter.asked) == [1, 4, 8]
    assert curve.at(3).memory == 5000.0


def test_a_bend_is_counted_at_each_place(nest: LoopNest) -> None:
    bytes_of = dict(zip(range(1, 9), (8e6, 8e6, 1e6, 4e6, 4e6, 2e6, 2e6, 9e6), strict=True))
    curve, counter = curve_of(nest, below_memory(bytes_of))
    for threads in sorted(counter.asked):
        assert curve.at(threads).memory == bytes_of[threads]
    assert {2, 3, 6} <= set(counter.asked)


@pytest.mark.parametrize(("middle", "asked"), [(99.9, {6}), (100.0, {6, 7}), (100.1, {6, 7})])
def test_a_hundredth_off_the_line_is_a_bend(nest: LoopNest, middle: float, asked: set[int]) -> None:
    """From 100 on four threads to 98 on eight six have 99 on the line; up to six there is none."""
    bytes_of = dict.fromkeys(range(1, 6), 100.0) | {6: middle, 7: 99.0, 8: 98.0}
    _, counter = curve_of(nest, below_memory(bytes_of))
    assert counter.asked.keys() - {1, 4, 8} == asked


@settings(
    derandomize=True, max_examples=25, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(st.lists(st.floats(1e3, 1e9), min_size=64, max_size=64))
def test_at_most_ten_counts_and_between_them_straight(nest: LoopNest, amounts: list[float]) -> None:
    machine = round_machine(("cores_per_package: 4", "cores_per_package: 32"))
    bytes_of = dict(enumerate(amounts, start=1))
    curve, counter = curve_of(nest, below_memory(bytes_of), machine)
    known = sorted(counter.asked)
    assert {1, 4, 64} <= set(known)
    assert len(known) <= 10
    for left, right in pairwise(known):
        assert curve.at(left).memory == bytes_of[left]
        middle = (left + right) // 2
        part = (middle - left) / (right - left)
        expected = bytes_of[left] + part * (bytes_of[right] - bytes_of[left])
        assert curve.at(middle).memory == pytest.approx(expected)


def test_a_smooth_curve_is_read_off_to_a_percent(nest: LoopNest) -> None:
    machine = round_machine(("cores_per_package: 4", "cores_per_package: 32"))
    bytes_of = {threads: 1e6 * (1 + 1 / threads) for threads in range(1, 65)}
    curve, counter = curve_of(nest, below_memory(bytes_of), machine)
    assert len(counter.asked) <= 10
    for threads in range(1, 65):
        assert curve.at(threads).memory == pytest.approx(bytes_of[threads], rel=0.01)


def test_the_widest_bend_is_halved_first(nest: LoopNest) -> None:
    """All of the change lies between 1 and 4 threads of 64: that is where the counts go."""
    machine = round_machine(("cores_per_package: 4", "cores_per_package: 32"))
    bytes_of = {t: 1e6 * max(1.0, 8.0 - 2 * t) + t for t in range(1, 65)}
    _, counter = curve_of(nest, below_memory(bytes_of), machine)
    assert sorted(counter.asked) == [1, 2, 3, 4, 64]


def test_what_is_straight_nowhere_is_counted_ten_times(nest: LoopNest) -> None:
    machine = round_machine(("cores_per_package: 4", "cores_per_package: 32"))
    bytes_of = {threads: 2.0**threads for threads in range(1, 65)}
    assert len(curve_of(nest, below_memory(bytes_of), machine)[1].asked) == 10


def test_past_the_last_core_as_on_it(nest: LoopNest) -> None:
    curve, _ = curve_of(nest, lambda position, threads: {"a": (1e6 / (1 + position), 0.0)})
    assert curve.at(100) == curve.at(8)


def test_cores_of_several_threads_are_counted_at_their_first_and_last(nest: LoopNest) -> None:
    """Two a core are 9 to 16 threads on eight cores, three a core 17 to 24."""
    bytes_of = {threads: 1000.0 * threads**2 for threads in range(1, 25)}
    curve, counter = curve_of(nest, below_memory(bytes_of))
    for threads in (9, 16, 17, 24):
        assert curve.at(threads).memory == bytes_of[threads]
    assert curve.at(12).memory == pytest.approx(81e3 + 3 / 7 * (256e3 - 81e3))
    assert curve.at(20).memory == pytest.approx(289e3 + 3 / 7 * (576e3 - 289e3))
    assert {9, 16, 17, 24} == {threads for threads in counter.asked if threads > 8}


@pytest.mark.parametrize("cores", [4, 5, 7])
def test_any_number_of_threads_lies_between_two_counts(nest: LoopNest, cores: int) -> None:
    """Up to four threads a core: of what rises evenly with the threads, each has its part."""

    def given(position: int, threads: int) -> dict[str, tuple[float, float]]:
        return {"a": (1e6 * (3 - position) * threads, 0.0)}

    machine = round_machine(("cores_per_package: 4", f"cores_per_package: {cores}"))
    curve, _ = curve_of(nest, given, machine)
    for threads in range(1, 4 * machine.cores + 1):
        assert curve.at(threads).memory == pytest.approx(1e6 * threads)
        assert curve.sources(threads) == (1, 2)


def three_caches(position: int, threads: int) -> dict[str, tuple[float, float]]:
    """Bytes below the first, second and third cache: 96, 64 and 32 MB, a quarter written."""
    total = (96e6, 64e6, 32e6)[position]
    return {"a": (0.75 * total, 0.25 * total)}


def test_seconds_for_lines_from_the_caches(nest: LoopNest) -> None:
    """The second cache gives 32 MB at 64 GB/s, the third 32 MB at its table's share of a core."""
    curve, _ = curve_of(nest, three_caches)
    second = 32e6 / 64e9
    assert curve.at(1).from_cache == pytest.approx(second + 32e6 / 16e9)
    # two cores get 16 + 16/3 GB/s, four 32, and eight are four on each of two caches
    assert curve.at(2).from_cache == pytest.approx(second + 32e6 / (64 / 3 * 1e9 / 2))
    assert curve.at(4).from_cache == pytest.approx(second + 32e6 / 8e9)
    assert curve.at(8).from_cache == pytest.approx(second + 32e6 / 8e9)
    assert curve.at(1).memory == 32e6
    assert curve.at(1).writes == pytest.approx(0.25)


def test_a_cache_with_two_tables_is_read_at_the_mix_of_its_lines(nest: LoopNest) -> None:
    machine = round_machine(
        ("{load: {1: 16, 4: 32}}", "{load: {1: 16, 4: 32}, update: {1: 8, 4: 16}}")
    )
    # a quarter of what is written lies half way from loads to updates (a half): harmonic means,
    # no more than updates' own most
    curve, _ = curve_of(nest, three_caches, machine)
    second = 32e6 / 64e9
    assert curve.at(1).from_cache == pytest.approx(second + 32e6 * (0.5 / 16e9 + 0.5 / 8e9))
    assert curve.at(4).from_cache == pytest.approx(second + 32e6 / (16e9 / 4))


def test_what_a_larger_cache_moves_more_is_no_traffic_of_it(nest: LoopNest) -> None:
    def grows(position: int, threads: int) -> dict[str, tuple[float, float]]:
        return {"a": ((10e6, 10e6, 12e6)[position], 0.0)}

    curve, _ = curve_of(nest, grows)
    assert curve.at(1).from_cache == 0.0
    assert curve.at(1).memory == 12e6


def test_no_traffic(nest: LoopNest) -> None:
    data = curve_of(nest, lambda position, threads: {})[0].at(4)
    assert data == (data.__class__)(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_lines_that_no_prefetcher_foresees(nest: LoopNest) -> None:
    """Those that memory gives to the gathered array: x, of 64 B each."""

    def two(position: int, threads: int) -> dict[str, tuple[float, float]]:
        return {"x": (6.4e6 * (3 - position), 1e6), "a": (3.2e6, 3.2e6)}

    curve, _ = curve_of(nest, two)
    assert curve.at(1).scattered == pytest.approx(6.4e6 / 64)


def test_read_off_is_every_part_of_the_data(nest: LoopNest) -> None:
    """On three threads, two thirds of the way from one to four, as nothing bends."""

    def rising(position: int, threads: int) -> dict[str, tuple[float, float]]:
        # 0.2 % a thread, written from 10 % on: both too little to count between
        x = 1e8 * (3 - position) * (1 + 0.002 * threads)
        return {"x": (0.9 * x, 0.1 * x + 1e5 * threads)}

    curve, counter = curve_of(nest, rising)
    assert 3 not in counter.asked
    below, above = curve.at(1), curve.at(4)
    for name in ("memory", "writes", "scattered"):
        one, four = getattr(below, name), getattr(above, name)
        assert getattr(curve.at(3), name) == pytest.approx(one + 2 / 3 * (four - one))
    assert below.writes < curve.at(3).writes < above.writes
    second = 32e9 * 2
    first, third = 1e8 * 1.002 + 0.0, curve.at(3).from_cache
    assert math.isclose(first / second + first / 16e9, below.from_cache, rel_tol=1e-2)
    # the rate is that of three threads at both ends: 16 + 2/3 * 16 GB/s for three
    rate = (16 + 2 / 3 * 16) * 1e9 / 3
    assert third == pytest.approx(1e8 * 1.006 / second + 1e8 * 1.006 / rate, rel=1e-6)
    # of these the second cache's lines alone come from a core's own
    assert curve.at(3).from_own == pytest.approx(1e8 * 1.006 / second, rel=1e-6)
    assert below.from_own < curve.at(3).from_own < above.from_own


def test_data_stays_where_more_than_half_is_gone(nest: LoopNest) -> None:
    bytes_of = {1: 1e6, 2: 0.9e6, 3: 0.7e6, 4: 0.5e6, 5: 0.5e6, 6: 0.45e6, 7: 0.4e6, 8: 0.4e6}
    warm, _ = curve_of(nest, below_memory(bytes_of))
    assert [threads for threads in (1, 2, 4, 6, 8) if warm.keeps_more(threads)] == [6, 8]
    cold, _ = curve_of(nest, below_memory(bytes_of), warm=False)
    assert not cold.keeps_more(8)


@pytest.mark.parametrize(
    ("policy", "threads", "third"),
    [
        ("neither", 2, 4096 * KIB),
        ("inclusive", 4, 4096 * KIB),
        ("victim", 1, (4096 + 256) * KIB),
        ("victim", 2, (4096 + 2 * 256) * KIB),  # it holds what two second caches have dropped
        ("exclusive", 4, (4096 + 4 * 256) * KIB),
        ("exclusive", 8, (4096 + 4 * 256) * KIB),
    ],
)
def test_an_exclusive_cache_adds_to_those_above(
    nest: LoopNest, policy: str, threads: int, third: float
) -> None:
    machine = round_machine(("cores: 4, latency: 40", f"cores: 4, policy: {policy}, latency: 40"))
    _, counter = curve_of(nest, lambda position, threads: {}, machine)
    curve, counter = curve_of(nest, lambda position, threads: {}, machine)
    curve.levels(threads)
    expected = (CacheLevel(32 * KIB, 1), CacheLevel(256 * KIB, 1), CacheLevel(third, 4))
    assert counter.asked[threads] == expected


def test_an_exclusive_cache_below_a_shared_one(nest: LoopNest) -> None:
    """Two cores share a second cache: on three threads a third cache holds 3/2 of such."""
    machine = round_machine(
        ("size: 256 KiB, ways: 8, cores: 1", "size: 256 KiB, ways: 8, cores: 2"),
        ("cores: 4, latency: 40", "cores: 4, policy: victim, latency: 40"),
    )
    curve, counter = curve_of(nest, lambda position, threads: {}, machine)
    curve.levels(3)
    assert counter.asked[3][-1].size == (4096 + 1.5 * 256) * KIB
    # a first cache has none above it, whatever its policy
    odd = round_machine(("{level: 1, size: 32 KiB,", "{level: 1, policy: exclusive, size: 32 KiB,"))
    curve, counter = curve_of(nest, lambda position, threads: {}, odd)
    assert counter.asked[1][0].size == 32 * KIB


@pytest.mark.parametrize(
    ("allocated", "parts", "read"), [("1", True, 24e6), ("0.25", True, 18e6), ("1", False, 16e6)]
)
def test_lines_that_are_claimed_are_not_read_from_memory(
    nest: LoopNest, allocated: str, parts: bool, read: float
) -> None:
    """Of 8 MB that are only written so much is read first; caches see all of it pass."""
    machine = round_machine(("write_allocate: 1", f"write_allocate: {allocated}"))
    counter = GivenTraffic(nest, three_caches)
    curve = TrafficCurve(
        counter,
        machine,
        contents=warm_cache_contents(nest),
        only_written=frozenset("a"),
        write_allocation=parts,
    )
    levels = curve.levels(1)
    assert [level.total for level in levels[:2]] == [96e6, 64e6]
    assert (levels[2].read, levels[2].written) == (pytest.approx(read), 8e6)
    assert curve.at(1).memory == pytest.approx(read + 8e6)
    assert curve.at(1).writes == pytest.approx(8e6 / (read + 8e6))
    whole = TrafficCurve(
        GivenTraffic(nest, three_caches),
        machine,
        contents=warm_cache_contents(nest),
        only_written=frozenset("a"),
    )
    assert (whole.levels(1) == levels) == parts  # write-allocation is on
    # An array that is also read is read, and none is read less than not at all.
    other = TrafficCurve(
        GivenTraffic(nest, three_caches), machine,
        contents=warm_cache_contents(nest), only_written=frozenset("x"),
        write_allocation=parts,
    )  # fmt: skip
    assert other.levels(1)[2].total == 32e6
    stored = TrafficCurve(
        GivenTraffic(nest, lambda position, threads: {"a": (1e6, 8e6)}), machine,
        contents=warm_cache_contents(nest),
        only_written=frozenset("a"), write_allocation=False,
    )  # fmt: skip
    assert (stored.levels(1)[2].read, stored.levels(1)[2].written) == (0.0, 8e6)


def test_caches_that_lines_come_from(nest: LoopNest) -> None:
    """The second and the third by number; the third alone where the second serves nothing."""
    curve, _ = curve_of(nest, three_caches)
    assert curve.sources(1) == curve.sources(8) == (1, 2)

    def by_threads(position: int, threads: int) -> dict[str, tuple[float, float]]:
        return {"a": ((3e6, 3e6, 1e6)[position] if threads > 1 else 5e6, 0.0)}

    curve, _ = curve_of(nest, by_threads)
    assert curve.sources(1) == ()
    assert curve.sources(8) == curve.sources(100) == (2,)


def test_what_no_prefetcher_foresees_bends_the_curve_too(nest: LoopNest) -> None:
    """The same bytes, of which more and more are gathered: counted as any other traffic."""

    def given(position: int, threads: int) -> dict[str, tuple[float, float]]:
        scattered = {1: 0.0, 2: 1e6, 3: 8e6, 4: 8e6}.get(threads, 8e6)
        return {"x": (scattered, 0.0), "a": (1e7 - scattered, 0.0)}

    curve, counter = curve_of(nest, given)
    assert {2, 3} <= counter.asked.keys()
    assert curve.at(2).scattered == pytest.approx(1e6 / 64)


def test_the_more_cores_the_more_lines_are_claimed(nest: LoopNest) -> None:
    """All of 8 MB are read first on one core, none on the four of a domain, nor on more."""
    machine = round_machine(("  page: 4 KiB", "  page: 4 KiB\n  write_allocate: {1: 1, 4: 0}"))
    curve = TrafficCurve(
        GivenTraffic(nest, three_caches), machine, contents=warm_cache_contents(nest),
        only_written=frozenset("a"),
    )  # fmt: skip
    found = [curve.at(threads).memory for threads in (1, 2, 4, 8)]
    assert found == pytest.approx([32e6, 32e6 - 8e6 / 3, 24e6, 24e6])
    assert curve.levels(4)[-1].read == pytest.approx(16e6)


@pytest.mark.parametrize("sharing", [2, 4])
def test_shared_caches_alone_last(nest: LoopNest, sharing: int) -> None:
    """Replacement that adapts is of caches that several cores share."""
    machine = round_machine(
        ("lasting_share: 0", "lasting_share: 0.5"),
        ("cores: 4, latency: 40, bandwidth: {load: {1: 16, 4: 32}}",
         f"cores: {sharing}, latency: 40, bandwidth: {{load: {{1: 16, {sharing}: 32}}}}"),
    )  # fmt: skip
    for lasting, shares in ((True, [0.0, 0.0, 0.5]), (False, [0.0, 0.0, 0.0])):
        counter = GivenTraffic(nest, below_memory({1: 1e6}))
        TrafficCurve(counter, machine, contents=CacheContents(), lasting=lasting).at(1)
        assert [level.lasting for level in counter.asked[1]] == shares
