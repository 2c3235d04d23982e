"""The terms of a region's time, from seconds of core, caches and memory made up by hand.

On the machine of round figures one core gets 10 GB/s from memory, four of a domain 20; the second
cache gives a core 64 GB/s. A scalar loop of one addition takes a cycle, that of a load half of one
beside it: 2e9 iterations a second.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_times import (
    LINES,
    MACHINE,
    QUARTER,
    STATIC,
    core,
    corrected,
    gathering,
    loops,
    moved,
    overflowing,
    terms,
)
from round_machine import (
    CYCLE,
    GivenTraffic,
    Traffic,
    body,
    no_traffic,
    round_machine,
)

from regionpredict.machine import Machine
from regionpredict.predict.saturation.ablation import Parts
from regionpredict.predict.saturation.region_time import RegionTime
from regionpredict.workload import (
    ArraySharing,
    CacheContents,
    Execution,
    LoopBody,
    Schedule,
    SerialWork,
    SynchronisationCounts,
    TrafficCounter,
    Work,
    Workload,
    WorkProfile,
)


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return gathering(tmp_path_factory.mktemp("text"))


def test_bytes_that_are_not_known_are_none(workload: Workload) -> None:
    """What the region touches tells whether it fits the memory: unknown, it does."""
    known = replace(workload.table, working_set_bytes=24)
    unknown = replace(workload.table, working_set_bytes=None)
    assert loops(workload, table=known).touched == 24.0
    assert loops(workload, table=unknown).touched == 0.0


# -- core and caches ------------------------------------------------------------------------------


def test_a_core_that_computes(workload: Workload) -> None:
    time = loops(workload, core(3.0)).at(1)
    assert time.total == pytest.approx(3.0)
    assert terms(time) == (3.0, 0.0, 0.0)
    assert terms(time, 0.25) == (0.75, 0.0, 0.0)


def test_lines_from_the_caches_hide_behind_arithmetic_but_not_behind_loads(
    workload: Workload,
) -> None:
    # loads 1.5 and lines 1: less than 3 of arithmetic
    hidden = loops(workload, core(3.0), given=moved(caches=1.0)).at(1)
    assert terms(hidden) == (3.0, 0.0, 0.0)
    # loads 1.5 and lines 2.5: one second more
    longer = loops(workload, core(3.0), given=moved(caches=2.5)).at(1)
    assert longer.total == pytest.approx(4.0)
    assert terms(longer) == (1.5, 2.5, 0.0)


def test_nothing_at_all_takes_no_time(workload: Workload) -> None:
    time = loops(workload).at(4)
    assert time.total == 0.0
    assert terms(time) == (0.0, 0.0, 0.0)


# -- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threads", "seconds"), [(1, 4.0), (3, 3 * 40 / (10 + 20 / 3)), (4, 8.0), (8, 8.0)]
)
def test_streams_share_a_domain(workload: Workload, threads: int, seconds: float) -> None:
    """40 GB at the pace of a core with so many beside it; the second domain has its own path."""
    time = loops(workload, given=moved(40e9)).at(threads)
    assert time.total == pytest.approx(seconds)
    assert terms(time) == (0.0, 0.0, seconds)
    assert time.requesting == pytest.approx(min(threads, 4))
    assert time.rate == pytest.approx(min(threads, 4) * 40e9 / seconds)


def test_work_and_waiting_overlap_by_the_root_of_squares(workload: Workload) -> None:
    time = loops(workload, core(3.0), given=moved(40e9)).at(1)
    assert time.total == pytest.approx(5.0)
    # told to both in the proportion of their squares
    assert terms(time) == (9 / 5, 0.0, 16 / 5)
    assert (time.requesting, time.rate) == (pytest.approx(0.8), pytest.approx(10e9))
    # three seconds of lines from the caches instead
    assert terms(loops(workload, given=moved(40e9, caches=3.0)).at(1)) == (0.0, 9 / 5, 16 / 5)


def test_fewer_waiting_cores_have_more_bandwidth_each(workload: Workload) -> None:
    """Four cores with much work: by substitution, n = hypot(w b(m), m) with w = work/bytes."""
    time = loops(workload, core(8.0), given=moved(40e9)).at(4)
    m = time.requesting
    rate = 10e9 + (m - 1) * 10e9 / 3
    assert 1 < m < 4
    assert math.hypot(8 / 40e9 * rate, m) == pytest.approx(4, rel=1e-5)
    assert time.rate == pytest.approx(rate)
    assert time.total == pytest.approx(math.hypot(8, m * 40e9 / rate))


def test_without_a_queue_all_cores_wait_at_all_times(workload: Workload) -> None:
    alone = Parts(queue=False)
    time = loops(workload, core(8.0), given=moved(40e9), parts=alone).at(4)
    assert (time.requesting, time.rate) == (4.0, pytest.approx(20e9))
    assert time.total == pytest.approx(math.hypot(8, 4 * 40 / 20))
    assert loops(workload, core(8.0), parts=alone).at(4).requesting == 0.0


def test_without_overlap_work_and_waiting_add_up(workload: Workload) -> None:
    alone = Parts(overlap=False)
    time = loops(workload, core(3.0), given=moved(40e9), parts=alone).at(1)
    assert time.total == pytest.approx(7.0)
    assert terms(time) == (3.0, 0.0, 4.0)
    # a quarter from afar: 3/4 of 2 + 4 seconds, 1/4 of 2 + 6
    far = overflowing(workload, QUARTER, bodies=[core(2.0)], parts=alone).at(1)
    assert far.total == pytest.approx(6.5)
    assert far.terms(1.0) == pytest.approx((2.0, 0.0, 4.5))


def test_a_peak_caps_the_table(workload: Workload) -> None:
    machine = round_machine(("  page: 4 KiB", "  page: 4 KiB\n  peak: 15"))
    time = loops(workload, given=moved(40e9), machine=machine)
    assert time.at(4).total == pytest.approx(4 * 40 / 15)
    assert time.at(1).total == pytest.approx(4.0)


def test_writing_turns_to_the_writing_kernel(workload: Workload) -> None:
    """Half of the bytes written back: as `update`, 6 and 12 GB/s."""
    machine = round_machine(
        ("bandwidth: {load: {1: 10, 4: 20}}",
         "bandwidth: {load: {1: 10, 4: 20}, update: {1: 6, 4: 12}}")
    )  # fmt: skip
    time = loops(workload, given=lambda position, threads: {"a": (12e9, 12e9)}, machine=machine)
    assert time.at(1).total == pytest.approx(24 / 6)
    assert time.at(4).total == pytest.approx(4 * 24 / 12)


# -- latency --------------------------------------------------------------------------------------


"""0.64 GB, gathered. Ten lines on their way at once, 100 ns: 10 ns each, of which 6.4 are of
bandwidth."""


def test_gathered_lines_wait_for_their_latency(workload: Workload) -> None:
    time = loops(workload, given=moved(64 * LINES, name="x")).at(1)
    assert time.total == pytest.approx(LINES * 10e-9)
    assert terms(time) == (0.0, LINES * 3.6e-9, LINES * 6.4e-9)


def test_latency_leaves_the_path_to_others(workload: Workload) -> None:
    """Four threads: m + late b(m)/V = 4, with b(m) = 10 + (m - 1) 10/3 GB/s and late/V of 3.6 ns
    for 64 B, so that m + 0.5625 + 0.1875 (m - 1) = 4."""
    time = loops(workload, given=moved(64 * LINES, name="x")).at(4)
    m = (4 - 0.5625 + 0.1875) / 1.1875
    assert time.requesting == pytest.approx(m, rel=1e-6)
    rate = 10e9 + (m - 1) * 10e9 / 3
    waiting = m * 64 * LINES / rate
    assert terms(time) == (0.0, LINES * 3.6e-9, waiting)


def test_latency_and_work_overlap_in_proportion(workload: Workload) -> None:
    seconds = LINES * 10e-9
    time = loops(workload, core(seconds), given=moved(64 * LINES, name="x")).at(1)
    assert time.total == pytest.approx(seconds * math.sqrt(2))
    # half of the whole is core's, half memory's, of which 36 % are latency
    half = seconds * math.sqrt(2) / 2
    assert terms(time) == (half, 0.36 * half, 0.64 * half)


def test_bandwidth_that_takes_longer_hides_the_latency(workload: Workload) -> None:
    machine = round_machine(("latency: 200", "latency: 100"))
    time = loops(workload, given=moved(64 * LINES, name="x"), machine=machine).at(1)
    assert terms(time) == (0.0, 0.0, LINES * 6.4e-9)


# -- corrections ----------------------------------------------------------------------------------


def test_factors_of_measurements_multiply_their_terms(workload: Workload) -> None:
    compute = loops(workload, core(3.0), given=moved(caches=4.0), machine=corrected(compute=2.0))
    assert terms(compute.at(1)) == (2 * 1.5, 4.0, 0.0)
    hidden = loops(workload, core(3.0), given=moved(caches=2.5), machine=corrected(compute=9.0))
    assert terms(hidden.at(1)) == (9 * 3.0, 0.0, 0.0)
    caches = loops(workload, core(3.0), given=moved(caches=2.5), machine=corrected(cache=3.0))
    assert terms(caches.at(1)) == (1.5, 7.5, 0.0)
    memory = loops(workload, given=moved(40e9), machine=corrected(memory=4.0))
    assert memory.at(1).total == pytest.approx(16.0)
    assert memory.at(4).total == pytest.approx(32.0)
    gathered = loops(workload, given=moved(64 * LINES, name="x"), machine=corrected(scattered=2.0))
    assert terms(gathered.at(1)) == (0.0, LINES * 13.6e-9, LINES * 6.4e-9)


def test_factors_of_threads_that_share_a_core(workload: Workload) -> None:
    """Two threads a core: arithmetic, loads and lines of both one after the other."""
    two = round_machine(("packages: 2", "packages: 2, threads_per_core: 2"))
    for factor, compute, caches in (("compute", 2.0, 1.0), ("cache", 1.0, 2.0)):
        machine = replace(two, corrections=corrected(**{factor: 2.0}).corrections)
        adding = loops(workload, core(3.0), machine=machine).at(16)
        assert adding.total == pytest.approx(2 * compute * 3.0)
        fetching = loops(workload, core(3.0), given=moved(caches=4.0), machine=machine).at(16)
        assert terms(fetching) == (2 * compute * 1.5, 2 * caches * 4.0, 0.0)
        off = loops(workload, core(3.0), machine=machine, parts=Parts(hardware_threads=False))
        assert off.at(16).total == pytest.approx(compute * 3.0)


@pytest.mark.parametrize(("kind", "twelve"), [("static", 2.0), ("dynamic", 1.5)])
def test_pieces_that_are_asked_for_share_cores_on_average(
    workload: Workload, kind: str, twelve: float
) -> None:
    """Twelve threads on eight cores of two: dealt out before, all wait for the full cores."""
    two = round_machine(("packages: 2", "packages: 2, threads_per_core: 2"))
    time = loops(workload, core(3.0), machine=two, schedule=Schedule(kind, 1.0))
    seconds = [time.at(threads).total for threads in (1, 4, 8, 12, 16)]
    assert seconds == pytest.approx([3.0, 3.0, 3.0, 3.0 * twelve, 6.0])


# -- the whole region -----------------------------------------------------------------------------


def region(
    workload: Workload, *bodies: LoopBody, given: Traffic = no_traffic, machine: Machine = MACHINE,
    serial: tuple[tuple[str, float, float], ...] = (), sharing: tuple[ArraySharing, ...] = (),
    touched: dict[str, float] | None = None, iterations: float = 1e6, schedule: Schedule = STATIC,
    fresh: str = "", forks: bool = False, waits: bool = False, inside: Traffic = no_traffic,
    **constructs: float,
) -> RegionTime:  # fmt: skip
    """A region of made-up work; `serial` are (kind, visits, seconds), `inside` their traffic."""
    assert workload.execution is not None
    nest = workload.execution.work.nest
    profile = WorkProfile(iterations, ())
    execution = Execution(
        Work(nest, profile, bodies),
        tuple(
            SerialWork(kind, visits, Work(nest, profile, (core(seconds),)))
            for kind, visits, seconds in serial
        ),
        SynchronisationCounts(forks, waits, 0, iterations, constructs),
        sharing, (),
    )  # fmt: skip

    class Given(Workload):
        __slots__ = ()

        def traffic_of(self, work: Work) -> TrafficCounter:
            return GivenTraffic(nest, inside if work.bodies != bodies else given, touched)

    parts = {field.name: getattr(workload, field.name) for field in fields(Workload)}
    parts |= {"execution": execution, "schedule": schedule, "fresh": frozenset(fresh)}
    return RegionTime(Given(**parts), execution, machine, contents=CacheContents(), parts=Parts())


def test_terms_add_up_and_one_thread_is_the_measure(workload: Workload) -> None:
    time = region(workload, core(3.0), given=moved(40e9), forks=True, atomic=1e6)
    points = time.points([1, 2, 3, 4, 8])
    for point in points:
        assert sum(point.terms.values()) == pytest.approx(point.seconds)
        assert point.speedup == pytest.approx(points[0].seconds / point.seconds)
        assert point.bottleneck == max(point.terms, key=lambda name: point.terms[name])
    assert points[0].speedup == 1.0
    # 5 s, a fork, and a million updates of 20 cycles
    assert points[0].seconds == pytest.approx(5.0 + 1000 * CYCLE + 20e6 * CYCLE)


def test_even_work_is_divided(workload: Workload) -> None:
    one, four = region(workload, core(4.0)).points([1, 4])
    assert one.terms["compute"] == pytest.approx(4.0)
    assert four.terms["compute"] == pytest.approx(1.0)
    assert four.speedup == pytest.approx(4.0)
    assert four.terms["imbalance"] == four.terms["overhead"] == four.terms["serialization"] == 0.0


def test_what_the_busiest_thread_has_more_than_its_part_is_imbalance(workload: Workload) -> None:
    # ten iterations on four threads: three for the busiest
    one, four = region(workload, core(10.0), iterations=10).points([1, 4])
    assert four.terms["compute"] == pytest.approx(2.5)
    assert four.terms["imbalance"] == pytest.approx(0.5)
    assert one.terms["imbalance"] == 0.0
    # of both core and memory: 5 s of them
    both = region(workload, core(3.0), given=moved(40e9), iterations=3).points([2])[0]
    assert both.terms["imbalance"] == pytest.approx((2 / 3 - 1 / 2) * loops_total(workload, 2))


def test_threads_beyond_the_chunks_have_nothing_to_do(workload: Workload) -> None:
    """Two chunks of half a million iterations: two threads have 2 s each, and so they have beside
    six others.
    """
    time = region(workload, core(4.0), schedule=Schedule("static", 5e5))
    points = time.points([1, 2, 4, 8])
    assert [point.seconds for point in points] == pytest.approx([4.0, 2.0, 2.0, 2.0])
    assert [point.terms["imbalance"] for point in points] == pytest.approx([0.0, 0.0, 1.0, 1.5])


def loops_total(workload: Workload, threads: int) -> float:
    """Seconds of all the work of 3 s of core and 40 GB, at the pace of so many threads."""
    return loops(workload, core(3.0), given=moved(40e9)).at(threads).total


def test_no_time_is_no_speedup(workload: Workload) -> None:
    points = region(workload).points([1, 4])
    assert [(point.seconds, point.speedup) for point in points] == [(0.0, 1.0), (0.0, 1.0)]


def test_openmp_costs_beside_the_work(workload: Workload) -> None:
    (point,) = region(workload, core(1.0), waits=True).points([4])
    assert point.terms["overhead"] == pytest.approx(700 * CYCLE)
    machine = corrected(overhead=5.0)
    (point,) = region(workload, core(1.0), waits=True, machine=machine).points([4])
    assert point.terms["overhead"] == pytest.approx(5 * 700 * CYCLE)


def test_updates_find_the_work_between_them(workload: Workload) -> None:
    """1e6 updates on 4 threads: 0.25e6 each, 600 cycles if nothing else is done: 75 ms. Beside
    40 ms of work 35 are left."""
    (point,) = region(workload, core(0.16), atomic=1e6).points([4])
    assert point.terms["serialization"] == pytest.approx(0.075 - 0.04)


def test_pages_and_lines_have_their_terms(workload: Workload) -> None:
    sharing = (ArraySharing("a", True, 8.0, 1, 1, True),)
    time = region(
        workload, core(1.0), sharing=sharing, touched={"a": float(1 << 20)}, fresh="a", waits=True
    )
    (point,) = time.points([2])
    # 8192 lines each of which 4096 are still with the other: 256 at 50, the others at 10
    assert point.terms["cache"] == pytest.approx((256 * 50 + 3840 * 10) * CYCLE)
    # the barrier, a border there and back; and 128 pages (a loop of 1000 iterations: pieces of
    # 500 * 8 B, less than a page, so that both threads take all 256)
    assert point.terms["overhead"] == pytest.approx((300 + 400 + 256 * 1500) * CYCLE)
    stretched = region(
        workload, core(1.0), sharing=sharing, touched={"a": float(1 << 20)}, fresh="a", waits=True,
        machine=corrected(overhead=2.0),
    )  # fmt: skip
    # pages are no cost of OpenMP
    assert stretched.points([2])[0].terms["overhead"] == pytest.approx(
        (2 * 700 + 256 * 1500) * CYCLE
    )


# -- serial bodies --------------------------------------------------------------------------------


def test_single_is_run_by_one(workload: Workload) -> None:
    one, four = region(workload, core(4.0), serial=(("single", 1.0, 2.0),), single=1).points([1, 4])
    assert one.terms["serialization"] == four.terms["serialization"] == pytest.approx(2.0)
    assert four.seconds == pytest.approx(3.0)


def test_serial_bodies_have_memory_for_themselves(workload: Workload) -> None:
    """40 GB take one core 4 s, whatever the number of those that wait for it."""
    serial = (("single", 1.0, 0.0),)
    points = region(workload, core(4.0), serial=serial, single=1, inside=moved(40e9)).points([1, 4])
    assert [point.terms["serialization"] for point in points] == pytest.approx([4.0, 4.0])


def test_a_critical_section_queues(workload: Workload) -> None:
    """A million visits of 2 us; entering takes 60 cycles on one thread, 900/4 on four."""
    serial = (("critical", 1e6, 2.0),)
    one, four = region(workload, core(4.0), serial=serial, critical=1e6).points([1, 4])
    assert one.terms["serialization"] == pytest.approx(2.0 + 60e6 * CYCLE)
    service = 2e-6 + 900 / 4 * CYCLE
    between = 4e-6
    # closed queue of four (test_serial_queue holds it to its closed form)
    idle = 1 / sum(math.perm(4, k) * (service / between) ** k for k in range(5))
    assert four.terms["serialization"] == pytest.approx(1e6 * service / (1 - idle) - 1.0)


def test_an_ordered_body_runs_in_turn(workload: Workload) -> None:
    """A million iterations of 4 us beside 8 us in order, in chunks of 10."""
    serial, schedule = (("ordered", 1e6, 8.0),), Schedule("static", 10.0)
    time = region(workload, core(4.0), serial=serial, schedule=schedule, ordered=1e6)
    (four,) = time.points([4])
    entering = 1e6 * 900 / 4 * CYCLE
    expected = 4.0 + 8.0 + entering - 0.1e6 * 4e-6 + 4e-6
    assert four.terms["serialization"] == pytest.approx(expected - 1.0)


def test_an_ordered_loop_waits_for_memory_alone(workload: Workload) -> None:
    """Work in turn has the path for itself: 40 GB take 4 s, which four at once take 8 s for."""
    serial, schedule = (("ordered", 1e6, 8.0),), Schedule("static", 10.0)
    time = region(workload, given=moved(40e9), serial=serial, schedule=schedule, ordered=1e6)
    (four,) = time.points([4])
    entering = 1e6 * 900 / 4 * CYCLE
    chain = 4.0 + 8.0 + entering - 0.1e6 * 4e-6 + 4e-6
    assert four.terms["memory-bandwidth"] == pytest.approx(2.0)
    assert four.seconds == pytest.approx(chain)


def test_what_is_told_of_serial_bodies(workload: Workload) -> None:
    time = region(workload, core(4.0), serial=(("critical", 1e6, 2.0),), critical=1e6)
    own, serial = time.core.notes
    assert own.startswith("i (line 7): scalar, conditional; ")
    assert serial.endswith(" cycles per iteration (in critical, one thread at a time)")


def test_twice_the_machine_takes_half_the_time(workload: Workload) -> None:
    """Twice the clock and twice all bandwidths; latencies and costs are cycles."""
    fast = round_machine(
        ("clock: 2 GHz", "clock: 4 GHz"),
        ("load: {1: 128}", "load: {1: 256}"),
        ("{load: {1: 16, 4: 32}}", "{load: {1: 32, 4: 64}}"),
        ("{load: {1: 10, 4: 20}}", "{load: {1: 20, 4: 40}}"),
    )
    made = partial(
        region, workload, core(0.3), body({"fp_div": 2}, loads=5, stores=2, executions=1e7),
        given=lambda position, threads: {
            "x": (6.4e8 * (3 - position), 1e8), "a": (1e9 * (4 - position), 5e8)
        },
        serial=(("critical", 1e4, 0.01),), sharing=(ArraySharing("a", True, 8.0, 1, 1, False),),
        touched={"a": 1e7}, fresh="a", forks=True, atomic=1e5, critical=1e4,
        iterations=1003, schedule=Schedule("dynamic", 10.0),
    )  # fmt: skip
    counts = [1, 2, 3, 4, 5, 8]
    slow_points, fast_points = made().points(counts), made(machine=fast).points(counts)
    for slow, quick in zip(slow_points, fast_points, strict=True):
        assert all(value > 0 for value in slow.terms.values() if slow.threads > 1)
        for name, seconds in slow.terms.items():
            assert quick.terms[name] == pytest.approx(seconds / 2)
        assert quick.speedup == pytest.approx(slow.speedup)


def test_without_data_and_waiting_the_least_is_the_time(workload: Workload) -> None:
    time = region(workload, core(3.0), forks=True, iterations=10)
    counts = [1, 2, 3, 4, 8]
    assert [one.seconds for one in time.least(counts)] == pytest.approx(
        [one.seconds for one in time.points(counts)]
    )


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    busy=st.floats(0.0, 10.0), memory=st.floats(0.0, 1e11), caches=st.floats(0.0, 10.0),
    kind=st.sampled_from(["static", "dynamic", "guided"]), chunk=st.sampled_from([1.0, 16.0, 1e5]),
    iterations=st.sampled_from([3.0, 1000.0, 1e6]), atomic=st.sampled_from([0.0, 1e4, 1e7]),
    critical=st.sampled_from([0.0, 1e5]), factor=st.sampled_from([0.5, 1.0, 5.0]),
    gathered=st.booleans(),
)  # fmt: skip
def test_no_time_is_below_the_least(
    workload: Workload, busy: float, memory: float, caches: float, kind: str, chunk: float,
    iterations: float, atomic: float, critical: float, factor: float, gathered: bool,
) -> None:  # fmt: skip
    time = region(
        workload, core(busy), given=moved(memory, caches=caches, name="x" if gathered else "a"),
        schedule=Schedule(kind, chunk), iterations=iterations, atomic=atomic, critical=critical,
        serial=(("critical", critical, 0.1),) if critical else (),
        machine=corrected(overhead=factor), forks=True,
        sharing=(ArraySharing("a", True, 8.0, 1, 1, True),), touched={"a": 1e6}, fresh="a",
    )  # fmt: skip
    counts = list(range(1, 13))
    for least, point in zip(time.least(counts), time.points(counts), strict=True):
        assert least.threads == point.threads
        assert least.seconds <= point.seconds * (1 + 1e-12)


def test_the_least_counts_no_traffic(workload: Workload) -> None:
    time = region(workload, core(1.0), given=moved(1e9))
    time.least([1, 2, 8])
    (counter,) = time.counters
    assert isinstance(counter, GivenTraffic)
    assert not counter.asked
