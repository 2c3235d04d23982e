"""Workload deviation, its patterns and its course over iterations, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from traced_programs import doubled, team_doubled

from regionpredict.errors import InputError
from regionpredict.trace import EventTrace, TraceBuilder
from regionpredict.trace.analysis import analyse
from regionpredict.trace.imbalance import (
    Course,
    Imbalance,
    ImbalanceStudy,
    Pattern,
    compute_imbalance,
    pattern_of,
)
from regionpredict.trace.kernels import Kernels

pytestmark = pytest.mark.compiler


def study(trace: EventTrace, kernels: Kernels, mark: str | None = None) -> ImbalanceStudy:
    return compute_imbalance(analyse(trace, kernels), mark)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (8, 3), (9, 8)])
def test_double_work_of_some_ranks(n: int, k: int, kernels: Kernels) -> None:
    """w is 2 on k ranks and 1 on the others: the mean is (n + k) / n."""
    found = study(doubled(n, k), kernels)
    (path,) = found.callpaths
    assert path.callpath == "main"
    for row in (found.whole, path):
        assert row.mean_s == pytest.approx((n + k) / n)
        assert row.deviation_s == pytest.approx(
            [1 - k / n if rank < k else -k / n for rank in range(n)]
        )
        assert row.runtime_impact_s == pytest.approx((n - k) / n)
        assert row.allocation_impact_s == pytest.approx(n - k)
        assert sum(row.deviation_s) == pytest.approx(0)
        assert row.pattern is (
            Pattern.OVERLOADED_MINORITY if 2 * k < n else Pattern.UNDERLOADED_MINORITY
        )
        assert [group.locations for group in row.groups] == [n - k, k]
        assert [group.mean_s for group in row.groups] == pytest.approx([1, 2])
    assert found.iterations is None
    assert "no iterations are found" in found.note


def test_threads_wait_for_the_fork_and_at_the_end(kernels: Kernels) -> None:
    found = study(team_doubled(4, 1, serial=3.0), kernels)
    by_path = {row.callpath: row for row in found.callpaths}
    assert by_path["main/parallel"].workload_s == pytest.approx((2, 1, 1, 1))
    assert by_path["main"].workload_s == pytest.approx((3, 0, 0, 0))
    assert found.whole.workload_s == pytest.approx((5, 1, 1, 1))


def stepping(work: list[list[float]]) -> EventTrace:
    """In each iteration each rank works so many seconds, then all meet."""
    build = TraceBuilder(len(work[0]))
    now = 0.0
    for rank in range(len(work[0])):
        build.enter(rank, 0.0, "main")
    for each in work:
        end = now + max(each)
        for rank, seconds in enumerate(each):
            build.enter(rank, now, "work")
            build.leave(rank, now + seconds)
            build.enter(rank, now + seconds, "MPI_Barrier")
            build.collective(rank, end)
            build.leave(rank, end)
        now = end
    for rank in range(len(work[0])):
        build.leave(rank, now)
    return build.build("stepping")


def of_work(found: ImbalanceStudy) -> Imbalance:
    return next(row for row in found.callpaths if row.callpath == "main/work")


def test_the_same_rank_has_too_much_each_time(kernels: Kernels) -> None:
    found = study(stepping([[1.0, 1.0, 2.0]] * 6), kernels)
    row = of_work(found)
    assert found.iterations is not None
    assert row.evolution is not None
    # the first iteration begins with the end of the first barrier
    assert row.evolution.imbalance_s == pytest.approx([2 / 3] * found.iterations.count)
    assert row.evolution.persistent == pytest.approx(1)
    assert row.evolution.growth == pytest.approx(0)
    assert row.evolution.course is Course.STATIC


def test_an_excess_that_moves_around(kernels: Kernels) -> None:
    """A profile shows even work; met in each iteration it costs 3/4 of a second each time."""
    work = [[2.0 if rank == turn % 4 else 1.0 for rank in range(4)] for turn in range(9)]
    found = study(stepping(work), kernels, mark="work")
    row = found.whole
    assert found.iterations is not None
    assert found.iterations.count == 8  # the last has no end
    assert row.evolution is not None
    assert row.evolution.imbalance_s == pytest.approx([0.75] * 8)
    assert row.evolution.persistent == pytest.approx(0)
    assert row.evolution.course is Course.DYNAMIC


def test_an_imbalance_that_grows(kernels: Kernels) -> None:
    found = study(stepping([[1.0, 1.0 + 0.1 * turn] for turn in range(10)]), kernels, mark="work")
    evolution = found.whole.evolution
    assert evolution is not None
    each = np.array([0.05 * turn for turn in range(9)])
    assert evolution.imbalance_s == pytest.approx(each)
    assert evolution.growth == pytest.approx((each[6:].mean() - each[:3].mean()) / each.mean())
    assert evolution.persistent == pytest.approx(1)


@pytest.mark.parametrize(
    ("workload", "pattern", "sizes"),
    [
        ([1, 1.01, 0.99, 1], Pattern.EVEN, [4]),
        ([1, 2, 3, 4], Pattern.SPREAD, [4]),
        ([1, 1.1, 1.2, 1.05, 5], Pattern.OVERLOADED_MINORITY, [4, 1]),
        ([0, 1, 1.1, 1.2, 1.05], Pattern.UNDERLOADED_MINORITY, [1, 4]),
        ([1, 1.01, 2, 2.01], Pattern.GROUPS, [2, 2]),
        ([1] * 6 + [1.25, 1.25, 1.5, 1.5], Pattern.OVERLOADED_MINORITY, [6, 2, 2]),
        ([1, 1, 2, 2, 3, 3], Pattern.GROUPS, [2, 2, 2]),
        ([1, 1, 2], Pattern.OVERLOADED_MINORITY, [2, 1]),
    ],
)
def test_patterns(workload: list[float], pattern: Pattern, sizes: list[int]) -> None:
    for order in (workload, workload[::-1]):
        found, groups = pattern_of(np.array(order, dtype=float))
        assert found is pattern
        assert [group.locations for group in groups] == sizes


def test_two_locations_have_no_pattern() -> None:
    assert pattern_of(np.array([1.0, 2.0])) == (None, ())
    assert pattern_of(np.zeros(5)) == (None, ())


@pytest.mark.parametrize(("count", "most"), [(8, 20), (16, 4), (32, 4), (200, 4), (1000, 4)])
@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_one_group_is_seldom_taken_for_several(count: int, most: int, kind: str) -> None:
    draw = np.random.default_rng(7)
    several = 0
    for _ in range(200):
        values = draw.normal(10, 1, count) if kind == "normal" else draw.uniform(5, 15, count)
        several += pattern_of(values)[0] is not Pattern.SPREAD
    assert several <= most


def test_a_mark_that_is_not_there(kernels: Kernels) -> None:
    with pytest.raises(InputError, match="enters 'nothing' 0 times"):
        study(doubled(3, 1), kernels, mark="nothing")
