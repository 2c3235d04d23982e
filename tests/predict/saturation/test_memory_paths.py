"""Pages in other domains: laws of the paths, and cases by hand on a machine of round figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_machine import round_machine

from regionpredict.machine import Machine
from regionpredict.machine.thread_places import thread_places
from regionpredict.predict.saturation.memory_paths import MemoryPaths, PageShares, with_queue

WIDE = ("  page: 4 KiB", "  page: 4 KiB\n  link: 1e6")
"""A link that nobody waits for."""
LINK = ("  page: 4 KiB", "  page: 4 KiB\n  link: 8")


def paths(machine: Machine, pages: PageShares, *, static: bool = True) -> MemoryPaths:
    curve = machine.memory.bandwidth["load"]
    return MemoryPaths(machine, pages, static=static, domain=lambda cores, _: curve.at(cores))


INTERLEAVED = PageShares(0.0, 1.0)


def test_one_thread_waits_for_far_lines_as_long_as_they_take() -> None:
    # Half of its lines take 1, half 1.5 times as long: 10 GB/s over 1.25.
    assert paths(round_machine(WIDE), INTERLEAVED).rate(1, 1, 0.0) == pytest.approx(8e9, rel=1e-4)


def test_a_full_package_of_interleaved_pages_takes_twice_what_the_link_carries() -> None:
    # Four threads ask for 32 GB/s, of which 16 would pass a link of 8; a thread apart from it
    # takes 1.25 / 10 - 1/16 s a GB: R^2 + R (0.0625 - 4/16) - 0.0625/16 = 0 by the quadratic.
    found = paths(round_machine(LINK), INTERLEAVED).rate(4, 4, 0.0)
    alone, service = _alone(4), 1 / 16
    apart = alone - service
    half = (apart - 4 * service) / 2
    response = (half**2 + service * apart) ** 0.5 - half
    assert found == pytest.approx(4e9 / (apart + response), rel=1e-6)
    assert found < 16e9


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_memory_that_one_core_fills_serves_all_in_turn(threads: int) -> None:
    """20 GB/s for one or for four, whose pages all lie with it, and no more."""
    full = round_machine(WIDE, ("load: {1: 10, 4: 20}", "load: {1: 20, 4: 20}"))
    rate = paths(full, PageShares(1.0)).rate(threads, threads, 0.0)
    assert rate == pytest.approx(20e9, rel=1e-6)


def _alone(threads: int) -> float:
    """Seconds a GB of a thread whose pages are interleaved, without the link, on one package.

    Each of two memories has half of each thread: near 1, far 1 at the two ends.
    """
    half = threads / 2
    lines = []
    for near, far in ((half, 0.0), (0.0, half)):
        asked = near + far / 1.5
        curve = 10 + (asked - 1) * 10 / 3 if asked > 1 else 10 * asked
        delivered = min(20.0, curve) / 10
        # near / (1 + w) + far / (1.5 + w) = delivered
        wait = near / delivered - 1 if near else far / delivered - 1.5
        lines.append((1 + wait) / 10 if near else (1.5 + wait) / 10)
    return sum(lines) / 2


@pytest.mark.parametrize("few", [0.0, 1e-9])
def test_a_memory_that_hardly_anybody_asks_serves_at_once(few: float) -> None:
    """A byte takes as long as one of 10 GB/s, from afar half as long again."""
    line = paths(round_machine(WIDE), INTERLEAVED)._load_of_memory(few, 0.0, 0.0)
    assert line == pytest.approx((1e-10, 1.5e-10))


def test_both_packages_take_four_times_the_link() -> None:
    machine = round_machine(LINK)
    one = paths(machine, INTERLEAVED).rate(4, 4, 0.0)
    both = paths(machine, INTERLEAVED).rate(8, 8, 0.0)
    assert both <= 32e9
    assert 1.2 < both / one <= 2.0


def test_the_second_package_gains_until_its_last_core() -> None:
    # The first package's four threads have the same pace; more pieces make theirs smaller.
    machine = paths(round_machine(("  page: 4 KiB", "  page: 4 KiB\n  link: 2")), INTERLEAVED)
    rates = [machine.rate(p, p, 0.0) for p in range(4, 9)]
    assert rates == sorted(rates)


def test_far_pages_of_one_domain_slow_the_loop_but_add_the_other_packages_cores() -> None:
    # A link that carries as much: threads that do not fill a memory gain from far cores.
    light = replace(round_machine(WIDE))
    near = paths(light, PageShares(1.0)).rate(1, 1, 0.0)
    on_two = paths(light.as_run(binding="spread"), PageShares(1.0)).rate(2, 2, 0.0)
    assert near < on_two < 2 * near


def test_work_handed_out_on_demand_goes_at_the_pace_of_all() -> None:
    machine = round_machine(LINK)
    fixed = paths(machine, PageShares(1.0)).rate(8, 8, 0.0)
    assert paths(machine, PageShares(1.0), static=False).rate(8, 8, 0.0) > fixed


@given(st.floats(0.0, 1.0), st.integers(1, 8), st.floats(0.0, 0.5))
def test_pages_in_one_domain_are_no_faster_than_ones_own(
    single: float, threads: int, writes: float
) -> None:
    machine = round_machine(LINK)
    own = paths(machine, PageShares(0.0)).rate(threads, threads, writes)
    assert paths(machine, PageShares(single)).rate(threads, threads, writes) <= own * (1 + 1e-9)


@given(st.floats(0.0, 1.0), st.integers(1, 8), st.floats(0.0, 0.5))
def test_interleaved_pages_get_no_more_than_all_memories_and_links(
    rest: float, threads: int, writes: float
) -> None:
    # Four threads of one package may well gain from the other's memory.
    found = paths(round_machine(LINK), PageShares(rest / 2, 1 - rest / 2))
    rate = found.rate(threads, threads, writes)
    assert rate <= min(10e9 * threads, 2 * 20e9) * (1 + 1e-9)


@given(st.integers(1, 8), st.floats(0.1, 1.0))
def test_more_that_wait_get_no_less(threads: int, part: float) -> None:
    found = paths(round_machine(LINK), PageShares(0.3, 0.4))
    few, all_of_them = part * threads, float(threads)
    assert found.rate(few, threads, 0.0) <= found.rate(all_of_them, threads, 0.0) * (1 + 1e-9)


@given(st.floats(0.01, 100.0), st.floats(0.01, 1.0), st.floats(1.0, 1000.0))
def test_a_queue_is_between_its_bounds(seconds: float, part: float, customers: float) -> None:
    # Asymptotic bounds of a closed network: no less than alone, than all of the service; and no
    # more than if every other customer were in front.
    service = part * seconds
    found = with_queue(seconds, service, customers)
    assert found >= max(seconds, customers * service) * (1 - 1e-9)
    assert found <= (seconds + (customers - 1) * service) * (1 + 1e-9)


def test_threads_of_home_wait_for_far_writers_to_the_same_memory() -> None:
    alone = paths(round_machine(WIDE), PageShares(1.0)).rate(4, 4, 0.0)
    beside = paths(round_machine(WIDE), PageShares(1.0)).rate(8, 8, 0.0)
    assert beside / 8 < alone / 4


def test_another_home_makes_the_first_package_far() -> None:
    machine = round_machine(WIDE)
    here = paths(machine, PageShares(1.0, home=0)).rate(1, 1, 0.0)
    there = paths(machine, PageShares(1.0, home=1)).rate(1, 1, 0.0)
    assert here == pytest.approx(10e9)
    assert there == pytest.approx(10e9 / 1.5)


# -- against a slow twin ---------------------------------------------------------------------------

HALVES = "numa_domains_per_package: 2"
MACHINES: list[tuple[tuple[str, str], ...]] = [
    (),
    (("packages: 2", "packages: 3"),),
    (("packages: 2, cores_per_package: 4", "packages: 2, cores_per_package: 8, " + HALVES),),
]
"""Two packages, three, and two of two domains each."""


def _served(near: float, far: float, farther: float, domain: Callable[[float], float]) -> float:
    """How long a line waits at a memory, in unloaded near lines: by halving."""
    asked = near + far / farther
    if asked == 0.0:
        return 0.0
    delivered = domain(max(1.0, asked)) / domain(1.0) * min(1.0, asked)
    low, high = 0.0, 1e4
    for _ in range(80):
        wait = (low + high) / 2
        if near / (1 + wait) + far / (farther + wait) > delivered * (1 + 1e-12):
            low = wait
        else:
            high = wait
    return high


def _queued(seconds: float, service: float, customers: float) -> float:
    """The queue's equations (Schweitzer), each put into the other until nothing changes."""
    if customers <= 1.0:
        return seconds
    response = service
    for _ in range(5000):
        whole = seconds - service + response
        queue = customers * response / whole if whole else 0.0
        response = service * (1 + (customers - 1) / customers * queue)
    return seconds - service + response


