"""New pages and lines of other cores, of arrays made up: cycles by hand from round tables.

A line of 64 B; half of the first cache are 256 lines, the second, private one holds 4096. On two
threads each of the first 256 lines takes 50 cycles, each beyond 10; on four 60 and 12.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from round_machine import CYCLE, GivenTraffic, no_traffic, round_machine, workload_of_text

from regionpredict.machine import Machine
from regionpredict.predict.saturation.page_faults_and_coherence import DataTransfers, TransferTime
from regionpredict.workload import ArraySharing, Schedule, Span, Workload
from regionpredict.workload.contended_writes import ContendedWrites
from regionpredict.workload.synchronisation import SpreadAtomics

MACHINE = round_machine()
STATIC = Schedule("static", None)
BORDER = 2 * 200  # there and back, each an update by two threads in turn
TEXT = """void f(int n, double *restrict a, double *restrict b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) a[i] = b[i];
}
"""
N = 8192


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """A loop of 8192 iterations."""
    return workload_of_text(tmp_path_factory.mktemp("text"), TEXT, MACHINE, n=N)


def array(
    name: str = "a", *, written: bool = False, stride: float | None = 8.0, rank: int = 1,
    held: int = 0, whole: bool = False,
) -> ArraySharing:  # fmt: skip
    return ArraySharing(name, written, stride, rank, held, whole)


def transfers(
    workload: Workload, sizes: dict[str, float], *arrays: ArraySharing,
    schedule: Schedule = STATIC, fresh: str = "", repeats: bool = False,
    machine: Machine = MACHINE, contended: tuple[ContendedWrites, ...] = (),
    spread: tuple[SpreadAtomics, ...] = (),
) -> DataTransfers:  # fmt: skip
    assert workload.execution is not None
    asked = workload.execution.synchronisation._replace(spread=spread)
    execution = replace(
        workload.execution, sharing=arrays, contended=contended, synchronisation=asked
    )
    own = replace(
        workload, execution=execution, schedule=schedule, fresh=frozenset(fresh), repeats=repeats
    )
    counter = GivenTraffic(execution.work.nest, no_traffic, sizes)
    return DataTransfers(own, execution, counter, machine)


def cycles(pages: float = 0.0, exchange: float = 0.0, lines: float = 0.0) -> TransferTime:
    return pytest.approx((pages * CYCLE, exchange * CYCLE, lines * CYCLE))  # type: ignore[return-value]


LINES = 1024 * 64.0
"""Bytes of 1024 lines: all that 8192 iterations of 8 B touch."""


# -- lines that others have written ---------------------------------------------------------------


def test_a_chance_part_of_ones_own_lines_is_with_the_others(workload: Workload) -> None:
    found = transfers(workload, {"a": LINES}, array(held=1))
    # 512 lines each, half of them with the other of two: just the 256 of a synchronisation
    assert found.at(2) == cycles(exchange=256 * 50)
    # 256 each, three quarters of them with three others
    assert found.at(4) == cycles(exchange=192 * 60)
    assert found.at(1) == cycles()


def test_what_one_thread_has_written_is_all_with_another(workload: Workload) -> None:
    found = transfers(workload, {"a": LINES}, array(held=1, whole=True))
    assert found.at(2) == cycles(lines=256 * 50 + 256 * 10)
    assert found.at(4) == cycles(exchange=256 * 60)


def test_what_all_threads_read_each_of_them_fetches(workload: Workload) -> None:
    found = transfers(workload, {"a": LINES}, array(stride=None, held=1))
    assert found.at(2) == cycles(lines=256 * 50 + 256 * 10)


def test_rows_of_a_square(workload: Workload) -> None:
    found = transfers(workload, {"a": 2048 * 64.0}, array(rank=2, held=1))
    # of 1024 lines the others have one row of 32, and half of it by chance
    assert found.at(2) == cycles(exchange=16 * 50)


def test_only_what_private_caches_still_hold_comes_from_them(workload: Workload) -> None:
    # 8192 lines each, and room for 4096: half of the 4096 that are with the other
    found = transfers(workload, {"a": 16384 * 64.0}, array(held=1))
    assert found.at(2) == cycles(lines=256 * 50 + (2048 - 256) * 10)


def test_arrays_that_nobody_holds_fill_the_caches_too(workload: Workload) -> None:
    sizes = {"a": 8192 * 64.0, "b": 8192 * 64.0}
    found = transfers(workload, sizes, array(held=1), array("b"))
    # 4096 lines of each: of a's 2048 with the other, half have had to go
    assert found.at(2) == cycles(lines=256 * 50 + (1024 - 256) * 10)


def test_a_loop_that_touches_nothing_moves_nothing(workload: Workload) -> None:
    """Its array has no lines: there is the border, which may be another run's."""
    assert transfers(workload, {"b": LINES}, array(held=1)).at(2) == cycles()
    both = transfers(workload, {"b": LINES}, array(held=1, written=True))
    assert both.at(2) == cycles(exchange=BORDER)


