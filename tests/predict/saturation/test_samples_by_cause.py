"""The four samples of placement, cold caches and hardware threads show their effect in the model.

On two packages of 20 cores, each package with a domain of its own and two hardware threads a core.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.analysis.history.first_touch import INTERLEAVED, Placement, in_domain
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import analyse, predict
from regionpredict.predict import ALL_PARTS, Parts, Prediction, points_of

ROOM = Path(__file__).resolve().parents[3] / "polybench_samples" / "by_cause"
NODE = load("skylake-gold-6148")
LINK = 34.4e9


def kernel(
    sample: str, function: str, *, machine: Machine = NODE, pages: Placement | None = None,
    parts: Parts = ALL_PARTS,
) -> Prediction:  # fmt: skip
    """The prediction of the sample's region in one function."""
    analysis = analyse(requests_for([str(ROOM / sample / f"{sample}.c")]), {})
    made = predict(analysis, machine, "saturation", pages=pages, parts=parts)
    (found,) = [one for one in made.predictions if one.facts.region.function == function]
    return found


def seconds(one: Prediction) -> dict[int, float]:
    return {point.threads: point.seconds for point in points_of(one)}


def test_interleaved_pages_slow_one_package_and_gain_from_the_second() -> None:
    name = "kernel_interleaved_pages"
    every = Parts(lasting_share=False)  # all of it is read from memory, run after run
    first = Placement("parallel", "", False)
    near = seconds(kernel("interleaved_pages", name, pages=first, parts=every))
    dealt = seconds(kernel("interleaved_pages", name, pages=INTERLEAVED, parts=every))
    # Half of a package's traffic crosses the link: it gets no more than twice of what that takes.
    # The vectors are 160 MB; a third of the 240 MB that move is written back, and goes the other
    # way over a link that carries both at once.
    assert dealt[20] >= 160e6 / 2 / LINK
    assert dealt[20] > 1.05 * near[20]
    # On both, what the one writes back shares a direction with what the other reads: 40 + 20 MB.
    assert 60e6 / LINK <= dealt[40] < 0.85 * dealt[20]
    assert dealt[40] > near[40]


def test_pages_behind_the_link_take_what_it_carries() -> None:
    # The threads of the first package on pages of the second: 160 MB are read.
    one = seconds(kernel("far_link", "kernel_far_link", pages=in_domain(1)))
    near = seconds(kernel("far_link", "control_near", pages=Placement("parallel", "", False)))
    assert 160e6 / LINK <= one[20] < 1.3 * 160e6 / LINK
    assert one[20] > 2.5 * near[20]
    # alone, a thread waits for far lines 1.6 times as long, beside what it computes
    assert 1.2 < one[1] / near[1] < 1.6


def test_a_cold_cache_costs_what_memory_takes() -> None:
    # As if it had just run, and as the program shows: something else has filled the caches.
    warm = seconds(kernel("cold_cache", "kernel_cold_cache", parts=Parts(seen_contents=False)))
    cold = seconds(kernel("cold_cache", "kernel_cold_cache"))
    # 256 KB and what is written back at one core's 13 to 25 GB/s, not from the second cache
    assert cold[1] > 1.5 * warm[1]
    assert cold[1] == pytest.approx(384e3 / 24.85e9, rel=0.35)


def test_two_chains_fill_a_core_and_independent_work_does_not_need_them() -> None:
    chain = kernel("hardware_threads", "kernel_hardware_threads")
    control = kernel("hardware_threads", "control_independent")
    assert (chain.threads, chain.threads_per_core, chain.packages) == (80, 2, 2)
    best = max(value for _, value in chain.speedup)
    assert chain.shared_core_speedup is not None
    assert 1.5 < chain.shared_core_speedup / best <= 2.0
    assert control.threads_per_core == 1
    assert control.threads is not None and control.threads <= 40
