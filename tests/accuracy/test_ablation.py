"""Each switch takes out its part and no other, on loops whose times are known without it."""

from __future__ import annotations

import pytest
from ablation import ABLATIONS, NOT_YET, VARIANTS, switched_off
from data_machines import TRIAD, WAIT
from predictor import FULL, Code, ask, machine_named

SKYLAKE = machine_named("skylake-gold-6148")
IVY_BRIDGE = machine_named("ivybridge-e5-2660v2")
BY_NAME = {variant.name: variant for variant in VARIANTS}


@pytest.mark.parametrize("variant", ABLATIONS, ids=lambda variant: variant.name)
def test_a_switch_touches_one_field_of_the_machine_or_drops_terms(variant) -> None:
    touched = switched_off(IVY_BRIDGE, variant)
    assert len(touched) == 1 or (not touched and variant.without)


def test_all_parts_on_is_the_machine_itself() -> None:
    assert FULL.on(SKYLAKE) is SKYLAKE
    assert not FULL.without


def test_names_are_unique_and_what_is_missing_is_named() -> None:
    assert len(BY_NAME) == len(VARIANTS)
    assert not set(NOT_YET) & set(BY_NAME)


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