def test_where_no_cache_is_private_memory_has_it_all(workload: Workload) -> None:
    machine = round_machine(
        ("ways: 8, cores: 1, latency: 4", "ways: 8, cores: 2, latency: 4"),
        ("ways: 8, cores: 1, latency: 14", "ways: 8, cores: 2, latency: 14"),
    )
    assert transfers(workload, {"a": LINES}, array(held=1), machine=machine).at(2) == cycles()


def test_a_border_between_two_parts(workload: Workload) -> None:
    found = transfers(workload, {"a": LINES}, array(written=True))
    assert [found.at(threads) for threads in (1, 2, 8)] == [
        cycles(), cycles(exchange=BORDER), cycles(exchange=BORDER),
    ]  # fmt: skip
    for one in (array(), array(written=True, stride=None)):
        assert transfers(workload, {"a": LINES}, one).at(2) == cycles()
    both = transfers(workload, {"a": LINES, "b": LINES}, array(held=1), array("b", written=True))
    assert both.at(2) == cycles(exchange=256 * 50 + BORDER)


# -- false sharing --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunk", "threads", "lines"),
    [
        (1, 2, 256 * 50 + 768 * 10),  # both write every line
        (4, 2, 256 * 50 + 768 * 10),
        (4, 4, 256 * 60 + 256 * 12),  # each line is two of four threads': 512 each
        (1, 4, 256 * 60 + 768 * 12),  # every line is everybody's
        (8, 4, 0),  # a line each
        (1, 1, 0),
    ],
)
def test_lines_that_several_threads_write(
    workload: Workload, chunk: int, threads: int, lines: float
) -> None:
    schedule = Schedule("static", float(chunk))
    found = transfers(workload, {"a": LINES}, array(written=True), schedule=schedule)
    border = BORDER if threads > 1 else 0
    assert found.at(threads) == cycles(exchange=border, lines=lines)


def test_false_sharing_beside_lines_of_others(workload: Workload) -> None:
    schedule = Schedule("static", 4.0)
    sizes = {"a": 128 * 64.0, "b": 64 * 64.0}
    arrays = array(written=True), array("b", stride=64.0, held=1, whole=True)
    # a: 128 lines that turn; b: 32 lines each, of the other thread
    found = transfers(workload, sizes, *arrays, schedule=schedule)
    assert found.at(2) == cycles(exchange=BORDER + 32 * 50, lines=128 * 50)
    # many of b are no exchange any more
    sizes["b"] = 1024 * 64.0
    found = transfers(workload, sizes, *arrays, schedule=schedule)
    assert found.at(2) == cycles(exchange=BORDER, lines=256 * 50 + 256 * 10 + 128 * 50)


def test_elements_of_one_iteration_each_share_a_line(workload: Workload) -> None:
    """Where threads are as many as iterations, each has an element at least: 16 B of 64."""
    iterations = 8192
    machine = round_machine(("cores_per_package: 4", "cores_per_package: 8192"))
    found = transfers(workload, {"a": LINES}, array(written=True, stride=16.0), machine=machine)
    for threads in (iterations, 2 * iterations):
        # four threads on a line, each of 1024/threads lines four times
        turns = 1024 / threads * 4
        each = 80 * threads / 8  # the table goes on in proportion
        assert found.at(threads).lines == pytest.approx(turns * each * CYCLE)


# -- new pages ------------------------------------------------------------------------------------

MIB = float(1 << 20)  # 256 times 4 KiB


