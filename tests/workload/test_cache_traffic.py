"""Bytes below caches against caches that are simulated: every reference of small nests is run."""

from __future__ import annotations

import pytest
from further_cases import further_slow
from nest_texts import counter_of, facts_of_text, nest_of, workload_in
from simulated_nest import simulated
from small_nests import NESTS, ROWS, lowered

from regionpredict.analysis.schedule import Schedule
from regionpredict.workload import ArrayTraffic, CacheLevel, LevelTraffic
from regionpredict.workload.cache_traffic import touched_bytes


@pytest.mark.parametrize("name", further_slow(10, NESTS))
def test_traffic_of_small_nests(name: str) -> None:
    nest = lowered(name)
    wrong = []
    for caches, tolerance in ((NESTS[name].near, 0.025), (NESTS[name].rough, 0.14)):
        for threads, sharers, size, *chunks in caches:
            chunk = chunks[0] if chunks else None
            every = 8 if name in ("rounds", "collapsed") else 4  # parts of lines show each
            truth = simulated(nest, size, threads, sharers, chunk=chunk, alignments=every)
            schedule = Schedule("static", None if chunk is None else float(chunk))
            counter = counter_of(nest, schedule)
            (level,) = counter.traffic([CacheLevel(float(size), sharers)], threads)
            assert sorted(traffic.array for traffic in level.arrays) == sorted(truth)
            for traffic in level.arrays:
                read, written = truth[traffic.array]
                if traffic.read != pytest.approx(read, rel=tolerance) or (
                    traffic.written != pytest.approx(written, rel=tolerance)
                ):
                    wrong.append((threads, sharers, size, chunk, traffic, truth[traffic.array]))
    assert not wrong


def test_what_has_been_touched() -> None:
    """Two matrices of 4800 bytes at any place in a line: 74.875 lines and one byte more."""
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    lines = 1 + (24 * 24 * 8 - 8) / 64
    counter = counter_of(nest, Schedule("dynamic", 1.0))
    assert counter.touched() == {"a": pytest.approx(64 * lines), "b": pytest.approx(64 * lines)}
    assert touched_bytes(nest, 64) == pytest.approx(2 * 64 * lines)
    # In two loops, each its own part of one array.
    twice = nest_of("for (int i = 0; i < n; i++) { a[i] = 1; a[i + 5000] = 2; b[i] = 3; }",
                    "int n, double *a, double *b", n=100)  # fmt: skip
    assert counter_of(twice).touched()["a"] == pytest.approx(2 * 64 * (1 + 792 / 64))


def test_totals() -> None:
    level = LevelTraffic((ArrayTraffic("a", 3.0, 1.0, None), ArrayTraffic("b", 5.0, 0.0, None)))  # type: ignore[arg-type]
    assert (level.read, level.written, level.total) == (8.0, 1.0, 9.0)


def test_loops_that_do_not_run_touch_nothing() -> None:
    """50 doubles of a: 1 + 392 / 64 lines; b is not there at all."""
    for inner in ("b[j] = 0;", "b[i] = 0;", "for (int k = 0; k < n; k++) b[k] = 0;"):
        loops = f"for (int i = 0; i < n; i++) {{ for (int j = 5; j < 5; j++) {inner} a[i] = 1; }}"
        counter = counter_of(nest_of(loops, "int n, double *a, double *b", n=50))
        assert counter.touched() == {"a": 64 + 392}


def test_an_element_that_is_cleared_before_its_sum_stays() -> None:
    """No iteration of j fits 8 lines; c[i][j] stands still in it, from its store on: of each row
    of 20 doubles, 64 + 152 bytes come once, and of b a line for every element.
    """
    loops = """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
      c[i][j] = 0;
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j]; }"""
    nest = nest_of(loops, "int n, double a[n][n], double b[n][n], double c[n][n]", n=20)
    (level,) = counter_of(nest).traffic([CacheLevel(512.0, 1)], 1)
    moved = {traffic.array: (traffic.read, traffic.written) for traffic in level.arrays}
    assert moved["c"] == (pytest.approx(20 * 216), pytest.approx(20 * 216))
    assert moved["b"] == (pytest.approx(64 * 8000), 0.0)


def test_threads_of_a_triangle_read_a_row_at_different_times() -> None:
    """The two loops over j fit the cache together, those over k do not beside them.

    Each iteration of i reads the n - i doubles of a once: 64 + 8 (n - i - 1) bytes. Of four
    threads each is at another i and reads them for itself, whether they share the cache or not.
    """
    loops = """for (int i = 0; i < n; i++) {
      for (int j = i; j < n; j++) s[j] = a[j];
      for (int j = i; j < n; j++) t[j] += 2 * a[j];
      for (int k = 0; k < 400; k++) b[i][k] = 1; }"""
    n = 64
    declared = "int n, double b[n][400], double *a, double *s, double *t"
    nest = nest_of(loops, declared, n=n)
    for threads, sharers, size in ((1, 1, 2048.0), (4, 1, 2048.0), (4, 4, 4096.0)):
        (level,) = counter_of(nest).traffic([CacheLevel(size, sharers)], threads)
        read = {traffic.array: traffic.read for traffic in level.arrays}
        assert read["a"] == pytest.approx(sum(64 + 8 * (n - i - 1) for i in range(n)), rel=0.01)


