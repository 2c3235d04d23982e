"""Each switch takes out its part and no other, on loops whose times are known without it."""

from __future__ import annotations

from dataclasses import fields

import pytest
from ablation import ABLATIONS, VARIANTS, switched_off
from data_machines import TRIAD, WAIT
from predictor import FULL, Code, ask, machine_named

from regionpredict.predict import Parts

SKYLAKE = machine_named("skylake-gold-6148")
IVY_BRIDGE = machine_named("ivybridge-e5-2660v2")
BY_NAME = {variant.name: variant for variant in VARIANTS}


@pytest.mark.parametrize("variant", ABLATIONS, ids=lambda variant: variant.name)
def test_a_switch_touches_one_field_of_the_machine_one_part_or_drops_terms(variant) -> None:
    off = [one.name for one in fields(Parts) if not getattr(variant.parts, one.name)]
    touched = len(switched_off(IVY_BRIDGE, variant)) + len(off) + bool(variant.without)
    assert touched == 1


def test_every_part_of_the_model_has_its_switch() -> None:
    off = {one.name for one in fields(Parts) for variant in ABLATIONS
           if not getattr(variant.parts, one.name)}  # fmt: skip
    assert off == {one.name for one in fields(Parts)}


def test_all_parts_on_is_the_machine_itself() -> None:
    assert FULL.on(SKYLAKE) is SKYLAKE
    assert not FULL.without
    assert FULL.parts == Parts()


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(VARIANTS)


def _seconds(text: str, name: str, size: int, threads: list[int], part: str) -> dict[int, float]:
    code = Code(text, sizes=((name, size),))
    return ask(code, SKYLAKE, threads, [BY_NAME[part]])[part].seconds


def test_memory_that_never_saturates_makes_streams_scale() -> None:
    # 1.2 GB of arrays: 24 B an element asked for at 14.2 GB/s of one core, no second limit.
    found = _seconds(TRIAD, "n", 50_000_000, [1, 10, 20], "saturation of memory")
    assert found[1] / found[20] == pytest.approx(20.0, rel=0.02)
    full = _seconds(TRIAD, "n", 50_000_000, [1, 10, 20], FULL.name)
    assert full[1] / full[20] < 8.0


def test_a_stream_without_memory_is_what_the_core_takes() -> None:
    # Eight lanes, two loads and a store: below half a cycle an element at 2.4 GHz.
    found = _seconds(TRIAD, "n", 50_000_000, [1], "memory bandwidth")
    full = _seconds(TRIAD, "n", 50_000_000, [1], FULL.name)
    assert found[1] < 50_000_000 * 2.0 / 2.4e9 < full[1]


def test_a_barrier_costs_nothing_where_synchronisation_is_free() -> None:
    # 100 loops of 20 iterations: the measured barrier takes 2576 cycles each time, and the line at
    # the border of two threads goes there and back, each way an atomic of two threads:
    # twice 1.4 times the third cache's 55 cycles.
    full = _seconds(WAIT, "p", 20, [20], FULL.name)[20]
    free = _seconds(WAIT, "p", 20, [20], "synchronisation")[20]
    assert full - free == pytest.approx(100 * (2576 + 2 * 2 * 1.4 * 55) / 2.4e9, rel=1e-3)


def test_imbalance_is_left_out_of_the_sum() -> None:
    # 21 equal iterations on 20 threads: one thread has two of them.
    text = """
    void rows(int n, double a[n][1000000])
    {
    #pragma omp parallel for schedule(static)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < 1000000; j++) a[i][j] = a[i][j] * 1.5 / (a[i][j] + 2.0) / 3.0;
    }
    """
    full = _seconds(text, "n", 21, [1, 20], FULL.name)
    even = _seconds(text, "n", 21, [1, 20], "imbalance")
    assert full[1] == even[1]
    assert full[20] / even[20] == pytest.approx(2 / (21 / 20), rel=0.05)


COPY = """
void copy(int n, double *a, double *b)
{
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) a[i] = b[i];
}
"""


def test_without_write_allocation_a_copy_moves_16_bytes_for_24() -> None:
    # Ten cores saturate a domain: the time goes with the bytes, at the bandwidth of each mix of
    # reads and writes (copy's, a third written, and update's, a half).
    bandwidth = SKYLAKE.memory.bandwidth
    full = _seconds(COPY, "n", 50_000_000, [20], FULL.name)[20]
    less = _seconds(COPY, "n", 50_000_000, [20], "write-allocate")[20]
    copy, update = 1.5 * bandwidth["copy"].at(20), bandwidth["update"].at(20)
    assert full / less == pytest.approx((24 / copy) / (16 / update), rel=0.05)


def test_without_overlap_times_add_up() -> None:
    # One core: T = sqrt(X^2 + M^2) with it, X + M without; the cache's part is the same.
    one = _seconds(TRIAD, "n", 50_000_000, [1], FULL.name)[1]
    busy = _seconds(TRIAD, "n", 50_000_000, [1], "memory bandwidth")[1]
    summed = _seconds(TRIAD, "n", 50_000_000, [1], "root of squares")[1]
    assert summed == pytest.approx(busy + (one**2 - busy**2) ** 0.5, rel=1e-3)


def test_without_the_queue_all_cores_ask_at_once() -> None:
    # Some cores compute while others wait: those that wait share the path with fewer.
    text = COPY.replace("b[i];", "b[i] / (1.0 + b[i]) / 3.0;")
    queued = _seconds(text, "n", 50_000_000, [1, 8], FULL.name)
    crowded = _seconds(text, "n", 50_000_000, [1, 8], "closed queue")
    assert crowded[8] > 1.02 * queued[8]
    assert crowded[1] >= queued[1]


def test_without_reuse_between_runs_small_data_comes_from_memory_again() -> None:
    # 320 KB fit the second cache of one core (1 MiB); without reuse they come from memory.
    again = COPY.replace("#pragma", "for (int t = 0; t < 10; t++)\n#pragma")
    kept = _seconds(again, "n", 20_000, [1], FULL.name)[1]
    fetched = _seconds(again, "n", 20_000, [1], "reuse from run to run")[1]
    large = _seconds(again, "n", 50_000_000, [1], FULL.name)[1] * 20_000 / 50_000_000
    assert fetched > 1.5 * kept
    assert fetched == pytest.approx(large, rel=0.1)
    # A loop that runs once finds nothing either, unless all are taken to have run before.
    once = _seconds(COPY, "n", 20_000, [1], FULL.name)[1]
    assert once == pytest.approx(fetched / 10, rel=0.01)
    warm = _seconds(COPY, "n", 20_000, [1], "caches cold where nothing is seen")[1]
    assert warm == pytest.approx(kept / 10, rel=0.01)


def test_a_shared_cache_that_adapts_keeps_a_part() -> None:
    # 40 MB, a little more than the shared cache (Skylake, 27.5 MiB) and its share of the second.
    again = COPY.replace("#pragma", "for (int t = 0; t < 10; t++)\n#pragma")
    adapting = _seconds(again, "n", 2_500_000, [20], FULL.name)[20]
    forgetting = _seconds(again, "n", 2_500_000, [20], "shared caches that adapt")[20]
    assert adapting < 0.9 * forgetting
