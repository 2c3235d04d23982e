"""Serial bodies against Amdahl's law, bounds of a queue, and a pipeline; pages on one domain."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regionpredict.analysis.history.first_touch import Placement
from regionpredict.frontend import requests_for
from regionpredict.machine import Machine, load
from regionpredict.pipeline import analyse, predict, predict_region
from regionpredict.predict import Prediction
from regionpredict.predict.saturation.serial_queue import (
    SerialBody,
    added_by_serial_bodies,
    ordered,
    queued,
)

MACHINE = load("skylake-gold-6148")
amounts = st.floats(0.01, 100.0)
teams = st.integers(1, 64)


@given(teams, amounts)
def test_all_inside_does_not_scale(threads: int, seconds: float) -> None:
    assert queued(threads, 0.0, SerialBody("critical", 1000.0, seconds)) == pytest.approx(seconds)


@given(teams, amounts, amounts)
def test_the_queue_keeps_its_bounds(threads: int, parallel: float, serial: float) -> None:
    # Never faster than the bodies alone or than even shares, never slower than in turn.
    found = queued(threads, parallel / threads, SerialBody("critical", 500.0, serial))
    assert found >= max(serial, (parallel + serial) / threads) * (1 - 1e-9)
    assert found <= (parallel / threads + serial) * (1 + 1e-9)


def test_two_threads_in_a_queue() -> None:
    # The exact mean value of two customers: between visits z, inside s, the second waits for the
    # first with probability s / (z + s): 2 / (z + s (1 + s / (z + s))) visits a second.
    z, s, visits = 3.0, 1.0, 1000.0
    found = queued(2, z * visits / 2, SerialBody("critical", visits, s * visits))
    assert found == pytest.approx(visits * (z + s * (1 + s / (z + s))) / 2)


@given(teams, amounts, amounts, amounts)
def test_bodies_of_two_locks_wait_for_their_own(
    threads: int, parallel: float, one: float, other: float
) -> None:
    """Never faster than the longer of them; never slower than if they were of one lock."""
    busy = parallel / threads
    first, second = SerialBody("critical", 300.0, one), SerialBody("critical", 300.0, other)
    found = queued(threads, busy, first, second)
    assert found >= max(one, other, busy + (one + other) / threads) * (1 - 1e-9)
    assert found <= (busy + one + other) * (1 + 1e-9)
    assert queued(threads, busy, first, second._replace(visits=0.0)) == pytest.approx(
        queued(threads, busy, first)
    )


def test_two_threads_at_two_locks() -> None:
    """Nothing but bodies of one length: a thread finds the other at the same lock in half of its
    visits, and then waits for a whole body, so that 2 visits take 1 + 1/2."""
    even = SerialBody("critical", 1000.0, 10.0)
    assert queued(2, 0.0, even, even) == pytest.approx(20.0 * 1.5 / 2)


@given(teams, amounts, amounts)
def test_single_is_amdahl(threads: int, parallel: float, serial: float) -> None:
    bodies = [SerialBody("single", 1.0, serial)]
    added = added_by_serial_bodies(bodies, threads, parallel / threads, parallel, 0.0, 1.0)
    speedup = (parallel + serial) / (parallel / threads + added)
    share = serial / (parallel + serial)
    assert speedup == pytest.approx(1 / (share + (1 - share) / threads))


def carried_out(threads: int, chunk: int, trips: int, before: float, body: float) -> float:
    """Seconds of an ordered loop, played through: chunks dealt out in turn."""
    free, turn = [0.0] * threads, 0.0
    for iteration in range(trips):
        who = iteration // chunk % threads
        turn = max(free[who] + before, turn) + body
        free[who] = turn
    return turn


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("chunk", [1, 4, 60])
@pytest.mark.parametrize(("before", "body"), [(1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (8.0, 0.5)])
def test_ordered_is_a_pipeline(threads: int, chunk: int, before: float, body: float) -> None:
    trips = 720 if chunk < 60 else 60 * threads
    truth = carried_out(threads, chunk, trips, before, body)
    one = trips * before
    found = ordered(
        threads, one / threads, one, SerialBody("ordered", trips, trips * body), float(chunk)
    )
    assert found == pytest.approx(truth, rel=0.03)


# -- whole regions --------------------------------------------------------------------------------

REGION = """
void f(int n, double *a, double *b, double *c) {{
#pragma omp parallel for {clauses}
  for (int i = 0; i < n; i++) {{
    {first}
    #pragma omp {kind}
    {{ {second} }}
  }}
}}
"""
WORK = "for (int k = 0; k < 1000; k++) {0}[k] = {0}[k] / 3.0;"
OWN = "for (int k = 0; k < 1000; k++) b[i * 1000 + k] = b[i * 1000 + k] / 3.0;"


def predicted(tmp_path: Path, text: str, machine: Machine = MACHINE, **given: int) -> Prediction:
    path = tmp_path / "case.c"
    path.write_text("#include <stdlib.h>\n" + text)
    analysis = analyse(requests_for([str(path)]), given)
    return predict(analysis, machine, "saturation").predictions[-1]


def test_a_critical_loop_does_not_scale(tmp_path: Path) -> None:
    text = REGION.format(clauses="", first="", kind="critical", second=WORK.format("a"))
    made = predicted(tmp_path, text, n=1000)
    assert max(value for _, value in made.speedup) < 1.02
    assert made.bottleneck == "serialization"
    assert (made.packages, made.threads) == (1, 1)


@pytest.mark.parametrize("kind", ["critical", "ordered"])
def test_half_inside_at_most_doubles(tmp_path: Path, kind: str) -> None:
    clauses = "ordered schedule(static, 1)" if kind == "ordered" else ""
    text = REGION.format(clauses=clauses, first=OWN, kind=kind, second=WORK.format("a"))
    made = predicted(tmp_path, text, n=1000)
    best = max(value for _, value in made.speedup)
    assert 1.3 < best < 2.1
    assert made.packages == 1


def test_time_on_one_thread_is_that_without_the_construct(tmp_path: Path) -> None:
    # Entering an empty section a thousand times is little beside a thousand times the work.
    inside = REGION.format(clauses="", first=OWN, kind="critical", second=WORK.format("a"))
    outside = REGION.format(clauses="", first=OWN, kind="parallel", second=WORK.format("a"))
    seconds = []
    for text in (inside, outside.replace("#pragma omp parallel\n", "\n")):
        made = predicted(tmp_path, text, n=1000)
        assert made.derivation is not None
        seconds.append(made.derivation.points[0].seconds)  # type: ignore[union-attr]
    assert seconds[0] == pytest.approx(seconds[1], rel=0.1)


# -- pages ----------------------------------------------------------------------------------------

PLACED = """
int main(void) {{
  int n = 50000000;
  double *a = malloc(n * 8.0), *b = malloc(n * 8.0);
  {0}
  for (int i = 0; i < n; i++) a[i] = 1;
  {1}
  for (int i = 0; i < n; i++) b[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] += b[i];
}}
"""
ALL = "\n#pragma omp parallel for\n"


def best(made: Prediction) -> float:
    return max(value for _, value in made.speedup)


def test_serial_loops_keep_a_region_on_one_package(tmp_path: Path) -> None:
    spread = predicted(tmp_path, PLACED.format(ALL, ALL))
    near = predicted(tmp_path, PLACED.format("", ""))
    assert spread.packages == 2
    assert near.packages == 1
    assert near.derivation is not None
    assert near.derivation.first_touch == "serial"  # type: ignore[union-attr]
    assert "case.c:7 in main()" in near.derivation.placement_reason  # type: ignore[union-attr]
    assert best(spread) / best(near) > 1.8


def test_a_serial_array_counts_by_its_share_of_the_traffic(tmp_path: Path) -> None:
    # a is read and written, b only read: 2/3 and 1/3 of the bytes, and on two domains of equal
    # size the first carries 1 + share times its own part of them.
    times = {
        kind: predicted(tmp_path, PLACED.format(*places))
        for kind, places in {"none": (ALL, ALL), "a": ("", ALL), "b": (ALL, ""),
                             "both": ("", "")}.items()
    }  # fmt: skip
    speed = {kind: dict(made.speedup)[40] for kind, made in times.items()}
    assert speed["none"] > speed["b"] > speed["a"] > speed["both"]
    for kind, share in (("a", 2 / 3), ("b", 1 / 3), ("both", 1.0)):
        # The first domain delivers no faster; the far threads wait for the link besides. (What
        # cores do themselves takes a few per cent, whatever memory delivers.)
        assert 0.6 < speed[kind] / (speed["none"] / (1 + share)) < 1.05


def test_small_data_does_not_ask_where_it_lies(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(PLACED.replace("50000000", "20000").format("", ""))
    facts = analyse(requests_for([str(path)]), {}).facts[-1]
    serial, spread = (
        predict_region(
            facts, MACHINE, placement=Placement(kind, "as given", False), warm=True
        ).speedup
        for kind in ("serial", "parallel")
    )
    assert serial == spread


# -- what is added to the parallel work -----------------------------------------------------------


def test_three_threads_in_a_queue() -> None:
    """Mean value analysis by hand: z = 3, s = 1.

    One: response 1, rate 1/4, in the queue 1/4. Two: 5/4, 2/(17/4) = 8/17, 10/17. Three: 27/17,
    3/(78/17) = 17/26 visits a second.
    """
    found = queued(3, 3.0 * 52 / 3, SerialBody("critical", 52.0, 52.0))
    assert found == pytest.approx(52 * 26 / 17)


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.integers(1, 24), st.floats(0.1, 50.0), st.floats(0.1, 5.0))
def test_a_repairman_in_closed_form(threads: int, between: float, service: float) -> None:
    """One repairman and n machines (Feller, vol. 1, XVII.7): he is idle with probability
    p0 = 1 / sum of n!/(n-k)! (s/z)^k; he serves (1 - p0)/s a second."""
    idle = 1 / sum(math.perm(threads, k) * (service / between) ** k for k in range(threads + 1))
    visits = 100.0
    found = queued(
        threads, between * visits / threads, SerialBody("critical", visits, service * visits)
    )
    assert found == pytest.approx(visits * service / (1 - idle))


def test_bodies_that_never_run_or_take_no_time_add_nothing() -> None:
    assert queued(4, 2.5, SerialBody("critical", 0.0, 1.0)) == 2.5
    assert queued(4, 0.0, SerialBody("critical", 5.0, 0.0)) == 0.0
    assert ordered(4, 2.5, 10.0, SerialBody("ordered", 0.0, 0.0), 1.0) == 2.5


def test_entering_takes_its_time_but_for_single() -> None:
    def added(kind: str, threads: int) -> float:
        bodies = [SerialBody(kind, 10.0, 2.0)]
        return added_by_serial_bodies(bodies, threads, 0.0, 0.0, 0.05, 1.0)

    assert added("single", 4) == pytest.approx(2.0)
    assert added("critical", 4) == pytest.approx(2.0 + 10 * 0.05)
    assert added("critical", 1) == pytest.approx(2.5)
    assert added("ordered", 1) == pytest.approx(2.5)


def test_kinds_add_up() -> None:
    one, two = SerialBody("single", 1.0, 3.0), SerialBody("critical", 10.0, 2.0)
    together = added_by_serial_bodies([one, two], 4, 5.0, 20.0, 0.1, 1.0)
    assert together == pytest.approx(3.0 + queued(4, 5.0, SerialBody("critical", 10.0, 3.0)) - 5.0)
    order = SerialBody("ordered", 10.0, 8.0)
    assert added_by_serial_bodies([order], 4, 5.0, 20.0, 0.1, 5.0) == pytest.approx(
        # 10 iterations of 2 + 0.9 seconds in two chunks: all but one's first 2 in turn
        20 + 9 - 2 * 2 + 2 - 5.0
    )


@pytest.mark.parametrize(
    ("threads", "chunk", "seconds", "expected"),
    [
        (4, 1.0, 8.0, 8.0 + 0.1),  # the bodies in turn, and the first iteration's own work
        (4, 0.5, 8.0, 8.0 + 0.1),  # a chunk is an iteration at least
        (4, 5.0, 8.0, 0.8 + 8.0 + 0.1),  # two chunks, of whose work only the first 0.1 overlaps
        (2, 1.0, 0.4, 0.5 + 0.2),  # long work between short bodies
        (1, 1.0, 8.0, 1.0 + 8.0),
    ],
)
def test_ordered_bodies(threads: int, chunk: float, seconds: float, expected: float) -> None:
    """Ten iterations of 0.1 seconds beside their bodies."""
    found = ordered(threads, 1.0 / threads, 1.0, SerialBody("ordered", 10.0, seconds), chunk)
    assert found == pytest.approx(expected)
