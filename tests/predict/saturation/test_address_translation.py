"""Page walks of gathers, by hand and against a simulated LRU store."""

from __future__ import annotations

import random
from collections import OrderedDict

import pytest
from round_machine import round_machine

from regionpredict.predict.saturation.address_translation import Spread, hit_rates, walk_cycles
from regionpredict.workload import Gather

MACHINE = round_machine()
KIB, MIB = 1 << 10, 1 << 20


def test_what_the_tlb_reaches_costs_nothing() -> None:
    """1024 entries of 4 KiB: 4 MiB."""
    assert walk_cycles((), MACHINE, 64) == 0.0
    assert walk_cycles([Gather("x", 0.0, 1e12)], MACHINE, 64) == 0.0
    assert walk_cycles([Gather("y", 0.0, 1e12), Gather("x", 1e6, 8 * MIB)], MACHINE, 64) == (
        walk_cycles([Gather("x", 1e6, 8 * MIB)], MACHINE, 64)
    )
    assert walk_cycles([Gather("x", 1e6, 4 * MIB)], MACHINE, 64) == 0.0
    assert walk_cycles([Gather("x", 1e6, 4 * MIB + 4 * KIB)], MACHINE, 64) > 0.0
    # Several arrays that fill it together are found each time, however often each is met.
    for often in (1e-3, 1.0, 5.0, 1e6):
        both = [Gather("x", 1e6, MIB), Gather("y", often * 1e6, 3 * MIB)]
        assert walk_cycles(both, MACHINE, 64) == 0.0


def test_every_second_access_misses_twice_the_reach() -> None:
    """8 MiB are 2048 pages, half of which the TLB holds. Their entries are 256 lines, met by each
    second access: of the 512 lines of the first cache t are data after t accesses, and
    t + 256 (1 - exp(-t/512)) = 512 at t = 378, so that 52 % of the walks find theirs there, in 4
    cycles, and the others in the second, in 14.
    """
    cycles = walk_cycles([Gather("x", 1e6, 8 * MIB)], MACHINE, 64)
    assert cycles == pytest.approx(0.5e6 * (0.522 * 4 + 0.478 * 14), rel=0.01)


def test_tables_beyond_all_caches_come_from_memory() -> None:
    """2 TiB are 4 GiB of entries: 200 cycles a walk, nearly each access one."""
    (cycles,) = {walk_cycles([Gather("x", 1e6, 2.0**41)], MACHINE, 64)}
    assert cycles == pytest.approx(200e6, rel=0.01)
    assert cycles == pytest.approx(
        2 * walk_cycles([Gather("x", 1e6, 2.0**41)],
                        round_machine(("page_walkers: 1", "page_walkers: 2")), 64)
    )  # fmt: skip


def test_in_two_tables_a_walk_takes_longer() -> None:
    gathers = [Gather("x", 1e6, 8 * MIB)]
    virtual = round_machine(("page_walk_factor: 1", "page_walk_factor: 2.5"))
    assert walk_cycles(gathers, virtual, 64) == pytest.approx(
        2.5 * walk_cycles(gathers, MACHINE, 64)
    )


def test_large_pages_reach_farther() -> None:
    """32 entries of 2 MiB: 64 MiB."""
    large = round_machine(("page: 4 KiB", "page: 2 MiB"))
    assert walk_cycles([Gather("x", 1e6, 64 * MIB)], large, 64) == 0.0
    assert walk_cycles([Gather("x", 1e6, 128 * MIB)], large, 64) == pytest.approx(
        0.5e6 * 4, rel=0.01  # 64 entries: eight lines of the first cache
    )  # fmt: skip


def test_more_data_never_costs_less() -> None:
    costs = [walk_cycles([Gather("x", 1e6, 2.0**size)], MACHINE, 64) for size in range(20, 42)]
    assert costs == sorted(costs)


@pytest.mark.parametrize("capacity", [20, 50, 120, 400])
def test_kept_against_a_simulated_store(capacity: int) -> None:
    """Three kinds of items, met at random: 40 often, 100 and 300 seldom."""
    sizes, rates = (40, 100, 300), (5.0, 2.0, 1.0)
    draw = random.Random(7)
    store: OrderedDict[tuple[int, int], None] = OrderedDict()
    met, found = [0] * 3, [0] * 3
    for turn in range(60_000):
        (kind,) = draw.choices(range(3), rates)
        item = kind, draw.randrange(sizes[kind])
        if turn > 10_000:
            met[kind] += 1
            found[kind] += item in store
        store[item] = None
        store.move_to_end(item)
        if len(store) > capacity:
            store.popitem(last=False)
    shares = hit_rates(capacity, [Spread(*one) for one in zip(sizes, rates, strict=True)])
    for share, hits, number in zip(shares, found, met, strict=True):
        assert share == pytest.approx(hits / number, abs=0.02)