@pytest.mark.parametrize(("threads", "pages"), [(1, 256 * 1000), (2, 128 * 1500), (4, 64 * 2000)])
def test_each_thread_takes_its_part_of_the_faults(
    workload: Workload, threads: int, pages: float
) -> None:
    found = transfers(workload, {"a": MIB}, array(written=True), fresh="a")
    assert found.at(threads).pages == pytest.approx(pages * CYCLE)


def test_two_new_arrays_add_up(workload: Workload) -> None:
    arrays = array(written=True), array("b", written=True), array("c", written=True)
    sizes = {"a": MIB, "b": MIB / 2, "c": MIB}
    found = transfers(workload, sizes, *arrays, fresh="ab")
    assert found.at(2).pages == pytest.approx((128 + 64) * 1500 * CYCLE)


def test_pages_that_all_threads_reach(workload: Workload) -> None:
    def pages(chunk: int, threads: int, machine: Machine = MACHINE) -> float:
        found = transfers(
            workload, {"a": MIB}, array(written=True), fresh="a",
            schedule=Schedule("static", float(chunk)), machine=machine,
        )  # fmt: skip
        return found.at(threads).pages / CYCLE

    assert pages(511, 2) == pytest.approx(256 * 1500)  # pieces of less than 4 KiB
    assert pages(512, 2) == pytest.approx(128 * 1500)
    assert pages(8, 1) == pytest.approx(256 * 1000)
    wide = round_machine(("page: 4 KiB", "page: 64 KiB"))
    assert pages(512, 2, wide) == pytest.approx(256 * 1500)


def test_pages_that_are_not_new(workload: Workload) -> None:
    def pages(size: float, *, written: bool = True, fresh: str = "a", again: bool = False) -> float:
        found = transfers(workload, {"a": size}, array(written=written), fresh=fresh, repeats=again)
        return found.at(1).pages / CYCLE

    assert pages(131072.0) == pytest.approx(32 * 1000)  # a block of its own from the kernel
    assert pages(131071.0) == 0.0
    assert pages(MIB, written=False) == 0.0
    assert pages(MIB, fresh="") == 0.0
    assert pages(MIB, again=True) == 0.0  # malloc kept it
    assert pages(32 * MIB, again=True) == 0.0
    assert pages(33 * MIB, again=True) == 33 * 256 * 1000  # the kernel took it back


def test_pages_that_malloc_gave_back(workload: Workload) -> None:
    """Of free memory it keeps twice the largest block: of three equal blocks none."""

    def pages(*sizes: float) -> float:
        names = "abc"[: len(sizes)]
        arrays = [array(name, written=True) for name in names]
        found = transfers(workload, dict(zip(names, sizes, strict=True)), *arrays, fresh=names,
                          repeats=True)  # fmt: skip
        return found.at(1).pages / CYCLE

    assert pages(MIB, MIB) == 0.0
    assert pages(MIB, MIB, MIB / 8) == (256 + 256 + 32) * 1000


# -- in words -------------------------------------------------------------------------------------


def test_what_is_told(workload: Workload) -> None:
    arrays = array(written=True), array("b", held=1)
    found = transfers(workload, {"a": MIB, "b": LINES}, *arrays, fresh="a")
    # 128 pages at 1500 cycles are 96 us; 8192 lines of a, 512 of b each: 4096/8704 of 256 lines at
    # 50 are 3.01 us, and 400 cycles of a border 0.2
    there = 4096 / (8192 + 512)
    lines = (256 * there * 50 + BORDER) * CYCLE
    assert found.summary(2) == (
        f"new pages of a: 96 µs; lines that other cores hold: {1e6 * lines:.3g} µs"
    )
    assert found.summary(1) == "new pages of a: 128 µs"
    assert transfers(workload, {"a": LINES}, array()).summary(2) == ""
    many = transfers(workload, {"a": LINES}, array(held=1, whole=True))
    assert many.summary(2) == "lines that other cores hold: 7.68 µs"  # 15,360 cycles


def test_lines_that_are_many_and_few_are_told_together(workload: Workload) -> None:
    """False sharing beside the border: both are lines that other cores hold."""
    found = transfers(workload, {"a": LINES}, array(written=True), schedule=Schedule("static", 1.0))
    cost = (256 * 50 + 768 * 10 + BORDER) * CYCLE
    assert found.summary(2) == f"lines that other cores hold: {1e6 * cost:.3g} µs"


