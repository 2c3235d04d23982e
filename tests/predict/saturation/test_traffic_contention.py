"""What work on several threads takes from each other by its traffic: by hand, on round figures.

One core gets 10 GB/s from memory, four of a domain 20.
"""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from made_times import MACHINE, core, gathering, loops, moved
from round_machine import GivenTraffic, Traffic, no_traffic

from regionpredict.predict.saturation.traffic_contention import Contention, contention_slowdown
from regionpredict.workload import LoopBody, TrafficCounter, Work, Workload


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return gathering(tmp_path_factory.mktemp("text"))


def working(workload: Workload, *bodies: LoopBody, given: Traffic = no_traffic) -> Workload:
    """The workload with made-up work and traffic."""

    class Given(Workload):
        __slots__ = ()

        def traffic_of(self, work: Work) -> TrafficCounter:
            return GivenTraffic(work.nest, given)

    assert workload.execution is not None
    work = workload.execution.work._replace(bodies=bodies)
    parts = {field.name: getattr(workload, field.name) for field in fields(Workload)}
    parts["execution"] = replace(workload.execution, work=work)
    return Given(**parts)


@pytest.mark.parametrize("size", [40e9, 40e3])
@pytest.mark.parametrize(("threads", "growth"), [(1, 1.0), (2, 1.5), (4, 2.0), (8, 2.0)])
def test_streams_grow_by_what_the_path_does_not_give(
    workload: Workload, threads: int, growth: float, size: float
) -> None:
    """40 GB take one core 4 s; two of a domain have 13.3 GB/s together, four 20."""
    found = contention_slowdown(working(workload, given=moved(size)), MACHINE, threads)
    assert found == Contention(threads, pytest.approx(10e9), pytest.approx(growth),
                               pytest.approx(growth))  # fmt: skip


def test_work_that_computes_asks_for_less(workload: Workload) -> None:
    """8 s of core and 4 s of waiting overlap to 8.94 s: 4.47 GB/s, four times that of 20."""
    found = contention_slowdown(working(workload, core(8.0), given=moved(40e9)), MACHINE, 4)
    alone = (8.0**2 + 4.0**2) ** 0.5
    together = loops(workload, core(8.0), given=moved(40e9)).at(4).total
    assert found == Contention(4, pytest.approx(40e9 / alone), pytest.approx(160 / alone / 20),
                               pytest.approx(together / alone))  # fmt: skip
    assert 1.0 < together / alone < 2.0


def test_what_is_asked_for_is_the_traffic_beside_the_others(workload: Workload) -> None:
    """On one thread all is in the caches: what the others leave no room for comes from memory."""

    def crowded(position: int, threads: int) -> dict[str, tuple[float, float]]:
        return {"a": (10e9 if threads > 1 else 0.0, 0.0)}

    found = contention_slowdown(working(workload, core(2.0), given=crowded), MACHINE, 4)
    assert found is not None
    assert found.asked == pytest.approx(10e9 / 2)
    assert found.share == pytest.approx(4 * 5 / 20)


def test_what_takes_no_time_or_is_not_understood_has_none(workload: Workload) -> None:
    assert contention_slowdown(working(workload), MACHINE, 4) is None
    table = replace(workload.table, status="partial")
    partial = replace(working(workload, core(1.0)), table=table)
    assert contention_slowdown(partial, MACHINE, 4) is None
    assert contention_slowdown(replace(workload, execution=None), MACHINE, 4) is None
