"""What loads tell of a core: misses at a time, the last TLB, walks and their number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from regionpredict.machine.calibrate.core_figures import core_figures
from regionpredict.machine.calibrate.figures import figures
from regionpredict.machine.calibrate.plan import (
    FOUND,
    FOUND_BESIDE,
    STORE_FORWARD,
    TLB_COUNTS,
    UNFORESEEN,
    WALKED,
    WALKED_BESIDE,
    plan,
)
from regionpredict.machine.calibrate.spread import spreads
from regionpredict.machine.detect.topology import CacheShape, Topology
from tests.machine.test_calibrated_spread import NODE, around, half

WALK = {WALKED: [37.0] * 5, FOUND: [12.0] * 5}
"""A walk takes 25 ns."""


def value(samples, key, node=NODE):
    made = core_figures(node, samples).get(key)
    return None if made is None else made.value


def swept(entries: int, short: float = 5.0, walk: float = 20.0) -> dict[str, list[float]]:
    """A TLB of so many entries: loads that it knows take `short`, others `walk` longer."""
    samples = {}
    for count in TLB_COUNTS:
        samples[f"tlb/{count}/found"] = [short] * 5
        samples[f"tlb/{count}/walked"] = [short + (walk if count > entries else 2.0)] * 5
    return samples


def test_misses_at_a_time_are_littles_law():
    """100 ns for one line at a time, 8 ns a line side by side: 12.5 are on their way."""
    samples = {"latency/0": around(100, 0.02), UNFORESEEN: around(8, 0.05)}
    assert value(samples, "outstanding_misses") == 12.0
    # as unsure as both, but for what a whole number leaves open in any case
    unsure = 12.5 * (half(0.02) + half(0.05)) - 0.5
    assert unsure > 0
    assert spreads(NODE, samples)["processor.outstanding_misses"] == pytest.approx(unsure / 12)
    assert value({**samples, UNFORESEEN: [300.0] * 5}, "outstanding_misses") == 1.0  # never none
    assert value({UNFORESEEN: [8.0] * 5}, "outstanding_misses") is None


def test_a_number_through_memory_takes_cycles_of_the_clock():
    """2.5 ns at 2 GHz are 5 cycles; without the clock they are none."""
    samples = {"clock": [0.5] * 5, STORE_FORWARD: around(2.5, 0.1)}
    assert value(samples, "store_forward") == pytest.approx(5.0)
    assert spreads(NODE, samples)["processor.store_forward"] == pytest.approx(half(0.1))
    assert value({STORE_FORWARD: [2.5] * 5}, "store_forward") is None
    (told,) = [m for m in plan(NODE, 1 << 30, NODE.threads) if m.key == STORE_FORWARD]
    assert (told.program, told.arguments) == ("operations", ("0", "store_forward", "latency"))


@pytest.mark.parametrize("entries", TLB_COUNTS)
def test_the_last_tlb_is_told_by_where_loads_begin_to_wait(entries):
    assert value({**WALK, **swept(entries)}, "tlb_entries") == entries
    assert "processor.tlb_entries" not in spreads(NODE, {**WALK, **swept(entries)})


def test_between_two_counts_the_lower_is_sure():
    assert value({**WALK, **swept(1500)}, "tlb_entries") == 1280


def test_no_tlb_is_told_where_nothing_waits_or_all_do():
    assert value(swept(1024), "tlb_entries") is None  # no walk was measured
    assert value({WALKED: [12.0] * 5, FOUND: [12.0] * 5, **swept(1024)}, "tlb_entries") is None
    assert value({**WALK, **swept(0)}, "tlb_entries") is None
    missing = {key: kept for key, kept in swept(2048).items() if key != "tlb/1024/found"}
    assert value({**WALK, **missing}, "tlb_entries") == 768  # what was not measured tells nothing


def test_walkers_are_as_many_as_walks_go_on_at_a_time():
    """25 ns one after the other, 4 ns (6 less 2) side by side: 6.25."""
    samples = {**WALK, WALKED_BESIDE: [6.0] * 5, FOUND_BESIDE: [2.0] * 5}
    assert value(samples, "page_walkers") == 6.0
    assert (
        value({**WALK, WALKED_BESIDE: [2.0] * 5, FOUND_BESIDE: [2.0] * 5}, "page_walkers") is None
    )
    assert value(WALK, "page_walkers") is None
    slow = {**WALK, WALKED_BESIDE: [90.0] * 5, FOUND_BESIDE: [2.0] * 5}
    assert value(slow, "page_walkers") == 1.0


def test_a_walk_is_compared_with_a_load_of_its_entry():
    """8192 lines and as many entries are 576 KiB: what holds them answers for the entries."""
    samples = {"clock": [0.5] * 5, "latency/1": [2.0] * 5, "latency/3": around(10, 0.1),
               WALKED: around(37, 0.1), FOUND: around(12, 0.05)}  # fmt: skip
    made = figures(NODE, (), samples)
    assert made.processor["page_walk_factor"] == pytest.approx(2.5)
    assert made.spread["processor.page_walk_factor"] == pytest.approx(
        (37 * half(0.1) + 12 * half(0.05)) / 25
    )
    small = replace(NODE, caches=NODE.caches[:1])
    near = {key: kept for key, kept in samples.items() if key != "latency/3"}
    assert value(near, "page_walk_factor", small) is None  # nothing is known of memory
    far = {**near, "latency/0": [100.0] * 5}
    assert value(far, "page_walk_factor", small) == pytest.approx(0.25)
    assert value({**samples, FOUND: [40.0] * 5}, "page_walk_factor") is None
    assert "processor.page_walk_factor" not in spreads(NODE, {**samples, FOUND: [40.0] * 5})


def test_each_count_of_pages_is_measured_with_and_without_a_walk():
    """As many lines either way: 256 lines on 256 pages, or on 16."""
    shape = CacheShape(level=1, size=32768, line=64, ways=8, cores=1)
    node = Topology("n", "", 1, 1, 1, 1, (shape,), page_bytes=4096)
    planned = {m.key: m.arguments for m in plan(node, 1 << 30, (0,))}
    for count in TLB_COUNTS:
        size = str(count * 64)
        assert planned[f"tlb/{count}/walked"] == ("0", size, "64", "apart", "4096", "1")
        assert planned[f"tlb/{count}/found"] == ("0", size, "64", "apart", "4096", "16")
    assert planned[WALKED_BESIDE] == ("0", str(8192 * 64), "64", "beside", "4096", "1")
    unknown = replace(node, page_bytes=None)
    assert not {m.key for m in plan(unknown, 1 << 30, (0,))} & {WALKED, WALKED_BESIDE}
