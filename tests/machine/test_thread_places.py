"""Where threads lie: against OpenMP's rule, place by place, and by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regionpredict.machine import Machine, cores_filled_first, load, packages_of, thread_places

SNC = load("skylake-gold-6148-snc")


def node(packages: int, domains: int, cores: int, binding: str) -> Machine:
    """A node with `cores` in each of `domains` of each of `packages`."""
    shape = SNC.node
    shape = replace(
        shape,
        packages=replace(shape.packages, value=packages),
        domains_per_package=replace(shape.domains_per_package, value=domains),
        cores_per_package=replace(shape.cores_per_package, value=domains * cores),
    )
    return replace(SNC, node=shape, binding=binding)  # type: ignore[arg-type]


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.data(),
       st.sampled_from(["close", "spread"]))  # fmt: skip
def test_each_thread_by_itself(packages: int, domains: int, cores: int, data: st.DataObject,
                               binding: str) -> None:  # fmt: skip
    machine = node(packages, domains, cores, binding)
    threads = data.draw(st.integers(1, 2 * machine.cores))
    seats: Counter[int] = Counter()
    for thread in range(threads):
        rest = threads % machine.cores
        last = threads - rest
        if thread < last:
            core = thread % machine.cores
        elif binding == "close":
            core = thread - last
        else:
            core = (thread - last) * machine.cores // rest
        seats[core] += 1
    found = thread_places(machine, threads)
    assert found.by_domain == tuple(
        sum(seats[core] for core in range(first, first + cores))
        for first in range(0, machine.cores, cores)
    )
    assert sum(found.by_package) == sum(found.by_domain) == threads
    assert found.on_a_core == max(seats.values())
    assert found.together + found.in_other_packages == threads
    assert found.packages == packages_of(machine, threads)


def test_close_fills_a_package_before_the_next() -> None:
    assert thread_places(SNC, 25).by_package == (20, 5)
    assert packages_of(SNC, 20) == 1
    assert packages_of(SNC, 21) == 2


def test_spread_takes_both_packages_from_two_threads_on() -> None:
    spread = SNC.as_run(binding="spread")
    assert thread_places(spread, 2).by_domain == (1, 0, 1, 0)
    assert packages_of(spread, 1) == 1
    assert cores_filled_first(spread) == 40
    assert cores_filled_first(SNC) == 20


@given(st.integers(1, 3), st.integers(1, 2), st.integers(1, 4), st.integers(1, 4), st.data())
def test_caches_have_one_thread_each_before_any_has_two(
    packages: int, domains: int, caches: int, joined: int, data: st.DataObject
) -> None:
    cores = caches * joined  # of a domain
    machine = with_second_caches(node(packages, domains, cores, "caches"), joined)
    threads = data.draw(st.integers(1, machine.cores))
    order = sorted(range(machine.cores), key=lambda core: (core % joined, core))[:threads]
    found = thread_places(machine, threads)
    assert found.by_domain == tuple(
        sum(core // cores == domain for core in order) for domain in range(packages * domains)
    )


def with_second_caches(machine: Machine, joined: int) -> Machine:
    """The machine with second-level caches of so many cores each."""
    caches = tuple(
        replace(cache, shared_by_cores=replace(cache.shared_by_cores, value=joined))
        if cache.level == 2 else cache
        for cache in machine.caches
    )  # fmt: skip
    return replace(machine, caches=caches)


def test_caches_of_one_core_each_are_filled_as_close_ones() -> None:
    over = SNC.as_run(binding="caches")
    assert [thread_places(over, n) for n in range(1, 81)] == [
        thread_places(SNC, n) for n in range(1, 81)
    ]
    assert cores_filled_first(over) == cores_filled_first(SNC)


@pytest.mark.parametrize("threads", [41, 60, 80])
def test_threads_beyond_the_cores_share_them(threads: int) -> None:
    found = thread_places(SNC, threads)
    assert found.on_a_core == 2
    assert found.by_package == (20 + min(20, threads - 40), 20 + max(0, threads - 60))
