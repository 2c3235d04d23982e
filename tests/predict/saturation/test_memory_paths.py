"""Pages in other domains: laws of the paths, and cases by hand on a machine of round figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from round_machine import round_machine

from regionpredict.machine import Machine
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
