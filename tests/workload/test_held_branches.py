"""Loops under conditions that the parallel loop's variable decides: counted by running them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from nest_texts import facts_of, nest_of

from regionpredict.analysis.schedule import Schedule
from regionpredict.ir import Expr
from regionpredict.workload.derived_number import Derived
from regionpredict.workload.loop_nest import body_executions
from regionpredict.workload.nest_lowering import loop_nest
from regionpredict.workload.work_distribution import largest_share, work_profile

N, WORK = 4000, 1000
STATIC = Schedule("static", None)


def source(before: str, trips: str = str(WORK)) -> str:
    inner = f"for (int k = 0; k < {trips}; k++) a[k] += 1;"
    return f"for (int i = 0; i < n; i++) {{ {before} {inner} }}"


def busiest(work: Callable[[int], int], threads: int) -> float:
    """The largest part of a static block of the iterations."""
    each = N // threads
    blocks = [sum(work(i) + 1 for i in range(t * each, (t + 1) * each)) for t in range(threads)]
    return max(blocks) / sum(blocks)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (source("if (i < n / 10)"), lambda i: i < N // 10),
        (source("if (i >= n - n / 4)"), lambda i: i >= N - N // 4),
        (source("if (i < 1000 || i >= 3500)"), lambda i: i < 1000 or i >= 3500),
        (source("if (i >= 1000 && i < 2000)"), lambda i: 1000 <= i < 2000),
        (source("if (!(i < 3000))"), lambda i: i >= 3000),
        (source("if (i / 2 < 500)"), lambda i: i // 2 < 500),
        (source("if (i > n / 4) continue;"), lambda i: i <= N // 4),
        (source("if (i > n / 4) a[0] += 1; else"), lambda i: i <= N // 4),
        (source("if (i < 2000) if (i >= 500)"), lambda i: 500 <= i < 2000),
        (source("", f"(i < n / 10 ? {WORK} : 1)"), lambda i: i < N // 10),
    ],
)
def test_the_work_lies_where_the_condition_holds(text: str, holds: Callable[[int], bool]) -> None:
    nest = nest_of(text, "int n, double *a", n=N)
    profile = work_profile(nest)
    runs = body_executions(nest)[1][1]
    rest = 1 if "?" in text else 0
    counted = [WORK if holds(i) else rest for i in range(N)]
    assert runs == pytest.approx(sum(counted), rel=0.1)
    for threads in (2, 4, 8):
        own = largest_share(profile, threads, STATIC)
        assert own == pytest.approx(busiest(counted.__getitem__, threads), abs=0.04)


@pytest.mark.parametrize("test", ["i % 10 == 0", "i % 10 < 1", "i % 100 < 10"])
def test_what_holds_here_and_there_is_even(test: str) -> None:
    nest = nest_of(source(f"if ({test})"), "int n, double *a", n=N)
    assert body_executions(nest)[1][1] == pytest.approx(N * WORK / 10, rel=0.15)
    assert largest_share(work_profile(nest), 4, STATIC) == pytest.approx(0.25)


@pytest.mark.parametrize("place", [0, 7, 31, 2500, N - 1])
def test_one_iteration_is_one(place: int) -> None:
    """Also iteration 31, which is a sample."""
    nest = nest_of(source(f"if (i == {place})"), "int n, double *a", n=N)
    assert body_executions(nest)[1][1] == pytest.approx(WORK)


def test_a_size_with_a_formula_gives_the_same_iterations() -> None:
    """Reuse distances are formulas: their sizes are numbers that keep the name."""
    for test in ("i == 7", "i == n - 3", "i > 0 && i % 10 == 0 && i < 5"):
        region = facts_of(source(f"if ({test})"), "int n, double *a").region
        named, plain = (loop_nest(region, {"n": n}) for n in (Derived(N, Expr.name("n")), N))
        assert named is not None
        assert plain is not None
        counts = [[float(n) for _, n in body_executions(nest)] for nest in (named, plain)]
        assert counts[0] == counts[1]


@pytest.mark.parametrize("test", ["i == n + 7", "i < 0", "i > n"])
def test_a_condition_that_never_holds_is_no_imbalance(test: str) -> None:
    nest = nest_of(source(f"if ({test})"), "int n, double *a", n=N)
    assert largest_share(work_profile(nest), 4, STATIC) == pytest.approx(0.25)


@pytest.mark.parametrize("test", ["a[i] > 0", "i < m", "k0 < 3"])
def test_what_data_or_unknown_sizes_decide_counts_as_ever(test: str) -> None:
    nest = nest_of(source(f"if ({test})"), "int n, int m, int k0, double *a", n=N)
    assert body_executions(nest)[1][1] == N * WORK
    assert not work_profile(nest).weights


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("i < n / 2", lambda i: i < N // 2),
        ("i == 0", lambda i: i == 0),
        ("i == n - 1", lambda i: i == N - 1),
        ("i == 1234", lambda i: i == 1234),
        ("i >= n - 5 && i < n - 4", lambda i: i == N - 5),
        ("i > 0", lambda i: i > 0),
    ],
)
def test_statements_of_a_branch_are_work_where_it_holds(
    test: str, holds: Callable[[int], bool]
) -> None:
    """Without a loop in the branch. A call counts as 20 operations, the others as one each."""
    text = f"for (int i = 0; i < n; i++) if ({test}) a[i] = exp(a[i]);"
    profile = work_profile(nest_of(text, "int n, double *a", n=N))
    work = [22.0 * holds(i) for i in range(N)]
    for threads in (2, 4, 8):
        each = N // threads
        blocks = [sum(work[t * each : (t + 1) * each]) for t in range(threads)]
        low, high = (  # the condition itself has one to four operations
            max(block + c * each for block in blocks) / (sum(blocks) + c * N) for c in (4, 1)
        )
        own = largest_share(profile, threads, STATIC)
        assert min(low, high) - 0.02 <= own <= max(low, high) + 0.02


def test_one_long_iteration_bounds_every_schedule() -> None:
    text = source("if (i == 7)", "n * n")
    profile = work_profile(nest_of(text, "int n, double *a", n=N))
    for schedule in (STATIC, Schedule("dynamic", 1.0), Schedule("static", 1.0)):
        assert largest_share(profile, 8, schedule) > 0.95
