"""How far irregular addresses spread, and in which loops they stand still: by hand."""

from __future__ import annotations

import pytest
from nest_texts import counter_of, facts_of_text, group_of

from regionpredict.ir import Expr
from regionpredict.workload import CacheLevel
from regionpredict.workload.irregular_addresses import bytes_between, invariant_loops
from regionpredict.workload.loop_nest import Affine, Curved, LoopNest
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.value_ranges import Interval

ARRAYS = "struct { double v[4]; int n; } c[500]; double a[5000], b[9999]; int k[999], m[999];"


def nest_reading(read: str) -> LoopNest:
    """A hundred i, in each fifty j that read one element and write another."""
    loops = f"for (int i = 0; i < 100; i++) for (int j = 0; j < 50; j++) a[j] = {read};"
    text = f"{ARRAYS}\nint next(int);\nvoid f(void) {{\n#pragma omp parallel for\n{loops}\n}}\n"
    (facts,) = facts_of_text(text)
    nest = loop_nest(facts.region, facts.bindings.values)
    assert nest is not None
    return nest


@pytest.mark.parametrize(
    ("read", "extent"),
    [
        ("b[(i + 9) % 24]", 24 * 8),
        ("b[i & 7]", 8 * 8),
        ("b[30 - (i * j) % 10]", 10 * 8),
        ("c[(2 * i + 3) % 30].v[1]", 29 * 40 + 8),  # from one member to the last one's end
        ("b[i * i]", (99 * 99 + 1) * 8),
        ("b[k[i]]", 9999 * 8),
        ("b[i * i * i]", 9999 * 8),  # no further than the array
    ],
)
def test_bytes_over_which_addresses_spread(read: str, extent: int) -> None:
    assert group_of(nest_reading(read), read[0]).extent == extent


@pytest.mark.parametrize(
    ("read", "still"),
    [
        ("b[k[i]]", {"j"}),
        ("b[(3 * i) % 400]", {"j"}),
        ("b[k[j]]", set()),
        ("b[k[i] + j]", set()),
        ("b[k[m[i] + j]]", set()),
        ("b[next(i)]", set()),
    ],
)
def test_loops_in_which_addresses_stand_still(read: str, still: set[str]) -> None:
    assert group_of(nest_reading(read), "b").still == still


def test_bytes_between_several_addresses() -> None:
    """From the lowest of all, -16 to 0, to the end of the highest, 80 to 112."""
    (access, *_) = group_of(nest_reading("b[k[i]]"), "b").accesses
    spread = {"i": Interval(0.0, 4.0)}
    low, high = (
        Curved(Expr.name("i") * slope + first, {}, frozenset("i"))
        for slope, first in ((4, -16), (8, 80))
    )
    for forms in ([low, high], [high, low]):
        assert bytes_between(forms, [access, access], spread) == 112 + access.bytes + 16
    for other in (None, Affine(0.0, {})):
        assert bytes_between([low, other], [access, access], spread) is None


def test_a_call_in_one_of_several_addresses_stands_nowhere() -> None:
    reads = [group_of(nest_reading(read), "b") for read in ("b[k[i]]", "b[next(i)]")]
    accesses = [access for read in reads for access in read.accesses]
    assert invariant_loops(accesses[:1], reads[0].loops) == {"j"}
    assert invariant_loops(accesses, reads[0].loops) == frozenset()


def test_what_stands_still_is_missed_once() -> None:
    """A cache of 40 lines: the seven of `a` stay, and of `b`, 1250 of them, hardly any does."""
    (level,) = counter_of(nest_reading("b[k[i]]")).traffic([CacheLevel(40 * 64.0, 1)], 1)
    lines = {moved.array: moved.read / 64 for moved in level.arrays}
    assert 90 < lines["b"] <= 100
