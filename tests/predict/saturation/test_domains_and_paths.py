"""A region's time where its pages lie in several domains, and the paths to them.

On the machine of round figures one core gets 10 GB/s from memory, four of a domain 20.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from made_times import (
    LINES,
    QUARTER,
    SERIAL,
    core,
    gathering,
    loops,
    moved,
    overflowing,
)
from round_machine import (
    no_traffic,
    round_machine,
)

from regionpredict.analysis.history.first_touch import ArrayPlacement
from regionpredict.predict.saturation.ablation import Parts
from regionpredict.workload import (
    Placement,
    Schedule,
    Workload,
)

# -- more than one domain -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return gathering(tmp_path_factory.mktemp("text"))


def test_pages_of_one_domain_are_everybodys(workload: Workload) -> None:
    machine = round_machine(("  page: 4 KiB", "  page: 4 KiB\n  link: 1e6"))
    time = loops(workload, given=moved(40e9), placement=SERIAL, machine=machine)
    assert time.pages.single == 1.0
    assert time.at(4).total == pytest.approx(8.0)
    # Eight on one path of 20 GB/s, two threads' worth: 4 / (1 + w) + 4 / (1.5 + w) = 2, so that
    # w = (3 + sqrt 65) / 4; the slowest take 1.5 + w times what one does alone, 4 s.
    wait = (3 + math.sqrt(65)) / 4
    assert time.at(8).total == pytest.approx(4 * (1.5 + wait), rel=1e-4)


def test_an_experiment_takes_all_pages_for_near(workload: Workload) -> None:
    far = loops(workload, given=moved(40e9), placement=SERIAL, machine=round_machine())
    near = loops(
        workload, given=moved(40e9), placement=SERIAL, machine=round_machine(),
        parts=Parts(placement=False),
    )  # fmt: skip
    assert (far.far, near.far) == (True, False)
    assert near.at(8).total == pytest.approx(8.0)  # four of a domain share 20 GB/s


def test_only_what_comes_from_memory_has_pages(workload: Workload) -> None:
    """Below the last cache three quarters of the bytes are those of the array in one domain."""

    def given(position: int, threads: int) -> dict[str, tuple[float, float]]:
        return {"a": (3e9, 0.0) if position == 2 else (5e9, 0.0), "x": (9e9 - 4e9 * position, 0.0)}

    placement = Placement(
        "mixed", "the test's", False,
        (ArrayPlacement("a", "serial", "", False), ArrayPlacement("x", "parallel", "", False)),
    )  # fmt: skip
    assert loops(workload, given=given, placement=placement).pages.single == pytest.approx(0.75)


def test_one_of_two_arrays_in_one_domain(workload: Workload) -> None:
    def given(position: int, threads: int) -> dict[str, tuple[float, float]]:
        return {"a": (15e9, 5e9), "x": (20e9, 0.0)}

    placement = Placement(
        "mixed", "the test's", False,
        (ArrayPlacement("a", "serial", "", False), ArrayPlacement("x", "parallel", "", False)),
    )  # fmt: skip
    machine = round_machine(
        ("latency: 200\n  remote_latency: 300", "latency: 1\n  remote_latency: 2"),
        ("  page: 4 KiB", "  page: 4 KiB\n  link: 1e6"),
    )
    time = loops(workload, given=given, placement=placement, machine=machine)
    assert time.pages.single == pytest.approx(0.5)
    # The first domain has its own four, and half of the traffic of the four others from afar, who
    # take twice as long alone: 4 / (1 + w) + 2 / (2 + w) = 2, so that w = sqrt 3. Its own threads
    # are the slowest: half of what the others need comes from a domain that is half as full.
    assert time.at(8).total == pytest.approx(4 * (1 + math.sqrt(3)), rel=1e-4)


def test_where_pages_lie_matters_from_the_first_thread_that_asks_memory(workload: Workload) -> None:
    def late(position: int, threads: int) -> dict[str, tuple[float, float]]:
        return {"a": (40e9 if threads == 8 else 0.0, 0.0)}

    assert loops(workload, given=late, placement=SERIAL).pages.single == 1.0
    assert loops(workload, given=no_traffic, placement=SERIAL).pages.single == 0.0


@pytest.mark.parametrize(
    ("threads", "seconds"),
    [
        (1, 4.0),
        (4, 8.0),  # 20 GB/s of one package
        (5, 5 * 40 / 25),  # four of five pieces by one path: 20 GB/s, as much as the chipset's 25
        (8, 8 * 40 / 25),
    ],
)
def test_packages_on_one_path(workload: Workload, threads: int, seconds: float) -> None:
    machine = round_machine(("  page: 4 KiB", "  page: 4 KiB\n  shared_path: {traffic: 25}"))
    time = loops(workload, given=moved(40e9), machine=machine, placement=SERIAL)
    assert time.at(threads).total == pytest.approx(seconds)


def test_packages_whose_cores_ask_for_less_than_the_shared_path_gives(workload: Workload) -> None:
    machine = round_machine(("  page: 4 KiB", "  page: 4 KiB\n  shared_path: {traffic: 100}"))
    time = loops(workload, given=moved(40e9), machine=machine)
    assert time.at(8).total == pytest.approx(8 * 40 / 40)
    # Four of six equal pieces pass through the first package's 20 GB/s.
    assert time.at(6).total == pytest.approx(6 * (4 / 6 * 40 / 20))
    # Pieces that are handed out on demand: 20 GB/s and what two cores of the other get.
    shared = replace(workload, schedule=Schedule("dynamic", 1.0))
    time = loops(shared, given=moved(40e9), machine=machine)
    assert time.at(6).total == pytest.approx(6 * 40 / (20 + 10 + 10 / 3))
    # hardly any waiting: one core on one path
    busy = loops(workload, core(400.0), given=moved(40e9), machine=machine).at(8)
    assert busy.requesting < 1
    assert busy.rate == pytest.approx(10e9)


# -- more than a domain holds ---------------------------------------------------------------------


def test_one_thread_reads_the_rest_from_afar(workload: Workload) -> None:
    # 4 s near, 1.5 times that for what is far
    assert overflowing(workload, QUARTER).at(1).total == pytest.approx(0.75 * 4 + 0.25 * 6)
    assert overflowing(workload, 94.9).at(1).total == pytest.approx(4.0)
    # never more than the other domain's half
    assert overflowing(workload, 1000).at(1).total == pytest.approx(0.5 * 4 + 0.5 * 6)


def test_the_slower_of_near_and_far_threads_ends_a_static_loop(workload: Workload) -> None:
    """Of four threads three are near: 3 * 40 GB at 50/3 GB/s are 7.2 s; the far one takes 6."""
    assert overflowing(workload, QUARTER).at(4).total == pytest.approx(7.2)
    # chance gives each thread a quarter far
    dynamic = overflowing(workload, QUARTER, schedule=Schedule("dynamic", 1.0))
    assert dynamic.at(4).total == pytest.approx(0.75 * 7.2 + 0.25 * 6)
    # 3/8 far on two threads: 1.25 near (1.25 * 40 at 10 + 0.25 * 10/3), the last 3/4 far
    last = overflowing(workload, 95 / 0.625).at(2)
    near = 1.25 * 40 / (10 + 0.25 * 10 / 3)
    assert last.total == pytest.approx(max(near, 0.25 * near + 0.75 * 6))


def test_work_hides_behind_far_pages_as_behind_near_ones(workload: Workload) -> None:
    machine = round_machine(("  page: 4 KiB", "  page: 4 KiB\n  size: 100 GB"))
    table = replace(workload.table, working_set_bytes=int(QUARTER * 1e9))
    time = loops(workload, core(3.0), given=moved(40e9), machine=machine, table=table).at(1)
    assert time.total == pytest.approx(0.75 * 5 + 0.25 * math.hypot(3, 6))
    assert time.terms(1.0)[0] == pytest.approx(9 / time.total)


def test_gathered_lines_from_afar_wait_longer(workload: Workload) -> None:
    machine = round_machine(("  page: 4 KiB", "  page: 4 KiB\n  size: 100 GB"))
    table = replace(workload.table, working_set_bytes=int(QUARTER * 1e9))
    time = loops(workload, given=moved(64 * LINES, name="x"), machine=machine, table=table).at(1)
    assert time.total == pytest.approx(LINES * 10e-9 * (0.75 + 0.25 * 1.5))


def test_more_threads_spread_over_both_domains(workload: Workload) -> None:
    assert overflowing(workload, QUARTER).at(8).total == pytest.approx(8.0)  # half fits in each
    assert overflowing(workload, QUARTER, placement=SERIAL).at(1).total == pytest.approx(4.0)


# -- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "requesting", "threads", "rate"),
    [
        # Static: four of the threads, the fullest domain's, get their part of b(m) for all.
        ("static", 3.0, 8, 2 * (10 + 0.5 * 10 / 3)),
        ("static", 3.0, 6, 6 / 4 * (10 + 1.0 * 10 / 3)),
        ("static", 3.0, 3, 10 + 2 * 10 / 3),
        ("static", 1.6, 8, 2 * 10),  # less than one of a domain's at a time: one core's
        ("static", 1.0, 8, 10),  # one in all: one path
        ("static", 0.5, 8, 10),
        # Others: each domain's own, the rest's too.
        ("dynamic", 3.0, 8, 2 * (10 + 0.5 * 10 / 3)),
        ("dynamic", 4.5, 6, (10 + 2 * 10 / 3) + (10 + 0.5 * 10 / 3)),
        ("dynamic", 3.0, 6, (10 + 1.0 * 10 / 3) + 10),
        ("dynamic", 3.0, 5, (10 + 1.4 * 10 / 3) + 10),
        ("dynamic", 3.0, 3, 10 + 2 * 10 / 3),
    ],
)
def test_packages_each_on_their_own_path_to_the_chipset(
    workload: Workload, kind: str, requesting: float, threads: int, rate: float
) -> None:
    """GB/s, of domains that give m cores 10 + (m - 1) 10/3; the chipset is no limit."""
    machine = round_machine(("  page: 4 KiB", "  page: 4 KiB\n  shared_path: {traffic: 1000}"))
    time = loops(workload, machine=machine, schedule=Schedule(kind, None))
    assert time._path_rate(requesting, threads, 0.0) == pytest.approx(rate * 1e9)


def test_a_far_domain_as_near_as_the_own_one_is_no_slower(workload: Workload) -> None:
    machine = round_machine(
        ("latency: 200\n  remote_latency: 300", "latency: 1\n  remote_latency: 1"),
        ("  page: 4 KiB", "  page: 4 KiB\n  link: 1e6"),
    )
    time = loops(workload, given=moved(40e9), placement=SERIAL, machine=machine)
    assert time.at(8).total == pytest.approx(8 * 40 / 20, rel=1e-4)


def test_only_threads_of_other_domains_read_from_afar(workload: Workload) -> None:
    """All pages in one domain: its four threads have 20 GB/s; a fifth sets the pace from afar.

    Four of the five ask, 3.2 near and 0.8 far: as many as 3.2 + 0.8 / 1.5 near ones, to whom the
    table gives d = 1 + (3.733 - 1) / 3 of 10 GB/s. Each waits w, 3.2 / (1 + w) + 0.8 / (1.5 + w) =
    d: a square of w, and the far one takes 1.5 + w.
    """
    time = loops(workload, given=moved(40e9), placement=SERIAL)
    assert time._path_rate(4.0, 4, 0.0) == pytest.approx(20e9)
    d = 1 + (3.2 + 0.8 / 1.5 - 1) / 3
    b, c = 2.5 * d - 4.0, 1.5 * d - 1.5 * 3.2 - 0.8
    wait = (math.sqrt(b * b - 4 * d * c) - b) / (2 * d)
    assert time._path_rate(4.0, 5, 0.0) == pytest.approx(4 * 10e9 / (1.5 + wait))
    assert time._path_rate(2.0, 1, 0.0) == pytest.approx((10 + 10 / 3) * 1e9)