@pytest.mark.parametrize("name", ["copy", "strided"])
def test_schedules_that_share_what_is_counted(name: str) -> None:
    """In whatever order they are asked, each counter says what one of its own says."""
    caches = [CacheLevel(512, 1), CacheLevel(4096, 2), CacheLevel(16384, 4)]
    schedules = [
        Schedule("static", None), Schedule("static", 1.0), Schedule("dynamic", 1.0),
        Schedule("guided", 1.0), Schedule("dynamic", 16.0),
    ]  # fmt: skip
    nest = lowered(name)
    alone = {
        (schedule, threads): counter_of(nest, schedule).traffic(caches, threads)
        for schedule in schedules for threads in (1, 3, 4, 8)
    }  # fmt: skip
    first = counter_of(nest, schedules[0])
    shared = {schedule: first.with_schedule(schedule) for schedule in schedules}
    for (schedule, threads), expected in reversed(alone.items()):
        assert shared[schedule].traffic(caches, threads) == expected
        assert shared[schedule].schedule == schedule


def test_no_more_threads_than_iterations() -> None:
    nest = nest_of(ROWS, "int n, double a[n][n], double b[n][n]", n=24)
    counter, level = counter_of(nest), [CacheLevel(1024.0, 1), CacheLevel(8192.0, 24)]
    assert counter.traffic(level, 500) == counter.traffic(level, 24)
    once = nest_of("for (int i = 0; i < 1; i++) a[i] = 1;", "double *a")
    assert counter_of(once).traffic([CacheLevel(64.0, 9)], 9)[0].read == 64
    none = nest_of("for (int i = 3; i < 3; i++) a[i] = 1;", "double *a")
    assert counter_of(none).traffic([CacheLevel(64.0, 9)], 9)[0].read == 0


def test_carriers() -> None:
    """What the cache holds between touches: a row of b, then an iteration of i, or nothing."""
    loops = """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];"""
    nest = nest_of(loops, "int n, double a[n][n], double b[n][n], double c[n][n]", n=64)
    counter = counter_of(nest)

    def carrier(size: float, array: str) -> tuple[str | None, float]:
        (level,) = counter.traffic([CacheLevel(size, 1)], 1)
        return next(traffic.carrier for traffic in level.arrays if traffic.array == array)

    # An iteration of k touches three lines; of j a row of a, a column of b, a line of c; of i
    # all of b beside two rows.
    window = 64 * ((1 + 63 / 8) + 64 + 1)
    for array in "abc":
        assert carrier(3 * 64.0 - 1, array) == (None, 0.0)
        assert carrier(3 * 64.0, array) == ("k", 192.0)
        assert carrier(window - 1, array) == ("k", 192.0)
        assert carrier(window, array) == ("j", pytest.approx(window))
    whole = 64 * (1 + (64 * 64 - 1) / 8 + 2 * (1 + 63 / 8))
    assert carrier(whole - 1, "b")[0] == "j"
    assert carrier(whole, "b") == ("i", pytest.approx(whole))


def test_work_of_a_region_and_of_its_serial_bodies() -> None:
    made = workload_in(
        "for (int i = 0; i < n; i++) {\n a[i] = 1;\n#pragma omp critical\n b[i] = 1; }",
        "int n, double *a, double *b", n=80,
    )  # fmt: skip
    assert made.execution is not None
    (serial,) = made.execution.serial
    assert list(made.traffic_of(made.execution.work).touched()) == ["a"]
    assert list(made.traffic_of(serial.work).touched()) == ["b"]
    assert made.traffic_of(serial.work).line_bytes == 64


def test_regions_behind_each_other_have_workloads_of_their_own() -> None:
    text = """void f(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[2 * i] = 1;
}"""
    assert [facts.region.span.line for facts in facts_of_text(text, n=9)] == [2, 4]


FAR = {
    "line": ("b[i] = a[i] + a[i+1000];", "double *a, double *b"),
    "three": ("b[i] = a[i] + a[i+200] + a[i+1500];", "double *a, double *b"),
}


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("threads", [1, 4])
def test_references_far_apart_find_what_the_cache_holds_between(name: str, threads: int) -> None:
    """a[i] was a[i + 1000] a thousand iterations ago: 24 KB lie between, of both and of b."""
    body, arrays = FAR[name]
    nest = nest_of(f"for (int i = 0; i < n; i++) {body}", f"int n, {arrays}", n=4000)
    counter = counter_of(nest)
    for size in (1024, 8192, 16384, 65536):
        truth = sum(map(sum, simulated(nest, size, threads).values()))
        (level,) = counter.traffic([CacheLevel(float(size), 1)], threads)
        assert level.total == pytest.approx(truth, rel=0.06)


WALKS = {"a": 1, "b": 2, "c": 3, "d": 5}
"""Arrays by the elements that they move on by in an iteration."""


@pytest.mark.parametrize("order", ["abcd", "dcba", "bdac", "cadb"])
def test_arrays_do_not_change_each_other_s_streams(order: str) -> None:
    """Each array is read at two places 1000 iterations apart; a cache of a few lines finds none of
    the other's again, one of all of them every one.
    """
    read = " + ".join(f"{name}[{WALKS[name]}*i] + {name}[{WALKS[name]}*(i+1000)]" for name in order)
    arrays = ", ".join(f"double *{name}" for name in order)
    nest = nest_of(
        f"for (int i = 0; i < n; i++) s += {read};", f"int n, double s, {arrays}", n=4000
    )
    counter = counter_of(nest)
    apart, together = counter.traffic([CacheLevel(2048.0, 1), CacheLevel(1e7, 1)], 1)
    moved = {array.array: array.read / 64 for array in apart.arrays}
    once = {array.array: array.read / 64 for array in together.arrays}
    for name, step in WALKS.items():
        assert moved[name] == pytest.approx(2 * (1 + 3999 * step / 8))
        assert once[name] == pytest.approx(1 + 4999 * step / 8)