def _slow_rate(
    machine: Machine, pages: PageShares, asking: float, threads: int, writes: float, *,
    static: bool, domain: Callable[[float, float], float],
) -> float:  # fmt: skip
    """Thread by thread and memory by memory."""
    per_package = machine.domains_per_package
    count = thread_places(machine, threads).by_domain
    team = [place for place, number in enumerate(count) for _ in range(number)]
    part = asking / threads
    farther = max(
        1.0, machine.memory.remote_latency_cycles.value / machine.memory.latency_cycles.value
    )

    def share(thread: int, memory: int) -> float:
        own = 1.0 - pages.single - pages.interleaved if thread == memory else 0.0
        single = pages.single if memory == pages.home else 0.0
        return own + single + pages.interleaved / machine.domains

    def same(thread: int, memory: int) -> bool:
        return thread // per_package == memory // per_package

    waits = []
    for memory in range(machine.domains):
        near = sum(part * share(one, memory) for one in team if same(one, memory))
        far = sum(part * share(one, memory) for one in team if not same(one, memory))
        waits.append(_served(near, far, farther, lambda cores: domain(cores, writes)))
    alone = domain(1.0, writes)
    took = []
    for one in team:
        seconds = sum(
            share(one, memory) * ((1.0 if same(one, memory) else farther) + waits[memory]) / alone
            for memory in range(machine.domains)
        )
        own = [other for other in team if same(other, one)]
        rest = (len(team) - len(own)) / (machine.packages - 1)  # at each other end
        link = machine.memory.link_bytes_per_s
        service = 0.0
        if link is not None:
            home = pages.home // per_package == one // per_package
            each = pages.interleaved / machine.packages
            there = each + (0.0 if home else pages.single)
            here = each + (pages.single if home else 0.0)
            service = (there * (1 - writes) + here * writes * rest / len(own)) / link.value
        took.append(_queued(max(seconds, service), service, part * len(own)))
    return asking / max(took) if static else sum(part / each for each in took)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(MACHINES), st.sampled_from([None, 1, 8, 1000]), st.floats(0.0, 1.0),
    st.floats(0.0, 1.0), st.integers(0, 3), st.integers(1, 12), st.floats(0.05, 1.0),
    st.floats(0.0, 0.5), st.booleans(),
)  # fmt: skip
def test_paths_against_each_thread_and_memory_by_itself(
    machine_text: tuple[tuple[str, str], ...], link: int | None, rest: float, single: float,
    home: int, threads: int, part: float, writes: float, static: bool,
) -> None:  # fmt: skip
    """Of random pages, threads and links; memory that gives less the more is written."""
    text = list(machine_text)
    if link is not None:
        text.append(("  page: 4 KiB", f"  page: 4 KiB\n  link: {link}"))
    machine = round_machine(*text)
    threads = min(threads, machine.cores)
    pages = PageShares(rest * single, rest * (1 - single), home % machine.domains)
    curve = machine.memory.bandwidth["load"]

    def domain(cores: float, writes: float) -> float:
        return curve.at(cores) * (1 - writes / 2)

    fast = MemoryPaths(machine, pages, static=static, domain=domain)
    asking = part * threads
    slow = _slow_rate(machine, pages, asking, threads, writes, static=static, domain=domain)
    assert fast.rate(asking, threads, writes) == pytest.approx(slow, rel=1e-5)