def test_as_much_at_the_border_as_inside_is_told(workload: Workload) -> None:
    """Eight lines that two threads write in turn take 400 cycles, as the border does."""
    found = transfers(
        workload, {"a": 8 * 64.0}, array(written=True), schedule=Schedule("static", 1.0)
    )
    assert found.at(2) == cycles(exchange=400, lines=400)
    assert found.summary(2) == "lines that other cores hold: 0.4 µs"


# -- writes that take turns ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("apart", "threads", "lines"),
    [
        (8.0, 1, 0),
        (8.0, 2, 500 / 2 * 50),  # of 1000 updates 500 each, half of them after the other's
        (8.0, 4, 250 * 3 / 4 * 60),
        (32.0, 4, 250 / 2 * 60),  # two of the four in one line
        (64.0, 4, 0),  # a line each
        (128.0, 4, 0),
        (None, 1, 0),  # anywhere, in lines that the caches hold
        (None, 2, 500 / 2 * 50),
        (None, 4, 250 * 3 / 4 * 60),
    ],
)
def test_the_line_comes_from_who_wrote_last(
    workload: Workload, apart: float | None, threads: int, lines: float
) -> None:
    contended = (ContendedWrites("a", 1000.0, apart),)
    found = transfers(workload, {"a": LINES}, array(), contended=contended)
    assert found.at(threads) == cycles(lines=lines)


@pytest.mark.parametrize(("threads", "lines"), [(2, 500 / 4 / 2 * 50), (4, 250 / 2 * 3 / 4 * 60)])
def test_lines_that_no_cache_holds_any_more_come_from_memory(
    workload: Workload, threads: int, lines: float
) -> None:
    """Of 32768 lines two caches of 4096 hold a quarter, four a half."""
    contended = (ContendedWrites("a", 1000.0, None),)
    found = transfers(workload, {"a": 32768 * 64.0}, array(), contended=contended)
    assert found.at(threads) == cycles(lines=lines)
    # An array of which nothing is known is in a line of its own.
    assert transfers(workload, {"b": LINES}, array("b"), contended=contended).at(2) == cycles(
        lines=500 / 2 * 50
    )


@pytest.mark.parametrize(
    ("held", "threads", "lines", "moved"),
    [
        (64.0, 2, 1, 500),  # one line, half of the time the other's
        (1.0, 2, 1, 500),  # less than a line is one
        (16 * 64.0, 4, 16, 750),
        (32768 * 64.0, 2, 32768, 500 / 4),  # two caches of 4096 lines hold a quarter of these
        (32768 * 64.0, 1, 32768, 0),
    ],
)
def test_atomic_updates_anywhere_in_an_array(
    workload: Workload, held: float, threads: int, lines: float, moved: float
) -> None:
    spread = (SpreadAtomics("a", 1000.0, "a[k[i]]", Span("f.c", 3)),)
    found = transfers(workload, {"a": held}, array(), spread=spread)
    assert found.spread_updates(threads) == (("a[k[i]]", 1000.0, lines, moved),)
    assert found.at(threads) == cycles()  # they are serialization, not lines of others


def test_contended_arrays_add_up_and_are_named(workload: Workload) -> None:
    contended = (
        ContendedWrites("h", 1000.0, None), ContendedWrites("a", 100.0, 8.0),
        ContendedWrites("a", 300.0, None),
    )  # fmt: skip
    found = transfers(workload, {"a": LINES, "h": LINES}, array(), contended=contended)
    assert found.at(2) == cycles(lines=(500 + 50 + 150) / 2 * 50)
    assert found.summary(2) == (
        "writes to a, h take the line from another thread; lines that other cores hold: 8.75 µs"
    )
    assert found.summary(1) == ""


def test_bytes_that_64_threads_write_in_turn(workload: Workload) -> None:
    """A byte each: all 64 share a line, and each of 64 lines is everybody's."""
    machine = round_machine(("cores_per_package: 4", "cores_per_package: 32"))
    found = transfers(
        workload, {"a": 64 * 64.0}, array(written=True, stride=1.0), machine=machine,
        schedule=Schedule("static", 1.0),
    )  # fmt: skip
    # the table goes on in proportion: 80 cycles on eight threads
    assert found.at(64).lines == pytest.approx(64 * 640 * CYCLE)
